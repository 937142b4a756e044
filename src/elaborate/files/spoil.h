// What a statement of a file that is not run leaves unknown.
#pragma once

#include <memory>

#include "elaborate/files/module.h"
#include "elaborate/flow/effects.h"
#include "elaborate/objects/program.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::elaborate {

// Makes everything unknown that the statement may change, `effects.binds` apart.
void spoil(Program& program, FileModule& module, const Effects& effects,
           const std::shared_ptr<UnknownCause>& cause);

}  // namespace sardonyx::elaborate
