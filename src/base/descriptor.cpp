#include "base/descriptor.h"

#include <cerrno>

namespace sardonyx {

ssize_t read_some(int descriptor, void* bytes, size_t size) {
    ssize_t count = -1;
    do {
        count = ::read(descriptor, bytes, size);
    } while (count < 0 && errno == EINTR);
    return count;
}

bool write_bytes(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

}  // namespace sardonyx
