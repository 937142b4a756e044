// Compound statements and their blocks.
#include "syntax/parser.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

}  // namespace

// compound_stmt: function_def | if_stmt | class_def | with_stmt | for_stmt | try_stmt | while_stmt
// |
//                match_stmt
const Stmt* Parser::compound_stmt() {
    uint32_t begin = token_->begin;
    switch (kind()) {
        case T::kAt:
            return decorated();
        case T::kAsync:
            return async_stmt({});
        case T::kClass:
            return opaque_stmt("class", begin);
        case T::kDef:
            return function_def(begin, {}, Prefix::kNone);
        case T::kFor:
            return for_stmt(begin, Prefix::kNone);
        case T::kIf:
            return if_stmt();
        case T::kTry:
            return opaque_stmt("try", begin);
        case T::kWhile:
            return while_stmt();
        case T::kWith:
            return opaque_stmt("with", begin);
        default:
            return opaque_stmt("match", begin);
    }
}

// decorators: ('@' named_expression NEWLINE)+, before a function_def or class_def
const Stmt* Parser::decorated() {
    uint32_t begin = token_->begin;
    List<const Expr*> decorators(exprs_);
    while (at(T::kAt)) {
        failed_ = false;
        advance();
        decorators.push(named_expression());
        if (!at(T::kNewline)) {
            unexpected_after_statement(nullptr);
            recover();
        }
        next_line();
    }
    failed_ = false;
    switch (kind()) {
        case T::kDef:
            return function_def(token_->begin, copy(decorators), Prefix::kNone);
        case T::kAsync:
            return async_stmt(copy(decorators));
        case T::kClass:
            return opaque_stmt("class", token_->begin, copy(decorators));
        default:
            break;
    }
    if (auto* added = report(kExpectedToken, since(begin), "no function follows the decorator")) {
        added->with_help("write `def` on the next line, with the same indentation");
    }
    failed_ = at(T::kIndent);
    return plain_error(begin);
}

// function_def: [decorators] ['async'] 'def' NAME [type_params] '(' [params] ')'
//               ['->' expression] ':' block
const Stmt* Parser::function_def(uint32_t begin, Exprs decorators, Prefix prefix) {
    Range header = range();
    advance();
    Range name = range();
    Symbol symbol;
    if (expect(T::kName, "write the name of the function after `def`")) {
        symbol = intern(name);
    }
    skip_type_params();
    uint32_t opened = token_->begin;
    const Parameters* items = nullptr;
    if (expect(T::kLeftParen, "write the parameters in `()`, which may be empty")) {
        items = parameters(ParametersOf::kFunction);
        expect_close(T::kRightParen, opened, "parameters");
    } else {
        items = tree_.arena.make<Parameters>();
    }
    const Expr* returns = accept(T::kArrow) ? expression() : nullptr;
    colon(header);
    Stmts body = block(header);
    return make_stmt<FunctionDefStmt>(begin, symbol, name, decorators, items, returns, body,
                                      prefix == Prefix::kAsync);
}

// if_stmt: 'if' named_expression ':' block (elif_stmt | [else_block])
// elif_stmt: 'elif' named_expression ':' block (elif_stmt | [else_block])
const Stmt* Parser::if_stmt() {
    uint32_t begin = token_->begin;
    Range header = range();
    advance();
    const Expr* condition = named_expression();
    colon(header);
    Stmts body = block(header);
    Stmts orelse;
    if (at(T::kElif)) {
        failed_ = false;
        List<const Stmt*> rest(stmts_);
        if (++branches_ > limits_.height) {
            too_deep();
            rest.push(plain_error(end_));
            while (at(T::kNewline) || at(T::kElif) || at(T::kElse)) {
                skip_clause();
            }
        } else {
            rest.push(if_stmt());
        }
        orelse = copy(rest);
        --branches_;
    } else {
        orelse = else_block();
    }
    return make_stmt<IfStmt>(begin, condition, body, orelse);
}

// else_block: 'else' ':' block
Stmts Parser::else_block() {
    if (!at(T::kElse)) {
        return {};
    }
    failed_ = false;
    Range header = range();
    advance();
    colon(header);
    return block(header);
}

// while_stmt: 'while' named_expression ':' block [else_block]
const Stmt* Parser::while_stmt() {
    Range header = range();
    advance();
    const Expr* condition = named_expression();
    colon(header);
    Stmts body = block(header);
    Stmts orelse = else_block();
    return make_stmt<WhileStmt>(header.begin, condition, body, orelse);
}

// for_stmt: ['async'] 'for' star_targets 'in' star_expressions ':' block [else_block]
const Stmt* Parser::for_stmt(uint32_t begin, Prefix prefix) {
    Range header = range();
    advance();
    const Expr* target = star_targets();
    expect(T::kIn, "the form is `for name in values:`");
    const Expr* iterable = star_expressions();
    colon(header);
    Stmts body = block(header);
    Stmts orelse = else_block();
    return make_stmt<ForStmt>(begin, target, iterable, body, orelse, prefix == Prefix::kAsync);
}

