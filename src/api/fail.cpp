#include "api/fail.h"

#include <sardonyx/error.h>

#include "base/screenful.h"

namespace sardonyx::api {

void fail(const std::string& message) {
    throw Error(screenful(message));
}

void fail_cancelled(const std::string& message) {
    throw CancelledError(message);
}

void fail_late(const std::string& message) {
    throw TimeoutError(message);
}

void fail_compilation(const std::string& text, std::vector<Diagnostic> diagnostics) {
    throw CompileError(text, std::move(diagnostics));
}

}  // namespace sardonyx::api
