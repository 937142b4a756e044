#include "base/nearest.h"

#include <algorithm>
#include <array>

namespace sardonyx {
namespace {

constexpr size_t kLongestWord = 128;  // the table is quadratic; nobody misspells more

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Costs are doubled so that a change of letter case can cost half an edit. The result is exact up
// to `limit`; what is farther is somewhere above it. Both words have at most twice kLongestWord
// bytes.
int distance(std::string_view a, std::string_view b, int limit) {
    std::array<std::array<int, 2 * kLongestWord + 1>, 3> rows;
    int *before = rows[0].data(), *previous = rows[1].data(), *current = rows[2].data();
    for (size_t j = 0; j <= b.size(); ++j) {
        previous[j] = static_cast<int>(2 * j);
    }
    int least_before = 0;
    for (size_t i = 1; i <= a.size(); ++i) {
        int least = current[0] = static_cast<int>(2 * i);
        for (size_t j = 1; j <= b.size(); ++j) {
            int change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
            current[j] = std::min({previous[j] + 2, current[j - 1] + 2, previous[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                current[j] = std::min(current[j], before[j - 2] + 2);
            }
            least = std::min(least, current[j]);
        }
        // A path to the end steps on one of two rows that follow each other.
        if (std::min(least, least_before) > limit) {
            return limit + 1;
        }
        least_before = least;
        int* free = before;
        before = previous;
        previous = current;
        current = free;
    }
    return previous[b.size()];
}

// `GELU` for `Gelu`, which every letter's half edit would put out of reach.
bool is_same_but_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
    if (word.size() > kLongestWord) {
        return {};
    }
    const int farthest = 2 * std::max<int>(1, static_cast<int>(word.size()) / 3);
    int limit = farthest;
    std::string_view best;
    for (std::string_view candidate : candidates) {
        int gap = static_cast<int>(candidate.size()) - static_cast<int>(word.size());
        if (2 * std::abs(gap) > limit) {
            continue;
        }
        int d = distance(word, candidate, limit);
        d = is_same_but_case(word, candidate) ? std::min(d, farthest) : d;
        if (d <= limit) {
            best = candidate;
            limit = d - 1;
        }
    }
    return best;
}

}  // namespace sardonyx
