// Expressions above atoms.
#include "syntax/operator_tokens.h"
#include "syntax/parser.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

// Loosest first; 0: not a binary operator. Python reference 6.17.
int binary_precedence(TokenKind kind) {
    switch (kind) {
        case T::kPipe:
            return 1;
        case T::kCaret:
            return 2;
        case T::kAmpersand:
            return 3;
        case T::kLeftShift:
        case T::kRightShift:
            return 4;
        case T::kPlus:
        case T::kMinus:
            return 5;
        case T::kStar:
        case T::kAt:
        case T::kSlash:
        case T::kPercent:
        case T::kDoubleSlash:
            return 6;
        default:
            return 0;
    }
}

// What may stand behind an expression and is no part of any.
bool ends_expression(TokenKind kind) {
    switch (kind) {
        case T::kNewline:
        case T::kComma:
        case T::kRightParen:
        case T::kRightBracket:
        case T::kRightBrace:
        case T::kColon:
        case T::kEqual:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool Parser::begins_expression() const {
    switch (kind()) {
        case T::kName:
        case T::kNumber:
        case T::kString:
        case T::kFStringStart:
        case T::kLeftParen:
        case T::kLeftBracket:
        case T::kLeftBrace:
        case T::kEllipsis:
        case T::kTilde:
        case T::kPlus:
        case T::kMinus:
        case T::kStar:
        case T::kFalse:
        case T::kNone:
        case T::kTrue:
        case T::kAwait:
        case T::kLambda:
        case T::kNot:
        case T::kYield:
            return true;
        default:
            return false;
    }
}

// One more link of a chain; false when it has too many.
bool Parser::chain_grows() {
    if (++height_ > limits_.height) {
        too_deep();
        return false;
    }
    return true;
}

// The items after `first` when a comma follows, as a tuple; else `first`.
const Expr* Parser::tuple_rest(const Expr* first, uint32_t begin, const Expr* (Parser::*item)()) {
    if (!at(T::kComma)) {
        return first;
    }
    List<const Expr*> items(exprs_);
    items.push(first);
    while (accept(T::kComma) && begins_expression()) {
        items.push((this->*item)());
    }
    return sequence(ExprKind::kTuple, copy(items), since(begin));
}

// star_expressions: star_expression (',' star_expression)* [',']
const Expr* Parser::star_expressions() {
    uint32_t begin = token_->begin;
    return tuple_rest(star_expression(), begin, &Parser::star_expression);
}

// star_expression: '*' bitwise_or | expression
const Expr* Parser::star_expression() {
    if (!at(T::kStar)) {
        return expression();
    }
    uint32_t begin = token_->begin;
    advance();
    const Expr* operand = bitwise_or();
    return prefix(ExprKind::kStarred, begin, operand);
}

// star_named_expression: '*' bitwise_or | named_expression
const Expr* Parser::star_named_expression() {
    return at(T::kStar) ? star_expression() : named_expression();
}

// named_expression: NAME ':=' expression | expression !':='
const Expr* Parser::named_expression() {
    if (at(T::kName) && peek() == T::kColonEqual) {
        Range name = range();
        const NameExpr* target = make<NameExpr>(name, intern(name));
        advance();
        advance();
        const Expr* value = expression();
        tree_.has_named = true;
        return make<NamedExpr>(since(name.begin), target, value);
    }
    return expression();
}

// expression: disjunction 'if' disjunction 'else' expression | disjunction | lambdef
const Expr* Parser::expression() {
    if (at(T::kName) && ends_expression(peek())) {
        return atom();  // most are one name: the levels below would find nothing else
    }
    if (at(T::kLambda)) {
        return lambdef();
    }
    uint32_t begin = token_->begin;
    const Expr* body = disjunction();
    if (!at(T::kIf)) {
        return body;
    }
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    advance();
    const Expr* condition = disjunction();
    expect(T::kElse, "a conditional expression is `a if condition else b`");
    const Expr* orelse = expression();
    return make<IfExpExpr>(since(begin), condition, body, orelse);
}

// lambdef: 'lambda' [lambda_params] ':' expression
const Expr* Parser::lambdef() {
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    uint32_t begin = token_->begin;
    advance();
    const Parameters* items = parameters(ParametersOf::kLambda);
    expect(T::kColon, "a lambda is `lambda x: expression`");
    const Expr* body = expression();
    return make<LambdaExpr>(since(begin), items, body);
}

// disjunction: conjunction ('or' conjunction)*
const Expr* Parser::disjunction() {
    uint32_t begin = token_->begin;
    const Expr* first = conjunction();
    if (!at(T::kOr)) {
        return first;
    }
    Range op = range();
    List<const Expr*> operands(exprs_);
    operands.push(first);
    while (accept(T::kOr)) {
        operands.push(conjunction());
    }
    return make<BoolOpExpr>(since(begin), false, place(op), copy(operands));
}

// conjunction: inversion ('and' inversion)*
const Expr* Parser::conjunction() {
    uint32_t begin = token_->begin;
    const Expr* first = inversion();
    if (!at(T::kAnd)) {
        return first;
    }
    Range op = range();
    List<const Expr*> operands(exprs_);
    operands.push(first);
    while (accept(T::kAnd)) {
        operands.push(inversion());
    }
    return make<BoolOpExpr>(since(begin), true, place(op), copy(operands));
}

// inversion: 'not' inversion | comparison
const Expr* Parser::inversion() {
    if (!at(T::kNot)) {
        return comparison();
    }
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    uint32_t begin = token_->begin;
    advance();
    const Expr* operand = inversion();
    return make<UnaryExpr>(since(begin), UnaryOp::kNot, operand);
}

// comparison: bitwise_or (('==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not' 'in' | 'is' |
//             'is' 'not') bitwise_or)*
const Expr* Parser::comparison() {
    uint32_t begin = token_->begin;
    const Expr* left = bitwise_or();
    auto comparison_op = [this](CompareOp* op) {
        TokenKind found = kind();
        if (found >= T::kEqualEqual && found <= T::kGreaterEqual) {
            *op = compare_op(found);
        } else if (found == T::kIs) {
            bool negated = peek() == T::kNot;
            *op = negated ? CompareOp::kIsNot : CompareOp::kIs;
            token_ += negated ? 1 : 0;
        } else if (found == T::kIn) {
            *op = CompareOp::kIn;
        } else if (found == T::kNot && peek() == T::kIn) {
            *op = CompareOp::kNotIn;
            ++token_;
        } else {
            return false;
        }
        advance();
        return true;
    };
    CompareOp op;
    if (!comparison_op(&op)) {
        return left;
    }
    List<const Expr*> rights(exprs_);
    List<CompareOp> ops(compare_ops_);
    do {
        ops.push(op);
        rights.push(bitwise_or());
    } while (comparison_op(&op));
    return make<CompareExpr>(since(begin), left, copy(ops), copy(rights));
}

// bitwise_or: bitwise_or '|' bitwise_xor | bitwise_xor, and so on down to
// term: term ('*' | '/' | '//' | '%' | '@') factor | factor
// Operators that bind more loosely than `precedence` are left to the caller.
const Expr* Parser::binary(int precedence) {
    uint32_t begin = token_->begin;
    uint32_t outer_height = std::exchange(height_, 0);
    const Expr* left = factor();
    uint32_t terms = 1;
    for (int found = binary_precedence(kind()); found > precedence;
         found = binary_precedence(kind())) {
        BinaryOp op = binary_op(kind());
        Range op_range = range();
        if (++terms > limits_.terms) {
            too_deep();
            break;
        }
        advance();
        const Expr* right = binary(found);
        left = make<BinaryExpr>(since(begin), op, place(op_range), left, right);
    }
    height_ = height_ < outer_height ? outer_height : height_;
    return left;
}

// factor: '+' factor | '-' factor | '~' factor | power
const Expr* Parser::factor() {
    UnaryOp op;
    switch (kind()) {
        case T::kPlus:
            op = UnaryOp::kPlus;
            break;
        case T::kMinus:
            op = UnaryOp::kMinus;
            break;
        case T::kTilde:
            op = UnaryOp::kInvert;
            break;
        default:
            return power();
    }
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    uint32_t begin = token_->begin;
    advance();
    const Expr* operand = factor();
    return make<UnaryExpr>(since(begin), op, operand);
}

// power: await_primary '**' factor | await_primary
const Expr* Parser::power() {
    uint32_t begin = token_->begin;
    const Expr* left = at(T::kAwait) ? await_primary() : primary();
    if (!at(T::kDoubleStar)) {
        return left;
    }
    Nesting nesting(*this);
    if (!nesting) {
        return error_expr();
    }
    Range op_range = range();
    advance();
    const Expr* right = factor();
    return make<BinaryExpr>(since(begin), BinaryOp::kPow, place(op_range), left, right);
}

// await_primary: 'await' primary | primary
const Expr* Parser::await_primary() {
    uint32_t begin = token_->begin;
    advance();
    const Expr* operand = primary();
    return prefix(ExprKind::kAwait, begin, operand);
}

// primary: primary '.' NAME | primary genexp | primary '(' [arguments] ')' | primary '[' slices ']'
//          | atom
const Expr* Parser::primary() {
    uint32_t begin = token_->begin;
    uint32_t outer_height = std::exchange(height_, 0);
    const Expr* value = atom();
    for (;;) {
        if (at(T::kDot)) {
            value = attribute(value, begin);
        } else if (at(T::kLeftParen)) {
            value = call(value, begin);
        } else if (at(T::kLeftBracket)) {
            uint32_t opened = token_->begin;
            Nesting nesting(*this);
            advance();
            const Expr* index = nesting ? slices() : error_expr();
            expect_close(T::kRightBracket, opened, "indices");
            value = make<SubscriptExpr>(since(begin), value, index);
        } else {
            break;
        }
        if (!chain_grows()) {
            break;
        }
    }
    height_ = height_ < outer_height ? outer_height : height_;
    return value;
}

const Expr* Parser::attribute(const Expr* value, uint32_t begin) {
    Range dot = range();
    advance();
    if (at(T::kName)) {
        Range name = range();
        advance();
        return make<AttributeExpr>(since(begin), value, intern(name), place(name));
    }
    if (is_keyword(kind()) && token_->begin == dot.end) {
        Range word = range();
        if (auto* added = fail(kUnexpectedToken, word,
                               "`" + std::string(token_text(kind())) +
                                   "` is a keyword and cannot be an attribute's name")) {
            added->with_help("write `getattr(value, \"" + std::string(text(word.begin, word.end)) +
                             "\")`");
        }
    } else if (!fail_lexical()) {
        if (auto* added = fail(kUnfinishedAttribute, dot, "no name follows the `.`")) {
            added->with_help("write the name of the attribute, or remove the `.`");
        }
    }
    return make<AttributeExpr>(since(begin), value, Symbol{}, place({dot.end, dot.end}));
}

// arguments: args [','] &')'
const Expr* Parser::call(const Expr* callee, uint32_t begin) {
    uint32_t opened = token_->begin;
    Nesting nesting(*this);
    List<const Expr*> args(exprs_);
    List<Keyword> keywords(keywords_);
    advance();
    if (!nesting) {
        args.push(error_expr());
    }
    while (!at(T::kRightParen) && !failed_) {
        argument(args, keywords);
        if (at_for() && args.size() == 1 && keywords.empty()) {
            // The brackets of the call are those of the generator.
            args.back() = comprehension(ComprehensionKind::kGenerator, args.back(), nullptr, opened,
                                        T::kRightParen);
            return make<CallExpr>(since(begin), callee, copy(args), copy(keywords));
        }
        if (!accept(T::kComma)) {
            break;
        }
    }
    if (!expect_close(T::kRightParen, opened, "arguments")) {
        args.push(error_expr());
    }
    return make<CallExpr>(since(begin), callee, copy(args), copy(keywords));
}

// args: (starred_expression | (assignment_expression | expression) | NAME '=' expression |
//       '**' expression)
void Parser::argument(List<const Expr*>& args, List<Keyword>& keywords) {
    if (at(T::kName) && peek() == T::kEqual) {
        Range name = range();
        advance();
        advance();
        Symbol symbol = intern(name);
        for (const Keyword& other : keywords.items()) {
            if (other.name == symbol && keywords.size() < 256) {
                if (auto* added =
                        report(kInvalidArgument, name,
                               "the argument `" + std::string(text(name.begin, name.end)) +
                                   "` is given twice")) {
                    added->label(tree_.span(other.name_range), "first given here");
                    added->with_help("remove one of the two");
                }
                break;
            }
        }
        keywords.push({symbol, place(name), expression()});
        return;
    }
    if (at(T::kDoubleStar)) {
        Range stars = range();
        advance();
        keywords.push({Symbol{}, place(stars), expression()});
        return;
    }
    uint32_t begin = token_->begin;
    if (at(T::kStar)) {
        advance();
        const Expr* operand = expression();
        args.push(prefix(ExprKind::kStarred, begin, operand));
    } else {
        const Expr* value = named_expression();
        if (at(T::kEqual)) {
            if (auto* added = fail(kInvalidArgument, since(begin),
                                   "only a name can stand before the `=` of an argument")) {
                added->with_help("write `name=value`, or `==` to compare");
            }
        }
        args.push(value);
        if (!keywords.empty() && !failed_) {
            if (auto* added = report(kInvalidArgument, since(begin),
                                     "a positional argument follows a named one")) {
                added->label(tree_.span(keywords.items()[0].name_range), "the named argument");
                added->with_help("move it before the named arguments, or give it a name");
            }
        }
    }
}

// slices: slice !',' | (slice | starred_expression) (',' (slice | starred_expression))* [',']
const Expr* Parser::slices() {
    uint32_t begin = token_->begin;
    if (at(T::kRightBracket)) {
        expected(kExpectedExpression, "an index", "write what to take, such as `x[0]` or `x[1:]`");
        return error_expr();
    }
    const Expr* first = slice();
    if (!at(T::kComma)) {
        if (first->kind == ExprKind::kStarred) {
            return sequence(ExprKind::kTuple, tree_.arena.copy(Exprs(&first, 1)), since(begin));
        }
        return first;
    }
    List<const Expr*> items(exprs_);
    items.push(first);
    while (accept(T::kComma) && !at(T::kRightBracket) && !failed_) {
        items.push(slice());
    }
    return sequence(ExprKind::kTuple, copy(items), since(begin));
}

// slice: [expression] ':' [expression] [':' [expression]] | named_expression
const Expr* Parser::slice() {
    uint32_t begin = token_->begin;
    if (at(T::kStar)) {
        return star_expression();
    }
    const Expr* lower = at(T::kColon) ? nullptr : named_expression();
    if (!at(T::kColon)) {
        return lower;
    }
    auto part = [this]() -> const Expr* {
        return at(T::kColon) || at(T::kComma) || at(T::kRightBracket) ? nullptr : expression();
    };
    advance();
    const Expr* upper = part();
    const Expr* step = accept(T::kColon) ? part() : nullptr;
    return make<SliceExpr>(since(begin), lower, upper, step);
}

// yield_expr: 'yield' 'from' expression | 'yield' [star_expressions]
const Expr* Parser::yield_expr() {
    uint32_t begin = token_->begin;
    advance();
    ExprKind made = ExprKind::kYield;
    const Expr* operand = nullptr;
    if (accept(T::kFrom)) {
        made = ExprKind::kYieldFrom;
        operand = expression();
    } else if (begins_expression()) {
        operand = star_expressions();
    }
    return prefix(made, begin, operand);
}

}  // namespace sardonyx::syntax
