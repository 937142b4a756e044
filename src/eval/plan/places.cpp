#include "eval/plan/places.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/int128.h"

namespace sardonyx::eval {
namespace {

// Calls visit(operand) with each operand of the graph and those in it, which it may change.
template <typename Visit>
void for_each_operand(GraphPlan& graph, const Visit& visit) {
    auto all = [&visit](std::vector<Operand>& operands) {
        for (Operand& operand : operands) {
            visit(operand);
        }
    };
    all(graph.inputs);
    all(graph.outputs);
    for (NodePlan& node : graph.nodes) {
        all(node.inputs);
        all(node.outputs);
        all(node.releases);
        for (auto& [name, subgraph] : node.subgraphs) {
            for_each_operand(*subgraph, visit);
        }
    }
    for (ChainPlan& chain : graph.chains) {
        all(chain.inputs);
    }
}

// Calls unit(first, end, chain) for the nodes of each chain, and for each other node, without one.
template <typename Unit>
void for_each_unit(const GraphPlan& graph, const Unit& unit) {
    auto chain = graph.chains.begin();
    for (size_t i = 0; i < graph.nodes.size();) {
        const ChainPlan* of = nullptr;
        if (chain != graph.chains.end() && chain->first == i) {
            of = &*chain++;
        }
        size_t end = of != nullptr ? i + of->steps.size() : i + 1;
        unit(i, end, of);
        i = end;
    }
}

class PlaceSharing {
  public:
    explicit PlaceSharing(FramePlan& frame)
        : frame_(frame), places_(static_cast<size_t>(frame.slot_count), kNoOperand) {}

    void run() {
        std::vector<Operand> held;
        walk(frame_.graph, held);
        for_each_operand(frame_.graph, [this](Operand& operand) {
            operand = operand >= 0 ? place_of(operand) : operand;
        });
        sort_releases(frame_.graph);
        frame_.slot_count = count_;
    }

  private:
    // `held` gets the slots of the graph that no node of it releases.
    void walk(const GraphPlan& graph, std::vector<Operand>& held) {
        define(graph.inputs, held);
        for_each_unit(graph, [&](size_t first, size_t end, const ChainPlan* /*chain*/) {
            for (size_t i = first; i < end; ++i) {
                define(graph.nodes[i].outputs, held);
                walk_subgraphs(graph.nodes[i]);
            }
            for (size_t i = first; i < end; ++i) {
                for (Operand slot : graph.nodes[i].releases) {
                    release(slot);
                    released_[static_cast<size_t>(slot)] = true;
                }
            }
        });
    }

    void walk_subgraphs(const NodePlan& node) {
        for (const auto& [name, subgraph] : node.subgraphs) {
            std::vector<Operand> held;
            walk(*subgraph, held);
            for (Operand slot : held) {
                if (!released_[static_cast<size_t>(slot)]) {
                    release(slot);
                }
            }
        }
    }

    void define(const std::vector<Operand>& slots, std::vector<Operand>& held) {
        for (Operand slot : slots) {
            if (slot >= 0) {
                place_of(slot);
                held.push_back(slot);
            }
        }
    }

    static void sort_releases(GraphPlan& graph) {
        for (NodePlan& node : graph.nodes) {
            std::sort(node.releases.begin(), node.releases.end());
            for (auto& [name, subgraph] : node.subgraphs) {
                sort_releases(*subgraph);
            }
        }
    }

    Operand place_of(Operand slot) {
        Operand& place = places_[static_cast<size_t>(slot)];
        if (place != kNoOperand) {
            return place;
        }
        if (free_.empty()) {
            return place = count_++;
        }
        place = free_.top();
        free_.pop();
        return place;
    }

    void release(Operand slot) { free_.push(place_of(slot)); }

    FramePlan& frame_;
    std::vector<Operand> places_;  // of slots
    std::vector<bool> released_ = std::vector<bool>(places_.size());
    // The first one is taken, so that the plan is one for one model.
    std::priority_queue<Operand, std::vector<Operand>, std::greater<>> free_;
    Operand count_ = 0;
};

// Walks a frame as a run does, where all branches are taken.
class PeakSearch {
  public:
    PeakSearch(std::unordered_map<const FramePlan*, Peak>& known, int depth)
        : known_(known), depth_(depth) {}

