// Calls of operators: arguments are bound by the operator's schema, Python values take the element
// types that the schema ties them to, and everything that the schema forbids is reported here.

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "elaborate/arrays.h"
#include "elaborate/classes.h"
#include "elaborate/emit.h"
#include "elaborate/eval.h"
#include "elaborate/functions.h"
#include "elaborate/library.h"
#include "elaborate/lists.h"
#include "elaborate/names.h"
#include "elaborate/repairs.h"
#include "elaborate/statics.h"
#include "elaborate/values.h"
#include "infer/diagnostics.h"
#include "ops/ops.h"
#include "ops/schema_set.h"
#include "ops/standard.h"
#include "ops/substitutes.h"
#include "syntax/visit.h"
#include "types/domain.h"

namespace sardonyx::elaborate {

using syntax::Range;

const KeywordArgument* Arguments::find(std::string_view name) const {
    for (const KeywordArgument& keyword : keywords) {
        if (keyword.name == name) {
            return &keyword;
        }
    }
    return nullptr;
}

namespace {

// --- Finding the operator ------------------------------------------------------------------------

void report_missing_operator(Context& c, const OpsetObject& opset, std::string_view name,
                             const Arguments& arguments) {
    Range range = arguments.callee_range;
    const ops::SchemaSet* schemas = c.options.schemas;
    if (int64_t since = ops::first_version(schemas, opset.domain, name)) {
        diagnostics::Diagnostic& reported =
            c.report(kOperatorNotInOpset, range,
                     fmt::format("`{}` is not in opset {} of `{}`", name, opset.version,
                                 shown_domain(opset.domain)))
                .with_help(
                    fmt::format("it came with opset {}: import `opset{}` or newer", since, since));
        offer_opset(c, reported, arguments.receiver, opset, since);
        return;
    }
    std::string_view near = ops::nearest_operator(schemas, opset.domain, name, opset.version);
    diagnostics::Diagnostic& reported =
        c.report(kUnknownOperator, range,
                 fmt::format("`{}` has no operator `{}`", shown_domain(opset.domain), name));
    const ops::DomainInfo* domain = ops::find_domain(opset.domain);
    std::string_view newer =
        near.empty() && domain != nullptr
            ? ops::nearest_operator(schemas, opset.domain, name, domain->newest_version)
            : std::string_view();
    std::string_view substitute = opset.domain.empty() ? ops::substitute(name) : std::string_view();
    if (!substitute.empty()) {
        reported.with_help(std::string(substitute));
    } else if (!near.empty()) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, range, name, near);
    } else if (!newer.empty()) {
        int64_t since = ops::first_version(schemas, opset.domain, newer);
        reported.with_help(
            fmt::format("did you mean `{}`? it came with opset {}: import `opset{}` "
                        "or newer",
                        newer, since, since));
        offer_name(c, reported, range, name, newer);
    } else {
        reported.with_help("see the list of ONNX operators, or use an `Opset` of your own domain");
    }
}

const ops::Schema* find_operator(Context& c, const OpsetObject& opset, std::string_view name,
                                 const Arguments& arguments, bool& known_domain) {
    Range range = arguments.callee_range;
    const ops::SchemaSet* schemas = c.options.schemas;
    known_domain = ops::has_domain(schemas, opset.domain);
    if (!known_domain) {
        return nullptr;
    }
    const ops::DomainInfo* domain = ops::find_domain(opset.domain);
    // Schemas of other domains are good for all versions from theirs on.
    if (domain != nullptr &&
        (opset.version < domain->oldest_version || opset.version > domain->newest_version)) {
        c.report(kUnknownOpset, range,
                 fmt::format("opset {} of `{}` is not known", opset.version,
                             shown_domain(opset.domain)))
            .with_help(fmt::format("use {} to {}", domain->oldest_version, domain->newest_version));
        return nullptr;
    }
    const ops::Schema* schema = ops::find_schema(schemas, opset.domain, name, opset.version);
    if (schema == nullptr) {
        report_missing_operator(c, opset, name, arguments);
        return nullptr;
    }
    if (schema->is_deprecated) {
        c.report(kDeprecatedOperator, range,
                 fmt::format("`{}` is deprecated since opset {}", name, schema->since_version))
            .with_help("see the operator's page for what takes its place");
        return nullptr;
    }
    return schema;
}

// --- Binding arguments ---------------------------------------------------------------------------

struct BoundInput {
    const Object* object = nullptr;  // null or None: left out
    Range range;
};

struct BoundCall {
    std::vector<BoundInput> inputs;
    std::vector<ir::Attribute> attributes;
    std::vector<std::pair<std::string_view, Range>> attribute_ranges;
    bool failed = false;
};

void report_unknown_keyword(Context& c, const ops::Schema& schema, const KeywordArgument& keyword) {
    std::vector<std::string_view> names;
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        names.push_back(attribute.name);
    }
    for (const ops::Parameter& input : schema.inputs) {
        names.push_back(input.name);
    }
    std::string_view near = nearest(keyword.name, names);
    diagnostics::Diagnostic& reported =
        c.report(infer::kUnknownAttribute, keyword.name_range,
                 fmt::format("`{}` has no attribute `{}`", schema.name, keyword.name));
    if (!near.empty()) {
        reported.with_help(fmt::format("did you mean `{}`?", near));
        offer_name(c, reported, keyword.name_range, keyword.name, near);
    } else {
        names.resize(schema.attributes.size());  // inputs are for the nearest name alone
        reported.with_help(names.empty() ? fmt::format("`{}` has no attributes", schema.name)
                                         : fmt::format("it has `{}`", fmt::join(names, "`, `")));
    }
}

