#include "types/dim_expression.h"

#include <algorithm>
#include <utility>

namespace sardonyx {
namespace {

// Negative: a comes first.
int compare(const DimFactor& a, const DimFactor& b) {
    bool a_is_function = a.kind != FactorKind::kSymbol;
    bool b_is_function = b.kind != FactorKind::kSymbol;
    if (a_is_function != b_is_function) {
        return a_is_function ? 1 : -1;
    }
    return a.text.compare(b.text);
}

int compare(const DimTerm& a, const DimTerm& b) {
    if (a.factors.size() != b.factors.size()) {
        return a.factors.size() > b.factors.size() ? -1 : 1;
    }
    for (size_t i = 0; i < a.factors.size(); ++i) {
        if (a.factors[i] != b.factors[i]) {
            if (int order = compare(*a.factors[i], *b.factors[i]); order != 0) {
                return order;
            }
        }
    }
    return 0;
}

// False when a sum of coefficients overflows. INT64_MIN counts as an overflow, so that every
// coefficient can be negated.
bool merge_equal_terms(std::vector<DimTerm>& terms) {
    size_t kept = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
        if (kept > 0 && compare(terms[kept - 1], terms[i]) == 0) {
            int64_t& sum = terms[kept - 1].coefficient;
            if (__builtin_add_overflow(sum, terms[i].coefficient, &sum)) {
                return false;
            }
            continue;
        }
        if (kept > 0 && terms[kept - 1].coefficient == 0) {
            --kept;
        }
        if (kept != i) {
            terms[kept] = std::move(terms[i]);
        }
        ++kept;
    }
    if (kept > 0 && terms[kept - 1].coefficient == 0) {
        --kept;
    }
    terms.resize(kept);
    return std::none_of(terms.begin(), terms.end(),
                        [](const DimTerm& term) { return term.coefficient == INT64_MIN; });
}

bool is_quotient(const DimFactor& factor) {
    return factor.kind == FactorKind::kFloorDiv || factor.kind == FactorKind::kModulo;
}

void append_term(const DimTerm& term, std::string& text) {
    bool is_first = text.empty();
    if (term.coefficient < 0) {
        text += '-';
    } else if (!is_first) {
        text += '+';
    }
    int64_t magnitude = std::abs(term.coefficient);
    if (term.is_constant()) {
        text += std::to_string(magnitude);
        return;
    }
    if (magnitude != 1) {
        text += std::to_string(magnitude) + "*";
    }
    // `-N//2` would be (-N)//2; after another term the minus is the binary one.
    bool stands_alone =
        term.factors.size() == 1 && magnitude == 1 && !(is_first && term.coefficient < 0);
    for (size_t i = 0; i < term.factors.size(); ++i) {
        const DimFactor& factor = *term.factors[i];
        text += i > 0 ? "*" : "";
        text += is_quotient(factor) && !stands_alone ? "(" + factor.text + ")" : factor.text;
    }
}

// The canonical order, save that a positive term leads where there is one: `1-N`, not `-N+1`.
std::string text_of(const std::vector<DimTerm>& terms) {
    auto first = std::find_if(terms.begin(), terms.end(),
                              [](const DimTerm& term) { return term.coefficient > 0; });
    std::string text;
    if (first != terms.end()) {
        append_term(*first, text);
    }
    for (auto term = terms.begin(); term != terms.end(); ++term) {
        if (term != first) {
            append_term(*term, text);
        }
    }
    return text;
}

enum class QuotientSide : uint8_t { kDividend, kDivisor };

std::string operand_text(const Dim& dim, QuotientSide side) {
    if (dim.is_static()) {
        return dim.value() < 0 ? "(" + dim.to_string() + ")" : dim.to_string();
    }
    const DimExpression& expression = *dim.expression();
    const DimTerm& term = expression.terms.front();
    bool is_sum = expression.terms.size() > 1 || term.coefficient < 0;
    bool is_product = term.coefficient != 1 || term.factors.size() != 1;
    bool is_nested = !is_product && is_quotient(*term.factors.front());
    bool needs_parentheses = is_sum || is_nested || (side == QuotientSide::kDivisor && is_product);
    return needs_parentheses ? "(" + expression.text + ")" : expression.text;
}

std::string plain_text(const Dim& dim) {
    return dim.is_static() ? dim.to_string() : dim.expression()->text;
}

std::string function_text(FactorKind kind, const Dim& left, const Dim& right) {
    switch (kind) {
        case FactorKind::kFloorDiv:
            return operand_text(left, QuotientSide::kDividend) + "//" +
                   operand_text(right, QuotientSide::kDivisor);
        case FactorKind::kModulo:
            return operand_text(left, QuotientSide::kDividend) + "%" +
                   operand_text(right, QuotientSide::kDivisor);
        default:
            return (kind == FactorKind::kMax ? "max(" : "min(") + plain_text(left) + ", " +
                   plain_text(right) + ")";
    }
}

int depth_of(const Dim& dim) {
    return dim.is_symbolic() ? dim.expression()->depth : 0;
}

// The text in quotes, which parse() reads back as one symbol.
std::string quoted_symbol(std::string_view name) {
    std::string text = "'";
    for (char c : name) {
        if (c == '\'' || c == '\\') {
            text += '\\';
        }
        text += c;
    }
    return text + "'";
}

}  // namespace

