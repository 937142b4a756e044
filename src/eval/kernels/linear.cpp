// MatMul, Gemm, MatMulInteger, Det.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/clones.h"
#include "eval/loops/convolution.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/loops/matmul.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {
namespace {

// The parts of a product of stacks of matrices.
struct MatmulShape {
    Dims batch, batch_a, batch_b;
    int64_t m = 1, k = 1, n = 1;
    Dims result;
};

Result<MatmulShape> matmul_shape(const Dims& a, const Dims& b) {
    if (a.empty() || b.empty()) {
        return Error{"a scalar is not a matrix"};
    }
    MatmulShape shape;
    shape.k = a.back();
    int64_t other_k = b.size() == 1 ? b[0] : b[b.size() - 2];
    if (shape.k != other_k) {
        return Error{fmt::format("shapes {} and {} do not multiply: {} against {}", to_string(a),
                                 to_string(b), shape.k, other_k)};
    }
    shape.m = a.size() == 1 ? 1 : a[a.size() - 2];
    shape.n = b.size() == 1 ? 1 : b.back();
    shape.batch_a.assign(a.begin(), a.end() - std::min<size_t>(2, a.size()));
    shape.batch_b.assign(b.begin(), b.end() - std::min<size_t>(2, b.size()));
    SDX_ASSIGN(shape.batch, broadcast_dims(shape.batch_a, shape.batch_b));
    shape.result = shape.batch;
    if (a.size() > 1) {
        shape.result.push_back(shape.m);
    }
    if (b.size() > 1) {
        shape.result.push_back(shape.n);
    }
    return shape;
}

// Which matrices of the stacks are multiplied for one matrix of the result.
struct Product {
    int64_t a;
    int64_t b;
};

std::vector<Product> list_products(const MatmulShape& shape) {
    std::vector<Product> products;
    Dims steps_a = broadcast_strides(shape.batch_a, shape.batch);
    Dims steps_b = broadcast_strides(shape.batch_b, shape.batch);
    StridedWalk<2> walk(shape.batch, {steps_a, steps_b});
    walk.for_each_row([&](const auto& at, const auto& step, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
            products.push_back({at[0] + i * step[0], at[1] + i * step[1]});
        }
    });
    return products;
}

// [rows, k] x [k, n]: all axes of `a` but the last are one of rows.
struct RowsShape {
    int64_t m, k, n;
    Dims result;
};
std::optional<RowsShape> rows_shape(const Dims& a, const Dims& b) {
    if (a.size() < 2 || b.size() != 2 || a.back() != b[0] || a.back() == 0) {
        return std::nullopt;
    }
    RowsShape shape{product(a) / b[0], b[0], b[1], a};
    shape.result.back() = b[1];
    return shape;
}

// The product of m rows with input 1, where that is a constant [k, n], or [n, k]. Null: there is
// none.
std::shared_ptr<const DirectConvolution<float>> kept_matrix(const KernelContext& c,
                                                            const RowsShape& shape,
                                                            bool is_transposed) {
    constexpr int64_t kFewRows = 8;
    constexpr int64_t kLittleWork = 1 << 20;
    if (c.type(0) != ElementType::kFloat || !c.is_constant(1) || shape.m < kFewRows ||
        shape.m * c.tensor(1).count() < kLittleWork) {
        return nullptr;
    }
    ConvShape product = matrix_shape(shape.m, shape.k, shape.n);
    auto kept = c.kept<DirectConvolution<float>>();
    if (kept == nullptr || kept->shape() != product) {
        DirectLayout layout{true, true, is_transposed ? shape.k : 1, is_transposed ? 1 : shape.n};
        kept = std::make_shared<const DirectConvolution<float>>(
            product, c.tensor(1).elements<float>().data(), layout);
        c.keep(kept);
    }
    return kept->is_usable() ? kept : nullptr;
}

template <typename T>
SDX_CLONES void subtract_from_codes(const T* in, int32_t* out, int64_t n, int32_t zero) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<int32_t>(in[i]) - zero;
    }
}

}  // namespace

Result<Tensor> less_zero_point(const KernelContext& c, const Tensor& codes, int32_t zero) {
    using Codes = TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kUint8, uint8_t>>;
    SDX_ASSIGN(Tensor out, c.scratch(ElementType::kInt32, codes.dims()));
    SDX_TRY(visit(Codes{}, codes.element_type(), [&]<typename T>() -> Status {
        subtract_from_codes(codes.elements<T>().data(), out.mutable_elements<int32_t>().data(),
                            codes.count(), zero);
        return {};
    }));
    return out;
}

