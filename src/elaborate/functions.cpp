// Scripts as functions and as models, calls between them, and nested functions.

#include "elaborate/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "elaborate/activation.h"
#include "elaborate/branch.h"
#include "elaborate/carried.h"
#include "elaborate/emit.h"
#include "elaborate/jumps.h"
#include "elaborate/names.h"
#include "elaborate/repairs.h"
#include "elaborate/script_calls.h"
#include "elaborate/statics.h"
#include "elaborate/type_text.h"
#include "elaborate/unknowns.h"
#include "elaborate/values.h"
#include "infer/opset_versions.h"
#include "ops/standard.h"

namespace sardonyx::elaborate {

using syntax::Parameter;
using syntax::ParameterKind;
using syntax::Range;

namespace {

constexpr std::string_view kProducer = "sardonyx";

}  // namespace

std::string_view docstring(const syntax::FunctionDefStmt* definition) {
    if (definition->body.empty()) {
        return {};
    }
    const auto* first = syntax::maybe_as<syntax::ExprStmt>(definition->body[0]);
    const auto* text =
        first != nullptr ? syntax::maybe_as<syntax::StringExpr>(first->value) : nullptr;
    return text != nullptr ? text->value : std::string_view{};
}

namespace {

// A list of Python's numbers is one tensor, whether they are known or not; any other is a sequence.
bool is_of_numbers(const Object& list) {
    auto is_number = [](const Object& item) {
        return is_python_number(item) || item.is(ObjectKind::kString) ||
               (item.is_sequence() && is_of_numbers(item));
    };
    const std::vector<Object>& items = list.items();
    return !items.empty() && std::all_of(items.begin(), items.end(), is_number);
}

// What the body returned, as a list of objects; nothing after an error.
std::optional<std::vector<Object>> returned_objects(Context& c, const ScriptFunction& function,
                                                    Jump jump) {
    if (c.gave_up) {
        return std::nullopt;
    }
    if (jump != Jump::kReturn || c.at.result.is_none()) {
        if (jump == Jump::kReturn || !c.program.diagnostics.has_errors()) {
            c.program.diagnostics
                .report(kMissingReturn, function.name_span(),
                        fmt::format("`{}` returns nothing", function.name))
                .with_help("return its results");
        }
        return std::nullopt;
    }
    if (c.at.result.is_error()) {
        return std::nullopt;
    }
    return c.at.result.is(ObjectKind::kTuple) ? c.at.result.items()
                                              : std::vector<Object>{c.at.result};
}

// One result. A list is one object in Python, and one sequence here.
Object as_result(Context& c, const Object& object, const Annotation* annotation) {
    bool is_annotated = annotation != nullptr && annotation->type.kind() == TypeKind::kSequence;
    if (!object.is_sequence() || (!is_annotated && is_of_numbers(object))) {
        return object;
    }
    if (object.items().empty()) {
        ElementType type =
            is_annotated ? annotation->type.element().element_type() : ElementType::kUndefined;
        if (type == ElementType::kUndefined) {
            c.report(kUnsupportedOperand, c.at.result_range,
                     "an empty list is returned, of which nothing says what its items are")
                .with_help("annotate the result, as in `-> Sequence[FLOAT[...]]`");
            return Object::error();
        }
        return empty_sequence(c, annotation->type, c.at.result_range);
    }
    bool are_values = object.is(ObjectKind::kList) &&
                      std::all_of(object.items().begin(), object.items().end(), is_leaf);
    if (!are_values) {
        c.report(kUnsupportedOperand, c.at.result_range,
                 fmt::format("{} among the results", kind_name(object)))
            .with_help("return its items one by one, or a list of tensors");
        return Object::error();
    }
    std::vector<ir::Value*> items;
    for (const Object& item : object.items()) {
        if (item.is_either()) {
            report_either(c, c.at.result_range);
        }
        items.push_back(item.is_either() ? nullptr : as_value(c, item, c.at.result_range));
    }
    return as_object(Emitter(c, c.at.result_range).emit_variadic("SequenceConstruct", items));
}

// The results as outputs of the unit's graph.
void add_outputs(Context& c, const ScriptFunction& function, const std::vector<Object>& objects) {
    std::optional<std::vector<Annotation>> annotations =
        read_results(c, function.definition->returns, objects.size());
    if (annotations && annotations->size() != objects.size()) {
        c.report(kReturnTypeMismatch, c.at.result_range,
                 fmt::format("`{}` returns {} result{}, and its annotation says {}", function.name,
                             objects.size(), objects.size() == 1 ? "" : "s", annotations->size()))
            .label(c.span(function.definition->returns->range), "annotated here")
            .with_help(c.at.result.is(ObjectKind::kList)
                           ? "a list is one result: return a tuple, as in `tuple(xs)`"
                           : "annotate as many results as there are");
        annotations.reset();
    }
    for (size_t i = 0; i < objects.size(); ++i) {
        const Annotation* annotation = annotations ? &(*annotations)[i] : nullptr;
        ElementType type =
            annotation != nullptr ? annotation->type.element_type() : ElementType::kUndefined;
        if (objects[i].is_either() && type == ElementType::kUndefined) {
            report_either(c, c.at.result_range);
            return;
        }
        ir::Value* value = output_of(c, c.unit->graph, as_result(c, objects[i], annotation), type,
                                     c.at.result_range);
        if (value == nullptr) {
            return;
        }
        if (value->name.empty()) {
            value->name = c.model.intern(objects.size() == 1 ? std::string("return_val")
                                                             : fmt::format("return_val_{}", i));
        }
        if (annotation != nullptr) {
            std::string which = objects.size() > 1 ? fmt::format(" as result {}", i + 1) : "";
            check_annotated(c, kReturnTypeMismatch, *annotation, value,
                            fmt::format("`{}` returns{}", function.name, which), c.at.result_range,
                            function.definition->returns->range);
        }
    }
}

}  // namespace

void run_body(Context& c, const ScriptFunction& function) {
    Jump jump = exec_body(c, function.definition->body);
    if (std::optional<std::vector<Object>> objects = returned_objects(c, function, jump)) {
        add_outputs(c, function, *objects);
    }
    remove_dead_nodes(c.model, *c.unit->graph);
    remove_unused_initializers(*c.unit->graph);
    if (!c.unit->is_function) {
        name_initializers(c);
    }
    name_values(c.model, *c.unit->graph);
}

// --- As a function -------------------------------------------------------------------------------

void bind_function_parameter(Context& c, ir::Function& target, const BoundParameter& one,
                             const Fact& fact) {
    Symbol symbol = one.parameter->name;
    const Annotation& annotation = one.annotation;
    if (fact.passing == Fact::Passing::kAttribute) {
        AttributeObject attribute{std::string(one.name), annotation.attribute_type,
                                  annotation.is_bool};
        c.at.scope->set(symbol, Object::make(ObjectKind::kAttribute, attribute));
        std::optional<ir::Attribute> default_value;
        if (one.has_default && !one.default_value.is_none()) {
            default_value = make_attribute(c, one.name, annotation.attribute_type,
                                           one.default_value, one.parameter->range);
        }
        if (default_value) {
            target.attribute_defaults.push_back(std::move(*default_value));
        } else {
            target.attributes.push_back(c.model.intern(one.name));
        }
        return;
    }
    if (annotation.explicit_shape) {
        c.unit->dims.bind(annotation.type, fact.type, c.span(one.parameter->range));
    }
    ir::Value* input = c.model.add_input(target.body, one.name, fact.type);
    // A function that is called in this model is built for the inputs that the call gives.
    bool is_alone = c.model.graph == nullptr && c.building.size() == 1;
    if (is_alone && one.has_default && one.default_value.is_none()) {
        c.unit->optional_inputs.push_back(input);
    }
    bool is_shape = fact.object.is_shape_tensor() && !annotation.type.is_known();
    // compile_function has refused `*args`.
    c.at.scope->set(symbol, one.is_variadic() ? Object::make(ObjectKind::kUnbound, Unbound{})
                            : is_open_number(one, fact) ? Object::number(input)
                            : is_shape                  ? Object::shape(input)
                                                        : Object::tensor(input));
}

// --- Nested functions ----------------------------------------------------------------------------

namespace {

const syntax::Parameters* parameters_of(const Closure& closure) {
    return closure.definition != nullptr ? closure.definition->parameters
                                         : closure.lambda->parameters;
}

std::string closure_name(const Closure& closure) {
    return closure.definition != nullptr
               ? std::string(closure.scope->function->tree->names.text(closure.definition->name))
               : "lambda";
}

// Runs the body of a closure whose parameters are bound; None when it ends without a return.
Object run_closure(Context& c, const Closure& closure) {
    if (closure.lambda != nullptr) {
        c.at.result_range = closure.lambda->body->range;
        c.at.own_call = closure.lambda->body;
        return eval(c, closure.lambda->body);
    }
    Jump jump = exec_body(c, closure.definition->body);
    return jump == Jump::kReturn ? c.at.result : Object::none();
}

const syntax::Stmts* body_of(const Closure& closure) {
    return closure.definition != nullptr ? &closure.definition->body : nullptr;
}

// A plain function of a file that is called with what is known runs as Python, as it does where
// Python compiles the script: arrays are NumPy's there. Nothing: it cannot, and becomes nodes.
std::optional<Object> run_as_python(Context& c, const Closure& closure, const Scope& arguments) {
    bool is_plain = !c.runs_file && closure.definition != nullptr &&
                    closure.scope->function->definition == nullptr;
    for (const auto& [name, value] : arguments.values()) {
        is_plain = is_plain && value.is_static() && !value.is(ObjectKind::kClosure);
    }
    if (!is_plain) {
        return std::nullopt;
    }
    auto scope = std::make_shared<Scope>(arguments.function, arguments.enclosing);
    for (const auto& [name, value] : arguments.values()) {
        scope->set(name, value);
    }
    diagnostics::Diagnostics& findings = c.program.diagnostics;
    size_t said = findings.items().size(), errors = findings.error_count();
    size_t changes = c.undo.size(), types = c.program.types.size();
    ir::Graph* outer = c.graph;
    c.graph = c.model.make_graph(outer);
    c.runs_file = true;
    Object result;
    {
        ActivationGuard in_closure(c, scope, body_of(closure));
        result = run_closure(c, closure);
    }
    bool is_known =
        findings.error_count() == errors && c.graph->last_node() == nullptr && result.is_static();
    c.graph = outer;
    c.runs_file = false;
    if (is_known || c.gave_up) {
        return result;
    }
    findings.truncate(said);
    c.program.types.resize(types);
    for (; c.undo.size() > changes; c.undo.pop_back()) {
        c.undo.back().take_back(c.undo.back().object);
    }
    return std::nullopt;
}

}  // namespace

Object call_closure(Context& c, const Closure& closure, const Arguments& arguments) {
    DepthGuard guard(c, arguments.range);
    if (!guard) {
        return Object::error();
    }
    std::span<const Parameter> parameters = parameters_of(closure)->items;
    const syntax::Tree& tree = *closure.scope->function->tree;
    std::vector<CallArgument> bound;
    std::vector<Object> variadic;
    std::string name = closure_name(closure);
    if (!bind_arguments(c, name, parameters, tree, arguments, bound, variadic)) {
        return Object::error();
    }
    auto scope = std::make_shared<Scope>(closure.scope->function, closure.scope);
    for (size_t i = 0; i < parameters.size(); ++i) {
        Object value = bound[i].object != nullptr ? *bound[i].object : closure.defaults[i];
        if (parameters[i].kind == ParameterKind::kVarArgs) {
            value = Object::tuple(variadic);
        }
        if (is_unknown(value)) {
            report_unknown(c, value, tree.names.text(parameters[i].name), arguments.range);
            return Object::error();
        }
        if (value.is_error()) {
            c.report(kArgumentMismatch, arguments.range,
                     fmt::format("`{}` needs `{}`", name, tree.names.text(parameters[i].name)))
                .label(tree.span(parameters[i].range), "the parameter")
                .with_help(fmt::format("give `{}`", tree.names.text(parameters[i].name)));
            return Object::error();
        }
        note_type(c, parameters[i].range, value);
        scope->set(parameters[i].name, std::move(value));
    }
    if (std::optional<Object> result = run_as_python(c, closure, *scope)) {
        return *result;
    }
    ActivationGuard in_closure(c, scope, body_of(closure));
    return run_closure(c, closure);
}

ir::Graph* closure_graph(Context& c, const Closure& closure, std::span<const Type> input_types,
                         Range range) {
    std::span<const Parameter> parameters = parameters_of(closure)->items;
    if (input_types.size() != parameters.size() && !input_types.empty()) {
        c.report(kArgumentMismatch, range,
                 fmt::format("`{}` takes {} inputs, and the operator gives it {}",
                             closure_name(closure), parameters.size(), input_types.size()))
            .with_help("give the body one parameter for each");
        return nullptr;
    }
    ir::Graph* outer = c.graph;
    ir::Graph* graph = c.model.make_graph(outer);
    graph->name = c.model.intern(closure_name(closure));
    auto scope = std::make_shared<Scope>(closure.scope->function, closure.scope);
    ActivationGuard in_closure(c, scope, body_of(closure));
    c.graph = graph;
    for (size_t i = 0; i < parameters.size(); ++i) {
        Annotation annotation = read_annotation(c, parameters[i].annotation);
        if (!annotation.explicit_shape) {
            annotation.type.set_shape(std::nullopt);
        }
        Type given = i < input_types.size() ? input_types[i] : Type();
        Type type = merge(annotation.type, given).value_or(given);
        Object input =
            Object::tensor(c.model.add_input(graph, c.text(parameters[i].name), std::move(type)));
        note_type(c, parameters[i].range, input);
        scope->set(parameters[i].name, std::move(input));
    }
    size_t errors = c.program.diagnostics.error_count();
    Object result = run_closure(c, closure);
    Range result_range = c.at.result_range;
    c.graph = outer;
    if (result.is_error() || result.is_none() || c.program.diagnostics.error_count() != errors) {
        if (result.is_none()) {
            c.report(kMissingReturn, range,
                     fmt::format("`{}` returns nothing", closure_name(closure)))
                .with_help("return the results of the body");
        }
        return nullptr;
    }
    std::vector<Object> results =
        result.is(ObjectKind::kTuple) ? result.items() : std::vector<Object>{result};
    for (const Object& one : results) {
        if (output_of(c, graph, one, ElementType::kUndefined, result_range) == nullptr) {
            return nullptr;
        }
    }
    return graph;
}

namespace {

int64_t int_attribute(std::span<const ir::Attribute> attributes, std::string_view name,
                      int64_t otherwise) {
    for (const ir::Attribute& attribute : attributes) {
        if (attribute.name == name && attribute.get<int64_t>() != nullptr) {
            return *attribute.get<int64_t>();
        }
    }
    return otherwise;
}

// A tensor type without one of its axes; axis 0 unless the attribute says otherwise.
Type without_axis(const Type& type, int64_t axis) {
    if (!type.is_tensor() || !type.has_shape()) {
        return Type::tensor(type.element_type());
    }
    Shape shape = type.shape();
    int64_t rank = static_cast<int64_t>(shape.size());
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank) {
        return Type::tensor(type.element_type());
    }
    shape.erase(shape.begin() + axis);
    return Type::tensor(type.element_type(), std::move(shape));
}

std::vector<Type> scan_types(std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes) {
    size_t scans =
        static_cast<size_t>(std::max<int64_t>(0, int_attribute(attributes, "num_scan_inputs", 0)));
    size_t states = inputs.size() - std::min(inputs.size(), scans);
    const std::vector<int64_t>* axes = nullptr;
    for (const ir::Attribute& attribute : attributes) {
        axes = attribute.name == "scan_input_axes" ? attribute.get<std::vector<int64_t>>() : axes;
    }
    std::vector<Type> types;
    for (size_t i = 0; i < inputs.size(); ++i) {
        Type type = inputs[i] != nullptr ? inputs[i]->type : Type();
        size_t scan = i - std::min(i, states);
        int64_t axis = axes != nullptr && scan < axes->size() ? (*axes)[scan] : 0;
        types.push_back(i < states ? type : without_axis(type, axis));
    }
    return types;
}

std::vector<Type> body_types(const ops::Schema& schema, std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes) {
    std::vector<Type> types;
    if (ops::is_standard(schema, "Scan")) {
        return scan_types(inputs, attributes);
    }
    if (ops::is_standard(schema, "Loop")) {
        types.push_back(Type::tensor(ElementType::kInt64, Shape{}));
        types.push_back(Type::tensor(ElementType::kBool, Shape{}));
        for (size_t i = 2; i < inputs.size(); ++i) {
            types.push_back(inputs[i] != nullptr ? inputs[i]->type : Type());
        }
    }
    if (ops::is_standard(schema, "SequenceMap")) {
        for (ir::Value* input : inputs) {
            bool is_sequence = input != nullptr && input->type.kind() == TypeKind::kSequence;
            types.push_back(is_sequence        ? input->type.element()
                            : input != nullptr ? input->type
                                               : Type());
        }
    }
    return types;
}

}  // namespace

