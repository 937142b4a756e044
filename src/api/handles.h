// What the handles of the C interface (sardonyx/c.h) point to, but for models, which session.h has.
#pragma once

#include <sardonyx/c.h>
#include <sardonyx/diagnostic.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

// Each begins with a number that tells it from the other kinds.
struct sdx_error {
    static constexpr uint32_t kKind = 0x73657272;
    uint32_t kind = kKind;
    bool is_compilation = false;
    std::string message;
    std::vector<sardonyx::Diagnostic> findings;
    int32_t end = SDX_NOT_ENDED;
};

struct sdx_token {
    static constexpr uint32_t kKind = 0x73746f6b;
    uint32_t kind = kKind;
    std::atomic<bool> is_cancelled = false;
};

namespace sardonyx::api {

// Never null: without memory it is one that need not be freed.
sdx_error* make_error(std::string message) noexcept;
sdx_error* make_error(std::string message, std::vector<Diagnostic> findings) noexcept;
// Of a run that was ended.
sdx_error* make_error(std::string message, int32_t end) noexcept;

// Whether the handle is there and of this kind.
template <typename Handle>
bool is_valid(const Handle* handle) {
    return handle != nullptr && handle->kind == Handle::kKind;
}

// Calls body(), which gives an sdx_error*; what it throws becomes one.
template <typename Body>
sdx_error* guarded(Body body) noexcept {
    try {
        return body();
    } catch (const std::exception& problem) {
        return make_error(problem.what());
    }
}

// The same for a function with a result, which is null after an error.
template <typename Handle, typename Body>
sdx_error* guarded(Handle** out, Body body) noexcept {
    if (out == nullptr) {
        return make_error("`out` is NULL");
    }
    *out = nullptr;
    return guarded(std::move(body));
}

}  // namespace sardonyx::api
