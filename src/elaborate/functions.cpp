// A script as a function of ONNX: its parameters as inputs and attributes.
#include "elaborate/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/activation.h"
#include "elaborate/annotations.h"
#include "elaborate/emit/attributes.h"
#include "elaborate/facts.h"
#include "elaborate/jumps.h"
#include "elaborate/objects/context.h"
#include "elaborate/script_functions.h"
#include "elaborate/script_memory.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

std::string_view docstring(syntax::Stmts body) {
    if (body.empty()) {
        return {};
    }
    const auto* first = syntax::maybe_as<syntax::ExprStmt>(body[0]);
    const auto* text =
        first != nullptr ? syntax::maybe_as<syntax::StringExpr>(first->value) : nullptr;
    return text != nullptr ? text->value : std::string_view{};
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
    bool is_alone = c.model.graph == nullptr && c.scripts->building.size() == 1;
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
    const std::vector<BoundParameter>& parameters = read_parameters(c, function);
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

void check_in_place(Program& program, const ScriptFunction& function, const Options& options) {
    ScratchBody body(program, function, options);
    Context& c = body.context;
    c.knows_no_arguments = true;
    for (const BoundParameter& one : check_parameters(c, function)) {
        bool is_known = one.annotation.type.is_tensor() && !one.is_variadic();
        c.at.scope->set(one.parameter->name, is_known ? Object::tensor(c.model.add_input(
                                                            c.graph, one.name, one.annotation.type))
                                                      : Object::error());
    }
    (void)exec_body(c, function.definition->body);
}

}  // namespace sardonyx::elaborate
