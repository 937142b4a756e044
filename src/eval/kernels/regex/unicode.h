// The general categories and the scripts of Unicode (Unicode Standard, section 4.5; its Annex 24).
// The tables are written by tools/generate_unicode.py when the project is built.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sardonyx::eval {

// Neighbouring code points, ends included, that share a property.
struct UnicodeRun {
    uint32_t first;
    uint32_t last;
    std::string_view name;
};

// In order, every code point but the unassigned ones (Cn). The name of a category is the letter of
// its group and its own, such as "Lu".
std::span<const UnicodeRun> category_runs();

// In order, every code point that has a script, such as "Greek" or "Old_Italic".
std::span<const UnicodeRun> script_runs();

}  // namespace sardonyx::eval
