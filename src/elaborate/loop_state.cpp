#include "elaborate/loop_state.h"

#include <fmt/format.h>

#include "elaborate/emit.h"
#include "elaborate/emitter.h"
#include "elaborate/graph_loop.h"
#include "elaborate/jumps.h"

namespace sardonyx::elaborate {

LoopState::LoopState(Context& c, syntax::Range statement)
    : c_(c), before_loops_(c.at.loops), before_begin_(c.at.loop_begin), before_end_(c.at.loop_end) {
    ++c.at.loops;
    if (before_loops_ == 0) {
        c.at.loop_begin = statement.begin;
        c.at.loop_end = statement.end;
    }
}

LoopState::~LoopState() {
    c_.at.loops = before_loops_;
    c_.at.loop_begin = before_begin_;
    c_.at.loop_end = before_end_;
}

void LoopState::clear_flags() {
    c_.at.scope->set(broke_flag(c_), Object::boolean(false));
    c_.at.scope->set(continued_flag(c_), Object::boolean(false));
}

Trial::Trial(Context& c)
    : c_(c),
      last_(c.graph->last_node()),
      said_(c.program.diagnostics.items().size()),
      fresh_(c.fresh_dims),
      mark_(c.at.scope->open()),
      changes_(c.undo.size()) {}

void Trial::take_back() {
    discard_behind(*c_.graph, last_);
    for (; c_.undo.size() > changes_; c_.undo.pop_back()) {
        c_.undo.back().take_back(c_.undo.back().object);
    }
    c_.int64_constants.clear();
    c_.program.diagnostics.truncate(said_);
    c_.fresh_dims = fresh_;
    c_.at.scope->undo(mark_);
}

bool count_iteration(Context& c, syntax::Range range) {
    if (++c.iterations <= c.options.limits.static_iterations) {
        return true;
    }
    if (!c.gave_up) {
        c.gave_up = true;
        c.report(kLimitExceeded, range,
                 fmt::format("more than {} static iterations", c.options.limits.static_iterations))
            .with_help("loop over a tensor, so that the loop runs in the graph");
    }
    return false;
}

}  // namespace sardonyx::elaborate
