#include "torch/pt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/json_reader.h"
#include "torch/archive.h"
#include "torch/functional.h"
#include "torch/graph.h"
#include "torch/names.h"
#include "torch/output_specs.h"

namespace sardonyx::torch {
namespace {

constexpr int kMostSpecs = 200;  // of results in results

std::string shown_name(std::string_view name) {
    constexpr size_t kMostShown = 60;
    return python_string(name.substr(0, kMostShown), '\'');
}

// --- Names of results

// A name for each result, of the keys that lead to it; empty: it has none.
void add_leaf_names(JsonValue spec, const std::string& words, bool has_key, int depth,
                    std::vector<std::string>& names) {
    JsonItems children = spec["children_spec"].items();
    if (!spec["type"] || spec["type"].is_null() || depth > kMostSpecs) {
        names.push_back(has_key ? words : std::string());
        return;
    }
    // The context is JSON in a string.
    std::string context = spec["context"].text().value_or("null");
    Result<JsonDocument> document = JsonDocument::parse(context);
    JsonItems keys = document.ok() ? document->root().items() : JsonItems();
    bool is_keys = document.ok() && document->root().is_list() && keys.size() == children.size();
    auto key = keys.begin();
    for (size_t i = 0; JsonValue child : children) {
        std::string last = std::to_string(i++);
        if (is_keys) {
            last = (*key).text().value_or(std::string((*key).source()));
            ++key;
        }
        std::string path = words.empty() ? last : fmt::format("{}_{}", words, last);
        add_leaf_names(child, path, has_key || is_keys, depth + 1, names);
    }
}

std::vector<std::string> names_of_results(JsonValue module) {
    std::vector<std::string> names;
    JsonValue call = module["module_call_graph"].items()[0];
    if (!call) {
        return names;
    }
    std::string text = call["signature"]["out_spec"].text().value_or("");
    Result<JsonDocument> document = JsonDocument::parse(text);
    if (JsonValue results = document.ok() ? document->root().items()[1] : JsonValue()) {
        add_leaf_names(results, "", false, 0, names);
    }
    return names;
}

// --- The signature

struct WeightSpec {
    std::string placeholder;
    std::string key;
};

std::optional<WeightSpec> weight_of(JsonValue spec) {
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"parameter", "parameter_name"},
        {"buffer", "buffer_name"},
        {"tensor_constant", "tensor_constant_name"}};
    for (const auto& [kind, name] : kKinds) {
        if (JsonValue weight = spec[kind]) {
            return WeightSpec{weight["arg"]["name"].text().value_or(""),
                              weight[name].text().value_or("")};
        }
    }
    return std::nullopt;
}

OutputSpec output_spec_of(JsonValue spec) {
    constexpr std::pair<std::string_view, std::string_view> kTargets[] = {
        {"user_input_mutation", "user_input_name"},
        {"buffer_mutation", "buffer_name"},
        {"parameter_mutation", "parameter_name"}};
    OutputSpec made{std::string(spec.sole_name()), {}};
    for (const auto& [kind, name] : kTargets) {
        if (made.kind == kind) {
            made.target = spec.sole()[name].text().value_or("");
        }
    }
    return made;
}

// Results that only say in which order operators with effects are called; `graph.h` reads no nodes
// that make them.
void drop_tokens(Program& program, JsonValue specs) {
    for (size_t i = 0; JsonValue spec : specs.items()) {
        if (i < program.outputs.size() && spec["token"]) {
            program.outputs[i] = Value::none();
        }
        ++i;
    }
}

Result<void> choose_outputs(Program& program, JsonValue specs, std::vector<std::string> names) {
    for (JsonValue spec : specs.items()) {
        program.output_specs.push_back(output_spec_of(spec));
    }
    if (program.output_specs.size() != program.outputs.size()) {
        return Error{fmt::format("{} results, and {} are described", program.outputs.size(),
                                 program.output_specs.size())};
    }
    program.output_names = std::move(names);
    apply_output_specs(program);
    bool has_nan = std::any_of(
        program.outputs.begin(), program.outputs.end(),
        [](const Value& one) { return one.is(Value::Kind::kFloat) && std::isnan(one.real); });
    return has_nan ? Result<void>(Error{"a result that is not a number"}) : Result<void>();
}

// --- Whether the program is one

