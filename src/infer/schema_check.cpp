#include "infer/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calls/check.h"
#include "infer/diagnostics.h"
#include "ops/standard.h"

namespace sardonyx::infer {
namespace {

// More type variables than any schema has; the rest of a larger one would go unchecked.
constexpr size_t kMaxTypeVariables = 32;

bool certainly_differ(const Type& a, const Type& b) {
    if (!a.is_known() || !b.is_known()) {
        return false;
    }
    if (a.kind() != b.kind()) {
        return true;
    }
    return (a.element_type() != b.element_type() && a.element_type() != ElementType::kUndefined &&
            b.element_type() != ElementType::kUndefined) ||
           certainly_differ(a.element(), b.element());
}

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

// The oldest later version of the operator whose input takes the type; null: none.
const ops::Schema* later_version_that_takes(const NodeContext& c, size_t input, const Type& type) {
    for (const ops::Schema& schema : ops::schema_versions(c.schema->domain, c.schema->name)) {
        const ops::Parameter* parameter = schema.input(input);
        if (schema.since_version > c.version() && parameter != nullptr &&
            schema.type_variables[parameter->type_variable].types.admits(type)) {
            return &schema;
        }
    }
    return nullptr;
}

std::string not_admitted(const ir::Node& node, const ops::Schema& schema, size_t i,
                         const Type& type) {
    return fmt::format("{} is {}, which the operator does not take", input_name(node, schema, i),
                       type.to_string());
}

void report_not_admitted(NodeContext& c, size_t i, const ops::TypeVariable& variable) {
    const Type& type = c.input_type(i);
    const ops::Schema* later = later_version_that_takes(c, i, type);
    std::string help = later != nullptr
                           ? fmt::format("opset {} takes it; this one takes {}",
                                         later->since_version, admitted_types(variable.types))
                           : fmt::format("it takes {}; convert the value with `Cast`",
                                         admitted_types(variable.types));
    c.fail(kUnsupportedType, not_admitted(c.node, *c.schema, i, type), static_cast<int>(i), -1,
           std::move(help));
}

std::string types_differ(const ir::Node& node, const ops::Schema& schema, size_t i,
                         const Type& type, size_t other, const Type& other_type,
                         const ops::TypeVariable& variable) {
    return fmt::format("{} is {}, but {} is {}: both must be of one type (`{}`)",
                       input_name(node, schema, i), type.to_string(),
                       input_name(node, schema, other), other_type.to_string(), variable.name);
}

// Calls refuse(i, variable) for each input whose type the operator does not take, and differ(i,
// other, variable) for each that is of another type than one before it must be of, too.
template <typename TypeOf, typename Refuse, typename Differ>
void check_types_of_inputs(const ir::Node& node, const ops::Schema& schema, const TypeOf& type_of,
                           const Refuse& refuse, const Differ& differ) {
    // For each type variable, the first input of a known type, plus 1.
    std::array<uint32_t, kMaxTypeVariables> first_input{};
    for (size_t i = 0; i < node.input_count(); ++i) {
        const ops::Parameter* parameter = schema.input(i);
        if (parameter == nullptr) {
            return;
        }
        const Type& type = type_of(i);
        size_t variable = static_cast<size_t>(parameter->type_variable);
        bool is_heterogeneous =
            parameter->option == ops::ParameterOption::kVariadic && !parameter->is_homogeneous;
        if (!type.is_known() || variable >= kMaxTypeVariables) {
            continue;
        }
        const ops::TypeVariable& wanted = schema.type_variables[variable];
        if (!wanted.types.admits(type)) {
            refuse(i, wanted);
        }
        if (is_heterogeneous) {
            continue;
        }
        if (first_input[variable] == 0) {
            first_input[variable] = static_cast<uint32_t>(i + 1);
            continue;
        }
        size_t other = first_input[variable] - 1;
        if (certainly_differ(type, type_of(other))) {
            differ(i, other, wanted);
        }
    }
}

void check_input_types(NodeContext& c) {
    check_types_of_inputs(
        c.node, *c.schema, [&c](size_t i) -> const Type& { return c.input_type(i); },
        [&c](size_t i, const ops::TypeVariable& variable) { report_not_admitted(c, i, variable); },
        [&c](size_t i, size_t other, const ops::TypeVariable& variable) {
            c.fail(kTypeMismatch,
                   types_differ(c.node, *c.schema, i, c.input_type(i), other, c.input_type(other),
                                variable),
                   static_cast<int>(i), static_cast<int>(other),
                   "convert one of them with `Cast` or `CastLike`");
        });
}

SignatureProblem as_problem(const diagnostics::Kind& kind, calls::Problem problem,
                            std::string_view attribute = {}) {
    return {&kind, problem.message(), problem.input, attribute, std::move(problem.help)};
}

void check_counts(const ir::Node& node, const ops::Schema& schema,
                  std::vector<SignatureProblem>& problems) {
    size_t inputs = node.input_count();
    std::optional<calls::Problem> problem =
        calls::check_inputs(schema, inputs, [&node](size_t i) { return node.input(i) != nullptr; });
    // Nothing stands where one is missing, and what is too much is no input.
    if (problem && (inputs > schema.maximum_inputs || problem->input >= static_cast<int>(inputs))) {
        problem->input = -1;
    }
    if (problem) {
        problems.push_back(as_problem(kArgumentCount, std::move(*problem)));
    }
    for (size_t i = schema.minimum_inputs; i < inputs; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        if (parameter != nullptr && parameter->option != ops::ParameterOption::kOptional &&
            node.input(i) == nullptr) {
            problems.push_back(as_problem(kArgumentCount, calls::missing_input(schema, i)));
        }
    }
    if (std::optional<calls::Problem> beyond = calls::check_outputs(schema, node.output_count())) {
        problems.push_back(as_problem(kArgumentCount, std::move(*beyond)));
    }
}

void check_attribute(const ir::Node& node, const ops::Schema& schema,
                     const ir::Attribute& attribute, std::vector<SignatureProblem>& problems) {
    const ops::AttributeSchema* declared = schema.find_attribute(attribute.name);
    if (declared == nullptr) {
        problems.push_back(as_problem(
            kUnknownAttribute, calls::unknown_keyword(schema, attribute.name), attribute.name));
        return;
    }
    ir::AttributeType wanted = static_cast<ir::AttributeType>(declared->type);
    if (attribute.type != wanted && attribute.type != ir::AttributeType::kUndefined) {
        problems.push_back(
            {&kAttributeType,
             fmt::format("attribute `{}` of `{}` is {}, and must be {}", attribute.name,
                         node.op_type, ir::name(attribute.type), ir::name(wanted)),
             -1, attribute.name});
    }
}

// What the standard asks for in words: one of several ways to say something.
void check_one_of_several(const ir::Node& node, const ops::Schema& schema,
                          std::vector<SignatureProblem>& problems) {
    constexpr int kUnevenVersion = 18;
    if (ops::is_standard(schema, "Constant") && node.attributes.empty()) {
        problems.push_back(
            {&kMissingAttribute, "`Constant` has no value", -1, {}, "give one of its attributes"});
    }
    bool has_sizes = node.input_count() > 1 && node.input(1) != nullptr;
    bool has_number = std::any_of(node.attributes.begin(), node.attributes.end(),
                                  [](const auto& one) { return one.name == "num_outputs"; });
    if (ops::is_standard(schema, "Split") && schema.since_version >= kUnevenVersion && !has_sizes &&
        !has_number) {
        problems.push_back({&kMissingAttribute,
                            "`Split` has neither `split` nor `num_outputs`",
                            -1,
                            {},
                            "give the sizes of the parts, or how many there are"});
    }
}

void check_required(const ir::Node& node, const ops::Schema& schema,
                    std::vector<SignatureProblem>& problems) {
    calls::check_required(
        schema,
        [&node](std::string_view name) {
            return std::any_of(node.attributes.begin(), node.attributes.end(),
                               [&](const ir::Attribute& one) { return one.name == name; });
        },
        [&](calls::Problem problem) {
            problems.push_back(as_problem(kMissingAttribute, std::move(problem)));
        });
}

void check_enumeration(NodeContext& c, const ops::AttributeSchema& declared,
                       const ir::Attribute& attribute) {
    const ir::Attribute* followed = c.attribute(attribute.name);
    const std::string* text = followed != nullptr ? followed->get<std::string>() : nullptr;
    if (text == nullptr) {
        return;
    }
    if (std::optional<calls::Problem> problem = calls::check_enumeration(declared, *text)) {
        c.fail_attribute(kIllegalEnumeration, attribute.name, problem->message(),
                         std::move(problem->help));
    }
}

// Integers that mean yes or no, sorted: with another number nobody says what is meant.
constexpr std::string_view kFlags[] = {
    "align_corners",
    "allowzero",
    "antialias",
    "broadcast",
    "ceil_mode",
    "center_point_box",
    "count_include_pad",
    "detect_negative",
    "detect_positive",
    "exclude_outside",
    "exclusive",
    "fmod",
    "input_forget",
    "interleaved",
    "inverse",
    "is_case_sensitive",
    "is_causal",
    "keepdims",
    "largest",
    "layout",
    "linear_before_reset",
    "new_axis",
    "noop_with_empty_axes",
    "one_class",
    "onesided",
    "output_sequence",
    "periodic",
    "reverse",
    "saturate",
    "select_last_index",
    "sorted",
    "spatial",
    "storage_order",
    "training_mode",
    "transA",
    "transB",
    "upper",
    "zeros",
};

void check_flag(NodeContext& c, const ir::Attribute& attribute) {
    if (!std::binary_search(std::begin(kFlags), std::end(kFlags), attribute.name)) {
        return;
    }
    const ir::Attribute* followed = c.attribute(attribute.name);
    const int64_t* value = followed != nullptr ? followed->get<int64_t>() : nullptr;
    if (value != nullptr && *value != 0 && *value != 1) {
        c.fail_attribute(kInvalidValue, attribute.name,
                         fmt::format("`{}` of `{}` is {}", attribute.name, c.node.op_type, *value),
                         "use 1 for yes and 0 for no");
    }
}

// Of attributes whose type is right.
void check_values(NodeContext& c) {
    for (const ir::Attribute& attribute : c.node.attributes) {
        const ops::AttributeSchema* declared = c.schema->find_attribute(attribute.name);
        if (declared != nullptr &&
            attribute.type == static_cast<ir::AttributeType>(declared->type)) {
            check_enumeration(c, *declared, attribute);
            check_flag(c, attribute);
        }
    }
}

}  // namespace

std::vector<SignatureProblem> signature_problems(const ir::Node& node, const ops::Schema& schema) {
    std::vector<SignatureProblem> problems;
    check_counts(node, schema, problems);
    check_required(node, schema, problems);
    check_one_of_several(node, schema, problems);
    for (const ir::Attribute& attribute : node.attributes) {
        check_attribute(node, schema, attribute, problems);
    }
    return problems;
}

std::string type_problem(const ir::Node& node, const ops::Schema& schema,
                         std::span<const Type> types) {
    std::string problem;
    auto say = [&problem](std::string message) {
        problem = problem.empty() ? std::move(message) : problem;
    };
    check_types_of_inputs(
        node, schema, [types](size_t i) -> const Type& { return types[i]; },
        [&](size_t i, const ops::TypeVariable&) { say(not_admitted(node, schema, i, types[i])); },
        [&](size_t i, size_t other, const ops::TypeVariable& variable) {
            say(types_differ(node, schema, i, types[i], other, types[other], variable));
        });
    return problem;
}

void check_against_schema(NodeContext& c) {
    for (SignatureProblem& problem : signature_problems(c.node, *c.schema)) {
        if (problem.attribute.empty()) {
            c.fail(*problem.kind, std::move(problem.message), problem.input, -1,
                   std::move(problem.help));
        } else {
            c.fail_attribute(*problem.kind, problem.attribute, std::move(problem.message),
                             std::move(problem.help));
        }
    }
    check_input_types(c);
    check_values(c);
}

}  // namespace sardonyx::infer
