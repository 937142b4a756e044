// The note about an If node that a function makes in place of its call.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Notes that the condition has made an If node, if the function that runs is another one than that
// whose nodes are made: such functions are mostly written for arguments that decide it.
void note_inlined_if(Context& c, syntax::Range condition);

}  // namespace sardonyx::elaborate
