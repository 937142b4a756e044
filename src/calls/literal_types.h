// The element types of literals that are inputs of operators.
#pragma once

#include <bit>
#include <cstddef>

#include "ops/ops.h"

namespace sardonyx::calls {

// The only element type that an input of these types may have; kUndefined: there are several.
inline ElementType only_type(const ops::TypeSet& types) {
    ops::ElementMask all = types.tensor | types.sequence;
    return std::has_single_bit(all) ? static_cast<ElementType>(std::countr_zero(all))
                                    : ElementType::kUndefined;
}

// The element type that input `index` must have: the only one that its type variable admits, or
// that of an input that shares the variable, where `type_of(i)` is that of input i of `count`.
// kUndefined: nothing settles it.
template <typename TypeOf>
ElementType wanted_type(const ops::Schema& schema, size_t count, size_t index,
                        const TypeOf& type_of) {
    const ops::Parameter* parameter = schema.input(index);
    ElementType only = only_type(schema.type_variables[parameter->type_variable].types);
    if (only != ElementType::kUndefined) {
        return only;
    }
    for (size_t i = 0; i < count && parameter->is_homogeneous; ++i) {
        if (schema.input(i)->type_variable == parameter->type_variable &&
            type_of(i) != ElementType::kUndefined) {
            return type_of(i);
        }
    }
    return ElementType::kUndefined;
}

// Whether literals that imply INT64 are FLOAT where no tensor settles it: ints are not admitted.
inline bool are_ints_floats(const ops::TypeSet& types) {
    auto admits = [&types](ElementType type) {
        return (types.tensor & ops::element_bit(type)) != 0;
    };
    return !admits(ElementType::kInt64) && admits(ElementType::kFloat);
}

// The type of a literal as input `index`, beside inputs of the types `type_of(i)`; kUndefined: the
// type that it implies, which is `implied()`.
template <typename Implied, typename TypeOf>
ElementType literal_type(const ops::Schema& schema, size_t count, size_t index,
                         const Implied& implied, const TypeOf& type_of) {
    ElementType wanted = wanted_type(schema, count, index, type_of);
    if (wanted != ElementType::kUndefined) {
        return wanted;
    }
    const ops::TypeSet& types = schema.type_variables[schema.input(index)->type_variable].types;
    return are_ints_floats(types) && implied() == ElementType::kInt64 ? ElementType::kFloat
                                                                      : ElementType::kUndefined;
}

}  // namespace sardonyx::calls
