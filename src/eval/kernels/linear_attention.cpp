// The operators of recurrent attention: LinearAttention and CausalConvWithState. Both compute in
// float.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/movement.h"
#include "eval/loops/strided.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

struct LinearShape {
    int64_t batch = 0, length = 0;
    int64_t query_heads = 0, key_heads = 0;
    int64_t size = 0, value_size = 0;
    bool has_decay = false, has_beta = false;
    int64_t decay_size = 0;  // per head: 1 or `size`
    int64_t beta_heads = 0;  // 1 or `key_heads`
};

// Each update rule wants its own inputs, and no others.
Status check_rule(const KernelContext& c, LinearShape* shape) {
    std::string_view rule = c.string_attribute("update_rule");
    shape->has_decay = rule == "gated" || rule == "gated_delta";
    shape->has_beta = rule == "delta" || rule == "gated_delta";
    if (!shape->has_decay && !shape->has_beta && rule != "linear") {
        return Error{fmt::format("update_rule `{}` is not known", rule)};
    }
    if (c.has_input(4) != shape->has_decay || c.has_input(5) != shape->has_beta) {
        return Error{fmt::format("update_rule `{}` {} decay and {} beta", rule,
                                 shape->has_decay ? "needs" : "excludes",
                                 shape->has_beta ? "needs" : "excludes")};
    }
    return {};
}

Status check_gates(const KernelContext& c, LinearShape* shape) {
    for (size_t i : {4, 5}) {
        if (c.has_input(i) &&
            (c.rank(i) != 3 || c.dims(i)[0] != shape->batch || c.dims(i)[1] != shape->length)) {
            return Error{fmt::format("input {} has shape {}, but must begin with [{},{}]", i,
                                     to_string(c.dims(i)), shape->batch, shape->length)};
        }
    }
    if (shape->has_decay) {
        int64_t width = c.dims(4)[2];
        shape->decay_size = width == shape->key_heads ? 1 : shape->size;
        if (width != shape->key_heads && width != c.dims(1)[2]) {
            return Error{fmt::format("decay has {} elements for {} heads of {}", width,
                                     shape->key_heads, shape->size)};
        }
    }
    if (shape->has_beta) {
        shape->beta_heads = c.dims(5)[2];
        if (shape->beta_heads != 1 && shape->beta_heads != shape->key_heads) {
            return Error{fmt::format("beta has {} elements for {} heads", shape->beta_heads,
                                     shape->key_heads)};
        }
    }
    return {};
}

Result<LinearShape> linear_shape(const KernelContext& c) {
    LinearShape shape;
    SDX_TRY(check_rule(c, &shape));
    shape.query_heads = c.int_attribute("q_num_heads");
    shape.key_heads = c.int_attribute("kv_num_heads");
    if (shape.query_heads <= 0 || shape.key_heads <= 0 ||
        shape.query_heads % shape.key_heads != 0) {
        return Error{fmt::format("{} heads of the query are not a multiple of {} heads of the key",
                                 shape.query_heads, shape.key_heads)};
    }
    for (size_t i = 0; i < 3; ++i) {
        int64_t heads = i == 0 ? shape.query_heads : shape.key_heads;
        if (c.rank(i) != 3 || c.dims(i)[0] != c.dims(0)[0] || c.dims(i)[1] != c.dims(0)[1] ||
            c.dims(i)[2] % heads != 0 || c.dims(i)[2] == 0) {
            return Error{
                fmt::format("input {} has shape {}, which does not match {} heads or "
                            "with the query {}",
                            i, to_string(c.dims(i)), heads, to_string(c.dims(0)))};
        }
    }
    shape.batch = c.dims(0)[0];
    shape.length = c.dims(0)[1];
    shape.size = c.dims(0)[2] / shape.query_heads;
    shape.value_size = c.dims(2)[2] / shape.key_heads;
    if (c.dims(1)[2] / shape.key_heads != shape.size) {
        return Error{fmt::format("a head has {} elements in the query, {} in the key", shape.size,
                                 c.dims(1)[2] / shape.key_heads)};
    }
    Dims state{shape.batch, shape.key_heads, shape.size, shape.value_size};
    if (c.has_input(3) && c.dims(3) != state) {
        return Error{fmt::format("past_state {} must have shape {}", to_string(c.dims(3)),
                                 to_string(state))};
    }
    SDX_TRY(check_gates(c, &shape));
    return shape;
}

