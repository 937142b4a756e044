// The normal form of names: Python reads every name in NFKC (Python reference 2.3), so that two
// that look alike, as `ﬁ` and `fi`, are one. Unicode Standard Annex 15; Hangul: chapter 3.12.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sardonyx::syntax {

// Of valid UTF-8.
std::string normal_form(std::string_view name);

// --- The tables, which tools/generate_normal_forms.py writes.

// What a code point is taken apart into, altogether: `length` of decomposed_points() from `begin`.
struct Decomposition {
    uint32_t point;
    uint16_t begin;
    uint16_t length;
};
// Marks that stand after a character are sorted by their class; 0 is a character of its own.
struct CombiningRun {
    uint32_t first, last;
    uint8_t combining_class;
};
// Two that are one when they stand beside each other.
struct Composition {
    uint32_t first, second, composed;
};

// Each in the order of its code points.
std::span<const Decomposition> decompositions();
std::span<const uint32_t> decomposed_points();
std::span<const CombiningRun> combining_runs();
std::span<const Composition> compositions();

}  // namespace sardonyx::syntax
