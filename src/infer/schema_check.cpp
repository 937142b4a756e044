#include "infer/schema_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "calls/types.h"
#include "infer/diagnostics.h"
#include "ops/standard.h"

namespace sardonyx::infer {
namespace {

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

// The types of a node's inputs, for calls::check_types(). `TypeOf`: i -> const Type&.
template <typename TypeOf>
struct InputTypes {
    const TypeOf& type_of;

    bool is_open(const ops::Parameter& /*parameter*/, size_t i) const {
        return !type_of(i).is_known();
    }
    bool is_admitted(const ops::TypeSet& types, size_t i) const { return types.admits(type_of(i)); }
    bool differ(size_t i, size_t other) const {
        return certainly_differ(type_of(i), type_of(other));
    }
    std::string describe(size_t i) const { return type_of(i).to_string(); }
};

template <typename TypeOf, typename Report>
void check_types(const ir::Node& node, const ops::Schema& schema, const TypeOf& type_of,
                 calls::Naming naming, const Report& report) {
    calls::check_types(schema, node.input_count(), InputTypes<TypeOf>{type_of}, naming, report);
}

void check_input_types(NodeContext& c) {
    check_types(
        c.node, *c.schema, [&c](size_t i) -> const Type& { return c.input_type(i); },
        calls::Naming::kWithOperator,
        [&c](calls::Problem problem) {
            c.fail(problem.other < 0 ? kUnsupportedType : kTypeMismatch, problem.message(),
                   problem.input, problem.other, std::move(problem.help));
            return true;
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

void check_attribute(const ops::Schema& schema, const ir::Attribute& attribute,
                     std::vector<SignatureProblem>& problems) {
    const ops::AttributeSchema* declared = schema.find_attribute(attribute.name);
    if (declared == nullptr) {
        problems.push_back(as_problem(
            kUnknownAttribute, calls::unknown_keyword(schema, attribute.name), attribute.name));
        return;
    }
    ir::AttributeType wanted = declared->type;
    if (attribute.type != wanted && attribute.type != ir::AttributeType::kUndefined) {
        problems.push_back(as_problem(
            kAttributeType,
            calls::wrong_attribute_type(schema, attribute.name, sardonyx::name(attribute.type),
                                        sardonyx::name(wanted), calls::Naming::kWithOperator),
            attribute.name));
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
        if (declared != nullptr && attribute.type == declared->type) {
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
        check_attribute(schema, attribute, problems);
    }
    return problems;
}

std::string type_problem(const ir::Node& node, const ops::Schema& schema,
                         std::span<const Type> types) {
    std::string first;
    check_types(
        node, schema, [types](size_t i) -> const Type& { return types[i]; }, calls::Naming::kAlone,
        [&first](const calls::Problem& problem) {
            first = problem.message();
            return false;
        });
    return first;
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
    // Runs do without the names of outputs that nobody reads; readers of files do not.
    if (c.node.output_count() < c.schema->minimum_outputs) {
        calls::Problem problem = calls::wrong_outputs(*c.schema, c.node.output_count());
        c.fail(kArgumentCount, problem.message(), -1, -1, std::move(problem.help));
    }
    check_input_types(c);
    check_values(c);
}

}  // namespace sardonyx::infer
