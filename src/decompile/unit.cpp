#include "decompile/unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "base/stop.h"
#include "decompile/attribute_types.h"
#include "ir/standard.h"
#include "types/domain.h"
#include "types/known_sizes.h"

namespace sardonyx::decompile {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return result;
}

}  // namespace

Unit::Unit(Module& module, const ir::Graph& graph, const ir::Function* function, std::string name)
    : module_(module),
      graph_(graph),
      function_(function),
      name_(std::move(name)),
      facts_(module.model(), graph),
      names_(&module.names()) {}

Expression Unit::fail(const ir::Node& node, std::string_view what) {
    fail(fmt::format(
        "a script cannot express {} of the node {} ({})", what,
        quoted(node.name.empty() && node.output() != nullptr ? node.output()->name : node.name),
        quoted(node.op_type)));
    return Expression::atom("None");
}

void Unit::fail(std::string message) {
    if (!error_) {
        error_ = Error{std::move(message)};
    }
}

int64_t Unit::version_of(std::string_view domain) const {
    return function_ != nullptr ? ir::opset_version(function_->opset_imports, domain)
                                : module_.model().opset_version(domain);
}

const ir::Function* Unit::callee_of(const ir::Node& node) const {
    return module_.model().find_function(node.domain, node.op_type, node.overload);
}

const ops::Schema* Unit::schema_of(const ir::Node& node) const {
    return callee_of(node) != nullptr
               ? nullptr
               : ops::find_schema(node.domain, node.op_type, version_of(node.domain));
}

const std::string& Unit::name_of(const ir::Value& value, std::string_view fallback) {
    auto [found, is_new] = values_.try_emplace(&value);
    if (is_new) {
        found->second = names_.fresh(value.name, fallback);
    }
    return found->second;
}

// --- The signature -------------------------------------------------------------------------------

std::string Unit::decorator() {
    std::vector<Expression> arguments;
    if (function_ != nullptr) {
        arguments.push_back(
            Expression::atom(module_.opset(function_->domain, module_.version_of(*function_))));
    }
    int64_t standard = version_of("");
    if (standard != 0 && (!names_opset_ || !module_.has_one_opset())) {
        arguments.push_back(Expression::atom(module_.opset("", standard)).keyword("default_opset"));
    }
    return "@" + flat(Expression::call("script", std::move(arguments)));
}

std::string Unit::default_of(const ir::Value& input, const std::string& name) {
    if (input.sparse != nullptr) {
        fail(fmt::format("a script cannot express the sparse default of the input {}",
                         quoted(input.name)));
        return "";
    }
    Result<Expression> array = module_.array(*input.constant, &input, name);
    if (!array.ok()) {
        fail(array.error().message);
        return "";
    }
    return flat(*array);
}

// Before any other value can have their names.
void Unit::name_interface() {
    for (const ir::Value* input : graph_.inputs) {
        values_.try_emplace(input, names_.kept(input->name, "x"));
    }
    for (const ir::Value* output : graph_.outputs) {
        if (!values_.contains(output)) {
            values_.emplace(output, names_.kept(output->name, "result"));
        }
    }
}

std::vector<std::pair<std::string_view, std::string_view>> Unit::renamed() const {
    std::vector<std::pair<std::string_view, std::string_view>> names;
    for (const std::vector<ir::Value*>* side : {&graph_.inputs, &graph_.outputs}) {
        for (const ir::Value* value : *side) {
            auto found = values_.find(value);
            if (found != values_.end() && found->second != value->name) {
                names.emplace_back(value->name, found->second);
            }
        }
    }
    return names;
}

void Unit::add_inputs(Expression& parameters) {
    bool has_default = false;
    for (const ir::Value* input : graph_.inputs) {
        const std::string& text = name_of(*input, "x");
        if (facts_.constant_of(*input) != nullptr) {
            continue;
        }
        if (function_ == nullptr) {
            std::optional<Expression> type = module_.annotation(input->type);
            if (!type) {
                fail(fmt::format("a script cannot express the type {} of the input {}",
                                 input->type.to_string(), quoted(input->name)));
                return;
            }
            facts_.set_known_type(input, input->type.element_type());
            type->head = text + ": " + type->head;
            if (input->is_initializer()) {
                has_default = true;
                *type = Expression::atom(flat(*type) + " = " + default_of(*input, text));
            } else if (has_default) {
                fail(fmt::format("the input {} without a default follows one that has one",
                                 quoted(input->name)));
            }
            parameters.items.push_back(std::move(*type));
        } else {
            parameters.items.push_back(Expression::atom(text));
        }
    }
}

