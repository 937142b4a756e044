#include "elaborate/library/call_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "elaborate/emit/interpreter.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

namespace {

constexpr std::string_view kCache = "functools.cache", kLruCache = "functools.lru_cache";
constexpr size_t kFunction = 0, kResults = 1, kMost = 2;

// What stands for the arguments in the dict of results; nothing after a diagnostic.
std::optional<Object> key_of(Context& c, const Arguments& a) {
    std::vector<Object> parts = a.positional;
    for (const KeywordArgument& keyword : a.keywords) {
        parts.push_back(Object::tuple({Object::string(std::string(keyword.name)), keyword.value}));
    }
    for (const Object& part : parts) {
        if (!part.is_static() || part.is(ObjectKind::kConstant)) {
            refuse(c, a.range,
                   fmt::format("{} as an argument of a function that keeps its results",
                               kind_name(part)),
                   "give it numbers or strings, or remove the decorator");
            return std::nullopt;
        }
    }
    // To Python an int or str alone is its own key, which f(1.0) does not find.
    const Object first = parts.empty() ? Object::none() : parts[0];
    bool is_plain = first.member() == nullptr &&
                    (first.is(ObjectKind::kInt) || first.is(ObjectKind::kWideInt) ||
                     first.is(ObjectKind::kString));
    bool is_alone = a.positional.size() == 1 && a.keywords.empty() && is_plain &&
                    first.shown_as() == ShownAs::kPlain;
    auto form = is_alone ? int64_t{-1} : static_cast<int64_t>(a.positional.size());
    Object key = Object::tuple({Object::integer(form), Object::tuple(std::move(parts))});
    return check_key(c, key, a.range) ? std::optional(key) : std::nullopt;
}

}  // namespace

// The function, the results by the arguments, and how many it keeps.
Object cached_function(const Object& function, const Object& most) {
    Object self = Object::tuple({function, Object::dict({}), most});
    return Object::make(ObjectKind::kMethod, MethodObject{self, std::string(kCache)});
}

bool is_cache_decorator(const Object& object) {
    return is_builtin(object, kCache) || is_builtin(object, kLruCache) ||
           (object.is(ObjectKind::kMethod) && object.get<MethodObject>().name == kLruCache);
}

bool is_cached_function(const MethodObject& method) {
    return method.name == kCache;
}

Object functools_cache(Context& c, const Arguments& a) {
    (void)c;
    return cached_function(a.positional[0], Object::none());
}

// With a function it is a decorator itself; without one, it makes one.
Object functools_lru_cache(Context& c, const Arguments& a) {
    Object most = Object::integer(128), function;
    for (const Object& one : a.positional) {
        (one.is_none() || one.is_integer() ? most : function) = one;
    }
    for (const KeywordArgument& keyword : a.keywords) {
        bool is_known =
            keyword.name == "maxsize" || (keyword.name == "typed" && truth(keyword.value) == false);
        if (!is_known) {
            return refuse(c, keyword.range, fmt::format("`lru_cache` with `{}`", keyword.name),
                          "give `maxsize` alone");
        }
        most = keyword.name == "maxsize" ? keyword.value : most;
    }
    if (!function.is_error()) {
        return cached_function(function, most);
    }
    Object self = Object::tuple({most});
    return Object::make(ObjectKind::kMethod, MethodObject{self, std::string(kLruCache)});
}

std::optional<Object> call_cached(Context& c, const MethodObject& method, const Arguments& a) {
    if (method.name == kLruCache) {
        return a.positional.size() == 1 && a.keywords.empty()
                   ? cached_function(a.positional[0], method.self.items()[0])
                   : refuse(c, a.range, "`lru_cache(...)` is called like this");
    }
    if (method.name != kCache) {
        return std::nullopt;
    }
    std::optional<Object> key = key_of(c, a);
    if (!key) {
        return Object::error();
    }
    const std::vector<Object>& parts = method.self.items();
    DictObject& results = parts[kResults].get<DictObject>();
    if (const Object* known = results.find(*key)) {
        if (!c.runs_file || c.unit->function != nullptr) {
            note_foreign(c, *known);
        }
        return *known;
    }
    size_t changes = c.changes.size();
    Object result = call(c, parts[kFunction], a);
    if (result.is_error()) {
        return result;
    }
    bool is_changing = std::any_of(
        c.changes.begin() + static_cast<std::ptrdiff_t>(std::min(changes, c.changes.size())),
        c.changes.end(), [](const Change& one) { return !one.object.is(ObjectKind::kIterator); });
    if (is_changing && !c.runs_file) {
        return refuse(c, a.range,
                      "a function that keeps its results changes objects, in its first call alone",
                      "remove the decorator, or return what it changes");
    }
    if (!result.is_static()) {
        return refuse(c, a.range, "a function that keeps its results computes a tensor",
                      "remove the decorator: the graph computes equal nodes once");
    }
    // A script is compiled more than once: what it computes is not kept, and is not changed.
    if (!c.runs_file || c.unit->function != nullptr) {
        note_foreign(c, result);
        return result;
    }
    bool is_full = parts[kMost].is_integer() &&
                   static_cast<int64_t>(results.items.size()) >= parts[kMost].as_int();
    if (is_full) {
        return refuse(c, a.range,
                      fmt::format("more than {} different calls of a function that keeps so many "
                                  "results",
                                  parts[kMost].as_int()),
                      "write `functools.cache`");
    }
    results.set(*key, result);
    return result;
}

}  // namespace sardonyx::elaborate
