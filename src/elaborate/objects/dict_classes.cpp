#include "elaborate/objects/dict_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using syntax::Range;

namespace {

struct NamedClass {
    std::string_view name;
    DictClass of;
};

constexpr NamedClass kClasses[] = {{"dict", DictClass::kDict},
                                   {"OrderedDict", DictClass::kOrdered},
                                   {"defaultdict", DictClass::kDefault},
                                   {"Counter", DictClass::kCounter}};

bool are_counts(const DictObject& counter) {
    return std::all_of(counter.items.begin(), counter.items.end(),
                       [](const auto& item) { return item.second.is_number(); });
}

Object count_of(const DictObject& counter, const Object& key) {
    const Object* found = counter.find(key);
    return found != nullptr ? *found : Object::integer(0);
}

bool is_less(const Object& a, const Object& b) {
    return compare_numbers(a, b) == -1;
}

}  // namespace

std::string_view class_name(const DictObject& dict) {
    return kClasses[static_cast<size_t>(dict.of)].name;
}

std::optional<DictClass> dict_class(std::string_view name) {
    const auto* found = std::find_if(std::begin(kClasses), std::end(kClasses),
                                     [&](const NamedClass& one) { return one.name == name; });
    return found != std::end(kClasses) ? std::optional(found->of) : std::nullopt;
}

bool are_of_one_class(const DictObject& a, const DictObject& b) {
    return a.of == b.of && identical(a.factory, b.factory);
}

DictObject emptied(const DictObject& dict) {
    return {{}, dict.of, dict.factory};
}

bool add_counts(Context& c, DictObject& counter, const Object& source, int sign, Range range) {
    Binary op = sign < 0 ? Binary::kSub : Binary::kAdd;
    auto add = [&](const Object& key, const Object& count) {
        Object before = count_of(counter, key);
        if (!before.is_number() || !count.is_number()) {
            refuse(c, range, "a `Counter` of what is not a number that is known",
                   "count numbers that are known when the script is compiled");
            return false;
        }
        Object after = static_binary(c, op, before, count, range);
        counter.set(key, after);
        return !after.is_error();
    };
    if (source.is(ObjectKind::kDict)) {
        const DictObject counts = source.get<DictObject>();  // a copy: it may be the same dict
        return std::all_of(counts.items.begin(), counts.items.end(),
                           [&](const auto& item) { return add(item.first, item.second); });
    }
    std::optional<std::vector<Object>> items =
        source.is(ObjectKind::kSet) ? std::nullopt : static_items(c, source);
    if (!items) {
        refuse(c, range, fmt::format("a `Counter` of {}", kind_name(source)),
               "give it a list or a dict that is known");
        return false;
    }
    return std::all_of(items->begin(), items->end(), [&](const Object& item) {
        return check_key(c, item, range) && add(item, Object::integer(1));
    });
}

namespace {

std::optional<DictObject> combine_counts(Context& c, Binary op, const DictObject& a,
                                         const DictObject& b, Range range) {
    bool is_combination =
        op == Binary::kAdd || op == Binary::kSub || op == Binary::kBitAnd || op == Binary::kBitOr;
    if (!is_combination || !are_counts(a) || !are_counts(b)) {
        return std::nullopt;
    }
    DictObject all = emptied(a);
    auto keep = [&](const Object& key) {
        Object left = count_of(a, key), right = count_of(b, key);
        Object count = op == Binary::kBitAnd  ? (is_less(left, right) ? left : right)
                       : op == Binary::kBitOr ? (is_less(left, right) ? right : left)
                                              : static_binary(c, op, left, right, range);
        if (is_less(Object::integer(0), count)) {
            all.set(key, count);
        }
    };
    for (const auto& [key, count] : a.items) {
        keep(key);
    }
    for (const auto& [key, count] : b.items) {
        if (a.find(key) == nullptr) {
            keep(key);
        }
    }
    return all;
}

// The class is that of the operand on the left, unless it is a plain dict.
DictObject united(const DictObject& left, const DictObject& right) {
    DictObject both = emptied(left.of == DictClass::kDict ? right : left);
    both.items = left.items;
    for (const auto& [key, value] : right.items) {
        both.set(key, value);
    }
    return both;
}

}  // namespace

std::optional<Object> dict_binary(Context& c, Binary op, const Object& a, const Object& b,
                                  Range range) {
    const DictObject &left = a.get<DictObject>(), &right = b.get<DictObject>();
    bool is_left = left.of == DictClass::kCounter, is_right = right.of == DictClass::kCounter;
    std::optional<DictObject> result;
    if (is_left && is_right) {
        result = combine_counts(c, op, left, right, range);
    } else if (!is_left && !is_right && op == Binary::kBitOr) {
        result = united(left, right);
    }
    if (!result) {
        return std::nullopt;
    }
    Object made = Object::dict(*std::move(result));
    claim(c, made);
    return made;
}

std::optional<std::vector<Object>> most_common(const DictObject& counter) {
    if (!are_counts(counter)) {
        return std::nullopt;
    }
    std::vector<std::pair<Object, Object>> items = counter.items;
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& x, const auto& y) { return is_less(y.second, x.second); });
    std::vector<Object> pairs;
    pairs.reserve(items.size());
    for (auto& [key, count] : items) {
        pairs.push_back(Object::tuple({std::move(key), std::move(count)}));
    }
    return pairs;
}

}  // namespace sardonyx::elaborate
