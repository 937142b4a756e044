// The annotations of a function's parameters against the tensors of a call: element types, ranks
// and sizes, where a name of a dimension is one size in all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/tensor.h"
#include "types/type.h"

namespace sardonyx::eager {

class Signature {
  public:
    struct Parameter {
        std::string name;
        Type type;  // what is no tensor type takes anything
    };

    Signature(std::string function, const std::vector<Parameter>& parameters);

    // Whether a parameter does not take anything.
    bool has_types() const;
    // The first tensor that does not fit, in words; nothing: all do. `tensor_of(i)` is what is
    // given for parameter i; null: nothing, or no tensor.
    template <typename TensorOf>
    std::optional<std::string> problem(const TensorOf& tensor_of) const {
        std::vector<int64_t> sizes(names_.size(), -1);  // of the names that have been met
        for (size_t i = 0; i < parameters_.size(); ++i) {
            const Tensor* tensor = tensor_of(i);
            if (tensor == nullptr) {
                continue;
            }
            if (std::optional<std::string> why = check_one(parameters_[i], *tensor, sizes)) {
                return why;
            }
        }
        return std::nullopt;
    }

  private:
    struct AnnotatedDim {
        Dim dim;
        int symbol = -1;  // its number among the names of the signature, where it is a name alone
    };
    struct Annotated {
        std::string name;
        ElementType element_type = ElementType::kUndefined;
        std::optional<std::vector<AnnotatedDim>> dims;  // nothing: any shape
        std::string text;                               // of the type, for messages
    };

    int number_of(const Dim& dim);
    Dim known(const Dim& dim, const std::vector<int64_t>& sizes) const;
    std::optional<std::string> check_one(const Annotated& one, const Tensor& tensor,
                                         std::vector<int64_t>& sizes) const;
    std::string words(const Annotated& one, const Tensor& tensor, std::string_view why) const;

    std::string function_;
    std::vector<Annotated> parameters_;
    std::vector<std::string> names_;  // of dimensions
};

}  // namespace sardonyx::eager
