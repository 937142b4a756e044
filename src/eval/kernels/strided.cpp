#include "eval/kernels/strided.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "eval/kernels/visit.h"

namespace sardonyx::eval {

Error unsupported_type(ElementType type) {
    return Error{fmt::format("there is no kernel for element type {}", name(type))};
}

ElementType movable_type(ElementType type) {
    switch (info(type).bits) {
        case 8:
            return ElementType::kUint8;
        case 16:
            return ElementType::kUint16;
        case 32:
            return ElementType::kUint32;
        case 64:
            return ElementType::kUint64;
        case 128:
            return ElementType::kComplex128;
        default:
            return type;
    }
}

Dims row_major_strides(std::span<const int64_t> dims) {
    Dims strides(dims.size());
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
        strides[d] = stride;
        // Beside a dim of 0 the others may be huge: no element is ever reached then.
        if (__builtin_mul_overflow(stride, dims[d], &stride)) {
            stride = 0;
        }
    }
    return strides;
}

int64_t product(std::span<const int64_t> dims) {
    int64_t count = 1;
    for (int64_t dim : dims) {
        if (__builtin_mul_overflow(count, dim, &count)) {
            return 0;
        }
    }
    return count;
}

Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b) {
    size_t rank = std::max(a.size(), b.size());
    Dims dims(rank);
    for (size_t d = 0; d < rank; ++d) {
        int64_t left = d + a.size() < rank ? 1 : a[d + a.size() - rank];
        int64_t right = d + b.size() < rank ? 1 : b[d + b.size() - rank];
        if (left != right && left != 1 && right != 1) {
            return Error{fmt::format("shapes {} and {} do not broadcast: {} against {}",
                                     to_string(a), to_string(b), left, right)};
        }
        dims[d] = left == 1 ? right : left;
    }
    return dims;
}

Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> target) {
    Dims own = row_major_strides(dims);
    Dims strides(target.size(), 0);
    size_t shift = target.size() - dims.size();
    for (size_t d = 0; d < dims.size(); ++d) {
        strides[d + shift] = dims[d] == 1 ? 0 : own[d];
    }
    return strides;
}

AxisView axis_view(std::span<const int64_t> dims, int first, int last) {
    return {product(dims.first(first)), product(dims.subspan(first, last - first)),
            product(dims.subspan(last))};
}

AxisView axis_view(std::span<const int64_t> dims, int axis) {
    return axis_view(dims, axis, axis + 1);
}

void copy_strided(const Tensor& source, const ViewGeometry& from, Tensor& target,
                  const ViewGeometry& to, std::span<const int64_t> dims) {
    StridedWalk<2> walk(dims, {from.strides, to.strides});
    Status status = visit_width(source.element_type(), [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data();
        T* out = target.mutable_elements<T>().data();
        walk.for_each_row([&](const auto& offsets, const auto& strides, int64_t n) {
            const T* a = in + from.offset + offsets[0];
            T* b = out + to.offset + offsets[1];
            if (strides[0] == 1 && strides[1] == 1) {
                std::copy(a, a + n, b);
                return;
            }
            for (int64_t i = 0; i < n; ++i) {
                b[i * strides[1]] = a[i * strides[0]];
            }
        });
        return {};
    });
    SDX_CHECK(status.ok());
}

Result<Tensor> gather_view(const KernelContext& c, const Tensor& source, const ViewGeometry& from,
                           Dims dims) {
    Dims strides = row_major_strides(dims);
    SDX_ASSIGN(Tensor target, c.scratch(source.element_type(), dims));
    copy_strided(source, from, target, {0, std::move(strides)}, dims);
    return target;
}

Result<Tensor> transposed(const KernelContext& c, const Tensor& source,
                          std::span<const int> permutation) {
    Dims own = row_major_strides(source.dims());
    Dims dims(permutation.size());
    ViewGeometry from;
    from.strides.resize(permutation.size());
    for (size_t d = 0; d < permutation.size(); ++d) {
        dims[d] = source.dims()[permutation[d]];
        from.strides[d] = own[permutation[d]];
    }
    return gather_view(c, source, from, std::move(dims));
}

void copy_elements(const Tensor& source, int64_t source_start, Tensor& target, int64_t target_start,
                   int64_t count) {
    if (count == 0) {
        return;
    }
    if (source.element_type() == ElementType::kString) {
        auto in = source.elements<std::string>().subspan(source_start, count);
        std::copy(in.begin(), in.end(),
                  target.mutable_elements<std::string>().begin() + target_start);
        return;
    }
    size_t width = info(source.element_type()).bits / 8;
    std::memcpy(target.mutable_bytes().data() + target_start * width,
                source.bytes().data() + source_start * width, count * width);
}

void fill_zero(Tensor& tensor) {
    if (tensor.element_type() == ElementType::kString) {
        for (std::string& text : tensor.mutable_elements<std::string>()) {
            text.clear();
        }
        return;
    }
    std::span<std::byte> bytes = tensor.mutable_bytes();
    if (!bytes.empty()) {
        std::memset(bytes.data(), 0, bytes.size());
    }
}

}  // namespace sardonyx::eval
