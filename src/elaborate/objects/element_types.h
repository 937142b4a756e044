// The members of element types: FLOAT.dtype.name, x.dtype.is_signed(), np.dtype("int8").itemsize.
// The words are those of onnx_ir.DataType.
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A member, or a method; nothing: there is none of the name.
std::optional<Object> element_type_member(const Object& object, std::string_view name);

Object element_type_method(Context& c, const MethodObject& method, const Arguments& arguments);

inline constexpr std::string_view kElementTypeMembers[] = {
    "bitwidth", "dtype", "is_floating_point", "is_integer", "is_signed", "name", "numpy", "value"};

// What `dtype=`, or the positional argument, names; kUndefined: there is none; nothing: not known.
std::optional<ElementType> dtype_argument(const Arguments& a, size_t position);

}  // namespace sardonyx::elaborate
