// Unique: slices in order, each once.

#include <bit>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/take_slices.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/scratch.h"
#include "eval/loops/sorting.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

using AllTypes = Join<Join<NumbersAndBools, Strings>, Complexes>;

// --- Unique --------------------------------------------------------------------------------------

template <typename T>
int compare_numbers(T x, T y) {
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : (x != x) - (y != y);
}

// The slices of an axis, compared element by element. NaN comes last and equals no other.
template <typename T>
struct SliceOrder {
    const T* in;
    AxisView view;

    static int compare_elements(const T& a, const T& b) {
        if constexpr (std::is_same_v<T, std::string>) {
            return a.compare(b);
        } else if constexpr (kIsComplex<T>) {
            int order = compare_numbers(a.real(), b.real());
            return order != 0 ? order : compare_numbers(a.imag(), b.imag());
        } else {
            return compare_numbers(static_cast<Compute<T>>(a), static_cast<Compute<T>>(b));
        }
    }
    int compare(int64_t a, int64_t b) const {
        for (int64_t o = 0; o < view.outer; ++o) {
            for (int64_t i = 0; i < view.inner; ++i) {
                int order = compare_elements(in[(o * view.n + a) * view.inner + i],
                                             in[(o * view.n + b) * view.inner + i]);
                if (order != 0) {
                    return order;
                }
            }
        }
        return 0;
    }
};

struct UniqueSlices {
    std::vector<int64_t> first;    // where each distinct slice occurs first
    std::vector<int64_t> inverse;  // the distinct slice of each
    std::vector<int64_t> counts;
};

// An integer for each number, in the order of SliceOrder: equal numbers have equal ones. It has as
// many bits as the widest number of its kind.
template <typename Key, typename T>
Key order_key(const T& element) {
    auto x = static_cast<Compute<T>>(element);
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    if constexpr (std::is_floating_point_v<Compute<T>>) {
        if (x != x) {
            return static_cast<Key>(~Key{0});
        }
        using Float = std::conditional_t<sizeof(Key) == 4, float, double>;
        Key bits = std::bit_cast<Key>(static_cast<Float>(x) + Float{0});  // no negative zero
        return (bits & kSign) != 0 ? static_cast<Key>(~bits) : bits | kSign;
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<Key>(x) ^ kSign;
    } else {
        return static_cast<Key>(x);
    }
}

// A number and its place, to be sorted by the number alone.
struct LongKey {
    uint64_t sorted;
    int64_t at;

    template <typename T>
    static LongKey of(const T& element, int64_t place) {
        return {order_key<uint64_t>(element), place};
    }
    uint64_t key() const { return sorted; }
    int64_t place() const { return at; }
};

struct ShortKey {
    uint64_t both;  // the key is in the high half

    template <typename T>
    static ShortKey of(const T& element, int64_t place) {
        return {uint64_t{order_key<uint32_t>(element)} << 32 | static_cast<uint64_t>(place)};
    }
    uint32_t key() const { return static_cast<uint32_t>(both >> 32); }
    int64_t place() const { return static_cast<int64_t>(both & UINT32_MAX); }
};

// order[i] = i
bool count_up(const Workers& threads, int64_t n, int64_t* order) {
    return in_turns(threads, n, kPolled, [order](int64_t begin, int64_t end) {
        std::iota(order + begin, order + end, begin);
    });
}

// The same for single numbers. False: the run shall end.
template <typename Item, typename T>
bool number_order(const Workers& threads, const T* in, int64_t n, int64_t* order, uint8_t* is_new) {
    Scratch<Item> items(n);
    constexpr int kBits = 8 * sizeof(items.data()->key());
    return in_turns(threads, n, kPolled,
                    [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                            items.data()[i] = Item::of(in[i], i);
                        }
                    }) &&
           sort_by_bytes(threads, items.data(), n, 0, kBits,
                         [](const Item& item) { return item.key(); }) &&
           in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
               const Item* sorted = items.data();
               for (int64_t i = begin; i < end; ++i) {
                   order[i] = sorted[i].place();
                   is_new[i] = i == 0 || sorted[i].key() != sorted[i - 1].key() ? 1 : 0;
               }
           });
}

