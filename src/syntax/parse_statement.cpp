// Simple statements, and the lines that they stand in.
#include "base/stop.h"
#include "syntax/operator_tokens.h"
#include "syntax/parser.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

bool is_compound(T kind) {
    switch (kind) {
        case T::kAt:
        case T::kAsync:
        case T::kClass:
        case T::kDef:
        case T::kFor:
        case T::kIf:
        case T::kTry:
        case T::kWhile:
        case T::kWith:
            return true;
        default:
            return false;
    }
}

}  // namespace

// file: [statements] ENDMARKER
Stmts Parser::file_input() {
    List<const Stmt*> list(stmts_);
    next_line();
    while (!at(T::kEndOfFile)) {
        statements(list);
        if (at(T::kDedent)) {
            skip();
        }
    }
    return copy(list);
}

Stmts Parser::one_statement() {
    List<const Stmt*> list(stmts_);
    next_line();
    if (!at(T::kEndOfFile)) {
        statement(list);
    }
    return copy(list);
}

// statements: statement+
void Parser::statements(List<const Stmt*>& list) {
    while (!at(T::kDedent) && !at(T::kEndOfFile)) {
        auto is_inconsistent = [](const Token& token) {
            return token.kind == T::kError &&
                   token.detail == static_cast<uint8_t>(LexError::kInconsistentIndentation);
        };
        if (is_inconsistent(*token_)) {
            report_indentation();
            skip();
        } else if (at(T::kIndent)) {
            // After a broken line these may be the lines that belong to it.
            diagnostics::Diagnostic* added =
                is_inconsistent(token_[1])
                    ? nullptr  // tabs and spaces, as the block will say
                    : report(kUnexpectedIndentation, {token_->end, token_[1].end},
                             "this line is indented without a block to belong to");
            if (added != nullptr) {
                added->with_help("indent it like the line before");
            }
            block_lines(list);
        } else {
            statement(list);
        }
    }
}

// statement: compound_stmt | simple_stmts
void Parser::statement(List<const Stmt*>& list) {
    stop_point();
    failed_ = false;
    height_ = 0;
    if (is_compound(kind()) || at_match()) {
        list.push(compound_stmt());
    } else {
        simple_stmts(list);
    }
}

// simple_stmts: simple_stmt (';' simple_stmt)* [';'] NEWLINE
void Parser::simple_stmts(List<const Stmt*>& list) {
    do {
        list.push(simple_stmt());
    } while (accept(T::kSemicolon) && !at(T::kNewline));
    if (!at(T::kNewline)) {
        unexpected_after_statement(list.back());
        recover();
    }
    next_line();
}

// simple_stmt: assignment | type_alias | star_expressions | return_stmt | import_stmt | raise_stmt
// |
//   'pass' | del_stmt | yield_stmt | assert_stmt | 'break' | 'continue' | global_stmt |
//   nonlocal_stmt
const Stmt* Parser::simple_stmt() {
    switch (kind()) {
        case T::kReturn:
            return return_stmt();
        case T::kImport:
            return import_name();
        case T::kFrom:
            return import_from();
        case T::kRaise:
            return raise_stmt();
        case T::kPass:
            return plain(StmtKind::kPass);
        case T::kBreak:
            return plain(StmtKind::kBreak);
        case T::kContinue:
            return plain(StmtKind::kContinue);
        case T::kDel:
            return del_stmt();
        case T::kAssert:
            return assert_stmt();
        case T::kGlobal:
            return names_stmt(StmtKind::kGlobal);
        case T::kNonlocal:
            return names_stmt(StmtKind::kNonlocal);
        case T::kElif:
        case T::kElse:
        case T::kExcept:
        case T::kFinally:
            return stray_clause();
        case T::kName:
            if (peek() == T::kName && at_word("type") &&
                (token_[2].kind == T::kEqual || token_[2].kind == T::kLeftBracket)) {
                return type_alias();
            }
            break;
        default:
            break;
    }
    if (is_compound(kind())) {
        uint32_t begin = token_->begin;
        if (auto* added = fail(kUnexpectedToken, range(),
                               found() + " cannot follow another statement on its line")) {
            added->with_help("write it on a line of its own");
        }
        return plain_error(begin);
    }
    return expression_stmt();
}

const Stmt* Parser::plain(StmtKind made) {
    uint32_t begin = token_->begin;
    advance();
    return tree_.arena.make<Stmt>(made, since(begin));
}

const Stmt* Parser::plain_error(uint32_t begin) {
    return tree_.arena.make<Stmt>(StmtKind::kError, since(begin));
}

