#include "torch/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>

#include "torch/archive.h"
#include "torch/autocast.h"
#include "torch/foreach.h"
#include "torch/literals.h"
#include "torch/names.h"
#include "torch/outs.h"
#include "torch/regions.h"
#include "torch/script.h"
#include "torch/storages.h"
#include "torch/vmap.h"

namespace sardonyx::torch {
namespace {

constexpr int kMostBodies = 50;  // in bodies
constexpr std::string_view kAten = "torch.ops.aten.";
constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";
constexpr std::string_view kVmap = "torch._functorch.predispatch.";
constexpr std::string_view kOps = "torch.ops.";

class GraphReader {
  public:
    GraphReader(JsonValue graph, std::string name, GraphReading& reading, int depth,
                AutocastState state = {})
        : graph_(graph),
          reading_(reading),
          depth_(depth),
          autocast_(state, [this](const std::string& one) { return tensor_in_region(one); }),
          state_of_bodies_(std::move(state)) {
        program_.name = std::move(name);
        for (auto& [key, meta] : graph["tensor_values"].members()) {
            tensors_[key].meta = meta;
        }
    }

    void add_inputs(const std::vector<Placeholder>& placeholders) {
        for (const Placeholder& one : placeholders) {
            if (is_complex(one.name)) {
                program_.pairs.insert(one.name);
            }
            if (one.is_weight) {
                program_.weights.push_back({one.name, one.key, annotation(one.name)});
                groups_[one.name] = one.group;
            } else {
                std::string type = annotation(one.name, TensorRole::kInput);
                program_.inputs.push_back({one.name, type.empty() ? std::string(kIntInput) : type});
            }
        }
    }
    void add_body_inputs() {
        for (JsonValue one : graph_["inputs"].items()) {
            Node nobody;
            Value value = argument(one, nobody);
            if (value.is_ref()) {
                program_.inputs.push_back({value.text, ""});
            }
        }
        program_.is_tuple = graph_["is_single_tensor_return"].boolean() != true;
    }
    void add_bounds() {
        for (auto& [symbol, bounds] : reading_.bounds.members()) {
            auto named = reading_.names.find(symbol);
            program_.bounds[named != reading_.names.end() ? named->second : std::string(symbol)] = {
                bounds["min_val"].integer(), bounds["max_val"].integer()};
        }
    }

    Program read() {
        for (JsonValue raw : graph_["nodes"].items()) {
            node(raw);
            if (has_failed()) {
                return {};
            }
        }
        Node nobody;
        for (JsonValue one : graph_["outputs"].items()) {
            program_.outputs.push_back(argument(one, nobody));
        }
        open_regions(program_, [this](const auto& body, const auto& name, const auto& now) {
            auto& tensors = tensors_of_bodies_[body];
            if (auto found = tensors.find(name); found != tensors.end()) {
                tensors_[now].meta = found->second;
            }
        });
        add_problems(reading_.problems, split_outs(program_));
        FactsOf facts = [this](std::string_view name) { return facts_of(std::string(name)); };
        add_problems(reading_.problems,
                     settle_storages(program_, groups_, facts, MemoryTold::kOffsets));
        return std::move(program_);
    }

  private:
    struct Tensor {
        JsonValue meta;
        std::unique_ptr<TensorFacts> facts;
    };

    void fail(std::string words) {
        if (reading_.error.empty()) {
            reading_.error = std::move(words);
        }
    }
    bool has_failed() const { return !reading_.error.empty(); }
    void refuse(const Node& node, std::string words, std::string help = {}) {
        reading_.problems.push_back({node.place, std::move(words), std::move(help)});
    }
    std::string name_in(JsonValue value, std::string_view member = "name") {
        std::optional<std::string> name = value[member].text();
        if (!name) {
            fail(fmt::format("{} where a value is named", shown(value.source())));
        }
        return name.value_or("");
    }

    // --- Types

    int64_t element_type(const std::string& name) const {
        auto found = tensors_.find(name);
        return found != tensors_.end() ? found->second.meta["dtype"].integer().value_or(0) : 0;
    }
    bool is_complex(const std::string& name) const {
        return !complex_part_name(element_type(name)).empty();
    }

