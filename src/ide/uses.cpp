#include "ide/uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ide/outline.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"
#include "syntax/visit.h"

namespace sardonyx::ide {
namespace {

using syntax::Expr;
using syntax::Stmt;

enum class ScopeKind : uint8_t { kFile, kFunction, kClass, kComprehension };

struct Scope {
    ScopeKind kind = ScopeKind::kFile;
    uint32_t parent = 0;
    std::set<uint32_t> binds;     // symbols
    std::set<uint32_t> unknown;   // those that something binds whose place the tree does not have
    std::set<uint32_t> nonlocal;  // those that are a scope's around it
    std::set<uint32_t> global;    // those that are the file's
    std::map<uint32_t, Range> parameters;
    const syntax::OpaqueStmt* type = nullptr;  // of a class
};

struct Seen {
    uint32_t name = 0;
    uint32_t scope = 0;
    Range range;
    bool is_write = false;
};

class ScopeReader {
  public:
    explicit ScopeReader(const syntax::Tree& tree, std::string_view text)
        : tree_(tree), text_(text) {
        scopes_.emplace_back();
        block(tree.body, 0);
    }

    const std::vector<Scope>& scopes() const { return scopes_; }
    const std::vector<Seen>& seen() const { return seen_; }

    // The scope whose name it is: that which binds it, else that of the file.
    uint32_t owner(uint32_t name, uint32_t scope) const {
        for (uint32_t at = scope; at != 0; at = scopes_[at].parent) {
            bool is_seen = at == scope || scopes_[at].kind != ScopeKind::kClass;
            if (is_seen && scopes_[at].binds.count(name) != 0) {
                return at;
            }
            if (scopes_[at].global.count(name) != 0) {
                return 0;
            }
        }
        return 0;
    }
    // Whether one scope is, or lies in, another one.
    bool is_within(uint32_t scope, uint32_t outer) const {
        while (scope != outer && scope != 0) {
            scope = scopes_[scope].parent;
        }
        return scope == outer;
    }

  private:
    uint32_t add_scope(ScopeKind kind, uint32_t parent) {
        scopes_.push_back({kind, parent, {}, {}, {}, {}, {}, nullptr});
        return static_cast<uint32_t>(scopes_.size() - 1);
    }

    void use(sardonyx::Symbol name, Range range, uint32_t scope, bool is_write) {
        if (name.valid()) {
            seen_.push_back({name.index, scope, range, is_write});
        }
    }
    void bind(sardonyx::Symbol name, Range range, uint32_t scope) {
        if (name.valid()) {
            note_bound(name, scope);
            use(name, range, scope, true);
        }
    }
    // In its own scope, unless `nonlocal` or `global` before says another one.
    void note_bound(sardonyx::Symbol name, uint32_t scope) {
        const Scope& own = scopes_[scope];
        if (own.nonlocal.count(name.index) == 0 && own.global.count(name.index) == 0) {
            scopes_[scope].binds.insert(name.index);
        }
    }
    // By something that says no place for it.
    void bind_unknown(sardonyx::Symbol name, uint32_t scope) {
        if (name.valid()) {
            note_bound(name, scope);
            scopes_[scope].unknown.insert(name.index);
        }
    }

    // --- Expressions -----------------------------------------------------------------------------

    void target(const Expr* node, uint32_t scope) {
        if (node == nullptr) {
            return;
        }
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(node)) {
            bind(name->name, name->range, scope);
        } else if (node->kind == syntax::ExprKind::kTuple ||
                   node->kind == syntax::ExprKind::kList ||
                   node->kind == syntax::ExprKind::kStarred) {
            syntax::each_child(node, [&](const Expr* child) { target(child, scope); });
        } else {
            expression(node, scope);
        }
    }

