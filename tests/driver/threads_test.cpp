// Compilations on several threads at once: each has its own findings, and what they share (the
// texts of files, the tables of operators) they only read, or lock. Run with the thread sanitizer
// by `tools/dev test tsan`.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "driver/driver.h"
#include "elaborate/elaborate.h"
#include "proto/proto.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 24;

// Every third script is wrong, in a way of its own.
std::string script_of(int number) {
    std::string body = number % 3 == 0   ? "    y = op.Relu(x, axis=1)\n"
                       : number % 3 == 1 ? "    y = op.Concat(x, x * 0.5, axis=0)\n"
                                         : "    y = x\n    for i in range(op.Size(x)):\n"
                                           "        y = y + op.Softmax(x, axis=-1)\n";
    return "from sardonyx import FLOAT, opset23 as op, script\n\n\n@script()\ndef f" +
           std::to_string(number) + "(x: FLOAT[\"N\", 4]):\n" + body + "    return op.Gelu(y)\n";
}

struct Told {
    std::string bytes;  // of the model; empty: there is none
    std::vector<std::string> messages;
    bool operator==(const Told&) const = default;
};

Told tell(diagnostics::Sources& sources, int number) {
    elaborate::Program program(weights::read_weights, sources);
    elaborate::FileModule* module =
        elaborate::load_text(program, "file" + std::to_string(number) + ".py", script_of(number));
    Told told;
    std::unique_ptr<ir::Model> model =
        compile_script(program, *elaborate::scripts(*module).front(), {}).value();
    if (model != nullptr) {
        told.bytes = proto::write_model(*model).value();
    }
    for (const diagnostics::Diagnostic& one : program.diagnostics.items()) {
        told.messages.push_back(one.message);
    }
    return told;
}

TEST(Threads, EachCompilationHasItsOwnFindings) {
    std::vector<Told> alone(kRounds);
    for (int i = 0; i < kRounds; ++i) {
        diagnostics::Sources sources;
        alone[static_cast<size_t>(i)] = tell(sources, i);
        EXPECT_EQ(alone[static_cast<size_t>(i)].messages.empty(), i % 3 != 0);
    }
    diagnostics::Sources shared;
    std::vector<std::vector<Told>> told(kThreads, std::vector<Told>(kRounds));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < kRounds; ++i) {
                int number = (i + thread) % kRounds;
                told[static_cast<size_t>(thread)][static_cast<size_t>(number)] =
                    tell(shared, number);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::vector<Told>& one : told) {
        EXPECT_EQ(one, alone);
    }
}

}  // namespace
}  // namespace sardonyx::driver
