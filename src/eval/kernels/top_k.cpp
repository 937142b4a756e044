// TopK.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "eval/loops/clones.h"
#include "eval/loops/scratch.h"
#include "eval/loops/sorting.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// The order of TopK as whole numbers, of which the least come first: by value, NaN as the greatest
// of all, then by the lower index.
template <typename V>
struct TopKey {
    static constexpr bool kIsShort = sizeof(V) <= 4;
    using Bits = std::conditional_t<kIsShort, uint32_t, uint64_t>;
    using Key = std::conditional_t<kIsShort, uint64_t, unsigned __int128>;
    static constexpr int kIndexBits = kIsShort ? 32 : 64;

    // Numbers in the order of the values.
    static Bits ordered(V x) {
        if constexpr (std::is_floating_point_v<V>) {
            constexpr Bits kSign = Bits{1} << (8 * sizeof(V) - 1);
            auto bits = std::bit_cast<Bits>(x + V(0));  // -0.0 is 0.0
            Bits number = (bits & kSign) != 0 ? ~bits : bits | kSign;
            return x == x ? number : ~Bits{0};
        } else if constexpr (std::is_signed_v<V>) {
            return static_cast<Bits>(x) ^ Bits { 1 } << (8 * sizeof(Bits) - 1);
        } else {
            return static_cast<Bits>(x);
        }
    }
    // In the order of the keys, but for the index.
    static Bits rank(V x, bool largest) {
        Bits bits = ordered(x);
        return largest ? static_cast<Bits>(~bits) : bits;
    }
    static Key make(V x, int64_t index, bool largest) {
        return static_cast<Key>(rank(x, largest)) << kIndexBits |
               static_cast<Key>(static_cast<uint64_t>(index));
    }
    static Bits rank_of(Key key) { return static_cast<Bits>(key >> kIndexBits); }
    static int64_t index(Key key) {
        return static_cast<int64_t>(kIsShort ? static_cast<uint64_t>(key) & 0xffffffff
                                             : static_cast<uint64_t>(key));
    }
};

struct TopOptions {
    int64_t k = 0;
    bool largest = true;
};

template <typename T>
SDX_CLONES void make_keys(const T* in, int64_t n, int64_t first, bool largest,
                          typename TopKey<Compute<T>>::Key* keys) {
    for (int64_t i = 0; i < n; ++i) {
        keys[i] = TopKey<Compute<T>>::make(static_cast<Compute<T>>(in[i]), first + i, largest);
    }
}

// The least rank among n > 0 numbers.
template <typename T>
SDX_CLONES typename TopKey<Compute<T>>::Bits least_rank(const T* in, int64_t n, bool largest) {
    using Order = TopKey<Compute<T>>;
    typename Order::Bits least = Order::rank(static_cast<Compute<T>>(in[0]), largest);
    for (int64_t i = 1; i < n; ++i) {
        typename Order::Bits rank = Order::rank(static_cast<Compute<T>>(in[i]), largest);
        least = rank < least ? rank : least;
    }
    return least;
}

// One line without gaps, of which few are wanted: the keys of all need not be in memory.
template <typename T>
void choose_few(const T* line, int64_t n, const TopOptions& options, const Workers& threads,
                T* values, int64_t* places) {
    using Order = TopKey<Compute<T>>;
    constexpr int64_t kBlock = 128;
    typename Order::Key keys[kBlock];
    FirstKeys<typename Order::Key> first(options.k);
    bool goes_on = in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; at += kBlock) {
            int64_t count = std::min(kBlock, end - at);
            if (least_rank(line + at, count, options.largest) <= Order::rank_of(first.bound())) {
                make_keys(line + at, count, at, options.largest, keys);
                first.add(keys, count);
            }
        }
    });
    if (!goes_on) {
        return;
    }
    for (auto key : first.sorted()) {
        *places = Order::index(key);
        *values++ = line[*places++];
    }
}