    void expression(const Expr* node, uint32_t scope) {
        // A long sum leans to the left: it is gone through.
        while (const auto* sum = syntax::maybe_as<syntax::BinaryExpr>(node)) {
            expression(sum->right, scope);
            node = sum->left;
        }
        switch (node->kind) {
            case syntax::ExprKind::kName:
                use(syntax::as<syntax::NameExpr>(node)->name, node->range, scope, false);
                return;
            case syntax::ExprKind::kNamed:
                named(syntax::as<syntax::NamedExpr>(node), scope);
                return;
            case syntax::ExprKind::kComprehension:
                comprehension(syntax::as<syntax::ComprehensionExpr>(node), scope);
                return;
            case syntax::ExprKind::kLambda: {
                const auto* lambda = syntax::as<syntax::LambdaExpr>(node);
                uint32_t inner = function(lambda->parameters, scope);
                expression(lambda->body, inner);
                return;
            }
            default:
                break;
        }
        auto see = [&](sardonyx::Symbol name) { bind_unknown(name, scope); };
        syntax::each_named_variable(tree_.names, node, see);
        syntax::each_child(node, [&](const Expr* child) { expression(child, scope); });
    }

    // `:=` binds in the function around a comprehension (PEP 572).
    void named(const syntax::NamedExpr* node, uint32_t scope) {
        uint32_t outer = scope;
        while (scopes_[outer].kind == ScopeKind::kComprehension) {
            outer = scopes_[outer].parent;
        }
        note_bound(node->target->name, outer);
        use(node->target->name, node->target->range, scope, true);
        expression(node->value, scope);
    }

    void comprehension(const syntax::ComprehensionExpr* node, uint32_t scope) {
        uint32_t inner = add_scope(ScopeKind::kComprehension, scope);
        bool is_first = true;
        for (const syntax::ComprehensionFor& clause : node->clauses) {
            expression(clause.iterable, is_first ? scope : inner);
            is_first = false;
            target(clause.target, inner);
            for (const Expr* condition : clause.conditions) {
                expression(condition, inner);
            }
        }
        for (const Expr* part : {node->element, node->value}) {
            if (part != nullptr) {
                expression(part, inner);
            }
        }
    }

    // The scope of a function or lambda, with its parameters.
    uint32_t function(const syntax::Parameters* parameters, uint32_t scope) {
        syntax::each_parameter_child(parameters,
                                     [&](const Expr* child) { expression(child, scope); });
        uint32_t inner = add_scope(ScopeKind::kFunction, scope);
        for (const syntax::Parameter& one : parameters->items) {
            bind(one.name, one.range, inner);
            scopes_[inner].parameters.emplace(one.name.index, one.range);
        }
        return inner;
    }

    // --- Statements ------------------------------------------------------------------------------

    void block(syntax::Stmts statements, uint32_t scope) {
        for (const Stmt* one : statements) {
            statement(one, scope);
        }
    }

    void statement(const Stmt* node, uint32_t scope) {
        switch (node->kind) {
            case syntax::StmtKind::kAssign:
                for (const Expr* one : syntax::as<syntax::AssignStmt>(node)->targets) {
                    target(one, scope);
                }
                expression(syntax::as<syntax::AssignStmt>(node)->value, scope);
                return;
            case syntax::StmtKind::kFunctionDef:
                definition(syntax::as<syntax::FunctionDefStmt>(node), scope);
                return;
            case syntax::StmtKind::kImport:
                imports(syntax::as<syntax::ImportStmt>(node)->names, scope);
                return;
            case syntax::StmtKind::kImportFrom:
                imports(syntax::as<syntax::ImportFromStmt>(node)->names, scope);
                return;
            case syntax::StmtKind::kGlobal:
            case syntax::StmtKind::kNonlocal:
                outer_names(node, scope);
                return;
            case syntax::StmtKind::kOpaque:
                opaque(syntax::as<syntax::OpaqueStmt>(node), scope);
                return;
            default:
                break;
        }
        const Expr* bound = single_target(node);
        syntax::each_child(
            node,
            [&](const Expr* child) {
                child == bound ? target(child, scope) : expression(child, scope);
            },
            [&](const Stmt* child) { statement(child, scope); });
        if (node->kind == syntax::StmtKind::kDelete) {
            for (const Expr* one : syntax::as<syntax::DeleteStmt>(node)->targets) {
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(one)) {
                    note_bound(name->name, scope);
                }
            }
        }
    }

