// Symbolic dimensions.
//
// A Dim is unknown, a number, or an expression over named symbols: `N`, `N+1`, `2*N*M`,
// `(N-1)//2+1`, `max(N, 3)`. Expressions are kept in one canonical form, a polynomial with integer
// coefficients whose factors are symbols or the opaque functions floor-division, remainder, max and
// min of two Dims; equal expressions print alike, and equality is equality of the canonical text. A
// symbol stands for a non-negative integer (a size), but a Dim may also carry the elements of a
// shape tensor and then be negative. Whatever overflows int64 or grows past kMaxTerms becomes
// unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sardonyx {

struct DimExpression;

class Dim {
  public:
    Dim() = default;  // unknown
    Dim(int64_t value) : value_(value), known_(true) {}
    static Dim symbol(std::string_view name);
    // Parses `+ - * // %`, parentheses, `max(a, b)`, `min(a, b)`, integers, identifiers, names in
    // single quotes, and "?" alone. Empty optional when `text` is anything else: such a name
    // ("batch size") is a symbol to the caller.
    static std::optional<Dim> parse(std::string_view text);

    // The same, where any other text is the name of a symbol.
    static Dim of_text(std::string_view text) { return parse(text).value_or(symbol(text)); }

    bool is_unknown() const { return !known_ && expression_ == nullptr; }
    bool is_static() const { return known_; }
    bool is_symbolic() const { return expression_ != nullptr; }
    // is_static() must hold.
    int64_t value() const;

    // "?", "4", "2*N+1". A symbol alone is its name; within an expression, a name that is no
    // identifier stands in single quotes.
    std::string to_string() const;

    // Certainly the same number. Unknown dims are never certainly equal, not even to themselves.
    bool equals(const Dim& other) const;
    // Certainly different numbers: the difference is known to be above or below 0.
    bool differs(const Dim& other) const;
    // The greatest number that the Dim is certainly not below: a symbol is at least 0.
    std::optional<int64_t> lower_bound() const;
    bool is_at_least(int64_t bound) const {
        std::optional<int64_t> lower = lower_bound();
        return lower.has_value() && *lower >= bound;
    }

    friend Dim operator+(const Dim& a, const Dim& b);
    friend Dim operator-(const Dim& a, const Dim& b);
    friend Dim operator*(const Dim& a, const Dim& b);
    friend Dim operator-(const Dim& a) { return Dim(0) - a; }

    // Replaces each symbol by what `value_of` gives for it; an unknown result makes the whole
    // unknown.
    Dim substitute(const std::function<Dim(std::string_view)>& value_of) const;

    const DimExpression* expression() const { return expression_.get(); }
    static Dim from_expression(DimExpression expression);  // canonicalises

  private:
    std::shared_ptr<const DimExpression> expression_;
    int64_t value_ = 0;
    bool known_ = false;
};

// Rounds towards minus infinity, as Python's // does. Exact where every coefficient divides:
// floor_div(2*N, 2) is N, floor_div(2*N+1, 2) is N. Unknown for a zero divisor.
Dim floor_div(const Dim& a, const Dim& b);
// Rounds up.
Dim ceil_div(const Dim& a, const Dim& b);
// Python's %: the sign of the divisor.
Dim modulo(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
// One of these by its symbol or name in an expression: "+", "//", "max". Nothing: there is none.
std::optional<Dim> apply(std::string_view operation, const Dim& a, const Dim& b);
// The q with a = q * b as polynomials: exact_quotient(N*M, M) is N even though M may be 0. For a
// caller who knows that b is not 0, or that the case does not matter.
std::optional<Dim> exact_quotient(const Dim& a, const Dim& b);

}  // namespace sardonyx