// Lines [begin, end) along the middle axis of in[outer, n, inner]; some neighbours at a time, since
// they lie in the same lines of the cache.
template <typename T>
void choose_lines(const T* in, const AxisView& view, const TopOptions& options,
                  const Workers& threads, T* values, int64_t* places, int64_t begin, int64_t end) {
    using Order = TopKey<Compute<T>>;
    using Key = typename Order::Key;
    constexpr int64_t kNeighbours = 16;
    constexpr int64_t kLong = 4096;
    if (view.inner == 1 && view.n > kLong && 4 * options.k < view.n && options.k <= kFirstAtOnce) {
        for (int64_t line = begin; line < end; ++line) {
            choose_few(in + line * view.n, view.n, options, threads, values + line * options.k,
                       places + line * options.k);
        }
        return;
    }
    int64_t lines = std::min(kNeighbours, view.inner);
    Scratch<Key> keys(lines * view.n);
    for (int64_t line = begin; line < end;) {
        int64_t outer = line / view.inner, column = line % view.inner;
        int64_t count = std::min({lines, end - line, view.inner - column});
        const T* start = in + outer * view.n * view.inner + column;
        bool goes_on = in_turns(threads, view.n, kPolled / count, [&](int64_t first, int64_t last) {
            if (view.inner == 1) {
                make_keys(start + first, last - first, first, options.largest, keys.data() + first);
            }
            for (int64_t i = first; view.inner > 1 && i < last; ++i) {
                for (int64_t j = 0; j < count; ++j) {
                    keys.data()[j * view.n + i] = Order::make(
                        static_cast<Compute<T>>(start[i * view.inner + j]), i, options.largest);
                }
            }
        });
        if (!goes_on) {
            return;
        }
        for (int64_t j = 0; j < count; ++j) {
            Key* chosen = keys.data() + j * view.n;
            choose_first(threads, chosen, view.n, options.k, Order::kIndexBits);
            in_turns(threads, options.k, kPolled, [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                    int64_t index = Order::index(chosen[i]);
                    int64_t at = (outer * options.k + i) * view.inner + column + j;
                    values[at] = start[index * view.inner + j];
                    places[at] = index;
                }
            });
        }
        line += count;
    }
}

Result<int64_t> top_count(KernelContext& c, int64_t n) {
    int64_t k = c.int_attribute("k");
    if (c.version() >= 10) {
        SDX_ASSIGN(k, c.int_scalar(1));
        if (c.tensor(1).rank() != 1) {
            return Error{fmt::format("input 1 (`K`) must have rank 1, not {}: write `[{}]`",
                                     c.tensor(1).rank(), k)};
        }
    }
    if (k < 0 || k > n) {
        return Error{fmt::format("k is {}, but the axis has {} elements", k, n)};
    }
    return k;
}

}  // namespace

Status top_k(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), source.rank()));
    AxisView view = axis_view(source.dims(), axis);
    SDX_ASSIGN(int64_t k, top_count(c, view.n));
    if (view.n > INT32_MAX) {
        return Error{
            fmt::format("an axis of {} elements is too long to be sorted: choose among "
                        "parts of it, and then among what they give",
                        view.n)};
    }
    bool largest = c.int_attribute("largest", 1) != 0;
    Dims dims = source.dims();
    dims[axis] = k;
    SDX_ASSIGN(Tensor * values, c.output(0, source.element_type(), dims));
    SDX_ASSIGN(Tensor * indices, c.output(1, ElementType::kInt64, dims));
    if (values->count() == 0) {
        return {};
    }
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data();
        T* chosen = values->mutable_elements<T>().data();
        int64_t* places = indices->mutable_elements<int64_t>().data();
        parallel_for(
            c.threads(), view.outer * view.inner, items_per_task(8 * view.n),
            [&](int64_t begin, int64_t end) {
                choose_lines(in, view, {k, largest}, c.threads(), chosen, places, begin, end);
            });
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