    // The places of the names of `nonlocal a, b` and `global a, b`, which the tree does not have.
    void outer_names(const Stmt* node, uint32_t scope) {
        bool is_global = node->kind == syntax::StmtKind::kGlobal;
        uint32_t begin = node->range.begin;
        for (sardonyx::Symbol name : static_cast<const syntax::NamesStmt*>(node)->names) {
            std::string_view word = tree_.names.text(name);
            std::string_view before = text_.substr(0, node->range.end);
            size_t blank = std::min(before.find_first_of(" \t,\\", begin), before.size());
            size_t at = std::min(before.find_first_not_of(" \t,\\\r\n", blank), before.size());
            (is_global ? scopes_[scope].global : scopes_[scope].nonlocal).insert(name.index);
            if (before.substr(at, word.size()) != word) {
                bind_unknown(name, scope);  // it is written in another normal form
                continue;
            }
            begin = static_cast<uint32_t>(at + word.size());
            use(name, {static_cast<uint32_t>(at), begin}, scope, false);
        }
    }

    void definition(const syntax::FunctionDefStmt* node, uint32_t scope) {
        for (const Expr* one : node->decorators) {
            expression(one, scope);
        }
        if (node->returns != nullptr) {
            expression(node->returns, scope);
        }
        bind(node->name, node->name_range, scope);
        block(node->body, function(node->parameters, scope));
    }

    // The last word of `a as b`, or of `a` without a dot, is the name that is bound.
    void imports(std::span<const syntax::Alias> names, uint32_t scope) {
        for (const syntax::Alias& one : names) {
            sardonyx::Symbol name = one.as_name.valid() ? one.as_name : one.name;
            std::string_view word = tree_.names.text(name);
            std::string_view all = text_.substr(one.range.begin, one.range.end - one.range.begin);
            bool ends_so = all.size() >= word.size() &&
                           all.substr(all.size() - word.size()) == word &&
                           word.find('.') == std::string_view::npos;
            if (!ends_so) {
                continue;
            }
            bind(name, {one.range.end - static_cast<uint32_t>(word.size()), one.range.end}, scope);
            if (!one.as_name.valid()) {  // another file's name, too
                bind_unknown(name, scope);
            }
        }
    }

    void opaque(const syntax::OpaqueStmt* node, uint32_t scope) {
        bool is_class = node->keyword == "class";
        if (is_class && !node->head_names.empty()) {
            bind(node->head_names[0], name_range(*node, text_), scope);
            for (const Expr* base : node->bases) {
                expression(base, scope);
            }
            for (sardonyx::Symbol name : node->head_names.subspan(1)) {
                if (node->bases.empty() && name.valid()) {
                    scopes_[scope].unknown.insert(name.index);  // it is read at a place not known
                }
            }
        } else {
            for (sardonyx::Symbol name : node->head_names) {
                // What a head reads and what it binds is not told apart: places are not known.
                bind_unknown(name, scope);
            }
        }
        for (const syntax::Clause& clause : node->clauses) {
            bind_unknown(clause.name, scope);
            if (clause.pattern != nullptr) {
                auto see = [&](sardonyx::Symbol name) { bind_unknown(name, scope); };
                syntax::each_capture(clause.pattern, see);
            }
        }
        uint32_t inner = is_class ? add_scope(ScopeKind::kClass, scope) : scope;
        scopes_[inner].type = is_class ? node : scopes_[inner].type;
        syntax::each_child(
            node, [&](const Expr* child) { expression(child, scope); },
            [&](const Stmt* child) { statement(child, inner); });
        for (const syntax::WithItem& item : node->items) {
            target(item.target, scope);
        }
    }

    const syntax::Tree& tree_;
    std::string_view text_;
    std::vector<Scope> scopes_;
    std::vector<Seen> seen_;
};

// In order of the text; a name that is both read and bound at one place stands once, as bound.
template <typename Place>
void put_places_in_order(std::vector<Place>& places) {
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.range.begin != b.range.begin ? a.range.begin < b.range.begin
                                              : a.is_write && !b.is_write;
    });
    places.erase(
        std::unique(places.begin(), places.end(),
                    [](const Place& a, const Place& b) { return a.range.begin == b.range.begin; }),
        places.end());
}

}  // namespace

