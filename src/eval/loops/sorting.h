// Sorts of long lines that a run can leave before they are done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "eval/loops/scratch.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval {

// out = two sorted runs that follow each other, in their order. False: the run shall end.
template <typename T, typename Less>
bool merge_runs(const Workers& workers, const T* left, const T* middle, const T* end, T* out,
                const Less& less) {
    const T* right = middle;
    while (left != middle && right != end) {
        for (int64_t i = 0; i < kPolled && left != middle && right != end; ++i) {
            *out++ = less(*right, *left) ? *right++ : *left++;
        }
        if (workers.poll()) [[unlikely]] {
            return false;
        }
    }
    std::copy(right, end, std::copy(left, middle, out));
    return true;
}

// Sorts n items, which are no more than bytes; equal ones stay in their order. False: the run shall
// end, and the items are in no order, each of them one of the items.
template <typename T, typename Less>
bool sort_in_turns(const Workers& workers, T* items, int64_t n, const Less& less) {
    static_assert(std::is_trivially_copyable_v<T>);
    bool goes_on = in_turns(workers, n, kPolled, [&](int64_t begin, int64_t end) {
        if constexpr (std::is_integral_v<T> && std::is_same_v<Less, std::less<>>) {
            std::sort(items + begin, items + end);
        } else {
            std::stable_sort(items + begin, items + end, less);
        }
    });
    if (!goes_on || n <= kPolled) {
        return goes_on;
    }
    Scratch<T> other(n);
    T* from = items;
    T* to = other.data();
    for (int64_t width = kPolled; goes_on && width < n; width *= 2, std::swap(from, to)) {
        for (int64_t begin = 0; goes_on && begin < n; begin += 2 * width) {
            int64_t middle = std::min(n, begin + width), end = std::min(n, begin + 2 * width);
            goes_on =
                merge_runs(workers, from + begin, from + middle, from + end, to + begin, less);
        }
    }
    if (goes_on && from != items) {
        std::copy(from, from + n, items);
    }
    return goes_on;
}

}  // namespace sardonyx::eval
