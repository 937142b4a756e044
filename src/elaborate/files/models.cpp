// A script as a model: its inputs from annotations and options, its imports, its functions.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "elaborate/activation.h"
#include "elaborate/annotations.h"
#include "elaborate/bodies.h"
#include "elaborate/elaborate.h"
#include "elaborate/emit/constant_pool.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/static_tensors.h"
#include "elaborate/emit/trial.h"
#include "elaborate/functions.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/tolerance.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/script_functions.h"
#include "elaborate/signature.h"
#include "infer/opset_versions.h"
#include "ir/producer.h"

namespace sardonyx::elaborate {

using syntax::ParameterKind;

namespace {

// --- As a model ----------------------------------------------------------------------------------

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
    // `x: np.ndarray` is how Python annotates what is an input here.
    bool is_array = one.annotation.attribute_type == ir::AttributeType::kTensor;
    c.report(kMissingAttributeValue, one.parameter->range,
             fmt::format("the attribute parameter `{}` has no value in a model", one.name))
        .with_help(is_array
                       ? fmt::format("annotate an input with a tensor type, as in `{}: FLOAT[...]`",
                                     one.name)
                       : fmt::format("give it a default, or a value: `--attribute {}=...`, in "
                                     "Python `attributes={{\"{}\": ...}}`",
                                     one.name, one.name));
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
                 fmt::format("the number of inputs of the model for `*{}` is not known", one.name))
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
        c.report(
             kOmittedInput, one.parameter->range,
             fmt::format("`{}` is not an input of the model: it is `None` by default", one.name))
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
        c.report(tolerated(c, kMissingInputType), one.parameter->range,
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
                        fmt::format("`{}` of opset {} differs from that of opset {}, which "
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
    const std::vector<BoundParameter>& parameters = check_parameters(c, function);
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
    ScratchBody body(program, function, options);
    Context& c = body.context;
    Trial trial(c);
    diagnostics::Checkpoint said(program.diagnostics);
    bind_model_parameters(c, function);
    std::vector<diagnostics::Diagnostic> found = said.findings();
    bool is_one = std::none_of(found.begin(), found.end(), lacks_for_model);
    trial.take_back();
    return is_one;
}

std::unique_ptr<ir::Model> compile_model(Program& program, const ScriptFunction& function,
                                         const Options& options) {
    auto model = std::make_unique<ir::Model>();
    Context c(program, options, *model);
    c.pool->initializer_bytes = function.initializer_bytes;
    model->graph = model->make_graph(nullptr);
    model->graph->name = model->intern(function.name);
    model->graph->doc = model->intern(docstring(function.definition->body));
    model->producer_name =
        model->intern(function.producer_name.empty() ? ir::kProducer : function.producer_name);
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

}  // namespace sardonyx::elaborate
