// Objects as values of the graph: their parts, their common types, and fillers of their types.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What one tensor can stand for: a tensor, a number, an array, a string, a list of numbers.
bool is_leaf(const Object& object);

// A number to Python: static, or a tensor or attribute parameter that stands for one.
bool is_python_number(const Object& object);

// An item of an array that is an np.float64, a subclass of Python's float: tensors and operators
// take it for a float of Python, arrays for a DOUBLE.
bool is_numpys_float(const Object& object);
// A static int that NumPy shows, such as `k.max()`.
bool is_numpys_int(const Object& object);
// Whether it is one of these two; the int is an INT64 to tensors and operators.
bool differs_beside_tensors(const Object& object);
// What it is to tensors and operators; other objects stay.
Object beside_tensors(const Object& object);
// Whether one of them is such an item, and the other what the run decides and no array.
bool float_meets_tensor(const Object& a, const Object& b);

// The element type in which Python computes with a number, whatever tensor holds it: DOUBLE for its
// floats, INT64 for its ints (UINT64 for those of a UINT64 tensor), BOOL. kUndefined: not known.
ElementType number_type(const Object& object);

// Whether one value that stands for both is of two types to Python: 1 or 2.5, or 0 or a FLOAT.
bool is_either_of(const Object& a, const Object& b);

// Whether arithmetic on two operands gives what is of two types to Python.
bool gives_either(const Object& a, const Object& b);
// Refuses an int that joins floats, which the graph holds in DOUBLE, where it is not exact there.
bool refuse_rounding(Context& c, const Object& number, std::optional<ElementType> type,
                     syntax::Range range);

// The element type that two leaves have in common when one value stands for both; a Python number
// takes the other's. kUndefined: not known. Nothing: they have none.
std::optional<ElementType> common_type(const Object& a, const Object& b);

// The object as a value; a Python number, or what is static, as one of `type`.
ir::Value* as_typed_value(Context& c, const Object& object, ElementType type, syntax::Range range);

// Refuses an int that is known when the graph runs where it meets integers of 8 bits or less, which
// it may not fit in: Python raises an error then. False: it does fit.
bool refuse_overflow(Context& c, const ir::Value* number, ElementType type, syntax::Range range);

// A number that is known when the graph runs, in the element type of what stands beside it. A float
// beside integers stays, and is a mismatch as a float literal is.
ir::Value* number_beside(Context& c, ir::Value* number, ir::Value* other, syntax::Range range);

// Not; that of a Not is its operand.
ir::Value* logical_not(Context& c, ir::Value* value, syntax::Range range);

// An object of the same structure and types for the places where the program has no value and reads
// none: zeros, whose unknown dims are 0. Its nodes go to `graph`. Nothing: it cannot be made.
std::optional<Object> placeholder(Context& c, ir::Graph* graph, const Object& like,
                                  syntax::Range range);

}  // namespace sardonyx::elaborate
