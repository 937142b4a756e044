#include "elaborate/script_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "elaborate/activation.h"
#include "elaborate/emit.h"
#include "elaborate/exec.h"
#include "elaborate/functions.h"
#include "elaborate/jumps.h"
#include "elaborate/type_text.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr size_t kMaxMistakes = 100;
// Functions further than this from the end of a chain of calls are built from the end.
constexpr int kFarCallee = 8;

// Takes back what has been reported from `said` on; each finding once.
std::vector<diagnostics::Diagnostic> take_findings(Context& c, size_t said) {
    const std::deque<diagnostics::Diagnostic>& items = c.program.diagnostics.items();
    std::vector<diagnostics::Diagnostic> taken;
    for (size_t i = said; i < items.size() && taken.size() < kMaxMistakes; ++i) {
        bool is_new = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
            return other.kind == items[i].kind && other.message == items[i].message &&
                   other.labels[0].span == items[i].labels[0].span;
        });
        if (is_new) {
            taken.push_back(items[i]);
        }
    }
    c.program.diagnostics.truncate(said);
    return taken;
}

// --- Building ------------------------------------------------------------------------------------

ir::Function* add_function(Context& c, const ScriptFunction& function, const std::string& suffix) {
    const std::string& domain = function.opset.domain;
    // Never an overload of one name: ONNX Runtime does not find those that functions call, and
    // onnx.reference does not look at overloads.
    std::string base = function.name + (suffix.empty() ? "" : "__" + suffix);
    // Two scripts of one name, from two files, are two functions.
    std::string name = base;
    for (int i = 1; c.model.find_function(domain, name, "") != nullptr; ++i) {
        name = fmt::format("{}_{}", base, i);
    }
    return c.model.add_function(domain, name, "");
}

// The value of a static argument inside the function: its tensors are inputs.
Object bind_static(Context& c, ir::Function& target, const std::vector<BoundParameter>& parameters,
                   const BoundParameter& one, const Fact& fact, Detail detail) {
    int count = 0;
    return replace_tensors(fact.object, [&](const Object& tensor) {
        bool is_number = tensor.is_number_tensor();
        Type type = is_number            ? tensor.value()->type
                    : tensor.is_tensor() ? known_type(tensor.value()->type, detail)
                                         : Type();
        std::string name;
        do {
            name = fmt::format("{}_{}", one.name, count++);
        } while (std::any_of(parameters.begin(), parameters.end(),
                             [&name](const BoundParameter& other) { return other.name == name; }));
        ir::Value* input = c.model.add_input(target.body, name, std::move(type));
        return is_number                  ? Object::number(input)
               : tensor.is_shape_tensor() ? Object::shape(input)
                                          : Object::tensor(input);
    });
}

void check_unchanged(Context& c, const ScriptFunction& function, const BoundParameter& one,
                     const std::optional<std::string>& before, const Object& after) {
    if (before == object_key(c, after)) {
        return;
    }
    c.report(kUnsupportedStatement, one.parameter->range,
             fmt::format("`{}` changes `{}`, which belongs to its caller", function.name, one.name))
        .with_help("return the changed value, or use `@script(inline=True)`");
}

void build_body(Context& c, const ScriptFunction& function, ir::Function& target,
                const std::vector<Fact>& facts, Detail detail) {
    const std::vector<BoundParameter>& parameters = read_parameters(c, function, true);
    std::vector<std::pair<Object, std::optional<std::string>>> given;
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (facts[i].passing == Fact::Passing::kStatic) {
            Object object = bind_static(c, target, parameters, parameters[i], facts[i], detail);
            given.emplace_back(object, object_key(c, object));
            c.at.scope->set(parameters[i].parameter->name, std::move(object));
        } else {
            given.emplace_back();
            bind_function_parameter(c, target, parameters[i], facts[i]);
        }
    }
    for (const BoundParameter& one : parameters) {
        note_type(c, one.parameter->range, *c.at.scope->find(one.parameter->name));
    }
    run_body(c, function);
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (facts[i].passing == Fact::Passing::kStatic) {
            check_unchanged(c, function, parameters[i], given[i].second, given[i].first);
        }
    }
}

