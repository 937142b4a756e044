#include "elaborate/objects/tolerance.h"

#include "elaborate/objects/context.h"
#include "syntax/imports.h"

namespace sardonyx::elaborate {
namespace {

using diagnostics::Kind;
using diagnostics::Severity;

constexpr Kind kTolerated[] = {
    {kMissingInputType.code, Severity::kWarning},
    {kReturnTypeMismatch.code, Severity::kWarning},
    {kAnnotationMismatch.code, Severity::kWarning},
    {kUnknownOperator.code, Severity::kWarning},
};

}  // namespace

bool is_for_onnxscript(const Context& c) {
    const Environment* environment = c.function().environment;
    return (environment != nullptr && environment->is_for_onnxscript()) ||
           syntax::imports_package(c.program.sources.text(c.tree().file), "onnxscript");
}

const Kind& tolerated(const Context& c, const Kind& kind) {
    for (const Kind& one : kTolerated) {
        if (one.code == kind.code && is_for_onnxscript(c)) {
            return one;
        }
    }
    return kind;
}

}  // namespace sardonyx::elaborate