// The operands of one head of keys at one position.
struct LinearStep {
    const float* key;
    const float* value;
    const float* decay;  // null: none
    const float* beta;   // null: none
};

// state = exp(decay) * state + key (x) value, where with `beta` the value is corrected by what the
// state already answers to the key. `written` is scratch of value_size.
void update_state(const LinearShape& shape, const LinearStep& step, float* state, float* written) {
    for (int64_t i = 0; i < shape.size && step.decay != nullptr; ++i) {
        float factor = std::exp(step.decay[shape.decay_size == 1 ? 0 : i]);
        for (int64_t j = 0; j < shape.value_size; ++j) {
            state[i * shape.value_size + j] *= factor;
        }
    }
    std::copy(step.value, step.value + shape.value_size, written);
    if (step.beta != nullptr) {
        for (int64_t i = 0; i < shape.size; ++i) {
            for (int64_t j = 0; j < shape.value_size; ++j) {
                written[j] -= state[i * shape.value_size + j] * step.key[i];
            }
        }
        for (int64_t j = 0; j < shape.value_size; ++j) {
            written[j] *= *step.beta;
        }
    }
    for (int64_t i = 0; i < shape.size; ++i) {
        for (int64_t j = 0; j < shape.value_size; ++j) {
            state[i * shape.value_size + j] += step.key[i] * written[j];
        }
    }
}

void read_state(const LinearShape& shape, const float* query, float scale, const float* state,
                float* out) {
    std::fill(out, out + shape.value_size, 0.0F);
    for (int64_t i = 0; i < shape.size; ++i) {
        for (int64_t j = 0; j < shape.value_size; ++j) {
            out[j] += query[i] * state[i * shape.value_size + j];
        }
    }
    for (int64_t j = 0; j < shape.value_size; ++j) {
        out[j] *= scale;
    }
}

// The operands as FLOAT; those left out are not valid.
struct LinearOperands {
    std::array<Tensor, 6> tensors;
    const float* data(size_t i) const {
        return tensors[i].is_valid() ? tensors[i].elements<float>().data() : nullptr;
    }
};

void run_positions(const LinearShape& shape, const LinearOperands& in, float scale, float* state,
                   float* out) {
    std::vector<float> written(shape.value_size);
    int64_t group = shape.query_heads / shape.key_heads;
    for (int64_t at = 0; at < shape.batch * shape.length; ++at) {  // (batch, position)
        int64_t b = at / shape.length;
        for (int64_t h = 0; h < shape.key_heads; ++h) {
            int64_t head = at * shape.key_heads + h;
            LinearStep step{in.data(1) + head * shape.size, in.data(2) + head * shape.value_size,
                            nullptr, nullptr};
            if (shape.has_decay) {
                step.decay = in.data(4) + head * shape.decay_size;
            }
            if (shape.has_beta) {
                step.beta = in.data(5) + at * shape.beta_heads + (shape.beta_heads == 1 ? 0 : h);
            }
            float* own = state + (b * shape.key_heads + h) * shape.size * shape.value_size;
            update_state(shape, step, own, written.data());
            for (int64_t g = 0; g < group; ++g) {
                int64_t query = at * shape.query_heads + h * group + g;
                read_state(shape, in.data(0) + query * shape.size, scale, own,
                           out + query * shape.value_size);
            }
        }
    }
}

}  // namespace

