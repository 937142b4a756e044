#include "elaborate/jumps.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/flags.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

using syntax::Range;

Branch skipping_branch(Context& c) {
    Branch branch = run_branch(c, [] { return Jump::kNone; });
    if (c.at.loops == 0) {
        branch.jump = Jump::kReturn;
        branch.result = returned_result(c);
        branch.result_range = c.at.result_range;
    }
    return branch;
}

void clear_flags(Context& c) {
    auto clear = [&c](Symbol flag) {
        if (flag_value(c, flag).is_tensor()) {
            c.at.scope->set(flag, Object::boolean(false));
        }
    };
    clear(kReturnedFlag);
    if (c.at.loops > 0) {
        clear(broke_flag(c));
        clear(continued_flag(c));
    }
}

Jump merge_skipped(Context& c, ir::Value* skip, Branch& yes, Branch& no, Range range) {
    // A flag that the body leaves false is what it was: it has run because the flag was false.
    auto is_unset = [](const std::pair<Symbol, Object>& change) {
        return is_flag(change.first) && change.second.is(ObjectKind::kBool) &&
               !change.second.as_bool();
    };
    no.changes.erase(std::remove_if(no.changes.begin(), no.changes.end(), is_unset),
                     no.changes.end());
    return merge(c, skip, yes, no, range, range.end);
}

Jump leave_loop(Context& c) {
    Object returned = flag_value(c, kReturnedFlag);
    if (!returned.is_tensor()) {
        if (!returned.as_bool()) {
            return Jump::kNone;
        }
        c.at.scope->set(kReturnedFlag, Object::boolean(false));
        c.at.result = returned_result(c);
        return Jump::kReturn;
    }
    if (c.at.loops > 0) {
        c.at.scope->set(broke_flag(c), returned);
    }
    return Jump::kNone;
}

Jump exec_body(Context& c, syntax::Stmts body) {
    diagnostics::Checkpoint before(c.program.diagnostics);
    Jump jump = exec(c, body);
    if (jump == Jump::kReturn || c.gave_up || !flag_value(c, kReturnedFlag).is_tensor()) {
        return jump;
    }
    if (before.has_errors()) {  // such as a `raise` in place of a return
        c.at.result = Object::error();
        return Jump::kReturn;
    }
    c.report(kMissingReturn, c.at.returns_at,
             "the function returns on one path, and ends without a result on the other")
        .with_help("return on every path");
    c.at.result = Object::error();
    return Jump::kReturn;
}

}  // namespace sardonyx::elaborate