// A mistake that another caller may not meet: it depends on what is being built, or on limits.
bool depends_on_caller(const Context& c, const std::vector<diagnostics::Diagnostic>& mistakes) {
    return c.gave_up ||
           std::any_of(mistakes.begin(), mistakes.end(), [](const diagnostics::Diagnostic& one) {
               return one.kind == &kRecursiveScript || one.kind == &kLimitExceeded;
           });
}

// The function in Program::failed; nothing where it cannot be kept beyond this compilation.
std::optional<std::pair<const ScriptFunction*, std::string>> failure_key(
    Context& c, const ScriptFunction& function, const std::vector<Fact>& facts,
    const std::string& key) {
    bool is_static = std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
        return fact.passing == Fact::Passing::kStatic;
    });
    if (is_static || !function.is_of_file || c.program.wants_types) {
        return std::nullopt;
    }
    return std::make_pair(&function, fmt::format("{}\n{}", opsets_around(c), key));
}

// Callees come first: onnx.reference knows a function only from its definition on.
void move_behind_callees(ir::Model& model, const ir::Function* target) {
    auto found = std::find(model.functions.rbegin(), model.functions.rend(), target);
    std::rotate(model.functions.rbegin(), found, found + 1);
}

}  // namespace

Specialisation build_function(Context& c, const ScriptFunction& function, Range call_range,
                              const std::vector<Fact>& facts, Detail detail,
                              const std::string& key) {
    auto id = std::make_pair(&function, key);
    auto found = c.functions.find(id);
    if (found != c.functions.end()) {
        return found->second;
    }
    size_t said = c.program.diagnostics.items().size();
    size_t errors = c.program.diagnostics.error_count();
    Specialisation made;
    made.facts = std::make_shared<std::vector<Fact>>(facts);
    if (std::find(c.building.begin(), c.building.end(), id) != c.building.end()) {
        c.report(kRecursiveScript, call_range,
                 fmt::format("`{}` calls itself: a graph cannot recurse", function.name))
            .label(function.name_span(), "defined here")
            .with_help(
                "use a loop, or let an argument that is known at compile time end the recursion");
        made.mistakes = take_findings(c, said);
        return made;
    }
    if (auto failure =
            c.program.failed.empty() ? std::nullopt : failure_key(c, function, facts, key)) {
        auto failed = c.program.failed.find(*failure);
        if (failed != c.program.failed.end()) {
            made.mistakes = failed->second;
            return c.functions.insert_or_assign(std::move(id), std::move(made)).first->second;
        }
    }
    DepthGuard guard(c, call_range);
    if (guard) {
        ++c.program.built;
        c.building.push_back(id);
        ir::Function* target = add_function(
            c, function, fact_suffix(read_parameters(c, function, false), facts, detail));
        target->doc = c.model.intern(docstring(function.definition));
        Unit unit;
        unit.function = &function;
        unit.caller = c.unit;
        unit.graph = target->body;
        unit.is_function = true;
        {
            UnitGuard in_unit(c, unit);
            ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                                    &function.definition->body);
            build_body(c, function, *target, facts, detail);
        }
        target->opset_imports = std::move(unit.imports);
        c.building.pop_back();
        if (c.program.diagnostics.error_count() == errors && !c.gave_up) {
            move_behind_callees(c.model, target);
            made.function = target;
        } else {
            c.model.remove_function(target);
        }
    }
    if (made.function == nullptr) {
        made.mistakes = take_findings(c, said);
        auto failure = failure_key(c, function, facts, key);
        if (failure && guard && !depends_on_caller(c, made.mistakes)) {
            c.program.failed.emplace(*std::move(failure), made.mistakes);
        }
    }
    return c.functions.insert_or_assign(std::move(id), std::move(made)).first->second;
}

void report_again(Context& c, const std::vector<diagnostics::Diagnostic>& findings) {
    for (const diagnostics::Diagnostic& finding : findings) {
        c.program.diagnostics.add(finding);
    }
}

std::vector<Fact> annotated_facts(const std::vector<BoundParameter>& parameters) {
    std::vector<Fact> facts(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Annotation& annotation = parameters[i].annotation;
        if (parameters[i].is_self) {
            facts[i].passing = Fact::Passing::kStatic;
            facts[i].object = parameters[i].default_value;
            continue;
        }
        if (annotation.is_attribute) {
            facts[i].passing = Fact::Passing::kAttribute;
            continue;
        }
        facts[i].type = annotation.type;
        if (!annotation.explicit_shape) {
            facts[i].type.set_shape(std::nullopt);
        }
    }
    return facts;
}

