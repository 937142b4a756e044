// How the library throws. Only fail.cpp sees the public exceptions: the engine has an Error of its
// own, which no file can see together with the public one.
#pragma once

#include <sardonyx/diagnostic.h>

#include <string>
#include <vector>

namespace sardonyx::api {

// Throws sardonyx::Error of the public interface.
[[noreturn]] void fail(const std::string& message);
// Throws CancelledError.
[[noreturn]] void fail_cancelled(const std::string& message);
// Throws TimeoutError.
[[noreturn]] void fail_late(const std::string& message);
// Throws CompileError.
[[noreturn]] void fail_compilation(const std::string& text, std::vector<Diagnostic> diagnostics);

}  // namespace sardonyx::api