Result<Tensor> less_zero_points(KernelContext& c, size_t i, size_t zero_input, int axis,
                                ElementType type) {
    bool has_zero = c.has_input(zero_input);
    bool is_one = !has_zero || c.tensor(zero_input).count() == 1;
    if (type == ElementType::kInt32 && is_integer(c.type(i)) && is_one) {
        SDX_ASSIGN(int64_t zero, has_zero ? c.int_scalar(zero_input) : Result<int64_t>(0));
        return less_zero_point(c, c.tensor(i), static_cast<int32_t>(zero));
    }
    SDX_ASSIGN(Tensor wide, cast_tensor(c, c.tensor(i), type));
    if (!has_zero) {
        return wide;
    }
    SDX_ASSIGN(Tensor zero, cast_tensor(c, c.tensor(zero_input), type));
    int after = axis < 0 ? -1 - axis : wide.rank() - 1 - axis;  // axes
    if (is_one) {
        zero = zero.reshaped({});
    } else if (zero.rank() == 1 && after > 0) {
        Dims dims(static_cast<size_t>(after) + 1, 1);
        dims[0] = zero.count();
        zero = zero.reshaped(std::move(dims));
    }
    using Types = TypeList<Typed<ElementType::kInt32, int32_t>, Typed<ElementType::kFloat, float>>;
    Subtract subtract;
    SDX_ASSIGN(Tensor difference,
               apply_binary(c, wide, zero, binary_call(Types{}, type, subtract)));
    if (difference.dims() != wide.dims()) {
        return Error{fmt::format("zero points {} do not fit {}", to_string(c.dims(zero_input)),
                                 to_string(c.dims(i)))};
    }
    return difference;
}

Result<Tensor> matmul(const KernelContext& c, const Tensor& a, const Tensor& b) {
    SDX_ASSIGN(MatmulShape shape, matmul_shape(a.dims(), b.dims()));
    SDX_ASSIGN(Tensor out, c.scratch(a.element_type(), shape.result));
    if (out.count() == 0) {
        return out;
    }
    Status status = visit(Numbers{}, a.element_type(), [&]<typename T>() -> Status {
        using S = ProductSum<T>;
        ProductOperand<T> left(a);
        ProductOperand<T> right(b);
        T* result = out.template mutable_elements<T>().data();
        int64_t size = shape.m * shape.n;
        std::vector<Product> products = list_products(shape);
        // One product is cut into tasks itself; of many, some are a task each.
        Workers threads = c.threads();
        int64_t piece = items_per_task(size * shape.k);
        parallel_for(
            threads, static_cast<int64_t>(products.size()), piece, [&](int64_t begin, int64_t end) {
                std::vector<S> sums;
                for (int64_t i = begin; i < end; ++i) {
                    const S* x = left.data() + products[i].a * shape.m * shape.k;
                    const S* y = right.data() + products[i].b * shape.k * shape.n;
                    T* target = result + i * size;
                    if constexpr (kSumsInPlace<T>) {
                        std::fill(target, target + size, T(0));
                        multiply_add(x, y, reinterpret_cast<S*>(target), shape.m, shape.k, shape.n,
                                     threads);
                    } else {
                        sums.assign(size, S(0));
                        multiply_add(x, y, sums.data(), shape.m, shape.k, shape.n, threads);
                        std::transform(sums.begin(), sums.end(), target,
                                       [](S sum) { return static_cast<T>(sum); });
                    }
                }
            });
        return {};
    });
    SDX_TRY(status);
    return out;
}

Result<Tensor> product_of_codes(KernelContext& c, CodeInput a, CodeInput b) {
    std::optional<RowsShape> shape = rows_shape(c.dims(a.codes), c.dims(b.codes));
    auto kept = shape.has_value()
                    ? kept_byte_convolution(c, matrix_shape(shape->m, shape->k, shape->n), a, b,
                                            {true, true, 1, shape->n})
                    : nullptr;
    if (kept == nullptr) {
        bool is_real = is_small_float(c.type(a.codes)) || is_small_float(c.type(b.codes));
        ElementType type = is_real ? ElementType::kFloat : ElementType::kInt32;
        SDX_ASSIGN(Tensor left, less_zero_points(c, a.codes, a.zero, -2, type));
        SDX_ASSIGN(Tensor right, less_zero_points(c, b.codes, b.zero, -1, type));
        return matmul(c, left, right);
    }
    SDX_ASSIGN(int64_t zero, c.has_input(a.zero) ? c.int_scalar(a.zero) : Result<int64_t>(0));
    SDX_ASSIGN(Tensor out, c.scratch(ElementType::kInt32, shape->result));
    kept->run(c.tensor(a.codes), zero, c.threads(), out.mutable_elements<int32_t>().data());
    return out;
}

