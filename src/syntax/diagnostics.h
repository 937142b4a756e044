// The kinds of findings of the parser.
#pragma once

#include "diagnostics/diagnostic.h"

namespace sardonyx::syntax {

#define SDX_DIAGNOSTIC(identifier, code, severity) \
    inline constexpr diagnostics::Kind k##identifier{code, diagnostics::Severity::severity};
#include "syntax/diagnostics.def"
#undef SDX_DIAGNOSTIC

}  // namespace sardonyx::syntax
