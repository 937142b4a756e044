#include "types/dim.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "types/dim_expression.h"

namespace sardonyx {
namespace {

Dim from_terms(std::vector<DimTerm> terms) {
    DimExpression expression;
    expression.terms = std::move(terms);
    return Dim::from_expression(std::move(expression));
}

Dim sum(const Dim& a, const Dim& b, int64_t sign) {
    if (a.is_unknown() || b.is_unknown()) {
        return Dim();
    }
    std::vector<DimTerm> terms = terms_of(a);
    for (DimTerm& term : terms_of(b)) {
        if (__builtin_mul_overflow(term.coefficient, sign, &term.coefficient)) {
            return Dim();
        }
        terms.push_back(std::move(term));
    }
    return from_terms(std::move(terms));
}

Dim product(const Dim& a, const Dim& b) {
    if ((a.is_static() && a.value() == 0) || (b.is_static() && b.value() == 0)) {
        return Dim(0);
    }
    if (a.is_unknown() || b.is_unknown()) {
        return Dim();
    }
    std::vector<DimTerm> left = terms_of(a), right = terms_of(b);
    if (left.size() * right.size() > 4 * kMaxTerms) {
        return Dim();
    }
    std::vector<DimTerm> terms;
    for (const DimTerm& x : left) {
        for (const DimTerm& y : right) {
            DimTerm& term = terms.emplace_back(x);
            if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) {
                return Dim();
            }
            term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
        }
    }
    return from_terms(std::move(terms));
}

bool is_surely_nonzero(const Dim& dim) {
    DimBounds bounds = bounds_of(dim);
    return (bounds.lower.has_value() && *bounds.lower > 0) ||
           (bounds.upper.has_value() && *bounds.upper < 0);
}

bool lies_within(const Dim& dim, int64_t lower, int64_t upper) {
    DimBounds bounds = bounds_of(dim);
    return bounds.lower.has_value() && *bounds.lower >= lower && bounds.upper.has_value() &&
           *bounds.upper <= upper;
}

int64_t floor_remainder(int64_t a, int64_t positive) {
    int64_t remainder = a % positive;
    return remainder < 0 ? remainder + positive : remainder;
}

// The greatest common divisor of the coefficients, constants included.
int64_t content_of(const Dim& dim) {
    int64_t content = 0;
    for (const DimTerm& term : terms_of(dim)) {
        content = std::gcd(content, term.coefficient);
    }
    return content;
}

Dim divided(const Dim& dim, int64_t divisor) {
    std::vector<DimTerm> terms = terms_of(dim);
    for (DimTerm& term : terms) {
        term.coefficient /= divisor;
    }
    return from_terms(std::move(terms));
}

// dim = divisor * quotient + scale * rest + offset, where every coefficient of `rest` and its
// constant are in [0, divisor / scale), `scale` divides the divisor, and offset is in [0, scale).
struct Reduction {
    Dim quotient;
    Dim rest;
    int64_t scale = 1;
    int64_t offset = 0;
};

Reduction reduce(const Dim& dim, int64_t divisor) {
    std::vector<DimTerm> quotients = terms_of(dim), rests = quotients;
    Reduction result;
    result.scale = divisor;
    for (size_t i = 0; i < rests.size(); ++i) {
        quotients[i].coefficient = floor_quotient(rests[i].coefficient, divisor);
        rests[i].coefficient = floor_remainder(rests[i].coefficient, divisor);
        if (!rests[i].is_constant()) {
            result.scale = std::gcd(result.scale, rests[i].coefficient);
        }
    }
    for (DimTerm& rest : rests) {
        if (rest.is_constant()) {
            result.offset = rest.coefficient % result.scale;
        }
        rest.coefficient /= result.scale;
    }
    result.quotient = from_terms(std::move(quotients));
    result.rest = from_terms(std::move(rests));
    return result;
}

// (x//e + c)//d is (x + c*e)//(d*e). Unknown when `rest` is not of that form.
Dim merge_nested_quotient(const Dim& rest, int64_t divisor) {
    if (!rest.is_symbolic()) {
        return Dim();
    }
    int64_t constant = rest.expression()->constant();
    const DimFactor* inner = as_function(rest - Dim(constant), FactorKind::kFloorDiv);
    if (inner == nullptr || !inner->right.is_static()) {
        return Dim();
    }
    return floor_div(inner->left + Dim(constant) * inner->right, Dim(divisor) * inner->right);
}

Dim floor_div_by_number(const Dim& dim, int64_t divisor) {
    Reduction reduced = reduce(dim, divisor);
    int64_t rest_divisor = divisor / reduced.scale;
    if (rest_divisor == 1 || lies_within(reduced.rest, 0, rest_divisor - 1)) {
        return reduced.quotient;
    }
    Dim rest = merge_nested_quotient(reduced.rest, rest_divisor);
    if (rest.is_unknown()) {
        rest = function_of(FactorKind::kFloorDiv, reduced.rest, Dim(rest_divisor));
    }
    return reduced.quotient + rest;
}

Dim modulo_by_number(const Dim& dim, int64_t divisor) {
    Reduction reduced = reduce(dim, divisor);
    int64_t rest_divisor = divisor / reduced.scale;
    Dim rest = reduced.rest;
    if (rest_divisor == 1) {
        rest = Dim(0);
    } else if (!lies_within(rest, 0, rest_divisor - 1)) {
        rest = function_of(FactorKind::kModulo, rest, Dim(rest_divisor));
    }
    return Dim(reduced.scale) * rest + Dim(reduced.offset);
}

// A quotient or remainder by an expression, without the numbers that divide both sides.
struct Fraction {
    int64_t common;
    Dim numerator;
    Dim denominator;
};

Fraction lowest_terms(const Dim& a, const Dim& b) {
    // INT64_MIN has no magnitude.
    if (a.is_static() && a.value() == INT64_MIN) {
        return {1, a, b};
    }
    int64_t common = std::gcd(content_of(a), content_of(b));
    return {common, divided(a, common), divided(b, common)};
}

// Whether the first coefficient is negative; of b and -b exactly one is the canonical divisor.
bool leads_negative(const Dim& symbolic) {
    return symbolic.expression()->terms.front().coefficient < 0;
}

// The term `numerator` / `denominator`, if that is a term.
std::optional<DimTerm> divide_terms(const DimTerm& numerator, const DimTerm& denominator) {
    if (numerator.coefficient % denominator.coefficient != 0) {
        return std::nullopt;
    }
    DimTerm quotient;
    quotient.coefficient = numerator.coefficient / denominator.coefficient;
    size_t next = 0;  // both lists are sorted
    for (const DimFactorPointer& factor : numerator.factors) {
        if (next < denominator.factors.size() && denominator.factors[next]->text == factor->text) {
            ++next;
        } else {
            quotient.factors.push_back(factor);
        }
    }
    if (next != denominator.factors.size()) {
        return std::nullopt;
    }
    return quotient;
}

// max and min differ in the sign of everything.
Dim extreme(FactorKind kind, Dim a, Dim b) {
    if (a.is_unknown() || b.is_unknown()) {
        return Dim();
    }
    DimBounds gap = bounds_of(a - b);
    bool a_is_greater = gap.lower.has_value() && *gap.lower >= 0;
    bool b_is_greater = gap.upper.has_value() && *gap.upper <= 0;
    if (a_is_greater || b_is_greater) {
        return a_is_greater == (kind == FactorKind::kMax) ? a : b;
    }
    if (a.is_static() || (b.is_symbolic() && b.expression()->text < a.expression()->text)) {
        std::swap(a, b);
    }
    const DimFactor* inner = b.is_static() ? as_function(a, kind) : nullptr;
    if (inner != nullptr && inner->right.is_static()) {
        return function_of(kind, inner->left, extreme(kind, inner->right, b));
    }
    return function_of(kind, a, b);
}

Dim substitute_factor(const DimFactor& factor,
                      const std::function<Dim(std::string_view)>& value_of) {
    if (factor.kind == FactorKind::kSymbol) {
        // A symbol in its own place keeps what is known of it.
        Dim value = value_of(factor.name);
        const DimFactor* same = as_function(value, FactorKind::kSymbol);
        if (same == nullptr || same->text != factor.text) {
            return value;
        }
        DimBounds both = intersection(same->bounds, factor.bounds);
        bool is_known = both.lower == same->bounds.lower && both.upper == same->bounds.upper;
        return is_known ? value : bounded_symbol(factor.name, both);
    }
    Dim left = factor.left.substitute(value_of);
    Dim right = factor.right.substitute(value_of);
    switch (factor.kind) {
        case FactorKind::kFloorDiv:
            return floor_div(left, right);
        case FactorKind::kModulo:
            return modulo(left, right);
        case FactorKind::kMax:
            return max(left, right);
        default:
            return min(left, right);
    }
}

}  // namespace

