// MatMul, Gemm, MatMulInteger, Einsum, Det.
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
        return Error{"a scalar is no matrix"};
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

// --- Einsum --------------------------------------------------------------------------------------

// A label of Einsum: a letter, or one of the dims that `...` stands for.
struct Equation {
    std::vector<std::vector<int>> inputs;  // labels of each axis
    std::vector<int> output;
    int label_count = 0;
};

class EquationParser {
  public:
    explicit EquationParser(std::string_view text) {
        for (char ch : text) {
            if (ch != ' ') {
                text_ += ch;
            }
        }
    }

    Result<Equation> parse(std::span<const Tensor> operands) {
        size_t arrow = text_.find("->");
        std::string left = text_.substr(0, arrow);
        std::vector<std::string> terms(1);
        for (char ch : left) {
            if (ch == ',') {
                terms.emplace_back();
            } else {
                terms.back() += ch;
            }
        }
        if (terms.size() != operands.size()) {
            return Error{fmt::format("the equation has {} terms for {} inputs", terms.size(),
                                     operands.size())};
        }
        for (size_t i = 0; i < terms.size(); ++i) {
            ellipsis_ = std::max(ellipsis_, operands[i].rank() - letters(terms[i]));
        }
        for (size_t i = 0; i < terms.size(); ++i) {
            int own = operands[i].rank() - letters(terms[i]);
            bool has_ellipsis = terms[i].find("...") != std::string::npos;
            if (own < 0 || (own > 0 && !has_ellipsis)) {
                return Error{
                    fmt::format("term `{}` does not fit rank {}", terms[i], operands[i].rank())};
            }
            SDX_ASSIGN(std::vector<int> labels, read(terms[i], own));
            equation_.inputs.push_back(std::move(labels));
        }
        if (arrow != std::string::npos) {
            SDX_ASSIGN(equation_.output, read(text_.substr(arrow + 2), ellipsis_));
        } else {
            set_implicit_output(left);
        }
        equation_.label_count = ellipsis_ + 128;
        return equation_;
    }

  private:
    static int letters(const std::string& term) {
        return static_cast<int>(
            std::count_if(term.begin(), term.end(), [](char ch) { return ch != '.'; }));
    }
    int letter_label(char ch) const { return ellipsis_ + static_cast<unsigned char>(ch); }

    // `...` stands for the last `own` of the ellipsis labels.
    Result<std::vector<int>> read(const std::string& term, int own) const {
        std::vector<int> labels;
        for (size_t i = 0; i < term.size(); ++i) {
            char ch = term[i];
            bool is_letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
            if (is_letter) {
                labels.push_back(letter_label(ch));
            } else if (term.compare(i, 3, "...") == 0) {
                for (int k = ellipsis_ - own; k < ellipsis_; ++k) {
                    labels.push_back(k);
                }
                i += 2;
            } else {
                return Error{fmt::format("the equation has an unexpected `{}`", ch)};
            }
        }
        return labels;
    }

    // Without an arrow: the ellipsis, then the letters that occur once, in the alphabet's order.
    void set_implicit_output(const std::string& left) {
        for (int k = 0; k < ellipsis_; ++k) {
            equation_.output.push_back(k);
        }
        for (int ch = 'A'; ch <= 'z'; ++ch) {
            if (std::count(left.begin(), left.end(), static_cast<char>(ch)) == 1) {
                equation_.output.push_back(letter_label(static_cast<char>(ch)));
            }
        }
    }

    std::string text_;
    Equation equation_;
    int ellipsis_ = 0;
};

// The sizes of the labels, and each operand's stride along each label.
struct EinsumLoops {
    std::vector<int> labels;  // those of the output, then those summed over
    Dims sizes;               // of `labels`
    std::vector<Dims> strides;
};

