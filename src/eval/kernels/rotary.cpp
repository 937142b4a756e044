// RotaryEmbedding (https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html).
#include <fmt/format.h>

#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// Element (b, s, h, d) of the input is at b * batch_step + s * step + h * head_step + d.
struct RotaryShape {
    int64_t batch = 0, length = 0, heads = 0, size = 0;
    int64_t step = 0, head_step = 0;
    int64_t half = 0;  // pairs that are turned
    bool is_interleaved = false;
};

Result<RotaryShape> rotary_shape(const KernelContext& c) {
    const Dims& dims = c.dims(0);
    RotaryShape shape;
    if (dims.size() == 4) {
        shape = {dims[0], dims[2], dims[1], dims[3], dims[3], dims[2] * dims[3]};
    } else if (dims.size() == 3) {
        int64_t heads = c.int_attribute("num_heads");
        if (heads <= 0 || dims[2] % heads != 0) {
            return Error{fmt::format("{} does not divide into {} heads", to_string(dims), heads)};
        }
        shape = {dims[0], dims[1], heads, dims[2] / heads, dims[2], dims[2] / heads};
    } else {
        return Error{fmt::format("the input has rank {}, but must have 3 or 4", dims.size())};
    }
    int64_t turned = c.int_attribute("rotary_embedding_dim");
    turned = turned == 0 ? shape.size : turned;
    if (turned < 0 || turned > shape.size || turned % 2 != 0) {
        return Error{fmt::format("{} of {} elements of a head cannot be turned in pairs", turned,
                                 shape.size)};
    }
    shape.half = turned / 2;
    shape.is_interleaved = c.int_attribute("interleaved") != 0;
    return shape;
}

// The row of the caches for each (batch, position).
Result<std::vector<int64_t>> cache_rows(const KernelContext& c, const RotaryShape& shape) {
    const Dims& dims = c.dims(1);
    bool has_ids = c.has_input(3);
    Dims expected = has_ids ? Dims{dims.empty() ? 0 : dims[0], shape.half}
                            : Dims{shape.batch, shape.length, shape.half};
    if (dims != expected || c.dims(2) != dims) {
        return Error{fmt::format("the caches {} and {} must have shape {}", to_string(dims),
                                 to_string(c.dims(2)), to_string(expected))};
    }
    if (has_ids && c.dims(3) != Dims{shape.batch, shape.length}) {
        return Error{fmt::format("position_ids {} must have shape [{},{}]", to_string(c.dims(3)),
                                 shape.batch, shape.length)};
    }
    std::vector<int64_t> rows(shape.half == 0 ? 0 : shape.batch * shape.length);
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i] = has_ids ? c.tensor(3).elements<int64_t>()[i] : static_cast<int64_t>(i);
        if (has_ids && (rows[i] < 0 || rows[i] >= dims[0])) {
            return Error{fmt::format("position {} is not in a cache of {}", rows[i], dims[0])};
        }
    }
    return rows;
}

// Turns one head at one position.
template <typename T>
void turn(const T* in, const T* cosines, const T* sines, T* out, const RotaryShape& shape) {
    using S = Compute<T>;
    for (int64_t i = 0; i < shape.half; ++i) {
        int64_t first = shape.is_interleaved ? 2 * i : i;
        int64_t second = shape.is_interleaved ? 2 * i + 1 : i + shape.half;
        S cosine = static_cast<S>(cosines[i]);
        S sine = static_cast<S>(sines[i]);
        S x = static_cast<S>(in[first]);
        S y = static_cast<S>(in[second]);
        out[first] = static_cast<T>(cosine * x - sine * y);
        out[second] = static_cast<T>(sine * x + cosine * y);
    }
    std::copy(in + 2 * shape.half, in + shape.size, out + 2 * shape.half);
}

}  // namespace

Status rotary_embedding(KernelContext& c) {
    SDX_ASSIGN(RotaryShape shape, rotary_shape(c));
    SDX_ASSIGN(std::vector<int64_t> rows, cache_rows(c, shape));
    if (shape.half == 0 || c.tensor(0).count() == 0) {
        c.set_output(0, c.tensor(0));
        return {};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), c.dims(0)));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        const T* cosines = c.tensor(1).elements<T>().data();
        const T* sines = c.tensor(2).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        int64_t batch_step = shape.length * shape.heads * shape.size;
        for (int64_t b = 0; b < shape.batch; ++b) {
            for (int64_t s = 0; s < shape.length; ++s) {
                int64_t row = rows[b * shape.length + s] * shape.half;
                for (int64_t h = 0; h < shape.heads; ++h) {
                    int64_t at = b * batch_step + s * shape.step + h * shape.head_step;
                    turn(in + at, cosines + row, sines + row, result + at, shape);
                }
            }
        }
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
