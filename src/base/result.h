// Result<T>: the error channel of bytes and files. g++ 12 and clang 16 both lack std::expected.
#pragma once

#include <memory>
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

// The error of a Result, if it has one, behind a pointer: a result that is right moves and ends at
// the cost of a test.
class ErrorPointer {
  public:
    ErrorPointer() = default;
    [[gnu::cold, gnu::noinline]] explicit ErrorPointer(Error error)
        : error_(std::make_unique<Error>(std::move(error))) {}
    ErrorPointer(const ErrorPointer& other) : error_(other.copied()) {}
    [[gnu::always_inline]] ErrorPointer(ErrorPointer&&) noexcept = default;
    ErrorPointer& operator=(const ErrorPointer& other) {
        error_ = other.copied();
        return *this;
    }
    ErrorPointer& operator=(ErrorPointer&&) noexcept = default;
    [[gnu::always_inline]] ~ErrorPointer() {
        if (error_ != nullptr) [[unlikely]] {
            release();
        }
    }

    explicit operator bool() const { return error_ != nullptr; }
    const Error& operator*() const { return *error_; }

  private:
    std::unique_ptr<Error> copied() const {
        return error_ == nullptr ? nullptr : std::make_unique<Error>(*error_);
    }
    [[gnu::cold, gnu::noinline]] void release() { error_.reset(); }

    std::unique_ptr<Error> error_;
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
        return *error_;
    }

  private:
    std::optional<T> value_;
    ErrorPointer error_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    const Error& error() const {
        SDX_CHECK(!ok());
        return *error_;
    }

  private:
    ErrorPointer error_;
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
