// The names that a function binds, by its text.
#include "elaborate/local_names.h"

#include "elaborate/graph_loop.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

void add_bound(const Expr* node, std::vector<Symbol>& names) {
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(node)) {
        names.push_back(name->name);
    } else if (node->kind == ExprKind::kTuple || node->kind == ExprKind::kList) {
        for (const Expr* item : static_cast<const syntax::SequenceExpr*>(node)->items) {
            add_bound(item, names);
        }
    } else if (node->kind == ExprKind::kStarred) {
        add_bound(static_cast<const syntax::PrefixExpr*>(node)->operand, names);
    }
}

namespace {

// What the heads of match and with bind.
void add_head_locals(const syntax::OpaqueStmt* statement, std::vector<Symbol>& names) {
    auto see = [&names](Symbol name) { names.push_back(name); };
    for (const syntax::Clause& clause : statement->clauses) {
        syntax::each_capture(clause.pattern, see);
    }
    for (const syntax::WithItem& item : statement->items) {
        if (item.target != nullptr) {
            add_bound(item.target, names);
        }
    }
}

}  // namespace

void add_locals(Stmts body, std::vector<Symbol>& names, SymbolSet& outer) {
    auto named = [&names](const Expr* node) {
        auto visit = [&names](const Expr* one) {
            if (const auto* walrus = syntax::maybe_as<syntax::NamedExpr>(one)) {
                names.push_back(walrus->target->name);
            }
        };
        syntax::each_expression(node, visit);
    };
    for (const Stmt* statement : body) {
        switch (statement->kind) {
            case StmtKind::kAssign:
                for (const Expr* one : syntax::as<syntax::AssignStmt>(statement)->targets) {
                    add_bound(one, names);
                }
                break;
            case StmtKind::kAugAssign:
                add_bound(syntax::as<syntax::AugAssignStmt>(statement)->target, names);
                break;
            case StmtKind::kAnnAssign:
                add_bound(syntax::as<syntax::AnnAssignStmt>(statement)->target, names);
                break;
            case StmtKind::kFor:
                add_bound(syntax::as<syntax::ForStmt>(statement)->target, names);
                break;
            case StmtKind::kDelete:
                for (const Expr* one : syntax::as<syntax::DeleteStmt>(statement)->targets) {
                    add_bound(one, names);
                }
                break;
            case StmtKind::kGlobal:
            case StmtKind::kNonlocal:
                for (Symbol name : static_cast<const syntax::NamesStmt*>(statement)->names) {
                    outer.insert(name);
                }
                break;
            case StmtKind::kFunctionDef:
                names.push_back(syntax::as<syntax::FunctionDefStmt>(statement)->name);
                continue;
            case StmtKind::kOpaque: {
                const auto* opaque = syntax::as<syntax::OpaqueStmt>(statement);
                if (opaque->subject != nullptr || !opaque->items.empty()) {
                    add_head_locals(opaque, names);
                    break;
                }
                for (Symbol name : opaque->head_names) {
                    names.push_back(name);
                    if (opaque->keyword == "class") {
                        break;
                    }
                }
                if (opaque->keyword == "class") {
                    continue;
                }
                break;
            }
            default:
                break;
        }
        syntax::each_child(statement, named,
                           [&](const Stmt* inner) { add_locals(Stmts(&inner, 1), names, outer); });
    }
}

}  // namespace sardonyx::elaborate
