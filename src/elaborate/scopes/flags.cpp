// Jumps that happen or not on a tensor's value: the flags that they set.

#include "elaborate/scopes/flags.h"

#include "elaborate/emit/emitter.h"
#include "elaborate/objects/context.h"
#include "elaborate/scopes/branch.h"

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

void report_untyped_result(Context& c, Range range) {
    c.report(kStaticRequired, range,
             "the function returns on one path only, and the type of the result is not known")
        .with_help("annotate the parameters, or set a name and return it at the end");
}

}  // namespace sardonyx::elaborate
