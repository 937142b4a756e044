// The dispatch table: which kernel runs which version of an operator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

class Runner;
struct NodePlan;
class Frame;
// An operator that runs subgraphs: it is part of the runner (run/control_flow.cpp).
using ControlKernel = Status (*)(Runner&, const NodePlan&, Frame&);

// Whether an operator is elementwise: its inputs broadcast as NumPy's do, and each element of its
// one output is made of the elements there alone.
enum class Elementwise : uint8_t {
    kNever,
    kByScalars,  // where all inputs but the first are constants without axes
    kAlways,
};

// In which order of axes an operator takes its data: that of ONNX, or that with the channels
// innermost (plan/layout.h).
enum class AxisOrder : uint8_t {
    kOnnx,               // that of ONNX alone
    kKept,               // either; the result has the order of the inputs, which have one order
    kKeptAlongChannels,  // the same where attribute `axis` is that of the channels, else kOnnx
    kKeptOfFirst,        // either; the result has that of the first input, and others have none
    kEitherOfFirst,      // either of the first input; the result has no places, and so no order
    kEitherByWeights,    // either, and gives either, where weights that are known allow it
};

// One version of an operator, as the table answers. Without a kernel of either kind it is known but
// not implemented.
struct OperatorEntry {
    const ops::Schema* schema = nullptr;
    Kernel kernel = nullptr;
    ControlKernel control = nullptr;
    Elementwise elementwise = Elementwise::kNever;
    AxisOrder order = AxisOrder::kOnnx;
};

// The entry in force at `opset_version`; null for an operator that no schema knows.
const OperatorEntry* find_operator(std::string_view domain, std::string_view op_type,
                                   int64_t opset_version);

// What is said of an operator that it does not find.
std::string without_operator(std::string_view domain, int64_t opset_version);

}  // namespace sardonyx::eval
