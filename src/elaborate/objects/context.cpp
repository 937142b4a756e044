// The limits of an elaboration, the log of a scope, and what is closed over.
#include "elaborate/objects/context.h"

#include <fmt/format.h>

#include "base/stop.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// Apart from where it is called: the check is made for each expression and passes nearly always.
[[gnu::cold, gnu::noinline]] void give_up_evaluation(Context& c, Range range, bool is_too_long) {
    c.gave_up = true;
    c.report(kLimitExceeded, range,
             is_too_long ? fmt::format("more than {} steps of evaluation", c.options.limits.steps)
                         : fmt::format("nested more than {} deep", c.options.limits.depth))
        .with_help(is_too_long
                       ? "loops over static values are unrolled: with a tensor as the limit of "
                         "its `range`, a loop is one node of the graph"
                       : "name the inner parts, or end the recursion");
}

}  // namespace

DepthGuard::DepthGuard(Context& c, Range range) : c_(c), ok_(++c.depth <= c.options.limits.depth) {
    bool is_too_long = ++c.steps > c.options.limits.steps + c.more_steps;
    stop_point_at(c.steps);
    if ((!ok_ || is_too_long) && !c.gave_up) {
        give_up_evaluation(c, range, is_too_long);
    }
    ok_ = ok_ && !c.gave_up;
}

void close_over(Program& program, const std::shared_ptr<Scope>& scope) {
    std::shared_ptr<Scope> next = scope;
    for (; next != nullptr && !next->is_closed_over; next = next->enclosing) {
        next->is_closed_over = true;
        program.closed_over.push_back(next);
    }
}

std::vector<Symbol> Scope::changed(size_t mark) const {
    std::vector<Symbol> names;
    SymbolSet seen;
    for (size_t i = mark; i < log_.size(); ++i) {
        if (seen.insert(log_[i].name)) {
            names.push_back(log_[i].name);
        }
    }
    return names;
}

void Scope::undo(size_t mark) {
    while (log_.size() > mark) {
        Change& change = log_.back();
        if (change.before) {
            values_[change.name] = std::move(*change.before);
        } else {
            values_.erase(change.name);
        }
        log_.pop_back();
    }
    --open_marks_;
}

}  // namespace sardonyx::elaborate
