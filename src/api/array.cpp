#include <fmt/format.h>
#include <sardonyx/array.h>

#include "api/fail.h"
#include "types/tensor.h"

namespace sardonyx {
inline namespace v1 {

int64_t Array::count() const {
    std::optional<int64_t> count = element_count(dims);
    if (!count) {
        api::fail("the dims of the array are not a valid shape");
    }
    return *count;
}

void Array::check(std::string_view type, size_t size) const {
    if (element_type != type) {
        api::fail(fmt::format("the array holds {}, not {}", element_type, type));
    }
    int64_t wanted = count();
    if (bytes.size() % size != 0 || bytes.size() / size != static_cast<size_t>(wanted)) {
        api::fail(fmt::format("the array has {} elements, and its dims say {}", bytes.size() / size,
                              wanted));
    }
}

}  // namespace v1
}  // namespace sardonyx