// `else:` and its like where no statement is that it belongs to.
const Stmt* Parser::stray_clause() {
    uint32_t begin = token_->begin;
    std::string_view opener = at(T::kElif) || at(T::kElse) ? "`if`" : "`try`";
    if (auto* added = fail(kUnexpectedToken, range(),
                           found() + " belongs to no " + std::string(opener) + " before it")) {
        added->with_help("indent it as the " + std::string(opener) +
                         " that it belongs to, with nothing else between the two");
    }
    return plain_error(begin);
}

// star_expressions, or the beginning of an assignment, which looks the same.
const Stmt* Parser::expression_stmt() {
    uint32_t begin = token_->begin;
    const Expr* value = annotated_rhs();
    if (at(T::kEqual)) {
        return assignment(value, begin);
    }
    if (at(T::kColon)) {
        return annotated_assignment(value, begin);
    }
    if (kind() >= T::kPlusEqual && kind() <= T::kDoubleSlashEqual) {
        return augmented_assignment(value, begin);
    }
    if (value->kind == ExprKind::kError) {
        return plain_error(begin);
    }
    return make_stmt<ExprStmt>(begin, value);
}

// annotated_rhs: yield_expr | star_expressions
const Expr* Parser::annotated_rhs() {
    return at(T::kYield) ? yield_expr() : star_expressions();
}

// assignment: (star_targets '=')+ (yield_expr | star_expressions)
const Stmt* Parser::assignment(const Expr* target, uint32_t begin) {
    List<const Expr*> targets(exprs_);
    const Expr* value = target;
    while (at(T::kEqual)) {
        if (value->kind == ExprKind::kCompare || value->kind == ExprKind::kBoolOp) {
            Range sign = range();
            if (auto* added = fail(kAssignmentInExpression, sign,
                                   "`=` assigns, which an expression cannot do")) {
                added->with_help("write `==` to compare");
            }
            break;
        }
        if (!check_target(value, "assign to", Star::kAllowed)) {
            recover();
            break;
        }
        advance();
        targets.push(value);
        value = annotated_rhs();
    }
    if (targets.empty()) {
        return plain_error(begin);
    }
    return make_stmt<AssignStmt>(begin, copy(targets), value);
}

bool Parser::check_single_target(const Expr* target, std::string_view verb) {
    if (target->kind == ExprKind::kName || target->kind == ExprKind::kAttribute ||
        target->kind == ExprKind::kSubscript || target->kind == ExprKind::kError) {
        return true;
    }
    if (auto* added =
            fail(kInvalidTarget, target->range, "cannot " + std::string(verb) + " this")) {
        added->with_help("write one name, attribute or item on the left");
    }
    return false;
}

// assignment: NAME ':' expression ['=' annotated_rhs] |
//             ('(' single_target ')' | single_subscript_attribute_target) ':' expression
//             ['=' annotated_rhs]
const Stmt* Parser::annotated_assignment(const Expr* target, uint32_t begin) {
    if (!check_single_target(target, "annotate")) {
        return plain_error(begin);
    }
    bool simple = target->kind == ExprKind::kName && target->range.begin == begin;
    advance();
    const Expr* annotation = expression();
    const Expr* value = accept(T::kEqual) ? annotated_rhs() : nullptr;
    return make_stmt<AnnAssignStmt>(begin, target, annotation, value, simple);
}

// assignment: single_target augassign (yield_expr | star_expressions)
const Stmt* Parser::augmented_assignment(const Expr* target, uint32_t begin) {
    if (!check_single_target(target, "assign to")) {
        return plain_error(begin);
    }
    BinaryOp op = augmented_op(kind());
    Range op_range = range();
    advance();
    const Expr* value = annotated_rhs();
    return make_stmt<AugAssignStmt>(begin, target, op, op_range, value);
}

// return_stmt: 'return' [star_expressions]
const Stmt* Parser::return_stmt() {
    uint32_t begin = token_->begin;
    advance();
    bool empty = at(T::kNewline) || at(T::kSemicolon);
    const Expr* value = empty ? nullptr : star_expressions();
    return make_stmt<ReturnStmt>(begin, value);
}

// del_stmt: 'del' del_targets
const Stmt* Parser::del_stmt() {
    uint32_t begin = token_->begin;
    advance();
    List<const Expr*> targets(exprs_);
    do {
        targets.push(bitwise_or());
        if (!check_target(targets.back(), "delete", Star::kRefused)) {
            recover();
        }
    } while (accept(T::kComma) && begins_expression());
    return make_stmt<DeleteStmt>(begin, copy(targets));
}

