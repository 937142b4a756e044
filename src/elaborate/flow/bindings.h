// What the statements of a block bind, by their text: the one walk for all who ask.
#pragma once

#include <string_view>
#include <vector>

#include "base/symbol_map.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

// How a statement binds a name: bits, of which a walk wants some.
namespace binds {
inline constexpr unsigned kTarget = 1u << 0;      // x = ..., x += ..., for x in ..., with ... as x
inline constexpr unsigned kItem = 1u << 1;        // x[i] = ...: another tensor has the name then
inline constexpr unsigned kHead = 1u << 2;        // case x, except ... as x
inline constexpr unsigned kNamed = 1u << 3;       // x := ...
inline constexpr unsigned kDefinition = 1u << 4;  // def x, class x, type x
inline constexpr unsigned kImport = 1u << 5;
inline constexpr unsigned kDeleted = 1u << 6;
inline constexpr unsigned kDeclared = 1u << 7;  // x: int
inline constexpr unsigned kMaybe = 1u << 8;     // it stands in a head that is not understood
inline constexpr unsigned kOuter = 1u << 9;     // global x, nonlocal x: it is not the block's own

// What makes a name one of the function's own (Python reference 4.2.1), but for kOuter.
inline constexpr unsigned kOwn =
    kTarget | kHead | kNamed | kDefinition | kImport | kDeleted | kDeclared;
}  // namespace binds

struct Bound {
    Symbol name;
    unsigned how = 0;
    syntax::Range range;  // of the name in the text, for kTarget and kItem
};

// The names in a target of an assignment; those whose items are assigned to are kItem.
template <typename See>
void each_target(const syntax::Expr* target, unsigned how, See& see) {
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
        see(Bound{name->name, how, name->range});
    } else if (target->kind == syntax::ExprKind::kTuple ||
               target->kind == syntax::ExprKind::kList) {
        for (const syntax::Expr* item : static_cast<const syntax::SequenceExpr*>(target)->items) {
            each_target(item, how, see);
        }
    } else if (target->kind == syntax::ExprKind::kStarred) {
        each_target(static_cast<const syntax::PrefixExpr*>(target)->operand, how, see);
    } else if (target->kind == syntax::ExprKind::kSubscript) {
        while (const auto* item = syntax::maybe_as<syntax::SubscriptExpr>(target)) {
            target = item->value;
        }
        if (const auto* root = syntax::maybe_as<syntax::NameExpr>(target)) {
            see(Bound{root->name, binds::kItem, root->range});
        }
    }
}

// The names that `:=` binds in an expression, those in bodies of lambdas apart, which are theirs.
// A sum of many terms is gone through, from its end, not down into.
template <typename See>
void each_named(const syntax::Expr* node, See& see) {
    while (const auto* sum = syntax::maybe_as<syntax::BinaryExpr>(node)) {
        each_named(sum->right, see);
        node = sum->left;
    }
    auto visit = [&see](const syntax::Expr* child) { each_named(child, see); };
    if (const auto* lambda = syntax::maybe_as<syntax::LambdaExpr>(node)) {
        syntax::each_parameter_child(lambda->parameters, visit);
        return;
    }
    if (const auto* named = syntax::maybe_as<syntax::NamedExpr>(node)) {
        see(Bound{named->target->name, binds::kNamed, named->target->range});
    }
    syntax::each_child(node, visit);
}

// The name that an import binds: `import a.b` binds a. Not valid where the file never says it.
inline Symbol imported_name(const Interner& names, const syntax::Alias& alias) {
    Symbol name = alias.as_name.valid() ? alias.as_name : alias.name;
    std::string_view dotted = names.text(name);
    size_t dot = dotted.find('.');
    return dot == std::string_view::npos ? name : syntax::find_name(names, dotted.substr(0, dot));
}

// What the heads of `match`, `with`, `try` and `class` bind, of the kinds `wanted`.
template <typename See>
void each_head_binding(const syntax::OpaqueStmt* statement, unsigned wanted, See& see) {
    if (statement->keyword == "class") {
        if ((wanted & binds::kDefinition) != 0 && !statement->head_names.empty()) {
            see(Bound{statement->head_names[0], binds::kDefinition, {}});
        }
        return;
    }
    auto capture = [&see](Symbol name) { see(Bound{name, binds::kHead, {}}); };
    for (const syntax::Clause& clause : statement->clauses) {
        if ((wanted & binds::kHead) != 0 && clause.pattern != nullptr) {
            syntax::each_capture(clause.pattern, capture);
        }
        if ((wanted & binds::kHead) != 0 && clause.name.valid()) {
            capture(clause.name);
        }
    }
    for (const syntax::WithItem& item : statement->items) {
        if (item.target != nullptr) {
            each_target(item.target, binds::kTarget, see);
        }
    }
    bool is_understood =
        statement->subject != nullptr || !statement->clauses.empty() || !statement->items.empty();
    if ((wanted & binds::kMaybe) != 0 && !is_understood) {
        for (Symbol name : statement->head_names) {
            see(Bound{name, binds::kMaybe, {}});
        }
    }
}