// --- Calls ---------------------------------------------------------------------------------------

namespace {

// The arguments of a call, by parameter; nothing after a diagnostic.
std::optional<std::vector<Fact>> arguments_of(Context& c, const ScriptFunction& function,
                                              const std::vector<BoundParameter>& parameters,
                                              Arguments arguments) {
    if (function.self) {
        arguments.positional.insert(arguments.positional.begin(), *function.self);
        arguments.ranges.insert(arguments.ranges.begin(), arguments.callee_range);
    }
    std::vector<CallArgument> bound;
    std::vector<Object> variadic;
    if (parameters.size() != function.definition->parameters->items.size() ||
        !bind_arguments(c, function.name, function.definition->parameters->items, *function.tree,
                        arguments, bound, variadic)) {
        return std::nullopt;
    }
    std::vector<Fact> all;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const BoundParameter& one = parameters[i];
        Fact fact{{}, {}, arguments.range, {}};
        if (one.is_variadic()) {
            fact.object = Object::tuple(variadic);
        } else if (one.parameter->kind == syntax::ParameterKind::kKeywordArgs) {
            fact.object = Object::none();
        } else if (bound[i].object != nullptr) {
            fact.object = *bound[i].object;
            fact.range = bound[i].range;
        } else if (one.has_default) {
            fact.object = one.default_value;
        } else {
            c.report(kArgumentMismatch, arguments.range,
                     fmt::format("`{}` needs `{}`", function.name, one.name))
                .label(function.tree->span(one.parameter->range), "the parameter")
                .with_help(fmt::format("give `{}`", one.name));
            return std::nullopt;
        }
        if (fact.object.is_error()) {
            return std::nullopt;
        }
        all.push_back(std::move(fact));
    }
    return all;
}

// An argument that has become an input of the call.
struct CallInput {
    const BoundParameter* parameter;
    ir::Value* value;
    Range range;
};

// The type that the function is compiled for, whatever names its dimensions have.
Type parameter_type(const BoundParameter& one) {
    Type type = one.annotation.type;
    if (!one.annotation.explicit_shape) {
        type.set_shape(std::nullopt);
    }
    return type;
}

// The body was compiled for the element types, ranks and dimensions of the annotations: other
// arguments are mistakes.
bool check_arguments(Context& c, const ScriptFunction& function,
                     const std::vector<CallInput>& inputs, DimBindings& dims) {
    for (const CallInput& input : inputs) {
        dims.bind(parameter_type(*input.parameter), input.value->type, c.span(input.range));
    }
    bool all = true;
    for (const CallInput& input : inputs) {
        Type wanted = parameter_type(*input.parameter);
        const Type& given = input.value->type;
        std::optional<DimBindings::Conflict> conflict = dims.conflict(wanted, given);
        if (!conflict && merge(dims.substitute(wanted, DimBindings::Unbound::kUnknown), given)) {
            continue;
        }
        all = false;
        diagnostics::Diagnostic& reported =
            c.report(kArgumentMismatch, input.range,
                     fmt::format("`{}` of `{}` is `{}`, and `{}` is given", input.parameter->name,
                                 function.name, type_text(wanted), type_text(given)));
        if (conflict) {
            label_binding(reported, *conflict);
        }
        reported.label(function.tree->span(input.parameter->parameter->range), "the parameter");
        if (wanted.element_type() != given.element_type()) {
            reported.with_help(fmt::format("cast it with `op.Cast(..., to={}.dtype)`",
                                           name(wanted.element_type())));
        } else if (conflict && !conflict->name.empty()) {
            reported.with_help("give arguments whose dimensions agree");
        } else {
            reported.with_help(
                fmt::format("annotate the parameter as `{}[...]` if any shape will do",
                            name(wanted.element_type())));
        }
    }
    return all;
}

// The inputs and attributes of the node that calls a function built for these facts.
struct CallOperands {
    std::vector<ir::Value*> inputs;
    std::vector<Range> ranges;
    std::vector<ir::Attribute> attributes;
    std::vector<std::pair<std::string_view, Range>> attribute_ranges;
};