void check_enumeration(Context& c, const ops::AttributeSchema& schema,
                       const ir::Attribute& attribute, Range range, BoundCall& call) {
    const std::string* text = attribute.get<std::string>();
    if (text == nullptr || schema.enumeration.empty() ||
        std::find(schema.enumeration.begin(), schema.enumeration.end(), *text) !=
            schema.enumeration.end()) {
        return;
    }
    std::string legal;
    for (size_t i = 0; i < schema.enumeration.size(); ++i) {
        legal += fmt::format("{}`{}`", i == 0 ? "" : ", ", schema.enumeration[i]);
    }
    std::string_view near = nearest(*text, schema.enumeration);
    diagnostics::Diagnostic& reported =
        c.report(infer::kIllegalEnumeration, range,
                 fmt::format("`{}` is not a value of `{}`", *text, schema.name));
    reported.with_help(near.empty()
                           ? fmt::format("use one of {}", legal)
                           : fmt::format("did you mean `{}`? the values are {}", near, legal));
    if (!near.empty()) {
        offer_string(c, reported, range, near);
    }
    call.failed = true;
}

void bind_keyword(Context& c, const ops::Schema& schema, const KeywordArgument& keyword,
                  BoundCall& call) {
    if (const ops::AttributeSchema* attribute = schema.find_attribute(keyword.name)) {
        if (keyword.value.is_none()) {
            return;
        }
        std::optional<ir::Attribute> made =
            make_attribute(c, attribute->name, static_cast<ir::AttributeType>(attribute->type),
                           keyword.value, keyword.range);
        if (!made) {
            call.failed = true;
            return;
        }
        check_enumeration(c, *attribute, *made, keyword.range, call);
        call.attribute_ranges.emplace_back(attribute->name, keyword.range);
        call.attributes.push_back(std::move(*made));
        return;
    }
    for (size_t i = 0; i < schema.inputs.size(); ++i) {
        if (schema.inputs[i].name != keyword.name) {
            continue;
        }
        if (call.inputs.size() <= i) {
            call.inputs.resize(i + 1);
        }
        if (call.inputs[i].object != nullptr) {
            c.report(kDuplicateArgument, keyword.range,
                     fmt::format("input `{}` is given twice", keyword.name))
                .label(c.span(call.inputs[i].range), "given here first")
                .with_help("remove one of them");
            call.failed = true;
            return;
        }
        call.inputs[i] = {&keyword.value, keyword.range};
        return;
    }
    report_unknown_keyword(c, schema, keyword);
    call.failed = true;
}

std::string input_count(const ops::Schema& schema) {
    if (schema.maximum_inputs == UINT16_MAX) {
        return fmt::format("at least {}", schema.minimum_inputs);
    }
    return schema.minimum_inputs == schema.maximum_inputs
               ? fmt::format("{}", schema.minimum_inputs)
               : fmt::format("{} to {}", schema.minimum_inputs, schema.maximum_inputs);
}

void check_inputs(Context& c, const ops::Schema& schema, const Arguments& arguments,
                  BoundCall& call) {
    if (call.failed) {
        return;  // what is missing may be what has been refused
    }
    if (call.inputs.size() > schema.maximum_inputs) {
        c.report(kTooManyInputs, call.inputs[schema.maximum_inputs].range,
                 fmt::format("`{}` takes {} input{}, not {}", schema.name, input_count(schema),
                             schema.maximum_inputs == 1 ? "" : "s", call.inputs.size()))
            .with_help(schema.attributes.empty() ? "remove the rest"
                                                 : "attributes are given by keyword");
        call.failed = true;
        return;
    }
    for (size_t i = 0; i < schema.minimum_inputs; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        bool present = i < call.inputs.size() && call.inputs[i].object != nullptr &&
                       !call.inputs[i].object->is_none();
        if (!present && parameter != nullptr &&
            parameter->option != ops::ParameterOption::kOptional) {
            c.report(kTooFewInputs, arguments.range,
                     fmt::format("`{}` takes {} inputs, and `{}` is missing", schema.name,
                                 input_count(schema), parameter->name))
                .with_help(fmt::format("give `{}`", parameter->name));
            call.failed = true;
            return;
        }
    }
}

void check_required(Context& c, const ops::Schema& schema, const Arguments& arguments,
                    BoundCall& call) {
    if (call.failed) {
        return;  // what is missing may be what has been refused
    }
    for (const ops::AttributeSchema& attribute : schema.attributes) {
        bool given = std::any_of(arguments.keywords.begin(), arguments.keywords.end(),
                                 [&](const KeywordArgument& k) {
                                     return k.name == attribute.name && !k.value.is_none();
                                 });
        if (attribute.is_required && !given) {
            c.report(infer::kMissingAttribute, arguments.range,
                     fmt::format("`{}` needs the attribute `{}`", schema.name, attribute.name))
                .with_help(fmt::format("give `{}=...`", attribute.name));
            call.failed = true;
        }
    }
}

