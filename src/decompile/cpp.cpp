#include "decompile/cpp.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/quote.h"
#include "decompile/cpp_text.h"
#include "decompile/facts.h"
#include "decompile/module.h"
#include "decompile/schema_defaults.h"
#include "decompile/text.h"
#include "ir/standard.h"

namespace sardonyx::decompile {
namespace {

constexpr int64_t kFirstHeader = 17;          // <sardonyx/op17.h> is the oldest header
constexpr std::string_view kNothing = "{}";   // an input that is left out
constexpr std::string_view kEntry = "make_";  // what no function of the C library begins with

// Attributes that have a C++ type (sardonyx::AttributeValue).
bool has_cpp_type(ops::AttributeType type) {
    using ops::AttributeType;
    return type == AttributeType::kFloat || type == AttributeType::kInt ||
           type == AttributeType::kString || type == AttributeType::kTensor ||
           type == AttributeType::kFloats || type == AttributeType::kInts ||
           type == AttributeType::kStrings;
}

bool is_field_name(std::string_view name) {
    std::span<const std::string_view> taken = cpp_taken_names();
    return is_identifier(name) && std::find(taken.begin(), taken.end(), name) == taken.end();
}

// A Builder has an opset of ai.onnx, also for a model of other domains alone.
int64_t opset_of(const ir::Model& model) {
    int64_t imported = model.opset_version("");
    return imported != 0 ? imported : ops::find_domain("")->newest_version;
}

class CppWriter {
  public:
    CppWriter(const ir::Model& model, const Options& options)
        : model_(model),
          options_(options),
          module_(model, options),
          facts_(model, *model.graph),
          standard_(opset_of(model)),
          has_header_(standard_ >= kFirstHeader &&
                      standard_ <= ops::find_domain("")->newest_version) {
        for (std::string_view name : cpp_taken_names()) {
            names_.reserve(name);
        }
    }

    Result<Script> write() {
        if (!model_.functions.empty()) {
            return Error{"a Builder makes no functions"};
        }
        Script script;
        script.entry = std::string(kEntry) + fresh(model_.graph->name, "graph");
        write_inputs();
        write_graph(*model_.graph, kIndent, 0);
        for (const ir::Value* output : model_.graph->outputs) {
            write_output(*output);
        }
        if (error_) {
            return *error_;
        }
        script.text = head() + fmt::format("sardonyx::Model {}() {{\n", script.entry);
        append_cpp_line(
            script.text, kIndent,
            fmt::format("Builder b({}, {});", standard_, cpp_string(model_.graph->name)));
        if (loads_weights_) {
            append_cpp_line(script.text, kIndent,
                            fmt::format("std::map<std::string, Array, std::less<>> weights = "
                                        "sardonyx::load_weights({});",
                                        cpp_string(options_.weights_path)));
        }
        script.text += text_;
        append_cpp_line(script.text, kIndent, "return b.model();");
        script.text += "}\n\nint main(int argc, char** argv) {\n";
        append_cpp_line(script.text, kIndent,
                        fmt::format("{}().save(argc > 1 ? argv[1] : {});", script.entry,
                                    cpp_string(script.entry.substr(kEntry.size()) + ".onnx")));
        script.text += "}\n";
        script.weights = std::move(weights_);
        return script;
    }

  private:
    // A node's call as text, and whether it gives one value or several.
    struct Call {
        std::string text;
        bool is_list = false;
    };

    std::string head() const {
        std::string text = "// Written by `sardonyx decompile --to cpp`";
        if (!options_.source.empty()) {
            text += fmt::format(" from {}", comment_text(quoted(options_.source)));
        }
        text += ".\n// The program makes the model and saves it.\n";
        text += has_header_ ? fmt::format("#include <sardonyx/op{}.h>\n", standard_) : "";
        text +=
            "#include <sardonyx/sardonyx.h>\n\n#include <bit>\n#include <limits>\n#include <map>\n"
            "#include <string>\n#include <vector>\n\n"
            "using sardonyx::Array, sardonyx::Builder, sardonyx::Expr;\n";
        text += has_header_ ? fmt::format("namespace op = sardonyx::op{};\n", standard_) : "";
        return text + "\n";
    }

