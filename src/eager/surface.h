// What a call that is evaluated at once needs of the surface that it comes from, which is Python or
// C: the templates of this folder know schemas and values, and the surface knows what its arguments
// are, what evaluates, and how it says that something is wrong.
//
// A Surface is an object, which a call has for itself, with
//   using Argument = ...;                         // copyable; Argument{}: there is none
//   static bool is_there(Argument);               // false: Argument{}
//   static bool is_given(Argument);               // of one that is there; false: Python's None
//   static const RuntimeValue* held(Argument);    // of a tensor object; null: it is something else
//   static bool is_literal(Argument);             // a number, a string, or lists of them
//   static bool is_list(Argument);
//   static ElementType literal_type(Argument);    // that a literal implies
//   static Tensor from_literal(Argument, ElementType);  // kUndefined: the type that it implies
//   static bool is_list_of_tensors(Argument);     // which stands for one tensor: [n, -1]
//   static Tensor from_list_of_tensors(Argument, ElementType);
//   static RuntimeValue from_other(Argument);
//   static bool is_tensor(Argument);              // so that results are tensor objects too
//   static ir::Attribute attribute(const ops::AttributeSchema&, Argument);
//   void evaluate(const eval::OperatorEntry&, int64_t opset_version,
//                 std::span<const RuntimeValue* const> inputs, std::span<const ir::Attribute>,
//                 std::span<RuntimeValue> outputs);    // none before, as many as are wanted
//   [[noreturn]] static void refuse(Wrong, const std::string& message);
// `evaluate` is the evaluator: the kernels here, or what the surface's user has chosen. A surface
// raises or throws what is wrong, as it is the outermost layer; nothing in this folder does.
#pragma once

#include <cstdint>

#include "eval/runtime/value.h"

namespace sardonyx::eager {

using eval::RuntimeValue;

// What is wrong with a call; Python has an exception for each.
enum class Wrong : uint8_t { kType, kValue, kIndex, kEvaluation };

}  // namespace sardonyx::eager
