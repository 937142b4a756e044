#include "models/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/stop.h"
#include "ir/attribute_text.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "models/unused.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

constexpr size_t kLeastSaved = 6;  // nodes that a function must save
constexpr size_t kLeastBlock = 3;  // nodes of a block
constexpr size_t kLongest = 2000;  // nodes of a block
constexpr size_t kMostFunctions = 16;
constexpr size_t kMostOffsets = 64;  // places where a run of blocks may begin
constexpr int64_t kFewElements = 64;

struct Run {
    size_t first = 0, length = 0, count = 0;  // of blocks: where the first begins, nodes, blocks

    size_t saved() const { return (count - 1) * length; }
};

// What the nodes of a run read from around it, and what others read of them.
struct Wiring {
    // An input of the function, with its value in each block.
    struct Input {
        std::vector<ir::Value*> values;
        bool is_constant = false;  // a small tensor that is the same in all
    };
    std::vector<Input> inputs;
    // Of each node in the block and each of its inputs: the number above, or -1.
    std::map<std::pair<size_t, size_t>, size_t> slots;
    std::vector<std::pair<size_t, size_t>> outputs;  // node in the block, output of it

    size_t size() const { return inputs.size() + outputs.size(); }
};

const Tensor* tensor_of(const ir::Value& value) {
    if (value.producer() == nullptr) {
        return is_stored(value) && value.constant ? &*value.constant : nullptr;
    }
    const ir::Attribute* attribute =
        is_stored(value) ? value.producer()->find_attribute("value") : nullptr;
    return attribute != nullptr ? attribute->get<Tensor>() : nullptr;
}

class Outliner {
  public:
    explicit Outliner(ir::Model& model) : model_(model), graph_(*model.graph) {}

    Outlined run() {
        Outlined result;
        while (result.functions < kMostFunctions && outline_once(result)) {
        }
        return result;
    }

  private:
    // --- Finding ---------------------------------------------------------------------------------

