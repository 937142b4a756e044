#include "diagnostics/pages.h"

#include <algorithm>

namespace sardonyx::diagnostics {

const Page* find_page(std::string_view code) {
    std::span<const Page> all = pages();
    auto found = std::lower_bound(
        all.begin(), all.end(), code,
        [](const Page& page, std::string_view wanted) { return page.code < wanted; });
    return found != all.end() && found->code == code ? &*found : nullptr;
}

}  // namespace sardonyx::diagnostics