Expression Unit::attribute_parameter(const ir::Attribute& attribute) {
    std::string_view type = attribute_annotation(attribute.type);
    const std::string& name = parameters_.find(attribute.name)->second;
    if (type.empty()) {
        fail(fmt::format("a script cannot express the attribute {} of the function {}",
                         quoted(attribute.name), quoted(function_->name)));
    }
    if (type.starts_with("Sequence")) {
        module_.import_from("collections.abc", "Sequence");
    }
    if (type.find("TensorProto") != std::string_view::npos) {
        module_.import_from("onnx", "TensorProto");
    }
    return Expression::atom(fmt::format("{}: {}", name, type));
}

void Unit::add_attributes(Expression& parameters) {
    if (function_ == nullptr) {
        return;
    }
    std::map<std::string, ir::AttributeType> types = referenced_types(*function_->body);
    std::vector<ir::Attribute> all;
    for (std::string_view name : function_->attributes) {
        auto found = types.find(std::string(name));
        ir::Attribute attribute;
        attribute.name = name;
        attribute.type =
            found != types.end() ? found->second : given_type(module_.model(), *function_, name);
        all.push_back(attribute);
    }
    all.insert(all.end(), function_->attribute_defaults.begin(),
               function_->attribute_defaults.end());
    for (size_t i = 0; i < all.size(); ++i) {
        // Calls name the parameter, so that it must keep its name.
        std::string name(all[i].name);
        if (!is_identifier(name) || !names_.is_free(name)) {
            fail(fmt::format("a script cannot express the attribute {} of the function {}",
                             quoted(name), quoted(function_->name)));
            return;
        }
        names_.reserve(name);
        parameters_[name] = name;
        if (i == 0) {
            parameters.items.push_back(Expression::atom("*"));
        }
        Expression parameter = attribute_parameter(all[i]);
        if (i >= function_->attributes.size()) {
            parameter.head += " = " + default_words(all[i]);
        }
        parameters.items.push_back(std::move(parameter));
    }
}

// Lists are tuples there: a default that can be changed is shared by all calls.
std::string Unit::default_words(const ir::Attribute& attribute) {
    std::optional<Expression> value = plain_value(attribute);
    if (const auto* tensor = attribute.get<Tensor>()) {
        Result<Expression> made = module_.made_tensor(*tensor);
        value = made.ok() ? std::optional(std::move(*made)) : std::nullopt;
    }
    if (!value) {
        fail(fmt::format("a script cannot express the default of {} of the function {}",
                         quoted(attribute.name), quoted(function_->name)));
        return {};
    }
    std::string words = flat(*value);
    if (value->open != '[') {
        return words;
    }
    return fmt::format("({}{})", words.substr(1, words.size() - 2),
                       value->items.size() == 1 ? "," : "");
}

std::string Unit::result_annotation() {
    if (!module_.annotates_results() || function_ != nullptr) {
        return {};
    }
    std::vector<Expression> types;
    for (const ir::Value* output : graph_.outputs) {
        std::optional<Expression> type = module_.annotation(output->type);
        if (!type) {
            return {};
        }
        types.push_back(std::move(*type));
    }
    if (types.empty()) {
        return {};
    }
    Expression all =
        types.size() == 1 ? std::move(types[0]) : Expression{"tuple", '[', std::move(types)};
    // Either it stands on one line, or behind the last line of the parameters.
    std::string text;
    append_broken(text, 0, ") -> ", all, ":");
    return text.substr(1, text.size() - 2);
}

// --- Statements ----------------------------------------------------------------------------------

Result<std::string> Unit::write() {
    Expression parameters = Expression::call(fmt::format("def {}", name_));
    add_attributes(parameters);
    Expression attributes = std::move(parameters);
    parameters = Expression::call(attributes.head);
    if (!error_) {
        name_interface();
        add_inputs(parameters);
    }
    std::move(attributes.items.begin(), attributes.items.end(),
              std::back_inserter(parameters.items));
    std::string result = error_ ? "" : result_annotation();
    size_t one_line = flat(parameters).size() + result.size() + 1;
    if (one_line > kLineLength && !parameters.items.empty()) {
        text_ += parameters.head + "(\n";
        for (const Expression& one : parameters.items) {
            append_broken(text_, kIndent, "", one, ",");
            text_ += "\n";
        }
        text_ += ")" + result + ":\n";
    } else {
        text_ += flat(parameters) + result + ":\n";
    }
    if (!error_) {
        know_types(graph_, 0);
    }
    if (!error_) {
        write_body(graph_, kIndent);
    }
    return error_ ? Result<std::string>(*error_) : Result<std::string>(decorator() + "\n" + text_);
}

