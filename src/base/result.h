// Result<T>: the error channel of bytes and files. g++ 12 and clang 16 both lack std::expected.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace sardonyx {

// What went wrong, in words for the user: where, what, and how to mend it.
struct Error {
    Error() = default;
    // What is done before an error is rare: cold code, out of the way of the rest.
    [[gnu::cold, gnu::noinline]] explicit Error(std::string words) : message(std::move(words)) {}

    std::string message;
};

template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }

    T& value() & {
        SDX_CHECK(ok());
        return *value_;
    }
    const T& value() const& {
        SDX_CHECK(ok());
        return *value_;
    }
    T&& value() && {
        SDX_CHECK(ok());
        return std::move(*value_);
    }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }

    const Error& error() const {
        SDX_CHECK(!ok());
        return error_;
    }

  private:
    std::optional<T> value_;
    Error error_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), ok_(false) {}

    bool ok() const { return ok_; }
    explicit operator bool() const { return ok_; }
    const Error& error() const {
        SDX_CHECK(!ok_);
        return error_;
    }

  private:
    Error error_;
    bool ok_ = true;
};

}  // namespace sardonyx

// Returns the error of a failed Result from the enclosing function.
#define SDX_TRY(expression)                                                         \
    do {                                                                            \
        if (const auto& sdx_result = (expression); !sdx_result.ok()) [[unlikely]] { \
            return ::sardonyx::Error(sdx_result.error());                           \
        }                                                                           \
    } while (false)

#define SDX_CONCAT_(a, b) a##b
#define SDX_CONCAT(a, b) SDX_CONCAT_(a, b)
// Initialises `declaration` with the value of a Result, or returns its error.
#define SDX_ASSIGN(declaration, expression)                                  \
    auto SDX_CONCAT(sdx_result_, __LINE__) = (expression);                   \
    if (!SDX_CONCAT(sdx_result_, __LINE__).ok()) [[unlikely]] {              \
        return ::sardonyx::Error(SDX_CONCAT(sdx_result_, __LINE__).error()); \
    }                                                                        \
    declaration = std::move(SDX_CONCAT(sdx_result_, __LINE__)).value()
