// Any bytes as a file of scripts: each script compiles as a model and as a function, and what is
// said to be whole can be written and read again. Corpus: examples/*.py and the programs of
// tests/python/language/test_language.py. Limits are low, so that each run is short; imports look
// into a folder that does not exist. Half of the mutations are of whole tokens: they get past the
// parser.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "elaborate/elaborate.h"
#include "ir/verify.h"
#include "proto/proto.h"

namespace {

namespace elaborate = sardonyx::elaborate;
namespace ir = sardonyx::ir;
namespace proto = sardonyx::proto;
using sardonyx::Result;

constexpr std::string_view kPath = "/nonexistent/sardonyx/fuzz.py";

elaborate::Options small_options() {
    elaborate::Options options;
    options.limits.static_iterations = 2'000;
    options.limits.nodes = 2'000;
    options.limits.steps = 20'000;
    options.limits.text_bytes = 1 << 14;
    return options;
}

// A program whose files run at most so far as well.
struct SmallProgram : elaborate::Program {
    SmallProgram() : Program(nullptr) { file_options = small_options(); }
};

void check_model(const std::string& text, size_t index) {
    SmallProgram program;
    elaborate::FileModule* module = elaborate::load_text(program, std::string(kPath), text);
    auto scripts = elaborate::scripts(*module);
    std::unique_ptr<ir::Model> model =
        elaborate::compile_model(program, *scripts[index], small_options());
    if (program.diagnostics.has_errors()) {
        return;
    }
    SDX_CHECK(ir::verify(*model).empty());
    Result<std::string> bytes = proto::write_model(*model);
    SDX_CHECK(bytes.ok());
    SDX_CHECK(proto::read_model(std::as_bytes(std::span<const char>(*bytes)), nullptr).ok());
}

void check_function(const std::string& text, size_t index) {
    SmallProgram program;
    elaborate::FileModule* module = elaborate::load_text(program, std::string(kPath), text);
    auto scripts = elaborate::scripts(*module);
    std::unique_ptr<ir::Model> model =
        elaborate::compile_function(program, *scripts[index], small_options());
    if (program.diagnostics.has_errors()) {
        return;
    }
    SDX_CHECK(ir::verify(*model).empty());
    Result<std::string> bytes = proto::write_function(*model, *model->functions.front());
    SDX_CHECK(bytes.ok());
    SDX_CHECK(proto::read_function(std::as_bytes(std::span<const char>(*bytes)), nullptr).ok());
}

size_t count_scripts(const std::string& text) {
    SmallProgram program;
    return elaborate::scripts(*elaborate::load_text(program, std::string(kPath), text)).size();
}

// --- Mutations of tokens -------------------------------------------------------------------------

constexpr std::string_view kWords[] = {"op.Add",      "op.Cast",    "op.If",
                                       "op.Loop",     "op.Scan",    "x",
                                       "y",           "n",          "0",
                                       "-1",          "2",          "3.5",
                                       "\"N\"",       "None",       "True",
                                       "FLOAT",       "INT64",      "range(n)",
                                       "len(x)",      "x.shape",    "x[0]",
                                       "[1, 2]",      "(x, y)",     "lambda a: a",
                                       "if x:",       "else:",      "for i in range(3):",
                                       "while x:",    "break",      "continue",
                                       "return x",    "x = y\n",    "x += y\n",
                                       "and",         "or",         "not",
                                       "in",          "is",         "+",
                                       "-",           "*",          "/",
                                       "//",          "%",          "**",
                                       "@",           "<",          "==",
                                       "(",           ")",          "[",
                                       "]",           ",",          ":",
                                       "=",           "\n    ",     "\n        ",
                                       "@script()\n", "@graph()\n", "def g(a):\n",
                                       "del x",       "assert x"};

bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Where tokens begin, roughly: words, runs of blanks, and single signs.
std::vector<size_t> boundaries(std::string_view text) {
    std::vector<size_t> found{0};
    for (size_t i = 1; i < text.size(); ++i) {
        bool joins =
            (is_word(text[i - 1]) && is_word(text[i])) || (text[i - 1] == ' ' && text[i] == ' ');
        if (!joins) {
            found.push_back(i);
        }
    }
    found.push_back(text.size());
    return found;
}

std::string mutate_token(const std::string& text, std::minstd_rand& random) {
    std::vector<size_t> at = boundaries(text);
    size_t i = random() % at.size();
    size_t begin = at[i], end = i + 1 < at.size() ? at[i + 1] : begin;
    size_t j = random() % at.size();
    std::string word(kWords[random() % std::size(kWords)]);
    std::string before = text.substr(0, begin), token = text.substr(begin, end - begin);
    switch (random() % 5) {
        case 0:
            return before + text.substr(end);
        case 1:
            return before + word + text.substr(end);
        case 2:
            return before + " " + word + " " + text.substr(begin);
        case 3:
            return before + text.substr(at[j], (j + 1 < at.size() ? at[j + 1] : at[j]) - at[j]) +
                   text.substr(end);
        default:
            return before +
                   text.substr(std::min(begin, at[j]),
                               std::max(begin, at[j]) - std::min(begin, at[j])) +
                   text.substr(begin);
    }
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    std::minstd_rand random(seed);
    if (random() % 2 == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    std::string text = mutate_token(std::string(reinterpret_cast<const char*>(data), size), random);
    size_t kept = std::min(text.size(), max_size);
    std::memcpy(data, text.data(), kept);
    return kept;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    size_t count = count_scripts(text);
    for (size_t i = 0; i < count && i < 8; ++i) {
        check_model(text, i);
        check_function(text, i);
    }
    return 0;
}
