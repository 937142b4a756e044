// What a static iterable gives, item by item.
#include "elaborate/objects/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "elaborate/objects/arrays.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/iteration.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"

namespace sardonyx::elaborate {

namespace {

constexpr int kDeepestReading = 16;

bool reads_at(const Object& source, const Object& other, int depth) {
    if (source.pointer() != nullptr && source.pointer() == other.pointer()) {
        return true;
    }
    const Object* inner =
        source.is(ObjectKind::kIterator) ? &source.get<IteratorObject>().sources : nullptr;
    return inner != nullptr && depth < kDeepestReading && inner->is(ObjectKind::kTuple) &&
           std::any_of(inner->items().begin(), inner->items().end(),
                       [&](const Object& one) { return reads_at(one, other, depth + 1); });
}

// What Python gives one after another, such as the items of a named tuple.
std::optional<std::vector<Object>> items_of_opaque(Context& c, const Object& object) {
    Environment* environment = c.function().environment;
    std::optional<Object> items =
        environment != nullptr
            ? environment->items(object, c.options.limits.static_iterations).value
            : std::nullopt;
    if (!items) {
        return std::nullopt;
    }
    note_foreign(c, *items);
    return items->items();
}

bool refuse_iterator(Context& c, const IteratorObject& iterator, std::string_view what,
                     std::string_view help) {
    c.program.diagnostics
        .report(kUnsupportedOperand, iterator.where, fmt::format("{} {}", iterator.what, what))
        .with_help(std::string(help));
    return true;
}

// Whether what an iterator gives cannot be told: it has been used up, or what `next` has left of it
// may be something else by now. A diagnostic says so.
bool refuse_used(Context& c, const Object& object) {
    constexpr std::string_view kHelp = "make a list of it first, as in `xs = list(xs)`";
    const IteratorObject& iterator = object.get<IteratorObject>();
    if (iterator.is_view()) {
        return false;
    }
    if (!is_owned(c, object)) {
        return refuse_iterator(
            c, iterator, "that is used inside a loop or branch that runs in the graph", kHelp);
    }
    bool goes_on = iterator.is_by_place || iterator.is_current != nullptr;
    if (iterator.is_used || (iterator.taken > 0 && !goes_on)) {
        return refuse_iterator(
            c, iterator, "that is used a second time: it gives each of its items once", kHelp);
    }
    bool is_outdated =
        iterator.taken > 0 &&
        ((iterator.is_current != nullptr && !iterator.is_current(c)) ||
         std::any_of(c.changes.begin() + static_cast<std::ptrdiff_t>(
                                             std::min(iterator.taken_changes, c.changes.size())),
                     c.changes.end(), [&](const Change& one) {
                         return !one.object.is(ObjectKind::kIterator) && reads(object, one.object);
                     }));
    return is_outdated &&
           refuse_iterator(c, iterator, "whose items are changed between two uses of `next`",
                           kHelp);
}

// The items, or the first of them; those that `next` has taken are among them.
std::optional<std::vector<Object>> asked_items(Context& c, const Object& object, size_t most) {
    IteratorObject& iterator = object.get<IteratorObject>();
    size_t changes = c.changes.size();
    std::optional<std::vector<Object>> items =
        iterator.first != nullptr && most != SIZE_MAX ? iterator.first(c, most) : iterator.items(c);
    bool has_effects =
        iterator.is_current == nullptr &&
        std::any_of(
            c.changes.begin() + static_cast<std::ptrdiff_t>(std::min(changes, c.changes.size())),
            c.changes.end(),
            [](const Change& one) { return !one.object.is(ObjectKind::kIterator); });
    if (has_effects) {
        refuse_iterator(c, iterator, "whose items change a list or dict",
                        "write a loop, or a list comprehension");
        return std::vector<Object>();
    }
    return items;
}

// What is left of an iterator, which is used up then.
std::optional<std::vector<Object>> iterated_items(Context& c, const Object& object, size_t most) {
    IteratorObject& iterator = object.get<IteratorObject>();
    if (refuse_used(c, object)) {
        return std::vector<Object>();
    }
    if (most == SIZE_MAX && is_endless(object)) {
        refuse_iterator(c, iterator, "without an end, of which all items are asked for",
                        "take some of them, as in `itertools.islice(xs, n)`");
        return std::vector<Object>();
    }
    if (!iterator.is_view()) {
        iterator.is_used = true;
        log_change(c, object, [](const Object& one) { one.get<IteratorObject>().is_used = false; });
    }
    size_t taken = iterator.taken;
    std::optional<std::vector<Object>> items =
        asked_items(c, object, most > SIZE_MAX - taken ? SIZE_MAX : most + taken);
    if (items && taken > 0) {
        items->erase(items->begin(),
                     items->begin() + static_cast<std::ptrdiff_t>(std::min(taken, items->size())));
    }
    return items;
}

// The rows of an array, or its elements where it has one dimension, as NumPy gives them.
std::optional<std::vector<Object>> rows_of_array(Context& c, const Object& array) {
    const Dims& dims = array.get<Tensor>().dims();
    if (dims.empty() || dims[0] > c.options.limits.static_iterations) {
        return std::nullopt;
    }
    std::vector<Object> rows;
    for (int64_t i = 0; i < dims[0]; ++i) {
        std::optional<Object> row = array_item(c, array, Object::integer(i), {});
        if (!row) {
            return std::nullopt;
        }
        rows.push_back(as_numpys_number(*row));
    }
    return rows;
}

}  // namespace

int64_t RangeObject::size() const {
    // Unsigned, because stop - start may overflow int64.
    if (step == 0 || (step > 0 ? start >= stop : start <= stop)) {
        return 0;
    }
    uint64_t width = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
    uint64_t stride =
        step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    uint64_t count = (width - 1) / stride + 1;
    return count > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(count);
}

bool reads(const Object& iterable, const Object& other) {
    return reads_at(iterable, other, 0);
}

bool refuse_change(Context& c, const Object& source, size_t changes, syntax::Range range) {
    for (size_t i = changes; i < c.changes.size(); ++i) {
        const Object& changed = c.changes[i].object;
        if (!changed.is(ObjectKind::kIterator) && reads(source, changed)) {
            c.report(
                 kUnsupportedOperand, range,
                 fmt::format("{} is changed while its items are iterated over", kind_name(changed)))
                .with_help("iterate over a copy: `list(...)`");
            return true;
        }
    }
    return false;
}

Object as_set(const Object& object) {
    DictView view =
        object.is(ObjectKind::kIterator) ? object.get<IteratorObject>().view : DictView::kNone;
    if (view != DictView::kKeys && view != DictView::kItems) {
        return object;
    }
    std::vector<Object> items;
    for (const auto& [key, value] :
         object.get<IteratorObject>().sources.items()[0].get<DictObject>().items) {
        items.push_back(view == DictView::kKeys ? key : Object::tuple({key, value}));
    }
    return Object::set(items);
}

Object make_iterator(Context& c, IteratorObject iterator) {
    Object object = Object::make(ObjectKind::kIterator, std::move(iterator));
    claim(c, object);
    return object;
}

std::optional<std::vector<Object>> static_items(Context& c, const Object& object) {
    std::vector<Object> items;
    switch (object.kind()) {
        case ObjectKind::kTuple:
        case ObjectKind::kList:
        case ObjectKind::kSet:
            return object.items();
        case ObjectKind::kRange: {
            const RangeObject& range = object.get<RangeObject>();
            if (range.size() > c.options.limits.static_iterations) {
                return std::nullopt;
            }
            for (int64_t i = 0; i < range.size(); ++i) {
                items.push_back(Object::integer(range.start + i * range.step));
            }
            return items;
        }
        case ObjectKind::kString: {
            const std::string& text = object.text();
            for (size_t i = 0; i < text.size();) {
                size_t size = 1;
                while (i + size < text.size() &&
                       (static_cast<unsigned char>(text[i + size]) & 0xC0) == 0x80) {
                    ++size;
                }
                items.push_back(Object::string(text.substr(i, size)));
                i += size;
            }
            return items;
        }
        case ObjectKind::kDict:
            for (const auto& [key, value] : object.get<DictObject>().items) {
                items.push_back(key);
            }
            return items;
        case ObjectKind::kIterator:
            return iterated_items(c, object, SIZE_MAX);
        case ObjectKind::kConstant:
            return rows_of_array(c, object);
        case ObjectKind::kModule:
            if (std::optional<Object> iterator = asked_iterator(c, object)) {
                return iterator->is_error() ? std::nullopt : static_items(c, *iterator);
            }
            return members_of(object);
        case ObjectKind::kOpaque:
            return items_of_opaque(c, object);
        default:
            return std::nullopt;
    }
}

std::optional<std::vector<Object>> first_items(Context& c, const Object& object, size_t most) {
    std::optional<std::vector<Object>> items = object.is(ObjectKind::kIterator)
                                                   ? iterated_items(c, object, most)
                                                   : static_items(c, object);
    if (items && items->size() > most) {
        items->resize(most);
    }
    return items;
}

std::optional<std::vector<std::vector<Object>>> columns_of(Context& c,
                                                           const std::vector<Object>& iterables,
                                                           int64_t most) {
    auto gives_first = [](const Object& one) {
        return one.is(ObjectKind::kIterator) && one.get<IteratorObject>().first != nullptr;
    };
    size_t shortest = most == INT64_MAX ? SIZE_MAX : static_cast<size_t>(most);
    std::vector<std::vector<Object>> columns(iterables.size());
    for (bool is_second : {false, true}) {  // those that give their first items alone, at last
        for (size_t i = 0; i < iterables.size(); ++i) {
            if (gives_first(iterables[i]) != is_second) {
                continue;
            }
            std::optional<std::vector<Object>> items =
                is_second ? first_items(c, iterables[i], shortest) : static_items(c, iterables[i]);
            if (!items) {
                return std::nullopt;
            }
            shortest = std::min(shortest, items->size());
            columns[i] = std::move(*items);
        }
    }
    return columns;
}

bool is_endless(const Object& object) {
    return object.is(ObjectKind::kIterator) && object.get<IteratorObject>().items == nullptr &&
           object.get<IteratorObject>().first != nullptr;
}

bool is_counted(const Object& object) {
    return object.is(ObjectKind::kIterator) && object.get<IteratorObject>().counted.has_value();
}

std::optional<RangeObject> take_counted(Context& c, const Object& object) {
    IteratorObject& iterator = object.get<IteratorObject>();
    if (!iterator.counted || refuse_used(c, object)) {
        return std::nullopt;
    }
    RangeObject left = *iterator.counted;
    left.start += static_cast<int64_t>(iterator.taken) * left.step;
    iterator.is_used = true;
    log_change(c, object, [](const Object& one) { one.get<IteratorObject>().is_used = false; });
    return left;
}

std::optional<Object> next_item(Context& c, const Object& object) {
    IteratorObject& iterator = object.get<IteratorObject>();
    if (refuse_used(c, object)) {
        return Object::error();
    }
    size_t taken = iterator.taken;
    if (taken == 0) {
        iterator.taken_changes = c.changes.size();
    }
    diagnostics::Checkpoint before(c.program.diagnostics);
    std::optional<std::vector<Object>> items = asked_items(c, object, taken + 1);
    if (!items || before.has_errors()) {
        return Object::error();
    }
    if (taken >= items->size()) {
        return std::nullopt;
    }
    iterator.taken = taken + 1;
    log_change(c, object, [taken](const Object& one) { one.get<IteratorObject>().taken = taken; });
    return (*items)[taken];
}

std::optional<size_t> list_index(Context& c, const Object& list, const Object& given, size_t size,
                                 syntax::Range index_range) {
    bool is_integer_scalar = given.is(ObjectKind::kConstant) &&
                             is_integer(given.get<Tensor>().element_type()) &&
                             given.get<Tensor>().element_type() != ElementType::kBool;
    Object index = is_integer_scalar ? plain_number(given) : given;
    if (!index.is_integer()) {
        if (!index.is_error()) {
            c.report(kStaticRequired, index_range,
                     fmt::format("{} is indexed with {}", kind_name(list), kind_name(index)))
                .with_help(
                    "use an integer that is known at compile time, or make a sequence with "
                    "`op.SequenceConstruct`");
        }
        return std::nullopt;
    }
    int64_t count = static_cast<int64_t>(size);
    int64_t i = index.as_int() + (index.as_int() < 0 ? count : 0);
    if (i < 0 || i >= count) {
        diagnostics::Diagnostic& reported = c.report(
            kStaticError, index_range,
            fmt::format("index {} of {} of length {}", index.as_int(), kind_name(list), count));
        if (count > 0) {
            reported.with_help(fmt::format("use {} to {}", -count, count - 1));
        }
        raises(c, "IndexError");
        return std::nullopt;
    }
    return static_cast<size_t>(i);
}

}  // namespace sardonyx::elaborate
