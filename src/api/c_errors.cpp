#include <new>

#include "api/handles.h"

namespace sardonyx::api {
namespace {

sdx_error& out_of_memory() {
    static sdx_error error{sdx_error::kKind, false, "out of memory"};
    return error;
}

}  // namespace

sdx_error* make_error(std::string message, bool is_compilation) noexcept {
    auto* error =
        new (std::nothrow) sdx_error{sdx_error::kKind, is_compilation, std::move(message)};
    return error != nullptr ? error : &out_of_memory();
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

void sdx_error_free(sdx_error* error) {
    if (is_valid(error) && error != &sardonyx::api::out_of_memory()) {
        delete error;
    }
}