BoundCall bind(Context& c, const ops::Schema& schema, const Arguments& arguments) {
    BoundCall call;
    call.inputs.reserve(arguments.positional.size() + arguments.keywords.size());
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        call.inputs.push_back({&arguments.positional[i], arguments.ranges[i]});
    }
    for (const KeywordArgument& keyword : arguments.keywords) {
        bind_keyword(c, schema, keyword, call);
    }
    check_inputs(c, schema, arguments, call);
    check_required(c, schema, arguments, call);
    return call;
}

// --- Python values as inputs ---------------------------------------------------------------------

// The tensor among the inputs that gives a type variable its element type; one whose type is not
// known where there is no other. Python's numbers bend to the others.
ir::Value* tensor_of_variable(const ops::Schema& schema, const BoundCall& call, int variable) {
    ir::Value* like = nullptr;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const Object* object = call.inputs[i].object;
        if (parameter == nullptr || parameter->type_variable != variable || object == nullptr ||
            !object->is_tensor() || object->is_number_tensor()) {
            continue;
        }
        if (parameter->option == ops::ParameterOption::kVariadic && !parameter->is_homogeneous) {
            continue;
        }
        auto is_known = [](const ir::Value* value) {
            return value->type.element_type() != ElementType::kUndefined;
        };
        if (like == nullptr || (!is_known(like) && is_known(object->value()))) {
            like = object->value();
        }
    }
    return like;
}

// The type for a Python value where no tensor settles it: the only one that the variable admits,
// else FLOAT for an integer where integers are not admitted.
ElementType default_type(const ops::TypeSet& types, const Object& object) {
    auto admits = [&types](ElementType type) {
        return (types.tensor & (ops::ElementMask{1} << static_cast<int>(type))) != 0;
    };
    if (types.tensor != 0 && (types.tensor & (types.tensor - 1)) == 0) {
        for (int i = 1; i < kElementTypeCount; ++i) {
            if (admits(static_cast<ElementType>(i))) {
                return static_cast<ElementType>(i);
            }
        }
    }
    const Object* leaf = &object;
    while (leaf->is_sequence() && !leaf->items().empty()) {
        leaf = &leaf->items()[0];
    }
    bool is_int = leaf->is(ObjectKind::kInt) ||
                  (leaf->is_number_tensor() && number_type(*leaf) == ElementType::kInt64);
    if (is_int && !admits(ElementType::kInt64) && admits(ElementType::kFloat)) {
        return ElementType::kFloat;
    }
    return ElementType::kUndefined;
}

bool has_tensor_items(const Object& object) {
    return object.is_sequence() &&
           std::any_of(object.items().begin(), object.items().end(), [](const Object& item) {
               return (item.is_tensor() && !item.is_number_tensor()) ||
                      item.is(ObjectKind::kConstant);
           });
}

ir::Value* make_sequence(Context& c, const Object& object, Range range) {
    Emitter e(c, range);
    std::vector<ir::Value*> items;
    for (const Object& item : object.items()) {
        items.push_back(as_value(c, item, range));
        if (items.back() == nullptr) {
            return nullptr;
        }
    }
    OpsetObject opset = operator_opset(c);
    import_opset(c, opset, range);
    NodeRequest request;
    request.op_type = items.empty() ? "SequenceEmpty" : "SequenceConstruct";
    request.inputs = items;
    request.range = range;
    ir::Node* node = emit_node(c, std::move(request));
    return node != nullptr ? node->output() : nullptr;
}

// `op.Concat([x, y], axis=0)`: the operator takes the tensors one by one, and stacks no list.
void report_list_of_inputs(Context& c, const ops::Schema& schema, const ops::Parameter& parameter,
                           Range range, Range call_range) {
    std::string_view list = c.source(range);
    bool is_display = list.size() > 2 && (list.front() == '[' || list.front() == '(');
    std::string inputs =
        is_display ? std::string(list.substr(1, list.size() - 2)) : fmt::format("*{}", list);
    while (!inputs.empty() && (inputs.back() == ',' || inputs.back() == ' ')) {
        inputs.pop_back();
    }
    std::string_view whole = c.source(call_range);
    std::string repaired(whole);
    if (range.begin >= call_range.begin && range.end <= call_range.end) {
        repaired.replace(range.begin - call_range.begin, range.end - range.begin, inputs);
    }
    c.report(kUnsupportedOperand, range,
             fmt::format("a list of tensors as input `{}` of `{}`, which takes them one by one",
                         parameter.name, schema.name))
        .with_help(fmt::format("write `{}`", repaired))
        .edit(c.span(range), inputs);
}

// Whether an input of this type is a tensor in all cases.
bool is_settled(const ops::Schema& schema, const BoundCall& call, int variable) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const Object* object = call.inputs[i].object;
        if (parameter != nullptr && parameter->type_variable == variable && object != nullptr &&
            object->is_tensor_like() && !object->is_number_tensor() && !object->is_either()) {
            return true;
        }
    }
    return false;
}

