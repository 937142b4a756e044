// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, QLinearMatMul, MatMulIntegerToFloat.
// Elements go through
// double, which holds every integer and small float exactly; the arithmetic itself is done as the
// text says, in float or in the type that `precision` names.
#include "eval/kernels/quantization.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/loops/matmul.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// A scale and a zero point for each element: one for all, one for each place of an axis, or one for
// each block along it.
class QuantizationTable {
  public:
    // `zero` may be null. `block`: 0 for none.
    static Result<QuantizationTable> make(const KernelContext& c, const Tensor& data,
                                          const Tensor& scale, const Tensor* zero, int64_t axis,
                                          int64_t block) {
        QuantizationTable table;
        if (block < 0) {
            return Error{fmt::format("`block_size` {} is negative", block)};
        }
        SDX_ASSIGN(table.scale_, cast_tensor(c, scale, ElementType::kDouble));
        if (zero != nullptr) {
            if (zero->count() != scale.count()) {
                return Error{
                    fmt::format("{} scales and {} zero points", scale.count(), zero->count())};
            }
            SDX_ASSIGN(table.zero_, cast_tensor(c, *zero, ElementType::kDouble));
        }
        if (scale.rank() == 0 || (scale.count() == 1 && block == 0)) {
            table.view_ = {1, 1, std::max<int64_t>(1, data.count())};
            return table;
        }
        SDX_ASSIGN(int at, c.axis(axis, data.rank()));
        table.view_ = axis_view(data.dims(), at);
        if (block == 0) {
            if (scale.rank() != 1 || scale.count() != table.view_.n) {
                return Error{fmt::format("scales {} do not fit axis {} of {}",
                                         to_string(scale.dims()), at, to_string(data.dims()))};
            }
            return table;
        }
        Dims expected = data.dims();
        int64_t n = expected[at];
        expected[at] = n / block + (n % block != 0 ? 1 : 0);
        if (scale.dims() != expected) {
            return Error{fmt::format("scales {} do not fit blocks of {} along axis {} of {}",
                                     to_string(scale.dims()), block, at, to_string(data.dims()))};
        }
        table.block_ = block;
        table.blocks_ = expected[at];
        return table;
    }

    // Scales and zero points that broadcast to a tensor of `dims`, as DOUBLE.
    static Result<QuantizationTable> broadcast(const KernelContext& c, const Dims& dims,
                                               const Tensor& scale, const Tensor& zero) {
        QuantizationTable table;
        if (scale.count() == 1 && zero.count() == 1) {
            table.scale_ = scale;
            table.zero_ = zero;
            table.view_ = {1, 1, std::max<int64_t>(1, product(dims))};
            return table;
        }
        SDX_ASSIGN(table.scale_,
                   gather_view(c, scale, {0, broadcast_strides(scale.dims(), dims)}, dims));
        SDX_ASSIGN(table.zero_,
                   gather_view(c, zero, {0, broadcast_strides(zero.dims(), dims)}, dims));
        table.view_ = {1, std::max<int64_t>(1, product(dims)), 1};
        return table;
    }

    // Which scale goes with element i.
    int64_t at(int64_t i) const {
        int64_t along = i / view_.inner % view_.n;
        if (block_ == 0) {
            return along;
        }
        int64_t outer = i / (view_.inner * view_.n);
        return (outer * blocks_ + along / block_) * view_.inner + i % view_.inner;
    }
    // The elements up to `end` have the scales first, first + step, ...
    struct Run {
        int64_t end;
        int64_t first;
        int64_t step;
    };
    Run run_at(int64_t i) const {
        int64_t first = at(i);
        if (view_.inner > 1) {
            int64_t place = i % view_.inner;
            return {i - place + view_.inner, first, block_ == 0 ? 0 : 1};
        }
        int64_t along = i % view_.n;
        if (block_ == 0) {
            return {i - along + view_.n, first, 1};
        }
        return {i - along + std::min(view_.n, (along / block_ + 1) * block_), first, 0};
    }
    const double* scales() const { return scale_.elements<double>().data(); }
    // Null: none.
    const double* zeros() const {
        return zero_.is_valid() ? zero_.elements<double>().data() : nullptr;
    }
    double scale(int64_t k) const { return scale_.elements<double>()[k]; }
    double zero(int64_t k) const { return zero_.is_valid() ? zero_.elements<double>()[k] : 0; }

  private:
    Tensor scale_;
    Tensor zero_;
    AxisView view_;
    int64_t block_ = 0;
    int64_t blocks_ = 0;
};

