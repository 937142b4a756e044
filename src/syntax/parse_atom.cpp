// Atoms: names, numbers, and everything in brackets.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "syntax/literals.h"
#include "syntax/parser.h"
#include "syntax/visit.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

}  // namespace

// atom: NAME | 'True' | 'False' | 'None' | strings | NUMBER | (tuple | group | genexp) |
//       (list | listcomp) | (dict | set | dictcomp | setcomp) | '...'
const Expr* Parser::atom() {
    Range here = range();
    switch (kind()) {
        case T::kName:
            advance();
            return make<NameExpr>(here, intern(here));
        case T::kNumber:
            return number();
        case T::kString:
        case T::kFStringStart:
            return strings();
        case T::kLeftParen:
            return group();
        case T::kLeftBracket:
            return list();
        case T::kLeftBrace:
            return dict_or_set();
        case T::kTrue:
        case T::kFalse: {
            bool value = at(T::kTrue);
            advance();
            return make<BoolExpr>(here, value);
        }
        case T::kNone:
            advance();
            return make<NoneExpr>(here);
        case T::kEllipsis:
            advance();
            return make<EllipsisExpr>(here);
        default:
            expected(kExpectedExpression, "an expression",
                     at(T::kAmpersand) || at(T::kPipe)
                         ? "Python has no `&&` and `||`: write `(a) & (b)` and `(a) | (b)`"
                         : "write a value here, such as a name, a number or a call");
            return error_expr();
    }
}

const Expr* Parser::number() {
    Range here = range();
    advance();
    NumberValue value = number_value(text(here.begin, here.end));
    switch (value.kind) {
        case ExprKind::kFloat:
            return make<FloatExpr>(here, value.real);
        case ExprKind::kImaginary:
            return make<ImaginaryExpr>(here, value.real);
        default:
            return make<IntExpr>(here, value.integer, value.overflows);
    }
}

// tuple: '(' [star_named_expression ',' [star_named_expressions]] ')'
// group: '(' (yield_expr | named_expression) ')'
// genexp: '(' (assignment_expression | expression) for_if_clauses ')'
const Expr* Parser::group() {
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    uint32_t begin = token_->begin;
    advance();
    if (accept(T::kRightParen)) {
        return sequence(ExprKind::kTuple, {}, since(begin));
    }
    if (at(T::kYield)) {
        const Expr* value = yield_expr();
        expect_close(T::kRightParen, begin, "");
        return value;
    }
    const Expr* first = star_named_expression();
    if (at_for()) {
        return comprehension(ComprehensionKind::kGenerator, first, nullptr, begin, T::kRightParen);
    }
    if (at(T::kComma)) {
        List<const Expr*> items(exprs_);
        items.push(first);
        while (accept(T::kComma) && !at(T::kRightParen) && !failed_) {
            items.push(star_named_expression());
        }
        if (!expect_close(T::kRightParen, begin, "items")) {
            items.push(error_expr());
        }
        return sequence(ExprKind::kTuple, copy(items), since(begin));
    }
    if (first->kind == ExprKind::kStarred && !failed_) {
        if (auto* added = fail(kUnexpectedToken, first->range, "`*` has nothing to unpack into")) {
            added->with_help("write `(*values,)` for a tuple");
        }
    }
    expect_close(T::kRightParen, begin, "items");
    return first;
}

// list: '[' [star_named_expressions] ']'
// listcomp: '[' named_expression for_if_clauses ']'
const Expr* Parser::list() {
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    uint32_t begin = token_->begin;
    advance();
    return list_or_set(begin, nullptr, ExprKind::kList, T::kRightBracket);
}

// dict: '{' [double_starred_kvpairs] '}'
// dictcomp: '{' (kvpair | '**' bitwise_or) for_if_clauses '}'
// set: '{' star_named_expressions '}'
// setcomp: '{' named_expression for_if_clauses '}'
const Expr* Parser::dict_or_set() {
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    uint32_t begin = token_->begin;
    advance();
    if (at(T::kRightBrace) || at(T::kDoubleStar)) {
        return dict(begin, nullptr);
    }
    const Expr* first = star_named_expression();
    if (at(T::kColon)) {
        return dict(begin, first);
    }
    return list_or_set(begin, first, ExprKind::kSet, T::kRightBrace);
}

// What follows the bracket; `first` has been read already, or is null.
const Expr* Parser::list_or_set(uint32_t begin, const Expr* first, ExprKind made,
                                TokenKind closer) {
    List<const Expr*> items(exprs_);
    while (first != nullptr || (!at(closer) && !failed_)) {
        items.push(first != nullptr ? std::exchange(first, nullptr) : star_named_expression());
        if (at_for() && items.size() == 1) {
            return comprehension(
                made == ExprKind::kList ? ComprehensionKind::kList : ComprehensionKind::kSet,
                items.back(), nullptr, begin, closer);
        }
        if (!accept(T::kComma)) {
            break;
        }
    }
    if (!expect_close(closer, begin, "items")) {
        items.push(error_expr());
    }
    return sequence(made, copy(items), since(begin));
}

