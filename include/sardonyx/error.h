// The exceptions of the library.
#pragma once

#include <sardonyx/diagnostic.h>
#include <sardonyx/export.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// A file, bytes, an argument or an evaluation that is at fault; what() says what and where.
class SDX_API Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A run that its token or its timeout has ended.
class SDX_API CancelledError : public Error {
  public:
    using Error::Error;
};
// By its timeout.
class SDX_API TimeoutError : public CancelledError {
  public:
    using CancelledError::CancelledError;
};

// A script with mistakes. what() is the text that the program `sardonyx` would print.
class SDX_API CompileError : public Error {
  public:
    CompileError(const std::string& text, std::vector<Diagnostic> diagnostics)
        : Error(text), diagnostics_(std::move(diagnostics)) {}

    // All findings in the order of the source, warnings among them.
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  private:
    std::vector<Diagnostic> diagnostics_;
};

}  // namespace v1
}  // namespace sardonyx