// Calls `see(const Bound&)` for what a statement itself binds, not what the blocks in it do, in the
// order of the text but for names in sums and patterns. `names`, of the file, may be null where no
// kImport is wanted.
template <unsigned kWanted, typename See>
void each_own_binding(const Interner* names, const syntax::Stmt* statement, See& all) {
    using syntax::StmtKind;
    auto see = [&all](const Bound& one) {
        if ((one.how & kWanted) != 0) {
            all(one);
        }
    };
    switch (statement->kind) {
        case StmtKind::kAssign:
            for (const syntax::Expr* one : syntax::as<syntax::AssignStmt>(statement)->targets) {
                each_target(one, binds::kTarget, see);
            }
            break;
        case StmtKind::kAugAssign:
            each_target(syntax::as<syntax::AugAssignStmt>(statement)->target, binds::kTarget, see);
            break;
        case StmtKind::kAnnAssign: {
            const auto* node = syntax::as<syntax::AnnAssignStmt>(statement);
            if (node->value != nullptr || node->target->kind == syntax::ExprKind::kName) {
                each_target(node->target,
                            node->value != nullptr ? binds::kTarget : binds::kDeclared, see);
            }
            break;
        }
        case StmtKind::kFor:
            each_target(syntax::as<syntax::ForStmt>(statement)->target, binds::kTarget, see);
            break;
        case StmtKind::kDelete:
            for (const syntax::Expr* one : syntax::as<syntax::DeleteStmt>(statement)->targets) {
                if (one->kind != syntax::ExprKind::kSubscript) {
                    each_target(one, binds::kDeleted, see);
                }
            }
            break;
        case StmtKind::kGlobal:
        case StmtKind::kNonlocal:
            for (Symbol name : static_cast<const syntax::NamesStmt*>(statement)->names) {
                see(Bound{name, binds::kOuter, {}});
            }
            break;
        case StmtKind::kFunctionDef:
            see(Bound{
                syntax::as<syntax::FunctionDefStmt>(statement)->name, binds::kDefinition, {}});
            break;
        case StmtKind::kTypeAlias:
            each_target(syntax::as<syntax::TypeAliasStmt>(statement)->name, binds::kDefinition,
                        see);
            break;
        case StmtKind::kImport:
        case StmtKind::kImportFrom:
            if constexpr ((kWanted & binds::kImport) != 0) {
                auto aliases = statement->kind == StmtKind::kImport
                                   ? syntax::as<syntax::ImportStmt>(statement)->names
                                   : syntax::as<syntax::ImportFromStmt>(statement)->names;
                for (const syntax::Alias& alias : aliases) {
                    if (Symbol name = imported_name(*names, alias); name.valid()) {
                        see(Bound{name, binds::kImport, {}});
                    }
                }
            }
            break;
        case StmtKind::kOpaque:
            each_head_binding(syntax::as<syntax::OpaqueStmt>(statement), kWanted, see);
            break;
        default:
            break;
    }
    if constexpr ((kWanted & binds::kNamed) != 0) {
        syntax::each_child(
            statement, [&see](const syntax::Expr* child) { each_named(child, see); },
            [](const syntax::Stmt*) {});
    }
}

enum class LoopBodies : uint8_t { kVisited, kSkipped };

// Calls `visit` for every statement of the block and of the blocks in it, those of functions and
// classes apart.
template <typename Visit>
void each_statement(syntax::Stmts statements, LoopBodies loop_bodies, Visit& visit) {
    using syntax::StmtKind;
    for (const syntax::Stmt* statement : statements) {
        visit(statement);
        switch (statement->kind) {
            case StmtKind::kIf: {
                const auto* node = syntax::as<syntax::IfStmt>(statement);
                each_statement(node->body, loop_bodies, visit);
                each_statement(node->orelse, loop_bodies, visit);
                break;
            }
            case StmtKind::kFor: {
                const auto* node = syntax::as<syntax::ForStmt>(statement);
                if (loop_bodies == LoopBodies::kVisited) {
                    each_statement(node->body, loop_bodies, visit);
                }
                each_statement(node->orelse, loop_bodies, visit);
                break;
            }
            case StmtKind::kWhile: {
                const auto* node = syntax::as<syntax::WhileStmt>(statement);
                if (loop_bodies == LoopBodies::kVisited) {
                    each_statement(node->body, loop_bodies, visit);
                }
                each_statement(node->orelse, loop_bodies, visit);
                break;
            }
            case StmtKind::kOpaque: {
                const auto* node = syntax::as<syntax::OpaqueStmt>(statement);
                if (node->keyword != "class") {
                    each_statement(node->body, loop_bodies, visit);
                }
                break;
            }
            default:
                break;
        }
    }
}

// The same as each_own_binding() for a block and the blocks in it, those of functions and classes
// apart: what they bind is theirs.
template <unsigned kWanted, typename See>
void each_binding(const Interner* names, syntax::Stmts statements, See& see) {
    auto visit = [names, &see](const syntax::Stmt* statement) {
        each_own_binding<kWanted>(names, statement, see);
    };
    each_statement(statements, LoopBodies::kVisited, visit);
}

// What the body of a function binds in the ways `kWanted` without declaring it global or nonlocal.
template <unsigned kWanted>
SymbolSet own_names(const syntax::Tree& tree, syntax::Stmts body) {
    SymbolSet own, outer;
    std::vector<Symbol> bound;
    auto see = [&](const Bound& one) {
        if (one.how == binds::kOuter) {
            outer.insert(one.name);
        } else {
            bound.push_back(one.name);
        }
    };
    if (tree.has_named) {
        each_binding<kWanted | binds::kOuter>(&tree.names, body, see);
    } else {  // what most files are: no need to go into expressions
        each_binding<(kWanted | binds::kOuter) & ~binds::kNamed>(&tree.names, body, see);
    }
    for (Symbol name : bound) {
        if (!outer.contains(name)) {
            own.insert(name);
        }
    }
    return own;
}

// The same, and its parameters.
template <unsigned kWanted>
SymbolSet own_names(const syntax::Tree& tree, const syntax::Parameters& parameters,
                    syntax::Stmts body) {
    SymbolSet own = own_names<kWanted>(tree, body);
    for (const syntax::Parameter& parameter : parameters.items) {
        own.insert(parameter.name);
    }
    return own;
}

}  // namespace sardonyx::elaborate