    void fail(std::string message) {
        if (!error_) {
            error_ = Error{std::move(message)};
        }
    }
    void fail(const ir::Node& node, std::string_view what) {
        fail(fmt::format(
            "a program over Builder cannot express {} of the node {} ({})", what,
            quoted(node.name.empty() && node.output() != nullptr ? node.output()->name : node.name),
            quoted(node.op_type)));
    }
    void line(size_t indent, std::string_view words) { append_cpp_line(text_, indent, words); }

    // Names without a small letter are those of macros.
    std::string fresh(std::string_view hint, std::string_view fallback) {
        std::string name = names_.fresh(hint, fallback);
        if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a'; })) {
            return name;
        }
        std::transform(name.begin(), name.end(), name.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        return names_.fresh(name, fallback);
    }

    // --- Values

    void write_inputs() {
        for (const ir::Value* input : model_.graph->inputs) {
            if (facts_.constant_of(*input) != nullptr) {
                continue;  // an initializer, as old files have it
            }
            std::string type = input->type.to_string();
            std::optional<Type> parsed = parse_type(type);
            if (input->is_initializer() || !parsed || !parsed->is_known()) {
                fail(fmt::format("a program over Builder cannot express {} of the input {}",
                                 input->is_initializer() ? "the default" : "the type",
                                 quoted(input->name)));
                return;
            }
            std::string name = fresh(input->name, "x");
            values_[input] = name;
            std::string target = facts_.is_read(*input) ? fmt::format("Expr {} = ", name) : "";
            line(kIndent, fmt::format("{}b.input({}, {});", target, cpp_string(input->name),
                                      cpp_string(type)));
        }
    }

    // With its type where a Builder may not know as much.
    void write_output(const ir::Value& output) {
        std::string type = has_unknown_ && output.type.is_known()
                               ? ", " + cpp_string(output.type.to_string())
                               : std::string();
        line(kIndent,
             fmt::format("b.output({}, {}{});", value(output), cpp_string(output.name), type));
    }

    // The array, or where it is stored. `hint` becomes the name of one that is no initializer.
    std::string array(const Tensor& tensor, const ir::Value* initializer, std::string_view hint) {
        if (tensor.count() <= kMostLiterals || !module_.is_storable(tensor, initializer)) {
            Result<std::string> words = cpp_array(tensor);
            if (!words.ok()) {
                fail(words.error().message);
            }
            return words.ok() ? *words : std::string(kNothing);
        }
        loads_weights_ = true;
        std::string name(initializer != nullptr ? initializer->name : hint);
        if (options_.weights == Weights::kFile) {
            std::string base = name;
            for (int i = 1; !weight_names_.insert(name).second; ++i) {
                name = fmt::format("{}_{}", base, i);
            }
            weights_.emplace_back(name, tensor);
        }
        return fmt::format("weights.at({})", cpp_string(name));
    }

    // A constant where it is used first: in place, or by a name if there are more uses.
    std::string constant(const ir::Value& given) {
        const Tensor& tensor = *facts_.constant_of(given);
        const ir::Value* initializer = given.producer() == nullptr ? &given : nullptr;
        std::string words = array(tensor, initializer, given.name);
        bool is_weight = initializer != nullptr && initializer->graph() == model_.graph;
        return is_weight ? fmt::format("b.initializer({}, {})", words, cpp_string(given.name))
                         : fmt::format("b.constant({})", words);
    }

    std::string value(const ir::Value& given) {
        if (auto found = values_.find(&given); found != values_.end()) {
            return found->second;
        }
        if (facts_.constant_of(given) != nullptr) {
            return constant(given);  // its one use
        }
        fail(
            fmt::format("a program over Builder cannot express the use of {}", quoted(given.name)));
        return std::string(kNothing);
    }

