#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace sardonyx {
namespace {

// Costs are doubled so that a change of letter case can cost half an edit.
int distance(std::string_view a, std::string_view b) {
    auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    std::vector<int> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) {
        previous[j] = static_cast<int>(2 * j);
    }
    for (size_t i = 1; i <= a.size(); ++i) {
        current[0] = static_cast<int>(2 * i);
        for (size_t j = 1; j <= b.size(); ++j) {
            int change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
            current[j] = std::min({previous[j] + 2, current[j - 1] + 2, previous[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                current[j] = std::min(current[j], before[j - 2] + 2);
            }
        }
        before.swap(previous);
        previous.swap(current);
    }
    return previous[b.size()];
}

// `GELU` for `Gelu`, which every letter's half edit would put out of reach.
bool is_same_but_case(std::string_view a, std::string_view b) {
    auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&lower](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr size_t kLongestWord = 128;  // the table is quadratic; nobody misspells more
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
        int d = distance(word, candidate);
        d = is_same_but_case(word, candidate) ? std::min(d, farthest) : d;
        if (d <= limit) {
            best = candidate;
            limit = d - 1;
        }
    }
    return best;
}

}  // namespace sardonyx
