#include "eval/plan/chains.h"

#include <algorithm>
#include <unordered_map>

namespace sardonyx::eval {
namespace {

bool is_elementwise(const NodePlan& node, const FramePlan& frame) {
    switch (node.entry != nullptr ? node.entry->elementwise : Elementwise::kNever) {
        case Elementwise::kNever:
            return false;
        case Elementwise::kAlways:
            return true;
        case Elementwise::kByScalars:
            break;
    }
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](Operand i) {
        return i == kNoOperand ||
               (i < 0 && frame.constant(i).is_tensor() && frame.constant(i).tensor().rank() == 0);
    });
}

bool may_join(const NodePlan& node, const FramePlan& frame) {
    return !node.is_idle && !node.inputs.empty() && node.inputs.size() <= 32 &&
           node.outputs.size() == 1 && node.outputs[0] >= 0 && is_elementwise(node, frame);
}

// Collects the steps of one chain.
class ChainBuilder {
  public:
    explicit ChainBuilder(size_t first) { chain_.first = first; }

    bool makes(Operand operand) const { return made_.count(operand) != 0; }

    void add(const NodePlan& node) {
        ChainPlan::Step step;
        for (Operand operand : node.inputs) {
            // The results of steps come after all inputs, which are not all known yet: place()
            // counts them from -2 downwards until then.
            step.inputs.push_back(place(operand));
        }
        made_.emplace(node.outputs[0], static_cast<int>(chain_.steps.size()));
        chain_.steps.push_back(std::move(step));
    }

    ChainPlan finish(std::span<const NodePlan> nodes) {
        auto inputs = static_cast<int>(chain_.inputs.size());
        for (size_t s = 0; s < chain_.steps.size(); ++s) {
            const NodePlan& node = nodes[chain_.first + s];
            ChainPlan::Step& step = chain_.steps[s];
            for (size_t i = 0; i < step.inputs.size(); ++i) {
                if (step.inputs[i] < ChainPlan::kLeftOut) {
                    step.inputs[i] = inputs - 2 - step.inputs[i];
                    if (node.dying.contains(i)) {
                        step.dying.add(i);
                    }
                }
            }
            step.is_kept = true;
        }
        for (size_t s = 0; s < chain_.steps.size(); ++s) {
            for (Operand slot : nodes[chain_.first + s].releases) {
                if (auto found = made_.find(slot); found != made_.end()) {
                    chain_.steps[found->second].is_kept = false;
                }
            }
        }
        return std::move(chain_);
    }

  private:
    int place(Operand operand) {
        if (operand == kNoOperand) {
            return ChainPlan::kLeftOut;
        }
        if (auto made = made_.find(operand); made != made_.end()) {
            return -2 - made->second;
        }
        auto [place, is_new] = inputs_.emplace(operand, static_cast<int>(chain_.inputs.size()));
        if (is_new) {
            chain_.inputs.push_back(operand);
        }
        return place->second;
    }

    ChainPlan chain_;
    std::unordered_map<Operand, int> made_;    // the step that makes a value
    std::unordered_map<Operand, int> inputs_;  // its place among the inputs
};

}  // namespace

std::vector<ChainPlan> plan_chains(std::span<const NodePlan> nodes, const FramePlan& frame) {
    std::vector<ChainPlan> chains;
    for (size_t first = 0; first < nodes.size();) {
        ChainBuilder chain(first);
        size_t end = first;
        while (
            end < nodes.size() && may_join(nodes[end], frame) &&
            (end == first || std::any_of(nodes[end].inputs.begin(), nodes[end].inputs.end(),
                                         [&](Operand operand) { return chain.makes(operand); }))) {
            chain.add(nodes[end++]);
        }
        if (end - first > 1) {
            chains.push_back(chain.finish(nodes));
        }
        first = std::max(end, first + 1);
    }
    return chains;
}

}  // namespace sardonyx::eval