    Size size_in(JsonValue value) {
        Result<Size> size = read_size(value);
        if (!size.ok()) {
            fail(size.error().message);
            return {};
        }
        return std::move(*size);
    }
    std::vector<Size> sizes_in(JsonValue list) {
        std::vector<Size> sizes;
        for (JsonValue one : list.items()) {
            sizes.push_back(size_in(one));
        }
        return sizes;
    }

    const TensorFacts* facts_of(const std::string& name) {
        auto found = tensors_.find(name);
        if (found == tensors_.end()) {
            return nullptr;
        }
        std::unique_ptr<TensorFacts>& facts = found->second.facts;
        if (facts == nullptr) {
            facts = std::make_unique<TensorFacts>();
            facts->sizes = sizes_in(found->second.meta["sizes"]);
            facts->strides = sizes_in(found->second.meta["strides"]);
            facts->element_type = element_type(name);
            facts->offset = size_in(found->second.meta["storage_offset"]);
            if (facts->sizes.size() != facts->strides.size()) {
                fail(fmt::format("{} has {} sizes and {} strides", shown(name), facts->sizes.size(),
                                 facts->strides.size()));
                facts->sizes.clear();
                facts->strides.clear();
            }
        }
        return facts.get();
    }

    // What decides about its casts.
    std::optional<AutocastTensor> tensor_in_region(const std::string& name) {
        auto found = tensors_.find(name);
        if (found == tensors_.end()) {
            return std::nullopt;
        }
        std::optional<std::string> device = found->second.meta["device"]["type"].text();
        return AutocastTensor{annotation(name), device == "cuda" ? "cuda" : "cpu"};
    }

    // The type of a tensor; a complex input has its parts as the last dimension.
    enum class TensorRole : uint8_t { kInner, kInput };
    std::string annotation(const std::string& name, TensorRole role = TensorRole::kInner) {
        auto found = tensors_.find(name);
        if (found == tensors_.end()) {
            return {};
        }
        int64_t number = found->second.meta["dtype"].integer().value_or(0);
        std::string_view base = element_type_name(number);
        bool has_parts = base.empty() && role == TensorRole::kInput;
        base = has_parts ? complex_part_name(number) : base;
        if (base.empty()) {
            return {};
        }
        std::string dims;
        for (JsonValue one : found->second.meta["sizes"].items()) {
            auto [dim, is_new] = reading_.dims.try_emplace(one.source());
            if (is_new) {
                Result<Size> size = read_size(one);
                if (!size.ok()) {
                    fail(size.error().message);
                    return {};
                }
                dim->second = size->annotation(reading_.names);
            }
            dims += dims.empty() ? "" : ", ";
            dims += dim->second;
        }
        if (has_parts) {
            dims += dims.empty() ? "2" : ", 2";
        }
        return dims.empty() ? std::string(base) : fmt::format("{}[{}]", base, dims);
    }

    // --- Arguments

    Value symbolic(JsonValue value) {
        return value["as_name"] ? Value::ref(name_in(value, "as_name"))
                                : read_literal(value.sole(), reading_.error);
    }

    template <typename Read>
    Value each(JsonValue list, Read read) {
        std::vector<Value> items;
        for (JsonValue one : list.items()) {
            items.push_back(read(one));
        }
        return Value::list(std::move(items));
    }

    Value element_type_argument(JsonValue value, const Node& node) {
        int64_t number = value.integer().value_or(0);
        std::string_view name = element_type_name(number);
        if (name.empty() && node.takes_pairs) {
            name = complex_part_name(number);
        }
        if (name.empty()) {
            refuse(node, fmt::format("element type {} has no equivalent in ONNX", number));
            name = "FLOAT";
        }
        return Value::of(Value::Kind::kElementType, std::string(name));
    }