// Rounds to a type of 32 bits or less.
double rounded_to(ElementType type, double x) {
    switch (type) {
        case ElementType::kFloat16:
            return static_cast<double>(Float16(x));
        case ElementType::kBfloat16:
            return static_cast<double>(BFloat16(x));
        case ElementType::kDouble:
            return x;
        default:
            return static_cast<float>(x);
    }
}

struct IntegerLimits {
    double low, high;
};
IntegerLimits limits_of(ElementType type) {
    int bits = info(type).bits;
    bool is_signed = element_class(type) == ElementClass::kSigned;
    return {is_signed ? -std::ldexp(1.0, bits - 1) : 0,
            std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1};
}

// The types that models are full of have loops of their own, with the same numbers.
using Codes = TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kUint8, uint8_t>,
                       Typed<ElementType::kInt16, int16_t>, Typed<ElementType::kUint16, uint16_t>,
                       Typed<ElementType::kInt32, int32_t>>;
using NarrowCodes =
    TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kUint8, uint8_t>,
             Typed<ElementType::kInt16, int16_t>, Typed<ElementType::kUint16, uint16_t>>;

constexpr int64_t kTaskCodes = 1 << 14;

// Elements [begin, end), which have the scales and zero points first, first + step, ...
struct RunLoop {
    const void* in;
    void* out;
    const double* scales;
    const double* zeros;  // null: none
    int64_t step;
    int64_t begin, end;

    double zero(int64_t i) const { return zeros != nullptr ? zeros[i * step] : 0; }
};

// From sums of products, as double divided by double and rounded to float, or from floats.
template <typename From, typename To>
SDX_CLONES void quantize_run(RunLoop run) {
    using V = std::conditional_t<std::is_same_v<From, float>, float, double>;
    const From* in = static_cast<const From*>(run.in) + run.begin;
    To* out = static_cast<To*>(run.out) + run.begin;
    int64_t n = run.end - run.begin;
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: in the sum the low bits are the integer
    auto quantized = [&](From element, V scale, float zero) {
        // Saturated first, which gives the same and leaves numbers that are easily rounded. NaN is
        // the lowest code, as in ONNX Runtime and onnx.reference.
        const float low = static_cast<float>(std::numeric_limits<To>::min()) - zero;
        const float high = static_cast<float>(std::numeric_limits<To>::max()) - zero;
        auto x = static_cast<float>(static_cast<V>(element) / scale);
        x = x > low ? x : low;
        x = x < high ? x : high;
        return static_cast<To>(std::bit_cast<uint32_t>(x + kRound) +
                               static_cast<uint32_t>(static_cast<int32_t>(zero)));
    };
    if (run.step == 0) {
        const auto scale = static_cast<V>(*run.scales);
        const auto zero = static_cast<float>(run.zero(0));
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            out[i] = quantized(in[i], scale, zero);
        }
    } else {
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            out[i] =
                quantized(in[i], static_cast<V>(run.scales[i]), static_cast<float>(run.zero(i)));
        }
    }
}

template <typename T>
SDX_CLONES void dequantize_run(RunLoop run) {
    const T* in = static_cast<const T*>(run.in) + run.begin;
    float* out = static_cast<float*>(run.out) + run.begin;
    int64_t n = run.end - run.begin;
    // The product of a short difference and a float is exact in double: rounding it is what the
    // product in float does.
    using Product = std::conditional_t<(sizeof(T) < sizeof(int32_t)), float, double>;
    if (run.step == 0) {
        const auto scale = static_cast<Product>(*run.scales);
        const auto zero = static_cast<Product>(run.zero(0));
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<float>((static_cast<Product>(in[i]) - zero) * scale);
        }
    } else {
        SDX_INDEPENDENT_LOOP
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<float>(
                (static_cast<Product>(in[i]) - static_cast<Product>(run.zero(i))) *
                static_cast<Product>(run.scales[i]));
        }
    }
}

enum class MatrixAxis : uint8_t { kRows, kColumns };

