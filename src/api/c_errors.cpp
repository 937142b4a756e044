#include <new>

#include "api/handles.h"

namespace sardonyx::api {
namespace {

sdx_error& out_of_memory() {
    static sdx_error error{.message = "out of memory"};
    return error;
}

sdx_error* new_error(sdx_error content) {
    auto* error = new (std::nothrow) sdx_error(std::move(content));
    return error != nullptr ? error : &out_of_memory();
}

}  // namespace

sdx_error* make_error(std::string message) noexcept {
    return new_error({.message = std::move(message)});
}

sdx_error* make_error(std::string message, std::vector<Diagnostic> findings) noexcept {
    return new_error(
        {.is_compilation = true, .message = std::move(message), .findings = std::move(findings)});
}

sdx_error* make_error(std::string message, int32_t end) noexcept {
    return new_error({.message = std::move(message), .end = end});
}

}  // namespace sardonyx::api

using sardonyx::api::is_valid;

const char* sdx_version(void) {
    return SDX_VERSION;
}

const char* sdx_error_message(const sdx_error* error) {
    return is_valid(error) ? error->message.c_str() : "";
}

int32_t sdx_error_is_compilation(const sdx_error* error) {
    return is_valid(error) && error->is_compilation ? 1 : 0;
}

int32_t sdx_error_end(const sdx_error* error) {
    return is_valid(error) ? error->end : SDX_NOT_ENDED;
}

size_t sdx_error_finding_count(const sdx_error* error) {
    return is_valid(error) ? error->findings.size() : 0;
}

sdx_error* sdx_error_finding(const sdx_error* error, size_t i, sdx_finding* out) {
    if (out == nullptr || i >= sdx_error_finding_count(error)) {
        return sardonyx::api::make_error("there is no such finding, or `out` is NULL");
    }
    const sardonyx::Diagnostic& one = error->findings[i];
    static const sardonyx::Location kNowhere;
    const sardonyx::Location& at = one.locations.empty() ? kNowhere : one.locations[0];
    *out = {static_cast<int32_t>(one.severity),
            one.code.c_str(),
            one.message.c_str(),
            one.help.c_str(),
            at.path.c_str(),
            at.line,
            at.column,
            at.end_line,
            at.end_column,
            at.begin,
            at.end,
            one.edits.size()};
    return nullptr;
}

sdx_error* sdx_error_edit(const sdx_error* error, size_t i, size_t k, sdx_edit* out) {
    if (out == nullptr || i >= sdx_error_finding_count(error) ||
        k >= error->findings[i].edits.size()) {
        return sardonyx::api::make_error("there is no such edit, or `out` is NULL");
    }
    const sardonyx::Edit& edit = error->findings[i].edits[k];
    *out = {edit.path.c_str(), edit.begin, edit.end, edit.replacement.c_str()};
    return nullptr;
}

void sdx_error_free(sdx_error* error) {
    if (is_valid(error) && error != &sardonyx::api::out_of_memory()) {
        delete error;
    }
}