ir::Graph* body_graph(Context& c, const ops::Schema& schema, std::span<ir::Value* const> inputs,
                      std::span<const ir::Attribute> attributes, const Closure& closure,
                      Range range) {
    std::vector<Type> types = body_types(schema, inputs, attributes);
    size_t said = c.program.diagnostics.items().size();
    ir::Graph* graph = closure_graph(c, closure, types, range);
    if (graph == nullptr || !ops::is_standard(schema, "Loop")) {
        return graph;
    }
    // Values that change their shape from one iteration to the next have no known one inside.
    bool changes = false;
    for (size_t i = 2; i < types.size() && i - 1 < graph->outputs.size(); ++i) {
        Type wider = join(types[i], graph->outputs[i - 1]->type);
        if (types[i].is_tensor() && wider.is_tensor() && !(wider == types[i])) {
            types[i].set_shape(std::nullopt);
            changes = true;
        }
    }
    if (!changes) {
        return graph;
    }
    discard(*graph);
    c.program.diagnostics.truncate(said);
    return closure_graph(c, closure, types, range);
}

// --- As a model
// ------------------------------------------------------------------------------------

namespace {

const Type* option_type(const Options& options, std::string_view name) {
    for (const auto& [input, type] : options.input_types) {
        if (input == name) {
            return &type;
        }
    }
    return nullptr;
}

const Object* given_attribute(const Context& c, std::string_view name) {
    for (const auto& [attribute, value] : c.options.attributes) {
        if (attribute == name) {
            return &value;
        }
    }
    return nullptr;
}

void bind_model_attribute(Context& c, const BoundParameter& one) {
    if (const Object* value = given_attribute(c, one.name)) {
        c.at.scope->set(one.parameter->name, *value);
        return;
    }
    if (one.has_default) {
        c.at.scope->set(one.parameter->name, one.default_value);
        return;
    }
    c.report(kMissingAttributeValue, one.parameter->range,
             fmt::format("the attribute parameter `{}` has no value in a model", one.name))
        .with_help("give it a default, or call this script from another one");
    c.at.scope->set(one.parameter->name, Object::make(ObjectKind::kUnbound, Unbound{}));
}

// The inputs of `*args`, whose types are given under the names args_0, args_1, ...
void bind_model_variadic(Context& c, const BoundParameter& one) {
    std::vector<Object> inputs;
    for (;;) {
        std::string name = fmt::format("{}_{}", one.name, inputs.size());
        const Type* given = option_type(c.options, name);
        if (given == nullptr) {
            break;
        }
        inputs.push_back(Object::tensor(c.model.add_input(c.unit->graph, name, *given)));
    }
    if (inputs.empty()) {
        c.report(kMissingInputType, one.parameter->range,
                 fmt::format("how many inputs `*{}` of a model stands for is not known", one.name))
            .with_help("give their types when building the model, or name the inputs");
        c.at.scope->set(one.parameter->name, Object::make(ObjectKind::kUnbound, Unbound{}));
        return;
    }
    c.at.scope->set(one.parameter->name, Object::tuple(std::move(inputs)));
}

// An input that may be left out: it has an initializer of its name, ONNX's form of a default.
void bind_defaulted_input(Context& c, const BoundParameter& one) {
    std::optional<Tensor> tensor = static_tensor(
        c, one.default_value, one.annotation.type.element_type(), one.parameter->range);
    if (!tensor) {
        c.at.scope->set(one.parameter->name, Object::make(ObjectKind::kUnbound, Unbound{}));
        return;
    }
    Type type = one.annotation.type;
    if (!type.has_shape()) {
        type = tensor->type();
    }
    if (!merge(type, tensor->type())) {
        c.report(kArgumentMismatch, one.parameter->range,
                 fmt::format("the default of `{}` is `{}`, and its annotation says `{}`", one.name,
                             type_text(tensor->type()), type_text(type)))
            .with_help("annotate the type that the default has, or leave out its shape");
    }
    ir::Value* input = c.model.add_input(c.unit->graph, one.name, std::move(type));
    c.model.add_default(input, std::move(*tensor));
    c.at.scope->set(one.parameter->name, Object::tensor(input));
}

void report_given_type(Context& c, const BoundParameter& one, const Type& given,
                       const DimBindings::Conflict& conflict) {
    diagnostics::Diagnostic& reported =
        c.report(kArgumentMismatch, one.parameter->range,
                 fmt::format("`{}` is annotated as `{}`, and given as `{}`", one.name,
                             type_text(one.annotation.type), type_text(given)));
    label_binding(reported, conflict);
    reported.with_help("give types that agree with the annotations");
}

// An input that is None by default is none of the model's, unless its type is given.
void note_omitted(Context& c, const BoundParameter& one) {
    if (one.default_value.is_none() && one.annotation.type.is_known()) {
        c.report(kOmittedInput, one.parameter->range,
                 fmt::format("`{}` is no input of the model: it is `None` by default", one.name))
            .with_help("give its type when building the model to keep it");
    }
}

void bind_model_parameter(Context& c, const BoundParameter& one) {
    if (one.is_variadic()) {
        bind_model_variadic(c, one);
        return;
    }
    if (one.parameter->kind == ParameterKind::kKeywordArgs) {
        c.at.scope->set(one.parameter->name, Object::make(ObjectKind::kUnbound, Unbound{}));
        return;  // reported before
    }
    const Type* given = option_type(c.options, one.name);
    if (one.is_self) {
        c.at.scope->set(one.parameter->name, one.default_value);
        return;
    }
    if (one.annotation.is_attribute ||
        (given == nullptr && one.parameter->annotation == nullptr &&
         (given_attribute(c, one.name) != nullptr ||
          (one.has_default && is_attribute_default(one.default_value))))) {
        bind_model_attribute(c, one);
        return;
    }
    if (given == nullptr && one.annotation.is_mistaken) {
        c.at.scope->set(one.parameter->name, Object::make(ObjectKind::kUnbound, Unbound{}));
        return;
    }
    if (given == nullptr && one.has_default) {
        if (one.annotation.type.is_tensor() && one.default_value.is_static() &&
            !one.default_value.is_none()) {
            bind_defaulted_input(c, one);
        } else {
            c.at.scope->set(one.parameter->name, one.default_value);
            note_omitted(c, one);
        }
        return;
    }
    DimBindings& dims = c.unit->dims;
    Type type = given != nullptr
                    ? *given
                    : dims.substitute(one.annotation.type, DimBindings::Unbound::kStay);
    dims.bind(one.annotation.type, type, c.span(one.parameter->range));
    if (std::optional<DimBindings::Conflict> conflict = dims.conflict(one.annotation.type, type)) {
        report_given_type(c, one, type, *conflict);
    }
    if (given == nullptr &&
        (!type.is_known() ||
         (type.is_tensor() && type.element_type() == ElementType::kUndefined))) {
        c.report(kMissingInputType, one.parameter->range,
                 fmt::format("the input `{}` of a model has no element type", one.name))
            .with_help(one.name == "self"
                           ? "compile the method of an object, as in `thing.method`"
                           : fmt::format("annotate it, as in `{}: FLOAT[...]`, or give its type "
                                         "when building the model",
                                         one.name));
    }
    c.at.scope->set(one.parameter->name,
                    Object::tensor(c.model.add_input(c.unit->graph, one.name, std::move(type))));
}

// A function of another version than the model's is legal as long as its operators are the same.
void check_opset_versions(Context& c, const ir::Model& model) {
    for (const ir::Function* function : model.functions) {
        const ir::Node* node = infer::incompatible_node(model, *function);
        if (node != nullptr) {
            c.program.diagnostics
                .report(kOpsetConflict, node->span,
                        fmt::format("`{}` of opset {} is another one than that of opset {}, which "
                                    "the model imports",
                                    node->op_type,
                                    ir::opset_version(function->opset_imports, node->domain),
                                    ir::opset_version(model.opset_imports, node->domain)))
                .with_help("use one version of a domain throughout");
        }
    }
}

// The imports of the model: its own, and for domains that only its functions use, theirs.
void add_function_imports(ir::Model& model) {
    for (const ir::Function* function : model.functions) {
        for (const ir::OpsetImport& import : function->opset_imports) {
            bool known = std::any_of(
                model.opset_imports.begin(), model.opset_imports.end(),
                [&import](const ir::OpsetImport& own) { return own.domain == import.domain; });
            if (!known) {
                model.opset_imports.push_back(import);
            }
        }
    }
}

// That the parameter takes a value when the model is built, and is no input.
bool is_model_attribute(const BoundParameter& one) {
    return one.annotation.is_attribute ||
           (one.parameter->annotation == nullptr && !one.is_variadic() && !one.is_self);
}

void check_attribute_names(Context& c, const ScriptFunction& function,
                           const std::vector<BoundParameter>& parameters) {
    for (const auto& [name, value] : c.options.attributes) {
        auto same = [wanted = std::string_view(name)](const BoundParameter& one) {
            return one.name == wanted;
        };
        auto found = std::find_if(parameters.begin(), parameters.end(), same);
        if (found != parameters.end() && is_model_attribute(*found)) {
            continue;
        }
        std::vector<std::string_view> names;
        for (const BoundParameter& one : parameters) {
            if (is_model_attribute(one)) {
                names.push_back(one.name);
            }
        }
        bool is_input = found != parameters.end();
        std::string_view near = nearest(name, names);
        c.program.diagnostics
            .report(
                kArgumentMismatch, function.name_span(),
                is_input
                    ? fmt::format("`{}` of `{}` is an input, not an attribute", name, function.name)
                    : fmt::format("`{}` has no attribute parameter `{}`", function.name, name))
            .with_help(is_input       ? "inputs get their values when the model runs"
                       : near.empty() ? "use the names of its parameters"
                                      : fmt::format("did you mean `{}`?", near));
    }
}

void check_option_names(Context& c, const ScriptFunction& function,
                        const std::vector<BoundParameter>& parameters) {
    check_attribute_names(c, function, parameters);
    for (const auto& [name, type] : c.options.input_types) {
        bool known = std::any_of(
            parameters.begin(), parameters.end(),
            [name = std::string_view(name)](const BoundParameter& one) {
                return one.name == name ||
                       (one.is_variadic() && name.rfind(fmt::format("{}_", one.name), 0) == 0);
            });
        if (!known) {
            std::vector<std::string_view> names;
            for (const BoundParameter& one : parameters) {
                names.push_back(one.name);
            }
            std::string_view near = nearest(name, names);
            c.program.diagnostics
                .report(kArgumentMismatch, function.name_span(),
                        fmt::format("`{}` has no input `{}`", function.name, name))
                .with_help(near.empty() ? "use the names of its parameters"
                                        : fmt::format("did you mean `{}`?", near));
        }
    }
}

// The parameters as inputs and attributes of a model; `c.unit` is its unit.
void bind_model_parameters(Context& c, const ScriptFunction& function) {
    const std::vector<BoundParameter>& parameters = read_parameters(c, function, true);
    check_option_names(c, function, parameters);
    for (const BoundParameter& one : parameters) {
        if (const Type* given = option_type(c.options, one.name)) {
            c.unit->dims.bind(one.annotation.type, *given, c.span(one.parameter->range));
        }
    }
    for (const BoundParameter& one : parameters) {
        bind_model_parameter(c, one);
        note_type(c, one.parameter->range, *c.at.scope->find(one.parameter->name));
    }
}

bool lacks_for_model(const diagnostics::Diagnostic& one) {
    return one.kind->code == kMissingInputType.code ||
           one.kind->code == kMissingAttributeValue.code;
}

}  // namespace

