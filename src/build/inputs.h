// The inputs of a call that a program gives, as values of the graph under construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "build/nodes.h"
#include "calls/literal_types.h"

namespace sardonyx::build {

// Literals last, because the values beside them settle their types. What is left out is null, and
// what the operator does not take is there, too. `schema`: null where nobody knows the operator.
// `surface` has
//   bool is_given(argument)                  // false: left out
//   bool is_literal(argument)
//   ElementType literal_type(argument)       // that a literal implies
//   ir::Value* value(e, argument, type)      // a literal as a constant of this type
template <typename Surface, typename Argument>
std::vector<ir::Value*> inputs_of(GraphEmitter& e, const ops::Schema* schema,
                                  std::span<const Argument> given, const Surface& surface) {
    std::vector<ir::Value*> values(given.size(), nullptr);
    std::vector<ElementType> types(given.size(), ElementType::kUndefined);
    for (size_t i = 0; i < given.size(); ++i) {
        if (surface.is_given(given[i]) && !surface.is_literal(given[i])) {
            values[i] = surface.value(e, given[i], ElementType::kUndefined);
            types[i] = e.element(values[i]);
        }
    }
    size_t known = schema != nullptr ? std::min<size_t>(given.size(), schema->maximum_inputs) : 0;
    for (size_t i = 0; i < given.size(); ++i) {
        if (surface.is_given(given[i]) && surface.is_literal(given[i])) {
            ElementType type =
                i < known ? calls::literal_type(
                                *schema, known, i, [&] { return surface.literal_type(given[i]); },
                                [&types](size_t other) { return types[other]; })
                          : ElementType::kUndefined;
            values[i] = surface.value(e, given[i], type);
        }
    }
    return values;
}

}  // namespace sardonyx::build