bool add_static(Context& c, const Fact& fact, CallOperands& operands) {
    bool ok = true;
    replace_tensors(fact.object, [&](const Object& tensor) {
        operands.inputs.push_back(tensor.is_tensor() ? tensor.value()
                                                     : as_value(c, tensor, fact.range));
        operands.ranges.push_back(fact.range);
        ok = ok && operands.inputs.back() != nullptr;
        return tensor;
    });
    return ok;
}

std::optional<CallOperands> operands_of(Context& c, const ScriptFunction& function,
                                        const std::vector<BoundParameter>& parameters,
                                        const std::vector<Fact>& facts) {
    CallOperands operands;
    std::vector<CallInput> given;
    for (size_t i = 0; i < facts.size(); ++i) {
        const BoundParameter& one = parameters[i];
        const Fact& fact = facts[i];
        if (fact.passing == Fact::Passing::kStatic) {
            if (!add_static(c, fact, operands)) {
                return std::nullopt;
            }
        } else if (fact.passing == Fact::Passing::kAttribute) {
            std::optional<ir::Attribute> attribute =
                make_attribute(c, one.name, one.annotation.attribute_type, fact.object, fact.range);
            if (!attribute) {
                return std::nullopt;
            }
            operands.attribute_ranges.emplace_back(one.name, fact.range);
            operands.attributes.push_back(std::move(*attribute));
        } else {
            ir::Value* value =
                is_open_number(one, fact)
                    ? fact.object.value()
                    : as_value(c, fact.object, fact.range, one.annotation.type.element_type());
            if (value == nullptr) {
                return std::nullopt;
            }
            given.push_back({&one, value, fact.range});
            operands.inputs.push_back(value);
            operands.ranges.push_back(fact.range);
        }
    }
    DimBindings dims;
    return check_arguments(c, function, given, dims) ? std::optional(std::move(operands))
                                                     : std::nullopt;
}

// The node that calls the function; null after a diagnostic.
ir::Node* emit_call(Context& c, const ScriptFunction& function, const ir::Function& target,
                    CallOperands operands, const Arguments& arguments) {
    import_opset(c, function.opset, arguments.callee_range);
    NodeRequest request;
    request.domain = function.opset.domain;
    request.op_type = target.name;
    request.overload = target.overload;
    request.inputs = operands.inputs;
    request.attributes = std::move(operands.attributes);
    request.output_count = target.body->outputs.size();
    request.range = arguments.range;
    request.input_ranges = operands.ranges;
    request.attribute_ranges = operands.attribute_ranges;
    size_t errors = c.program.diagnostics.error_count();
    ir::Node* node = emit_node(c, std::move(request));
    if (node != nullptr && c.program.diagnostics.error_count() != errors) {
        c.graph->remove(node);
        return nullptr;
    }
    return node;
}

Object results_of(Context& c, const ScriptFunction& function, const ir::Node& node,
                  const Arguments& arguments, size_t wanted) {
    size_t count = node.output_count();
    if (wanted != 0 && wanted != count) {
        c.report(kResultCount, arguments.range,
                 fmt::format("`{}` has {} result{}, and {} are unpacked", function.name, count,
                             count == 1 ? "" : "s", wanted))
            .with_help("unpack as many as there are");
        return Object::error();
    }
    if (count == 1) {
        return Object::tensor(node.output());
    }
    std::vector<Object> results;
    for (ir::Value* output : node.outputs()) {
        results.push_back(Object::tensor(output));
    }
    return Object::tuple(std::move(results));
}