// double_starred_kvpair: '**' bitwise_or | expression ':' expression
const Expr* Parser::dict(uint32_t begin, const Expr* first) {
    std::vector<const Expr*> keys;
    std::vector<const Expr*> values;
    while (first != nullptr || (!at(T::kRightBrace) && !failed_)) {
        if (first == nullptr && accept(T::kDoubleStar)) {
            keys.push_back(nullptr);
            values.push_back(bitwise_or());
        } else {
            keys.push_back(first != nullptr ? std::exchange(first, nullptr) : expression());
            expect(T::kColon, "an item of a dict is `key: value`");
            values.push_back(expression());
        }
        if (at_for() && keys.size() == 1 && keys[0] != nullptr) {
            return comprehension(ComprehensionKind::kDict, keys[0], values[0], begin,
                                 T::kRightBrace);
        }
        if (!accept(T::kComma)) {
            break;
        }
    }
    if (!expect_close(T::kRightBrace, begin, "items")) {
        keys.push_back(nullptr);
        values.push_back(error_expr());
    }
    return make<DictExpr>(since(begin), tree_.arena.copy(keys), tree_.arena.copy(values));
}

// What follows the element: for_if_clauses and the closing bracket.
const Expr* Parser::comprehension(ComprehensionKind made, const Expr* element, const Expr* value,
                                  uint32_t begin, TokenKind closer) {
    if (element->kind == ExprKind::kStarred && !failed_) {
        if (auto* added = fail(kUnexpectedToken, element->range,
                               "a comprehension cannot unpack its element with `*`")) {
            added->with_help("write a second `for`: `[x for xs in values for x in xs]`");
        }
    }
    std::span<const ComprehensionFor> clauses = for_if_clauses();
    if (!expect_close(closer, begin, "")) {
        element = error_expr();
    }
    const auto* made_one = make<ComprehensionExpr>(since(begin), made, element, value, clauses);
    if (tree_.has_named) {
        check_named_in(made_one);
    }
    return made_one;
}

// `:=` binds a name of the function around: not in what a comprehension goes over, and none of the
// comprehension's own names.
void Parser::check_named_in(const ComprehensionExpr* node) {
    const NamedExpr* found = nullptr;
    auto anywhere = [&found](const Expr* one) {
        const auto* named = maybe_as<NamedExpr>(one);
        found = found == nullptr ? named : found;
    };
    std::vector<Symbol> own;
    auto note_name = [&own](const Expr* one) {
        if (const auto* name = maybe_as<NameExpr>(one)) {
            own.push_back(name->name);
        }
    };
    for (const ComprehensionFor& clause : node->clauses) {
        each_expression(clause.iterable, anywhere);
        each_expression(clause.target, note_name);
    }
    if (found != nullptr) {
        if (auto* added =
                report(kInvalidTarget, found->range, "`:=` in what a comprehension goes over")) {
            added->with_help("bind the name in a line before");
        }
        return;
    }
    std::vector<const Expr*> of_lambdas;
    auto rebinds = [&](const Expr* one) {
        if (const auto* lambda = maybe_as<LambdaExpr>(one)) {
            auto keep = [&of_lambdas](const Expr* inner) { of_lambdas.push_back(inner); };
            each_expression(lambda->body, keep);  // its names are its own
        }
        const auto* named = maybe_as<NamedExpr>(one);
        auto is_in = [](const auto& all, auto what) {
            return std::find(all.begin(), all.end(), what) != all.end();
        };
        if (named != nullptr && found == nullptr && is_in(own, named->target->name) &&
            !is_in(of_lambdas, one)) {
            found = named;
        }
    };
    each_expression(node->element, rebinds);
    if (node->value != nullptr) {
        each_expression(node->value, rebinds);
    }
    for (const ComprehensionFor& clause : node->clauses) {
        for (const Expr* condition : clause.conditions) {
            each_expression(condition, rebinds);
        }
    }
    if (found != nullptr) {
        Range name = found->target->range;
        if (auto* added = report(kInvalidTarget, name,
                                 "`:=` cannot bind `" + std::string(text(name.begin, name.end)) +
                                     "`, a name of the comprehension")) {
            added->with_help("give it another name");
        }
    }
}

// for_if_clauses: (['async'] 'for' star_targets 'in' disjunction ('if' disjunction)*)+
std::span<const ComprehensionFor> Parser::for_if_clauses() {
    List<ComprehensionFor> clauses(clauses_);
    while (at_for() && !failed_) {
        if (clauses.size() >= limits_.nesting) {
            too_deep();
            break;
        }
        bool is_async = accept(T::kAsync);
        advance();
        const Expr* target = star_targets();
        expect(T::kIn, "a comprehension is `[x for x in values]`");
        const Expr* iterable = disjunction();
        List<const Expr*> conditions(exprs_);
        while (accept(T::kIf)) {
            conditions.push(disjunction());
        }
        clauses.push({target, iterable, copy(conditions), is_async});
    }
    return copy(clauses);
}

}  // namespace sardonyx::syntax
