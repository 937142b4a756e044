// The parser: recursive descent, one function per symbol of the grammar of Python 3.12 (reference
// section 10), whose line stands above it. Binary operators climb precedences in one loop.
//
// Errors. The first error of a logical line is reported; then the cursor stands on the line's
// Newline and everything that is asked for next fails quietly, so that the functions return by
// themselves, with ErrorExpr in the places that got nothing. The statement after it starts afresh.
//
// Depth. `Nesting` counts the functions that call themselves; beyond Limits::nesting there is an
// error. Chains such as `a.b.c` are built by a loop, but are as deep a tree as they are long:
// `height_` bounds that (Limits::height), so that whoever walks the tree may recurse. Sums may be
// longer (Limits::terms): walks must go along the left operands in a loop.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/diagnostics.h"
#include "syntax/lexer.h"
#include "syntax/normal_form.h"
#include "syntax/parse.h"
#include "syntax/tree.h"

namespace sardonyx::syntax {

class Parser {
  public:
    Parser(Tree& tree, std::string_view text, uint32_t begin, OutermostBlock block,
           diagnostics::Diagnostics& diagnostics, const Limits& limits);

    Stmts file_input();
    const std::vector<Range>& directives() const { return lexer_.directives(); }
    Stmts one_statement();
    const Expr* annotation(Range at);

  private:
    // Counts a level of nesting as long as it lives; false when there are too many.
    class Nesting {
      public:
        explicit Nesting(Parser& parser)
            : parser_(parser), outer_height_(std::exchange(parser.height_, 0)) {
            ok_ = ++parser.depth_ <= parser.limits_.nesting;
            if (!ok_) {
                parser.too_deep();
            }
        }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        ~Nesting() {
            --parser_.depth_;
            ++parser_.height_;
            if (parser_.height_ < outer_height_) {
                parser_.height_ = outer_height_;
            }
        }
        explicit operator bool() const { return ok_; }

      private:
        Parser& parser_;
        uint32_t outer_height_;
        bool ok_;
    };

    // A list under construction: the part of a common stack above where it was begun.
    template <typename T>
    class List {
      public:
        explicit List(std::vector<T>& stack) : stack_(stack), begin_(stack.size()) {}
        List(const List&) = delete;
        List& operator=(const List&) = delete;
        ~List() { stack_.resize(begin_); }

        void push(T item) { stack_.push_back(item); }
        void pop() { stack_.pop_back(); }
        size_t size() const { return stack_.size() - begin_; }
        bool empty() const { return size() == 0; }
        T& back() { return stack_.back(); }
        std::span<const T> items() const { return {stack_.data() + begin_, size()}; }

      private:
        std::vector<T>& stack_;
        size_t begin_;
    };

    // --- The cursor ------------------------------------------------------------------------------
    TokenKind kind() const { return token_->kind; }
    bool at(TokenKind kind) const { return token_->kind == kind; }
    bool at_word(std::string_view word) const {
        return at(TokenKind::kName) && text(token_->begin, token_->end) == word;
    }
    TokenKind peek() const { return token_[1].kind; }  // not when at the last token of the line
    void advance() {
        end_ = token_->end;
        ++token_;
    }
    bool accept(TokenKind kind) {
        if (token_->kind != kind) {
            return false;
        }
        advance();
        return true;
    }
    void next_line();          // over the Newline
    void skip() { ++token_; }  // over an Indent or Dedent
    std::string_view text(uint32_t begin, uint32_t end) const {
        return text_.substr(begin, end - begin);
    }
    Range range() const { return {token_->begin, token_->end}; }
    Range since(uint32_t begin) const { return {begin, end_ > begin ? end_ : begin}; }
    // Where a node or a finding is, which in the text of an annotation is not where its tokens are.
    Range place(Range range) const { return in_annotation_ ? annotation_at_ : range; }
    Symbol intern(Range range) { return intern(text(range.begin, range.end)); }
    // A name as Python reads it.
    Symbol intern(std::string_view name) {
        return tree_.names.intern(lexer_.has_wide_names() ? std::string_view(normal_form(name))
                                                          : name);
    }