// Runs the body in place: all that the caller knows of an argument is known there.
Object call_inline(Context& c, const ScriptFunction& function,
                   const std::vector<BoundParameter>& parameters, const std::vector<Fact>& given,
                   const Arguments& arguments) {
    DepthGuard guard(c, arguments.range);
    if (!guard) {
        return Object::error();
    }
    auto scope = std::make_shared<Scope>(&function, nullptr);
    std::vector<CallInput> inputs;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const BoundParameter& one = parameters[i];
        Object object = given[i].object;
        if (one.annotation.type.is_tensor() && !object.is_none() && !one.is_variadic()) {
            ir::Value* value =
                as_value(c, object, given[i].range, one.annotation.type.element_type());
            if (value == nullptr) {
                return Object::error();
            }
            inputs.push_back({&one, value, given[i].range});
            object = Object::tensor(value);
        } else if (object.is(ObjectKind::kConstant) && !function.definition->decorators.empty()) {
            // What a script gets where nothing says that it is an attribute is a tensor, as it is
            // when it is called eagerly.
            ir::Value* value = as_value(c, object, given[i].range);
            if (value == nullptr) {
                return Object::error();
            }
            object = Object::tensor(value);
        }
        scope->set(one.parameter->name, std::move(object));
    }
    DimBindings dims;
    if (!check_arguments(c, function, inputs, dims)) {
        return Object::error();
    }
    (void)operator_opset(c);  // the caller's is settled before the body may settle it
    size_t said = c.program.diagnostics.items().size();
    size_t errors = c.program.diagnostics.error_count();
    diagnostics::Span call_site = c.span(arguments.range);
    ActivationGuard in_body(c, scope, &function.definition->body);
    (void)read_parameters(c, function, true);
    std::swap(c.unit->dims, dims);  // names of dimensions in the body are the function's own
    Jump jump = exec_body(c, function.definition->body);
    std::swap(c.unit->dims, dims);
    if (c.program.diagnostics.error_count() > errors) {
        c.program.diagnostics.label_callers(said, call_site, "called here");
    }
    return jump == Jump::kReturn ? c.at.result : Object::none();
}

// Whether it is a function without a decorator that assigns to items of what its caller gives it.
bool changes_arguments(const ScriptFunction& function) {
    const syntax::FunctionDefStmt& definition = *function.definition;
    std::span<const syntax::Parameter> parameters = definition.parameters->items;
    return definition.decorators.empty() &&
           std::any_of(parameters.begin(), parameters.end(), [&](const syntax::Parameter& one) {
               return target_use(definition.body, one.name).items;
           });
}

bool runs_in_place(Context& c, const ScriptFunction& function, const std::vector<Fact>& given) {
    return function.is_inline || changes_arguments(function) ||
           std::any_of(given.begin(), given.end(),
                       [&c](const Fact& fact) { return captures_tensors(c, fact.object); });
}

}  // namespace

Object call_script(Context& c, const ScriptFunction& function, const Arguments& arguments,
                   size_t wanted) {
    const std::vector<BoundParameter>& parameters = read_parameters(c, function, false);
    std::optional<std::vector<Fact>> given = arguments_of(c, function, parameters, arguments);
    if (!given) {
        return Object::error();
    }
    if (runs_in_place(c, function, *given)) {
        Object result = call_inline(c, function, parameters, *given, arguments);
        if (!result.is_error()) {
            c.program.called.insert(&function);
        }
        return result;
    }
    std::vector<diagnostics::Diagnostic> mistakes;
    std::optional<std::string> before;
    for (Detail detail : {Detail::kAnnotations, Detail::kRanks, Detail::kShapes}) {
        std::vector<Fact> facts = facts_of(parameters, *given, detail);
        std::optional<std::string> key = fact_key(c, facts, detail);
        auto is_list_of_run = [](const Fact& fact) { return fact.object.is_numbers(); };
        if (!key && std::any_of(facts.begin(), facts.end(), is_list_of_run)) {
            c.report(kUnsupportedOperand, arguments.range,
                     fmt::format("a list whose length the run decides, as an argument of `{}`",
                                 function.name))
                .with_help("annotate the parameter as a tensor, or make the function a plain one");
            return Object::error();
        }
        if (!key) {
            c.report(kLimitExceeded, arguments.range,
                     fmt::format("an argument of `{}` that is too large to be compared with those "
                                 "of other calls",
                                 function.name))
                .with_help("pass a tensor");
            return Object::error();
        }
        if (key == before || c.gave_up) {
            continue;
        }
        before = key;
        size_t said = c.program.diagnostics.items().size();
        Specialisation built = build_function(c, function, arguments.range, facts, detail, *key);
        if (built.function == nullptr) {
            mistakes = built.mistakes;
            continue;
        }
        std::optional<CallOperands> operands = operands_of(c, function, parameters, facts);
        ir::Node* node =
            operands ? emit_call(c, function, *built.function, std::move(*operands), arguments)
                     : nullptr;
        if (node != nullptr) {
            c.program.called.insert(&function);
            return results_of(c, function, *node, arguments, wanted);
        }
        mistakes = take_findings(c, said);
    }
    report_again(c, mistakes);
    return Object::error();
}