// raise_stmt: 'raise' [expression ['from' expression]]
const Stmt* Parser::raise_stmt() {
    uint32_t begin = token_->begin;
    advance();
    bool empty = at(T::kNewline) || at(T::kSemicolon);
    const Expr* exception = empty ? nullptr : expression();
    const Expr* cause = !empty && accept(T::kFrom) ? expression() : nullptr;
    return make_stmt<RaiseStmt>(begin, exception, cause);
}

// assert_stmt: 'assert' expression [',' expression]
const Stmt* Parser::assert_stmt() {
    uint32_t begin = token_->begin;
    advance();
    const Expr* condition = expression();
    const Expr* message = accept(T::kComma) ? expression() : nullptr;
    return make_stmt<AssertStmt>(begin, condition, message);
}

// global_stmt: 'global' NAME (',' NAME)*
const Stmt* Parser::names_stmt(StmtKind made) {
    uint32_t begin = token_->begin;
    List<Symbol> names(symbols_);
    do {
        advance();
        Range name = range();
        if (expect(T::kName, "write the names, separated by commas")) {
            names.push(intern(name));
        }
    } while (at(T::kComma));
    std::span<const Symbol> copied = copy(names);
    return tree_.arena.make<NamesStmt>(Stmt{made, since(begin)}, copied);
}

// dotted_name: NAME ('.' NAME)*
Symbol Parser::dotted_name() {
    uint32_t begin = token_->begin;
    uint32_t length = 0;
    std::string joined;
    do {
        if (length != 0) {
            joined += '.';
            ++length;
        }
        joined += text(token_->begin, token_->end);
        length += token_->end - token_->begin;
        if (!expect(T::kName, "write the name of a module")) {
            return Symbol{};
        }
    } while (accept(T::kDot));
    return end_ - begin == length ? intern(Range{begin, end_}) : intern(joined);
}

// dotted_as_name: dotted_name ['as' NAME]
Alias Parser::dotted_as_name() {
    uint32_t begin = token_->begin;
    return as_name(begin, dotted_name());
}

// import_from_as_name: NAME ['as' NAME]
Alias Parser::import_from_as_name() {
    Range name = range();
    bool has_name = expect(T::kName, "write the name to import");
    return as_name(name.begin, has_name ? intern(name) : Symbol());
}

Alias Parser::as_name(uint32_t begin, Symbol imported) {
    Alias made;
    made.name = imported;
    if (accept(T::kAs)) {
        Range name = range();
        if (expect(T::kName, "write a name after `as`")) {
            made.as_name = intern(name);
        }
    }
    made.range = since(begin);
    return made;
}

// import_name: 'import' dotted_as_name (',' dotted_as_name)*
const Stmt* Parser::import_name() {
    uint32_t begin = token_->begin;
    List<Alias> names(aliases_);
    do {
        advance();
        names.push(dotted_as_name());
    } while (at(T::kComma));
    return make_stmt<ImportStmt>(begin, copy(names));
}

// import_from: 'from' ('.' | '...')* dotted_name 'import' import_from_targets |
//              'from' ('.' | '...')+ 'import' import_from_targets
// import_from_targets: '(' import_from_as_names [','] ')' | import_from_as_names !',' | '*'
const Stmt* Parser::import_from() {
    uint32_t begin = token_->begin;
    advance();
    uint32_t level = 0;
    for (; at(T::kDot) || at(T::kEllipsis); advance()) {
        level += at(T::kDot) ? 1 : 3;
    }
    Symbol module = level != 0 && at(T::kImport) ? Symbol{} : dotted_name();
    expect(T::kImport, "the form is `from module import name`");
    List<Alias> names(aliases_);
    uint32_t opened = token_->begin;
    if (at(T::kStar)) {
        Range star = range();
        advance();
        names.push({intern(star), Symbol{}, star});
    } else if (accept(T::kLeftParen)) {
        do {
            names.push(import_from_as_name());
        } while (accept(T::kComma) && !at(T::kRightParen));
        expect_close(T::kRightParen, opened, "names");
    } else {
        do {
            names.push(import_from_as_name());
        } while (accept(T::kComma));
    }
    return make_stmt<ImportFromStmt>(begin, module, level, copy(names));
}

// type_alias: "type" NAME [type_params] '=' expression
const Stmt* Parser::type_alias() {
    uint32_t begin = token_->begin;
    advance();
    Range name = range();
    advance();
    const Expr* target = make<NameExpr>(name, intern(name));
    skip_type_params();
    expect(T::kEqual, "the form is `type Name = value`");
    const Expr* value = expression();
    return make_stmt<TypeAliasStmt>(begin, target, value);
}

}  // namespace sardonyx::syntax