    // --- Errors ----------------------------------------------------------------------------------
    diagnostics::Diagnostic* report(const diagnostics::Kind& kind, Range range, std::string words);
    diagnostics::Diagnostic* fail(const diagnostics::Kind& kind, Range range, std::string words);
    bool fail_lexical();
    bool fail_at_break();
    bool fail_at_cut();
    std::string_view opener_text(uint32_t opened) const;
    [[gnu::cold]] void fail_bracket(const diagnostics::Kind& kind, Range range, std::string words,
                                    uint32_t opened);
    [[gnu::cold]] void fail_unclosed(uint32_t opened, uint32_t end);
    bool closes_around(uint32_t opened) const;
    void report_indentation();
    void too_deep();
    void recover() { token_ = last_; }
    [[gnu::cold]] void expected(const diagnostics::Kind& kind, std::string_view what,
                                std::string_view help);
    bool expect(TokenKind kind, std::string_view help);
    bool expect_close(TokenKind closer, uint32_t opened, std::string_view items);
    [[gnu::cold]] void unexpected_after_statement(const Stmt* statement);
    const Expr* error_expr();
    void escape_problem(const struct EscapeFinding& finding, uint32_t body_begin);
    Range shown() const;
    std::string found() const;

    template <typename T, typename... Fields>
    const T* make(Range range, Fields&&... fields) {
        return tree_.arena.make<T>(Expr{T::kKind, place(range)}, std::forward<Fields>(fields)...);
    }
    const Expr* prefix(ExprKind kind, uint32_t begin, const Expr* operand) {
        return tree_.arena.make<PrefixExpr>(Expr{kind, place(since(begin))}, operand);
    }
    const Expr* sequence(ExprKind kind, Exprs items, Range range) {
        return tree_.arena.make<SequenceExpr>(Expr{kind, place(range)}, items);
    }
    template <typename T, typename... Fields>
    const T* make_stmt(uint32_t begin, Fields&&... fields) {
        return tree_.arena.make<T>(Stmt{T::kKind, since(begin)}, std::forward<Fields>(fields)...);
    }
    template <typename T>
    std::span<const T> copy(const List<T>& list) {
        return tree_.arena.copy(list.items());
    }

    // --- Expressions (parse_expression.cpp) ------------------------------------------------------
    const Expr* star_expressions();
    const Expr* star_expression();
    const Expr* star_named_expression();
    const Expr* named_expression();
    const Expr* expression();
    const Expr* lambdef();
    const Expr* disjunction();
    const Expr* conjunction();
    const Expr* inversion();
    const Expr* comparison();
    const Expr* binary(int precedence);
    const Expr* factor();
    const Expr* power();
    const Expr* await_primary();
    const Expr* primary();
    const Expr* attribute(const Expr* value, uint32_t begin);
    const Expr* call(const Expr* callee, uint32_t begin);
    void argument(List<const Expr*>& args, List<Keyword>& keywords);
    const Expr* slices();
    const Expr* slice();
    const Expr* yield_expr();
    const Expr* bitwise_or() { return binary(0); }
    const Expr* tuple_rest(const Expr* first, uint32_t begin, const Expr* (Parser::*item)());
    bool begins_expression() const;
    bool chain_grows();

    // --- Atoms (parse_atom.cpp) ------------------------------------------------------------------
    const Expr* atom();
    const Expr* number();
    const Expr* group();
    const Expr* list();
    const Expr* dict_or_set();
    const Expr* dict(uint32_t begin, const Expr* first);
    const Expr* list_or_set(uint32_t begin, const Expr* first, ExprKind made, TokenKind closer);
    const Expr* comprehension(ComprehensionKind made, const Expr* element, const Expr* value,
                              uint32_t begin, TokenKind closer);
    void check_named_in(const ComprehensionExpr* node);
    std::span<const ComprehensionFor> for_if_clauses();
    bool at_for() const {
        return at(TokenKind::kFor) || (at(TokenKind::kAsync) && peek() == TokenKind::kFor);
    }

    // --- Strings (parse_string.cpp) --------------------------------------------------------------
    const Expr* strings();
    void string(std::string* value, bool* bytes, bool first);
    void fstring(std::string* pending, List<FStringPart>& parts);
    void fstring_field(std::string* pending, List<FStringPart>& parts);
    const FStringExpr* format_spec();
    void fstring_text(std::string* pending);
    void flush_text(std::string* pending, List<FStringPart>& parts);
    void debug_text(std::string* pending, uint32_t begin, uint32_t end);

    // --- Targets and parameters (parse_target.cpp) -----------------------------------------------
    const Expr* star_targets();
    enum class Star : uint8_t { kAllowed, kRefused };
    bool check_target(const Expr* target, std::string_view verb, Star star);
    enum class ParametersOf : uint8_t { kFunction, kLambda };
    const Parameters* parameters(ParametersOf owner);
    void parameter(List<Parameter>& items, ParameterKind kind, ParametersOf owner);
    bool repeated(const List<Parameter>& items, Symbol name) const;

