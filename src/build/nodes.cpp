#include "build/nodes.h"

#include "ir/producer.h"

#include <fmt/format.h>

#include <algorithm>

#include "infer/infer.h"
#include "ops/standard.h"
#include "types/domain.h"

namespace sardonyx::build {
namespace {

std::string words_of(const infer::Finding& finding) {
    return finding.help.empty() ? finding.message : finding.message + ": " + finding.help;
}

infer::Context context_of(const Site& site, std::vector<infer::Finding>* findings) {
    infer::Context context;
    context.model = &site.model;
    context.opset_imports = site.model.opset_imports;
    context.findings = findings;
    context.fresh_dims = site.fresh_dims;
    for (const ir::Graph* at = site.graph; at->parent() != nullptr; at = at->parent()) {
        ++context.depth;
    }
    return context;
}

Result<void> type_with(const infer::Context& context, ir::Node& node) {
    infer::infer_node(context, node);
    const std::vector<infer::Finding>& findings = *context.findings;
    auto found = std::find_if(findings.begin(), findings.end(), [](const auto& finding) {
        return finding.kind->severity == diagnostics::Severity::kError;
    });
    if (found != findings.end()) {
        return Error{words_of(*found)};
    }
    return {};
}

}  // namespace

Result<void> type_node(const Site& site, ir::Node& node) {
    std::vector<infer::Finding> findings;
    infer::Context context = context_of(site, &findings);
    context.subgraphs_are_typed = true;
    return type_with(context, node);
}

Result<const ops::Schema*> find_operator(const Site& site, std::string_view domain,
                                         std::string_view op_type, int64_t version) {
    int64_t imported = site.model.opset_version(domain);
    version = version != 0 ? version : imported;
    if (version == 0) {
        return Error{fmt::format("the call of `{}` names no version of `{}`", op_type, domain)};
    }
    const ops::Schema* schema = ops::find_schema(domain, op_type, version);
    if (schema == nullptr && ops::find_domain(domain) != nullptr) {
        return Error{fmt::format("there is no operator `{}` in version {} of `{}`", op_type,
                                 version, shown_domain(domain))};
    }
    if (imported != 0 && imported != version &&
        (schema == nullptr || ops::find_schema(domain, op_type, imported) != schema)) {
        return Error{fmt::format("`{}` of version {} in a model that imports version {} of `{}`",
                                 op_type, version, imported, shown_domain(domain))};
    }
    return schema;
}

Result<const ops::Schema*> import_operator(const Site& site, std::string_view domain,
                                           std::string_view op_type, int64_t version) {
    SDX_ASSIGN(const ops::Schema* schema, find_operator(site, domain, op_type, version));
    if (site.model.opset_version(domain) == 0) {
        SDX_TRY(site.editor.set_opset(domain, version));
        site.editor.trust();
    }
    return schema;
}

size_t output_count(const ops::Schema* schema, const NodeRequest& request) {
    constexpr int64_t kMostParts = 1 << 16;
    size_t least = schema != nullptr ? std::max<size_t>(schema->minimum_outputs, 1) : 1;
    if (schema == nullptr || !ops::is_standard(*schema, "Split")) {
        return least;
    }
    for (const ir::Attribute& given : request.attributes) {
        const auto* parts = given.get<int64_t>();
        const auto* sizes = given.get<std::vector<int64_t>>();
        if (given.name == "num_outputs" && parts != nullptr) {
            return static_cast<size_t>(std::clamp<int64_t>(*parts, 1, kMostParts));
        }
        if (given.name == "split" && sizes != nullptr) {
            return std::max<size_t>(sizes->size(), 1);
        }
    }
    const ir::Value* sizes = request.inputs.size() > 1 ? request.inputs[1] : nullptr;
    bool is_known = sizes != nullptr && sizes->type.has_shape() &&
                    sizes->type.shape().size() == 1 && sizes->type.shape()[0].is_static();
    return is_known ? static_cast<size_t>(
                          std::clamp<int64_t>(sizes->type.shape()[0].value(), 1, kMostParts))
                    : least;
}

std::optional<calls::Problem> check_call(const ops::Schema& schema, const NodeRequest& request) {
    auto is_input = [&request](size_t i) { return request.inputs[i] != nullptr; };
    std::optional<calls::Problem> problem =
        calls::check_inputs(schema, request.inputs.size(), is_input);
    if (!problem) {
        problem = calls::check_outputs(schema, request.outputs.size());
    }
    auto has = [&request](std::string_view name) {
        return std::any_of(request.attributes.begin(), request.attributes.end(),
                           [name](const ir::Attribute& given) { return given.name == name; });
    };
    calls::check_required(schema, has, [&problem](calls::Problem missing) {
        problem = problem ? std::move(problem) : std::move(missing);
    });
    return problem;
}

std::optional<calls::Problem> check_request(const ops::Schema& schema, const NodeRequest& request) {
    std::optional<calls::Problem> problem = check_call(schema, request);
    for (const ir::Attribute& given : request.attributes) {
        const ops::AttributeSchema* attribute = schema.find_attribute(given.name);
        const auto* text = given.get<std::string>();
        if (problem) {
            break;
        }
        problem = attribute == nullptr ? calls::unknown_keyword(schema, given.name)
                  : text != nullptr    ? calls::check_enumeration(*attribute, *text)
                                       : std::nullopt;
    }
    return problem;
}

namespace {

Result<ir::Node*> make_typed(const Site& site, const ir::Editor::NewNode& wanted) {
    SDX_ASSIGN(ir::Node * node, site.editor.insert(*site.graph, nullptr, wanted));
    if (Result<void> typed = type_node(site, *node); !typed.ok()) {
        SDX_CHECK(site.editor.remove({&node, 1}).ok());
        return typed.error();
    }
    return node;
}

}  // namespace

Result<ir::Node*> make_node(const Site& site, NodeRequest request) {
    ir::Editor::NewNode wanted;
    wanted.domain = request.domain;
    wanted.op_type = request.op_type;
    wanted.name = request.name;
    wanted.inputs = request.inputs;
    while (!wanted.inputs.empty() && wanted.inputs.back() == nullptr) {
        wanted.inputs = wanted.inputs.first(wanted.inputs.size() - 1);
    }
    wanted.outputs = std::move(request.outputs);
    wanted.attributes = std::move(request.attributes);
    Result<ir::Node*> node = make_typed(site, wanted);
    if (!node.ok()) {
        return Error{fmt::format("`{}`: {}", request.op_type, node.error().message)};
    }
    return node;
}

Result<std::vector<ir::Value*>> splice(const Site& site, const ir::Model& from,
                                       std::span<ir::Value* const> inputs) {
    ir::Node* last = site.graph->last_node();
    SDX_ASSIGN(std::vector<ir::Value*> outputs, site.editor.splice(*site.graph, from, inputs));
    std::vector<infer::Finding> findings;
    infer::Context context = context_of(site, &findings);
    ir::Node* first = last != nullptr ? last->next() : site.graph->first_node();
    Result<void> typed;
    std::vector<ir::Node*> made;
    for (ir::Node* node = first; node != nullptr; node = node->next()) {
        made.push_back(node);
        typed = typed.ok() ? type_with(context, *node) : std::move(typed);
    }
    if (!typed.ok()) {
        SDX_CHECK(site.editor.remove(made).ok());
        return typed.error();
    }
    return outputs;
}

Result<ir::Value*> as_output(const Site& site, ir::Value* value,
                             std::span<ir::Value* const> outputs) {
    bool is_own = value->producer() != nullptr && value->graph() == site.graph &&
                  std::find(outputs.begin(), outputs.end(), value) == outputs.end();
    if (is_own) {
        return value;
    }
    NodeRequest request;
    request.op_type = "Identity";
    request.inputs = {&value, 1};
    request.outputs = {std::nullopt};
    SDX_ASSIGN(ir::Node * node, make_node(site, std::move(request)));
    return node->output();
}

Result<ir::Value*> add_output(const Site& site, ir::Value* value,
                              std::optional<std::string_view> name, const Type& stated) {
    std::optional<Type> type = merge(value->type, stated);
    if (!type) {
        return Error{fmt::format("the output is of type {}, not {}", value->type.to_string(),
                                 stated.to_string())};
    }
    std::vector<ir::Value*> outputs = site.graph->outputs;
    SDX_ASSIGN(ir::Value * made, as_output(site, value, outputs));
    if (name) {
        SDX_TRY(site.editor.rename(*made, *name));
    }
    if (stated.is_known()) {
        SDX_TRY(site.editor.set_type(*made, std::move(*type)));
    }
    outputs.push_back(made);
    SDX_TRY(site.editor.set_outputs(*site.graph, outputs));
    return made;
}

Result<std::unique_ptr<ir::Model>> empty_model(int64_t opset, std::string_view name) {
    const ops::DomainInfo* info = ops::find_domain("");
    if (opset < 1 || opset > info->newest_version) {
        return Error{
            fmt::format("there is no opset {}: the newest is {}", opset, info->newest_version)};
    }
    auto model = std::make_unique<ir::Model>();
    model->opset_imports = {{"", opset}};
    model->producer_name = model->intern(ir::kProducer);
    model->graph = model->make_graph(nullptr);
    model->graph->name = model->intern(name);
    return model;
}

GraphEmitter::Value GraphEmitter::emit_variadic(std::string_view op_type,
                                                std::span<const Value> inputs,
                                                std::initializer_list<ir::Attribute> attributes) {
    if (error_ || std::find(inputs.begin(), inputs.end(), nullptr) != inputs.end()) {
        return nullptr;  // something before it failed
    }
    NodeRequest request;
    request.op_type = op_type;
    request.inputs = inputs;
    request.attributes.assign(attributes.begin(), attributes.end());
    request.outputs = {std::nullopt};
    Result<ir::Node*> node = make_node(site_, std::move(request));
    if (!node.ok()) {
        return fail(node.error());
    }
    made_.push_back(*node);
    return (*node)->output();
}

GraphEmitter::Value GraphEmitter::constant(Tensor tensor) {
    return emit_variadic("Constant", {}, {ir::make_attribute("value", std::move(tensor))});
}

GraphEmitter::Value GraphEmitter::int64s(std::vector<int64_t> values) {
    return constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

GraphEmitter::Value GraphEmitter::scalar_like(Value like, double value) {
    if (element(like) == ElementType::kUndefined) {
        return like == nullptr ? nullptr
                               : fail("the element type of a value is not known",
                                      "give the input a type, or call the operator itself");
    }
    Result<Tensor> tensor = tensor_from_doubles(element(like), {}, {&value, 1});
    return tensor.ok() ? constant(std::move(*tensor)) : fail(tensor.error());
}

GraphEmitter::Value GraphEmitter::fail(Error error) {
    if (!error_) {
        error_ = std::move(error);
    }
    return nullptr;
}

GraphEmitter::Value GraphEmitter::fail(const std::string& message, const std::string& help) {
    return fail(Error{message + ": " + help});
}

GraphEmitter::~GraphEmitter() {
    if (std::uncaught_exceptions() > exceptions_) {
        (void)site_.editor.remove(made_);  // refused where what was made is read by now
    }
}

}  // namespace sardonyx::build
