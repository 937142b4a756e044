// The table of the functions that the library implements.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

using BuiltinFunction = Object (*)(Context&, const Arguments&);

struct BuiltinRow {
    std::string_view name;  // dotted, but for Python's builtins
    BuiltinFunction function;
    size_t least;  // positional arguments
    size_t most;
    bool takes_keywords = false;
    bool takes_tuples = false;  // of unknown length
    bool is_pythons = false;    // where Python runs, it or NumPy computes it
};

// BuiltinObject::index is the place of a row.
std::span<const BuiltinRow> builtin_rows();

}  // namespace sardonyx::elaborate
