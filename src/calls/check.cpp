#include "calls/check.h"

#include <fmt/format.h>

#include <vector>

#include "base/nearest.h"

namespace sardonyx::calls {
namespace {

std::string quoted(std::string_view name) {
    return fmt::format("`{}`", name);
}

// "2 inputs", "1 to 3 inputs", "at least 1 input".
std::string count_text(size_t minimum, size_t maximum, std::string_view what) {
    std::string_view plural = (maximum == UINT16_MAX ? minimum : maximum) == 1 ? "" : "s";
    if (minimum == maximum) {
        return fmt::format("{} {}{}", minimum, what, plural);
    }
    return maximum == UINT16_MAX ? fmt::format("at least {} {}{}", minimum, what, plural)
                                 : fmt::format("{} to {} {}{}", minimum, maximum, what, plural);
}

std::string inputs_of(const ops::Schema& schema) {
    return count_text(schema.minimum_inputs, schema.maximum_inputs, "input");
}

}  // namespace

Place place_of(const ops::Schema& schema, std::string_view keyword) {
    if (const ops::AttributeSchema* attribute = schema.find_attribute(keyword)) {
        return {attribute, std::nullopt};
    }
    for (size_t i = 0; i < schema.inputs.size(); ++i) {
        if (schema.inputs[i].name == keyword &&
            schema.inputs[i].option != ops::ParameterOption::kVariadic) {
            return {nullptr, i};
        }
    }
    return {};
}

Problem unknown_keyword(const ops::Schema& schema, std::string_view keyword) {
    std::vector<std::string_view> names;
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        names.push_back(attribute.name);
    }
    size_t attributes = names.size();
    for (const ops::Parameter& input : schema.inputs) {
        if (input.option != ops::ParameterOption::kVariadic) {
            names.push_back(input.name);
        }
    }
    std::string_view near = nearest(keyword, names);
    names.resize(attributes);  // inputs are for the nearest name alone
    std::string help = !near.empty()   ? fmt::format("did you mean `{}`?", near)
                       : names.empty() ? fmt::format("`{}` has no attributes", schema.name)
                                       : fmt::format("it has `{}`", fmt::join(names, "`, `"));
    return {quoted(schema.name), fmt::format("has no attribute `{}`", keyword), std::move(help),
            near};
}

Problem given_twice(const ops::Schema& schema, size_t input) {
    return {quoted(schema.name),
            fmt::format("gets its input `{}` twice", schema.inputs[input].name),
            "remove one of them",
            {},
            static_cast<int>(input)};
}

Problem too_many_inputs(const ops::Schema& schema, size_t count) {
    return {quoted(schema.name),
            fmt::format("takes {}, not {}",
                        schema.maximum_inputs == UINT16_MAX
                            ? fmt::format("at most {} inputs", schema.maximum_inputs)
                            : inputs_of(schema),
                        count),
            schema.attributes.empty() ? "remove the rest" : "attributes are given by keyword",
            {},
            static_cast<int>(schema.maximum_inputs)};
}

Problem missing_input(const ops::Schema& schema, size_t input) {
    const ops::Parameter& parameter = *schema.input(input);
    // Those behind the first of a variadic input have its name, too.
    std::string name =
        input < schema.inputs.size() ? quoted(parameter.name) : fmt::format("input {}", input);
    std::string help = fmt::format("give {}", name);
    return {quoted(schema.name),
            fmt::format("takes {}, and {} is missing", inputs_of(schema), name),
            std::move(help),
            {},
            static_cast<int>(input)};
}

Problem missing_attribute(const ops::Schema& schema, const ops::AttributeSchema& attribute) {
    return {quoted(schema.name),
            fmt::format("needs the attribute `{}`", attribute.name),
            fmt::format("give `{}=...`", attribute.name),
            {}};
}

std::optional<Problem> check_outputs(const ops::Schema& schema, size_t count) {
    if (count <= schema.maximum_outputs) {
        return std::nullopt;
    }
    return wrong_outputs(schema, count);
}

Problem wrong_outputs(const ops::Schema& schema, size_t count) {
    return Problem{
        quoted(schema.name),
        fmt::format("gives {}, not {}",
                    count_text(schema.minimum_outputs, schema.maximum_outputs, "output"), count),
        {},
        {}};
}

std::optional<Problem> check_enumeration(const ops::AttributeSchema& attribute,
                                         std::string_view value) {
    const auto& legal = attribute.enumeration;
    if (legal.empty() || std::find(legal.begin(), legal.end(), value) != legal.end()) {
        return std::nullopt;
    }
    std::string_view near = nearest(value, legal);
    std::string names = fmt::format("`{}`", fmt::join(legal, "`, `"));
    return Problem{quoted(value), fmt::format("is not a value of `{}`", attribute.name),
                   near.empty() ? fmt::format("use one of {}", names)
                                : fmt::format("did you mean `{}`? the values are {}", near, names),
                   near};
}

}  // namespace sardonyx::calls
