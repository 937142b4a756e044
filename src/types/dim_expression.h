// The inside of a symbolic Dim: a polynomial in canonical form.
//
// Canonical: the factors of a term are sorted (symbols before functions, then by text); the terms
// are sorted by degree, highest first, then by their factors (the graded lexicographic order, in
// which exact division works), no two terms have the same factors, no coefficient is 0, and the
// constant, if any, stands last. `text` is made from that, so equal texts mean equal expressions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/dim.h"

namespace sardonyx {

// Beyond these an expression becomes unknown. The length of the text bounds everything else.
inline constexpr size_t kMaxTerms = 64;
inline constexpr size_t kMaxDimText = 1024;
inline constexpr int kMaxDimDepth = 16;

// The numbers between which a Dim certainly lies; nothing on a side means no bound is known.
struct DimBounds {
    std::optional<int64_t> lower;
    std::optional<int64_t> upper;

    bool is_empty() const { return lower && upper && *lower > *upper; }
};
// What lies between both.
DimBounds intersection(const DimBounds& a, const DimBounds& b);

enum class FactorKind : uint8_t { kSymbol, kFloorDiv, kModulo, kMax, kMin };

// A symbol, or a function of two Dims that the algebra does not look into. A static divisor is
// positive; max and min have a symbolic first operand.
struct DimFactor {
    FactorKind kind = FactorKind::kSymbol;
    std::string name;  // of a symbol, as it was given
    Dim left;
    Dim right;
    DimBounds bounds;
    std::string text;  // a symbol that is no identifier is quoted
    int depth = 0;
};
using DimFactorPointer = std::shared_ptr<const DimFactor>;

// coefficient * factor * factor ...; without factors the constant.
struct DimTerm {
    int64_t coefficient = 0;
    std::vector<DimFactorPointer> factors;

    bool is_constant() const { return factors.empty(); }
    // The function or symbol itself, with no other factor; null otherwise.
    const DimFactor* sole_factor() const {
        return factors.size() == 1 ? factors.front().get() : nullptr;
    }
};

struct DimExpression {
    std::vector<DimTerm> terms;
    std::string text;
    int depth = 0;

    int64_t constant() const {
        return !terms.empty() && terms.back().is_constant() ? terms.back().coefficient : 0;
    }
};

// A symbol that its author promises to lie between these; at least 0. It equals the symbol of that
// name without bounds: they say what is known of it, not which one it is.
Dim bounded_symbol(std::string_view name, DimBounds bounds);
// The names of the symbols in the Dim, as often as they stand there.
void each_symbol(const Dim& dim, const std::function<void(const std::string& name)>& visit);
// The symbols of the Dim of which more is known than that they are sizes.
void for_each_bounded(const Dim& dim,
                      const std::function<void(const std::string& name, const DimBounds&)>& visit);

// The terms of a Dim that is not unknown, as they stand in an expression.
std::vector<DimTerm> terms_of(const Dim& dim);
// The Dim that is one function of two others; unknown when it grows too deep or too long.
Dim function_of(FactorKind kind, const Dim& left, const Dim& right);
// The function or symbol that the whole Dim is; null when it is anything else.
const DimFactor* as_function(const Dim& dim, FactorKind kind);

// Letters, digits, `_`, and every byte of a character beyond ASCII.
bool is_identifier_byte(char c);
bool is_identifier(std::string_view text);

DimBounds bounds_of(const Dim& dim);
// Of a function of Dims with these bounds.
DimBounds bounds_of(FactorKind kind, const DimBounds& left, const DimBounds& right);

int64_t floor_quotient(int64_t a, int64_t positive);

}  // namespace sardonyx
