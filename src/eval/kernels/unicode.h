// The general categories of Unicode (Unicode Standard, section 4.5). The table is written by
// tools/generate_unicode.py when the project is built.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sardonyx::eval {

// Neighbouring code points of one category, ends included. Its name is the letter of its group and
// its own, such as "Lu".
struct CategoryRun {
    uint32_t first;
    uint32_t last;
    std::string_view category;
};

// In order, every code point but the unassigned ones (Cn).
std::span<const CategoryRun> category_runs();

}  // namespace sardonyx::eval