// The slices in their order, equal ones in the order of their places; for each whether it is unlike
// the one before it. False: the run shall end.
template <typename T>
bool slice_order(const Workers& threads, const SliceOrder<T>& slices, int64_t* order,
                 uint8_t* is_new) {
    int64_t n = slices.view.n;
    if constexpr (!std::is_same_v<T, std::string> && !kIsComplex<T>) {
        constexpr int64_t kFewSlices = 256;  // for which the tables of the bytes do not pay
        if (slices.view.outer == 1 && slices.view.inner == 1 && n > kFewSlices) {
            if constexpr (sizeof(T) <= sizeof(uint32_t)) {
                if (n <= UINT32_MAX) {
                    return number_order<ShortKey>(threads, slices.in, n, order, is_new);
                }
            }
            return number_order<LongKey>(threads, slices.in, n, order, is_new);
        }
    }
    return count_up(threads, n, order) &&
           sort_in_turns(threads, order, n,
                         [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; }) &&
           in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                   is_new[i] = i == 0 || slices.compare(order[i - 1], order[i]) != 0 ? 1 : 0;
               }
           });
}

// The same slices in the order of their first occurrence. False: the run shall end.
bool order_by_occurrence(const Workers& threads, UniqueSlices& unique) {
    size_t count = unique.first.size();
    Scratch<int64_t> position(static_cast<int64_t>(count));
    UniqueSlices result;
    result.first.reserve(count);
    result.counts.reserve(count);
    auto n = static_cast<int64_t>(unique.inverse.size());
    bool goes_on = in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t index = unique.inverse[i];
            if (unique.first[index] == i) {
                position.data()[index] = static_cast<int64_t>(result.first.size());
                result.first.push_back(i);
                result.counts.push_back(unique.counts[index]);
            }
            unique.inverse[i] = position.data()[index];
        }
    });
    unique.first = std::move(result.first);
    unique.counts = std::move(result.counts);
    return goes_on;
}

// Sorted, or in the order of their first occurrence; the inverse where it is asked for. When the
// run shall end, some of them.
template <typename T>
UniqueSlices find_unique(const Workers& threads, const SliceOrder<T>& slices, bool sorted,
                         bool with_inverse) {
    int64_t n = slices.view.n;
    Scratch<int64_t> order(n);
    Scratch<uint8_t> is_new(n);
    UniqueSlices unique;
    if (!slice_order(threads, slices, order.data(), is_new.data())) {
        return unique;
    }
    with_inverse = with_inverse || !sorted;
    unique.inverse.resize(with_inverse ? n : 0);
    bool goes_on = in_turns(threads, n, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end;) {
            const int64_t start = i;
            if (is_new.data()[i] != 0) {
                unique.first.push_back(order.data()[i]);
                unique.counts.push_back(0);
            }
            const int64_t index = static_cast<int64_t>(unique.first.size()) - 1;
            do {
                if (with_inverse) {
                    unique.inverse[order.data()[i]] = index;
                }
            } while (++i < end && is_new.data()[i] == 0);
            unique.counts.back() += i - start;
        }
    });
    if (!sorted && goes_on) {
        order_by_occurrence(threads, unique);
    }
    return unique;
}

void set_list(KernelContext& c, size_t output, const std::vector<int64_t>& list) {
    if (c.wants(output)) {
        c.set_output(output, Tensor::of<int64_t>({static_cast<int64_t>(list.size())}, list));
    }
}

}  // namespace

Status unique(KernelContext& c) {
    Tensor data = c.tensor(0);
    int axis = 0;
    if (c.has_attribute("axis")) {
        SDX_ASSIGN(axis, c.axis(c.int_attribute("axis"), data.rank()));
    } else {
        data = data.reshaped({data.count()});
    }
    AxisView view = axis_view(data.dims(), axis);
    view.outer = view.inner == 0 ? 0 : view.outer;  // empty slices, however many rows they have
    UniqueSlices unique;
    bool sorted = c.int_attribute("sorted") != 0;
    SDX_TRY(visit(AllTypes{}, data.element_type(), [&]<typename T>() -> Status {
        unique = find_unique(c.threads(), SliceOrder<T>{data.elements<T>().data(), view}, sorted,
                             c.wants(2));
        return check_interrupt(c.options());
    }));
    Dims dims = data.dims();
    dims[axis] = static_cast<int64_t>(unique.first.size());
    SDX_ASSIGN(Tensor * out, c.output(0, data.element_type(), std::move(dims)));
    take_slices(c.threads(), data, view, unique.first, out);
    for (auto [output, list] :
         {std::pair{1, &unique.first}, {2, &unique.inverse}, {3, &unique.counts}}) {
        SDX_TRY(check_interrupt(c.options()));
        set_list(c, output, *list);
    }
    return {};
}

}  // namespace sardonyx::eval::kernels