void Unit::write_body(const ir::Graph& graph, size_t indent) {
    write_block(graph, indent);
    write_return(graph, indent);
}

void Unit::write_block(const ir::Graph& graph, size_t indent) {
    opens_block_ = true;
    follows_def_ = false;
    write_initializers(graph, indent);
    for (const ir::Node& node : graph) {
        stop_point();
        if (error_) {
            return;
        }
        if (!facts_.is_live(node)) {
            continue;
        }
        const ir::Value* output = node.output();
        if (left_out_.contains(output)) {
            continue;
        }
        if (output != nullptr && facts_.constant_of(*output) != nullptr) {
            write_constant(*output, indent);
        } else {
            write_node(node, indent);
        }
    }
}

void Unit::begin_statement() {
    text_ += follows_def_ ? "\n" : "";
    follows_def_ = opens_block_ = false;
}

void Unit::write_initializers(const ir::Graph& graph, size_t indent) {
    for (const ir::Value* value : graph.initializers) {
        if (value->sparse != nullptr) {
            fail(fmt::format("a script cannot express the sparse initializer {}",
                             quoted(value->name)));
        }
        if (facts_.constant_of(*value) != nullptr && facts_.use_of(*value).count > 0) {
            write_constant(*value, indent);
        }
    }
}

// A constant whose uses all show it, or that is in the file of weights, is no statement.
void Unit::write_constant(const ir::Value& value, size_t indent) {
    stop_point();
    if (is_inline(value)) {
        return;
    }
    const ir::Node* node = value.producer();
    int64_t version = version_of("");
    if (version == 0) {
        fail("constants need an opset of ai.onnx, which is not imported");
        return;
    }
    std::string op = module_.opset("", version);
    names_opset_ = true;
    std::string target = name_of(value, "constant");
    Expression made = Expression::call(op + ".Constant");
    Result<Expression> array =
        module_.array(*facts_.constant_of(value), node == nullptr ? &value : nullptr, target);
    if (!array.ok()) {
        fail(fmt::format("the constant {} is {}", quoted(value.name), array.error().message));
        return;
    }
    made.items.push_back(std::move(*array).keyword("value"));
    begin_statement();
    append_statement(text_, indent, {target}, made);
}

Unit::Targets Unit::targets_of(const ir::Node& node) {
    Targets targets;
    std::string fallback = lower(node.op_type);
    fallback = is_identifier(fallback) ? fallback : "value";
    const ir::Function* callee = callee_of(node);  // gives all its results, wanted or not
    size_t count = callee != nullptr ? callee->body->outputs.size() : wanted_outputs(node);
    for (size_t i = 0; i < count; ++i) {
        const ir::Value* output = i < node.output_count() ? node.output(i) : nullptr;
        bool is_wanted = output != nullptr && !output->name.empty();
        targets.push_back(is_wanted ? name_of(*output, fallback) : "_");
    }
    return targets;
}

void Unit::write_node(const ir::Node& node, size_t indent) {
    if (module_.has_statements() && write_statement(node, indent)) {
        return;
    }
    write_subgraphs(node, indent);
    if (error_) {
        return;
    }
    std::optional<Expression> expression = symbol(node);
    if (!expression) {
        expression = call(node);
    }
    Targets targets = targets_of(node);
    const std::vector<ir::Value*>& results = node.graph()->outputs;
    bool is_result = targets.size() == 1 && graphs_.contains(node.graph()) &&
                     std::count(results.begin(), results.end(), node.output()) > 0;
    targets[0] += is_result ? body_annotation(*node.output()) : "";
    if (expression->open == 0 &&
        indent + targets[0].size() + 3 + expression->head.size() > kLineLength) {
        expression = call(node);
    }
    begin_statement();
    append_statement(text_, indent, targets, *expression);
}

void Unit::write_return(const ir::Graph& graph, size_t indent) {
    if (error_) {
        return;
    }
    begin_statement();
    std::vector<Expression> results;
    for (const ir::Value* output : graph.outputs) {
        results.push_back(Expression::atom(name_of(*output, "result")));
    }
    Expression all = Expression::call("", std::move(results));
    std::string words = flat(all);
    std::string line = all.items.empty() ? "return" : "return " + words.substr(1, words.size() - 2);
    if (indent + line.size() <= kLineLength || all.items.size() < 2) {
        text_.append(indent, ' ');
        text_ += line;
    } else {
        append_broken(text_, indent, "return ", all, "");
    }
    text_ += '\n';
}

