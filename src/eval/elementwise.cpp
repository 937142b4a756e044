#include "eval/elementwise.h"

#include <fmt/format.h>

namespace sardonyx::eval {
namespace {

const void* data(const Tensor& tensor) {
    return tensor.element_type() == ElementType::kString
               ? static_cast<const void*>(tensor.elements<std::string>().data())
               : static_cast<const void*>(tensor.bytes().data());
}

void* mutable_data(Tensor& tensor) {
    return tensor.element_type() == ElementType::kString
               ? static_cast<void*>(tensor.mutable_elements<std::string>().data())
               : static_cast<void*>(tensor.mutable_bytes().data());
}

size_t width(ElementType type) {
    return type == ElementType::kString ? sizeof(std::string) : info(type).bits / 8;
}

const char kOutsideDomain[] = "integer division by zero";

// Versions before 7 broadcast the second operand by attributes: its dims stand against those of
// the first from `axis` on (by default the last ones).
Result<Tensor> aligned_by_attributes(KernelContext& c) {
    Tensor b = c.tensor(1);
    if (c.dims(0) == b.dims()) {
        return b;
    }
    if (c.int_attribute("broadcast") == 0) {
        return Error{fmt::format("shapes {} and {} differ and `broadcast` is not set",
                                 to_string(c.dims(0)), to_string(c.dims(1)))};
    }
    int64_t axis = c.int_attribute("axis", c.rank(0) - b.rank());
    axis += axis < 0 ? c.rank(0) : 0;
    if (axis < 0 || axis > c.rank(0) - b.rank()) {
        return Error{fmt::format("shape {} does not fit into {} at axis {}", to_string(b.dims()),
                                 to_string(c.dims(0)), axis)};
    }
    Dims dims = b.dims();
    dims.resize(c.rank(0) - axis, 1);
    return b.reshaped(std::move(dims));
}

Status walk(const Tensor& a, const Tensor& b, Tensor& out, const BinaryCall& call) {
    const char* left = static_cast<const char*>(data(a));
    const char* right = static_cast<const char*>(data(b));
    char* result = static_cast<char*>(mutable_data(out));
    if (a.dims() == b.dims()) {
        return call.loop(left, 1, right, 1, result, out.count(), call.op)
                   ? Status()
                   : Status(Error{kOutsideDomain});
    }
    Dims strides_a = broadcast_strides(a.dims(), out.dims());
    Dims strides_b = broadcast_strides(b.dims(), out.dims());
    Dims strides_out = row_major_strides(out.dims());
    StridedWalk<3> steps(out.dims(), {strides_a, strides_b, strides_out});
    size_t width_a = width(a.element_type());
    size_t width_b = width(b.element_type());
    size_t width_out = width(out.element_type());
    bool valid = true;
    steps.for_each_row([&](const auto& offsets, const auto& strides, int64_t n) {
        valid = valid &&
                call.loop(left + offsets[0] * width_a, strides[0], right + offsets[1] * width_b,
                          strides[1], result + offsets[2] * width_out, n, call.op);
    });
    return valid ? Status() : Status(Error{kOutsideDomain});
}

}  // namespace

Status run_unary(KernelContext& c, UnaryLoop loop, ElementType result, const void* op) {
    if (loop == nullptr) {
        return unsupported_type(c.type(0));
    }
    const Tensor& in = c.tensor(0);
    SDX_ASSIGN(Tensor * out, c.output_over(0, 0, result, in.dims()));
    loop(data(in), mutable_data(*out), in.count(), op);
    return {};
}

Result<Tensor> apply_binary(KernelContext& c, const Tensor& a, const Tensor& b,
                            const BinaryCall& call) {
    if (call.loop == nullptr) {
        return unsupported_type(a.element_type());
    }
    SDX_ASSIGN(Dims dims, broadcast_dims(a.dims(), b.dims()));
    SDX_ASSIGN(Tensor out, c.scratch(call.result, std::move(dims)));
    SDX_TRY(walk(a, b, out, call));
    return out;
}

Status run_binary(KernelContext& c, const BinaryCall& call) {
    if (call.loop == nullptr) {
        return unsupported_type(c.type(0));
    }
    const Tensor& a = c.tensor(0);
    if (c.version() < 7 && c.schema().find_attribute("broadcast") != nullptr) {
        SDX_ASSIGN(Tensor b, aligned_by_attributes(c));
        SDX_ASSIGN(Tensor out, apply_binary(c, a, b, call));
        c.set_output(0, std::move(out));
        return {};
    }
    const Tensor& b = c.tensor(1);
    if (a.dims() == b.dims()) {
        SDX_ASSIGN(Tensor * out, c.output_over(0, 0, call.result, a.dims()));
        return walk(a, b, *out, call);
    }
    SDX_ASSIGN(Dims dims, broadcast_dims(a.dims(), b.dims()));
    // Reuse is safe for the first operand alone: where it has the whole shape, each of its elements
    // is read exactly where it is written.
    SDX_ASSIGN(Tensor * out, c.output_over(0, 0, call.result, dims));
    return walk(a, b, *out, call);
}

}  // namespace sardonyx::eval
