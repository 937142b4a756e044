// Calls of scripts: their arguments as operands of a function of the model, or in place.
#include "elaborate/script_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/activation.h"
#include "elaborate/annotations.h"
#include "elaborate/emit/as_value.h"
#include "elaborate/emit/attributes.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/facts.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/jumps.h"
#include "elaborate/library/builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/aliases.h"
#include "elaborate/scopes/generators.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/script_functions.h"
#include "elaborate/signature.h"
#include "types/known_sizes.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// --- Calls ---------------------------------------------------------------------------------------

// An argument of an OPTIONAL parameter, for which what it may hold is given as well, and None.
Object as_optional(Context& c, const Type& wanted, const Object& given, Range range) {
    Emitter e(c, range);
    ir::Value* result = nullptr;
    if (given.is_none()) {
        Type held = with_known_sizes(wanted.element());  // names of dimensions are the callee's own
        result = e.emit("Optional", {}, {ir::make_attribute("type", std::move(held))});
    } else if (is_optional_value(given) || (given.is_tensor() && !given.value()->type.is_known())) {
        return given;
    } else if (ir::Value* held = as_value(c, given, range, wanted.element().element_type())) {
        result = e.emit("Optional", {held});
    }
    return result != nullptr ? Object::tensor(result) : Object::error();
}

