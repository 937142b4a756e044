// The arithmetic of NumPy 2 on tensors: promotion, broadcasting, operators element by element.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowering/operators.h"
#include "syntax/tree.h"
#include "types/tensor.h"

namespace sardonyx::elaborate {

constexpr int64_t kMostElements = int64_t{1} << 24;  // of an array that is computed here

// BOOL, integers of 8 to 64 bits, FLOAT16, FLOAT, DOUBLE.
bool has_arithmetic(ElementType type);

bool is_unsigned_type(ElementType type);

// np.promote_types, between those.
ElementType promoted(ElementType a, ElementType b);

// Which elements of two arrays meet.
struct Broadcast {
    Dims dims;
    std::vector<int64_t> left, right;
};

std::optional<Broadcast> broadcast(const Dims& a, const Dims& b);

// Of two arrays of one type. Nothing: NumPy has no such operator for it, or raises.
std::optional<Tensor> combine(lowering::Binary op, const Tensor& a, const Tensor& b,
                              const Broadcast& both);

std::optional<Tensor> compare(syntax::CompareOp op, const Tensor& a, const Tensor& b,
                              const Broadcast& both);

std::optional<Tensor> apply_unary(lowering::Unary op, const Tensor& a);

// np.abs: the least integer stays, as it has no other sign.
Tensor absolute(const Tensor& a);

// The elements at these places, and the array with other elements there.
Tensor gather(const Tensor& array, std::span<const int64_t> places, Dims dims);

Tensor scatter(const Tensor& array, std::span<const int64_t> places, const Tensor& items,
               std::span<const int64_t> from);

// Where the elements of the transposed array stand.
std::vector<int64_t> transposed_places(const Dims& dims);

// The array in another element type, as `astype` makes it. Nothing: not between these types.
std::optional<Tensor> cast_array(const Tensor& array, ElementType type);

}  // namespace sardonyx::elaborate
