// The heads of `match`, `with` and `except`.
#include "syntax/parser.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

}  // namespace

// case_block: "case" patterns ['if' named_expression]
bool Parser::case_head(Clause& clause) {
    clause.pattern = patterns();
    if (clause.pattern != nullptr && accept(T::kIf)) {
        clause.test = named_expression();
    }
    return clause.pattern != nullptr;
}

// except_block: 'except' ['*'] [expression ['as' NAME]]
bool Parser::except_head(Clause& clause) {
    clause.is_group = accept(T::kStar);
    if (at(T::kColon)) {
        return true;
    }
    clause.test = expression();
    if (accept(T::kAs)) {
        if (!at(T::kName)) {
            return false;
        }
        clause.name = intern(range());
        advance();
    }
    return true;
}

// with_item: expression ['as' star_target]
bool Parser::with_items_until(List<WithItem>& items, TokenKind end) {
    do {
        if (at(end) && !items.empty()) {
            break;
        }
        const Expr* context = expression();
        const Expr* target = accept(T::kAs) ? bitwise_or() : nullptr;
        items.push({context, target});
    } while (!failed_ && accept(T::kComma));
    return !failed_ && at(end);
}

// with_stmt: 'with' ('(' ','.with_item+ [','] ')' | ','.with_item+) ':'
bool Parser::with_items(List<WithItem>& items) {
    if (!at(T::kLeftParen)) {
        return with_items_until(items, T::kColon);
    }
    // Where the items end in a bracket that the colon follows, it is theirs.
    const Token* begin = token_;
    diagnostics::Checkpoint said(diagnostics_);
    bool failed = failed_;
    advance();
    if (with_items_until(items, T::kRightParen) && peek() == T::kColon) {
        advance();
        return true;
    }
    said.take_back();
    failed_ = failed;
    token_ = begin;
    while (!items.empty()) {
        items.pop();
    }
    return with_items_until(items, T::kColon);
}

const Pattern* Parser::capture(uint32_t begin, Symbol name, const Pattern* inner) {
    Pattern made{PatternKind::kCapture, since(begin)};
    made.name = name;
    if (inner != nullptr) {
        List<const Pattern*> items(patterns_);
        items.push(inner);
        made.items = copy(items);
    }
    return tree_.arena.make<Pattern>(made);
}

Symbol Parser::target_name() {
    Symbol name = at_word("_") ? Symbol{} : intern(range());
    advance();
    return name;
}

// patterns: open_sequence_pattern | pattern
const Pattern* Parser::patterns() {
    uint32_t begin = token_->begin;
    const Pattern* first = sequence_item();
    if (first == nullptr || (!at(T::kComma) && first->kind != PatternKind::kStar)) {
        return first;
    }
    List<const Pattern*> items(patterns_);
    items.push(first);
    while (accept(T::kComma) && !at(T::kColon) && !at(T::kIf)) {
        const Pattern* item = sequence_item();
        if (item == nullptr) {
            return nullptr;
        }
        items.push(item);
    }
    Pattern made{PatternKind::kSequence, since(begin)};
    made.items = copy(items);
    return tree_.arena.make<Pattern>(made);
}

// maybe_star_pattern: '*' NAME | pattern
const Pattern* Parser::sequence_item() {
    uint32_t begin = token_->begin;
    if (!accept(T::kStar)) {
        return pattern();
    }
    if (!at(T::kName)) {
        return nullptr;
    }
    Pattern made{PatternKind::kStar, {}};
    made.name = target_name();
    made.range = since(begin);
    return tree_.arena.make<Pattern>(made);
}

// as_pattern: or_pattern ['as' NAME]
const Pattern* Parser::pattern() {
    Nesting nesting(*this);
    if (!nesting) {
        return nullptr;
    }
    uint32_t begin = token_->begin;
    const Pattern* inner = or_pattern();
    if (inner == nullptr || !accept(T::kAs)) {
        return inner;
    }
    if (!at(T::kName) || at_word("_")) {
        return nullptr;
    }
    return capture(begin, target_name(), inner);
}

// or_pattern: '|'.closed_pattern+
const Pattern* Parser::or_pattern() {
    uint32_t begin = token_->begin;
    const Pattern* first = closed_pattern();
    if (first == nullptr || !at(T::kPipe)) {
        return first;
    }
    List<const Pattern*> items(patterns_);
    items.push(first);
    while (accept(T::kPipe)) {
        const Pattern* item = closed_pattern();
        if (item == nullptr) {
            return nullptr;
        }
        items.push(item);
    }
    Pattern made{PatternKind::kOr, since(begin)};
    made.items = copy(items);
    return tree_.arena.make<Pattern>(made);
}

