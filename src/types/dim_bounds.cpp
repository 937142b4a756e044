// Between which numbers a Dim lies: interval arithmetic, sharpened where a function of the sum
// cancels against the rest of it (N - min(N, 5) is not negative, though its interval has no lower
// end). Every step gives a true bound, so any number of steps may be taken; kMaxSteps keeps the
// cost of hostile expressions small.
#include <algorithm>

#include "types/dim_expression.h"

namespace sardonyx {
namespace {

constexpr int kMaxSteps = 24;

using Bound = std::optional<int64_t>;

struct Budget {
    int steps = kMaxSteps;
};

Bound add(Bound a, Bound b) {
    int64_t result;
    if (!a || !b || __builtin_add_overflow(*a, *b, &result)) {
        return std::nullopt;
    }
    return result;
}

Bound multiply(Bound a, Bound b) {
    int64_t result;
    if (!a || !b || __builtin_mul_overflow(*a, *b, &result)) {
        return std::nullopt;
    }
    return result;
}

Bound least(Bound a, Bound b) {
    return a && b ? Bound(std::min(*a, *b)) : std::nullopt;
}

Bound greatest(Bound a, Bound b) {
    return a && b ? Bound(std::max(*a, *b)) : std::nullopt;
}

// The better of two true lower bounds.
Bound tighter_lower(Bound a, Bound b) {
    return a && b ? std::max(a, b) : (a ? a : b);
}

Bound tighter_upper(Bound a, Bound b) {
    return a && b ? std::min(a, b) : (a ? a : b);
}

bool is_nonnegative(const DimBounds& x) {
    return x.lower && *x.lower >= 0;
}

DimBounds multiply(const DimBounds& a, const DimBounds& b) {
    if (is_nonnegative(a) && is_nonnegative(b)) {
        return {multiply(a.lower, b.lower).value_or(0), multiply(a.upper, b.upper)};
    }
    Bound corners[] = {multiply(a.lower, b.lower), multiply(a.lower, b.upper),
                       multiply(a.upper, b.lower), multiply(a.upper, b.upper)};
    DimBounds result{corners[0], corners[0]};
    for (Bound corner : corners) {
        result.lower = least(result.lower, corner);
        result.upper = greatest(result.upper, corner);
    }
    return result;
}

DimBounds scale(const DimBounds& x, int64_t coefficient) {
    Bound lower = multiply(x.lower, coefficient), upper = multiply(x.upper, coefficient);
    return coefficient >= 0 ? DimBounds{lower, upper} : DimBounds{upper, lower};
}

// A divisor is never 0 where the quotient has a value.
DimBounds quotient_bounds(const DimBounds& a, const DimBounds& divisor) {
    if (!is_nonnegative(divisor)) {
        return {};
    }
    if (is_nonnegative(a)) {
        int64_t smallest = std::max<int64_t>(1, *divisor.lower);
        int64_t lower = divisor.upper ? *a.lower / std::max<int64_t>(1, *divisor.upper) : 0;
        return {lower, a.upper ? Bound(*a.upper / smallest) : std::nullopt};
    }
    if (divisor.lower == divisor.upper && *divisor.lower > 0) {
        int64_t number = *divisor.lower;
        return {a.lower ? Bound(floor_quotient(*a.lower, number)) : std::nullopt,
                a.upper ? Bound(floor_quotient(*a.upper, number)) : std::nullopt};
    }
    return {};
}

DimBounds remainder_bounds(const DimBounds& a, const DimBounds& divisor) {
    if (!is_nonnegative(divisor)) {
        return {};
    }
    Bound upper = add(divisor.upper, -1);
    return {0, is_nonnegative(a) ? tighter_upper(upper, a.upper) : upper};
}

DimBounds interval(const DimExpression& expression) {
    DimBounds total{0, 0};
    for (const DimTerm& term : expression.terms) {
        DimBounds product{1, 1};
        for (const DimFactorPointer& factor : term.factors) {
            product = multiply(product, factor->bounds);
        }
        DimBounds scaled = scale(product, term.coefficient);
        total = {add(total.lower, scaled.lower), add(total.upper, scaled.upper)};
    }
    return total;
}

Bound lower_of(const Dim& dim, Budget& budget);

// A lower bound of rest + coefficient * (a//d), from a-d+1 <= d*(a//d) <= a.
Bound lower_through_quotient(const DimFactor& factor, int64_t coefficient, const Dim& rest,
                             Budget& budget) {
    const Dim& divisor = factor.right;
    if (!divisor.is_static()) {
        return std::nullopt;
    }
    Dim numerator = coefficient > 0 ? factor.left - divisor + Dim(1) : factor.left;
    Bound scaled = lower_of(rest * divisor + Dim(coefficient) * numerator, budget);
    if (!scaled || *scaled == INT64_MIN) {
        return std::nullopt;
    }
    return -floor_quotient(-*scaled, divisor.value());
}

// A lower bound of rest + coefficient * max(a, b), or min: the value is that of a or of b, and when
// it is not below either, both bounds are true.
Bound lower_through_extreme(const DimFactor& factor, int64_t coefficient, const Dim& rest,
                            Budget& budget) {
    Bound with_left = lower_of(rest + Dim(coefficient) * factor.left, budget);
    Bound with_right = lower_of(rest + Dim(coefficient) * factor.right, budget);
    bool is_above_both = (factor.kind == FactorKind::kMax) == (coefficient > 0);
    return is_above_both ? tighter_lower(with_left, with_right) : least(with_left, with_right);
}

Bound lower_of(const Dim& dim, Budget& budget) {
    if (!dim.is_symbolic()) {
        return dim.is_static() ? Bound(dim.value()) : std::nullopt;
    }
    const DimExpression& expression = *dim.expression();
    Bound best = interval(expression).lower;
    if (expression.terms.size() == 1 && expression.terms.front().coefficient > 0) {
        return best;
    }
    for (const DimTerm& term : expression.terms) {
        const DimFactor* factor = term.sole_factor();
        if (factor == nullptr || factor->kind == FactorKind::kSymbol ||
            factor->kind == FactorKind::kModulo) {
            continue;
        }
        if (--budget.steps <= 0) {
            break;
        }
        DimExpression single;
        single.terms.push_back(term);
        Dim rest = dim - Dim::from_expression(std::move(single));
        Bound found = factor->kind == FactorKind::kFloorDiv
                          ? lower_through_quotient(*factor, term.coefficient, rest, budget)
                          : lower_through_extreme(*factor, term.coefficient, rest, budget);
        best = tighter_lower(best, found);
    }
    return best;
}

}  // namespace

DimBounds intersection(const DimBounds& a, const DimBounds& b) {
    return {tighter_lower(a.lower, b.lower), tighter_upper(a.upper, b.upper)};
}

DimBounds bounds_of(const Dim& dim) {
    if (!dim.is_symbolic()) {
        Bound value = dim.is_static() ? Bound(dim.value()) : std::nullopt;
        return {value, value};
    }
    if (const DimFactor* symbol = as_function(dim, FactorKind::kSymbol)) {
        return symbol->bounds;
    }
    Budget budget;
    Bound lower = lower_of(dim, budget);
    budget = Budget();
    return {lower, multiply(lower_of(-dim, budget), -1)};
}

DimBounds bounds_of(FactorKind kind, const DimBounds& left, const DimBounds& right) {
    switch (kind) {
        case FactorKind::kFloorDiv:
            return quotient_bounds(left, right);
        case FactorKind::kModulo:
            return remainder_bounds(left, right);
        case FactorKind::kMax:
            return {tighter_lower(left.lower, right.lower), greatest(left.upper, right.upper)};
        case FactorKind::kMin:
            return {least(left.lower, right.lower), tighter_upper(left.upper, right.upper)};
        default:
            return {};
    }
}

}  // namespace sardonyx