// --- Subgraphs -----------------------------------------------------------------------------------

void Unit::write_subgraphs(const ir::Node& node, size_t indent) {
    for (const ir::Attribute& attribute : node.attributes) {
        if (const auto* graph = attribute.get<ir::Graph*>()) {
            write_subgraph(node, attribute, **graph, indent);
        }
    }
}

void Unit::write_subgraph(const ir::Node& node, const ir::Attribute& attribute,
                          const ir::Graph& graph, size_t indent) {
    if (error_) {
        return;
    }
    module_.import_from("sardonyx", "graph");
    const std::string& name =
        graphs_.emplace(&graph, names_.fresh(attribute.name, "body")).first->second;
    if (ir::is_standard(node, "Loop") && graph.inputs.size() > 1 && !graph.outputs.empty()) {
        of_loops_.insert({graph.inputs[0], graph.inputs[1], graph.outputs[0]});
    }
    Expression parameters = Expression::call(fmt::format("def {}", name));
    for (const ir::Value* input : graph.inputs) {
        if (input->is_initializer()) {
            fail(node, "an input with a default in a subgraph");
        }
        parameters.items.push_back(
            Expression::atom(name_of(*input, "x") + body_annotation(*input)));
    }
    text_ += opens_block_ ? "" : "\n";
    text_.append(indent, ' ');
    text_ += "@graph()\n";
    append_broken(text_, indent, "", parameters, ":");
    text_ += "\n";
    write_body(graph, indent + kIndent);
    opens_block_ = false;
    follows_def_ = true;
}

// Names of dims are left out: those of a body need not be the ones that the graph around it has.
std::string Unit::body_annotation(const ir::Value& value) {
    bool states_sizes = module_.annotates_bodies() && value.type.is_tensor() &&
                        value.type.has_shape() && !of_loops_.contains(&value);
    if (!states_sizes) {
        return "";
    }
    std::optional<Expression> type = module_.annotation(with_known_sizes(value.type));
    if (!type) {
        return "";
    }
    // In a body, `t: FLOAT` states no sizes.
    return ": " + flat(*type) + (value.type.shape().empty() ? "[()]" : "");
}

// What the compiler will know, in the order of the text, before anything is written: a constant has
// a statement of its own unless it is a literal in all places.
void Unit::know_types(const ir::Graph& graph, int depth) {
    if (depth > kMaxDepth) {
        fail(fmt::format("subgraphs are nested more than {} deep", kMaxDepth));
        return;
    }
    for (const ir::Node& node : graph) {
        stop_point();
        if (facts_.is_live(node)) {
            for (const ir::Graph* one : subgraphs(node)) {
                know_subgraph(node, *one);
                know_types(*one, depth + 1);
            }
            know_results(node);
        }
    }
}

// The element types of a body's inputs are those of what the node gets.
void Unit::know_subgraph(const ir::Node& node, const ir::Graph& graph) {
    bool is_loop = ir::is_standard(node, "Loop");
    bool is_scan = ir::is_standard(node, "Scan") && version_of("") >= 9;
    for (size_t i = 0; i < graph.inputs.size() && (is_loop || is_scan); ++i) {
        ElementType type = is_loop && i == 0   ? ElementType::kInt64
                           : is_loop && i == 1 ? ElementType::kBool
                                               : facts_.known_type(node.input(i));
        facts_.set_known_type(graph.inputs[i], type);
    }
}

void Unit::know_results(const ir::Node& node) {
    std::vector<const ir::Graph*> graphs = subgraphs(node);
    if (graphs.empty()) {
        facts_.know_outputs(node, schema_of(node));
        return;
    }
    bool is_loop = ir::is_standard(node, "Loop");
    bool is_followed = is_loop || ir::is_standard(node, "If") ||
                       (ir::is_standard(node, "Scan") && version_of("") >= 9);
    for (size_t i = 0; i < node.output_count() && is_followed; ++i) {
        std::optional<ElementType> type;
        for (const ir::Graph* graph : graphs) {
            size_t index = i + (is_loop ? 1 : 0);
            ElementType one = index < graph->outputs.size()
                                  ? facts_.known_type(graph->outputs[index])
                                  : ElementType::kUndefined;
            type = !type || *type == one ? one : ElementType::kUndefined;
        }
        facts_.set_known_type(node.output(i), type.value_or(ElementType::kUndefined));
    }
}

}  // namespace sardonyx::decompile
