// Kernels of operators that are made of standard ones: those that ONNX Runtime adds.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// What the kernel of a standard operator makes of these tensors, its first output; null is an input
// that is left out.
Result<Tensor> call_standard(KernelContext& c, std::string_view name, Kernel kernel,
                             std::initializer_list<const Tensor*> inputs,
                             std::vector<ir::Attribute> attributes = {});

// The same with all outputs.
Result<std::vector<RuntimeValue>> call_standard(KernelContext& c, std::string_view name,
                                                Kernel kernel, std::vector<RuntimeValue> inputs,
                                                std::vector<ir::Attribute> attributes,
                                                size_t outputs);

// Input `i`, or null where it is left out.
inline const Tensor* tensor_or_null(const KernelContext& c, size_t i) {
    return c.has_input(i) ? &c.tensor(i) : nullptr;
}

}  // namespace sardonyx::eval
