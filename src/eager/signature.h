// The annotations of a function's parameters against the tensors of a call: element types, ranks
// and sizes, where a name of a dimension is one size in all of them; and in the same way of the
// items of lists of tensors, which are sequences.
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
        Type type;  // what is neither a tensor nor a sequence of them takes anything
    };

    Signature(std::string function, const std::vector<Parameter>& parameters);

    // Whether a parameter does not take anything.
    bool has_types() const;
    // The first tensor that does not fit, in words; nothing: all do. `tensors_of(i, visit)` calls
    // visit(const Tensor&, bool is_item) for what is given for parameter i, a tensor or the items
    // of a list, as long as it gives true.
    template <typename TensorsOf>
    std::optional<std::string> problem(const TensorsOf& tensors_of) const {
        std::vector<int64_t> sizes(names_.size(), -1);  // of the names that have been met
        std::optional<std::string> why;
        for (size_t i = 0; i < parameters_.size() && !why; ++i) {
            tensors_of(i, [&](const Tensor& tensor, bool is_item) {
                const Annotated& one = parameters_[i];
                if (is_item && !one.is_sequence) {
                    return true;  // a list may stand for one tensor: [n, -1]
                }
                why = one.is_sequence && !is_item ? not_a_list(one, tensor)
                                                  : check_one(one, tensor, sizes);
                return !why;
            });
        }
        return why;
    }

  private:
    struct AnnotatedDim {
        Dim dim;
        int symbol = -1;  // its number among the names of the signature, where it is a name alone
    };
    struct Annotated {
        std::string name;
        ElementType element_type = ElementType::kUndefined;  // of a sequence, that of its tensors
        bool is_sequence = false;
        std::optional<std::vector<AnnotatedDim>> dims;  // as the type; nothing: any shape
        std::string text;                               // of the type, for messages
    };

    int number_of(const Dim& dim);
    Dim known(const Dim& dim, const std::vector<int64_t>& sizes) const;
    std::optional<std::string> check_one(const Annotated& one, const Tensor& tensor,
                                         std::vector<int64_t>& sizes) const;
    std::string not_a_list(const Annotated& one, const Tensor& tensor) const;
    std::string words(const Annotated& one, const Tensor& tensor, std::string_view why) const;

    std::string function_;
    std::vector<Annotated> parameters_;
    std::vector<std::string> names_;  // of dimensions
};

}  // namespace sardonyx::eager