const Expr* single_target(const Stmt* node) {
    if (const auto* one = syntax::maybe_as<syntax::AugAssignStmt>(node)) {
        return one->target;
    }
    if (const auto* one = syntax::maybe_as<syntax::AnnAssignStmt>(node)) {
        return one->target;
    }
    if (const auto* one = syntax::maybe_as<syntax::ForStmt>(node)) {
        return one->target;
    }
    const auto* alias = syntax::maybe_as<syntax::TypeAliasStmt>(node);
    return alias != nullptr ? alias->name : nullptr;
}

void put_in_order(std::vector<Use>& uses) {
    put_places_in_order(uses);
}

bool is_name(std::string_view name) {
    std::string text(name);  // which a NUL ends, as the lexer wants it
    syntax::Lexer lexer(text, 0, syntax::OutermostBlock::kAtMargin, syntax::Limits().nesting);
    lexer.next_line();
    bool is_one = !lexer.tokens().empty();
    if (!is_one) {
        return false;
    }
    const syntax::Token& first = lexer.tokens()[0];
    return first.kind == syntax::TokenKind::kName && first.begin == 0 && first.end == text.size();
}

std::vector<SeenName> seen_names(const Analysis& analysis) {
    if (analysis.module() == nullptr) {
        return {};
    }
    const syntax::Tree& tree = analysis.module()->tree();
    ScopeReader reader(tree, analysis.text());
    std::vector<SeenName> names;
    for (const Seen& one : reader.seen()) {
        uint32_t owner = reader.owner(one.name, one.scope);
        const Scope& scope = reader.scopes()[owner];
        auto parameter = scope.parameters.find(one.name);
        bool is_parameter = parameter != scope.parameters.end();
        names.push_back({one.range, tree.names.text(sardonyx::Symbol{one.name}), one.is_write,
                         is_parameter, owner == 0, is_parameter ? parameter->second : Range(),
                         scope.type});
    }
    put_places_in_order(names);
    return names;
}

std::optional<NameUses> uses_at(const Analysis& analysis, uint32_t offset) {
    if (analysis.module() == nullptr) {
        return std::nullopt;
    }
    const syntax::Tree& tree = analysis.module()->tree();
    ScopeReader reader(tree, analysis.text());
    auto at = std::find_if(reader.seen().begin(), reader.seen().end(), [&](const Seen& one) {
        return one.range.begin <= offset && offset <= one.range.end;
    });
    if (at == reader.seen().end()) {
        return std::nullopt;
    }
    uint32_t owner = reader.owner(at->name, at->scope);
    const Scope& scope = reader.scopes()[owner];
    NameUses found;
    found.is_variable =
        owner != 0 && scope.kind != ScopeKind::kClass && scope.parameters.count(at->name) == 0;
    found.is_whole = scope.unknown.count(at->name) == 0;
    for (const Seen& one : reader.seen()) {
        uint32_t its_owner = reader.owner(one.name, one.scope);
        if (one.name == at->name && its_owner == owner) {
            found.uses.push_back({one.range, one.is_write});
        } else if (reader.is_within(one.scope, owner)) {
            found.others.push_back(tree.names.text(sardonyx::Symbol{one.name}));
        }
    }
    for (uint32_t i = 0; i < reader.scopes().size(); ++i) {
        if (reader.is_within(i, owner)) {
            for (uint32_t name : reader.scopes()[i].unknown) {
                found.is_whole = found.is_whole && name != at->name;
                found.others.push_back(tree.names.text(sardonyx::Symbol{name}));
            }
        }
    }
    put_in_order(found.uses);
    return found;
}

std::optional<std::string> obstacle(const NameUses& uses, std::string_view new_name) {
    if (!uses.is_whole) {
        return "some of its places are not known";
    }
    bool is_taken =
        std::find(uses.others.begin(), uses.others.end(), new_name) != uses.others.end();
    return is_taken
               ? std::optional(fmt::format("the function uses the name `{}` already", new_name))
               : std::nullopt;
}

}  // namespace sardonyx::ide
