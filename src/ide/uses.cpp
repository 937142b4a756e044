#include "ide/uses.h"

#include <algorithm>
#include <functional>
#include <set>

#include "ide/meaning.h"
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
    std::set<uint32_t> parameters;
    const syntax::OpaqueStmt* type = nullptr;  // of a class
};

struct Seen {
    uint32_t name = 0;
    uint32_t scope = 0;
    Range range;
    bool is_write = false;
};

const Expr* bound_by(const Stmt* node) {
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
            scopes_[inner].parameters.insert(one.name.index);
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
        const Expr* bound = bound_by(node);
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
        for (sardonyx::Symbol name : node->head_names) {
            // What a head reads and what it binds is not told apart: places are not known.
            bind_unknown(name, scope);
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
void put_in_order(std::vector<Place>& places) {
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.range.begin != b.range.begin ? a.range.begin < b.range.begin
                                              : a.is_write && !b.is_write;
    });
    places.erase(
        std::unique(places.begin(), places.end(),
                    [](const Place& a, const Place& b) { return a.range.begin == b.range.begin; }),
        places.end());
}

bool is_new_name(std::string_view name) {
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

// The places behind dots that bind a member: `self.a = b`.
std::set<const Expr*> written_members(syntax::Stmts statements) {
    std::set<const Expr*> written;
    std::function<void(const Expr*)> target = [&](const Expr* node) {
        if (node->kind == syntax::ExprKind::kAttribute) {
            written.insert(node);
        } else if (node->kind == syntax::ExprKind::kTuple ||
                   node->kind == syntax::ExprKind::kList) {
            syntax::each_child(node, target);
        }
    };
    std::function<void(const Stmt*)> statement = [&](const Stmt* node) {
        if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(node)) {
            std::for_each(assign->targets.begin(), assign->targets.end(), target);
        } else if (const Expr* one = bound_by(node)) {
            target(one);
        }
        syntax::each_child(
            node, [](const Expr*) {}, statement);
    };
    std::for_each(statements.begin(), statements.end(), statement);
    return written;
}

// Adds the places behind dots that mean the member of this class.
void add_uses_of_member(const Analysis& analysis, const syntax::OpaqueStmt& type, uint32_t name,
                        std::vector<Use>& uses) {
    syntax::Stmts body = analysis.module()->tree().body;
    std::set<const Expr*> written = written_members(body);
    auto visit = [&](const Expr* node) {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node);
        if (member == nullptr || member->name.index != name || !member->name.valid()) {
            return;
        }
        std::optional<Meaning> found = meaning(analysis, member);
        if (found && found->owner == &type) {
            uses.push_back({member->name_range, written.count(member) != 0});
        }
    };
    syntax::each_expression(body, visit);
}

std::optional<NameUses> uses_of_member_at(const Analysis& analysis, uint32_t offset) {
    const syntax::AttributeExpr* at = nullptr;
    auto visit = [&](const Expr* node) {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node);
        bool is_here = member != nullptr && member->name.valid() &&
                       member->name_range.begin <= offset && offset <= member->name_range.end;
        at = is_here ? member : at;
    };
    syntax::each_expression(analysis.module()->tree().body, visit);
    std::optional<Meaning> found = at == nullptr ? std::nullopt : meaning(analysis, at);
    if (!found || found->owner == nullptr) {
        return std::nullopt;
    }
    NameUses uses;
    uses.is_whole = false;  // other files may name it
    bool is_in_class = found->bound_in == &analysis.module()->tree() &&
                       found->binding.range.begin != at->name_range.begin;
    if (is_in_class) {
        uses.uses.push_back({found->binding.range, true});
    }
    add_uses_of_member(analysis, *found->owner, at->name.index, uses.uses);
    put_in_order(uses.uses);
    return uses;
}

}  // namespace

std::vector<SeenName> seen_names(const Analysis& analysis) {
    if (analysis.module() == nullptr) {
        return {};
    }
    const syntax::Tree& tree = analysis.module()->tree();
    ScopeReader reader(tree, analysis.text());
    std::vector<SeenName> names;
    for (const Seen& one : reader.seen()) {
        uint32_t owner = reader.owner(one.name, one.scope);
        bool is_parameter = reader.scopes()[owner].parameters.count(one.name) != 0;
        names.push_back({one.range, tree.names.text(sardonyx::Symbol{one.name}), one.is_write,
                         is_parameter, owner == 0});
    }
    put_in_order(names);
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
        return uses_of_member_at(analysis, offset);
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
    if (scope.kind == ScopeKind::kClass) {
        add_uses_of_member(analysis, *scope.type, at->name, found.uses);
    }
    put_in_order(found.uses);
    return found;
}

std::optional<NameUses> renamed(const Analysis& analysis, uint32_t offset,
                                std::string_view new_name) {
    std::optional<NameUses> found = uses_at(analysis, offset);
    if (!found || !found->is_variable || !found->is_whole || !is_new_name(new_name) ||
        std::find(found->others.begin(), found->others.end(), new_name) != found->others.end()) {
        return std::nullopt;
    }
    return found;
}

}  // namespace sardonyx::ide
