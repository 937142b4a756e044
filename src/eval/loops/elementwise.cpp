#include "eval/loops/elementwise.h"

#include <algorithm>
#include <atomic>

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

// Elements that make a task; so few are done where they are.
constexpr int64_t kTaskElements = 1 << 14;

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

// The loop over `n` elements in tasks.
bool run_loop(const Workers& threads, const BinaryCall& call, const char* a, int64_t bytes_a,
              int64_t stride_a, const char* b, int64_t bytes_b, int64_t stride_b, char* out,
              int64_t bytes_out, int64_t n) {
    if (n <= kTaskElements) {
        return call.loop(a, stride_a, b, stride_b, out, n, call.op);
    }
    std::atomic<bool> valid = true;
    parallel_for(threads, n, kTaskElements, [&](int64_t begin, int64_t end) {
        if (!call.loop(a + begin * stride_a * bytes_a, stride_a, b + begin * stride_b * bytes_b,
                       stride_b, out + begin * bytes_out, end - begin, call.op)) {
            valid = false;
        }
    });
    return valid;
}

Status walk(const Workers& threads, const Tensor& a, const Tensor& b, Tensor& out,
            const BinaryCall& call) {
    const char* left = static_cast<const char*>(data(a));
    const char* right = static_cast<const char*>(data(b));
    char* result = static_cast<char*>(mutable_data(out));
    auto width_a = static_cast<int64_t>(width(a.element_type()));
    auto width_b = static_cast<int64_t>(width(b.element_type()));
    auto width_out = static_cast<int64_t>(width(out.element_type()));
    // An operand of the whole shape, or of one element as in `x * 0.5`, needs no walk.
    auto stride_of = [&](const Tensor& operand) {
        return operand.dims() == out.dims() ? 1 : operand.count() == 1 ? 0 : -1;
    };
    int stride_a = stride_of(a);
    int stride_b = stride_of(b);
    if (stride_a >= 0 && stride_b >= 0) {
        return run_loop(threads, call, left, width_a, stride_a, right, width_b, stride_b, result,
                        width_out, out.count())
                   ? Status()
                   : Status(Error{kOutsideDomain});
    }
    Dims strides_a = broadcast_strides(a.dims(), out.dims());
    Dims strides_b = broadcast_strides(b.dims(), out.dims());
    Dims strides_out = row_major_strides(out.dims());
    StridedWalk<3> steps(out.dims(), {strides_a, strides_b, strides_out});
    // Long rows are cut, of short ones some are a task.
    int64_t slices = steps.dims[0];
    int64_t slice = slices > 0 ? out.count() / slices : 0;
    bool has_long_rows = steps.dims.size() == 1 || steps.dims.back() > kTaskElements;
    int64_t piece = has_long_rows ? slices : std::max<int64_t>(1, kTaskElements / slice);
    std::atomic<bool> valid = true;
    parallel_for(threads, slices, std::max<int64_t>(piece, 1), [&](int64_t begin, int64_t end) {
        StridedWalk<3> part = steps;
        part.dims[0] = end - begin;
        part.for_each_row([&](const auto& offsets, const auto& strides, int64_t n) {
            auto at = [&](size_t k) { return offsets[k] + begin * steps.strides[k][0]; };
            if (!run_loop(threads, call, left + at(0) * width_a, width_a, strides[0],
                          right + at(1) * width_b, width_b, strides[1], result + at(2) * width_out,
                          width_out, n)) {
                valid = false;
            }
        });
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
    const char* from = static_cast<const char*>(data(in));
    char* to = static_cast<char*>(mutable_data(*out));
    size_t width_in = width(in.element_type());
    size_t width_out = width(result);
    if (in.count() <= kTaskElements) {
        loop(from, to, in.count(), op);
        return {};
    }
    parallel_for(c.threads(), in.count(), kTaskElements, [&](int64_t begin, int64_t end) {
        loop(from + begin * width_in, to + begin * width_out, end - begin, op);
    });
    return {};
}

Result<Tensor> apply_binary(KernelContext& c, const Tensor& a, const Tensor& b,
                            const BinaryCall& call) {
    if (call.loop == nullptr) {
        return unsupported_type(a.element_type());
    }
    SDX_ASSIGN(Dims dims, broadcast_dims(a.dims(), b.dims()));
    SDX_ASSIGN(Tensor out, c.scratch(call.result, std::move(dims)));
    SDX_TRY(walk(c.threads(), a, b, out, call));
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
    // Where an operand has the whole shape, each of its elements is read exactly where it is
    // written.
    auto walk_into = [&](const Dims& dims) -> Status {
        size_t over = c.may_overwrite(0, call.result, dims) ? 0 : 1;
        SDX_ASSIGN(Tensor * out, c.output_over(over, 0, call.result, dims));
        return walk(c.threads(), a, b, *out, call);
    };
    // One element beside a whole, as in `x * 0.5`, is nothing to work out.
    if (a.dims() == b.dims() || (b.count() == 1 && b.rank() <= a.rank())) {
        return walk_into(a.dims());
    }
    SDX_ASSIGN(Dims dims, broadcast_dims(a.dims(), b.dims()));
    return walk_into(dims);
}

}  // namespace sardonyx::eval
