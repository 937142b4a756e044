#include "elaborate/scopes/inlined_if.h"

namespace sardonyx::elaborate {

void note_inlined_if(Context& c, syntax::Range condition) {
    if (c.unit->function == nullptr || c.unit->function == &c.function()) {
        return;
    }
    c.report(kInlinedIf, condition,
             "this makes an `If` node: it is not decided by what is known of the arguments")
        .with_help("give sizes that are known, or compute both and choose by `op.Where`")
        .is_for_callers = true;
}

}  // namespace sardonyx::elaborate
