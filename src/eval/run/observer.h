// What a run shows of itself while it goes on.
#pragma once

#include <span>

#include "eval/runtime/value.h"
#include "ir/ir.h"

namespace sardonyx::eval {

class RunObserver {
  public:
    virtual ~RunObserver() = default;
    // Whether it looks at values. Otherwise neighbouring nodes may run as one (chain.h), and are
    // done at once, without outputs.
    virtual bool wants_values() const { return true; }
    // A node has run. `outputs` are valid during the call; those that nobody reads are none.
    // `depth`: how many graphs and calls are around it, 1 for the nodes of the main graph. Nodes
    // whose inputs are constants have run before, when the model was prepared.
    virtual void node_done(const ir::Node& node, std::span<const RuntimeValue* const> outputs,
                           int depth) = 0;
    // A node has failed, and the run ends; those around it follow.
    virtual void node_failed(const ir::Node& node) { (void)node; }
};

}  // namespace sardonyx::eval