ir::Value* input_value(Context& c, const ops::Schema& schema, const BoundCall& call, size_t index,
                       Range call_range) {
    const Object& object = *call.inputs[index].object;
    Range range = call.inputs[index].range;
    const ops::Parameter* parameter = schema.input(index);
    if (object.is_tensor() && !object.is_number_tensor()) {
        return object.is_either() && !is_settled(schema, call, parameter->type_variable)
                   ? (report_either(c, range), nullptr)
                   : object.value();
    }
    const ops::TypeSet& types =
        schema.type_variables[static_cast<size_t>(parameter->type_variable)].types;
    if (object.is_sequence() && types.sequence != 0 &&
        (types.tensor == 0 || has_tensor_items(object))) {
        return make_sequence(c, object, range);
    }
    if (parameter->option == ops::ParameterOption::kVariadic && has_tensor_items(object)) {
        report_list_of_inputs(c, schema, *parameter, range, call_range);
        return nullptr;
    }
    if (object.is(ObjectKind::kNone) || object.is(ObjectKind::kClosure) ||
        object.is(ObjectKind::kScript) || object.is(ObjectKind::kOpset) ||
        object.is(ObjectKind::kDict) || object.is(ObjectKind::kOpaque)) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} as input `{}` of `{}`", kind_name(object), parameter->name,
                             schema.name))
            .with_help("give a tensor, a number, or a list of numbers");
        return nullptr;
    }
    ir::Value* like = tensor_of_variable(schema, call, parameter->type_variable);
    ElementType type = like != nullptr ? like->type.element_type() : ElementType::kUndefined;
    if (type == ElementType::kUndefined && like == nullptr) {
        type = default_type(types, object);
    }
    return as_value(c, object, range, type, like);
}

// --- Results
// ---------------------------------------------------------------------------------------

// `op.Split(x, sizes)` used as one value has as many results as there are sizes, where that is
// known.
std::optional<size_t> split_count(const ops::Schema& schema, const BoundCall& call) {
    if (!ops::is_standard(schema, "Split") || call.inputs.size() < 2) {
        return std::nullopt;
    }
    const Object& sizes = *call.inputs[1].object;
    if (sizes.is_sequence()) {
        return std::max<size_t>(sizes.items().size(), 1);
    }
    if (sizes.is(ObjectKind::kConstant)) {
        return std::max<size_t>(static_cast<size_t>(sizes.get<Tensor>().count()), 1);
    }
    const ir::Value* value = sizes.is_tensor() ? sizes.value() : nullptr;
    bool is_vector = value != nullptr && value->type.is_tensor() && value->type.has_shape() &&
                     value->type.shape().size() == 1 && value->type.shape()[0].is_static();
    return is_vector ? std::optional<size_t>(static_cast<size_t>(
                           std::max<int64_t>(value->type.shape()[0].value(), 1)))
                     : std::nullopt;
}

// How many outputs the node has when its results go into `wanted` targets (0: used as one value).
std::optional<size_t> output_count(Context& c, const ops::Schema& schema, const BoundCall& call,
                                   const Arguments& arguments, size_t wanted) {
    size_t least = schema.minimum_outputs, most = schema.maximum_outputs;
    for (const ir::Attribute& attribute : call.attributes) {
        // Control flow gives back what its body gives back.
        ir::Graph* const* graph = attribute.get<ir::Graph*>();
        if (graph != nullptr && most == UINT16_MAX) {
            size_t hidden = ops::is_standard(schema, "Loop") ? 1 : 0;
            least = most = (*graph)->outputs.size() - std::min((*graph)->outputs.size(), hidden);
        }
        if (ops::is_standard(schema, "Split") && attribute.name == "num_outputs") {
            const int64_t* count = attribute.get<int64_t>();
            least = most = count != nullptr && *count > 0 && *count < 10000
                               ? static_cast<size_t>(*count)
                               : most;
        }
    }
    if (wanted == 0) {
        std::optional<size_t> sizes = split_count(schema, call);
        return sizes ? *sizes : std::max<size_t>(least, 1);
    }
    if (wanted < least || wanted > most) {
        std::string range = least == most        ? fmt::format("{}", least)
                            : most == UINT16_MAX ? fmt::format("at least {}", least)
                                                 : fmt::format("{} to {}", least, most);
        c.report(kResultCount, arguments.range,
                 fmt::format("`{}` has {} result{}, and {} are unpacked", schema.name, range,
                             least == 1 && most == 1 ? "" : "s", wanted))
            .with_help("unpack as many as there are");
        return std::nullopt;
    }
    return wanted;
}

Object results(ir::Node* node, size_t wanted) {
    if (node == nullptr) {
        return Object::error();
    }
    if (wanted == 0 && node->output_count() == 1) {
        return Object::tensor(node->output());
    }
    std::vector<Object> items;
    for (ir::Value* output : node->outputs()) {
        items.push_back(Object::tensor(output));
    }
    return Object::tuple(std::move(items));
}