// The input `i`, as DOUBLE and in a shape that broadcasts to the matrices of `dims`: one number, or
// one for each of their rows, as [rows] or [..., rows, 1], or columns, as [columns] or
// [..., 1, columns].
Result<Tensor> matrix_operand(const KernelContext& c, size_t i, const Dims& dims, MatrixAxis axis) {
    SDX_ASSIGN(Tensor operand, cast_tensor(c, c.tensor(i), ElementType::kDouble));
    if (operand.count() == 1) {
        return operand.reshaped({});
    }
    bool is_rows = axis == MatrixAxis::kRows;
    if (operand.rank() == 1 && is_rows) {
        operand = operand.reshaped({operand.count(), 1});
    }
    const Dims& given = operand.dims();
    Result<Dims> fitted = broadcast_dims(given, dims);
    bool fits = fitted.ok() && *fitted == dims &&
                (is_rows ? given.back() == 1 : given.size() < 2 || given[given.size() - 2] == 1);
    if (!fits) {
        return Error{
            fmt::format("input {} ({}) does not fit matrices {}: write one number, or one "
                        "for each of the {} {}, as {}",
                        i, c.value(i).describe(), to_string(dims),
                        is_rows ? dims[dims.size() - 2] : dims.back(), is_rows ? "rows" : "columns",
                        is_rows ? "[rows] or [..., rows, 1]" : "[columns] or [..., 1, columns]")};
    }
    return operand;
}

// Calls the loop for every run of scales.
void for_each_run(const KernelContext& c, const QuantizationTable& table, const Tensor& in,
                  Tensor& out, void (*loop)(RunLoop)) {
    const void* from = in.bytes().data();
    void* to = out.mutable_bytes().data();
    parallel_for(c.threads(), in.count(), kTaskCodes, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end;) {
            QuantizationTable::Run run = table.run_at(i);
            int64_t stop = std::min(end, run.end);
            const double* zeros = table.zeros() != nullptr ? table.zeros() + run.first : nullptr;
            loop({from, to, table.scales() + run.first, zeros, run.step, i, stop});
            i = stop;
        }
    });
}

// Each element as `convert(element, scale, zero)` gives it, computed and kept as DOUBLE.
template <typename Convert>
Result<Tensor> converted(const KernelContext& c, const Tensor& x, const QuantizationTable& table,
                         const Convert& convert) {
    SDX_ASSIGN(Tensor wide, cast_tensor(c, x, ElementType::kDouble));
    SDX_ASSIGN(Tensor result, c.scratch(ElementType::kDouble, x.dims()));
    std::span<const double> in = wide.elements<double>();
    std::span<double> out = result.mutable_elements<double>();
    parallel_for(c.threads(), x.count(), kTaskCodes, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t k = table.at(i);
            out[i] = convert(in[i], table.scale(k), table.zero(k));
        }
    });
    return result;
}

// Output 0: round(x / scale) + zero, saturated; to a small float without rounding to whole numbers.
Status quantize(KernelContext& c, const Tensor& x, const QuantizationTable& table,
                ElementType target, ElementType precision, bool saturates) {
    void (*loop)(RunLoop) = nullptr;
    if (x.element_type() == ElementType::kFloat) {
        loop = pick(NarrowCodes{}, target, []<typename T>() { return &quantize_run<float, T>; });
    } else if (x.element_type() == ElementType::kInt32) {
        loop = pick(NarrowCodes{}, target, []<typename T>() { return &quantize_run<int32_t, T>; });
    }
    if (loop != nullptr && precision == ElementType::kFloat) {
        SDX_ASSIGN(Tensor * out, c.output(0, target, x.dims()));
        for_each_run(c, table, x, *out, loop);
        return {};
    }
    bool to_float = is_floating(target);
    IntegerLimits limits = limits_of(target);
    SDX_ASSIGN(Tensor result, converted(c, x, table, [&](double value, double scale, double zero) {
                   double quotient = rounded_to(precision, value / scale);
                   if (to_float) {
                       return quotient + zero;
                   }
                   double code = std::nearbyint(quotient) + zero;
                   // NaN is the lowest code, as in quantize_run().
                   return code > limits.low ? std::min(code, limits.high) : limits.low;
               }));
    CastOptions options;
    options.saturate = saturates;
    SDX_ASSIGN(Tensor out, cast_tensor(c, result, target, options));
    c.set_output(0, std::move(out));
    return {};
}

