// Python's operators on arrays that are known, their items, members and methods, which mean what
// they mean in NumPy 2: computed wherever they stand, as none gives more than it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "lowering/operators.h"
#include "types/tensor.h"

namespace sardonyx::elaborate {

// The value of each; the error object, and a diagnostic, where NumPy raises. Nothing: this is not
// computed here.
std::optional<Object> array_binary(Context& c, lowering::Binary op, const Object& a,
                                   const Object& b, syntax::Range range);

// a @ b, as far as the order of the additions does not show.
std::optional<Object> array_product(Context& c, const Object& a, const Object& b,
                                    syntax::Range range);

std::optional<Object> array_compare(Context& c, syntax::CompareOp op, const Object& a,
                                    const Object& b, syntax::Range range);

std::optional<Object> array_unary(lowering::Unary op, const Object& a);

// How the elements of an array lie in NumPy's memory, which decides the order of its additions: the
// last axis innermost, without gaps; a vector with gaps or backwards; or not known.
enum class ArrayOrder : uint8_t { kRow, kLine, kUnknown };

// Of an array that the top level of a file has made; those of Python are not known.
ArrayOrder order_of(Context& c, const Object& array);

// Another array over the same elements in NumPy: neither may be changed from now on.
Object array_view(Context& c, const Object& a, Tensor tensor);

// The same of one whose elements lie as those of `a`: with another shape alone.
Object reshaped_view(Context& c, const Object& a, Tensor tensor);

// From now on new arrays may have another order of axes in memory than the last one innermost, as
// the order of their operands decides.
void note_other_order(Context& c);

// An element as a number of Python; of a type that has arithmetic.
Object element_of(const Tensor& array, int64_t place);

// What NumPy's operators and reductions give: a scalar, which NumPy shows (ShownAs::kNumpy). In
// DOUBLE and INT64 it is a number of Python, in other types an array without dimensions. Arrays
// with dimensions stay.
Object as_numpys_number(const Object& scalar);

// Whether it is such a scalar, which is known not to be an array without dimensions.
bool is_numpys_scalar(const Object& object);

// The element type of such a scalar.
ElementType numpys_type(const Object& scalar);

// The other way: a number that NumPy shows as the scalar array that it is, DOUBLE or INT64.
Object as_array_scalar(const Object& number);

// What Python's own functions take a scalar of NumPy for, of whatever type; other objects stay.
Object plain_number(const Object& scalar);

// a[index] as NumPy has it (array_selection.h).
std::optional<Object> array_item(Context& c, const Object& a, const Object& index,
                                 syntax::Range range);

// The same as an array of its own, for `a[index] op= b`; the error object after a diagnostic.
Object array_copy(Context& c, const Object& a, const Object& index, syntax::Range range);

// A member or method of an array that only Python has: `T`, `copy`, `astype`, ...
std::optional<Object> array_member(Context& c, const Object& a, std::string_view name);

std::optional<Object> array_method(Context& c, const Object& a, std::string_view name,
                                   const struct Arguments& arguments);

// a[index] = value, in the array itself: everyone who has it sees it. False after a diagnostic.
bool set_array_item(Context& c, const Object& a, const Object& index, const Object& value,
                    syntax::Range range);

// a op= b where `after` is a op b; false: `a` cannot hold it, or shares elements with others.
bool change_array(Context& c, const Object& a, const Object& after);

// function(x) of each element: FLOAT16, FLOAT and DOUBLE stay, integers become floats.
std::optional<Object> map_array(const Object& a, double (*function)(double));

}  // namespace sardonyx::elaborate
