// Reverse-mode differentiation: what a Gradient node does to the part of the graph that it names.
//
// While the runner runs that part, the tape records each operator that has a variable among its
// inputs: what it read and what it made, whose floating tensors are variables in turn. So the
// record is of what was done: of the branch that was taken, of every iteration of a loop, of the
// nodes in a called function, all shapes known. gradients() then goes through the record from its
// end, and each operator's rule (derivatives.def) turns the gradients by its outputs into those by
// its inputs. The rules themselves run operators on the tape: where a Gradient node stands in the
// part of another one, they are recorded too, and can be differentiated again.
#pragma once

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "eval/dispatch/dispatch.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// One operator that has run. Sequences stand there as their items.
struct TapeRecord {
    const ops::Schema* schema = nullptr;
    std::string_view node;                  // its name; empty for what a rule has run
    std::vector<ir::Attribute> attributes;  // without references
    std::vector<RuntimeValue> inputs;
    std::vector<RuntimeValue> outputs;
};

class Tape {
  public:
    Tape(const RunOptions& options, RandomState& random) : options_(options), random_(random) {}

    const RunOptions& options() const { return options_; }
    RandomState& random() const { return random_; }

    // A variable of its own with this value, which is recorded to be the same where that is one.
    RuntimeValue variable(const RuntimeValue& value);

    // Whether a variable is among these values, also in a sequence.
    static bool has_variable(std::span<const RuntimeValue* const> values);
    // Records an operator that has run, and makes its outputs variables where its inputs are.
    void record(const ops::Schema& schema, std::string_view node, AttributeView attributes,
                std::vector<RuntimeValue> inputs, std::span<RuntimeValue> outputs);

    // Runs an operator and records it.
    Result<std::vector<RuntimeValue>> run(const OperatorEntry& entry,
                                          std::vector<RuntimeValue> inputs,
                                          std::span<const ir::Attribute> attributes,
                                          size_t output_count);

    // Whether what the rules run is recorded. Returns what it was.
    bool set_recording(bool is_recording) { return std::exchange(is_recording_, is_recording); }
    // Where the next record goes.
    size_t position() const { return records_.size(); }
    // Forgets the records from there on.
    void truncate(size_t position) { records_.resize(position); }

    // The gradients by `xs`, variables made at `first` or later and in this order, of the sum over
    // ys[i] * seeds[i] (a seed that is none counts as 0), through the records from `first` on. None
    // where no way leads to an x. Errors: an operator without a rule, and those of running rules.
    Result<std::vector<RuntimeValue>> gradients(size_t first, std::span<const RuntimeValue> ys,
                                                std::span<const RuntimeValue> seeds,
                                                std::span<const RuntimeValue> xs);

  private:
    const RunOptions& options_;
    RandomState& random_;
    std::deque<TapeRecord> records_;  // references stay valid while records are added
    int64_t last_variable_ = 0;
    bool is_recording_ = true;
};

}  // namespace sardonyx::eval
