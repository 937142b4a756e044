#include "elaborate/jumps.h"

#include <algorithm>

#include "elaborate/branch.h"
#include "elaborate/emitter.h"
#include "elaborate/merge.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

using syntax::Range;

Symbol broke_flag(const Context& c) {
    return Symbol{kFirstFlag + 2 * static_cast<uint32_t>(c.at.loops)};
}

Symbol continued_flag(const Context& c) {
    return Symbol{kFirstFlag + 2 * static_cast<uint32_t>(c.at.loops) + 1};
}

Object flag_value(const Context& c, Symbol flag) {
    const Object* found = c.at.scope->find(flag);
    return found != nullptr && (found->is_tensor() || found->is(ObjectKind::kBool))
               ? *found
               : Object::boolean(false);
}

Object returned_result(const Context& c) {
    const Object* found = c.at.scope->find(kReturnedResult);
    return found != nullptr ? *found : Object::error();
}

void flag_return(Context& c, Branch& branch) {
    branch.set(kReturnedFlag, Object::boolean(true));
    branch.set(kReturnedResult, branch.result);
    c.at.result_range = branch.result_range;
    branch.jump = Jump::kNone;
    branch.returned = true;
    if (c.at.loops > 0) {
        branch.set(broke_flag(c), Object::boolean(true));
        branch.jump = Jump::kBreak;
    }
}

void flag_return(Context& c) {
    c.at.scope->set(kReturnedFlag, Object::boolean(true));
    c.at.scope->set(kReturnedResult, c.at.result);
    c.at.scope->set(broke_flag(c), Object::boolean(true));
}

ir::Value* dynamic_jump(Context& c, Range range) {
    if (c.at.loops == 0) {
        Object returned = flag_value(c, kReturnedFlag);
        return returned.is_tensor() ? returned.value() : nullptr;
    }
    Object broke = flag_value(c, broke_flag(c));
    Object continued = flag_value(c, continued_flag(c));
    if (broke.is_tensor() && continued.is_tensor()) {
        return Emitter(c, range).emit("Or", {broke.value(), continued.value()});
    }
    return broke.is_tensor() ? broke.value() : continued.is_tensor() ? continued.value() : nullptr;
}

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

void report_untyped_result(Context& c, Range range) {
    c.report(kStaticRequired, range,
             "the function returns on one way only, and the type of the result is not known")
        .with_help("annotate the parameters, or set a name and return it at the end");
}

Jump exec_body(Context& c, syntax::Stmts body) {
    size_t errors = c.program.diagnostics.error_count();
    Jump jump = exec(c, body);
    if (jump == Jump::kReturn || c.gave_up || !flag_value(c, kReturnedFlag).is_tensor()) {
        return jump;
    }
    if (c.program.diagnostics.error_count() != errors) {  // such as a `raise` in place of a return
        c.at.result = Object::error();
        return Jump::kReturn;
    }
    c.report(kMissingReturn, c.at.returns_at,
             "the function returns on one way, and ends without a result on the other")
        .with_help("return on every path");
    c.at.result = Object::error();
    return Jump::kReturn;
}

}  // namespace sardonyx::elaborate
