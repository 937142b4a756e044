#include "syntax/dump.h"

#include <fmt/format.h>

#include <vector>

#include "base/quote.h"
#include "syntax/lexer.h"

namespace sardonyx::syntax {
namespace {

constexpr std::string_view kUnaryOps[] = {"~", "not", "+", "-"};
constexpr std::string_view kBinaryOps[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                           "<<", ">>", "|", "^", "&", "//"};
constexpr std::string_view kCompareOps[] = {"==", "!=", "<",      "<=", ">",
                                            ">=", "is", "is-not", "in", "not-in"};
constexpr std::string_view kComprehensions[] = {"ListComp", "SetComp", "DictComp", "GeneratorExp"};
constexpr std::string_view kParameterKinds[] = {"posonly", "arg", "vararg", "kwonly", "kwarg"};

template <typename T>
const T* cast(const auto* node) {
    return static_cast<const T*>(node);
}

// The shortest digits that give the same double; always with a point or an exponent.
std::string float_text(double value) {
    std::string text = fmt::format("{}", value);
    return text.find_first_not_of("0123456789") == std::string::npos ? text + ".0" : text;
}

class Dumper {
  public:
    Dumper(const Tree& tree, const DumpOptions& options) : tree_(tree), options_(options) {}

    void statements(Stmts items) {
        for (const Stmt* item : items) {
            statement(item);
        }
    }
    void statement(const Stmt* node);
    void expression(const Expr* node);
    std::string take() { return std::move(out_); }

  private:
    void text(std::string_view words) { out_ += words; }
    void name(Symbol symbol) { out_ += symbol.valid() ? tree_.names.text(symbol) : "-"; }
    void range(Range at) {
        if (options_.ranges) {
            out_ += fmt::format("@{}-{}", at.begin, at.end);
        }
    }
    void open(std::string_view kind, const Expr* node) {
        out_ += '(';
        out_ += kind;
        range(node->range);
    }
    void child(const Expr* node) {
        out_ += ' ';
        expression(node);
    }
    void children(Exprs nodes) {
        for (const Expr* node : nodes) {
            child(node);
        }
    }
    // (kind child...)
    void simple(std::string_view kind, const Expr* node, std::initializer_list<const Expr*> parts) {
        open(kind, node);
        for (const Expr* part : parts) {
            child(part);
        }
        out_ += ')';
    }
    void value(std::string_view kind, const Expr* node, std::string_view shown) {
        open(kind, node);
        out_ += ' ';
        out_ += shown;
        out_ += ')';
    }
    void sequence(std::string_view kind, const Expr* node) {
        open(kind, node);
        children(cast<SequenceExpr>(node)->items);
        out_ += ')';
    }
    void fstring(const FStringExpr* node);
    void dict(const DictExpr* node);
    void comprehension(const ComprehensionExpr* node);
    void call(const CallExpr* node);
    void compare(const CompareExpr* node);
    void parameters(const Parameters* node);
    void bool_op(const BoolOpExpr* node);

    void line(std::string_view kind, const Stmt* node) {
        out_.append(2 * depth_, ' ');
        out_ += kind;
        range(node->range);
    }
    void block(Stmts items) {
        out_ += '\n';
        ++depth_;
        statements(items);
        --depth_;
    }
    void orelse(Stmts items) {
        if (!items.empty()) {
            out_.append(2 * depth_, ' ');
            out_ += "Else";
            block(items);
        }
    }
    void compound(const Stmt* node);
    void names(std::span<const Alias> items);
    void function(const FunctionDefStmt* node);

