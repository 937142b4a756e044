#include "elaborate/objects/array_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "elaborate/objects/array_math.h"

namespace sardonyx::elaborate {

namespace {

template <typename T>
constexpr Precision kPrecisionOf{std::numeric_limits<T>::digits, std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()};

// The exponent of the lowest bit that is set.
int lowest_bit(double value) {
    int exponent = 0;
    double fraction = std::frexp(std::fabs(value), &exponent);  // 53 bits behind the point
    auto bits = static_cast<uint64_t>(std::ldexp(fraction, 53));
    return exponent - 53 + std::countr_zero(bits);
}

}  // namespace

Precision precision_of(ElementType type) {
    return type == ElementType::kFloat16 ? Precision{11, 0x1p-14, 65504}
           : type == ElementType::kFloat ? kPrecisionOf<float>
                                         : kPrecisionOf<double>;
}

std::optional<double> exact_sum(const Row<double>& row, Precision precision) {
    double sum = 0, size = 0;
    int lowest = INT32_MAX;
    for (int64_t i = 0; i < row.size(); ++i) {
        if (!std::isfinite(row[i]) || (row[i] == 0 && std::signbit(row[i]))) {
            return std::nullopt;
        }
        lowest = row[i] == 0 ? lowest : std::min(lowest, lowest_bit(row[i]));
        sum += row[i];
        size += std::fabs(row[i]);
    }
    bool is_exact = size == 0 || (size <= std::ldexp(1.0, lowest + precision.bits) &&
                                  size <= precision.greatest);
    return is_exact ? std::optional(sum) : std::nullopt;
}

// The products of the odd parts of the numbers grow.
std::optional<double> exact_product(const Row<double>& row, Precision precision) {
    double product = 1, odd = 1, greatest = 1, least = 1;
    for (int64_t i = 0; i < row.size(); ++i) {
        product *= row[i];
        double size = std::fabs(row[i]);
        if (!std::isfinite(size)) {
            return std::nullopt;
        }
        if (size != 0) {
            odd *= std::ldexp(size, -lowest_bit(size));
            greatest *= std::max(size, 1.0);
            least *= std::min(size, 1.0);
        }
    }
    bool is_exact = odd <= std::ldexp(1.0, precision.bits) && greatest <= precision.greatest &&
                    least >= precision.least;
    return is_exact ? std::optional(product) : std::nullopt;
}

// Blocks of up to 128 elements in eight sums; larger ones in halves.
template <typename T>
T pairwise_sum(const Row<T>& row) {
    constexpr int64_t kLanes = 8, kBlock = 128;
    int64_t size = row.size();
    if (size < kLanes) {
        T sum = T(-0.0);
        for (int64_t i = 0; i < size; ++i) {
            sum += row[i];
        }
        return sum;
    }
    if (size > kBlock) {
        int64_t half = size / 2;
        half -= half % kLanes;
        return pairwise_sum(row.part(0, half)) + pairwise_sum(row.part(half, size));
    }
    T sums[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
        sums[i] = row[i];
    }
    int64_t whole = size - size % kLanes;
    for (int64_t i = kLanes; i < whole; ++i) {
        sums[i % kLanes] += row[i];
    }
    T sum =
        ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (int64_t i = whole; i < size; ++i) {
        sum += row[i];
    }
    return sum;
}

template float pairwise_sum(const Row<float>& row);
template double pairwise_sum(const Row<double>& row);

// --- Products of matrices ------------------------------------------------------------------------

std::optional<double> certain_dot(const Row<double>& a, const Row<double>& b, ElementType type) {
    Precision precision = precision_of(type);
    std::vector<double> products;
    bool is_rounded = false, has_zero = a.size() == 0, has_minus_zero = false;
    for (int64_t i = 0; i < a.size(); ++i) {
        double product = a[i] * b[i];
        bool is_zero = a[i] == 0 || b[i] == 0;
        if (!std::isfinite(product) || (!is_zero && std::fabs(product) < precision.least)) {
            return std::nullopt;
        }
        if (is_zero) {
            (std::signbit(product) ? has_minus_zero : has_zero) = true;
            continue;
        }
        products.push_back(product);
        is_rounded |= std::fma(a[i], b[i], -product) != 0;
    }
    if (products.size() == 1) {
        return products[0];
    }
    bool is_of_minus_zeros = products.empty() && has_minus_zero && !has_zero;
    return is_rounded || is_of_minus_zeros
               ? std::nullopt
               : exact_sum(Row<double>(products.data(), static_cast<int64_t>(products.size()), 1),
                           precision);
}

namespace {

// The matrices of both, as [batch, rows, inner] and [batch, inner, columns], and what is made.
struct MatrixShapes {
    int64_t rows = 1, inner = 1, columns = 1;
    Broadcast batch;
    Dims dims;
};

std::optional<MatrixShapes> matrix_shapes(const Tensor& a, const Tensor& b) {
    Dims left = a.dims(), right = b.dims();
    if (left.empty() || right.empty()) {
        return std::nullopt;
    }
    bool is_row = left.size() == 1, is_column = right.size() == 1;
    if (is_row) {
        left.insert(left.begin(), 1);
    }
    if (is_column) {
        right.push_back(1);
    }
    MatrixShapes shapes;
    shapes.rows = left[left.size() - 2];
    shapes.inner = left.back();
    shapes.columns = right.back();
    if (right[right.size() - 2] != shapes.inner) {
        return std::nullopt;
    }
    left.resize(left.size() - 2);
    right.resize(right.size() - 2);
    std::optional<Broadcast> batch = broadcast(left, right);
    if (!batch) {
        return std::nullopt;
    }
    shapes.batch = std::move(*batch);
    shapes.dims = shapes.batch.dims;
    if (!is_row) {
        shapes.dims.push_back(shapes.rows);
    }
    if (!is_column) {
        shapes.dims.push_back(shapes.columns);
    }
    return shapes;
}

// `dot` of each row of `a` and column of `b`; false: one is not certain.
template <typename T, typename Dot>
bool each_dot(const MatrixShapes& shapes, std::span<const T> a, std::span<const T> b, Dot dot) {
    size_t place = 0;
    for (size_t i = 0; i < shapes.batch.left.size(); ++i) {
        const T* left = a.data() + shapes.batch.left[i] * shapes.rows * shapes.inner;
        const T* right = b.data() + shapes.batch.right[i] * shapes.inner * shapes.columns;
        for (int64_t row = 0; row < shapes.rows; ++row) {
            for (int64_t column = 0; column < shapes.columns; ++column) {
                if (!dot(place++, Row<T>(left + row * shapes.inner, shapes.inner, 1),
                         Row<T>(right + column, shapes.inner, shapes.columns))) {
                    return false;
                }
            }
        }
    }
    return true;
}

}  // namespace

std::optional<Tensor> matrix_product(const Tensor& a, const Tensor& b) {
    constexpr int64_t kMostProducts = int64_t{1} << 24;
    std::optional<MatrixShapes> shapes = matrix_shapes(a, b);
    std::optional<int64_t> count = shapes ? element_count(shapes->dims) : std::nullopt;
    int64_t work = 0;
    if (!count || __builtin_mul_overflow(*count, std::max<int64_t>(shapes->inner, 1), &work) ||
        work > kMostProducts) {
        return std::nullopt;
    }
    ElementType type = a.element_type();
    ElementType wide = is_floating(type) ? ElementType::kDouble : ElementType::kUint64;
    std::optional<Tensor> left = cast_array(a, wide), right = cast_array(b, wide);
    if (!left || !right) {
        return std::nullopt;
    }
    Tensor made = Tensor::uninitialized(wide, shapes->dims);
    bool is_certain = false;
    if (is_floating(type)) {
        std::span<double> to = made.mutable_elements<double>();
        is_certain =
            each_dot<double>(*shapes, std::as_const(*left).elements<double>(),
                             std::as_const(*right).elements<double>(),
                             [&](size_t place, const Row<double>& x, const Row<double>& y) {
                                 std::optional<double> one = certain_dot(x, y, type);
                                 to[place] = one.value_or(0);
                                 return one.has_value();
                             });
    } else {  // modulo 2^64, as integers of all types wrap
        std::span<uint64_t> to = made.mutable_elements<uint64_t>();
        is_certain =
            each_dot<uint64_t>(*shapes, std::as_const(*left).elements<uint64_t>(),
                               std::as_const(*right).elements<uint64_t>(),
                               [&](size_t place, const Row<uint64_t>& x, const Row<uint64_t>& y) {
                                   to[place] = 0;
                                   for (int64_t i = 0; i < x.size(); ++i) {
                                       to[place] += x[i] * y[i];
                                   }
                                   return true;
                               });
    }
    return is_certain ? cast_array(made, type) : std::nullopt;
}

}  // namespace sardonyx::elaborate