    Value argument(JsonValue argument_value, const Node& node, int depth = 0) {
        std::string_view kind = argument_value.sole_name();
        JsonValue value = argument_value.sole();
        auto is_one_of = [&](std::initializer_list<std::string_view> kinds) {
            return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
        };
        auto named = [this](JsonValue one) { return Value::ref(name_in(one)); };
        if (!value || depth > 2) {
            fail(fmt::format("an argument of {} has no value, or several", shown(node.name)));
            return {};
        }
        if (kind == "as_none") {
            return Value::none();
        }
        if (kind == "as_tensor") {
            return named(value);
        }
        if (kind == "as_custom_obj") {
            refuse(node, "an argument that is an object of C++");
            return named(value);
        }
        if (kind == "as_optional_tensor") {
            return argument(value, node, depth + 1);
        }
        if (is_one_of({"as_tensors", "as_nested_tensors"})) {
            return each(value, [&](JsonValue one) {
                return one.is_list() ? each(one, named) : named(one);
            });
        }
        if (kind == "as_optional_tensors") {
            return each(value, [&](JsonValue one) { return argument(one, node, depth + 1); });
        }
        if (is_one_of({"as_int", "as_bool", "as_string", "as_ints", "as_bools", "as_strings",
                       "as_int_lists"})) {
            return read_literal(value, reading_.error);
        }
        if (is_one_of({"as_float", "as_floats", "as_float_lists"})) {
            return read_real(value, reading_.error);
        }
        if (is_one_of({"as_sym_int", "as_sym_bool", "as_sym_float"})) {
            return symbolic(value);
        }
        if (is_one_of({"as_sym_ints", "as_sym_bools", "as_sym_floats"})) {
            return each(value, [&](JsonValue one) { return symbolic(one); });
        }
        if (kind == "as_scalar_type") {
            return element_type_argument(value, node);
        }
        if (kind == "as_complex" && node.takes_pairs) {
            Value pair = Value::of(Value::Kind::kTuple);
            pair.items = {read_real(value["real"], reading_.error),
                          read_real(value["imag"], reading_.error)};
            return pair;
        }
        if (kind == "as_graph") {
            return body(value);
        }
        if (!is_one_of({"as_memory_format", "as_layout", "as_device"})) {
            refuse(node, fmt::format("an argument of the kind {}", quoted_target(kind)));
        }
        return Value::none();
    }

    Value body(JsonValue value) {
        std::string name = name_in(value);
        bool is_known = std::any_of(program_.bodies.begin(), program_.bodies.end(),
                                    [&](const Program& one) { return one.name == name; });
        if (!is_known && depth_ >= kMostBodies) {
            fail("its graphs are nested too deeply");
        } else if (!is_known) {
            GraphReader inner(value["graph"], name, reading_, depth_ + 1, state_of_bodies_);
            inner.add_body_inputs();
            Program made = inner.read();
            made.name = name;
            for (const auto& [key, tensor] : inner.tensors_) {
                tensors_of_bodies_[name][key] = tensor.meta;
            }
            program_.bodies.push_back(std::move(made));
        }
        return Value::of(Value::Kind::kBody, name);
    }

    // --- Nodes

    std::vector<std::string> names_of_outputs(JsonItems outputs) {
        std::vector<std::string> names;
        for (JsonValue one : outputs) {
            std::string_view kind = one.sole_name();
            JsonValue value = one.sole();
            if (kind == "as_tensors" || kind == "as_optional_tensors") {
                for (JsonValue each : value.items()) {
                    JsonValue inner = each["name"] ? each : each["as_tensor"];
                    names.push_back(inner["name"].text().value_or(""));
                }
            } else if (kind == "as_tensor") {
                names.push_back(name_in(value));
            } else if (kind.starts_with("as_sym")) {
                names.push_back(name_in(value, "as_name"));
            } else {
                names.emplace_back();
            }
        }
        return names;
    }

    bool takes_complex(JsonItems inputs) {
        bool found = false;
        auto see = [&](JsonValue name) {
            found = found || (name && is_complex(name.text().value_or("")));
        };
        for (JsonValue one : inputs) {
            see(one["arg"]["as_tensor"]["name"]);
            for (JsonValue each : one["arg"]["as_tensors"].items()) {
                see(each["name"]);
            }
        }
        return found;
    }

    // Whether a token is its first argument and result: `run_decompositions` orders effects so.
    static bool is_ordered(JsonValue raw) {
        return raw["target"].is_text("torch.ops.higher_order.with_effects");
    }
    std::string called(JsonValue raw) {
        JsonValue called = is_ordered(raw) ? raw["inputs"].items()[1] : JsonValue();
        return called ? name_in(called["arg"], "as_operator") : name_in(raw, "target");
    }
    static JsonItems inputs_of(JsonValue raw) {
        JsonItems inputs = raw["inputs"].items();
        bool is_call = is_ordered(raw) && inputs.size() > 1;
        return inputs.after(is_call ? 2 : 0);  // the token and the operator
    }

