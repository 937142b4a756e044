#include "elaborate/scopes/loop_state.h"

#include <fmt/format.h>

#include "base/stop.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/objects/context.h"
#include "elaborate/scopes/flags.h"

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

bool count_iteration(Context& c, syntax::Range range) {
    stop_point_at(++c.iterations);
    int64_t most = c.options.limits.static_iterations + c.more_iterations;
    if (c.iterations <= most) {
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
