// The kinds of diagnostics of lint.
#pragma once

#include "diagnostics/diagnostic.h"

namespace sardonyx::lint {

#define SDX_DIAGNOSTIC(identifier, code, severity) \
    inline constexpr diagnostics::Kind k##identifier{code, diagnostics::Severity::severity};
#include "lint/diagnostics.def"
#undef SDX_DIAGNOSTIC

}  // namespace sardonyx::lint