// closed_pattern: literal_pattern | capture_pattern | wildcard_pattern | value_pattern
//               | group_pattern | sequence_pattern | mapping_pattern | class_pattern
const Pattern* Parser::closed_pattern() {
    switch (kind()) {
        case T::kLeftParen:
            return group_pattern();
        case T::kLeftBracket:
            return sequence_pattern();
        case T::kLeftBrace:
            return mapping_pattern();
        case T::kName: {
            uint32_t begin = token_->begin;
            if (peek() != T::kDot && peek() != T::kLeftParen) {
                Symbol name = target_name();
                return capture(begin, name);
            }
            const Expr* value = dotted_value();
            if (value == nullptr || at(T::kLeftParen)) {
                return value == nullptr ? nullptr : class_pattern(value);
            }
            return tree_.arena.make<Pattern>(Pattern{PatternKind::kValue, value->range, value});
        }
        default: {
            const Expr* value = pattern_literal();
            return value == nullptr ? nullptr
                                    : tree_.arena.make<Pattern>(
                                          Pattern{PatternKind::kValue, value->range, value});
        }
    }
}

// literal_expr: signed_number | strings | 'None' | 'True' | 'False'. Complex numbers are not known.
const Expr* Parser::pattern_literal() {
    switch (kind()) {
        case T::kMinus:
            if (peek() != T::kNumber) {
                return nullptr;
            }
            return factor();
        case T::kNumber:
        case T::kString:
        case T::kTrue:
        case T::kFalse:
        case T::kNone:
            return atom();
        default:
            return nullptr;
    }
}

// name_or_attr: NAME ('.' NAME)*
const Expr* Parser::dotted_value() {
    uint32_t begin = token_->begin;
    uint32_t outer_height = std::exchange(height_, 0);
    const Expr* value = atom();
    while (value != nullptr && at(T::kDot)) {
        bool is_name = peek() == T::kName && chain_grows();
        value = is_name ? attribute(value, begin) : nullptr;
    }
    height_ = height_ < outer_height ? outer_height : height_;
    return value;
}

// sequence_pattern: '[' [maybe_sequence_pattern] ']'
const Pattern* Parser::sequence_pattern() {
    uint32_t begin = token_->begin;
    List<const Pattern*> items(patterns_);
    bool has_comma = false;
    return sequence_items(T::kRightBracket, items, has_comma) ? sequence_of(items, begin) : nullptr;
}

// sequence_pattern: '(' [open_sequence_pattern] ')'
// group_pattern: '(' pattern ')'
const Pattern* Parser::group_pattern() {
    uint32_t begin = token_->begin;
    List<const Pattern*> items(patterns_);
    bool has_comma = false;
    if (!sequence_items(T::kRightParen, items, has_comma)) {
        return nullptr;
    }
    if (items.size() == 1 && !has_comma) {
        return items.back()->kind == PatternKind::kStar ? nullptr : items.back();
    }
    return sequence_of(items, begin);
}

// The patterns between brackets; false: these are none.
bool Parser::sequence_items(TokenKind closer, List<const Pattern*>& items, bool& has_comma) {
    advance();
    while (!at(closer)) {
        const Pattern* item = sequence_item();
        if (item == nullptr) {
            return false;
        }
        items.push(item);
        if (!accept(T::kComma)) {
            break;
        }
        has_comma = true;
    }
    return accept(closer);
}

const Pattern* Parser::sequence_of(const List<const Pattern*>& items, uint32_t begin) {
    Pattern made{PatternKind::kSequence, since(begin)};
    made.items = copy(items);
    return tree_.arena.make<Pattern>(made);
}

// mapping_pattern: '{' ','.((literal_expr | attr) ':' pattern | '**' NAME)* '}'
const Pattern* Parser::mapping_pattern() {
    uint32_t begin = token_->begin;
    advance();
    Pattern made{PatternKind::kMapping, {}};
    List<const Pattern*> items(patterns_);
    List<const Expr*> keys(exprs_);
    while (!at(T::kRightBrace)) {
        if (accept(T::kDoubleStar)) {
            if (!at(T::kName) || at_word("_")) {
                return nullptr;
            }
            made.name = target_name();
        } else {
            const Expr* key = at(T::kName) ? dotted_value() : pattern_literal();
            const Pattern* item = key != nullptr && accept(T::kColon) ? pattern() : nullptr;
            if (item == nullptr) {
                return nullptr;
            }
            keys.push(key);
            items.push(item);
        }
        if (!accept(T::kComma)) {
            break;
        }
    }
    if (!accept(T::kRightBrace)) {
        return nullptr;
    }
    made.range = since(begin);
    made.items = copy(items);
    made.keys = copy(keys);
    return tree_.arena.make<Pattern>(made);
}

// class_pattern: name_or_attr '(' ','.(pattern | NAME '=' pattern)* ')'
const Pattern* Parser::class_pattern(const Expr* callee) {
    Pattern made{PatternKind::kClass, {}, callee};
    advance();
    List<const Pattern*> items(patterns_);
    List<Symbol> keywords(symbols_);
    while (!at(T::kRightParen)) {
        if (at(T::kName) && peek() == T::kEqual) {
            keywords.push(intern(range()));
            advance();
            advance();
        } else if (!keywords.empty()) {
            return nullptr;
        }
        const Pattern* item = pattern();
        if (item == nullptr) {
            return nullptr;
        }
        items.push(item);
        if (!accept(T::kComma)) {
            break;
        }
    }
    if (!accept(T::kRightParen)) {
        return nullptr;
    }
    made.range = since(callee->range.begin);
    made.items = copy(items);
    made.keywords = copy(keywords);
    return tree_.arena.make<Pattern>(made);
}

}  // namespace sardonyx::syntax
