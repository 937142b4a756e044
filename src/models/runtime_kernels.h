// The element types that ONNX Runtime's kernels on the CPU take (runtime_kernels.def).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "models/runtimes.h"
#include "ops/ops.h"

namespace sardonyx::models {

// The oldest release whose kernels are known.
Runtime oldest_measured();

// The types of a call: the element type of a type variable ("T") or of a parameter by its name;
// nothing: it is not known, or no tensor.
using TypeOf = std::function<std::optional<ElementType>(std::string_view name)>;

// Whether a release has a kernel of the operator in this version at all, and one for the types.
// Of a release that has not been measured, the one before it speaks.
bool has_kernel(Runtime runtime, const ops::Schema& schema);
bool has_kernel(Runtime runtime, const ops::Schema& schema, const TypeOf& type_of);

// Whether the kernels of the operator end with an error for elements of the type and this value of
// the attribute `reduction`, which they do not report.
bool refuses_reduction(std::string_view op_type, std::string_view reduction, ElementType type);

}  // namespace sardonyx::models
