// The types of the inputs of a call against its schema: that each is one which the operator takes,
// and that inputs of one type variable agree. Inference asks with types, as far as it knows them,
// the evaluator with values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "calls/check.h"

namespace sardonyx::calls {

// Whether a text names the operator of an input or attribute: not where its name stands before.
enum class Naming { kWithOperator, kAlone };

// "input `B` of `Add`", "input `inputs[2]` of `Concat`"; alone: "input `B`".
std::string input_name(const ops::Schema& schema, size_t input,
                       Naming naming = Naming::kWithOperator);

// `later`: the oldest later version of the operator that takes it; null: none does.
[[gnu::cold]] Problem not_admitted(const ops::Schema& schema, size_t input, std::string_view type,
                                   const ops::Schema* later, Naming naming);
[[gnu::cold]] Problem types_differ(const ops::Schema& schema, size_t input, std::string_view type,
                                   size_t other, std::string_view other_type, Naming naming);

// The types by their names: "FLOAT", "INTS".
[[gnu::cold]] Problem wrong_attribute_type(const ops::Schema& schema, std::string_view attribute,
                                           std::string_view type, std::string_view wanted,
                                           Naming naming);

// Version by version, those that come after the schema's.
template <typename IsAdmitted>
const ops::Schema* later_version_that_takes(const ops::Schema& schema, size_t input,
                                            const IsAdmitted& is_admitted) {
    for (const ops::Schema& later : ops::schema_versions(schema.domain, schema.name)) {
        const ops::Parameter* parameter = later.input(input);
        if (later.since_version > schema.since_version && parameter != nullptr &&
            is_admitted(later.type_variables[parameter->type_variable].types)) {
            return &later;
        }
    }
    return nullptr;
}

// Calls `report(problem)` for each input that is wrong until that is false. Of the first `count`
// inputs, `values` says
//   is_open(parameter, i)   whether nothing need be said of it: its type is not known, or nothing
//                           stands where nothing may stand
//   is_admitted(types, i)   whether a set of types admits it
//   differ(i, other)        whether they are certainly of two types
//   describe(i)             its type, as text
template <typename Values, typename Report>
void check_types(const ops::Schema& schema, size_t count, const Values& values, Naming naming,
                 const Report& report) {
    // More variables than any schema has; inputs of later ones are not compared.
    constexpr size_t kMaxTypeVariables = 32;
    std::array<uint32_t, kMaxTypeVariables> first_input;  // of each variable that is in `seen`
    uint32_t seen = 0;
    for (size_t i = 0; i < count; ++i) {
        const ops::Parameter* parameter =
            i < schema.inputs.size() ? &schema.inputs[i] : schema.input(i);
        if (parameter == nullptr) {
            return;  // there are too many
        }
        if (values.is_open(*parameter, i)) {
            continue;
        }
        size_t variable = static_cast<size_t>(parameter->type_variable);
        if (!values.is_admitted(schema.type_variables[variable].types, i)) [[unlikely]] {
            auto takes = [&](const ops::TypeSet& types) { return values.is_admitted(types, i); };
            if (!report(not_admitted(schema, i, values.describe(i),
                                     later_version_that_takes(schema, i, takes), naming))) {
                return;
            }
        }
        bool is_heterogeneous =
            parameter->option == ops::ParameterOption::kVariadic && !parameter->is_homogeneous;
        if (is_heterogeneous || variable >= kMaxTypeVariables) {
            continue;
        }
        if ((seen >> variable & 1) == 0) {
            seen |= uint32_t{1} << variable;
            first_input[variable] = static_cast<uint32_t>(i);
            continue;
        }
        size_t other = first_input[variable];
        if (values.differ(i, other)) [[unlikely]] {
            if (!report(types_differ(schema, i, values.describe(i), other, values.describe(other),
                                     naming))) {
                return;
            }
        }
    }
}

}  // namespace sardonyx::calls