// --- Long chains ---------------------------------------------------------------------------------

namespace {

// The scripts that the body calls by name.
std::vector<std::shared_ptr<ScriptFunction>> callees(Context& c, const ScriptFunction& function) {
    std::vector<std::shared_ptr<ScriptFunction>> found;
    for (const auto& [name, object] :
         outer_objects(c, function, &BlockReads::called, ObjectKind::kScript)) {
        found.push_back(std::static_pointer_cast<ScriptFunction>(object.pointer()));
    }
    return found;
}

struct Visit {
    std::shared_ptr<const ScriptFunction> function;
    std::vector<std::shared_ptr<ScriptFunction>> callees;
    size_t next = 0;
    int height = 0;  // the longest chain of calls from here
};

void build_ahead(Context& c, const ScriptFunction& function) {
    const std::vector<BoundParameter>& parameters = read_parameters(c, function, false);
    std::vector<Fact> facts = annotated_facts(parameters);
    std::optional<std::string> key = fact_key(c, facts, Detail::kAnnotations);
    bool has_fixed_parameters =
        std::none_of(parameters.begin(), parameters.end(), [](const BoundParameter& one) {
            return one.is_variadic() || one.parameter->kind == syntax::ParameterKind::kKeywordArgs;
        });
    if (key && has_fixed_parameters && !function.is_inline) {
        Specialisation built = build_function(c, function, function.definition->name_range, facts,
                                              Detail::kAnnotations, *key);
        if (c.gave_up) {
            report_again(c, built.mistakes);
        }
    }
}

}  // namespace

void build_far_callees(Context& c, const ScriptFunction& function) {
    std::map<const ScriptFunction*, int> heights;
    std::vector<Visit> stack;
    auto has_failed = [&c](const ScriptFunction* one) {
        auto found = c.program.failed.lower_bound({one, std::string()});
        return found != c.program.failed.end() && found->first.first == one;
    };
    auto push = [&](std::shared_ptr<const ScriptFunction> next) {
        if (has_failed(next.get())) {
            return;  // and those that it calls need not be built
        }
        if (heights.emplace(next.get(), 0).second) {
            std::vector<std::shared_ptr<ScriptFunction>> called = callees(c, *next);
            stack.push_back({std::move(next), std::move(called)});
        }
    };
    push(std::shared_ptr<const ScriptFunction>(std::shared_ptr<void>(), &function));
    while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.next < top.callees.size()) {
            push(top.callees[top.next++]);
            continue;
        }
        int height = 0;
        for (const std::shared_ptr<ScriptFunction>& callee : top.callees) {
            height = std::max(height, heights[callee.get()] + 1);
        }
        heights[top.function.get()] = height;
        if (height > 0 && height % kFarCallee == 0 && stack.size() > 1 && !c.gave_up) {
            build_ahead(c, *top.function);
        }
        stack.pop_back();
    }
}

namespace {

void add_calls(const ir::Model& model, const ir::Graph& graph,
               std::vector<const ir::Function*>& open) {
    for (const ir::Node& node : graph) {
        if (const ir::Function* callee =
                model.find_function(node.domain, node.op_type, node.overload)) {
            open.push_back(callee);
        }
        for (const ir::Attribute& attribute : node.attributes) {
            if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                add_calls(model, **inner, open);
            }
        }
    }
}

}  // namespace

void remove_unused_functions(ir::Model& model, const ir::Function* root) {
    std::vector<const ir::Function*> open;
    std::unordered_set<const ir::Function*> used;
    if (root != nullptr) {
        open.push_back(root);
    }
    if (model.graph != nullptr) {
        add_calls(model, *model.graph, open);
    }
    while (!open.empty()) {
        const ir::Function* function = open.back();
        open.pop_back();
        if (used.insert(function).second) {
            add_calls(model, *function->body, open);
        }
    }
    std::vector<ir::Function*> all = model.functions;
    for (ir::Function* function : all) {
        if (used.count(function) == 0) {
            model.remove_function(function);
        }
    }
}

}  // namespace sardonyx::elaborate
