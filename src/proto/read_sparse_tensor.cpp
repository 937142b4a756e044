// SparseTensorProto.
#include <fmt/format.h>

#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

bool read_fields(ReadContext& context, std::string_view bytes, ir::SparseTensor* result,
                 NamedTensor* values, NamedTensor* indices) {
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(SparseTensorField::kValues):
            case bytes_field(SparseTensorField::kIndices): {
                bool is_values = message.tag() == SparseTensorField::kValues;
                context.enter(is_values ? "values" : "indices");
                if (!read_tensor(context, message.get_view(), is_values ? values : indices)) {
                    return false;
                }
                context.leave();
                break;
            }
            case varint_field(SparseTensorField::kDims):
                if (!context.take()) {
                    return false;
                }
                result->dims.push_back(message.get_int64());
                break;
            case bytes_field(SparseTensorField::kDims):
                if (!read_varints(context, message.get_view(), &result->dims)) {
                    return false;
                }
                break;
            default:
                message.skip();
        }
    }
    return true;
}

// The rules of SparseTensorProto's comments: values [NNZ], indices INT64 [NNZ] or [NNZ, rank],
// ascending and within the dims.
bool check_sparse(ReadContext& context, const ir::SparseTensor& sparse) {
    std::optional<int64_t> total = element_count(sparse.dims);
    if (!total.has_value() || sparse.dims.empty()) {
        return context.fail("the dims of the sparse tensor are missing, negative or too large");
    }
    const Dims& dims = sparse.indices.dims();
    int64_t rank = static_cast<int64_t>(sparse.dims.size());
    int64_t count = sparse.values.count();
    bool is_linear = dims.size() == 1;
    if (sparse.values.rank() != 1 || sparse.indices.element_type() != ElementType::kInt64 ||
        (!is_linear && (dims.size() != 2 || dims[1] != rank)) || dims[0] != count) {
        return context.fail("`values` must be [n] and `indices` INT64 [n] or [n, rank]");
    }
    std::span<const int64_t> indices = sparse.indices.elements<int64_t>();
    int64_t previous = -1;
    for (int64_t i = 0; i < count; ++i) {
        int64_t index = is_linear ? indices[i] : 0;
        bool inside = index >= 0 && index < *total;
        for (int64_t j = 0; !is_linear && inside && j < rank; ++j) {
            int64_t part = indices[i * rank + j];
            inside = part >= 0 && part < sparse.dims[j];
            index = inside ? index * sparse.dims[j] + part : index;
        }
        if (!inside || index <= previous) {
            return context.fail(
                fmt::format("sparse index {} is outside of the dims or not ascending", i));
        }
        previous = index;
    }
    return true;
}

}  // namespace

bool read_sparse_tensor(ReadContext& context, std::string_view bytes, ir::SparseTensor* result,
                        std::string_view* name) {
    NamedTensor values, indices;
    if (!context.take() || !read_fields(context, bytes, result, &values, &indices)) {
        return false;
    }
    if (!values.tensor.is_valid()) {
        return context.fail("the sparse tensor has no `values`");
    }
    result->values = std::move(values.tensor);
    // Without a non-zero element the indices may be left out.
    result->indices = indices.tensor.is_valid() || result->values.count() != 0
                          ? std::move(indices.tensor)
                          : Tensor::zeros(ElementType::kInt64, {0});
    *name = values.name;
    return check_sparse(context, *result);
}

}  // namespace sardonyx::proto
