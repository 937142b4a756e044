// What a `class` statement makes.
#pragma once

#include <memory>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What a `class` statement binds; the error object after a diagnostic. `root`: what functions in it
// close over.
Object make_class(Context& c, const syntax::OpaqueStmt* statement, const ScriptFunction& top,
                  const std::shared_ptr<Scope>& root);

}  // namespace sardonyx::elaborate
