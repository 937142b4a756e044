// The words of onnx.parser's text form, for its reader and writer. Internal to proto/.
#pragma once

#include <cstdint>
#include <string_view>

#include "proto/fields.h"
#include "types/element_type.h"

namespace sardonyx::proto {

// The numbers of fields that the ir has no part in.
struct OpaqueField {
    enum : uint32_t { kDomain = 1, kName = 2 };
};

// Of AttributeProto.AttributeType, from 1 on.
inline constexpr std::string_view kAttributeWords[] = {
    "float",   "int",     "string", "tensor",        "graph",          "floats",     "ints",
    "strings", "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};

// The field of TensorProto that has elements of a type.
uint32_t data_field(ElementType type);
// The element type that is called so; kUndefined: none.
ElementType element_type_of_word(std::string_view word);
// Whether a type begins with it.
bool is_type_word(std::string_view word);
// Whether an attribute's value that begins with it is a number: `inf`, `infinity` or `nan` before
// what is neither a letter nor a digit.
bool is_number_word(std::string_view text);
bool is_identifier(std::string_view text);

}  // namespace sardonyx::proto