int64_t Dim::value() const {
    SDX_CHECK(known_);
    return value_;
}

std::string Dim::to_string() const {
    if (known_) {
        return std::to_string(value_);
    }
    if (expression_ == nullptr) {
        return "?";
    }
    const DimFactor* symbol = as_function(*this, FactorKind::kSymbol);
    return symbol != nullptr ? symbol->name : expression_->text;
}

bool Dim::equals(const Dim& other) const {
    if (known_ || other.known_) {
        return known_ && other.known_ && value_ == other.value_;
    }
    return expression_ != nullptr && other.expression_ != nullptr &&
           (expression_ == other.expression_ || expression_->text == other.expression_->text);
}

bool Dim::differs(const Dim& other) const {
    if (known_ && other.known_) {
        return value_ != other.value_;
    }
    return !is_unknown() && !other.is_unknown() && !equals(other) &&
           is_surely_nonzero(*this - other);
}

std::optional<int64_t> Dim::lower_bound() const {
    return known_ ? value_ : bounds_of(*this).lower;
}

Dim operator+(const Dim& a, const Dim& b) {
    if (a.known_ && b.known_) {
        int64_t value;
        return __builtin_add_overflow(a.value_, b.value_, &value) ? Dim() : Dim(value);
    }
    // Most sums that inference makes are of one term: they are canonical as they are.
    if (a.known_ && a.value_ == 0) {
        return b;
    }
    if (b.known_ && b.value_ == 0) {
        return a;
    }
    return sum(a, b, 1);
}