// https://onnx.ai/onnx/operators/onnx__LinearAttention.html
Status linear_attention(KernelContext& c) {
    SDX_ASSIGN(LinearShape shape, linear_shape(c));
    LinearOperands in;
    for (size_t i = 0; i < 6; ++i) {
        if (c.has_input(i)) {
            SDX_ASSIGN(in.tensors[i], cast_tensor(c, c.tensor(i), ElementType::kFloat));
        }
    }
    SDX_ASSIGN(Tensor state, c.scratch(ElementType::kFloat, {shape.batch, shape.key_heads,
                                                             shape.size, shape.value_size}));
    fill_zero(state);
    if (c.has_input(3)) {
        copy_elements(in.tensors[3], 0, state, 0, state.count());
    }
    SDX_TRY(check_size(ElementType::kFloat, std::array{shape.query_heads, shape.value_size},
                       c.options()));
    SDX_ASSIGN(Tensor out, c.scratch(ElementType::kFloat, {shape.batch, shape.length,
                                                           shape.query_heads * shape.value_size}));
    float scale = c.float_attribute("scale");
    scale = scale == 0 ? 1 / std::sqrt(static_cast<float>(shape.size)) : scale;
    if (out.count() > 0) {
        run_positions(shape, in, scale, state.mutable_elements<float>().data(),
                      out.mutable_elements<float>().data());
    }
    SDX_ASSIGN(Tensor result, cast_tensor(c, out, c.type(0)));
    c.set_output(0, std::move(result));
    if (c.wants(1)) {
        SDX_ASSIGN(Tensor present, cast_tensor(c, state, c.has_input(3) ? c.type(3) : c.type(0)));
        c.set_output(1, std::move(present));
    }
    return {};
}

// https://onnx.ai/onnx/operators/onnx__CausalConvWithState.html
Status causal_conv_with_state(KernelContext& c) {
    const Dims& dims = c.dims(0);
    const Dims& kernel = c.dims(1);
    std::string_view activation = c.string_attribute("activation");
    bool is_silu = activation == "silu" || activation == "swish";
    if (!is_silu && activation != "none") {
        return Error{fmt::format("activation `{}` is not known", activation)};
    }
    if (dims.size() != 3 || kernel.size() != 3 || kernel[0] != dims[1] || kernel[1] != 1 ||
        kernel[2] < 1) {
        return Error{fmt::format("a weight {} does not match an input {}", to_string(kernel),
                                 to_string(dims))};
    }
    if (c.has_input(2) && c.dims(2) != Dims{dims[1]}) {
        return Error{fmt::format("the bias {} must have one element for each of {} channels",
                                 to_string(c.dims(2)), dims[1])};
    }
    int64_t taps = kernel[2];
    Dims state_dims{dims[0], dims[1], taps - 1};
    if (c.has_input(3) && c.dims(3) != state_dims) {
        return Error{fmt::format("past_state {} must have shape {}", to_string(c.dims(3)),
                                 to_string(state_dims))};
    }
    SDX_TRY(check_size(c.type(0), state_dims, c.options()));
    Tensor past = c.has_input(3) ? c.tensor(3) : Tensor::zeros(c.type(0), state_dims);
    SDX_ASSIGN(Tensor padded, concat(c, std::array{past, c.tensor(0)}, 2));
    if (c.wants(1)) {
        SDX_ASSIGN(Tensor present, part_of_axis(c, padded, 2, dims[2], taps - 1));
        c.set_output(1, std::move(present));
    }
    SDX_ASSIGN(Tensor in, cast_tensor(c, padded, ElementType::kFloat));
    SDX_ASSIGN(Tensor weights, cast_tensor(c, c.tensor(1), ElementType::kFloat));
    Tensor bias;
    if (c.has_input(2)) {
        SDX_ASSIGN(bias, cast_tensor(c, c.tensor(2), ElementType::kFloat));
    }
    SDX_ASSIGN(Tensor out, c.scratch(ElementType::kFloat, dims));
    float* result = out.mutable_elements<float>().data();
    int64_t rows = out.count() > 0 ? dims[0] * dims[1] : 0;
    for (int64_t row = 0; row < rows; ++row) {
        int64_t channel = row % dims[1];
        const float* source = in.elements<float>().data() + row * (dims[2] + taps - 1);
        const float* weight = weights.elements<float>().data() + channel * taps;
        float start = bias.is_valid() ? bias.elements<float>()[channel] : 0.0F;
        for (int64_t t = 0; t < dims[2]; ++t) {
            float total = start;
            for (int64_t k = 0; k < taps; ++k) {
                total += source[t + k] * weight[k];
            }
            *result++ = is_silu ? total / (1 + std::exp(-total)) : total;
        }
    }
    SDX_ASSIGN(Tensor converted, cast_tensor(c, out, c.type(0)));
    c.set_output(0, std::move(converted));
    return {};
}

}  // namespace sardonyx::eval::kernels