// Every value is made before it is read, once, and has a name.
class NameCheck {
  public:
    Result<void> check(const Program& program) {
        for (const Input& one : program.inputs) {
            add(one.name);
        }
        for (const Weight& one : program.weights) {
            add(one.name);
        }
        for (const Node& node : program.nodes) {
            each_argument_ref(node, [&](const std::string& name) { read(node.name, name); });
            add(node.name);
        }
        for (const Value& one : program.outputs) {
            each_ref(one, [&](const std::string& name) { read("output", name); });
        }
        if (!error_.empty()) {
            return Error{error_};
        }
        for (const Program& body : program.bodies) {
            SDX_TRY(NameCheck().check(body));
        }
        return {};
    }

  private:
    void add(const std::string& name) {
        bool is_new = !name.empty() && known_.insert(name).second;
        if (!is_new && error_.empty()) {
            error_ = fmt::format("a value with the name {}, which is none or another's",
                                 shown_name(name));
        }
    }
    void read(std::string_view reader, const std::string& name) {
        if (known_.count(name) == 0 && error_.empty()) {
            error_ = fmt::format("{} reads {}, which nothing has made", python_string(reader, '`'),
                                 shown_name(name));
        }
    }

    std::unordered_set<std::string> known_;
    std::string error_;
};

}  // namespace

Result<ReadProgram> read_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const DimNames& names) {
    Result<Archive> archive = Archive::open(bytes, std::move(owner));
    SDX_TRY(archive);
    SDX_ASSIGN(JsonValue model, archive->model());
    JsonValue module = model["graph_module"];
    JsonValue signature = module["signature"], graph = module["graph"];
    if (!graph["nodes"].is_list() || !graph["outputs"].is_list() ||
        !signature["input_specs"].is_list() || !signature["output_specs"].is_list()) {
        return Error{"its model is not of the form that torch writes"};
    }
    std::unordered_map<std::string, StoredTensor> stored;
    SDX_TRY(archive->read_tensors("weights", "weights", stored));
    SDX_TRY(archive->read_tensors("constants", "constants", stored));
    ReadProgram found;
    std::vector<Placeholder> placeholders;
    std::unordered_set<std::string> has_array;
    for (JsonValue spec : signature["input_specs"].items()) {
        if (std::optional<WeightSpec> weight = weight_of(spec)) {
            auto entry = stored.find(weight->key);
            if (entry == stored.end()) {
                return Error{fmt::format("{} has no entry", python_string(weight->key, '`'))};
            }
            if (entry->second.is_pickled) {
                return Error{
                    fmt::format("{} is pickled, and nothing is unpickled\n   = help: if it is "
                                "a tensor of a class of its own, as torchao's are, save "
                                "`exported.run_decompositions({{}})`",
                                python_string(weight->key, '`'))};
            }
            if (has_array.insert(weight->key).second) {
                SDX_ASSIGN(Tensor array, archive->tensor(entry->second));
                found.arrays.emplace_back(weight->key, std::move(array));
            }
            placeholders.push_back({weight->placeholder, true, weight->key, entry->second.entry});
        } else if (JsonValue input = spec["user_input"]) {
            JsonValue arg = input["arg"].sole();
            std::optional<std::string> name = arg["name"].text();
            name = name ? name : arg["as_name"].text();
            if (name) {
                placeholders.push_back({*name});
            }
        } else if (!spec["constant_input"] && !spec["token"]) {
            return Error{
                fmt::format("an input of the kind {}", python_string(spec.sole_name(), '`'))};
        }
    }
    GraphReading reading{names, model["range_constraints"], {}, {}};
    found.program = read_graph(graph, placeholders, reading);
    if (!reading.error.empty()) {
        return Error{reading.error};
    }
    for (JsonValue guard : model["guards_code"].items()) {
        if (std::optional<std::string> text = guard.text()) {
            found.guards.push_back(std::move(*text));
        }
    }
    drop_tokens(found.program, signature["output_specs"]);
    SDX_TRY(NameCheck().check(found.program));
    found.problems = std::move(reading.problems);
    for (Problem& one : change_statistics(found.program)) {
        found.problems.push_back(std::move(one));
    }
    SDX_TRY(choose_outputs(found.program, signature["output_specs"], names_of_results(module)));
    return found;
}

}  // namespace sardonyx::torch