Dim operator-(const Dim& a, const Dim& b) {
    if (a.known_ && b.known_) {
        int64_t value;
        return __builtin_sub_overflow(a.value_, b.value_, &value) ? Dim() : Dim(value);
    }
    return sum(a, b, -1);
}

Dim operator*(const Dim& a, const Dim& b) {
    if (a.known_ && b.known_) {
        int64_t value;
        return __builtin_mul_overflow(a.value_, b.value_, &value) ? Dim() : Dim(value);
    }
    if (a.known_ && a.value_ == 1) {
        return b;
    }
    if (b.known_ && b.value_ == 1) {
        return a;
    }
    return product(a, b);
}

Dim Dim::substitute(const std::function<Dim(std::string_view)>& value_of) const {
    if (expression_ == nullptr) {
        return *this;
    }
    Dim result(0);
    for (const DimTerm& term : expression_->terms) {
        Dim value(term.coefficient);
        for (const DimFactorPointer& factor : term.factors) {
            Dim replaced = substitute_factor(*factor, value_of);
            if (replaced.is_unknown()) {
                return Dim();
            }
            value = value * replaced;
        }
        result = result + value;
    }
    return result;
}

Dim floor_div(const Dim& a, const Dim& b) {
    if (a.is_unknown() || b.is_unknown() || (b.is_static() && b.value() == 0)) {
        return Dim();
    }
    if (b.is_static() ? b.value() < 0 : leads_negative(b)) {
        Dim negated_a = -a, negated_b = -b;
        bool overflows = negated_a.is_unknown() || negated_b.is_unknown();
        return overflows ? Dim() : floor_div(negated_a, negated_b);
    }
    if (b.is_static()) {
        return a.is_static() ? Dim(floor_quotient(a.value(), b.value()))
                             : floor_div_by_number(a, b.value());
    }
    if (a.is_static() && a.value() == 0) {
        return a;
    }
    std::optional<Dim> exact = exact_quotient(a, b);
    if (exact.has_value() && is_surely_nonzero(b)) {
        return *exact;
    }
    Fraction fraction = lowest_terms(a, b);
    return function_of(FactorKind::kFloorDiv, fraction.numerator, fraction.denominator);
}