bool is_model(Program& program, const ScriptFunction& function, const Options& options) {
    ir::Model model;
    Context c(program, options, model);
    model.graph = model.make_graph(nullptr);
    Unit unit;
    unit.function = &function;
    unit.graph = model.graph;
    UnitGuard in_unit(c, unit);
    ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                            &function.definition->body);
    size_t said = program.diagnostics.items().size();
    size_t known = program.types.size();
    bind_model_parameters(c, function);
    const auto& items = program.diagnostics.items();
    bool is_one = std::none_of(items.begin() + static_cast<std::ptrdiff_t>(said), items.end(),
                               lacks_for_model);
    program.diagnostics.truncate(said);
    program.types.resize(known);
    return is_one;
}

std::unique_ptr<ir::Model> compile_model(Program& program, const ScriptFunction& function,
                                         const Options& options) {
    auto model = std::make_unique<ir::Model>();
    Context c(program, options, *model);
    c.initializer_bytes = function.initializer_bytes;
    model->graph = model->make_graph(nullptr);
    model->graph->name = model->intern(function.name);
    model->graph->doc = model->intern(docstring(function.definition));
    model->producer_name =
        model->intern(function.producer_name.empty() ? kProducer : function.producer_name);
    model->producer_version = model->intern(function.producer_version);
    model->doc = model->intern(function.doc_string);
    model->ir_version = options.ir_version != 0 ? options.ir_version : function.ir_version;
    Unit unit;
    unit.function = &function;
    unit.graph = model->graph;
    UnitGuard in_unit(c, unit);
    build_far_callees(c, function);
    ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                            &function.definition->body);
    bind_model_parameters(c, function);
    run_body(c, function);
    for (size_t i = 0; i < options.output_types.size() && i < model->graph->outputs.size(); ++i) {
        ir::Value* output = model->graph->outputs[i];
        output->type = merge(options.output_types[i], output->type).value_or(output->type);
    }
    model->opset_imports = std::move(unit.imports);
    remove_unused_functions(*model, nullptr);
    add_function_imports(*model);
    if (model->opset_imports.empty()) {
        model->opset_imports.push_back({"", operator_opset(c).version});
    }
    check_opset_versions(c, *model);
    return model;
}