    void node(JsonValue raw) {
        std::string target = called(raw);
        bool is_higher_order = target.starts_with(kHigherOrder);
        if ((target.starts_with(kAten) && means_nothing(packet_of_path(target))) ||
            (is_higher_order && means_nothing(last_part(target)))) {
            return;
        }
        JsonItems results = raw["outputs"].items();
        std::vector<std::string> outputs = names_of_outputs(results);
        if (is_ordered(raw) && !outputs.empty()) {
            outputs.erase(outputs.begin());
        }
        if (std::all_of(outputs.begin(), outputs.end(), std::mem_fn(&std::string::empty))) {
            outputs.clear();  // `None`
        }
        bool is_single = outputs.size() == 1 && !results[0]["as_tensors"] &&
                         (!is_higher_order || raw["is_hop_single_tensor_return"].boolean() == true);
        Node node;
        node.name = is_single ? outputs[0] : raw["name"].text().value_or("");
        if (node.name.empty()) {
            node.name = fmt::format("results_of_{}", fmt::join(outputs, "_"));
        }
        node.place = reading_.places.read(raw["metadata"]);
        if (target.starts_with(kVmap)) {
            vmap(std::move(node), last_part(target), raw, outputs);
            return;
        }
        // An empty list, as `unbind` of an empty dimension gives: nothing can read it.
        bool is_empty_list =
            outputs.empty() && results.size() == 1 && results[0]["as_tensors"].is_list();
        if (is_empty_list && target.starts_with(kAten) && !packet_of_path(target).ends_with('_')) {
            return;
        }
        bool is_region = is_higher_order && last_part(target).starts_with("wrap_with_");
        bool is_write = target.starts_with(kAten) && is_of_lists(packet_of_path(target));
        if (outputs.empty() && !is_region && !is_write) {
            refuse(node, quoted_target(target) + " has no result, so it may change something",
                   std::string(kWithoutTransformation));
            return;
        }
        node.takes_pairs = takes_complex(raw["inputs"].items()) ||
                           std::any_of(outputs.begin(), outputs.end(),
                                       [this](const std::string& one) { return is_complex(one); });
        if (is_higher_order) {
            std::string_view kind = last_part(target);
            state_of_bodies_ = state_in(kind, raw, node);
            std::vector<Value> args = all_arguments(raw, node);
            if (!set_bodies(node, kind, std::move(args), outputs.size())) {
                reading_.problems.push_back(without_bodies(node, kind));
            }
        } else if (target.starts_with(kOps)) {
            set_operator(node, target, raw);
        } else {
            node.target = python_target(last_part(target));
            node.args = all_arguments(raw, node);
            if (!is_python_operation(packet_of(node.target))) {
                refuse(node, fmt::format("{} has no translation", quoted_target(target)));
            }
        }
        if (!outputs.empty()) {
            autocast_.cast_arguments(node, outputs, program_.nodes);
        }
        add(std::move(node), outputs, is_single);
    }

    // A mark of torch.vmap; those of other transformations are said once.
    void vmap(Node node, std::string_view name, JsonValue raw,
              const std::vector<std::string>& outputs) {
        node.target = vmap_target(name);
        if (node.target.empty()) {
            refuse(node, std::string(kOtherTransformation), std::string(kWithoutTransformation));
            if (!outputs.empty()) {
                add(std::move(node), outputs, outputs.size() == 1);
            }
            return;
        }
        node.args = all_arguments(raw, node);
        node.type = outputs.empty() ? std::string() : annotation(outputs[0]);
        program_.nodes.push_back(std::move(node));
    }

    // How operators choose their types in the bodies of a node.
    AutocastState state_in(std::string_view kind, JsonValue raw, const Node& node) {
        JsonItems inputs = raw["inputs"].items();
        if (kind != "wrap_with_autocast" || inputs.size() < 3) {
            return autocast_.state();
        }
        std::vector<Value> args;
        for (size_t i = 0; i < 3; ++i) {
            args.push_back(argument(inputs[i]["arg"], node));
        }
        std::optional<AutocastState> state = state_in_region(autocast_.state(), args);
        if (!state && args[2] != Value::boolean(false)) {
            refuse(node, "a region of torch.autocast for a device that is neither cpu nor cuda");
        }
        return state.value_or(autocast_.state());
    }

    static std::string quoted_target(std::string_view target) {
        constexpr size_t kMostShown = 200;
        return python_string(target.substr(0, kMostShown), '`');
    }

