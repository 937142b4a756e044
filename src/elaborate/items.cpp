// What a static iterable gives, item by item.
#include "elaborate/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "elaborate/classes.h"
#include "elaborate/environment.h"
#include "elaborate/lists.h"

namespace sardonyx::elaborate {

namespace {

// The items of a named tuple of Python.
std::optional<std::vector<Object>> named_items(Context& c, const Object& object) {
    Environment* environment = c.function().environment;
    std::optional<Object> fields =
        environment != nullptr ? environment->attribute(object, "_fields").value : std::nullopt;
    if (!fields || !fields->is(ObjectKind::kTuple)) {
        return std::nullopt;
    }
    std::vector<Object> items;
    for (const Object& field : fields->items()) {
        std::optional<Object> item = field.is(ObjectKind::kString)
                                         ? environment->attribute(object, field.text()).value
                                         : std::nullopt;
        if (!item) {
            return std::nullopt;
        }
        items.push_back(std::move(*item));
    }
    return items;
}

// What Python gives one after another, such as the members of an enumeration.
std::optional<std::vector<Object>> items_of_opaque(Context& c, const Object& object) {
    Environment* environment = c.function().environment;
    std::optional<Object> items =
        environment != nullptr
            ? environment->items(object, c.options.limits.static_iterations).value
            : std::nullopt;
    return items ? std::optional(items->items()) : std::nullopt;
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
        c.undo.push_back(
            {object, [](const Object& one) { one.get<IteratorObject>().is_used = false; }});
    }
    size_t changes = c.undo.size();
    std::optional<std::vector<Object>> items = iterator.items(c);
    bool has_effects = std::any_of(
        c.undo.begin() + static_cast<std::ptrdiff_t>(std::min(changes, c.undo.size())),
        c.undo.end(), [](const Undo& one) { return !one.object.is(ObjectKind::kIterator); });
    if (has_effects) {
        c.program.diagnostics
            .report(kUnsupportedOperand, iterator.where,
                    fmt::format("{} whose items change a list or dict", iterator.what))
            .with_help("write a loop, or a list comprehension");
        return std::vector<Object>();
    }
    return items;
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
        case ObjectKind::kModule:
            return members_of(object);
        case ObjectKind::kOpaque: {
            std::optional<std::vector<Object>> named = named_items(c, object);
            return named ? named : items_of_opaque(c, object);
        }
        default:
            return std::nullopt;
    }
}

}  // namespace sardonyx::elaborate
