#include "base/shared_library.h"

// Platforms without a dynamic linker (emscripten) have no such libraries.
#if __has_include(<dlfcn.h>) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#define SDX_HAS_DYNAMIC_LINKER 1
#endif

namespace sardonyx {

#ifdef SDX_HAS_DYNAMIC_LINKER
SharedLibrary::SharedLibrary(const char* name) : handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {}

void* SharedLibrary::find(const char* symbol) const {
    return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}
#else
SharedLibrary::SharedLibrary(const char*) {}

void* SharedLibrary::find(const char*) const {
    return nullptr;
}
#endif

}  // namespace sardonyx