    std::vector<Value> all_arguments(JsonValue raw, const Node& node) {
        std::vector<Value> args;
        for (JsonValue one : inputs_of(raw)) {
            args.push_back(argument(one["arg"], node));
        }
        return args;
    }

    void set_operator(Node& node, std::string_view target, JsonValue raw) {
        std::string_view path = target.substr(kOps.size());
        std::string_view space = path.substr(0, path.find('.'));
        std::string_view rest = path.substr(std::min(space.size() + 1, path.size()));
        std::string_view packet = rest.substr(0, rest.find('.'));
        std::string_view overload = rest.substr(std::min(packet.size() + 1, rest.size()));
        node.target = fmt::format("{}::{}.{}", space, packet, overload);
        bool is_changed = writes_in_place(node.target);
        std::string name = node.target;
        if (packet == "sym_size" || packet == "sym_numel") {
            node.target = fmt::format("py::{}", packet.substr(4));
        } else if (packet == "item" || packet == "_local_scalar_dense") {
            std::string_view kind = raw["outputs"].items()[0].sole_name();
            node.target = "py::item";
            node.element_type = kind == "as_sym_bool"    ? "bool"
                                : kind == "as_sym_float" ? "float"
                                                         : "int";
        }
        set_arguments(node, target, raw);
        if (is_changed) {
            if (!node.args.empty() && node.args[0].is_ref()) {
                node.writes = node.args[0].text;
            }
        } else if (has_out(name) && form_without_outs(name).empty()) {
            auto out = std::find_if(node.kwargs.begin(), node.kwargs.end(),
                                    [](const auto& one) { return one.first == kOut; });
            if (out != node.kwargs.end() && out->second.is_ref()) {
                node.writes = out->second.text;
                return;
            }
            refuse(node, fmt::format("{} writes into several tensors", quoted_target(name)));
        }
    }

    void set_arguments(Node& node, std::string_view target, JsonValue raw) {
        constexpr int64_t kKeyword = 2;
        bool by_name = false;
        for (JsonValue one : inputs_of(raw)) {
            std::string name = name_in(one);
            if (!is_argument_name(name) && !(name.empty() && is_ordered(raw))) {
                fail(fmt::format("{} has an argument {}", quoted_target(target), shown(name)));
                return;
            }
            if (is_left_out(name)) {
                by_name = true;
            } else if (by_name || one["kind"].integer() == kKeyword) {
                node.kwargs.emplace_back(name, argument(one["arg"], node));
            } else {
                node.args.push_back(argument(one["arg"], node));
            }
        }
    }

    // With its type; where it gives several results, one node more for each.
    void add(Node node, const std::vector<std::string>& outputs, bool is_single) {
        if (is_single) {
            node.type = annotation(outputs[0]);
            if (is_complex(outputs[0])) {
                program_.pairs.insert(node.name);
            }
            program_.nodes.push_back(std::move(node));
            return;
        }
        std::string name = node.name;
        std::shared_ptr<const Place> place = node.place;
        program_.nodes.push_back(std::move(node));
        for (size_t i = 0; i < outputs.size(); ++i) {
            const std::string& one = outputs[i];
            if (is_complex(one)) {
                program_.pairs.insert(name);
            }
            if (one.empty()) {
                continue;
            }
            Node part;
            part.name = one;
            part.target = "py::getitem";
            part.args = {Value::ref(name), Value::number(static_cast<int64_t>(i))};
            part.type = annotation(one);
            part.place = place;
            if (is_complex(one)) {
                part.is_twice = true;
                program_.pairs.insert(one);
            }
            program_.nodes.push_back(std::move(part));
        }
    }

    JsonValue graph_;
    GraphReading& reading_;
    int depth_;
    Autocast autocast_;              // of this graph
    AutocastState state_of_bodies_;  // of the node that is being read
    Program program_;
    std::unordered_map<std::string, Tensor> tensors_;
    std::map<std::string, std::map<std::string, JsonValue>> tensors_of_bodies_;
    std::map<std::string, std::string, std::less<>> groups_;
};

}  // namespace

Program read_graph(JsonValue graph, const std::vector<Placeholder>& placeholders,
                   GraphReading& reading) {
    GraphReader reader(graph, "main", reading, 0);
    reader.add_inputs(placeholders);
    reader.add_bounds();
    Program program = reader.read();
    program.is_model = true;
    return program;
}

}  // namespace sardonyx::torch
