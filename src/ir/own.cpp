#include "ir/own.h"

#include <cstring>
#include <map>
#include <tuple>
#include <variant>

#include "base/stop.h"

namespace sardonyx::ir {
namespace {

class Owner {
  public:
    void own(Graph& graph) {
        for (Value* input : graph.inputs) {
            own(*input);
        }
        for (Value* initializer : graph.initializers) {
            own(*initializer);
        }
        for (Node& node : graph) {
            stop_point();
            own(node.attributes);
            for (Value* output : node.outputs()) {
                own(*output);
            }
        }
    }
    void own(std::vector<Attribute>& attributes) {
        for (Attribute& attribute : attributes) {
            std::visit([this](auto& value) { own(value); }, attribute.value);
        }
    }

  private:
    template <typename Other>
    void own(const Other& /*value*/) {}  // of an attribute without tensors
    void own(Graph*& graph) { own(*graph); }
    void own(Tensor& tensor) {
        if (tensor.is_valid() && tensor.element_type() != ElementType::kString) {
            tensor = copies_
                         .try_emplace(
                             {tensor.bytes().data(), tensor.bytes().size(), tensor.element_type()})
                         .first->second.of(tensor);
        }
    }
    void own(SparseTensor& tensor) {
        own(tensor.values);
        own(tensor.indices);
    }
    template <typename Item>
    void own(std::vector<Item>& items) {
        if constexpr (!std::is_arithmetic_v<Item>) {
            for (Item& item : items) {
                own(item);
            }
        }
    }
    void own(Value& value) {
        if (value.constant) {
            own(*value.constant);
        }
        if (value.sparse != nullptr) {
            SparseTensor copy = *value.sparse;
            own(copy);
            value.sparse = std::make_unique<const SparseTensor>(std::move(copy));
        }
    }

    struct Copy {
        Tensor original;
        Tensor tensor;

        Tensor of(const Tensor& wanted) {
            if (!tensor.is_valid()) {
                original = wanted;
                tensor = copy_of(wanted);
            }
            return tensor.reshaped(wanted.dims());
        }
    };
    // By the place and the size of the elements, and their type. The originals are kept, so that no
    // copy comes to lie where one of them was.
    std::map<std::tuple<const void*, size_t, ElementType>, Copy> copies_;
};

}  // namespace

Tensor copy_of(const Tensor& tensor) {
    Tensor copy = Tensor::uninitialized(tensor.element_type(), tensor.dims());
    std::span<const std::byte> bytes = tensor.bytes();
    std::copy(bytes.begin(), bytes.end(), copy.mutable_bytes().begin());
    return copy;
}

void own_tensors(Model& model) {
    Owner owner;
    if (model.graph != nullptr) {
        owner.own(*model.graph);
    }
    for (Function* function : model.functions) {
        owner.own(function->attribute_defaults);
        owner.own(*function->body);
    }
}

}  // namespace sardonyx::ir
