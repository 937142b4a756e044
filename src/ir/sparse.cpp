#include "ir/sparse.h"

#include <fmt/format.h>

#include <cstring>

#include "types/packed.h"

namespace sardonyx::ir {
namespace {

// Puts element `from` of `source` at `to`, where `target` is zero.
void put_element(const Tensor& source, int64_t from, Tensor& target, int64_t to) {
    int bits = static_cast<int>(info(source.element_type()).bits);
    if (source.element_type() == ElementType::kString) {
        target.mutable_elements<std::string>()[to] = source.elements<std::string>()[from];
    } else if (bits < 8) {
        put_packed(target.mutable_bytes(), to, bits, get_packed(source.bytes(), from, bits));
    } else {
        int64_t width = bits / 8;
        std::memcpy(target.mutable_bytes().data() + to * width,
                    source.bytes().data() + from * width, static_cast<size_t>(width));
    }
}

// Where one element is in the flattened tensor; -1: outside of the dims.
int64_t place_of(std::span<const int64_t> index, const Dims& dims, int64_t count) {
    if (index.size() == 1) {
        return index[0] < count ? index[0] : -1;
    }
    int64_t place = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
        if (index[i] < 0 || index[i] >= dims[i]) {
            return -1;
        }
        place = place * dims[i] + index[i];
    }
    return place;
}

}  // namespace

void add_sparse_default(Model& model, Value* input, SparseTensor tensor) {
    model.add_default(input, {});
    input->constant.reset();
    input->sparse = std::make_unique<const SparseTensor>(std::move(tensor));
}

Type dense_type(const SparseTensor& sparse) {
    return Type::tensor(sparse.values.element_type(),
                        Shape(sparse.dims.begin(), sparse.dims.end()));
}

Result<Tensor> densified(const SparseTensor& sparse, int64_t max_bytes) {
    ElementType type = sparse.values.element_type();
    std::optional<int64_t> total = element_count(sparse.dims);
    if (!total.has_value()) {
        return Error{"the dims of the sparse tensor are negative or too large"};
    }
    size_t size = type == ElementType::kString ? static_cast<size_t>(*total) * sizeof(std::string)
                                               : byte_size(type, *total);
    if (*total > max_bytes || size > static_cast<size_t>(max_bytes)) {
        return Error{
            fmt::format("the dense form of a sparse tensor {}[{}] is beyond the limit of "
                        "{} bytes",
                        name(type), fmt::join(sparse.dims, ","), max_bytes)};
    }
    int64_t count = sparse.values.count();
    bool is_linear = !sparse.indices.is_valid() || sparse.indices.rank() == 1;
    size_t width = is_linear ? 1 : sparse.dims.size();
    std::span<const int64_t> indices;
    if (sparse.indices.is_valid() && sparse.indices.element_type() == ElementType::kInt64) {
        indices = sparse.indices.elements<int64_t>();
    }
    if (indices.size() != static_cast<size_t>(count) * width) {
        return Error{"the sparse tensor's indices do not fit its values"};
    }
    Tensor dense = Tensor::zeros(type, sparse.dims);
    for (int64_t i = 0; i < count; ++i) {
        std::span<const int64_t> index = indices.subspan(static_cast<size_t>(i) * width, width);
        int64_t place = place_of(index, sparse.dims, *total);
        if (place < 0) {
            return Error{fmt::format("the sparse index [{}] is out of range",
                                     fmt::join(index.begin(), index.end(), ","))};
        }
        put_element(sparse.values, i, dense, place);
    }
    return dense;
}

}  // namespace sardonyx::ir
