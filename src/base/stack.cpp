#include "base/stack.h"

#include <cstdint>
#if defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace sardonyx {
namespace {

struct Bounds {
    uintptr_t low = 0;  // the stack grows down to it
    uintptr_t high = 0;
};

Bounds bounds_of_thread() {
    Bounds bounds;
#if defined(__APPLE__)
    bounds.high = reinterpret_cast<uintptr_t>(pthread_get_stackaddr_np(pthread_self()));
    bounds.low = bounds.high - pthread_get_stacksize_np(pthread_self());
#elif defined(__linux__)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* low = nullptr;
        size_t size = 0;
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            bounds.low = reinterpret_cast<uintptr_t>(low);
            bounds.high = bounds.low + size;
        }
        pthread_attr_destroy(&attributes);
    }
#endif
    return bounds;
}

}  // namespace

bool is_stack_low(size_t reserve) {
    // Asking the system takes microseconds. The limit of the main thread may be lowered meanwhile,
    // which nobody does.
    thread_local const Bounds bounds = bounds_of_thread();
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    // Elsewhere: on a stack that somebody has made.
    bool is_known = here > bounds.low && here <= bounds.high;
    return is_known && here - bounds.low < reserve;
}

}  // namespace sardonyx