Result<EinsumLoops> einsum_loops(const Equation& equation, std::span<const Tensor> operands) {
    Dims size_of(equation.label_count, -1);
    for (size_t i = 0; i < operands.size(); ++i) {
        for (size_t d = 0; d < equation.inputs[i].size(); ++d) {
            int64_t& size = size_of[equation.inputs[i][d]];
            int64_t dim = operands[i].dims()[d];
            if (size != -1 && size != dim && size != 1 && dim != 1) {
                return Error{fmt::format("an index has sizes {} and {}", size, dim)};
            }
            size = size == -1 || size == 1 ? dim : size;
        }
    }
    EinsumLoops loops;
    for (int label : equation.output) {
        bool again = std::count(loops.labels.begin(), loops.labels.end(), label) > 0;
        if (size_of[label] == -1 || again) {
            return Error{"an index of the result is in no term, or stands there twice"};
        }
        loops.labels.push_back(label);
    }
    for (int label = 0; label < equation.label_count; ++label) {
        bool is_output = std::count(loops.labels.begin(), loops.labels.end(), label) > 0;
        if (size_of[label] != -1 && !is_output) {
            loops.labels.push_back(label);
        }
    }
    for (int label : loops.labels) {
        loops.sizes.push_back(size_of[label]);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
        Dims own = row_major_strides(operands[i].dims());
        Dims strides(loops.labels.size(), 0);
        for (size_t d = 0; d < own.size(); ++d) {
            size_t at = std::find(loops.labels.begin(), loops.labels.end(), equation.inputs[i][d]) -
                        loops.labels.begin();
            strides[at] += operands[i].dims()[d] == 1 ? 0 : own[d];  // a diagonal adds up
        }
        loops.strides.push_back(std::move(strides));
    }
    return loops;
}

// Two operands at a time: out[labels of the result] = sum of a * b.
template <typename T>
void einsum_pair(const EinsumLoops& loops, const T* a, const T* b, T* out, size_t output_rank) {
    using S = ProductSum<T>;
    std::span<const int64_t> sizes = loops.sizes;
    std::span<const int64_t> summed = sizes.subspan(output_rank);
    std::span<const int64_t> steps_a = loops.strides[0];
    std::span<const int64_t> steps_b = loops.strides[1];
    StridedWalk<2> inner(summed, {steps_a.subspan(output_rank), steps_b.subspan(output_rank)});
    Dims steps_out = row_major_strides(sizes.first(output_rank));
    StridedWalk<3> outer(sizes.first(output_rank),
                         {steps_a.first(output_rank), steps_b.first(output_rank), steps_out});
    outer.for_each_row([&](const auto& at, const auto& step, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
            const T* x = a + at[0] + i * step[0];
            const T* y = b + at[1] + i * step[1];
            S sum = 0;
            inner.for_each_row([&](const auto& place, const auto& stride, int64_t count) {
                for (int64_t j = 0; j < count; ++j) {
                    sum += static_cast<S>(static_cast<Compute<T>>(x[place[0] + j * stride[0]])) *
                           static_cast<S>(static_cast<Compute<T>>(y[place[1] + j * stride[1]]));
                }
            });
            out[at[2] + i * step[2]] = static_cast<T>(sum);
        }
    });
}

// The labels that the product of the first two operands must keep: those that the result or a later
// operand has.
std::vector<int> kept_labels(const Equation& equation) {
    std::vector<int> needed = equation.output;
    for (size_t i = 2; i < equation.inputs.size(); ++i) {
        needed.insert(needed.end(), equation.inputs[i].begin(), equation.inputs[i].end());
    }
    std::vector<int> kept;
    for (size_t i = 0; i < 2; ++i) {
        for (int label : equation.inputs[i]) {
            bool is_needed = std::count(needed.begin(), needed.end(), label) > 0;
            if (is_needed && std::count(kept.begin(), kept.end(), label) == 0) {
                kept.push_back(label);
            }
        }
    }
    return kept;
}

// The labels of two operands by what becomes of them in a product of stacks of matrices.
struct EinsumRoles {
    std::vector<int> stack;   // in both operands and the result
    std::vector<int> summed;  // in both operands
    std::vector<int> left;    // in the first operand and the result
    std::vector<int> right;   // in the second one and the result
};

// Nothing: a label stands twice in an operand, is summed in one operand alone, or broadcasts.
std::optional<EinsumRoles> einsum_roles(const Equation& equation,
                                        std::span<const Tensor> operands) {
    auto has = [](const std::vector<int>& labels, int label) {
        return std::count(labels.begin(), labels.end(), label);
    };
    const std::vector<int>&a = equation.inputs[0], &b = equation.inputs[1];
    EinsumRoles roles;
    for (int label = 0; label < equation.label_count; ++label) {
        auto in_a = has(a, label), in_b = has(b, label), in_result = has(equation.output, label);
        if (in_a > 1 || in_b > 1 || in_result > 1 || (in_a + in_b == 1 && in_result == 0)) {
            return std::nullopt;
        }
        if (in_a == 0 && in_b == 0) {
            continue;
        }
        if (in_a + in_b == 2) {
            int64_t size_a = operands[0].dims()[std::find(a.begin(), a.end(), label) - a.begin()];
            int64_t size_b = operands[1].dims()[std::find(b.begin(), b.end(), label) - b.begin()];
            if (size_a != size_b) {
                return std::nullopt;
            }
            (in_result > 0 ? roles.stack : roles.summed).push_back(label);
        } else {
            (in_a > 0 ? roles.left : roles.right).push_back(label);
        }
    }
    return roles;
}

