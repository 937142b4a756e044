// Scripts as functions and as models, calls between them, and nested functions.

#include "elaborate/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "elaborate/branch.h"
#include "elaborate/emit.h"
#include "elaborate/jumps.h"
#include "elaborate/names.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

using syntax::Parameter;
using syntax::ParameterKind;
using syntax::Range;

namespace {

constexpr std::string_view kProducer = "sardonyx";

// Enters another activation, and comes back to this one.
class ActivationGuard {
  public:
    ActivationGuard(Context& c, std::shared_ptr<Scope> scope, const syntax::Stmts* body)
        : c_(c), before_(std::move(c.at)) {
        c.at = Context::Activation{};
        c.at.scope = std::move(scope);
        c.at.body = body;
    }
    ~ActivationGuard() { c_.at = std::move(before_); }
    ActivationGuard(const ActivationGuard&) = delete;
    ActivationGuard& operator=(const ActivationGuard&) = delete;

  private:
    Context& c_;
    Context::Activation before_;
};

// Enters another function of the model, and comes back to this one.
class UnitGuard {
  public:
    UnitGuard(Context& c, Unit& unit) : c_(c), unit_(c.unit), graph_(c.graph) {
        c.unit = &unit;
        c.graph = unit.graph;
    }
    ~UnitGuard() {
        c_.unit = unit_;
        c_.graph = graph_;
    }
    UnitGuard(const UnitGuard&) = delete;
    UnitGuard& operator=(const UnitGuard&) = delete;

