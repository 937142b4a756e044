#include "ir/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ir/standard.h"
#include "ir/walk.h"
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

Result<Tensor> dense_tensor(const Value& initializer, int64_t max_bytes) {
    if (initializer.sparse == nullptr) {
        return *initializer.constant;
    }
    Result<Tensor> dense = densified(*initializer.sparse, max_bytes);
    if (!dense.ok()) {
        return Error{fmt::format("initializer `{}`: {}", initializer.name, dense.error().message)};
    }
    return dense;
}

namespace {

// Calls visit(Graph&) for all graphs of the model, until one call gives false.
template <typename Visit>
void for_each_graph(const Model& model, const Visit& visit) {
    std::vector<Graph*> waiting;
    if (model.graph != nullptr) {
        waiting.push_back(model.graph);
    }
    for (const Function* function : model.functions) {
        waiting.push_back(function->body);
    }
    while (!waiting.empty()) {
        Graph* graph = waiting.back();
        waiting.pop_back();
        if (!visit(*graph)) {
            return;
        }
        for (Node& node : *graph) {
            for_each_subgraph(node, [&](Graph& subgraph) { waiting.push_back(&subgraph); });
        }
    }
}

// The sparse tensor of a node that gives it as a constant; null: another node.
const SparseTensor* sparse_constant(const Node& node) {
    bool is_constant = is_standard(node, "Constant") && node.attributes.size() == 1;
    return is_constant ? node.attributes[0].get<SparseTensor>() : nullptr;
}

class Densifier {
  public:
    Result<void> make_dense(Graph& graph) {
        for (Value* value : graph.initializers) {
            if (value->sparse != nullptr) {
                SDX_ASSIGN(value->constant, take(dense_tensor(*value, left_)));
                value->sparse.reset();
            }
        }
        for (Node& node : graph) {
            if (const SparseTensor* sparse = sparse_constant(node)) {
                SDX_ASSIGN(Tensor dense, take(densified(*sparse, left_)));
                node.attributes[0] = make_attribute("value", std::move(dense));
            }
        }
        return {};
    }

  private:
    Result<Tensor> take(Result<Tensor> dense) {
        if (dense.ok()) {
            left_ -= static_cast<int64_t>(byte_size(dense->element_type(), dense->count()));
        }
        return dense;
    }

    int64_t left_ = kMostDensified;
};

}  // namespace

bool has_sparse(const Model& model) {
    bool has = false;
    for_each_graph(model, [&](const Graph& graph) {
        has = std::any_of(graph.initializers.begin(), graph.initializers.end(),
                          [](const Value* value) { return value->sparse != nullptr; });
        for (const Node& node : graph) {
            has = has || sparse_constant(node) != nullptr;
        }
        return !has;
    });
    return has;
}

Result<void> make_dense(Model& model) {
    Densifier densifier;
    Result<void> done;
    for_each_graph(model, [&](Graph& graph) {
        done = densifier.make_dense(graph);
        return done.ok();
    });
    return done;
}

}  // namespace sardonyx::ir