namespace kernels {
namespace {

// The determinant by elimination with row pivots, of which nothing is left of the matrix.
double determinant(const Workers& threads, std::span<double> m, int64_t n) {
    double result = 1;
    for (int64_t column = 0; column < n; ++column) {
        if (n * n > kPolled && threads.poll()) {
            return 0;  // of use to nobody
        }
        int64_t pivot = column;
        for (int64_t r = column + 1; r < n; ++r) {
            if (std::fabs(m[r * n + column]) > std::fabs(m[pivot * n + column])) {
                pivot = r;
            }
        }
        if (m[pivot * n + column] == 0) {
            return 0;
        }
        if (pivot != column) {
            std::swap_ranges(m.begin() + pivot * n, m.begin() + (pivot + 1) * n,
                             m.begin() + column * n);
            result = -result;
        }
        result *= m[column * n + column];
        for (int64_t r = column + 1; r < n; ++r) {
            double factor = m[r * n + column] / m[column * n + column];
            double* row = m.data() + r * n;
            const double* pivot_row = m.data() + column * n;
            SDX_INDEPENDENT_LOOP
            for (int64_t k = column + 1; k < n; ++k) {
                row[k] -= factor * pivot_row[k];
            }
        }
    }
    return result;
}

// What Gemm's product is before it is scaled: FLOAT of 16-bit floats, so that the result is rounded
// once.
ElementType gemm_type(ElementType type) {
    bool is_short = type == ElementType::kFloat16 || type == ElementType::kBfloat16;
    return is_short ? ElementType::kFloat : type;
}

// The product of the first two inputs of Gemm, each transposed or not, and a bias for each column
// of FLOAT, which may be null; of gemm_type().
Result<Tensor> gemm_product(KernelContext& c, const float* bias) {
    bool transpose_a = c.int_attribute("transA") != 0;
    bool transpose_b = c.int_attribute("transB") != 0;
    const Dims& a = c.dims(0);
    const Dims& b = c.dims(1);
    int64_t m = a[transpose_a ? 1 : 0], k = a[transpose_a ? 0 : 1], n = b[transpose_b ? 0 : 1];
    if (k != b[transpose_b ? 1 : 0]) {
        return Error{fmt::format("shapes {} and {} do not multiply: {} against {}", to_string(a),
                                 to_string(b), k, b[transpose_b ? 1 : 0])};
    }
    SDX_ASSIGN(Tensor out, c.scratch(gemm_type(c.type(0)), {m, n}));
    auto kept = transpose_a ? nullptr : kept_matrix(c, {m, k, n, {}}, transpose_b);
    if (kept != nullptr) {
        kept->run(c.tensor(0).elements<float>().data(), 0, bias, c.threads(),
                  out.mutable_elements<float>().data());
        return out;
    }
    if (bias == nullptr) {
        fill_zero(out);
    }
    for (int64_t row = 0; bias != nullptr && row < m; ++row) {
        std::copy_n(bias, n, out.mutable_elements<float>().data() + row * n);
    }
    SDX_TRY(visit(Numbers{}, c.type(0), [&]<typename T>() -> Status {
        using S = ProductSum<T>;
        ProductOperand<T> left(c.tensor(0));
        ProductOperand<T> right(c.tensor(1));
        MatrixProduct<S> product{
            m, k, n, left.data(), a[1], transpose_a, right.data(), b[1], transpose_b, nullptr, n};
        using P = Compute<T>;
        P* target = out.mutable_elements<P>().data();
        if constexpr (std::is_same_v<P, S> || kSumsInPlace<T>) {
            product.c = reinterpret_cast<S*>(target);
            multiply_add(product, c.threads());
        } else {
            std::vector<S> sums(out.count());
            product.c = sums.data();
            multiply_add(product, c.threads());
            std::transform(sums.begin(), sums.end(), target,
                           [](S sum) { return static_cast<T>(sum); });
        }
        return {};
    }));
    return out;
}

// alpha * product + beta * addend; the result may be the product, whose elements are Compute<T>.
template <typename T>
void scale_and_add(const Tensor& product, const Tensor* addend, float alpha, float beta,
                   Tensor* result) {
    using S = ProductSum<T>;
    const Compute<T>* sums = product.elements<Compute<T>>().data();
    T* out = result->mutable_elements<T>().data();
    auto scaled = [](Compute<T> value, float factor) {
        S x = static_cast<S>(value);
        if constexpr (std::is_floating_point_v<S>) {
            return x * static_cast<S>(factor);
        } else {
            // S has no sign.
            double wide = static_cast<double>(value);
            return factor == 1 ? x : static_cast<S>(saturate<T>(wide * factor));
        }
    };
    int64_t rows = product.dims()[0], columns = product.dims()[1];
    if (addend == nullptr) {
        for (int64_t i = 0; i < rows * columns; ++i) {
            out[i] = static_cast<T>(scaled(sums[i], alpha));
        }
        return;
    }
    const T* in = addend->elements<T>().data();
    Dims strides = broadcast_strides(addend->dims(), product.dims());
    auto value = [](T x) { return static_cast<Compute<T>>(x); };
    for (int64_t r = 0; r < rows; ++r, out += columns, sums += columns) {
        const T* row = in + r * strides[0];
        if (strides[1] == 1) {
            for (int64_t k = 0; k < columns; ++k) {
                out[k] = static_cast<T>(scaled(sums[k], alpha) + scaled(value(row[k]), beta));
            }
        } else {
            for (int64_t k = 0; k < columns; ++k) {
                out[k] = static_cast<T>(scaled(sums[k], alpha) + scaled(value(*row), beta));
            }
        }
    }
}

}  // namespace

Status matmul(KernelContext& c) {
    std::optional<RowsShape> shape = rows_shape(c.dims(0), c.dims(1));
    auto kept = shape.has_value() ? kept_matrix(c, *shape, false) : nullptr;
    if (kept != nullptr) {
        SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, shape->result));
        kept->run(c.tensor(0).elements<float>().data(), 0, nullptr, c.threads(),
                  out->mutable_elements<float>().data());
        return {};
    }
    SDX_ASSIGN(Tensor out, eval::matmul(c, c.tensor(0), c.tensor(1)));
    c.set_output(0, std::move(out));
    return {};
}