    const Tree& tree_;
    DumpOptions options_;
    std::string out_;
    size_t depth_ = 0;
};

void Dumper::fstring(const FStringExpr* node) {
    open("FString", node);
    for (const FStringPart& part : node->parts) {
        out_ += ' ';
        if (part.expr == nullptr) {
            out_ += quoted(part.text);
            continue;
        }
        out_ += "(Field ";
        expression(part.expr);
        out_ += ' ';
        out_ += part.conversion == 0 ? '-' : part.conversion;
        child(part.format);
        out_ += ')';
    }
    out_ += ')';
}

void Dumper::dict(const DictExpr* node) {
    open("Dict", node);
    for (size_t i = 0; i < node->keys.size(); ++i) {
        out_ += " [";
        node->keys[i] == nullptr ? text("**") : expression(node->keys[i]);
        child(node->values[i]);
        out_ += ']';
    }
    out_ += ')';
}

void Dumper::comprehension(const ComprehensionExpr* node) {
    open(kComprehensions[static_cast<size_t>(node->comprehension)], node);
    child(node->element);
    if (node->comprehension == ComprehensionKind::kDict) {
        child(node->value);
    }
    for (const ComprehensionFor& clause : node->clauses) {
        out_ += clause.is_async ? " (async-for" : " (for";
        child(clause.target);
        child(clause.iterable);
        children(clause.conditions);
        out_ += ')';
    }
    out_ += ')';
}

void Dumper::call(const CallExpr* node) {
    open("Call", node);
    child(node->callee);
    children(node->args);
    for (const Keyword& keyword : node->keywords) {
        out_ += ' ';
        if (keyword.name.valid()) {
            name(keyword.name);
            out_ += '=';
        } else {
            out_ += "**";
        }
        expression(keyword.value);
    }
    out_ += ')';
}

void Dumper::compare(const CompareExpr* node) {
    open("Compare", node);
    child(node->left);
    for (size_t i = 0; i < node->ops.size(); ++i) {
        out_ += ' ';
        out_ += kCompareOps[static_cast<size_t>(node->ops[i])];
        child(node->rights[i]);
    }
    out_ += ')';
}

void Dumper::bool_op(const BoolOpExpr* node) {
    open("BoolOp", node);
    out_ += node->is_and ? " and" : " or";
    children(node->operands);
    out_ += ')';
}

void Dumper::parameters(const Parameters* node) {
    out_ += '[';
    for (const Parameter& item : node->items) {
        out_ += '(';
        out_ += kParameterKinds[static_cast<size_t>(item.kind)];
        out_ += ' ';
        name(item.name);
        child(item.annotation);
        child(item.default_value);
        out_ += ')';
    }
    out_ += ']';
}

void Dumper::expression(const Expr* node) {
    if (node == nullptr) {
        out_ += '-';
        return;
    }
    switch (node->kind) {
        case ExprKind::kError:
            return simple("Error", node, {});
        case ExprKind::kName:
            return value("Name", node, tree_.names.text(cast<NameExpr>(node)->name));
        case ExprKind::kInt: {
            const IntExpr* number = cast<IntExpr>(node);
            return value("Int", node,
                         number->overflows ? "overflows" : fmt::format("{}", number->value));
        }
        case ExprKind::kFloat:
            return value("Float", node, float_text(cast<FloatExpr>(node)->value));
        case ExprKind::kImaginary:
            return value("Imaginary", node, float_text(cast<ImaginaryExpr>(node)->value));
        case ExprKind::kString:
            return value("String", node, quoted(cast<StringExpr>(node)->value));
        case ExprKind::kBytes:
            return value("Bytes", node, quoted(cast<BytesExpr>(node)->value));
        case ExprKind::kFString:
            return fstring(cast<FStringExpr>(node));
        case ExprKind::kBool:
            return value("Bool", node, cast<BoolExpr>(node)->value ? "True" : "False");
        case ExprKind::kNone:
            return simple("None", node, {});
        case ExprKind::kEllipsis:
            return simple("Ellipsis", node, {});
        case ExprKind::kTuple:
            return sequence("Tuple", node);
        case ExprKind::kList:
            return sequence("List", node);
        case ExprKind::kSet:
            return sequence("Set", node);
        case ExprKind::kDict:
            return dict(cast<DictExpr>(node));
        case ExprKind::kComprehension:
            return comprehension(cast<ComprehensionExpr>(node));
        case ExprKind::kUnary: {
            const UnaryExpr* unary = cast<UnaryExpr>(node);
            open("Unary", node);
            out_ += ' ';
            out_ += kUnaryOps[static_cast<size_t>(unary->op)];
            child(unary->operand);
            out_ += ')';
            return;
        }
        case ExprKind::kBinary: {
            // A sum of many terms is as deep as it is long.
            std::vector<const BinaryExpr*> spine;
            while (const auto* binary = maybe_as<BinaryExpr>(node)) {
                spine.push_back(binary);
                open("Binary", node);
                out_ += ' ';
                out_ += kBinaryOps[static_cast<size_t>(binary->op)];
                out_ += ' ';
                node = binary->left;
            }
            expression(node);
            for (; !spine.empty(); spine.pop_back()) {
                child(spine.back()->right);
                out_ += ')';
            }
            return;
        }
        case ExprKind::kBoolOp:
            return bool_op(cast<BoolOpExpr>(node));
        case ExprKind::kCompare:
            return compare(cast<CompareExpr>(node));
        case ExprKind::kCall:
            return call(cast<CallExpr>(node));
        case ExprKind::kAttribute:
            open("Attribute", node);
            child(cast<AttributeExpr>(node)->value);
            out_ += ' ';
            name(cast<AttributeExpr>(node)->name);
            out_ += ')';
            return;
        case ExprKind::kSubscript: {
            const SubscriptExpr* subscript = cast<SubscriptExpr>(node);
            return simple("Subscript", node, {subscript->value, subscript->index});
        }
        case ExprKind::kSlice: {
            const SliceExpr* slice = cast<SliceExpr>(node);
            return simple("Slice", node, {slice->lower, slice->upper, slice->step});
        }
        case ExprKind::kStarred:
            return simple("Starred", node, {cast<PrefixExpr>(node)->operand});
        case ExprKind::kLambda:
            open("Lambda", node);
            out_ += ' ';
            parameters(cast<LambdaExpr>(node)->parameters);
            child(cast<LambdaExpr>(node)->body);
            out_ += ')';
            return;
        case ExprKind::kIfExp: {
            const IfExpExpr* choice = cast<IfExpExpr>(node);
            return simple("IfExp", node, {choice->condition, choice->body, choice->orelse});
        }
        case ExprKind::kNamed:
            return simple("Named", node,
                          {cast<NamedExpr>(node)->target, cast<NamedExpr>(node)->value});
        case ExprKind::kAwait:
            return simple("Await", node, {cast<PrefixExpr>(node)->operand});
        case ExprKind::kYield:
            return simple("Yield", node, {cast<PrefixExpr>(node)->operand});
        case ExprKind::kYieldFrom:
            return simple("YieldFrom", node, {cast<PrefixExpr>(node)->operand});
    }
}

void Dumper::names(std::span<const Alias> items) {
    for (const Alias& item : items) {
        out_ += ' ';
        name(item.name);
        if (item.as_name.valid()) {
            out_ += " as ";
            name(item.as_name);
        }
    }
    out_ += '\n';
}

void Dumper::function(const FunctionDefStmt* node) {
    line(node->is_async ? "AsyncFunctionDef" : "FunctionDef", node);
    out_ += ' ';
    name(node->name);
    out_ += ' ';
    parameters(node->parameters);
    child(node->returns);
    out_ += " [";
    for (const Expr* decorator : node->decorators) {
        expression(decorator);
    }
    out_ += ']';
    block(node->body);
}

void Dumper::compound(const Stmt* node) {
    switch (node->kind) {
        case StmtKind::kIf:
            line("If", node);
            child(cast<IfStmt>(node)->condition);
            block(cast<IfStmt>(node)->body);
            return orelse(cast<IfStmt>(node)->orelse);
        case StmtKind::kFor:
            line(cast<ForStmt>(node)->is_async ? "AsyncFor" : "For", node);
            child(cast<ForStmt>(node)->target);
            child(cast<ForStmt>(node)->iterable);
            block(cast<ForStmt>(node)->body);
            return orelse(cast<ForStmt>(node)->orelse);
        case StmtKind::kWhile:
            line("While", node);
            child(cast<WhileStmt>(node)->condition);
            block(cast<WhileStmt>(node)->body);
            return orelse(cast<WhileStmt>(node)->orelse);
        case StmtKind::kFunctionDef:
            return function(cast<FunctionDefStmt>(node));
        default:
            line("Opaque", node);
            out_ += ' ';
            out_ += cast<OpaqueStmt>(node)->keyword;
            return block(cast<OpaqueStmt>(node)->body);
    }
}

void Dumper::statement(const Stmt* node) {
    // Statements without a block: kind and expressions.
    auto simple_line = [this, node](std::string_view kind,
                                    std::initializer_list<const Expr*> parts) {
        line(kind, node);
        for (const Expr* part : parts) {
            child(part);
        }
        out_ += '\n';
    };
    switch (node->kind) {
        case StmtKind::kError:
            return simple_line("Error", {});
        case StmtKind::kPass:
            return simple_line("Pass", {});
        case StmtKind::kBreak:
            return simple_line("Break", {});
        case StmtKind::kContinue:
            return simple_line("Continue", {});
        case StmtKind::kExpr:
            return simple_line("Expr", {cast<ExprStmt>(node)->value});
        case StmtKind::kReturn:
            return simple_line("Return", {cast<ReturnStmt>(node)->value});
        case StmtKind::kRaise:
            return simple_line("Raise",
                               {cast<RaiseStmt>(node)->exception, cast<RaiseStmt>(node)->cause});
        case StmtKind::kAssert:
            return simple_line(
                "Assert", {cast<AssertStmt>(node)->condition, cast<AssertStmt>(node)->message});
        case StmtKind::kTypeAlias:
            return simple_line("TypeAlias",
                               {cast<TypeAliasStmt>(node)->name, cast<TypeAliasStmt>(node)->value});
        case StmtKind::kAnnAssign: {
            const AnnAssignStmt* assign = cast<AnnAssignStmt>(node);
            line("AnnAssign", node);
            out_ += assign->simple ? " simple" : "";
            child(assign->target);
            child(assign->annotation);
            child(assign->value);
            out_ += '\n';
            return;
        }
        case StmtKind::kAssign:
            line("Assign", node);
            children(cast<AssignStmt>(node)->targets);
            child(cast<AssignStmt>(node)->value);
            out_ += '\n';
            return;
        case StmtKind::kAugAssign: {
            const AugAssignStmt* assign = cast<AugAssignStmt>(node);
            line("AugAssign", node);
            child(assign->target);
            out_ += ' ';
            out_ += kBinaryOps[static_cast<size_t>(assign->op)];
            child(assign->value);
            out_ += '\n';
            return;
        }
        case StmtKind::kDelete:
            line("Delete", node);
            children(cast<DeleteStmt>(node)->targets);
            out_ += '\n';
            return;
        case StmtKind::kGlobal:
        case StmtKind::kNonlocal:
            line(node->kind == StmtKind::kGlobal ? "Global" : "Nonlocal", node);
            for (Symbol symbol : cast<NamesStmt>(node)->names) {
                out_ += ' ';
                name(symbol);
            }
            out_ += '\n';
            return;
        case StmtKind::kImport:
            line("Import", node);
            return names(cast<ImportStmt>(node)->names);
        case StmtKind::kImportFrom:
            line("ImportFrom", node);
            out_ += ' ';
            name(cast<ImportFromStmt>(node)->module);
            out_ += fmt::format(" {}", cast<ImportFromStmt>(node)->level);
            return names(cast<ImportFromStmt>(node)->names);
        default:
            return compound(node);
    }
}

}  // namespace

std::string dump_tokens(const diagnostics::Sources& sources, diagnostics::FileId file,
                        const Limits& limits) {
    std::string_view text = sources.text(file);
    if (text.size() > limits.bytes) {
        return {};
    }
    Lexer lexer(text, skip_byte_order_mark(text), OutermostBlock::kAtMargin, limits.nesting);
    std::string out;
    for (bool more = true; more;) {
        lexer.next_line();
        for (const Token& token : lexer.tokens()) {
            std::string_view source = text.substr(token.begin, token.end - token.begin);
            out += fmt::format("{}-{} {}", token.begin, token.end, token_kind_name(token.kind));
            out += source.empty() ? "\n" : " " + quoted(source) + "\n";
        }
        more = lexer.tokens().back().kind != TokenKind::kEndOfFile;
    }
    return out;
}

std::string dump_tree(const Tree& tree, const DumpOptions& options) {
    Dumper dumper(tree, options);
    dumper.statements(tree.body);
    return dumper.take();
}

std::string dump_statement(const Tree& tree, const Stmt* statement, const DumpOptions& options) {
    Dumper dumper(tree, options);
    dumper.statement(statement);
    return dumper.take();
}

std::string dump_expression(const Tree& tree, const Expr* expression, const DumpOptions& options) {
    Dumper dumper(tree, options);
    dumper.expression(expression);
    return dumper.take();
}

}  // namespace sardonyx::syntax