  private:
    Context& c_;
    Unit* unit_;
    ir::Graph* graph_;
};

// A parameter of a script with what its annotation and default say.
struct BoundParameter {
    const Parameter* parameter;
    std::string_view name;
    Annotation annotation;
    bool has_default = false;
    Object default_value;
};

bool is_attribute_default(const Object& object) {
    return object.is(ObjectKind::kInt) || object.is(ObjectKind::kFloat) ||
           object.is(ObjectKind::kBool) || object.is(ObjectKind::kString);
}

// Runs in an activation of the function itself.
std::vector<BoundParameter> read_parameters(Context& c, const ScriptFunction& function) {
    std::vector<BoundParameter> all;
    for (const Parameter& parameter : function.definition->parameters->items) {
        if (parameter.kind == ParameterKind::kVarArgs ||
            parameter.kind == ParameterKind::kKeywordArgs) {
            c.report(kUnsupportedStatement, parameter.range,
                     "`*args` or `**kwargs` on a script: a graph has a fixed number of inputs")
                .with_help("name the inputs");
            continue;
        }
        BoundParameter one{&parameter, c.text(parameter.name), {}, false, {}};
        one.annotation = read_annotation(c, parameter.annotation);
        for (const auto& [name, value] : function.defaults) {
            if (name == one.name) {
                one.has_default = true;
                one.default_value = value;
            }
        }
        if (!one.has_default && parameter.default_value != nullptr) {
            one.has_default = true;
            one.default_value = eval(c, parameter.default_value);
        }
        all.push_back(std::move(one));
    }
    return all;
}

std::string_view docstring(const syntax::FunctionDefStmt* definition) {
    if (definition->body.empty()) {
        return {};
    }
    const auto* first = syntax::maybe_as<syntax::ExprStmt>(definition->body[0]);
    const auto* text =
        first != nullptr ? syntax::maybe_as<syntax::StringExpr>(first->value) : nullptr;
    return text != nullptr ? text->value : std::string_view{};
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
    if (c.at.result.is(ObjectKind::kTuple) ||
        (c.at.result.is(ObjectKind::kList) && !c.at.result.is_static())) {
        return c.at.result.items();
    }
    return std::vector<Object>{c.at.result};
}

// Dims that inference had to invent are named by the annotation; else what is inferred stands.
Type result_type(const Type& inferred, const Type& annotated) {
    std::optional<Type> both = merge(inferred, annotated);
    if (!both) {
        return inferred;
    }
    if (both->is_tensor() && both->has_shape() && annotated.has_shape() &&
        annotated.shape().size() == both->shape().size()) {
        Shape shape = both->shape();
        for (size_t i = 0; i < shape.size(); ++i) {
            if (shape[i].is_unknown() ||
                (shape[i].is_symbolic() && shape[i].to_string().rfind("unk__", 0) == 0)) {
                shape[i] = annotated.shape()[i];
            }
        }
        both->set_shape(std::move(shape));
    }
    return *both;
}

void check_result(Context& c, const ScriptFunction& function, const Annotation& annotation,
                  ir::Value* value, size_t index, size_t count) {
    Type annotated = annotation.type;
    if (!annotated.is_known()) {
        return;
    }
    if (!annotation.explicit_shape && c.unit->is_function) {
        annotated.set_shape(std::nullopt);
    }
    bool contradicts = !merge(annotated, value->type).has_value();
    if (!contradicts && annotated.is_tensor() && annotated.has_shape() && value->type.has_shape()) {
        for (size_t i = 0; i < annotated.shape().size(); ++i) {
            contradicts = contradicts || annotated.shape()[i].differs(value->type.shape()[i]);
        }
    }
    if (contradicts) {
        c.report(kReturnTypeMismatch, c.at.result_range,
                 fmt::format("`{}` returns `{}`{}, and its annotation says `{}`", function.name,
                             value->type.to_string(),
                             count > 1 ? fmt::format(" as result {}", index + 1) : std::string(),
                             annotated.to_string()))
            .label(function.tree->span(function.definition->returns->range), "annotated here")
            .with_help(fmt::format("annotate the result as `{}`, or change the body",
                                   value->type.to_string()));
        return;
    }
    value->type = result_type(value->type, annotated);
}

// The results as outputs of the unit's graph.
void add_outputs(Context& c, const ScriptFunction& function, const std::vector<Object>& objects) {
    std::optional<std::vector<Annotation>> annotations =
        read_results(c, function.definition->returns);
    if (annotations && annotations->size() != objects.size()) {
        c.report(kReturnTypeMismatch, c.at.result_range,
                 fmt::format("`{}` returns {} result{}, and its annotation says {}", function.name,
                             objects.size(), objects.size() == 1 ? "" : "s", annotations->size()))
            .label(c.span(function.definition->returns->range), "annotated here")
            .with_help("annotate as many results as there are");
        annotations.reset();
    }
    for (size_t i = 0; i < objects.size(); ++i) {
        const Annotation* annotation = annotations ? &(*annotations)[i] : nullptr;
        ElementType type =
            annotation != nullptr ? annotation->type.element_type() : ElementType::kUndefined;
        ir::Value* value = output_of(c, c.unit->graph, objects[i], type, c.at.result_range);
        if (value == nullptr) {
            return;
        }
        if (value->name.empty()) {
            value->name = c.model.intern(objects.size() == 1 ? std::string("return_val")
                                                             : fmt::format("return_val_{}", i));
        }
        if (annotation != nullptr) {
            check_result(c, function, *annotation, value, i, objects.size());
        }
    }
}

void run_body(Context& c, const ScriptFunction& function) {
    Jump jump = exec_body(c, function.definition->body);
    if (std::optional<std::vector<Object>> objects = returned_objects(c, function, jump)) {
        add_outputs(c, function, *objects);
    }
    remove_dead_nodes(c.model, *c.unit->graph);
    name_values(c.model, *c.unit->graph);
}

// --- As a function -------------------------------------------------------------------------------

void bind_function_parameter(Context& c, ir::Function& target, const BoundParameter& one) {
    Symbol symbol = one.parameter->name;
    const Annotation& annotation = one.annotation;
    if (annotation.is_attribute) {
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
    Type type = annotation.type;
    if (!annotation.explicit_shape) {
        // Bare FLOAT on a function says the element type: functions are called with any shape.
        type.set_shape(std::nullopt);
    }
    ir::Value* input = c.model.add_input(target.body, one.name, std::move(type));
    // A function that is called in this model is built for the inputs that the call gives.
    if (one.has_default && one.default_value.is_none() && c.building.size() == 1) {
        c.unit->optional_inputs.push_back(input);
    }
    c.at.scope->set(symbol, Object::tensor(input));
}

// `left_out` has an 'n' at the place of each parameter that is None in this call: `b is None` is
// decided where the function is called.
ir::Function* build_function(Context& c, const ScriptFunction& function, Range call_range,
                             const std::string& left_out) {
    auto found = c.functions.find({&function, left_out});
    if (found != c.functions.end()) {
        return found->second;
    }
    if (std::find(c.building.begin(), c.building.end(), &function) != c.building.end()) {
        c.report(kRecursiveScript, call_range,
                 fmt::format("`{}` calls itself: a graph cannot recurse", function.name))
            .label(function.name_span(), "defined here")
            .with_help("use a loop");
        return nullptr;
    }
    DepthGuard guard(c, call_range);
    if (!guard) {
        return nullptr;
    }
    size_t errors = c.program.diagnostics.error_count();
    c.building.push_back(&function);
    // Two scripts of one name, from two files, are two functions.
    std::string unique = function.name;
    for (int i = 1; c.model.find_function(function.opset.domain, unique) != nullptr; ++i) {
        unique = fmt::format("{}_{}", function.name, i);
    }
    ir::Function* target = c.model.add_function(function.opset.domain, unique);
    target->doc = c.model.intern(docstring(function.definition));
    Unit unit;
    unit.graph = target->body;
    unit.is_function = true;
    {
        UnitGuard in_unit(c, unit);
        ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                                &function.definition->body);
        std::vector<BoundParameter> parameters = read_parameters(c, function);
        for (size_t i = 0; i < parameters.size(); ++i) {
            if (i < left_out.size() && left_out[i] == 'n') {
                c.at.scope->set(parameters[i].parameter->name, Object::none());
            } else {
                bind_function_parameter(c, *target, parameters[i]);
            }
        }
        run_body(c, function);
    }
    target->opset_imports = std::move(unit.imports);
    c.building.pop_back();
    // Callees come first: onnx.reference knows a function only from its definition on.
    std::vector<ir::Function*>& all = c.model.functions;
    all.erase(std::find(all.begin(), all.end(), target));
    all.push_back(target);
    // A function with mistakes is called no further: each mistake is said once.
    ir::Function* result = c.program.diagnostics.error_count() == errors ? target : nullptr;
    c.functions.emplace(std::make_pair(&function, left_out), result);
    return result;
}

// --- Binding of calls ----------------------------------------------------------------------------

struct CallArgument {
    const Object* object = nullptr;  // null: not given
    Range range;
};

// The arguments of a call by parameter; false after a diagnostic. `variadic`: what *args takes.
bool bind_arguments(Context& c, std::string_view name, std::span<const Parameter> parameters,
                    const syntax::Tree& tree, const Arguments& arguments,
                    std::vector<CallArgument>& bound, std::vector<Object>* variadic) {
    bound.assign(parameters.size(), {});
    size_t next = 0;
    auto takes_position = [](const Parameter& parameter) {
        return parameter.kind == ParameterKind::kNormal ||
               parameter.kind == ParameterKind::kPositionalOnly;
    };
    size_t most =
        static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(), takes_position));
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        while (next < parameters.size() && !takes_position(parameters[next]) &&
               parameters[next].kind != ParameterKind::kVarArgs) {
            ++next;
        }
        if (next < parameters.size() && parameters[next].kind == ParameterKind::kVarArgs &&
            variadic != nullptr) {
            variadic->push_back(arguments.positional[i]);
            continue;
        }
        if (next >= parameters.size() || !takes_position(parameters[next])) {
            c.report(kArgumentMismatch, arguments.ranges[i],
                     fmt::format("`{}` takes {} argument{}, not {}", name, most,
                                 most == 1 ? "" : "s", arguments.positional.size()))
                .with_help("remove the rest");
            return false;
        }
        bound[next++] = {&arguments.positional[i], arguments.ranges[i]};
    }
    for (const KeywordArgument& keyword : arguments.keywords) {
        size_t i = 0;
        while (i < parameters.size() && (tree.names.text(parameters[i].name) != keyword.name ||
                                         parameters[i].kind == ParameterKind::kPositionalOnly)) {
            ++i;
        }
        if (i == parameters.size()) {
            c.report(kArgumentMismatch, keyword.name_range,
                     fmt::format("`{}` has no parameter `{}`", name, keyword.name))
                .with_help("use the names of its definition");
            return false;
        }
        if (bound[i].object != nullptr) {
            c.report(kDuplicateArgument, keyword.range,
                     fmt::format("`{}` is given twice", keyword.name))
                .label(c.span(bound[i].range), "given here first")
                .with_help("remove one of them");
            return false;
        }
        bound[i] = {&keyword.value, keyword.range};
    }
    return true;
}