// 'async' before function_def, for_stmt or with_stmt
const Stmt* Parser::async_stmt(Exprs decorators) {
    uint32_t begin = token_->begin;
    advance();
    switch (kind()) {
        case T::kDef:
            return function_def(begin, decorators, Prefix::kAsync);
        case T::kFor:
            return for_stmt(begin, Prefix::kAsync);
        case T::kWith:
            return opaque_stmt("with", begin);
        default:
            break;
    }
    expected(kExpectedToken, "`def`, `for` or `with`", "write one of these after `async`");
    next_line();
    return plain_error(begin);
}

// --- Statements whose heads are not looked at ----------------------------------------------------

// match_stmt: "match" subject_expr ':' NEWLINE INDENT case_block+ DEDENT
// No other statement that begins with a name ends in a colon.
bool Parser::at_match() const {
    if (!at(T::kName) || token_->end - token_->begin != 5 || !at_word("match")) {
        return false;
    }
    return last_ - token_ >= 3 && last_[-1].kind == T::kColon && peek() != T::kEqual &&
           peek() != T::kDot && peek() != T::kColon && peek() != T::kComma;
}

template <typename Read>
bool Parser::head(List<Symbol>& names, Read&& read) {
    const Token* begin = token_;
    bool failed = failed_;
    skip_to_colon(names);
    if (failed_ || !at(T::kColon)) {
        return false;
    }
    // Code that is not understood reports nothing: its names are known.
    const Token* end = token_;
    diagnostics::Checkpoint said(diagnostics_);
    token_ = begin;
    bool is_understood = read() && !failed_ && token_ == end;
    if (!is_understood) {
        said.take_back();
    }
    failed_ = failed;
    token_ = end;
    end_ = end[-1].end;
    return is_understood;
}

// class_def: 'class' NAME [type_params] ['(' [arguments] ')'] ':' block
// with_stmt: 'with' ','.with_item+ ':' block
// try_stmt: 'try' ':' block (except_block | except_star_block)* [else_block] [finally_block]
const Stmt* Parser::opaque_stmt(std::string_view keyword, uint32_t begin, Exprs decorators) {
    Range header{begin, token_->end};
    List<const Stmt*> body(stmts_);
    List<Symbol> names(heads_);
    List<Clause> clauses(suites_);
    List<WithItem> items(with_items_);
    List<const Expr*> bases(exprs_);
    const Expr* subject = nullptr;
    bool is_async = text(begin, begin + 5) == "async";
    advance();
    if (keyword == "class") {
        Range name = range();
        if (expect(T::kName, "write the name of the class")) {
            names.push(intern(name));
        }
    }
    bool is_understood = head(names, [&] {
        if (keyword == "match") {
            subject = star_expressions();
        }
        return keyword == "with"    ? with_items(items)
               : keyword == "class" ? class_bases(bases)
                                    : true;
    });
    colon(header);
    if (keyword == "match") {
        match_body(body, names, header, clauses);
    } else if (keyword == "try") {
        clause_body(body, clauses, {keyword, header, {}});
        try_clauses(body, names, header, clauses);
    } else {
        block_into(body, header);
    }
    for (const Clause& one : clauses.items()) {
        is_understood = is_understood && one.is_understood;
    }
    return make_stmt<OpaqueStmt>(begin, keyword, header, copy(body), copy(names), decorators,
                                 is_understood ? subject : nullptr,
                                 is_understood ? copy(clauses) : std::span<const Clause>(),
                                 is_understood ? copy(items) : std::span<const WithItem>(),
                                 is_async, is_understood ? copy(bases) : Exprs());
}

// ['(' [','.expression+ [',']] ')']
bool Parser::class_bases(List<const Expr*>& bases) {
    if (!at(T::kLeftParen)) {
        return true;
    }
    advance();
    while (!at(T::kRightParen)) {
        bases.push(expression());
        if (!at(T::kComma)) {
            break;
        }
        advance();
    }
    bool is_closed = at(T::kRightParen);
    if (is_closed) {
        advance();
    }
    return is_closed;
}

void Parser::clause_body(List<const Stmt*>& list, List<Clause>& clauses, Clause clause) {
    size_t first = list.size();
    block_into(list, clause.range);
    clause.body = tree_.arena.copy(list.items().subspan(first));
    clauses.push(clause);
}

// (except_block | except_star_block)* [else_block] [finally_block]
void Parser::try_clauses(List<const Stmt*>& list, List<Symbol>& names, Range header,
                         List<Clause>& clauses) {
    bool handled = at(T::kExcept) || at(T::kFinally);
    while (at(T::kExcept) || at(T::kFinally) || at(T::kElse)) {
        failed_ = false;
        Clause clause{at(T::kExcept) ? "except" : at(T::kElse) ? "else" : "finally", range(), {}};
        advance();
        clause.is_understood =
            head(names, [&] { return clause.keyword != "except" || except_head(clause); });
        colon(clause.range);
        clause_body(list, clauses, clause);
    }
    if (!handled) {
        failed_ = false;
        if (auto* added = report(kExpectedToken, header, "this `try` has no `except`")) {
            added->with_help("write `except` or `finally` after its block");
        }
    }
}