// Output 0: (x - zero) * scale.
Status dequantize(KernelContext& c, const Tensor& x, const QuantizationTable& table,
                  ElementType target) {
    if (is_packed(x.element_type()) && is_integer(x.element_type())) {
        bool is_signed = element_class(x.element_type()) == ElementClass::kSigned;
        SDX_ASSIGN(Tensor codes,
                   cast_tensor(c, x, is_signed ? ElementType::kInt8 : ElementType::kUint8));
        return dequantize(c, codes, table, target);
    }
    auto* loop = pick(Codes{}, x.element_type(), []<typename T>() { return &dequantize_run<T>; });
    if (loop != nullptr && target == ElementType::kFloat) {
        SDX_ASSIGN(Tensor * out, c.output(0, target, x.dims()));
        for_each_run(c, table, x, *out, loop);
        return {};
    }
    SDX_ASSIGN(Tensor result, converted(c, x, table, [](double value, double scale, double zero) {
                   return (value - zero) * scale;
               }));
    SDX_ASSIGN(Tensor out, cast_tensor(c, result, target));
    c.set_output(0, std::move(out));
    return {};
}

// NaN counts for no limit, as in ONNX Runtime; onnx.reference makes all codes 0.
SDX_CLONES void find_limits(const float* in, int64_t n, float* low, float* high) {
    constexpr int kLanes = 32;
    float least[kLanes] = {}, greatest[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
            least[k] = in[i + k] < least[k] ? in[i + k] : least[k];
            greatest[k] = in[i + k] > greatest[k] ? in[i + k] : greatest[k];
        }
    }
    for (; i < n; ++i) {
        least[0] = std::min(least[0], in[i]);
        greatest[0] = std::max(greatest[0], in[i]);
    }
    *low = *std::min_element(least, least + kLanes);
    *high = *std::max_element(greatest, greatest + kLanes);
}

SDX_CLONES void scale_sums(const int32_t* sums, const float* factors, const float* biases,
                           float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<float>(sums[i]) * factors[i] + biases[i];
    }
}

}  // namespace

Status quantize_linear(KernelContext& c) {
    const Tensor* zero = c.has_input(2) ? &c.tensor(2) : nullptr;
    int64_t number = c.int_attribute("output_dtype", 0);
    ElementType target = zero != nullptr ? zero->element_type()
                         : number != 0   ? element_type_from_number(number)
                                         : ElementType::kUint8;
    bool is_target = is_integer(target) || is_small_float(target);
    if (!is_target ||
        (zero != nullptr && number != 0 && element_type_from_number(number) != target)) {
        return Error{"`output_dtype` must be the zero point's type, and one to quantize to"};
    }
    ElementType precision = element_type_from_number(c.int_attribute("precision", 0));
    if (precision == ElementType::kUndefined) {
        precision = c.type(1);
    }
    SDX_ASSIGN(QuantizationTable table, QuantizationTable::make(c, c.tensor(0), c.tensor(1), zero,
                                                                c.int_attribute("axis", 0),
                                                                c.int_attribute("block_size", 0)));
    return quantize(c, c.tensor(0), table, target, precision, c.int_attribute("saturate", 1) != 0);
}

Status dequantize_linear(KernelContext& c) {
    const Tensor* zero = c.has_input(2) ? &c.tensor(2) : nullptr;
    ElementType target = element_type_from_number(c.int_attribute("output_dtype", 0));
    if (target == ElementType::kUndefined) {
        target = c.type(1);
    }
    if (!is_floating(target) || is_small_float(target)) {
        return Error{
            fmt::format("the result cannot be {}: `output_dtype` must be FLOAT, FLOAT16 or "
                        "BFLOAT16, or left out if the scale is of one of these",
                        name(target))};
    }
    SDX_ASSIGN(QuantizationTable table, QuantizationTable::make(c, c.tensor(0), c.tensor(1), zero,
                                                                c.int_attribute("axis", 0),
                                                                c.int_attribute("block_size", 0)));
    return dequantize(c, c.tensor(0), table, target);
}

Status dynamic_quantize_linear(KernelContext& c) {
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kUint8, c.dims(0)));
    ByteScale found = quantize_to_bytes(c.tensor(0).elements<float>(), c.threads(),
                                        out->mutable_elements<uint8_t>().data());
    c.set_output(1, Tensor::scalar(found.scale));
    c.set_output(2, Tensor::scalar(found.zero));
    return {};
}