// The body was compiled for the element types and ranks of the annotations: other arguments are
// mistakes.
bool check_argument(Context& c, const ScriptFunction& function, const BoundParameter& one,
                    const ir::Value* value, Range range) {
    Type wanted = one.annotation.type;
    if (!one.annotation.explicit_shape) {
        wanted.set_shape(std::nullopt);
    }
    if (merge(wanted, value->type).has_value()) {
        return true;
    }
    bool same_elements = wanted.element_type() == value->type.element_type();
    c.report(kArgumentMismatch, range,
             fmt::format("`{}` of `{}` is `{}`, and `{}` is given", one.name, function.name,
                         wanted.to_string(), value->type.to_string()))
        .label(function.tree->span(one.parameter->range), "the parameter")
        .with_help(same_elements
                       ? fmt::format("annotate the parameter as `{}[...]` if any shape will do",
                                     name(wanted.element_type()))
                       : fmt::format("cast it with `op.Cast(..., to={}.dtype)`",
                                     name(wanted.element_type())));
    return false;
}

// See build_function().
std::string left_out(const std::vector<BoundParameter>& parameters,
                     const std::vector<CallArgument>& bound) {
    std::string all;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Object* object = bound[i].object;
        if (object == nullptr && parameters[i].has_default) {
            object = &parameters[i].default_value;
        }
        bool is_none =
            object != nullptr && object->is_none() && !parameters[i].annotation.is_attribute;
        all += is_none ? 'n' : '-';
    }
    return all;
}

}  // namespace

