// The log of changes of static objects: who was changed, in order, and, as long as something is
// tried (emit/trial.h), how it is taken back.
#pragma once

#include <functional>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

struct Context;

// One change. Outside of trials nothing is taken back, and there is no function: what it would keep
// alive could be copies of a large list for each change of it.
struct Change {
    Object object;
    std::function<void(const Object&)> take_back;
};

// Logs a change, made or about to be made.
void log_change(Context& c, const Object& object, std::function<void(const Object&)> take_back);

// Logs that the contents of a list, set, dict or array are about to be replaced, and keeps a copy
// of them where they may be taken back. Counts steps in proportion to the number that is copied or
// moved.
void log_replacement(Context& c, const Object& object);

}  // namespace sardonyx::elaborate
