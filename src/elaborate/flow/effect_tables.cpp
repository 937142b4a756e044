// What functions and methods do to the objects that they are given, by their names.
#include "elaborate/flow/effect_tables.h"

#include "elaborate/objects/object.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

namespace {

constexpr auto kReadingMethods = std::to_array<std::string_view>(
    {"get",        "items",      "keys",        "values",       "copy",         "index",
     "count",      "format",     "join",        "split",        "strip",        "lstrip",
     "rstrip",     "upper",      "lower",       "title",        "capitalize",   "startswith",
     "endswith",   "replace",    "find",        "removeprefix", "removesuffix", "zfill",
     "isdigit",    "encode",     "union",       "intersection", "difference",   "issubset",
     "issuperset", "isdisjoint", "most_common", "total"});

// Functions of NumPy that change what they are given.
constexpr auto kChangingFunctions =
    std::to_array<std::string_view>({"copyto", "put", "place", "putmask", "put_along_axis",
                                     "fill_diagonal", "shuffle", "at", "setflags"});

}  // namespace

bool changes_nothing(const Object& callee, std::string_view member) {
    switch (callee.kind()) {
        case ObjectKind::kModule:
            return callee.get<ModuleObject>().environment == nullptr &&
                   !has_word(kChangingFunctions, member);
        case ObjectKind::kBuiltin:
        case ObjectKind::kPythonType:
        case ObjectKind::kElementType:
        case ObjectKind::kType:
        case ObjectKind::kOpset:
        case ObjectKind::kOperator:
        case ObjectKind::kScript:
        case ObjectKind::kDecorator:
            return true;
        default:
            return false;
    }
}

bool is_reading_method(std::string_view name) {
    return has_word(kReadingMethods, name);
}

}  // namespace sardonyx::elaborate