Object call_script(Context& c, const ScriptFunction& function, const Arguments& arguments,
                   size_t wanted) {
    std::vector<BoundParameter> parameters;
    {
        ActivationGuard in_callee(c, std::make_shared<Scope>(&function, nullptr), nullptr);
        size_t said = c.program.diagnostics.items().size();
        parameters = read_parameters(c, function);
        c.program.diagnostics.truncate(said);  // said when the function is built
    }
    std::vector<CallArgument> bound;
    if (!bind_arguments(c, function.name, function.definition->parameters->items, *function.tree,
                        arguments, bound, nullptr)) {
        return Object::error();
    }
    ir::Function* target =
        build_function(c, function, arguments.range, left_out(parameters, bound));
    if (target == nullptr) {
        return Object::error();
    }
    NodeRequest request;
    std::vector<ir::Value*> inputs;
    std::vector<Range> ranges;
    std::vector<std::pair<std::string_view, Range>> attribute_ranges;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const BoundParameter& one = parameters[i];
        const Object* object = bound[i].object;
        Range range = object != nullptr ? bound[i].range : arguments.range;
        if (object == nullptr && one.has_default) {
            object = &one.default_value;
        }
        if (object == nullptr) {
            c.report(kArgumentMismatch, arguments.range,
                     fmt::format("`{}` needs `{}`", function.name, one.name))
                .label(function.tree->span(one.parameter->range), "the parameter")
                .with_help(fmt::format("give `{}`", one.name));
            return Object::error();
        }
        if (one.annotation.is_attribute) {
            if (object->is_none()) {
                continue;
            }
            std::optional<ir::Attribute> attribute =
                make_attribute(c, one.name, one.annotation.attribute_type, *object, range);
            if (!attribute) {
                return Object::error();
            }
            attribute_ranges.emplace_back(one.name, range);
            request.attributes.push_back(std::move(*attribute));
            continue;
        }
        if (object->is_none()) {
            continue;  // the function was built without it
        }
        ir::Value* value = as_value(c, *object, range, one.annotation.type.element_type());
        if (value == nullptr || !check_argument(c, function, one, value, range)) {
            return Object::error();
        }
        inputs.push_back(value);
        ranges.push_back(range);
    }
    size_t count = target->body->outputs.size();
    if (wanted != 0 && wanted != count) {
        c.report(kResultCount, arguments.range,
                 fmt::format("`{}` has {} result{}, and {} are unpacked", function.name, count,
                             count == 1 ? "" : "s", wanted))
            .with_help("unpack as many as there are");
        return Object::error();
    }
    import_opset(c, function.opset, arguments.callee_range);
    request.domain = function.opset.domain;
    request.op_type = target->name;
    request.inputs = inputs;
    request.output_count = count;
    request.range = arguments.range;
    request.input_ranges = ranges;
    request.attribute_ranges = attribute_ranges;
    ir::Node* node = emit_node(c, std::move(request));
    if (node == nullptr) {
        return Object::error();
    }
    if (count == 1) {
        return Object::tensor(node->output());
    }
    std::vector<Object> results;
    for (ir::Value* output : node->outputs()) {
        results.push_back(Object::tensor(output));
    }
    return Object::tuple(std::move(results));
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
        return eval(c, closure.lambda->body);
    }
    Jump jump = exec_body(c, closure.definition->body);
    return jump == Jump::kReturn ? c.at.result : Object::none();
}

