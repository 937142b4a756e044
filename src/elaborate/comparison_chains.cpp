// Comparisons and chains of them: `a < b < c`.

#include "elaborate/comparison_chains.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "elaborate/bool_operators.h"
#include "elaborate/emit/emit.h"
#include "elaborate/expressions.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/comparisons.h"
#include "elaborate/operators/truth.h"
#include "lowering/operators.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::Range;

namespace {

// The comparisons of a chain from number `i` on: `a < b < c` is `a < b and b < c`, with one b.
Object eval_chain(Context& c, const syntax::CompareExpr* expr, size_t i, const Object& left,
                  Range left_range) {
    Object right = eval(c, expr->rights[i]);
    Range right_range = expr->rights[i]->range;
    Range pair{left_range.begin, right_range.end};
    Object one = compare_pair(c, expr->ops[i], {left, left_range}, {right, right_range}, pair);
    if (one.is_error() || i + 1 == expr->ops.size()) {
        return one;
    }
    if (std::optional<bool> holds = truth(one)) {
        return *holds ? eval_chain(c, expr, i + 1, right, right_range) : one;
    }
    Range rest{right_range.begin, expr->range.end};
    std::string repair = fmt::format("write `op.And({}, {})`", c.source(pair), c.source(rest));
    constexpr std::string_view kWord = "a chain of comparisons";
    ir::Value* first = truth_operand(c, one, pair, kWord, repair);
    if (first == nullptr) {
        return Object::error();
    }
    return skippable(c, BoolOperator::kAnd, first, expr->range, expr->range.end, [&] {
        Object others = eval_chain(c, expr, i + 1, right, right_range);
        return others.is_tensor_like() ? as_object(truth_operand(c, others, rest, kWord, repair))
                                       : others;
    });
}

// `0 & x` in `x > 0 & x < 1`; null: no operand is such, or it stands in brackets.
const syntax::BinaryExpr* bare_bit_operator(Context& c, const syntax::CompareExpr* expr) {
    auto find = [&c](const Expr* operand) -> const syntax::BinaryExpr* {
        const auto* binary = syntax::maybe_as<syntax::BinaryExpr>(operand);
        bool is_bits = binary != nullptr && (binary->op == syntax::BinaryOp::kBitAnd ||
                                             binary->op == syntax::BinaryOp::kBitOr);
        std::string_view text = c.program.sources.text(c.tree().file);
        bool is_bracketed = operand->range.begin > 0 && text[operand->range.begin - 1] == '(';
        return is_bits && !is_bracketed ? binary : nullptr;
    };
    const syntax::BinaryExpr* found = find(expr->left);
    for (const Expr* right : expr->rights) {
        found = found != nullptr ? found : find(right);
    }
    return found;
}

// `&` and `|` bind more tightly than comparisons, as `and` and `or` do not: said in place of what
// has followed from it.
void report_bare_bits(Context& c, const syntax::CompareExpr* expr, const syntax::BinaryExpr* bits,
                      diagnostics::Checkpoint said) {
    said.take_back();
    std::string_view sign = c.source(bits->op_range);
    bool is_middle = expr->ops.size() == 2 && expr->rights[0] == bits;
    std::string help = "put each comparison in brackets";
    if (is_middle) {
        Range first{expr->left->range.begin, bits->left->range.end};
        Range second{bits->right->range.begin, expr->range.end};
        help = fmt::format("write `({}) {} ({})`", c.source(first), sign, c.source(second));
    }
    c.report(kUnsupportedOperand, bits->range,
             fmt::format("`{}` binds more tightly than comparisons: this is `{}`, compared", sign,
                         c.source(bits->range)))
        .with_help(std::move(help));
}

}  // namespace

Object eval_compare(Context& c, const syntax::CompareExpr* expr) {
    diagnostics::Checkpoint said(c.program.diagnostics);
    Object left = eval(c, expr->left);
    Object result = eval_chain(c, expr, 0, left, expr->left->range);
    if (result.is_error() && said.has_errors()) {
        if (const syntax::BinaryExpr* bits = bare_bit_operator(c, expr)) {
            report_bare_bits(c, expr, bits, said);
        }
    }
    return result;
}

}  // namespace sardonyx::elaborate