std::unique_ptr<ir::Model> compile_function(Program& program, const ScriptFunction& function,
                                            const Options& options) {
    auto model = std::make_unique<ir::Model>();
    Context c(program, options, *model);
    Unit unit;
    unit.function = &function;
    UnitGuard in_unit(c, unit);
    ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                            &function.definition->body);
    build_far_callees(c, function);
    const std::vector<BoundParameter>& parameters = read_parameters(c, function, false);
    std::vector<Fact> facts = annotated_facts(parameters);
    for (const BoundParameter& one : parameters) {
        if (one.is_variadic()) {
            c.report(
                 kUnsupportedStatement, one.parameter->range,
                 fmt::format("`*{}` of a function by itself: a FunctionProto has a fixed number "
                             "of inputs",
                             one.name))
                .with_help("call it from another script, or name the inputs");
        }
    }
    Specialisation built =
        build_function(c, function, function.definition->name_range, facts, Detail::kAnnotations,
                       fact_key(c, facts, Detail::kAnnotations).value_or(std::string()));
    report_again(c, built.mistakes);
    remove_unused_functions(*model, built.function);
    // The script itself comes first, before those that it calls.
    std::vector<ir::Function*>& all = model->functions;
    std::rotate(all.begin(), all.end() - (all.empty() ? 0 : 1), all.end());
    return model;
}

}  // namespace sardonyx::elaborate
