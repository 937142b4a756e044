// What has been done since a point, so that it can be taken back.

#include "elaborate/emit/trial.h"

#include <utility>

#include "elaborate/emit/constant_pool.h"
#include "elaborate/emit/emit.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Trial::Trial(Context& c)
    : c_(c),
      scope_(c.at.scope.get()),
      graph_(c.graph),
      last_(c.graph->last_node()),
      said_(c.program.diagnostics),
      types_(c.program.types.size()),
      fresh_(c.fresh_dims),
      mark_(c.at.scope->open()),
      changes_(c.changes.size()),
      inputs_(c.loop_inputs.size()) {
    ++c.open_trials;
}

void Trial::keep() {
    if (scope_ == nullptr) {
        return;
    }
    std::exchange(scope_, nullptr)->keep();
    if (--c_.open_trials == 0) {
        // Nothing takes them back any more, and what they keep may be large.
        for (size_t i = changes_; i < c_.changes.size(); ++i) {
            c_.changes[i].take_back = nullptr;
        }
    }
}

void Trial::take_back() {
    if (graph_->last_node() != last_) {
        discard_behind(*graph_, last_);
        c_.pool->small.clear();  // some of them stood there
    }
    take_back_state();
}

void Trial::take_back(ir::Graph& tried) {
    discard(tried);
    take_back_state();
}

void Trial::take_back_state() {
    for (; c_.changes.size() > changes_; c_.changes.pop_back()) {
        c_.changes.back().take_back(c_.changes.back().object);
    }
    said_.take_back();
    c_.program.types.resize(types_);
    c_.fresh_dims = fresh_;
    c_.loop_inputs.resize(inputs_);
    std::exchange(scope_, nullptr)->undo(mark_);
    --c_.open_trials;
}

}  // namespace sardonyx::elaborate