    // --- Statements (parse_statement.cpp) --------------------------------------------------------
    void statements(List<const Stmt*>& list);
    void statement(List<const Stmt*>& list);
    void simple_stmts(List<const Stmt*>& list);
    const Stmt* simple_stmt();
    const Stmt* stray_clause();
    const Stmt* plain_error(uint32_t begin);
    const Stmt* expression_stmt();
    const Stmt* assignment(const Expr* target, uint32_t begin);
    const Stmt* annotated_assignment(const Expr* target, uint32_t begin);
    const Stmt* augmented_assignment(const Expr* target, uint32_t begin);
    const Stmt* return_stmt();
    const Stmt* del_stmt();
    const Stmt* raise_stmt();
    const Stmt* assert_stmt();
    const Stmt* names_stmt(StmtKind kind);
    const Stmt* import_name();
    const Stmt* import_from();
    Symbol dotted_name();
    Alias dotted_as_name();
    Alias import_from_as_name();
    Alias as_name(uint32_t begin, Symbol name);
    const Stmt* type_alias();
    const Stmt* plain(StmtKind kind);
    const Expr* annotated_rhs();
    bool check_single_target(const Expr* target, std::string_view verb);

    // --- Compound statements (parse_compound.cpp) ------------------------------------------------
    const Stmt* compound_stmt();
    const Stmt* decorated();
    enum class Prefix : uint8_t { kNone, kAsync };
    const Stmt* function_def(uint32_t begin, Exprs decorators, Prefix prefix);
    const Stmt* if_stmt();
    const Stmt* for_stmt(uint32_t begin, Prefix prefix);
    const Stmt* while_stmt();
    const Stmt* async_stmt(Exprs decorators);
    const Stmt* opaque_stmt(std::string_view keyword, uint32_t begin, Exprs decorators = {});
    bool class_bases(List<const Expr*>& bases);
    // What the keyword of a head is followed by; `read` gives false where it is not understood.
    template <typename Read>
    bool head(List<Symbol>& names, Read&& read);
    void skip_to_colon(List<Symbol>& names);
    void skip_type_params();
    bool at_match() const;
    Stmts else_block();
    Stmts block(Range header);
    void block_into(List<const Stmt*>& list, Range header);
    void colon(Range header);
    void missing_block(Range header);
    void block_lines(List<const Stmt*>& list);
    void skip_block();
    void skip_clause();
    void match_body(List<const Stmt*>& list, List<Symbol>& names, Range header,
                    List<Clause>& clauses);
    void try_clauses(List<const Stmt*>& list, List<Symbol>& names, Range header,
                     List<Clause>& clauses);
    void clause_body(List<const Stmt*>& list, List<Clause>& clauses, Clause clause);

    // --- Heads of `match`, `with` and `except` (parse_pattern.cpp) -------------------------------
    bool case_head(Clause& clause);
    bool except_head(Clause& clause);
    bool with_items(List<WithItem>& items);
    bool with_items_until(List<WithItem>& items, TokenKind end);
    const Pattern* patterns();
    const Pattern* pattern();
    const Pattern* or_pattern();
    const Pattern* closed_pattern();
    const Pattern* sequence_pattern();
    const Pattern* group_pattern();
    bool sequence_items(TokenKind closer, List<const Pattern*>& items, bool& has_comma);
    const Pattern* sequence_of(const List<const Pattern*>& items, uint32_t begin);
    const Pattern* sequence_item();
    const Pattern* mapping_pattern();
    const Pattern* class_pattern(const Expr* callee);
    const Expr* pattern_literal();
    const Expr* dotted_value();
    const Pattern* capture(uint32_t begin, Symbol name, const Pattern* inner = nullptr);
    Symbol target_name();  // of `_`: not valid

    Tree& tree_;
    std::string_view text_;
    diagnostics::Diagnostics& diagnostics_;
    Limits limits_;
    Lexer lexer_;
    const Token* token_ = nullptr;
    const Token* last_ = nullptr;  // the Newline or EndOfFile of the line
    uint32_t end_ = 0;             // of the last token consumed
    bool failed_ = false;          // an error has been reported for this logical line
    uint32_t depth_ = 0;
    uint32_t blocks_ = 0;    // open blocks
    uint32_t branches_ = 0;  // open blocks and `elif`s
    uint32_t height_ = 0;    // of the highest expression of the current level of nesting
    bool in_annotation_ = false;
    Range annotation_at_;

    std::vector<const Expr*> exprs_;
    std::vector<const Stmt*> stmts_;
    std::vector<Keyword> keywords_;
    std::vector<Parameter> parameters_;
    std::vector<ComprehensionFor> clauses_;
    std::vector<CompareOp> compare_ops_;
    std::vector<FStringPart> parts_;
    std::vector<Symbol> symbols_;
    std::vector<Symbol> heads_;
    std::vector<Alias> aliases_;
    std::vector<const Pattern*> patterns_;
    std::vector<Clause> suites_;
    std::vector<WithItem> with_items_;
};

}  // namespace sardonyx::syntax
