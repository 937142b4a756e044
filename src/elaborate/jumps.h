// What follows a jump that happens or not on a tensor's value: it runs in an If on the flag that
// the jump has set (scopes/flags.h).
#pragma once

#include "elaborate/objects/context.h"
#include "elaborate/scopes/branch.h"

namespace sardonyx::elaborate {

// Runs `body` unless `skip`, which a flag has given: it starts with the flags of the loop cleared.
template <typename Body>
Jump run_unless(Context& c, ir::Value* skip, syntax::Range range, Body&& body);

// After a loop: its return is also a break of the loop around it. kReturn: it has surely returned.
Jump leave_loop(Context& c);

// Runs the body of a function; reports a return that happens on one way only.
Jump exec_body(Context& c, syntax::Stmts body);

// The branch for what has jumped: outside of loops it returns.
Branch skipping_branch(Context& c);

void clear_flags(Context& c);

Jump merge_skipped(Context& c, ir::Value* skip, Branch& yes, Branch& no, syntax::Range range);

template <typename Body>
Jump run_unless(Context& c, ir::Value* skip, syntax::Range range, Body&& body) {
    Branch yes = skipping_branch(c);
    Branch no = run_branch(c, [&] {
        clear_flags(c);
        return body();
    });
    return merge_skipped(c, skip, yes, no, range);
}

}  // namespace sardonyx::elaborate