const syntax::Stmts* body_of(const Closure& closure) {
    return closure.definition != nullptr ? &closure.definition->body : nullptr;
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
    if (!bind_arguments(c, name, parameters, tree, arguments, bound, &variadic)) {
        return Object::error();
    }
    auto scope = std::make_shared<Scope>(closure.scope->function, closure.scope);
    for (size_t i = 0; i < parameters.size(); ++i) {
        Object value = bound[i].object != nullptr ? *bound[i].object : closure.defaults[i];
        if (parameters[i].kind == ParameterKind::kVarArgs) {
            value = Object::tuple(variadic);
        }
        if (value.is_error()) {
            c.report(kArgumentMismatch, arguments.range,
                     fmt::format("`{}` needs `{}`", name, tree.names.text(parameters[i].name)))
                .label(tree.span(parameters[i].range), "the parameter");
            return Object::error();
        }
        scope->set(parameters[i].name, std::move(value));
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
        scope->set(parameters[i].name, Object::tensor(c.model.add_input(
                                           graph, c.text(parameters[i].name), std::move(type))));
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

std::vector<Type> body_types(std::string_view op_type, std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes) {
    std::vector<Type> types;
    if (op_type == "Scan") {
        return scan_types(inputs, attributes);
    }
    if (op_type == "Loop") {
        types.push_back(Type::tensor(ElementType::kInt64, Shape{}));
        types.push_back(Type::tensor(ElementType::kBool, Shape{}));
        for (size_t i = 2; i < inputs.size(); ++i) {
            types.push_back(inputs[i] != nullptr ? inputs[i]->type : Type());
        }
    }
    if (op_type == "SequenceMap") {
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

ir::Graph* body_graph(Context& c, std::string_view op_type, std::span<ir::Value* const> inputs,
                      std::span<const ir::Attribute> attributes, const Closure& closure,
                      Range range) {
    std::vector<Type> types = body_types(op_type, inputs, attributes);
    size_t said = c.program.diagnostics.items().size();
    ir::Graph* graph = closure_graph(c, closure, types, range);
    if (graph == nullptr || op_type != "Loop") {
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

void bind_model_attribute(Context& c, const BoundParameter& one) {
    for (const auto& [name, value] : c.options.attributes) {
        if (name == one.name) {
            c.at.scope->set(one.parameter->name, value);
            return;
        }
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

void bind_model_parameter(Context& c, const BoundParameter& one) {
    const Type* given = option_type(c.options, one.name);
    if (one.annotation.is_attribute ||
        (given == nullptr && one.parameter->annotation == nullptr && one.has_default &&
         is_attribute_default(one.default_value))) {
        bind_model_attribute(c, one);
        return;
    }
    if (given == nullptr && one.has_default) {
        c.at.scope->set(one.parameter->name, one.default_value);
        return;
    }
    Type type = given != nullptr ? *given : one.annotation.type;
    if (given == nullptr &&
        (!type.is_known() ||
         (type.is_tensor() && type.element_type() == ElementType::kUndefined))) {
        c.report(kMissingInputType, one.parameter->range,
                 fmt::format("the input `{}` of a model has no element type", one.name))
            .with_help(fmt::format("annotate it, as in `{}: FLOAT[...]`, or give its type when "
                                   "building the model",
                                   one.name));
    }
    c.at.scope->set(one.parameter->name,
                    Object::tensor(c.model.add_input(c.unit->graph, one.name, std::move(type))));
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

void check_option_names(Context& c, const ScriptFunction& function,
                        const std::vector<BoundParameter>& parameters) {
    for (const auto& [name, type] : c.options.input_types) {
        bool known = std::any_of(parameters.begin(), parameters.end(),
                                 [name = std::string_view(name)](const BoundParameter& one) {
                                     return one.name == name;
                                 });
        if (!known) {
            c.program.diagnostics
                .report(kArgumentMismatch, function.name_span(),
                        fmt::format("`{}` has no input `{}`", function.name, name))
                .with_help("use the names of its parameters");
        }
    }
}

}  // namespace

std::unique_ptr<ir::Model> compile_model(Program& program, const ScriptFunction& function,
                                         const Options& options) {
    auto model = std::make_unique<ir::Model>();
    Context c(program, options, *model);
    model->graph = model->make_graph(nullptr);
    model->graph->name = model->intern(function.name);
    model->graph->doc = model->intern(docstring(function.definition));
    model->producer_name =
        model->intern(function.producer_name.empty() ? kProducer : function.producer_name);
    model->producer_version = model->intern(function.producer_version);
    model->doc = model->intern(function.doc_string);
    model->ir_version = options.ir_version != 0 ? options.ir_version : function.ir_version;
    Unit unit;
    unit.graph = model->graph;
    UnitGuard in_unit(c, unit);
    c.building.push_back(&function);
    ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                            &function.definition->body);
    std::vector<BoundParameter> parameters = read_parameters(c, function);
    check_option_names(c, function, parameters);
    for (const BoundParameter& one : parameters) {
        bind_model_parameter(c, one);
    }
    run_body(c, function);
    for (size_t i = 0; i < options.output_types.size() && i < model->graph->outputs.size(); ++i) {
        ir::Value* output = model->graph->outputs[i];
        output->type = merge(options.output_types[i], output->type).value_or(output->type);
    }
    model->opset_imports = std::move(unit.imports);
    add_function_imports(*model);
    if (model->opset_imports.empty()) {
        model->opset_imports.push_back({"", operator_opset(c).version});
    }
    return model;
}

std::unique_ptr<ir::Model> compile_function(Program& program, const ScriptFunction& function,
                                            const Options& options) {
    auto model = std::make_unique<ir::Model>();
    Context c(program, options, *model);
    Unit unit;
    UnitGuard in_unit(c, unit);
    ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                            &function.definition->body);
    build_function(c, function, function.definition->name_range, {});
    // The script itself comes first, before those that it calls.
    std::vector<ir::Function*>& all = model->functions;
    std::rotate(all.begin(), all.end() - (all.empty() ? 0 : 1), all.end());
    return model;
}

}  // namespace sardonyx::elaborate