// An operator of a domain that has no schemas: inputs by position, attributes by keyword.
Object call_unknown_operator(Context& c, const OpsetObject& opset, std::string_view name,
                             const Arguments& arguments, size_t wanted) {
    import_opset(c, opset, arguments.callee_range);
    std::vector<ir::Value*> inputs;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        const Object& object = arguments.positional[i];
        inputs.push_back(object.is_none() ? nullptr : as_value(c, object, arguments.ranges[i]));
        if (inputs.back() == nullptr && !object.is_none()) {
            return Object::error();
        }
    }
    NodeRequest request;
    for (const KeywordArgument& keyword : arguments.keywords) {
        if (keyword.value.is_none()) {
            continue;
        }
        std::optional<ir::Attribute> attribute = make_attribute(
            c, keyword.name, ir::AttributeType::kUndefined, keyword.value, keyword.range);
        if (!attribute) {
            return Object::error();
        }
        request.attributes.push_back(std::move(*attribute));
    }
    request.domain = opset.domain;
    request.op_type = name;
    request.inputs = inputs;
    request.output_count = std::max<size_t>(wanted, 1);
    request.range = arguments.range;
    request.input_ranges = arguments.ranges;
    return results(emit_node(c, std::move(request)), wanted);
}

// Graph attributes need the types of the inputs: they come after the inputs are values.
bool is_graph_argument(const ops::Schema& schema, const KeywordArgument& keyword) {
    const ops::AttributeSchema* attribute = schema.find_attribute(keyword.name);
    return attribute != nullptr && attribute->type == ops::AttributeType::kGraph &&
           keyword.value.is(ObjectKind::kClosure);
}

// Adds the variables that an operator Gradient names in strings as inputs (names.h). False: one of
// them is no tensor, which has been reported.
bool add_differentiated(Context& c, const OpsetObject& opset, std::string_view op_type,
                        const Arguments& arguments, BoundCall& call,
                        std::vector<ir::Value*>* inputs) {
    std::vector<DifferentiatedName> names =
        differentiated_names(opset.domain, op_type, call.attributes);
    if (!names.empty() && inputs->size() + 1 != names.size()) {
        bool is_few = inputs->size() + 1 < names.size();
        c.report(is_few ? kTooFewInputs : kTooManyInputs, arguments.range,
                 fmt::format("`Gradient` has {} inputs, but `xs` and `zs` name {} tensors",
                             inputs->size(), names.size() - 1))
            .with_help("give one input for each name, first for `xs`, then for `zs`");
        return false;
    }
    for (const auto& [attribute, text] : names) {
        Range range = arguments.range;
        for (const auto& [key, place] : call.attribute_ranges) {
            range = key == attribute ? place : range;
        }
        Symbol name = syntax::find_name(c.tree().names, *text);
        if (!name.valid()) {
            c.report(kUnknownName, range, fmt::format("`{}` is not defined", *text))
                .with_help("`xs`, `zs` and `y` name tensors of the script");
            return false;
        }
        Object object = lookup(c, name, range);
        if (object.is_error()) {
            return false;
        }
        if (!object.is_tensor()) {
            c.report(kUnsupportedOperand, range,
                     fmt::format("`{}` is {}", *text, kind_name(object)))
                .with_help("`xs`, `zs` and `y` name tensors of the script");
            return false;
        }
        inputs->push_back(object.value());
    }
    return true;
}

}  // namespace

Object call_operator(Context& c, const OpsetObject& written, std::string_view name,
                     const Arguments& arguments, size_t wanted) {
    OpsetObject opset = compiled_opset(c, written);
    bool known_domain = true;
    const ops::Schema* schema = find_operator(c, opset, name, arguments, known_domain);
    if (schema == nullptr) {
        return known_domain ? Object::error()
                            : call_unknown_operator(c, opset, name, arguments, wanted);
    }
    import_opset(c, opset, arguments.callee_range);

    // Closures are set aside until the inputs have types.
    Arguments plain;
    std::vector<const KeywordArgument*> bodies;
    const Arguments* used = &arguments;
    for (const KeywordArgument& keyword : arguments.keywords) {
        if (is_graph_argument(*schema, keyword)) {
            bodies.push_back(&keyword);
        }
    }
    BoundCall call;
    if (bodies.empty()) {
        call = bind(c, *schema, *used);
    } else {
        plain = arguments;
        plain.keywords.clear();
        for (const KeywordArgument& keyword : arguments.keywords) {
            if (!is_graph_argument(*schema, keyword)) {
                plain.keywords.push_back(keyword);
            }
        }
        used = &plain;
        call.inputs.reserve(plain.positional.size() + plain.keywords.size());
        for (size_t i = 0; i < plain.positional.size(); ++i) {
            call.inputs.push_back({&plain.positional[i], plain.ranges[i]});
        }
        for (const KeywordArgument& keyword : plain.keywords) {
            bind_keyword(c, *schema, keyword, call);
        }
        check_inputs(c, *schema, plain, call);
        check_required(c, *schema, arguments, call);
    }
    if (call.failed) {
        return Object::error();
    }

    std::vector<ir::Value*> inputs(call.inputs.size());
    std::vector<Range> ranges(call.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
        ranges[i] = call.inputs[i].range;
        const Object* object = call.inputs[i].object;
        if (object == nullptr || object->is_none()) {
            continue;
        }
        inputs[i] = input_value(c, *schema, call, i, arguments.range);
        if (inputs[i] == nullptr) {
            return Object::error();
        }
    }
    while (!inputs.empty() && inputs.back() == nullptr) {
        inputs.pop_back();
    }
    if (name == "OptionalHasElement" && opset.domain.empty() && inputs.empty()) {
        return Object::boolean(false);
    }
    if (name == "ConcatFromSequence" && opset.domain.empty() && inputs.size() == 1) {
        if (ir::Value* rows = stacked_rows(inputs[0], call.attributes)) {
            return Object::tensor(rows);
        }
    }
    for (const KeywordArgument* body : bodies) {
        ir::Graph* graph = body_graph(c, *schema, inputs, call.attributes,
                                      body->value.get<Closure>(), body->range);
        if (graph == nullptr) {
            return Object::error();
        }
        call.attribute_ranges.emplace_back(body->name, body->range);
        call.attributes.push_back(ir::make_attribute(body->name, graph));
    }
    if (ops::is_standard(*schema, "Loop") && inputs.size() >= 2 && inputs[1] == nullptr) {
        // onnx.reference runs a Loop without a condition zero times.
        inputs[1] = emit_constant(c, Tensor::scalar<bool>(true), arguments.range);
    }
    std::optional<size_t> outputs = output_count(c, *schema, call, arguments, wanted);
    if (!outputs) {
        return Object::error();
    }
    if (!add_differentiated(c, opset, name, arguments, call, &inputs)) {
        return Object::error();
    }
    NodeRequest request;
    request.domain = opset.domain;
    request.op_type = name;
    request.inputs = inputs;
    request.attributes = std::move(call.attributes);
    request.output_count = *outputs;
    request.range = arguments.range;
    request.input_ranges = ranges;
    request.attribute_ranges = call.attribute_ranges;
    return results(emit_node(c, std::move(request)), wanted);
}

