#include "elaborate/library/itertools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "elaborate/emit/interpreter.h"
#include "elaborate/library/iterable_builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/arithmetic.h"

namespace sardonyx::elaborate {

namespace {

using Items = std::vector<Object>;
using Pools = std::vector<Items>;

constexpr size_t kMostOfEndless = size_t{1} << 20;  // items of an iterator without an end

Object wrong_arguments(Context& c, const Arguments& a, std::string_view name) {
    return refuse(c, a.range, fmt::format("`{}` with these arguments", name),
                  "give lists and numbers that are known at compile time");
}

// The items of the arguments from `first` on; nothing after a diagnostic.
std::optional<Pools> pools_of(Context& c, const Arguments& a, std::string_view name,
                              size_t first = 0) {
    Pools pools;
    for (size_t i = first; i < a.positional.size(); ++i) {
        std::optional<Items> items = static_items(c, a.positional[i]);
        if (!items) {
            if (!c.gave_up) {
                wrong_arguments(c, a, name);
            }
            return std::nullopt;
        }
        pools.push_back(std::move(*items));
    }
    return pools;
}

bool is_iterable(const Object& one) {
    return one.is_sequence() || one.is(ObjectKind::kDict) || one.is(ObjectKind::kSet) ||
           one.is(ObjectKind::kRange) || one.is(ObjectKind::kString) ||
           one.is(ObjectKind::kIterator);
}

// Whether the arguments can be gone through once the iterator is used.
bool are_iterable(const Arguments& a, size_t first = 0) {
    return std::all_of(
        a.positional.begin() + static_cast<std::ptrdiff_t>(std::min(first, a.positional.size())),
        a.positional.end(), is_iterable);
}

// An iterator that asks for its items when it is used.
Object lazy_iterator(Context& c, std::string_view what, const Arguments& a,
                     std::function<std::optional<Items>(Context&)> items) {
    IteratorObject iterator{what, std::move(items), Object::tuple(a.positional), c.span(a.range)};
    return make_iterator(c, std::move(iterator));
}

// One whose items are known now, as Python goes through the arguments now.
Object iterator_over(Context& c, std::string_view what, const Arguments& a, Items items) {
    return lazy_iterator(c, what, a,
                         [items = std::move(items)](Context&) { return std::optional(items); });
}

bool is_within_limits(Context& c, const Arguments& a, size_t count) {
    bool is_small = count <= static_cast<size_t>(c.options.limits.static_iterations);
    if (!is_small) {
        c.report(kLimitExceeded, a.range,
                 fmt::format("more than {} items", c.options.limits.static_iterations))
            .with_help("make fewer");
    }
    return is_small;
}

Items picked(const Items& pool, const std::vector<size_t>& places) {
    Items items;
    for (size_t place : places) {
        items.push_back(pool[place]);
    }
    return items;
}

std::optional<size_t> count_argument(const Object& object) {
    return object.is_integer() && object.as_int() >= 0
               ? std::optional(static_cast<size_t>(object.as_int()))
               : std::nullopt;
}

}  // namespace

Object itertools_product(Context& c, const Arguments& a) {
    const KeywordArgument* repeat = a.find("repeat");
    std::optional<size_t> times =
        repeat != nullptr ? count_argument(repeat->value) : std::optional<size_t>(1);
    if (!times || a.keywords.size() > (repeat != nullptr ? 1U : 0U)) {
        return wrong_arguments(c, a, "itertools.product");
    }
    std::optional<Pools> given = pools_of(c, a, "itertools.product");
    if (!given || !is_within_limits(c, a, *times * given->size())) {
        return Object::error();
    }
    Pools rows{{}};
    for (size_t i = 0; i < *times * given->size(); ++i) {
        const Items& pool = (*given)[i % given->size()];
        if (!is_within_limits(c, a, rows.size() * pool.size())) {
            return Object::error();
        }
        Pools longer;
        for (const Items& row : rows) {
            for (const Object& item : pool) {
                longer.push_back(row);
                longer.back().push_back(item);
            }
        }
        rows = std::move(longer);
    }
    Items items;
    for (Items& row : rows) {
        items.push_back(Object::tuple(std::move(row)));
    }
    return iterator_over(c, "a product", a, std::move(items));
}

Object itertools_chain(Context& c, const Arguments& a) {
    if (!are_iterable(a)) {
        return wrong_arguments(c, a, "itertools.chain");
    }
    return lazy_iterator(c, "a chain", a, [a](Context& user) -> std::optional<Items> {
        std::optional<Pools> pools = pools_of(user, a, "itertools.chain");
        if (!pools) {
            return std::nullopt;
        }
        Items all;
        for (const Items& pool : *pools) {
            all.insert(all.end(), pool.begin(), pool.end());
        }
        return all;
    });
}

Object itertools_from_iterable(Context& c, const Arguments& a) {
    std::optional<Items> lists = static_items(c, a.positional[0]);
    if (!lists) {
        return wrong_arguments(c, a, "itertools.chain.from_iterable");
    }
    Arguments all = a;
    all.ranges.assign(lists->size(), a.range);
    all.positional = std::move(*lists);
    return itertools_chain(c, all);
}

Object itertools_accumulate(Context& c, const Arguments& a) {
    const KeywordArgument *start = a.find("initial"), *function = a.find("func");
    bool knows_all =
        a.keywords.size() == static_cast<size_t>((start != nullptr) + (function != nullptr));
    if (!knows_all || (function != nullptr && a.positional.size() > 1) ||
        !a.positional[0].is_sequence()) {
        return wrong_arguments(c, a, "itertools.accumulate");
    }
    Object call_of = function != nullptr       ? function->value
                     : a.positional.size() > 1 ? a.positional[1]
                                               : Object::none();
    Object first = start != nullptr ? start->value : Object::none();
    return lazy_iterator(
        c, "an accumulate", a, [a, call_of, first](Context& user) -> std::optional<Items> {
            std::optional<Items> given = static_items(user, a.positional[0]);
            if (!given) {
                return std::nullopt;
            }
            Items totals;
            if (!first.is_none()) {
                totals.push_back(first);
            }
            for (const Object& item : *given) {
                if (totals.empty()) {
                    totals.push_back(item);
                    continue;
                }
                Arguments pair;
                pair.positional = {totals.back(), item};
                pair.ranges = {a.range, a.range};
                pair.range = pair.callee_range = a.range;
                totals.push_back(call_of.is_none()
                                     ? binary(user, syntax::BinaryOp::kAdd,
                                              {totals.back(), a.range}, {item, a.range}, a.range)
                                     : call(user, call_of, pair));
                if (totals.back().is_error()) {
                    return std::nullopt;
                }
            }
            return totals;
        });
}

Object itertools_zip_longest(Context& c, const Arguments& a) {
    const KeywordArgument* fill = a.find("fillvalue");
    if (!are_iterable(a) || a.keywords.size() > (fill != nullptr ? 1U : 0U)) {
        return wrong_arguments(c, a, "itertools.zip_longest");
    }
    Object missing = fill != nullptr ? fill->value : Object::none();
    return lazy_iterator(c, "a zip", a, [a, missing](Context& user) -> std::optional<Items> {
        std::optional<Pools> pools = pools_of(user, a, "itertools.zip_longest");
        if (!pools) {
            return std::nullopt;
        }
        size_t longest = 0;
        for (const Items& pool : *pools) {
            longest = std::max(longest, pool.size());
        }
        Items rows;
        for (size_t i = 0; i < longest; ++i) {
            Items row;
            for (const Items& pool : *pools) {
                row.push_back(i < pool.size() ? pool[i] : missing);
            }
            rows.push_back(Object::tuple(std::move(row)));
        }
        return rows;
    });
}

Object itertools_islice(Context& c, const Arguments& a) {
    bool is_known = is_iterable(a.positional[0]);
    std::vector<std::optional<size_t>> bounds;
    for (size_t i = 1; i < a.positional.size(); ++i) {
        bounds.push_back(count_argument(a.positional[i]));
        is_known = is_known && (bounds.back() || a.positional[i].is_none());
    }
    size_t start = bounds.size() > 1 ? bounds[0].value_or(0) : 0;
    size_t stop = (bounds.size() > 1 ? bounds[1] : bounds[0]).value_or(SIZE_MAX);
    size_t step = bounds.size() > 2 ? bounds[2].value_or(1) : 1;
    bool is_within = stop == SIZE_MAX || stop <= kMostOfEndless || !is_endless(a.positional[0]);
    if (!is_known || step == 0 || !is_within) {
        return wrong_arguments(c, a, "itertools.islice");
    }
    return lazy_iterator(c, "a slice", a, [=](Context& user) -> std::optional<Items> {
        std::optional<Items> given = first_items(user, a.positional[0], stop);
        if (!given) {
            return std::nullopt;
        }
        Items chosen;
        size_t end = std::min(stop, given->size());
        for (size_t i = start; i < end; i += std::min(step, end - i)) {
            chosen.push_back((*given)[i]);
        }
        return chosen;
    });
}

namespace {

// An iterator without an end, of which `item` gives the item at a place.
Object endless(Context& c, std::string_view what, const Arguments& a,
               std::function<Object(Context&, size_t)> item) {
    IteratorObject iterator{what, nullptr, Object::tuple(a.positional), c.span(a.range)};
    iterator.first = [item = std::move(item)](Context& user, size_t most) -> std::optional<Items> {
        Items items;
        while (items.size() < std::min(most, kMostOfEndless)) {
            items.push_back(item(user, items.size()));
            if (items.back().is_error()) {
                return std::nullopt;
            }
        }
        return items;
    };
    iterator.is_by_place = true;
    return make_iterator(c, std::move(iterator));
}

}  // namespace

// count(start=0, step=1), of ints: of floats the last digits depend on the version of Python.
Object itertools_count(Context& c, const Arguments& a) {
    auto part = [&a](size_t i, int64_t otherwise) {
        return i < a.positional.size() ? a.positional[i] : Object::integer(otherwise);
    };
    Object start = part(0, 0), step = part(1, 1);
    int64_t most = 0, last = 0;
    bool is_known =
        start.is(ObjectKind::kInt) && step.is(ObjectKind::kInt) &&
        !__builtin_mul_overflow(step.as_int(), static_cast<int64_t>(kMostOfEndless), &most) &&
        !__builtin_add_overflow(start.as_int(), most, &last);
    if (!is_known) {
        return wrong_arguments(c, a, "itertools.count");
    }
    int64_t from = start.as_int(), by = step.as_int();
    Object made = endless(c, "a count", a, [from, by](Context&, size_t place) {
        return Object::integer(from + static_cast<int64_t>(place) * by);
    });
    if (by != 0) {
        int64_t end = by > 0 ? INT64_MAX + std::min<int64_t>(from, 0)
                             : std::max<int64_t>(from, 0) - INT64_MAX;
        made.get<IteratorObject>().counted = RangeObject{from, end, by};
    }
    return made;
}

Object itertools_cycle(Context& c, const Arguments& a) {
    std::optional<Items> items = static_items(c, a.positional[0]);
    if (!items) {
        return wrong_arguments(c, a, "itertools.cycle");
    }
    if (items->empty()) {
        return iterator_over(c, "a cycle", a, {});
    }
    return endless(c, "a cycle", a, [items = std::move(*items)](Context&, size_t place) {
        return items[place % items.size()];
    });
}

namespace {

// Whether the function holds for an item; nothing after a diagnostic.
std::optional<bool> holds_for(Context& c, const Arguments& a, const Object& item) {
    std::optional<Items> answers = apply_to_each(c, a.positional[0], {item}, a.range);
    std::optional<bool> holds = answers ? truth(answers->front()) : std::nullopt;
    if (!holds && answers) {
        refuse(c, a.range, "a tensor decides which items are taken", "use `op.Compress`");
    }
    return holds;
}

// The items for which the function holds up to the first for which it does not. An iterator keeps
// those after it.
std::optional<Items> taken_while(Context& c, const Arguments& a) {
    const Object& list = a.positional[1];
    bool is_iterator = list.is(ObjectKind::kIterator) && !list.get<IteratorObject>().is_view();
    std::optional<Items> items = is_iterator ? Items() : static_items(c, list);
    auto next = [&](size_t place) {
        return is_iterator             ? next_item(c, list)
               : place < items->size() ? std::optional((*items)[place])
                                       : std::nullopt;
    };
    for (Items taken; items;) {
        if (is_endless(list) && taken.size() == kMostOfEndless) {
            c.report(kLimitExceeded, a.range, "`itertools.takewhile` that does not end")
                .with_help("take fewer items, as in `itertools.islice(xs, n)`");
            return std::nullopt;
        }
        std::optional<Object> item = next(taken.size());
        std::optional<bool> holds = !item              ? std::optional(false)
                                    : item->is_error() ? std::nullopt
                                                       : holds_for(c, a, *item);
        if (!holds || !*holds) {
            return holds ? std::optional(std::move(taken)) : std::nullopt;
        }
        taken.push_back(*std::move(item));
    }
    return std::nullopt;
}

}  // namespace

Object itertools_takewhile(Context& c, const Arguments& a) {
    if (!are_iterable(a, 1)) {
        return wrong_arguments(c, a, "itertools.takewhile");
    }
    return lazy_iterator(c, "a takewhile", a, [a](Context& user) { return taken_while(user, a); });
}

Object itertools_dropwhile(Context& c, const Arguments& a) {
    if (!are_iterable(a, 1)) {
        return wrong_arguments(c, a, "itertools.dropwhile");
    }
    return lazy_iterator(c, "a dropwhile", a, [a](Context& user) -> std::optional<Items> {
        std::optional<Items> items = static_items(user, a.positional[1]);
        size_t first = 0;
        for (; items && first < items->size(); ++first) {
            std::optional<bool> holds = holds_for(user, a, (*items)[first]);
            if (!holds) {
                return std::nullopt;
            }
            if (!*holds) {
                break;
            }
        }
        return items ? std::optional(
                           Items(items->begin() + static_cast<std::ptrdiff_t>(first), items->end()))
                     : std::nullopt;
    });
}

Object itertools_filterfalse(Context& c, const Arguments& a) {
    if (!are_iterable(a, 1)) {
        return wrong_arguments(c, a, "itertools.filterfalse");
    }
    return lazy_iterator(c, "a filter", a, [a](Context& user) -> std::optional<Items> {
        std::optional<Items> items = static_items(user, a.positional[1]);
        Items kept;
        for (size_t i = 0; items && i < items->size(); ++i) {
            std::optional<bool> holds = holds_for(user, a, (*items)[i]);
            if (!holds) {
                return std::nullopt;
            }
            if (!*holds) {
                kept.push_back((*items)[i]);
            }
        }
        return items ? std::optional(kept) : std::nullopt;
    });
}

Object itertools_compress(Context& c, const Arguments& a) {
    if (!are_iterable(a)) {
        return wrong_arguments(c, a, "itertools.compress");
    }
    return lazy_iterator(c, "a compress", a, [a](Context& user) -> std::optional<Items> {
        std::optional<std::vector<Items>> columns = columns_of(user, a.positional, INT64_MAX);
        Items kept;
        for (size_t i = 0; columns && i < std::min((*columns)[0].size(), (*columns)[1].size());
             ++i) {
            std::optional<bool> holds = truth((*columns)[1][i]);
            if (!holds) {
                wrong_arguments(user, a, "itertools.compress");
                return std::nullopt;
            }
            if (*holds) {
                kept.push_back((*columns)[0][i]);
            }
        }
        return columns ? std::optional(kept) : std::nullopt;
    });
}

Object itertools_repeat(Context& c, const Arguments& a) {
    const KeywordArgument* keyword = a.find("times");
    std::optional<size_t> times;
    if (a.positional.size() == 2 && a.keywords.empty()) {
        times = count_argument(a.positional[1]);
    } else if (keyword != nullptr && a.keywords.size() == 1) {
        times = count_argument(keyword->value);
    }
    if (!times) {
        return wrong_arguments(c, a, "itertools.repeat");
    }
    return is_within_limits(c, a, *times)
               ? iterator_over(c, "a repeat", a, Items(*times, a.positional[0]))
               : Object::error();
}

namespace {

enum class Choices : uint8_t { kCombinations, kPermutations };

// Ways to choose places of a pool, in Python's order: `next` goes on from one to the next.
Object choices(Context& c, const Arguments& a, Choices which) {
    bool has_order = which == Choices::kPermutations;
    std::string_view name = has_order ? "itertools.permutations" : "itertools.combinations";
    std::optional<Items> pool = static_items(c, a.positional[0]);
    bool is_all = a.positional.size() == 1 || a.positional[1].is_none();
    std::optional<size_t> count = !pool    ? std::nullopt
                                  : is_all ? std::optional(pool->size())
                                           : count_argument(a.positional[1]);
    if (!count || (is_all && !has_order)) {
        return wrong_arguments(c, a, name);
    }
    Items rows;
    std::vector<size_t> places;
    // Goes through the places in order of the first, then of the second one, and so on.
    size_t next = 0;
    while (*count <= pool->size()) {
        if (places.size() == *count) {
            rows.push_back(Object::tuple(picked(*pool, places)));
            if (!is_within_limits(c, a, rows.size())) {
                return Object::error();
            }
            next = pool->size();
        }
        while (next < pool->size() &&
               std::find(places.begin(), places.end(), next) != places.end()) {
            ++next;
        }
        if (next < pool->size() && places.size() < *count) {
            places.push_back(next);
            next = has_order ? 0 : next + 1;
        } else if (places.empty()) {
            break;
        } else {
            next = places.back() + 1;
            places.pop_back();
        }
    }
    return iterator_over(c, name, a, std::move(rows));
}

}  // namespace

Object itertools_combinations(Context& c, const Arguments& a) {
    return choices(c, a, Choices::kCombinations);
}

Object itertools_permutations(Context& c, const Arguments& a) {
    return choices(c, a, Choices::kPermutations);
}

Object itertools_pairwise(Context& c, const Arguments& a) {
    if (!are_iterable(a)) {
        return wrong_arguments(c, a, "itertools.pairwise");
    }
    return lazy_iterator(c, "pairs", a, [a](Context& user) -> std::optional<Items> {
        std::optional<Items> given = static_items(user, a.positional[0]);
        if (!given) {
            return std::nullopt;
        }
        Items pairs;
        for (size_t i = 1; i < given->size(); ++i) {
            pairs.push_back(Object::tuple({(*given)[i - 1], (*given)[i]}));
        }
        return pairs;
    });
}

Object itertools_starmap(Context& c, const Arguments& a) {
    if (!are_iterable(a, 1)) {
        return wrong_arguments(c, a, "itertools.starmap");
    }
    return lazy_iterator(c, "a map", a, [a](Context& user) -> std::optional<Items> {
        std::optional<Items> rows = static_items(user, a.positional[1]);
        Items results;
        for (size_t i = 0; rows && i < rows->size(); ++i) {
            Arguments of_row;
            std::optional<Items> items = static_items(user, (*rows)[i]);
            if (!items) {
                wrong_arguments(user, a, "itertools.starmap");
                return std::nullopt;
            }
            of_row.positional = std::move(*items);
            of_row.ranges.assign(of_row.positional.size(), a.range);
            of_row.range = of_row.callee_range = a.range;
            results.push_back(call(user, a.positional[0], of_row));
            if (results.back().is_error()) {
                return std::nullopt;
            }
        }
        return rows ? std::optional(std::move(results)) : std::nullopt;
    });
}

Object functools_reduce(Context& c, const Arguments& a) {
    std::optional<Items> items = static_items(c, a.positional[1]);
    bool has_start = a.positional.size() > 2;
    if (!items || (items->empty() && !has_start)) {
        return wrong_arguments(c, a, "functools.reduce");
    }
    Object total = has_start ? a.positional[2] : (*items)[0];
    for (size_t i = has_start ? 0 : 1; i < items->size() && !total.is_error(); ++i) {
        Arguments pair;
        pair.positional = {total, (*items)[i]};
        pair.ranges = {a.range, a.range};
        pair.range = pair.callee_range = a.range;
        total = call(c, a.positional[0], pair);
    }
    return total;
}

}  // namespace sardonyx::elaborate