// Inputs: a, scale, zero point, b, scale, zero point, and the result's scale and zero point.
Status qlinear_matmul(KernelContext& c) {
    SDX_ASSIGN(Tensor sums, product_of_codes(c, {0, 2}, {3, 5}));
    // As matrices: a vector is a row or a column.
    Dims a = c.dims(0);
    Dims b = c.dims(3);
    Dims y = sums.dims();
    if (c.rank(3) == 1) {
        b.push_back(1);
        y.push_back(1);
    }
    if (c.rank(0) == 1) {
        a.insert(a.begin(), 1);
        y.insert(y.end() - 1, 1);
    }
    SDX_ASSIGN(Tensor scale_a, matrix_operand(c, 1, a, MatrixAxis::kRows));
    SDX_ASSIGN(Tensor scale_b, matrix_operand(c, 4, b, MatrixAxis::kColumns));
    SDX_ASSIGN(Tensor scale_y, matrix_operand(c, 6, y, MatrixAxis::kRows));
    SDX_ASSIGN(Tensor zero_y, matrix_operand(c, 7, y, MatrixAxis::kRows));
    using Double = TypeList<Typed<ElementType::kDouble, double>>;
    Multiply multiply;
    Divide divide;
    SDX_ASSIGN(
        Tensor products,
        apply_binary(c, scale_a, scale_b, binary_call(Double{}, ElementType::kDouble, multiply)));
    SDX_ASSIGN(Tensor factors, apply_binary(c, scale_y, products,
                                            binary_call(Double{}, ElementType::kDouble, divide)));
    SDX_ASSIGN(QuantizationTable table, QuantizationTable::broadcast(c, y, factors, zero_y));
    return quantize(c, sums, table, c.type(7), ElementType::kFloat, true);
}

// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md: the product of a, b,
// codes less their zero points, times the scales: of a one, of b one or one for each column.
// Inputs: a, b, the scales, the zero points, and a bias for each column.
Status matmul_integer_to_float(KernelContext& c) {
    SDX_ASSIGN(Tensor sums, product_of_codes(c, {0, 4}, {1, 5}));
    int64_t columns = c.rank(1) < 2 ? 1 : c.dims(1).back();
    const Tensor& scales = c.tensor(3);
    bool has_bias = c.has_input(6);
    if (c.tensor(2).count() != 1 || (scales.count() != 1 && scales.count() != columns)) {
        return Error{fmt::format("scales {} and {} do not fit: one for A, and one or {} for B",
                                 to_string(c.dims(2)), to_string(scales.dims()), columns)};
    }
    if (has_bias && c.tensor(6).count() != columns) {
        return Error{fmt::format("{} biases for {} columns", c.tensor(6).count(), columns)};
    }
    std::vector<float> factors(columns), biases(columns);
    for (int64_t j = 0; j < columns; ++j) {
        factors[j] = c.tensor(2).elements<float>()[0] *
                     scales.elements<float>()[scales.count() == 1 ? 0 : j];
        biases[j] = has_bias ? c.tensor(6).elements<float>()[j] : 0;
    }
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, sums.dims()));
    const int32_t* sum = sums.elements<int32_t>().data();
    float* to = out->mutable_elements<float>().data();
    int64_t rows = columns == 0 ? 0 : sums.count() / columns;
    parallel_for(c.threads(), rows, items_per_task(4 * columns), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * columns; i < end * columns; i += columns) {
            scale_sums(sum + i, factors.data(), biases.data(), to + i, columns);
        }
    });
    return {};
}

}  // namespace sardonyx::eval::kernels

namespace sardonyx::eval {

ByteScale quantize_to_bytes(std::span<const float> x, const Workers& threads, uint8_t* codes) {
    float low = 0;
    float high = 0;
    auto count = static_cast<int64_t>(x.size());
    constexpr int64_t kPiece = 1 << 16;
    int64_t pieces = (count + kPiece - 1) / kPiece;
    std::vector<float> lows(pieces), highs(pieces);
    parallel_for(threads, pieces, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            kernels::find_limits(x.data() + i * kPiece, std::min(kPiece, count - i * kPiece),
                                 &lows[i], &highs[i]);
        }
    });
    for (int64_t i = 0; i < pieces; ++i) {
        low = std::min(low, lows[i]);
        high = std::max(high, highs[i]);
    }
    // All zero: any scale does.
    float scale = high == low ? 1.0f : (high - low) / 255.0f;
    auto zero = saturate<uint8_t>(std::clamp(std::nearbyint(-low / scale), 0.0f, 255.0f));
    const double scale_of_all = scale, zero_of_all = zero;
    parallel_for(threads, count, kernels::kTaskCodes, [&](int64_t begin, int64_t end) {
        kernels::quantize_run<float, uint8_t>(
            {x.data(), codes, &scale_of_all, &zero_of_all, 0, begin, end});
    });
    return {scale, zero};
}

}  // namespace sardonyx::eval