// case_block: "case" patterns [guard] ':' block
void Parser::match_body(List<const Stmt*>& list, List<Symbol>& names, Range header,
                        List<Clause>& clauses) {
    next_line();
    if (!at(T::kIndent)) {
        missing_block(header);
        return;
    }
    skip();
    while (!at(T::kDedent) && !at(T::kEndOfFile)) {
        if (!at_word("case")) {
            failed_ = false;
            expected(kExpectedToken, "`case`", "the block of a `match` has `case pattern:` only");
            next_line();
            if (at(T::kIndent)) {
                block_lines(list);
            }
            continue;
        }
        failed_ = false;
        Clause clause{"case", range(), {}};
        advance();
        clause.is_understood = head(names, [&] { return case_head(clause); });
        colon(clause.range);
        clause_body(list, clauses, clause);
    }
    if (at(T::kDedent)) {
        skip();
    }
}

// Over balanced tokens to the colon that ends the head of a statement; notes the names in it.
void Parser::skip_to_colon(List<Symbol>& names) {
    std::vector<uint32_t> opened;
    uint32_t lambdas = 0;
    for (; !at(T::kNewline) && !at(T::kError); advance()) {
        switch (kind()) {
            case T::kName:
                names.push(intern(range()));
                break;
            case T::kLeftParen:
            case T::kLeftBracket:
            case T::kLeftBrace:
            case T::kFStringStart:
                opened.push_back(token_->begin);
                break;
            case T::kRightParen:
            case T::kRightBracket:
            case T::kRightBrace:
            case T::kFStringEnd:
                if (!opened.empty()) {
                    opened.pop_back();
                }
                break;
            case T::kLambda:
                lambdas += opened.empty() ? 1 : 0;
                break;
            case T::kColon:
                if (opened.empty() && lambdas == 0) {
                    return;
                }
                lambdas -= opened.empty() ? 1 : 0;
                break;
            default:
                break;
        }
    }
    if (!fail_lexical() && !failed_ && !opened.empty() && !fail_at_break()) {
        fail_unclosed(opened.back(), end_);
    }
}

// type_params: '[' type_param_seq ']'
void Parser::skip_type_params() {
    if (!at(T::kLeftBracket)) {
        return;
    }
    uint32_t opened = token_->begin;
    uint32_t depth = 0;
    for (; !at(T::kNewline) && !at(T::kError); advance()) {
        depth += at(T::kLeftBracket) ? 1 : 0;
        depth -= at(T::kRightBracket) ? 1 : 0;
        if (depth == 0) {
            break;
        }
    }
    expect_close(T::kRightBracket, opened, "");
}

// --- Blocks --------------------------------------------------------------------------------------

void Parser::colon(Range header) {
    if (!at(T::kColon)) {
        expected(kExpectedToken, "`:`",
                 "write `:` at the end of the `" + std::string(text(header.begin, header.end)) +
                     "` line");
        return;
    }
    advance();
}

Stmts Parser::block(Range header) {
    List<const Stmt*> list(stmts_);
    block_into(list, header);
    return copy(list);
}

// block: NEWLINE INDENT statements DEDENT | simple_stmts
void Parser::block_into(List<const Stmt*>& list, Range header) {
    if (!at(T::kNewline)) {
        simple_stmts(list);
        return;
    }
    next_line();
    if (at(T::kIndent)) {
        block_lines(list);
    } else {
        missing_block(header);
    }
}

void Parser::missing_block(Range header) {
    if (auto* added = report(kExpectedBlock, header, "an indented block must follow this line")) {
        added->with_help("indent the lines that belong to it, or write `pass` there");
    }
}

// INDENT statements DEDENT
void Parser::block_lines(List<const Stmt*>& list) {
    skip();
    ++branches_;
    if (++blocks_ > limits_.nesting || branches_ > limits_.height) {
        failed_ = false;
        if (auto* added = report(kNestedTooDeeply, range(), "too many blocks inside one another")) {
            added->with_help("move the inner blocks into functions of their own");
        }
        skip_block();
    } else {
        statements(list);
    }
    --blocks_;
    --branches_;
    if (at(T::kDedent)) {
        skip();
    }
}

// Over the rest of a line, and the block that belongs to it.
void Parser::skip_clause() {
    recover();
    next_line();
    if (at(T::kIndent)) {
        skip();
        skip_block();
        if (at(T::kDedent)) {
            skip();
        }
    }
}

// To the Dedent that ends the block, which is nested too deeply to be parsed.
void Parser::skip_block() {
    for (uint32_t open = 1;;) {
        if (at(T::kEndOfFile)) {
            return;
        }
        if (at(T::kIndent)) {
            ++open;
            skip();
        } else if (at(T::kDedent)) {
            if (--open == 0) {
                return;
            }
            skip();
        } else {
            next_line();
        }
    }
}

}  // namespace sardonyx::syntax