Dim ceil_div(const Dim& a, const Dim& b) {
    // Says the same as the general form below, and prints as people write it: (N+1)//2.
    if (b.is_at_least(1)) {
        Dim result = floor_div(a + b - Dim(1), b);
        if (!result.is_unknown()) {
            return result;
        }
    }
    return -floor_div(-a, b);
}

Dim modulo(const Dim& a, const Dim& b) {
    if (a.is_unknown() || b.is_unknown() || (b.is_static() && b.value() == 0)) {
        return Dim();
    }
    if (b.is_static() ? b.value() < 0 : leads_negative(b)) {
        Dim negated_a = -a, negated_b = -b;
        bool overflows = negated_a.is_unknown() || negated_b.is_unknown();
        return overflows ? Dim() : -modulo(negated_a, negated_b);
    }
    if (b.is_static()) {
        int64_t divisor = b.value();
        return a.is_static() ? Dim(floor_remainder(a.value(), divisor))
                             : modulo_by_number(a, divisor);
    }
    if (a.is_static() && a.value() == 0) {
        return a;
    }
    if (exact_quotient(a, b).has_value() && is_surely_nonzero(b)) {
        return Dim(0);
    }
    Fraction fraction = lowest_terms(a, b);
    return Dim(fraction.common) *
           function_of(FactorKind::kModulo, fraction.numerator, fraction.denominator);
}

Dim max(const Dim& a, const Dim& b) {
    if (a.is_static() && b.is_static()) {
        return std::max(a.value(), b.value());
    }
    return extreme(FactorKind::kMax, a, b);
}

Dim min(const Dim& a, const Dim& b) {
    if (a.is_static() && b.is_static()) {
        return std::min(a.value(), b.value());
    }
    return extreme(FactorKind::kMin, a, b);
}

std::optional<Dim> exact_quotient(const Dim& a, const Dim& b) {
    if (a.is_unknown() || b.is_unknown() || (b.is_static() && b.value() == 0)) {
        return std::nullopt;
    }
    if (a.is_static() && a.value() == INT64_MIN) {
        return std::nullopt;
    }
    std::vector<DimTerm> divisor = terms_of(b);
    Dim quotient(0), rest = a;
    for (size_t step = 0; step <= kMaxTerms; ++step) {
        if (rest.is_unknown() || quotient.is_unknown()) {
            return std::nullopt;
        }
        std::vector<DimTerm> terms = terms_of(rest);
        if (terms.empty()) {
            return quotient;
        }
        std::optional<DimTerm> term = divide_terms(terms.front(), divisor.front());
        if (!term.has_value()) {
            return std::nullopt;
        }
        Dim part = from_terms({std::move(*term)});
        quotient = quotient + part;
        rest = rest - part * b;
    }
    return std::nullopt;
}

std::optional<Dim> apply(std::string_view operation, const Dim& a, const Dim& b) {
    return operation == "+"     ? std::optional(a + b)
           : operation == "-"   ? a - b
           : operation == "*"   ? a * b
           : operation == "//"  ? floor_div(a, b)
           : operation == "%"   ? modulo(a, b)
           : operation == "max" ? max(a, b)
           : operation == "min" ? std::optional(min(a, b))
                                : std::nullopt;
}

}  // namespace sardonyx
