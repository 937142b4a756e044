#include "models/dims.h"

#include <set>

#include "models/values.h"

namespace sardonyx::models {
namespace {

Shape replaced(const Shape& shape, const Meaning& meaning) {
    Shape result;
    for (const Dim& dim : shape) {
        result.push_back(dim.substitute(meaning));
    }
    return result;
}

}  // namespace

Type with_dims(const Type& type, const Meaning& meaning) {
    switch (type.kind()) {
        case TypeKind::kTensor:
        case TypeKind::kSparseTensor: {
            Type result = type;
            if (type.has_shape()) {
                result.set_shape(replaced(type.shape(), meaning));
            }
            return result;
        }
        case TypeKind::kSequence:
            return Type::sequence(with_dims(type.element(), meaning));
        case TypeKind::kOptional:
            return Type::optional(with_dims(type.element(), meaning));
        case TypeKind::kMap:
            return Type::map(type.element_type(), with_dims(type.element(), meaning));
        default:
            return type;
    }
}

void replace_dims(ir::Model& model, const Meaning& meaning) {
    for_each_value(*model.graph,
                   [&](ir::Value& value) { value.type = with_dims(value.type, meaning); });
}

std::vector<std::string> dims_of(const ir::Model& model) {
    std::set<std::string> names;
    for_each_value(*model.graph, [&](const ir::Value& value) {
        (void)with_dims(value.type, [&](std::string_view name) {
            names.emplace(name);
            return Dim::symbol(name);
        });
    });
    return {names.begin(), names.end()};
}

}  // namespace sardonyx::models
