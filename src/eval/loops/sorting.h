// Sorts of long lines, and choices from them, that a run can leave before they are done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "eval/loops/clones.h"
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
        std::stable_sort(items + begin, items + end, less);
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

// A stable sort by bits [first_bit, end_bit) of key_of(item), an unsigned number, the lowest first,
// byte by byte; bytes that all keys share are skipped. False: the run shall end, and the items are
// in no order.
template <typename T, typename KeyOf>
bool sort_by_bytes(const Workers& workers, T* items, int64_t n, int first_bit, int end_bit,
                   const KeyOf& key_of) {
    static_assert(std::is_trivially_copyable_v<T>);
    using Key = decltype(key_of(*items));
    Key first = n == 0 ? Key{} : key_of(items[0]), differing = 0;
    bool goes_on = in_turns(workers, n, kPolled, [&](int64_t begin, int64_t end) {
        Key others = 0;
        for (int64_t i = begin; i < end; ++i) {
            others |= key_of(items[i]) ^ first;
        }
        differing |= others;
    });
    Scratch<T> other(n);
    T* from = items;
    T* to = other.data();
    for (int shift = first_bit; goes_on && shift < end_bit; shift += 8) {
        if ((differing >> shift & 0xff) == 0) {
            continue;
        }
        // Of its own for each turn: what nothing else refers to, the items cannot overlap.
        std::array<int64_t, 257> kept{};
        goes_on = in_turns(workers, n, kPolled, [&, from, shift](int64_t begin, int64_t end) {
            std::array<int64_t, 257> counts = kept;
            for (int64_t i = begin; i < end; ++i) {
                ++counts[static_cast<uint8_t>(key_of(from[i]) >> shift) + 1];
            }
            kept = counts;
        });
        std::partial_sum(kept.begin(), kept.end(), kept.begin());
        auto move = [&, from, to, shift](int64_t begin, int64_t end) {
            std::array<int64_t, 257> starts = kept;
            for (int64_t i = begin; i < end; ++i) {
                to[starts[static_cast<uint8_t>(key_of(from[i]) >> shift)]++] = from[i];
            }
            kept = starts;
        };
        goes_on = goes_on && in_turns(workers, n, kPolled, move);
        if (goes_on) {
            std::swap(from, to);
        }
    }
    if (from != items) {
        std::copy(from, from + n, items);
    }
    return goes_on;
}

template <typename Key>
SDX_CLONES bool is_any_below(const Key* keys, int64_t n, Key bound) {
    bool found = false;
    for (int64_t i = 0; i < n; ++i) {
        found |= keys[i] < bound;
    }
    return found;
}

// The first k of different numbers that come in pieces, k > 0; none is the greatest of its type. It
// keeps what is below the k-th of those that it has seen; when there is no more room it looks for
// that one again.
template <typename Key>
class FirstKeys {
  public:
    explicit FirstKeys(int64_t k) : k_(k), room_(k + std::max(k, kLeastRoom)), keys_(room_) {}

    void add(const Key* keys, int64_t n) {
        constexpr int64_t kBlock = 64;
        for (int64_t i = 0; i < n; i += kBlock) {
            int64_t count = std::min(kBlock, n - i);
            if (is_any_below(keys + i, count, bound_)) {
                add_block(keys + i, count);
            }
        }
    }
    // What is not below it is not kept.
    Key bound() const { return bound_; }
    // Those that there are, at most k, sorted.
    std::span<const Key> sorted() {
        Key* kept = keys_.data();
        std::nth_element(kept, kept + std::min(k_, count_), kept + count_);
        count_ = std::min(k_, count_);
        std::sort(kept, kept + count_);
        return {kept, static_cast<size_t>(count_)};
    }

  private:
    static constexpr int64_t kLeastRoom = 32;

    void add_block(const Key* keys, int64_t n) {
        Key* kept = keys_.data();
        for (int64_t i = 0; i < n; ++i) {
            if (keys[i] < bound_) {
                kept[count_++] = keys[i];
                if (count_ == room_) {
                    keep_k();
                }
            }
        }
    }

    void keep_k() {
        Key* kept = keys_.data();
        std::nth_element(kept, kept + (k_ - 1), kept + room_);
        bound_ = kept[k_ - 1];
        count_ = k_;
    }

    int64_t k_;
    int64_t room_;
    int64_t count_ = 0;
    Key bound_ = static_cast<Key>(~Key{0});
    Scratch<Key> keys_;
};

// Makes those of n numbers the first in memory, in the order in which they come, whose highest bits
// are not above those of the k-th, 0 < k <= n; how many these are. When the run shall end, n.
template <typename Key>
int64_t keep_low(const Workers& workers, Key* keys, int64_t n, int64_t k) {
    constexpr int kHighBits = 16;
    constexpr int kShift = 8 * static_cast<int>(sizeof(Key)) - kHighBits;
    std::vector<int64_t> counts(int64_t{1} << kHighBits);
    bool goes_on = in_turns(workers, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            ++counts[static_cast<size_t>(keys[i] >> kShift)];
        }
    });
    if (!goes_on) {
        return n;
    }
    size_t bound = 0;
    for (int64_t low = counts[0]; low < k; low += counts[bound]) {
        ++bound;
    }
    int64_t kept = 0;
    goes_on = in_turns(workers, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const Key key = keys[i];
            keys[kept] = key;
            kept += static_cast<size_t>(key >> kShift) <= bound ? 1 : 0;
        }
    });
    return goes_on ? kept : n;
}

// So many are sorted at once within milliseconds.
inline constexpr int64_t kFirstAtOnce = 1 << 17;

// The first k of n different numbers, sorted. They come in the order of their lowest `index_bits`
// bits, and differ in these. When the run shall end, any k of them.
template <typename Key>
void choose_first(const Workers& workers, Key* keys, int64_t n, int64_t k, int index_bits) {
    constexpr int64_t kSmallHeap = 16;
    constexpr int64_t kFew = 256;  // for which the tables of the bytes do not pay
    constexpr int kBits = 8 * static_cast<int>(sizeof(Key));
    bool are_few = 4 * k < n;
    if (k <= 0) {
        return;
    }
    if (are_few ? k > kFirstAtOnce : n > kFew) {
        n = are_few ? keep_low(workers, keys, n, k) : n;
        sort_by_bytes(workers, keys, n, index_bits, kBits, [](Key key) { return key; });
    } else if (are_few && k <= kSmallHeap && n <= kFirstAtOnce) {
        std::partial_sort(keys, keys + k, keys + n);
    } else if (are_few) {
        FirstKeys<Key> first(k);
        in_turns(workers, n, kPolled,
                 [&](int64_t begin, int64_t end) { first.add(keys + begin, end - begin); });
        std::span<const Key> found = first.sorted();
        std::copy(found.begin(), found.end(), keys);
    } else {
        std::nth_element(keys, keys + k, keys + n);
        std::sort(keys, keys + k);
    }
}

}  // namespace sardonyx::eval