// The operand with its axes in the order of three groups of labels, each taken as one axis.
Result<Tensor> grouped(const KernelContext& c, const Tensor& operand,
                       const std::vector<int>& labels,
                       std::initializer_list<const std::vector<int>*> groups) {
    std::vector<int> order;
    Dims dims;
    for (const std::vector<int>* group : groups) {
        Dims sizes;
        for (int label : *group) {
            order.push_back(
                static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin()));
            sizes.push_back(operand.dims()[order.back()]);
        }
        dims.push_back(product(sizes));
    }
    SDX_ASSIGN(Tensor moved, transposed(c, operand, order));
    return moved.reshaped(std::move(dims));
}

// As a product of stacks of matrices; nothing where it is none, or so small that this costs more.
Result<std::optional<Tensor>> einsum_as_matmul(KernelContext& c, const Equation& equation,
                                               std::span<const Tensor> operands,
                                               const EinsumLoops& loops) {
    constexpr int64_t kLittleWork = 1 << 12;
    std::optional<EinsumRoles> roles = einsum_roles(equation, operands);
    if (!roles.has_value() || operands[0].count() == 0 || operands[1].count() == 0 ||
        product(loops.sizes) < kLittleWork) {
        return std::optional<Tensor>();
    }
    SDX_ASSIGN(Tensor a, grouped(c, operands[0], equation.inputs[0],
                                 {&roles->stack, &roles->left, &roles->summed}));
    SDX_ASSIGN(Tensor b, grouped(c, operands[1], equation.inputs[1],
                                 {&roles->stack, &roles->summed, &roles->right}));
    SDX_ASSIGN(Tensor made, matmul(c, a, b));
    // From [stack, left, right] to the order of the result.
    std::vector<int> labels = roles->stack;
    labels.insert(labels.end(), roles->left.begin(), roles->left.end());
    labels.insert(labels.end(), roles->right.begin(), roles->right.end());
    Dims dims(labels.size());
    std::vector<int> order;
    for (size_t i = 0; i < equation.output.size(); ++i) {
        auto at = std::find(labels.begin(), labels.end(), equation.output[i]) - labels.begin();
        order.push_back(static_cast<int>(at));
        dims[at] = loops.sizes[i];
    }
    SDX_ASSIGN(Tensor out, transposed(c, made.reshaped(std::move(dims)), order));
    return std::optional<Tensor>(std::move(out));
}

Result<Tensor> einsum_two(KernelContext& c, const Equation& equation,
                          std::span<const Tensor> operands) {
    SDX_ASSIGN(EinsumLoops loops, einsum_loops(equation, operands));
    SDX_ASSIGN(std::optional<Tensor> matrices, einsum_as_matmul(c, equation, operands, loops));
    if (matrices.has_value()) {
        return *std::move(matrices);
    }
    size_t rank = equation.output.size();
    Dims dims(loops.sizes.begin(), loops.sizes.begin() + rank);
    SDX_ASSIGN(Tensor out, c.scratch(operands[0].element_type(), std::move(dims)));
    SDX_TRY(visit(Numbers{}, out.element_type(), [&]<typename T>() -> Status {
        einsum_pair(loops, operands[0].elements<T>().data(), operands[1].elements<T>().data(),
                    out.mutable_elements<T>().data(), rank);
        return {};
    }));
    return out;
}

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

Status einsum(KernelContext& c) {
    std::vector<Tensor> operands;
    for (size_t i = 0; i < c.input_count(); ++i) {
        operands.push_back(c.tensor(i));
    }
    SDX_ASSIGN(Equation equation, EquationParser(c.string_attribute("equation")).parse(operands));
    if (operands.size() == 1) {
        // A second operand of one 1, which no index names.
        double one = 1;
        SDX_ASSIGN(Tensor scalar, tensor_from_doubles(c.type(0), {}, {&one, 1}));
        operands.push_back(std::move(scalar));
        equation.inputs.emplace_back();
    }
    while (operands.size() > 2) {
        Equation first = equation;
        first.output = kept_labels(equation);
        first.inputs.resize(2);
        SDX_ASSIGN(Tensor product,
                   einsum_two(c, first, std::span<const Tensor>(operands).first(2)));
        operands.erase(operands.begin());
        operands[0] = std::move(product);
        equation.inputs.erase(equation.inputs.begin());
        equation.inputs[0] = first.output;
    }
    SDX_ASSIGN(Tensor out, einsum_two(c, equation, operands));
    c.set_output(0, std::move(out));
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