namespace {

// np.float32(2.0): an array of rank 0.
Object call_element_type(Context& c, const Object& callee, const Arguments& arguments) {
    ElementType type = callee.as_element_type();
    if (callee.type_form() != TypeForm::kNumpyClass) {
        c.report(kNotCallable, arguments.callee_range, fmt::format("`{}` is called", repr(callee)))
            .with_help("cast a tensor with `op.Cast`");
        return Object::error();
    }
    if (c.runs_file && arguments.positional.size() == 1 &&
        arguments.positional[0].is(ObjectKind::kConstant)) {
        if (std::optional<Tensor> cast = cast_array(arguments.positional[0].get<Tensor>(), type)) {
            return Object::make(ObjectKind::kConstant, std::move(*cast));
        }
    }
    if (arguments.positional.size() != 1 || !arguments.positional[0].is_number()) {
        return refuse(c, arguments.range,
                      fmt::format("{} of something that is not one number", name(type)),
                      "cast a tensor with `op.Cast`");
    }
    std::optional<Tensor> tensor =
        static_tensor(c, arguments.positional[0], type, arguments.ranges[0]);
    if (tensor && type == ElementType::kDouble) {
        return Object::real(tensor->elements<double>()[0]);  // np.float64 is a float to Python
    }
    return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor)) : Object::error();
}

// A call of what functools.partial gave: its arguments come first, and keywords of the call win.
Object call_partial(Context& c, const Object& bound, const Arguments& arguments, size_t wanted) {
    DepthGuard guard(c, arguments.range);
    if (!guard) {
        return Object::error();
    }
    const std::vector<Object>& parts = bound.items();
    Arguments all = arguments;
    const std::vector<Object>& first = parts[1].items();
    all.positional.insert(all.positional.begin(), first.begin(), first.end());
    all.ranges.insert(all.ranges.begin(), first.size(), arguments.callee_range);
    for (const auto& [name, value] : parts[2].get<DictObject>().items) {
        if (arguments.find(name.text()) == nullptr) {
            all.keywords.push_back(
                {name.text(), value, arguments.callee_range, arguments.callee_range});
        }
    }
    return call(c, parts[0], all, wanted);
}

// A function of Python that takes what only the graph knows is read, as those of a file are. Null:
// it cannot be.
const Object* inline_script(Context& c, const Object& callee) {
    auto [place, is_new] = c.inlined.try_emplace(callee.pointer().get());
    if (is_new) {
        std::optional<Object> script = c.function().environment->inline_script(callee);
        place->second = {callee, script ? *script : Object::error()};
    }
    const Object& script = place->second.second;
    return script.is_error() ? nullptr : &script;
}

}  // namespace

