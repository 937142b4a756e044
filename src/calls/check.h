// A call of an operator against its schema: which input or attribute a keyword is, what is missing,
// what is too much, and what is said of it. The compiler, eager calls, inference and the evaluator
// ask here, whatever their values are, so that one mistake has the same words everywhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ops/ops.h"

namespace sardonyx::calls {

struct Problem {
    std::string subject;  // "`Add`"
    std::string says;     // "takes 2 inputs, and `B` is missing"
    std::string help;
    std::string_view near;  // the name or value that was probably meant
    int input = -1;         // that it is about
    int other = -1;         // the input that it disagrees with

    std::string message() const { return subject + " " + says; }
    // In one line, where there is no place for help.
    std::string text() const { return help.empty() ? message() : message() + ": " + help; }
};

// What a keyword gives: an attribute, or an input.
struct Place {
    const ops::AttributeSchema* attribute = nullptr;
    std::optional<size_t> input;
};
// Nothing of both: the operator has neither of this name. Variadic inputs have no keyword, as
// Python's `*args` have none.
Place place_of(const ops::Schema& schema, std::string_view keyword);

Problem unknown_keyword(const ops::Schema& schema, std::string_view keyword);
Problem given_twice(const ops::Schema& schema, size_t input);
Problem too_many_inputs(const ops::Schema& schema, size_t count);
Problem missing_input(const ops::Schema& schema, size_t input);
Problem missing_attribute(const ops::Schema& schema, const ops::AttributeSchema& attribute);

// Whether there are too many inputs, or one is missing. `is_given(i)`, of i < count: input i is
// not left out.
template <typename IsGiven>
std::optional<Problem> check_inputs(const ops::Schema& schema, size_t count,
                                    const IsGiven& is_given) {
    if (count > schema.maximum_inputs) {
        return too_many_inputs(schema, count);
    }
    for (size_t i = 0; i < schema.minimum_inputs; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        bool is_required =
            parameter != nullptr && parameter->option != ops::ParameterOption::kOptional;
        if (is_required && (i >= count || !is_given(i))) {
            return missing_input(schema, i);
        }
    }
    return std::nullopt;
}

// More results than the operator gives.
std::optional<Problem> check_outputs(const ops::Schema& schema, size_t count);
// The operator does not give so many outputs.
Problem wrong_outputs(const ops::Schema& schema, size_t count);

// Calls `report(problem)` for each attribute that is required and not given. `is_given(name)`.
template <typename IsGiven, typename Report>
void check_required(const ops::Schema& schema, const IsGiven& is_given, const Report& report) {
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        if (attribute.is_required && !is_given(attribute.name)) {
            report(missing_attribute(schema, attribute));
        }
    }
}

// A value that is none of those that the attribute may have.
std::optional<Problem> check_enumeration(const ops::AttributeSchema& attribute,
                                         std::string_view value);

}  // namespace sardonyx::calls
