// The kinds of findings about model files as a whole.
#pragma once

#include "diagnostics/diagnostic.h"

namespace sardonyx::driver {

#define SDX_DIAGNOSTIC(identifier, code, severity) \
    inline constexpr diagnostics::Kind k##identifier{code, diagnostics::Severity::severity};
#include "driver/diagnostics.def"
#undef SDX_DIAGNOSTIC

}  // namespace sardonyx::driver