    std::string value_or_nothing(const ir::Value* given) {
        return given != nullptr ? value(*given) : std::string(kNothing);
    }

    std::string list(std::span<ir::Value* const> all) {
        std::string words;
        for (const ir::Value* one : all) {
            words += (words.empty() ? "" : ", ") + value_or_nothing(one);
        }
        return "{" + words + "}";
    }

    void write_constant(const ir::Value& given, size_t indent) {
        const ConstantUse& use = facts_.use_of(given);
        if (use.count == 0 || (use.count == 1 && !use.needs_name)) {
            return;
        }
        std::string name = fresh(given.name, "constant");
        line(indent, fmt::format("Expr {} = {};", name, constant(given)));
        values_[&given] = name;
    }

    // --- Nodes

    void write_graph(const ir::Graph& graph, size_t indent, int depth) {
        if (depth > kMaxDepth) {
            fail(fmt::format("subgraphs are nested more than {} deep", kMaxDepth));
            return;
        }
        for (const ir::Value* one : graph.initializers) {
            if (one->sparse != nullptr) {
                fail(fmt::format("a program over Builder cannot express the sparse initializer {}",
                                 quoted(one->name)));
            } else if (facts_.constant_of(*one) != nullptr) {
                write_constant(*one, indent);
            }
        }
        for (const ir::Node& node : graph) {
            if (error_ || !facts_.is_live(node) || left_out_.contains(node.output())) {
                continue;
            }
            if (node.output() != nullptr && facts_.constant_of(*node.output()) != nullptr) {
                write_constant(*node.output(), indent);
            } else if (ir::is_standard(node, "If")) {
                write_if(node, indent, depth);
            } else if (ir::is_standard(node, "Loop")) {
                write_loop(node, indent, depth);
            } else {
                write_call(node, indent);
            }
        }
    }