    // Whose bytes those of a graph's inputs are.
    enum class InputsOf : uint8_t { kGraph, kCaller };

    Peak of(const FramePlan& frame, InputsOf inputs) {
        sizes_.assign(static_cast<size_t>(frame.slot_count), 0);
        walk(frame.graph, inputs);
        return peak_;
    }

  private:
    void walk(const GraphPlan& graph, InputsOf inputs) {
        bool has_inputs = inputs == InputsOf::kGraph;
        for (size_t i = 0; has_inputs && graph.graph != nullptr && i < graph.inputs.size() &&
                           i < graph.graph->inputs.size();
             ++i) {
            add(graph.inputs[i], graph.graph->inputs[i]);
        }
        update(nullptr, 0);
        for_each_unit(graph, [&](size_t first, size_t end, const ChainPlan* chain) {
            for (size_t i = first; i < end; ++i) {
                if (chain == nullptr || chain->steps[i - first].is_kept) {
                    add_outputs(graph.nodes[i]);
                }
            }
            update(&graph.nodes[first], inside(graph.nodes[first]));
            for (size_t i = first; i < end; ++i) {
                for (Operand slot : graph.nodes[i].releases) {
                    release(slot);
                }
            }
        });
    }

    void add_outputs(const NodePlan& node) {
        for (size_t i = 0; i < node.outputs.size(); ++i) {
            bool is_known = node.node != nullptr && i < node.node->output_count();
            add(node.outputs[i], is_known ? node.node->output(i) : nullptr);
        }
    }

    // What the function that the node calls takes, beside its inputs, which are the caller's.
    int64_t inside(const NodePlan& node) {
        for (const auto& [name, subgraph] : node.subgraphs) {
            Int128 before = live_;
            walk(*subgraph, InputsOf::kGraph);
            live_ = before;  // what is left lies in places that the next one takes
        }
        if (node.callee == nullptr) {
            return 0;
        }
        auto found = known_.find(node.callee);
        if (found == known_.end()) {
            // No run goes deeper.
            Peak peak = depth_ < kMaxDepth
                            ? PeakSearch(known_, depth_ + 1).of(*node.callee, InputsOf::kCaller)
                            : Peak{.unknown = 1};
            found = known_.emplace(node.callee, peak).first;
        }
        peak_.unknown += found->second.unknown;
        return found->second.bytes;
    }

    void add(Operand slot, const ir::Value* value) {
        if (slot < 0) {
            return;
        }
        int64_t size = value != nullptr ? size_of(*value) : -1;
        peak_.unknown += size < 0 ? 1 : 0;
        sizes_[static_cast<size_t>(slot)] = std::max<int64_t>(size, 0);
        live_ += std::max<int64_t>(size, 0);
    }
    void release(Operand slot) { live_ -= std::exchange(sizes_[static_cast<size_t>(slot)], 0); }
    void update(const NodePlan* node, int64_t inside) {
        Int128 bytes = std::min<Int128>(live_ + inside, std::numeric_limits<int64_t>::max());
        if (bytes > peak_.bytes) {
            peak_.bytes = static_cast<int64_t>(bytes);
            peak_.node = node;
        }
    }

    std::unordered_map<const FramePlan*, Peak>& known_;
    std::vector<int64_t> sizes_;  // of what is in the places
    Int128 live_ = 0;             // a file may say any sizes
    Peak peak_;
    int depth_;
};

}  // namespace

void share_places(FramePlan& frame) {
    PlaceSharing(frame).run();
}

Peak peak_of(const FramePlan& frame) {
    std::unordered_map<const FramePlan*, Peak> known;
    return PeakSearch(known, 0).of(frame, PeakSearch::InputsOf::kGraph);
}

int64_t size_of(const ir::Value& value) {
    if (!value.type.is_tensor() || !value.type.has_shape() ||
        value.type.element_type() == ElementType::kUndefined) {
        return -1;
    }
    Dims dims;
    for (const Dim& dim : value.type.shape()) {
        if (!dim.is_static()) {
            return -1;
        }
        dims.push_back(dim.value());
    }
    std::optional<int64_t> count = element_count(dims);
    return count ? static_cast<int64_t>(byte_size(value.type.element_type(), *count)) : -1;
}

}  // namespace sardonyx::eval