int64_t floor_quotient(int64_t a, int64_t positive) {
    int64_t quotient = a / positive;
    return a % positive < 0 ? quotient - 1 : quotient;
}

bool is_identifier_byte(char c) {
    unsigned char byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || byte == '_' || (byte >= '0' && byte <= '9') ||
           (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool is_identifier(std::string_view text) {
    return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
           std::all_of(text.begin(), text.end(), is_identifier_byte);
}

std::vector<DimTerm> terms_of(const Dim& dim) {
    if (dim.is_symbolic()) {
        return dim.expression()->terms;
    }
    if (dim.value() == 0) {
        return {};
    }
    return {DimTerm{dim.value(), {}}};
}

Dim function_of(FactorKind kind, const Dim& left, const Dim& right) {
    if (left.is_unknown() || right.is_unknown()) {
        return Dim();
    }
    DimFactor factor;
    factor.kind = kind;
    factor.depth = 1 + std::max(depth_of(left), depth_of(right));
    if (factor.depth > kMaxDimDepth) {
        return Dim();
    }
    factor.left = left;
    factor.right = right;
    factor.bounds = bounds_of(kind, bounds_of(left), bounds_of(right));
    if (factor.bounds.lower && factor.bounds.lower == factor.bounds.upper) {
        return *factor.bounds.lower;
    }
    factor.text = function_text(kind, left, right);
    DimExpression expression;
    expression.terms.push_back({1, {std::make_shared<const DimFactor>(std::move(factor))}});
    return Dim::from_expression(std::move(expression));
}

const DimFactor* as_function(const Dim& dim, FactorKind kind) {
    if (!dim.is_symbolic() || dim.expression()->terms.size() != 1) {
        return nullptr;
    }
    const DimTerm& term = dim.expression()->terms.front();
    const DimFactor* factor = term.coefficient == 1 ? term.sole_factor() : nullptr;
    return factor != nullptr && factor->kind == kind ? factor : nullptr;
}

Dim Dim::symbol(std::string_view name) {
    return bounded_symbol(name, {});
}

Dim bounded_symbol(std::string_view name, DimBounds bounds) {
    if (name.empty() || name.size() > kMaxDimText / 2) {
        return Dim();
    }
    DimFactor factor;
    factor.name = name;
    factor.bounds = intersection(bounds, {0, std::nullopt});
    factor.text = is_identifier(name) ? std::string(name) : quoted_symbol(name);
    DimExpression expression;
    expression.terms.push_back({1, {std::make_shared<const DimFactor>(std::move(factor))}});
    return Dim::from_expression(std::move(expression));
}

namespace {

void each_symbol_factor(const Dim& dim, const std::function<void(const DimFactor&)>& visit) {
    if (!dim.is_symbolic()) {
        return;
    }
    for (const DimTerm& term : dim.expression()->terms) {
        for (const DimFactorPointer& factor : term.factors) {
            if (factor->kind == FactorKind::kSymbol) {
                visit(*factor);
            } else {
                each_symbol_factor(factor->left, visit);
                each_symbol_factor(factor->right, visit);
            }
        }
    }
}

}  // namespace

void each_symbol(const Dim& dim, const std::function<void(const std::string& name)>& visit) {
    each_symbol_factor(dim, [&visit](const DimFactor& factor) { visit(factor.name); });
}

void for_each_bounded(const Dim& dim,
                      const std::function<void(const std::string& name, const DimBounds&)>& visit) {
    each_symbol_factor(dim, [&visit](const DimFactor& factor) {
        if (*factor.bounds.lower > 0 || factor.bounds.upper) {
            visit(factor.name, factor.bounds);
        }
    });
}

Dim Dim::from_expression(DimExpression expression) {
    std::vector<DimTerm>& terms = expression.terms;
    for (DimTerm& term : terms) {
        std::sort(term.factors.begin(), term.factors.end(),
                  [](const DimFactorPointer& a, const DimFactorPointer& b) {
                      return compare(*a, *b) < 0;
                  });
    }
    std::sort(terms.begin(), terms.end(),
              [](const DimTerm& a, const DimTerm& b) { return compare(a, b) < 0; });
    if (!merge_equal_terms(terms) || terms.size() > kMaxTerms) {
        return Dim();
    }
    if (terms.empty() || terms.front().is_constant()) {
        return Dim(terms.empty() ? 0 : terms.front().coefficient);
    }
    expression.depth = 0;
    size_t factor_count = 0;
    for (const DimTerm& term : terms) {
        factor_count += term.factors.size();
        for (const DimFactorPointer& factor : term.factors) {
            expression.depth = std::max(expression.depth, factor->depth);
        }
    }
    if (factor_count > kMaxDimText) {
        return Dim();
    }
    expression.text = text_of(terms);
    if (expression.text.size() > kMaxDimText) {
        return Dim();
    }
    Dim dim;
    dim.expression_ = std::make_shared<const DimExpression>(std::move(expression));
    return dim;
}

}  // namespace sardonyx
