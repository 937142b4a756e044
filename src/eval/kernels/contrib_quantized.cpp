// Operators of com.microsoft on 8-bit codes: real numbers are made of the codes, the standard
// operator runs on them, and codes are made of the result.
#include <fmt/format.h>

#include <numeric>

#include "eval/kernels/contrib_call.h"
#include "eval/kernels/standard_kernels.h"

namespace sardonyx::eval::kernels {

namespace {

// Input `i` by the scale and the zero point after it, which are for all of it.
Result<Tensor> numbers_of(KernelContext& c, size_t i) {
    for (size_t at : {i + 1, i + 2}) {
        if (c.has_input(at) && c.tensor(at).count() != 1) {
            return Error{
                fmt::format("input {} must be one number, not {}", at, to_string(c.dims(at)))};
        }
    }
    Tensor scale = c.tensor(i + 1).reshaped({});
    if (!c.has_input(i + 2)) {
        return call_standard(c, "DequantizeLinear", dequantize_linear, {&c.tensor(i), &scale});
    }
    Tensor zero = c.tensor(i + 2).reshaped({});
    return call_standard(c, "DequantizeLinear", dequantize_linear, {&c.tensor(i), &scale, &zero});
}

// The codes of `numbers` as output 0, by inputs `i` and `i + 1`.
Status set_codes(KernelContext& c, const Tensor& numbers, size_t i, ElementType type) {
    if (c.tensor(i).count() != 1 || (c.has_input(i + 1) && c.tensor(i + 1).count() != 1)) {
        return Error{"the scale and the zero point of the output must be one number each"};
    }
    Tensor scale = c.tensor(i).reshaped({});
    Tensor zero = c.has_input(i + 1) ? c.tensor(i + 1).reshaped({}) : Tensor::zeros(type, {});
    SDX_ASSIGN(Tensor codes,
               call_standard(c, "QuantizeLinear", quantize_linear, {&numbers, &scale, &zero}));
    c.set_output(0, std::move(codes));
    return {};
}

Status on_two(KernelContext& c, std::string_view name, Kernel kernel) {
    SDX_ASSIGN(Tensor a, numbers_of(c, 0));
    SDX_ASSIGN(Tensor b, numbers_of(c, 3));
    SDX_ASSIGN(Tensor result, call_standard(c, name, kernel, {&a, &b}));
    return set_codes(c, result, 6, c.type(0));
}

}  // namespace

Status qlinear_add(KernelContext& c) {
    return on_two(c, "Add", add);
}

Status qlinear_mul(KernelContext& c) {
    return on_two(c, "Mul", multiply);
}

Status qlinear_sigmoid(KernelContext& c) {
    SDX_ASSIGN(Tensor x, numbers_of(c, 0));
    SDX_ASSIGN(Tensor result, call_standard(c, "Sigmoid", sigmoid, {&x}));
    return set_codes(c, result, 3, c.type(0));
}

Status qlinear_leaky_relu(KernelContext& c) {
    SDX_ASSIGN(Tensor x, numbers_of(c, 0));
    SDX_ASSIGN(Tensor result,
               call_standard(c, "LeakyRelu", leaky_relu, {&x},
                             {ir::make_attribute("alpha", c.float_attribute("alpha"))}));
    return set_codes(c, result, 3, c.type(0));
}

Status qlinear_global_average_pool(KernelContext& c) {
    if (c.rank(0) < 3) {
        return Error{"the input must have a batch axis, a channel axis and others"};
    }
    SDX_ASSIGN(Tensor x, numbers_of(c, 0));
    std::vector<int64_t> axes(c.rank(0) - 2);
    std::iota(axes.begin(), axes.end(), c.int_attribute("channels_last") != 0 ? 1 : 2);
    SDX_ASSIGN(Tensor list,
               tensor_from_int64s(ElementType::kInt64, {static_cast<int64_t>(axes.size())}, axes));
    SDX_ASSIGN(Tensor result, call_standard(c, "ReduceMean", reduce_mean, {&x, &list}));
    return set_codes(c, result, 3, c.type(0));
}

Status qlinear_concat(KernelContext& c) {
    if (c.input_count() < 5 || (c.input_count() - 2) % 3 != 0) {
        return Error{"the inputs after the first two must be threes: codes, scale, zero point"};
    }
    std::vector<RuntimeValue> parts;
    for (size_t i = 2; i < c.input_count(); i += 3) {
        bool fits = c.has_input(i) && c.has_input(i + 1) && c.has_input(i + 2) &&
                    c.type(i) == c.type(1) && c.type(i + 1) == ElementType::kFloat &&
                    c.type(i + 2) == c.type(1);
        if (!fits) {
            return Error{
                fmt::format("inputs {} to {} must be codes, a scale and a zero point of "
                            "the codes' type",
                            i, i + 2)};
        }
        SDX_ASSIGN(Tensor numbers, numbers_of(c, i));
        parts.emplace_back(std::move(numbers));
    }
    SDX_ASSIGN(std::vector<RuntimeValue> joined,
               call_standard(c, "Concat", concat, std::move(parts),
                             {ir::make_attribute("axis", c.int_attribute("axis"))}, 1));
    return set_codes(c, joined[0].tensor(), 0, c.type(1));
}

}  // namespace sardonyx::eval::kernels
