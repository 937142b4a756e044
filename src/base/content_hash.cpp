#include "base/content_hash.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace sardonyx {

uint64_t content_hash(std::span<const std::string_view> parts) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    uint64_t hash = 0, word = 0, total = 0;
    size_t held = 0;  // bytes of `word`
    auto add = [&](uint64_t value) {
        hash = (hash ^ value) * kFactor;
        hash ^= hash >> 29;
    };
    for (std::string_view part : parts) {
        total += part.size();
        while (held == 0 && part.size() >= sizeof word) {
            uint64_t whole = 0;
            std::memcpy(&whole, part.data(), sizeof whole);
            add(whole);
            part.remove_prefix(sizeof whole);
        }
        while (!part.empty()) {
            size_t taken = std::min(sizeof word - held, part.size());
            uint64_t bytes = 0;
            std::memcpy(&bytes, part.data(), taken);
            word |= bytes << (8 * held);
            held += taken;
            part.remove_prefix(taken);
            if (held == sizeof word) {
                add(word);
                word = 0;
                held = 0;
            }
        }
    }
    add(word);
    add(total);
    return hash;
}

}  // namespace sardonyx
