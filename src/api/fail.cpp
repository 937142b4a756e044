#include "api/fail.h"

#include <sardonyx/error.h>

#include "base/screenful.h"

namespace sardonyx::api {

void fail(const std::string& message) {
    throw Error(screenful(message));
}

void fail_stopped(const std::string& message, bool is_late) {
    if (is_late) {
        throw TimeoutError(message);
    }
    throw CancelledError(message);
}

void fail_compilation(const std::string& text, std::vector<Diagnostic> diagnostics) {
    throw CompileError(text, std::move(diagnostics));
}

}  // namespace sardonyx::api