    // Nodes that do the same have one number; those with graphs have each its own.
    void read_nodes() {
        nodes_.clear();
        keys_.clear();
        places_.clear();
        std::map<std::string, size_t> numbers;
        for (ir::Node& node : graph_) {
            stop_point();
            if (is_stored_node(node)) {
                continue;
            }
            std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", node.domain, node.op_type,
                                           node.overload, node.input_count(), node.output_count());
            for (const ir::Attribute& attribute : node.attributes) {
                text += fmt::format("\n{}={}", attribute.name, ir::text_of(attribute));
            }
            bool is_alone = node.domain == kOutlineDomain;  // a call of a block
            ir::for_each_subgraph(node, [&](const ir::Graph&) { is_alone = true; });
            text += is_alone ? fmt::format("\n#{}", nodes_.size()) : std::string();
            keys_.push_back(numbers.emplace(std::move(text), numbers.size()).first->second);
            places_.emplace(&node, nodes_.size());
            nodes_.push_back(&node);
        }
    }

    static bool is_stored_node(const ir::Node& node) {
        return node.output_count() == 1 && tensor_of(*node.output()) != nullptr;
    }

    // Runs of equal blocks, the ones that save most first.
    std::vector<Run> find_runs() const {
        std::vector<Run> runs;
        for (size_t length = kLeastBlock; length <= std::min(keys_.size() / 2, kLongest);
             ++length) {
            size_t equal = 0;  // of places behind each other that are as `length` before
            for (size_t i = length; i <= keys_.size(); ++i) {
                bool is_equal = i < keys_.size() && keys_[i] == keys_[i - length];
                equal = is_equal ? equal + 1 : equal;
                if (!is_equal) {
                    add_runs(i - equal - length, equal, length, runs);
                    equal = 0;
                }
            }
        }
        std::stable_sort(runs.begin(), runs.end(),
                         [](const Run& a, const Run& b) { return a.saved() > b.saved(); });
        return runs;
    }

    static void add_runs(size_t first, size_t equal, size_t length, std::vector<Run>& runs) {
        size_t count = equal / length + 1;
        size_t offsets = std::min(equal % length + 1, kMostOffsets);
        if (count < 2 || (count - 1) * length < kLeastSaved) {
            return;
        }
        for (size_t offset = 0; offset < offsets; ++offset) {
            runs.push_back({first + offset, length, count});
        }
    }

    // --- Wiring ----------------------------------------------------------------------------------

    ir::Node& node_of(const Run& run, size_t block, size_t index) const {
        return *nodes_[run.first + block * run.length + index];
    }

    // The place of a node in its block; nothing where it is in none of these blocks.
    bool find_in_block(const Run& run, const ir::Node* node, size_t block, size_t& index) const {
        auto place = node != nullptr ? places_.find(node) : places_.end();
        size_t begin = run.first + block * run.length;
        if (place == places_.end() || place->second < begin ||
            place->second >= begin + run.length) {
            return false;
        }
        index = place->second - begin;
        return true;
    }

    bool same_attributes(const Run& run) const {
        for (size_t block = 1; block < run.count; ++block) {
            for (size_t i = 0; i < run.length; ++i) {
                const ir::Node &a = node_of(run, 0, i), &b = node_of(run, block, i);
                bool same = a.attributes.size() == b.attributes.size();
                for (size_t k = 0; same && k < a.attributes.size(); ++k) {
                    const ir::Attribute &x = a.attributes[k], &y = b.attributes[k];
                    same = x.name == y.name && x.type == y.type && ir::same_value(x.value, y.value);
                }
                for (size_t k = 0; same && k < a.output_count(); ++k) {
                    same = a.output(k)->name.empty() == b.output(k)->name.empty();
                }
                if (!same) {
                    return false;
                }
            }
        }
        return true;
    }

    // False: the blocks are not wired alike.
    bool wire(const Run& run, Wiring& wiring) const {
        std::map<std::vector<ir::Value*>, size_t> known;
        for (size_t i = 0; i < run.length; ++i) {
            const ir::Node& first = node_of(run, 0, i);
            for (size_t k = 0; k < first.input_count(); ++k) {
                std::vector<ir::Value*> values;
                size_t inside = 0, source = 0;
                for (size_t block = 0; block < run.count; ++block) {
                    ir::Value* value = node_of(run, block, i).input(k);
                    size_t index = 0;
                    const ir::Node* producer = value != nullptr ? value->producer() : nullptr;
                    if (find_in_block(run, producer, block, index)) {
                        size_t here = index * 64 + value->output_index();
                        if (inside++ != block || (block > 0 && here != source)) {
                            return false;
                        }
                        source = here;
                    }
                    values.push_back(value);
                }
                bool has_null = std::find(values.begin(), values.end(), nullptr) != values.end();
                if (inside != 0 || has_null) {
                    bool is_alike =
                        inside == run.count ||
                        (inside == 0 && std::count(values.begin(), values.end(), nullptr) ==
                                            static_cast<ptrdiff_t>(run.count));
                    if (!is_alike) {
                        return false;
                    }
                    continue;
                }
                auto [found, is_new] = known.try_emplace(values, wiring.inputs.size());
                if (is_new) {
                    bool is_constant = is_small_constant(values);
                    wiring.inputs.push_back({std::move(values), is_constant});
                }
                wiring.slots[{i, k}] = found->second;
            }
        }
        find_outputs(run, wiring);
        return !wiring.outputs.empty();
    }

    static bool is_small_constant(const std::vector<ir::Value*>& values) {
        const Tensor* first = tensor_of(*values[0]);
        return first != nullptr && first->count() <= kFewElements &&
               std::all_of(values.begin(), values.end(), [&](const ir::Value* value) {
                   const Tensor* tensor = tensor_of(*value);
                   return tensor != nullptr && ir::same_tensor(*first, *tensor);
               });
    }

    // Readers of each value outside of its block.
    void find_outputs(const Run& run, Wiring& wiring) const {
        std::set<std::pair<size_t, size_t>> read;
        auto see = [&](const ir::Value& value, const ir::Node* reader) {
            size_t index = 0, other = 0;
            auto place =
                value.producer() != nullptr ? places_.find(value.producer()) : places_.end();
            bool is_in_run = place != places_.end() && place->second >= run.first &&
                             place->second < run.first + run.length * run.count;
            if (!is_in_run) {
                return;
            }
            size_t block = (place->second - run.first) / run.length;
            if (find_in_block(run, value.producer(), block, index) &&
                !find_in_block(run, reader, block, other)) {
                read.emplace(index, value.output_index());
            }
        };
        for (const ir::Node& node : graph_) {
            stop_point();
            ir::for_each_read(node, [&](const ir::Value& value) { see(value, &node); });
        }
        for (const ir::Value* output : graph_.outputs) {
            see(*output, nullptr);
        }
        wiring.outputs.assign(read.begin(), read.end());
    }

    // --- Rewriting -------------------------------------------------------------------------------

    bool outline_once(Outlined& result) {
        read_nodes();
        const Run* best = nullptr;
        Wiring best_wiring;
        std::vector<Run> runs = find_runs();
        for (const Run& run : runs) {
            if (best != nullptr && run.saved() < best->saved()) {
                break;
            }
            Wiring wiring;
            bool fits = same_attributes(run) && wire(run, wiring);
            if (fits && (best == nullptr || wiring.size() < best_wiring.size())) {
                best = &run;
                best_wiring = std::move(wiring);
            }
        }
        if (best == nullptr) {
            return false;
        }
        ir::Function& function = make_function(*best, best_wiring, result.functions + 1);
        for (size_t block = 0; block < best->count; ++block) {
            call(*best, best_wiring, block, function);
        }
        replace_outputs();
        ++result.functions;
        result.calls += best->count;
        return true;
    }

    // The inputs that a call gives: what is computed, then what is stored.
    static std::vector<size_t> parameters(const Wiring& wiring) {
        std::vector<size_t> order;
        for (bool wants_stored : {false, true}) {
            for (size_t i = 0; i < wiring.inputs.size(); ++i) {
                const Wiring::Input& input = wiring.inputs[i];
                bool has_stored = tensor_of(*input.values[0]) != nullptr;
                if (!input.is_constant && has_stored == wants_stored) {
                    order.push_back(i);
                }
            }
        }
        return order;
    }

    ir::Function& make_function(const Run& run, const Wiring& wiring, size_t number) {
        ir::Function& function =
            *model_.add_function(kOutlineDomain, fmt::format("block_{}", number));
        function.opset_imports = model_.opset_imports;
        std::unordered_map<const ir::Value*, ir::Value*> values;
        std::vector<ir::Value*> inputs(wiring.inputs.size());
        for (size_t parameter : parameters(wiring)) {
            inputs[parameter] =
                model_.add_input(function.body, wiring.inputs[parameter].values[0]->name);
        }
        for (size_t i = 0; i < wiring.inputs.size(); ++i) {
            const ir::Value& first = *wiring.inputs[i].values[0];
            if (wiring.inputs[i].is_constant) {
                ir::Node* node = model_.make_node("", "Constant", {}, 1);
                node->attributes.push_back(
                    ir::make_attribute(model_.intern("value"), *tensor_of(first)));
                node->output()->name = first.name;
                function.body->insert(node);
                inputs[i] = node->output();
            }
        }
        for (size_t i = 0; i < run.length; ++i) {
            const ir::Node& given = node_of(run, 0, i);
            std::vector<ir::Value*> operands;
            for (size_t k = 0; k < given.input_count(); ++k) {
                auto slot = wiring.slots.find({i, k});
                operands.push_back(slot != wiring.slots.end()  ? inputs[slot->second]
                                   : given.input(k) != nullptr ? values.at(given.input(k))
                                                               : nullptr);
            }
            ir::Node* node =
                model_.make_node(given.domain, given.op_type, operands, given.output_count());
            node->overload = given.overload;
            node->attributes = given.attributes;
            function.body->insert(node);
            for (size_t k = 0; k < given.output_count(); ++k) {
                node->output(k)->name = given.output(k)->name;
                values[given.output(k)] = node->output(k);
            }
        }
        for (auto [index, output] : wiring.outputs) {
            function.body->outputs.push_back(values.at(node_of(run, 0, index).output(output)));
        }
        if (model_.opset_version(kOutlineDomain) == 0) {
            model_.opset_imports.push_back({model_.intern(kOutlineDomain), 1});
        }
        return function;
    }

    void call(const Run& run, const Wiring& wiring, size_t block, const ir::Function& function) {
        std::vector<ir::Value*> inputs;
        for (size_t parameter : parameters(wiring)) {
            ir::Value* value = wiring.inputs[parameter].values[block];
            auto found = replaced_.find(value);
            inputs.push_back(found != replaced_.end() ? found->second : value);
        }
        ir::Node* node =
            model_.make_node(function.domain, function.name, inputs, wiring.outputs.size());
        ir::Node& last = node_of(run, block, run.length - 1);
        graph_.insert(node, last.next());
        for (size_t i = 0; i < wiring.outputs.size(); ++i) {
            auto [index, output] = wiring.outputs[i];
            take_place(*node_of(run, block, index).output(output), *node->output(i));
        }
        std::vector<ir::Node*> gone;
        for (size_t i = run.length; i > 0; --i) {
            gone.push_back(&node_of(run, block, i - 1));
        }
        remove_nodes(gone);
    }

    void take_place(ir::Value& old, ir::Value& made) {
        made.name = old.name;
        made.type = old.type;
        replaced_[&old] = &made;
        old.replace_uses_with(&made);
    }

    // Outputs of graphs are not among the uses of a value. Once for all calls: it is a walk over
    // the model.
    void replace_outputs() {
        for_each_graph(graph_, [&](ir::Graph& graph) {
            for (ir::Value*& output : graph.outputs) {
                auto found = replaced_.find(output);
                output = found != replaced_.end() ? found->second : output;
            }
        });
    }

    ir::Model& model_;
    ir::Graph& graph_;
    std::vector<ir::Node*> nodes_;
    std::vector<size_t> keys_;
    std::unordered_map<const ir::Node*, size_t> places_;
    std::unordered_map<const ir::Value*, ir::Value*> replaced_;  // by outputs of calls
};

}  // namespace

Outlined outline(ir::Model& model) {
    bool has_blocks =
        std::any_of(model.functions.begin(), model.functions.end(),
                    [](const ir::Function* one) { return one->domain == kOutlineDomain; });
    return model.graph == nullptr || has_blocks ? Outlined() : Outliner(model).run();
}

}  // namespace sardonyx::models
