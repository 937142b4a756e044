// Calls of nested functions and lambdas, which run in place, and their bodies as subgraphs.
#include "elaborate/closures.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/activation.h"
#include "elaborate/annotations.h"
#include "elaborate/emit/trial.h"
#include "elaborate/expressions.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/jumps.h"
#include "elaborate/library/builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/generators.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

using syntax::Parameter;
using syntax::ParameterKind;
using syntax::Range;

namespace {

// --- Nested functions ----------------------------------------------------------------------------

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
    scope->parameters = arguments.parameters;
    for (const auto& [name, value] : arguments.values()) {
        scope->set(name, value);
    }
    diagnostics::Checkpoint before(c.program.diagnostics);
    Trial trial(c);
    ir::Graph* outer = c.graph;
    c.graph = c.model.make_graph(outer);
    c.graph->name = kPythonGraph;
    c.runs_file = true;
    Object result;
    {
        ActivationGuard in_closure(c, scope, body_of(closure));
        result = run_closure(c, closure);
    }
    bool is_known = !before.has_errors() && c.graph->last_node() == nullptr && result.is_static();
    ir::Graph* tried = std::exchange(c.graph, outer);
    c.runs_file = false;
    if (is_known || c.gave_up) {
        return result;
    }
    trial.take_back(*tried);
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
    std::string name = closure_name(closure);
    std::optional<BoundArguments> bound = bind_arguments(c, name, parameters, tree, arguments);
    if (!bound) {
        return Object::error();
    }
    auto scope = std::make_shared<Scope>(closure.scope->function, closure.scope);
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Object* given = bound->by_parameter[i].object;
        Object value = given != nullptr ? *given : closure.defaults[i];
        if (given == nullptr && !c.runs_file && closure.scope->function->definition == nullptr) {
            note_foreign(c, value);  // of the file: one object for all runs
        }
        if (parameters[i].kind == ParameterKind::kVarArgs) {
            value = Object::tuple(bound->variadic);
        } else if (parameters[i].kind == ParameterKind::kKeywordArgs) {
            value = Object::dict(std::move(bound->others));
            claim(c, value);
        }
        if (is_unknown(value)) {
            report_unknown(c, value, tree.names.text(parameters[i].name), arguments.range);
            return Object::error();
        }
        if (value.is_error() && given == nullptr && parameters[i].default_value != nullptr &&
            c.program.diagnostics.has_errors()) {
            return value;  // why there is no default has been said where it stands
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
    scope->parameters = parameters_of(closure);
    if (closure.definition != nullptr && is_generator(c, closure.definition->body)) {
        return make_generator(c, scope, closure.definition->body, arguments.range,
                              [closure, scope, site = c.span(arguments.range)](
                                  Context& user, const std::shared_ptr<Yields>& yields) {
                                  diagnostics::Checkpoint said(user.program.diagnostics);
                                  ActivationGuard in_closure(user, scope, body_of(closure));
                                  user.at.yields = yields;
                                  run_closure(user, closure);
                                  said.label_callers(site, "called here");
                              });
    }
    if (std::optional<Object> result = run_as_python(c, closure, *scope)) {
        return *result;
    }
    diagnostics::Checkpoint said(c.program.diagnostics);
    diagnostics::Span call_site = c.span(arguments.range);
    ActivationGuard in_closure(c, scope, body_of(closure));
    Object result = run_closure(c, closure);
    said.label_callers(call_site, "called here");
    return result;
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
    scope->home = graph;
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
    diagnostics::Checkpoint before(c.program.diagnostics);
    Object result = run_closure(c, closure);
    Range result_range = c.at.result_range;
    c.graph = outer;
    if (result.is_error() || result.is_none() || before.has_errors()) {
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

}  // namespace sardonyx::elaborate
