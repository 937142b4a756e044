// The kinds of diagnostics of schemas.
#pragma once

#include "diagnostics/diagnostic.h"

namespace sardonyx::schemas {

#define SDX_DIAGNOSTIC(identifier, code, severity) \
    inline constexpr diagnostics::Kind k##identifier{code, diagnostics::Severity::severity};
#include "schemas/diagnostics.def"
#undef SDX_DIAGNOSTIC

}  // namespace sardonyx::schemas
