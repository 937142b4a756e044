// The kinds of diagnostics of elaborate.
#pragma once

#include "diagnostics/diagnostic.h"

namespace sardonyx::elaborate {

#define SDX_DIAGNOSTIC(identifier, code, severity) \
    inline constexpr diagnostics::Kind k##identifier{code, diagnostics::Severity::severity};
#include "elaborate/diagnostics.def"
#undef SDX_DIAGNOSTIC

}  // namespace sardonyx::elaborate