Object call(Context& c, const Object& callee, const Arguments& arguments, size_t wanted) {
    if (c.is_raising()) {
        return Object::error();
    }
    switch (callee.kind()) {
        case ObjectKind::kError:
            return Object::error();
        case ObjectKind::kOperator: {
            const OperatorObject& op = callee.get<OperatorObject>();
            return call_operator(c, op.opset, op.name, arguments, wanted);
        }
        case ObjectKind::kScript:
            if (c.runs_file) {
                return refuse(c, arguments.range, "a script is called at the top level of a file");
            }
            return call_script(c, callee.get<ScriptFunction>(), arguments, wanted);
        case ObjectKind::kClosure:
            return call_closure(c, callee.get<Closure>(), arguments);
        case ObjectKind::kBuiltin:
            return call_library(c, callee.get<BuiltinObject>(), arguments);
        case ObjectKind::kMethod:
            if (callee.get<MethodObject>().name == kPartial) {
                return call_partial(c, callee.get<MethodObject>().self, arguments, wanted);
            }
            return call_method(c, callee.get<MethodObject>(), arguments);
        case ObjectKind::kModule:
            if (Namespace* type = as_namespace(callee)) {
                return instantiate(c, *type, arguments);
            }
            c.report(kNotCallable, arguments.callee_range, "a module is called")
                .with_help("call a function of it");
            return Object::error();
        case ObjectKind::kPythonType:
            return call_python_type(c, callee.get<PythonType>(), arguments);
        case ObjectKind::kElementType:
            return call_element_type(c, callee, arguments);
        case ObjectKind::kOpaque: {
            std::vector<std::pair<std::string, Object>> keywords;
            for (const KeywordArgument& keyword : arguments.keywords) {
                keywords.emplace_back(std::string(keyword.name), keyword.value);
            }
            Environment::Answer answer =
                c.function().environment->call(callee, arguments.positional, keywords);
            if (answer.take_back != nullptr) {
                if (c.graph != c.unit->graph) {
                    return refuse(
                        c, arguments.range,
                        fmt::format("a call of `{}`, which changes objects, inside a loop "
                                    "or branch that runs in the graph",
                                    repr(callee)),
                        "call it outside");
                }
                c.undo.push_back({callee, [undo = answer.take_back](const Object&) { undo(); }});
            }
            if (answer.value) {
                return *answer.value;
            }
            const Object* script = inline_script(c, callee);
            // What a method of Python raises on what is known is what it means.
            bool has_raised = script != nullptr && script->is(ObjectKind::kMethod) &&
                              std::all_of(arguments.positional.begin(), arguments.positional.end(),
                                          [](const Object& one) { return one.is_static(); }) &&
                              arguments.keywords.empty();
            if (script != nullptr && !has_raised) {
                return call(c, Object(*script), arguments, wanted);
            }
            c.report(kNotCallable, arguments.range,
                     fmt::format("`{}` cannot be called at compile time{}{}", repr(callee),
                                 answer.error.empty() ? "" : ": ", answer.error))
                .with_help("decorate it with `@script`, or call it outside the script");
            return Object::error();
        }
        default:
            c.report(kNotCallable, arguments.callee_range,
                     fmt::format("{} is called", kind_name(callee)))
                .with_help("call an operator, a script or a function");
            return Object::error();
    }
}

// --- Attributes
// ------------------------------------------------------------------------------------

