// Scan, whatever runs its body: graphs of a plan (control_flow.cpp), and callables of eager calls
// (eager/control.cpp). https://onnx.ai/onnx/operators/onnx__Scan.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "eval/gradient/tape.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// What its attributes say of the inputs, in the terms of version 9: first the state, then what is
// scanned. The lengths of version 8 are not among them.
struct ScanShape {
    size_t state_count = 0;
    size_t scan_count = 0;
    std::vector<int64_t> input_axes;
    std::vector<bool> input_reversed;
};
Result<ScanShape> read_scan_inputs(KernelContext& c, size_t input_count);

// Whether the first input is `sequence_lens`, and axis 0 of all others a batch: version 8.
bool has_lengths(const KernelContext& c);

struct ScanBody {
    // The new state, then a row of each output. At least as many results as there are states.
    std::function<Result<std::vector<RuntimeValue>>(std::vector<RuntimeValue> arguments)> run;
    // The types of these results, where no iteration runs: `arguments` are the state, and zeros in
    // the place of what is scanned.
    std::function<Result<std::vector<Type>>(std::vector<RuntimeValue> arguments)> types;
};

// The operator on all of its inputs, in version 8 with the lengths first. `tape` records what is
// made of variables; it may be null where there are none. Errors: inputs that are no tensors or
// have other sizes than the others, lengths beyond them, attributes that do not fit, and those of
// the body.
Result<std::vector<RuntimeValue>> run_scan(KernelContext& c, Tape* tape, const ScanShape& shape,
                                           const ScanBody& body,
                                           std::span<const RuntimeValue> inputs);

}  // namespace sardonyx::eval
