// The kinds of findings of inference.
#pragma once

#include "diagnostics/diagnostic.h"

namespace sardonyx::infer {

#define SDX_DIAGNOSTIC(identifier, code, severity) \
    inline constexpr diagnostics::Kind k##identifier{code, diagnostics::Severity::severity};
#include "infer/diagnostics.def"
#undef SDX_DIAGNOSTIC

}  // namespace sardonyx::infer
