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
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/owners.h"

namespace sardonyx::elaborate {

namespace {

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

// The items of an iterator. One that has been used has what is left, which is not followed here.
std::optional<std::vector<Object>> iterated_items(Context& c, const Object& object) {
    IteratorObject& iterator = object.get<IteratorObject>();
    if (!iterator.is_view && (iterator.is_used || !is_owned(c, object))) {
        c.program.diagnostics
            .report(kUnsupportedOperand, iterator.where,
                    fmt::format("{} {}", iterator.what,
                                iterator.is_used ? "that is used a second time: it gives each of "
                                                   "its items once"
                                                 : "that is used inside a loop or branch that runs "
                                                   "in the graph"))
            .with_help("make a list of it first, as in `xs = list(xs)`");
        return std::vector<Object>();
    }
    if (!iterator.is_view) {
        iterator.is_used = true;
        log_change(c, object, [](const Object& one) { one.get<IteratorObject>().is_used = false; });
    }
    size_t changes = c.changes.size();
    std::optional<std::vector<Object>> items = iterator.items(c);
    bool has_effects =
        iterator.is_current == nullptr &&
        std::any_of(
            c.changes.begin() + static_cast<std::ptrdiff_t>(std::min(changes, c.changes.size())),
            c.changes.end(),
            [](const Change& one) { return !one.object.is(ObjectKind::kIterator); });
    if (has_effects) {
        c.program.diagnostics
            .report(kUnsupportedOperand, iterator.where,
                    fmt::format("{} whose items change a list or dict", iterator.what))
            .with_help("write a loop, or a list comprehension");
        return std::vector<Object>();
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
            return iterated_items(c, object);
        case ObjectKind::kConstant:
            return rows_of_array(c, object);
        case ObjectKind::kModule:
            return members_of(object);
        case ObjectKind::kOpaque:
            return items_of_opaque(c, object);
        default:
            return std::nullopt;
    }
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