// The arguments of a call, by parameter; nothing after a diagnostic.
std::optional<std::vector<Fact>> arguments_of(Context& c, const ScriptFunction& function,
                                              const std::vector<BoundParameter>& parameters,
                                              const Arguments& given) {
    std::optional<Arguments> of_method;
    if (function.self) {
        of_method = given;
        of_method->positional.insert(of_method->positional.begin(), *function.self);
        of_method->ranges.insert(of_method->ranges.begin(), given.callee_range);
    }
    const Arguments& arguments = of_method ? *of_method : given;
    std::span<const syntax::Parameter> written = function.definition->parameters->items;
    if (parameters.size() != written.size()) {
        return std::nullopt;
    }
    std::optional<BoundArguments> bound =
        bind_arguments(c, function.name, written, *function.tree, arguments);
    if (!bound) {
        return std::nullopt;
    }
    std::vector<Fact> all;
    all.reserve(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
        const BoundParameter& one = parameters[i];
        Fact fact{{}, {}, arguments.range, {}};
        if (one.is_variadic()) {
            fact.object = Object::tuple(bound->variadic);
        } else if (one.parameter->kind == syntax::ParameterKind::kKeywordArgs) {
            fact.object = Object::dict(std::move(bound->others));
            claim(c, fact.object);
        } else if (bound->by_parameter[i].object != nullptr) {
            // A script gets a scalar of NumPy as a tensor where nothing says that it is an
            // attribute, as it does when it is called eagerly.
            bool is_tensor = !function.is_plain && !one.annotation.is_attribute;
            fact.object = is_tensor ? as_array_scalar(*bound->by_parameter[i].object)
                                    : *bound->by_parameter[i].object;
            fact.range = bound->by_parameter[i].range;
        } else if (one.has_default) {
            fact.object = one.default_value;
            if (function.is_inline || function.is_plain) {
                note_foreign(c, fact.object);  // one object for all calls, also those of Python
            }
        } else {
            c.report(kArgumentMismatch, arguments.range,
                     fmt::format("`{}` needs `{}`", function.name, one.name))
                .label(function.tree->span(one.parameter->range), "the parameter")
                .with_help(fmt::format("give `{}`", one.name));
            return std::nullopt;
        }
        if (one.annotation.type.kind() == TypeKind::kOptional && !fact.object.is_error()) {
            fact.object = as_optional(c, one.annotation.type, fact.object, fact.range);
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
        if (!wanted.is_tensor()) {
            reported.with_help("give a value of that type");
        } else if (wanted.element_type() != given.element_type()) {
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
    diagnostics::Checkpoint before(c.program.diagnostics);
    ir::Node* node = emit_node(c, std::move(request));
    if (node != nullptr && before.has_errors()) {
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
    scope->parameters = function.definition->parameters;
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
        } else if ((object.is(ObjectKind::kConstant) || object.is_array_part()) &&
                   !function.is_plain) {
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
    auto run = [scope, dims, &function, site = c.span(arguments.range)](
                   Context& user, const std::shared_ptr<Yields>& yields) {
        diagnostics::Checkpoint said(user.program.diagnostics);
        ActivationGuard in_body(user, scope, &function.definition->body);
        user.at.yields = yields;
        (void)check_parameters(user, function);
        DimBindings own = dims;
        std::swap(user.unit->dims, own);  // names of dimensions in the body are the function's own
        Jump jump = exec_body(user, function.definition->body);
        std::swap(user.unit->dims, own);
        said.label_callers(site, "called here");
        return jump == Jump::kReturn ? user.at.result : Object::none();
    };
    return function.is_plain && is_generator(c, function.definition->body)
               ? make_generator(c, scope, function.definition->body, arguments.range, run)
               : run(c, nullptr);
}

// Whether it is a plain function that assigns to items of what its caller gives it.
bool changes_arguments(const ScriptFunction& function) {
    const syntax::FunctionDefStmt& definition = *function.definition;
    std::span<const syntax::Parameter> parameters = definition.parameters->items;
    return function.is_plain &&
           std::any_of(parameters.begin(), parameters.end(), [&](const syntax::Parameter& one) {
               return target_use(definition.body, one.name).items;
           });
}

// Whether it is a named tuple or an instance that a script has made, or holds one: a function of
// the model takes their tensors apart, and would not know the class.
bool has_class(const Object& object) {
    const Namespace* own = as_namespace(object);
    bool found = object.tuple_class() != nullptr ||
                 (own != nullptr && own->kind == Namespace::Kind::kInstance && own->is_of_script);
    if (!found && (object.is_sequence() || object.is(ObjectKind::kDict))) {
        each_part(object, [&found](const Object& part) { found = found || has_class(part); });
    }
    return found;
}

bool runs_in_place(Context& c, const ScriptFunction& function, const std::vector<Fact>& given) {
    return function.is_inline || changes_arguments(function) ||
           std::any_of(given.begin(), given.end(), [&c](const Fact& fact) {
               return captures_tensors(c, fact.object) || has_class(fact.object);
           });
}

// What a script that runs in place gives its caller, as one that is a function of the model does:
// of a named tuple its items.
Object result_of(Context& c, const ScriptFunction& function, const Object& result, Range range) {
    if (function.is_inline || function.is_plain) {
        return result;
    }
    Object items = result.tuple_class() != nullptr ? Object::tuple(result.items()) : result;
    return has_class(items)
               ? refuse(c, range, fmt::format("`{}` gives an instance of a class", function.name),
                        "give tensors, or leave `@script` out of the helper function")
               : items;
}

}  // namespace

Object call_script(Context& c, const ScriptFunction& function, const Arguments& arguments,
                   size_t wanted) {
    const std::vector<BoundParameter>& parameters = read_parameters(c, function);
    std::optional<std::vector<Fact>> given = arguments_of(c, function, parameters, arguments);
    if (!given) {
        return Object::error();
    }
    if (runs_in_place(c, function, *given)) {
        Object result = call_inline(c, function, parameters, *given, arguments);
        if (!result.is_error()) {
            c.program.called.insert(&function);
        }
        return result_of(c, function, result, arguments.range);
    }
    std::vector<diagnostics::Diagnostic> mistakes;
    std::optional<std::string> before;
    for (Detail detail : {Detail::kAnnotations, Detail::kRanks, Detail::kShapes}) {
        std::vector<Fact> facts = facts_of(parameters, *given, detail);
        std::optional<std::string> key = fact_key(c, facts, detail);
        auto is_list_of_run = [](const Fact& fact) { return fact.object.is_numbers(); };
        if (!key && std::any_of(facts.begin(), facts.end(), is_list_of_run)) {
            c.report(kUnsupportedOperand, arguments.range,
                     fmt::format("a list whose length is known only when the graph runs, as an "
                                 "argument of `{}`",
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
        diagnostics::Checkpoint said(c.program.diagnostics);
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
        mistakes = take_findings(said);
    }
    diagnostics::Checkpoint said(c.program.diagnostics);
    report_again(c, mistakes);
    said.label_callers(c.span(arguments.range), "called here");
    return Object::error();
}

}  // namespace sardonyx::elaborate