    // Names the results of a call, whose text stands behind `name = `.
    std::string name_results(const ir::Node& node, bool is_list) {
        size_t count = wanted_outputs(node);
        std::string fallback(node.op_type);
        std::transform(fallback.begin(), fallback.end(), fallback.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        fallback = is_identifier(fallback) ? fallback : "value";
        if (!is_list) {
            std::string name = fresh(node.output()->name, fallback);
            values_[node.output()] = name;
            return "Expr " + name;
        }
        std::string name = fresh(fallback, "values");
        for (size_t i = 0; i < count; ++i) {
            values_[node.output(i)] = fmt::format("{}[{}]", name, i);
        }
        return "auto " + name;
    }

    void write_call(const ir::Node& node, size_t indent) {
        if (!subgraphs(node).empty()) {
            fail(node, "the graphs");
            return;
        }
        if (!node.overload.empty()) {
            fail(node, "the overload");
            return;
        }
        std::optional<Call> call = function_call(node);
        if (!call) {
            call = named_call(node);
        }
        std::string target = name_results(node, call->is_list);
        line(indent, fmt::format("{} = {};", target, call->text));
    }

    const ops::Schema* schema_of(const ir::Node& node) const {
        return ops::find_schema(node.domain, node.op_type, model_.opset_version(node.domain));
    }

    // As a function of the header of the opset; nothing: there is none that makes this node.
    std::optional<Call> function_call(const ir::Node& node) {
        const ops::Schema* schema = node.domain.empty() ? schema_of(node) : nullptr;
        if (!has_header_ || schema == nullptr || schema->is_deprecated) {
            return std::nullopt;
        }
        bool has_required = false;
        for (const ops::AttributeSchema& one : schema->attributes) {
            has_required = has_required || one.is_required;
            if (one.is_required &&
                (!has_cpp_type(one.type) || node.find_attribute(one.name) == nullptr)) {
                return std::nullopt;
            }
        }
        bool is_variadic = !schema->outputs.empty() &&
                           schema->outputs.back().option == ops::ParameterOption::kVariadic;
        size_t wanted = wanted_outputs(node), least = std::max<size_t>(schema->minimum_outputs, 1);
        if (!is_variadic && wanted != least) {
            return std::nullopt;
        }
        std::optional<std::string> fields = options_of(node, *schema);
        if (!fields) {
            return std::nullopt;
        }
        std::string words;
        auto add = [&words](std::string_view one) {
            words += words.empty() ? "" : ", ";
            words += one;
        };
        if (schema->inputs.empty() || schema->inputs[0].option == ops::ParameterOption::kOptional) {
            add("b");
        }
        if (is_variadic) {
            add(fmt::to_string(wanted));
        }
        size_t given = given_inputs(node);
        bool are_all = has_required || !fields->empty();
        for (size_t i = 0; i < schema->inputs.size(); ++i) {
            if (schema->inputs[i].option == ops::ParameterOption::kVariadic) {
                std::vector<ir::Value*> rest;
                for (size_t j = i; j < given; ++j) {
                    rest.push_back(node.input(j));
                }
                given = i;
                add(list(rest));
            } else if (i < given || are_all ||
                       schema->inputs[i].option == ops::ParameterOption::kSingle) {
                add(value_or_nothing(node.input(i)));
            }
        }
        if (given > schema->inputs.size()) {
            return std::nullopt;
        }
        if (!fields->empty() || has_required) {
            add("{" + *fields + "}");
        }
        return Call{fmt::format("op::{}({}){}", node.op_type, words,
                                is_variadic && wanted == 1 ? "[0]" : ""),
                    wanted > 1};
    }

    // `.axis = 1`, in the order of the fields: required ones first, then by name. Nothing: one has
    // no field.
    std::optional<std::string> options_of(const ir::Node& node, const ops::Schema& schema) {
        std::vector<std::pair<bool, const ir::Attribute*>> given;
        for (const ir::Attribute& one : node.attributes) {
            const ops::AttributeSchema* field = schema.find_attribute(one.name);
            bool has_field = field != nullptr && !one.is_reference() && has_cpp_type(field->type) &&
                             static_cast<int>(field->type) == static_cast<int>(one.type) &&
                             is_field_name(one.name);
            if (!has_field && !is_default_of(&schema, one)) {
                return std::nullopt;
            }
            if (has_field && (field->is_required || !is_default_of(&schema, one))) {
                given.emplace_back(!field->is_required, &one);
            }
        }
        std::sort(given.begin(), given.end(), [](const auto& a, const auto& b) {
            return std::pair(a.first, a.second->name) < std::pair(b.first, b.second->name);
        });
        std::string words;
        for (const auto& [is_optional, one] : given) {
            words += fmt::format("{}.{} = {}", words.empty() ? "" : ", ", one->name,
                                 attribute(node, *one, Place::kField));
        }
        return words;
    }

    // By the names of the operator and the attributes.
    Call named_call(const ir::Node& node) {
        std::vector<ir::Value*> inputs;
        for (size_t i = 0; i < given_inputs(node); ++i) {
            inputs.push_back(node.input(i));
        }
        std::string attributes;
        for (const ir::Attribute& one : node.attributes) {
            if (!is_default_of(schema_of(node), one)) {
                attributes += fmt::format("{}{{{}, {}}}", attributes.empty() ? "" : ", ",
                                          cpp_string(one.name), attribute(node, one, Place::kList));
            }
        }
        has_unknown_ = has_unknown_ || schema_of(node) == nullptr;
        int64_t version = model_.opset_version(node.domain);
        if (version == 0) {
            fail(node, "the domain, which is not imported,");
        }
        size_t wanted = wanted_outputs(node);
        return {
            fmt::format("b.call({{{}, {}, {}, {}, {{{}}}, {}, {{}}}}){}", cpp_string(node.domain),
                        cpp_string(node.op_type), node.domain.empty() ? 0 : version, list(inputs),
                        attributes, wanted, wanted == 1 ? "[0]" : ""),
            wanted > 1};
    }

    enum class Place : uint8_t { kField, kList };  // only its own type fits a field
    std::string attribute(const ir::Node& node, const ir::Attribute& given, Place place) {
        bool is_field = place == Place::kField;
        if (const auto* number = given.get<int64_t>()) {
            return is_field ? cpp_int(*number) : fmt::format("int64_t{{{}}}", cpp_int(*number));
        }
        if (const auto* real = given.get<float>()) {
            return cpp_float(*real);
        }
        if (const auto* text = given.get<std::string>()) {
            std::string words = cpp_string(*text);
            return is_field || !words.starts_with('"') ? words
                                                       : fmt::format("std::string({})", words);
        }
        if (const auto* numbers = given.get<std::vector<int64_t>>()) {
            return cpp_ints(*numbers);
        }
        if (const auto* reals = given.get<std::vector<float>>()) {
            std::string words;
            for (float one : *reals) {
                words += (words.empty() ? "" : ", ") + cpp_float(one);
            }
            return fmt::format("std::vector<float>{{{}}}", words);
        }
        if (const auto* texts = given.get<std::vector<std::string>>()) {
            std::string words;
            for (const std::string& one : *texts) {
                words += (words.empty() ? "" : ", ") + cpp_string(one);
            }
            return fmt::format("std::vector<std::string>{{{}}}", words);
        }
        if (const auto* tensor = given.get<Tensor>()) {
            return array(*tensor, nullptr, given.name);
        }
        fail(node, fmt::format("the attribute {} ({})", quoted(given.name), name(given.type)));
        return std::string(kNothing);
    }

    // --- Control flow

    static const ir::Graph* graph_of(const ir::Node& node, std::string_view name) {
        const ir::Attribute* attribute = node.find_attribute(name);
        const auto* graph = attribute != nullptr ? attribute->get<ir::Graph*>() : nullptr;
        return graph != nullptr ? *graph : nullptr;
    }

    // The results of `if_` and `loop` are a list, also of one.
    void begin_block(const ir::Node& node, std::string_view call, size_t indent) {
        std::string name = fresh(ir::is_standard(node, "If") ? "branches" : "loop", "values");
        line(indent, fmt::format("auto {} = b.{}(", name, call));
        for (size_t i = 0; i < wanted_outputs(node); ++i) {
            results_.emplace_back(node.output(i), fmt::format("{}[{}]", name, i));
        }
    }
    void end_block(size_t first) {
        for (size_t i = first; i < results_.size(); ++i) {
            values_[results_[i].first] = results_[i].second;
        }
        results_.resize(first);
    }

    void write_if(const ir::Node& node, size_t indent, int depth) {
        const ir::Graph* yes = graph_of(node, "then_branch");
        const ir::Graph* no = graph_of(node, "else_branch");
        if (yes == nullptr || no == nullptr || node.input(0) == nullptr) {
            fail(node, "the branches");
            return;
        }
        std::string condition = value(*node.input(0));
        size_t first = results_.size();
        begin_block(node, "if_", indent);
        line(indent + kIndent, condition + ",");
        write_branch(*yes, indent + kIndent, depth, "},");
        write_branch(*no, indent + kIndent, depth, "});");
        end_block(first);
    }

    void write_branch(const ir::Graph& graph, size_t indent, int depth, std::string_view end) {
        line(indent, "[&] {");
        write_graph(graph, indent + kIndent, depth + 1);
        line(indent + kIndent, fmt::format("return std::vector<Expr>{};", list(graph.outputs)));
        line(indent, end);
    }

    // Whether an iteration goes on where the one before did, which a Builder makes of no condition;
    // what says so is left out.
    bool keeps_condition(const ir::Node& node, const ir::Graph& body) {
        const ir::Value* next = body.outputs[0];
        const ir::Node* producer = next->producer();
        bool is_copy = producer != nullptr && ir::is_standard(producer, "Identity") &&
                       producer->input(0) == body.inputs[1];
        bool is_kept = next == body.inputs[1] || is_copy || facts_.is_endless(node);
        bool is_alone = next->first_use() == nullptr &&
                        std::count(body.outputs.begin(), body.outputs.end(), next) == 1;
        if (is_kept && is_alone) {
            left_out_.insert(next);
        }
        return is_kept;
    }

    void write_loop(const ir::Node& node, size_t indent, int depth) {
        const ir::Graph* body = graph_of(node, "body");
        size_t carried = body != nullptr && body->inputs.size() >= 2 ? body->inputs.size() - 2 : 0;
        if (body == nullptr || body->inputs.size() < 2 || body->outputs.size() < carried + 1 ||
            node.input_count() < carried + 2) {
            fail(node, "the body");
            return;
        }
        std::vector<ir::Value*> before;
        std::string types;
        bool are_types_given = false;
        for (size_t i = 0; i < carried; ++i) {
            const ir::Value* inner = body->inputs[i + 2];
            before.push_back(node.input(i + 2));
            if (before.back() == nullptr) {
                fail(node, "a carried value that is left out");
                return;
            }
            std::string type = inner->type.to_string();
            bool is_given = inner->type.is_known() && type != before.back()->type.to_string();
            are_types_given = are_types_given || is_given;
            types += (types.empty() ? "" : ", ") + (is_given ? cpp_string(type) : "\"\"");
        }
        std::string count = value_or_nothing(node.input(0)), values = list(before);
        std::string condition =
            facts_.is_endless(node) ? std::string(kNothing) : value_or_nothing(node.input(1));
        bool is_kept = keeps_condition(node, *body);
        size_t first = results_.size();
        begin_block(node, "loop", indent);
        size_t inside = indent + kIndent;
        line(inside, fmt::format("{}, {},", count, values));
        std::string index = fresh(body->inputs[0]->name, "i"), state = fresh("carried", "carried");
        values_[body->inputs[0]] = index;
        for (size_t i = 0; i < carried; ++i) {
            values_[body->inputs[i + 2]] = fmt::format("{}[{}]", state, i);
        }
        auto named = [](bool is_read, const std::string& name) {
            return is_read ? " " + name : " /*" + name + "*/";
        };
        line(inside, fmt::format("[&](const Expr&{}, const std::vector<Expr>&{}) {{",
                                 named(facts_.is_read(*body->inputs[0]), index),
                                 named(carried > 0, state)));
        write_graph(*body, inside + kIndent, depth + 1);
        std::span<ir::Value* const> outputs(body->outputs);
        line(inside + kIndent,
             fmt::format("return Builder::Step{{{}, {}, {}}};", list(outputs.subspan(1, carried)),
                         list(outputs.subspan(carried + 1)),
                         is_kept ? std::string(kNothing) : value(*outputs[0])));
        line(inside, fmt::format("}}, {{{}}}, {});", are_types_given ? types : "", condition));
        end_block(first);
    }

    const ir::Model& model_;
    const Options& options_;
    Module module_;
    Facts facts_;
    int64_t standard_;
    bool has_header_;
    Names names_;
    std::unordered_map<const ir::Value*, std::string> values_;       // as expressions
    std::vector<std::pair<const ir::Value*, std::string>> results_;  // of open blocks
    std::unordered_set<const ir::Value*> left_out_;                  // conditions that are kept
    std::vector<std::pair<std::string, Tensor>> weights_;
    std::unordered_set<std::string> weight_names_;
    std::string text_;
    bool loads_weights_ = false;
    bool has_unknown_ = false;  // operators that nobody knows, up to here
    std::optional<Error> error_;
};

}  // namespace

Result<Script> decompile_cpp(const ir::Model& model, const Options& options) {
    return CppWriter(model, options).write();
}

}  // namespace sardonyx::decompile
