#include "calls/types.h"

#include <fmt/format.h>

namespace sardonyx::calls {
namespace {

// "FLOAT, DOUBLE": the tensor types of a set, in the order of their numbers.
std::string admitted_types(const ops::TypeSet& types) {
    std::string text;
    auto append = [&text](std::string_view format, ops::ElementMask mask) {
        for (int number = 1; number < kElementTypeCount; ++number) {
            if ((mask >> number & 1U) != 0) {
                text += text.empty() ? "" : ", ";
                text += fmt::format(fmt::runtime(format), name(static_cast<ElementType>(number)));
            }
        }
    };
    append("{}", types.tensor);
    append("Sequence[{}]", types.sequence);
    append("Optional[{}]", types.optional_tensor);
    append("Optional[Sequence[{}]]", types.optional_sequence);
    if (types.maps) {
        text += text.empty() ? "maps" : ", maps";
    }
    return text;
}

const ops::TypeVariable& variable_of(const ops::Schema& schema, size_t input) {
    return schema.type_variables[schema.input(input)->type_variable];
}

std::string of_operator(const ops::Schema& schema, Naming naming) {
    return naming == Naming::kWithOperator ? fmt::format(" of `{}`", schema.name) : "";
}

}  // namespace

std::string input_name(const ops::Schema& schema, size_t input, Naming naming) {
    const ops::Parameter* parameter = schema.input(input);
    std::string name(parameter != nullptr ? parameter->name : "?");
    if (parameter != nullptr && parameter->option == ops::ParameterOption::kVariadic) {
        size_t number = input - static_cast<size_t>(parameter - schema.inputs.data());
        name += fmt::format("[{}]", number);
    }
    return fmt::format("input `{}`{}", name, of_operator(schema, naming));
}

Problem not_admitted(const ops::Schema& schema, size_t input, std::string_view type,
                     const ops::Schema* later, Naming naming) {
    std::string types = admitted_types(variable_of(schema, input).types);
    std::string help =
        later != nullptr
            ? fmt::format("opset {} takes it; this one takes {}", later->since_version, types)
            : fmt::format("it takes {}; convert the value with `Cast`", types);
    return {input_name(schema, input, naming),
            fmt::format("is {}, which the operator does not take", type),
            std::move(help),
            {},
            static_cast<int>(input)};
}

Problem types_differ(const ops::Schema& schema, size_t input, std::string_view type, size_t other,
                     std::string_view other_type, Naming naming) {
    return {
        input_name(schema, input, naming),
        fmt::format("is {}, but {} is {}: both must be of one type (`{}`)", type,
                    input_name(schema, other, naming), other_type, variable_of(schema, input).name),
        "convert one of them with `Cast` or `CastLike`",
        {},
        static_cast<int>(input),
        static_cast<int>(other)};
}

Problem wrong_attribute_type(const ops::Schema& schema, std::string_view attribute,
                             std::string_view type, std::string_view wanted, Naming naming) {
    return {fmt::format("attribute `{}`{}", attribute, of_operator(schema, naming)),
            fmt::format("is {}, and must be {}", type, wanted),
            {},
            {}};
}

}  // namespace sardonyx::calls