Status matmul_integer(KernelContext& c) {
    SDX_ASSIGN(Tensor out, product_of_codes(c, {0, 2}, {1, 3}));
    c.set_output(0, std::move(out));
    return {};
}

Status gemm(KernelContext& c) {
    if (c.rank(0) != 2 || c.rank(1) != 2) {
        return Error{"both factors must be matrices"};
    }
    const Tensor* addend = c.has_input(2) ? &c.tensor(2) : nullptr;
    float alpha = c.float_attribute("alpha");
    float beta = c.float_attribute("beta");
    int64_t columns = c.dims(1)[c.int_attribute("transB") != 0 ? 0 : 1];
    bool is_bias = addend != nullptr && c.type(0) == ElementType::kFloat && alpha == 1 &&
                   beta == 1 && addend->count() == columns && addend->rank() > 0 &&
                   addend->rank() <= 2 && addend->dims().back() == columns;
    SDX_ASSIGN(Tensor out, gemm_product(c, is_bias ? addend->elements<float>().data() : nullptr));
    if (is_bias) {
        c.set_output(0, std::move(out));
        return {};
    }
    if (addend != nullptr) {
        SDX_ASSIGN(Dims both, broadcast_dims(addend->dims(), out.dims()));
        if (both != out.dims()) {
            return Error{fmt::format("C {} does not broadcast to {}", to_string(addend->dims()),
                                     to_string(out.dims()))};
        }
    }
    if (addend == nullptr && alpha == 1) {
        SDX_ASSIGN(out, cast_tensor(c, out, c.type(0)));
        c.set_output(0, std::move(out));
        return {};
    }
    Tensor result = out;
    if (out.element_type() != c.type(0)) {
        SDX_ASSIGN(result, c.scratch(c.type(0), out.dims()));
    }
    SDX_TRY(visit(Numbers{}, c.type(0), [&]<typename T>() -> Status {
        scale_and_add<T>(out, addend, alpha, beta, &result);
        return {};
    }));
    c.set_output(0, std::move(result));
    return {};
}

Status det(KernelContext& c) {
    int rank = c.rank(0);
    const Dims& dims = c.dims(0);
    if (rank < 2 || dims[rank - 1] != dims[rank - 2]) {
        return Error{"the last two dimensions must be a square matrix"};
    }
    int64_t n = dims[rank - 1];
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), Dims(dims.begin(), dims.end() - 2)));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        int64_t side = std::min<int64_t>(n, 64);  // so that the product cannot overflow
        parallel_for(c.threads(), out->count(), items_per_task(side * side * side),
                     [&](int64_t begin, int64_t end) {
                         std::vector<double> matrix(n * n);
                         for (int64_t i = begin; i < end; ++i) {
                             std::transform(in + i * n * n, in + (i + 1) * n * n, matrix.begin(),
                                            as_double<T>);
                             result[i] = static_cast<T>(
                                 static_cast<Compute<T>>(determinant(c.threads(), matrix, n)));
                         }
                     });
        return {};
    });
}

}  // namespace kernels
}  // namespace sardonyx::eval