namespace {

std::optional<int64_t> as_int_attribute(const Object& object) {
    if (object.is_integer()) {
        return object.as_int();
    }
    if (object.is(ObjectKind::kElementType)) {
        return static_cast<int64_t>(object.as_element_type());
    }
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 0) {
        std::optional<std::vector<int64_t>> values = to_int64s(object.get<Tensor>());
        return values ? std::optional<int64_t>((*values)[0]) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<float> as_float_attribute(const Object& object) {
    if (object.is_number()) {
        return static_cast<float>(object.as_double());
    }
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 0) {
        std::optional<std::vector<double>> values = to_doubles(object.get<Tensor>());
        return values ? std::optional<float>(static_cast<float>((*values)[0])) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::string> as_string_attribute(const Object& object) {
    return object.is(ObjectKind::kString) || object.is(ObjectKind::kBytes)
               ? std::optional<std::string>(object.text())
               : std::nullopt;
}

// The items of a list attribute; an array of rank 1 is one too.
std::optional<std::vector<Object>> list_items(Context& c, const Object& object) {
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() == 1) {
        std::vector<Object> items;
        const Tensor& tensor = object.get<Tensor>();
        if (std::optional<std::vector<int64_t>> integers = to_int64s(tensor)) {
            for (int64_t value : *integers) {
                items.push_back(Object::integer(value));
            }
            return items;
        }
        if (std::optional<std::vector<double>> reals = to_doubles(tensor)) {
            for (double value : *reals) {
                items.push_back(Object::real(value));
            }
            return items;
        }
        return std::nullopt;
    }
    if (object.is(ObjectKind::kString) || object.is(ObjectKind::kDict)) {
        return std::nullopt;
    }
    return static_items(c, object);
}

template <typename T, typename Convert>
std::optional<ir::AttributeValue> list_attribute(Context& c, const Object& object,
                                                 Convert convert) {
    std::optional<std::vector<Object>> items = list_items(c, object);
    if (!items) {
        return std::nullopt;
    }
    std::vector<T> values;
    for (const Object& item : *items) {
        std::optional<T> value = convert(item);
        if (!value) {
            return std::nullopt;
        }
        values.push_back(std::move(*value));
    }
    return ir::AttributeValue(std::move(values));
}

template <typename T>
std::optional<ir::AttributeValue> lift(std::optional<T> value) {
    return value ? std::optional<ir::AttributeValue>(ir::AttributeValue(std::move(*value)))
                 : std::nullopt;
}

std::optional<ir::AttributeValue> attribute_value_of(Context& c, ir::AttributeType type,
                                                     const Object& object, Range range) {
    switch (type) {
        case ir::AttributeType::kInt:
            return lift(as_int_attribute(object));
        case ir::AttributeType::kFloat:
            return lift(as_float_attribute(object));
        case ir::AttributeType::kString:
            return lift(as_string_attribute(object));
        case ir::AttributeType::kInts:
            return list_attribute<int64_t>(c, object, as_int_attribute);
        case ir::AttributeType::kFloats:
            return list_attribute<float>(c, object, as_float_attribute);
        case ir::AttributeType::kStrings:
            return list_attribute<std::string>(c, object, as_string_attribute);
        case ir::AttributeType::kTensor:
            if (object.is(ObjectKind::kConstant) || object.is_number() || object.is_sequence() ||
                object.is(ObjectKind::kString)) {
                return lift(static_tensor(c, object, ElementType::kUndefined, range));
            }
            return std::nullopt;
        case ir::AttributeType::kTypeProto:
            return object.is(ObjectKind::kType)
                       ? std::optional<ir::AttributeValue>(object.get<TypeObject>().type)
                       : std::nullopt;
        case ir::AttributeType::kGraph:
            if (object.is(ObjectKind::kClosure)) {
                ir::Graph* graph = closure_graph(c, object.get<Closure>(), {}, range);
                return graph != nullptr ? std::optional<ir::AttributeValue>(graph) : std::nullopt;
            }
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

// The attribute type of an object where no schema says it.
ir::AttributeType implied_attribute_type(Context& c, const Object& object) {
    if (as_int_attribute(object)) {
        return ir::AttributeType::kInt;
    }
    if (object.is(ObjectKind::kFloat)) {
        return ir::AttributeType::kFloat;
    }
    if (as_string_attribute(object)) {
        return ir::AttributeType::kString;
    }
    if (object.is(ObjectKind::kClosure)) {
        return ir::AttributeType::kGraph;
    }
    if (object.is(ObjectKind::kType)) {
        return ir::AttributeType::kTypeProto;
    }
    if (object.is(ObjectKind::kConstant)) {
        return ir::AttributeType::kTensor;
    }
    std::optional<std::vector<Object>> items = list_items(c, object);
    if (!items) {
        return ir::AttributeType::kUndefined;
    }
    bool any_float = false;
    for (const Object& item : *items) {
        if (as_string_attribute(item)) {
            return ir::AttributeType::kStrings;
        }
        any_float = any_float || item.is(ObjectKind::kFloat);
    }
    return any_float ? ir::AttributeType::kFloats : ir::AttributeType::kInts;
}

std::string_view attribute_words(ir::AttributeType type) {
    switch (type) {
        case ir::AttributeType::kInt:
            return "an int";
        case ir::AttributeType::kFloat:
            return "a float";
        case ir::AttributeType::kString:
            return "a string";
        case ir::AttributeType::kInts:
            return "a list of ints";
        case ir::AttributeType::kFloats:
            return "a list of floats";
        case ir::AttributeType::kStrings:
            return "a list of strings";
        case ir::AttributeType::kTensor:
            return "a tensor";
        case ir::AttributeType::kGraph:
            return "a function decorated with `@graph()`";
        case ir::AttributeType::kTypeProto:
            return "a type, such as `FLOAT[...]`";
        case ir::AttributeType::kUndefined:
            return "a number, a string, a tensor or a list of one of them";
        default:
            return "another type";
    }
}

// Attributes that are the number of an element type.
bool names_element_type(std::string_view attribute) {
    return attribute == "to" || attribute == "dtype";
}

}  // namespace

std::optional<ir::Attribute> make_attribute(Context& c, std::string_view name,
                                            ir::AttributeType type, const Object& object,
                                            Range range) {
    ir::Attribute attribute;
    attribute.name = c.model.intern(name);
    if (object.is_error()) {
        return std::nullopt;
    }
    if (object.is(ObjectKind::kAttribute)) {
        const AttributeObject& parameter = object.get<AttributeObject>();
        if (type != ir::AttributeType::kUndefined && parameter.type != type) {
            c.report(kAttributeType, range,
                     fmt::format("`{}` takes {}, and the attribute parameter `{}` is {}", name,
                                 attribute_words(type), parameter.name,
                                 attribute_words(parameter.type)))
                .with_help("change the annotation of the parameter");
            return std::nullopt;
        }
        attribute.type = parameter.type;
        attribute.reference = c.model.intern(parameter.name);
        return attribute;
    }
    if (object.is_tensor()) {
        c.report(
             kStaticRequired, range,
             fmt::format("a tensor as the attribute `{}`: its value is known only when the graph "
                         "runs",
                         name))
            .with_help(
                "give a number, or make it an attribute parameter of the script, as in "
                "`axis: int`");
        return std::nullopt;
    }
    ir::AttributeType wanted =
        type != ir::AttributeType::kUndefined ? type : implied_attribute_type(c, object);
    size_t said = c.program.diagnostics.items().size();
    std::optional<ir::AttributeValue> value = attribute_value_of(c, wanted, object, range);
    if (!value) {
        if (c.program.diagnostics.items().size() == said) {
            c.report(kAttributeType, range,
                     fmt::format("`{}` takes {}, not {}", name, attribute_words(wanted),
                                 object.is_static() && object.is_number()
                                     ? fmt::format("`{}`", repr(object))
                                     : std::string(kind_name(object))))
                .with_help(
                    names_element_type(name) && !object.is_number()
                        ? fmt::format("give an element type: `{}={}.dtype`", name,
                                      object.is(ObjectKind::kType) ? c.source(range) : "INT64")
                        : fmt::format("give {}", attribute_words(wanted)));
        }
        return std::nullopt;
    }
    attribute.type = wanted;
    attribute.value = std::move(*value);
    return attribute;
}

}  // namespace sardonyx::elaborate
