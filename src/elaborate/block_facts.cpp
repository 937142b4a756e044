// What can be said of a block by its text alone: whether it leaves, what it assigns, what is read
// where.
#include "elaborate/block_facts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/symbol_map.h"
#include "elaborate/graph_loop.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

namespace {

// Calls `visit` for every statement of the block and of the blocks in it, nested functions apart.
// `into_loops`: also for those in loops.
template <typename Visit>
void each_statement(Stmts statements, bool into_loops, Visit visit) {
    for (const Stmt* statement : statements) {
        visit(statement);
        switch (statement->kind) {
            case StmtKind::kIf: {
                const auto* node = syntax::as<syntax::IfStmt>(statement);
                each_statement(node->body, into_loops, visit);
                each_statement(node->orelse, into_loops, visit);
                break;
            }
            case StmtKind::kFor: {
                const auto* node = syntax::as<syntax::ForStmt>(statement);
                if (into_loops) {
                    each_statement(node->body, into_loops, visit);
                }
                each_statement(node->orelse, into_loops, visit);
                break;
            }
            case StmtKind::kWhile: {
                const auto* node = syntax::as<syntax::WhileStmt>(statement);
                if (into_loops) {
                    each_statement(node->body, into_loops, visit);
                }
                each_statement(node->orelse, into_loops, visit);
                break;
            }
            case StmtKind::kOpaque: {
                const auto* node = syntax::as<syntax::OpaqueStmt>(statement);
                if (node->keyword != "class") {
                    each_statement(node->body, into_loops, visit);
                }
                break;
            }
            default:
                break;
        }
    }
}

// Names in the order in which they are first assigned to.
struct Targets {
    std::vector<Symbol> names;
    SymbolSet seen;
    std::vector<const syntax::NameExpr*> all;  // every assignment, as the text has them

    void add(Symbol name) {
        if (seen.insert(name)) {
            names.push_back(name);
        }
    }
};

void add_targets(const Expr* target, Targets& found) {
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
        found.all.push_back(name);
        found.add(name->name);
    } else if (target->kind == ExprKind::kTuple || target->kind == ExprKind::kList) {
        for (const Expr* item : static_cast<const syntax::SequenceExpr*>(target)->items) {
            add_targets(item, found);
        }
    } else if (target->kind == ExprKind::kStarred) {
        add_targets(static_cast<const syntax::PrefixExpr*>(target)->operand, found);
    } else if (const auto* subscript = syntax::maybe_as<syntax::SubscriptExpr>(target)) {
        add_targets(subscript->value, found);
    }
}

// What the heads of `match`, `with` and `try` bind.
void add_head_targets(const syntax::OpaqueStmt* statement, Targets& found) {
    auto see = [&found](Symbol name) { found.add(name); };
    for (const syntax::Clause& clause : statement->clauses) {
        if (clause.pattern != nullptr) {
            syntax::each_capture(clause.pattern, see);
        }
        if (clause.name.valid()) {
            found.add(clause.name);
        }
    }
    for (const syntax::WithItem& item : statement->items) {
        if (item.target != nullptr) {
            add_targets(item.target, found);
        }
    }
}

// Every place where a name is read. Reads inside nested functions count as after everything,
// because the function may be called at any time.
class ReadCollector {
  public:
    ReadCollector(const Interner& names, BlockReads& found) : names_(names), found_(found) {}

    void block(Stmts statements) {
        for (const Stmt* statement : statements) {
            stmt(statement);
        }
    }

    void expr(const Expr* node) {
        switch (node->kind) {
            case ExprKind::kName:
                reads_.emplace_back(syntax::as<syntax::NameExpr>(node)->name,
                                    nested_ ? UINT32_MAX : node->range.begin);
                return;
            case ExprKind::kComprehension: {
                const auto* n = syntax::as<syntax::ComprehensionExpr>(node);
                for (const syntax::ComprehensionFor& clause : n->clauses) {
                    expr(clause.iterable);
                    exprs(clause.conditions);
                }
                expr(n->element);
                if (n->value != nullptr) {
                    expr(n->value);
                }
                return;
            }
            case ExprKind::kBinary: {
                // A sum of many terms is gone through, not down into.
                const auto* n = syntax::as<syntax::BinaryExpr>(node);
                while (const auto* inner = syntax::maybe_as<syntax::BinaryExpr>(n->left)) {
                    expr(n->right);
                    n = inner;
                }
                expr(n->left);
                expr(n->right);
                return;
            }
            case ExprKind::kCall: {
                auto read = [&](Symbol name) {
                    reads_.emplace_back(name, nested_ ? UINT32_MAX : node->range.begin);
                };
                syntax::each_named_variable(names_, node, read);
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(
                        syntax::as<syntax::CallExpr>(node)->callee)) {
                    found_.called.push_back(name->name);
                }
                break;
            }
            case ExprKind::kAttribute:
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(
                        syntax::as<syntax::AttributeExpr>(node)->value)) {
                    found_.bases.push_back(name->name);
                }
                break;
            case ExprKind::kLambda:
                defaults(syntax::as<syntax::LambdaExpr>(node)->parameters);
                ++nested_;
                expr(syntax::as<syntax::LambdaExpr>(node)->body);
                --nested_;
                return;
            case ExprKind::kNamed: {
                const auto* n = syntax::as<syntax::NamedExpr>(node);
                if (!nested_) {
                    found_.named.emplace_back(n->range.begin, n->target->name);
                }
                expr(n->value);
                return;
            }
            default:
                break;
        }
        syntax::each_child(node, [this](const Expr* child) { expr(child); });
    }

    // Puts the reads of each name beside each other.
    void finish() {
        for (auto [name, offset] : reads_) {
            ++found_.names[name].end;
        }
        uint32_t count = 0;
        for (auto& [name, places] : found_.names) {
            uint32_t begin = std::exchange(count, count + places.end);
            places = {begin, begin};
        }
        found_.offsets.resize(reads_.size());
        for (auto [name, offset] : reads_) {
            found_.offsets[found_.names.find(name)->end++] = offset;
        }
        for (const auto& [name, places] : found_.names) {
            auto first = found_.offsets.begin() + places.begin;
            auto last = found_.offsets.begin() + places.end;
            if (!std::is_sorted(first, last)) {
                std::sort(first, last);
            }
        }
    }

  private:
    void exprs(syntax::Exprs nodes) {
        for (const Expr* node : nodes) {
            expr(node);
        }
    }

    // Defaults are read where the function is defined.
    void defaults(const syntax::Parameters* parameters) {
        for (const syntax::Parameter& parameter : parameters->items) {
            if (parameter.default_value != nullptr) {
                expr(parameter.default_value);
            }
        }
    }

    // A target reads nothing when it is a name; x[i] = v reads x and i.
    void target(const Expr* node) {
        if (node->kind == ExprKind::kTuple || node->kind == ExprKind::kList) {
            for (const Expr* item : static_cast<const syntax::SequenceExpr*>(node)->items) {
                target(item);
            }
        } else if (node->kind == ExprKind::kStarred) {
            target(static_cast<const syntax::PrefixExpr*>(node)->operand);
        } else if (node->kind != ExprKind::kName) {
            expr(node);
        }
    }

    void stmt(const Stmt* statement) {
        switch (statement->kind) {
            case StmtKind::kAssign:
                for (const Expr* node : syntax::as<syntax::AssignStmt>(statement)->targets) {
                    target(node);
                }
                expr(syntax::as<syntax::AssignStmt>(statement)->value);
                return;
            case StmtKind::kAnnAssign:
                if (syntax::as<syntax::AnnAssignStmt>(statement)->value != nullptr) {
                    expr(syntax::as<syntax::AnnAssignStmt>(statement)->value);
                }
                return;
            case StmtKind::kFor: {
                const auto* node = syntax::as<syntax::ForStmt>(statement);
                expr(node->iterable);
                block(node->body);
                block(node->orelse);
                return;
            }
            case StmtKind::kFunctionDef: {
                const auto* node = syntax::as<syntax::FunctionDefStmt>(statement);
                defaults(node->parameters);
                ++nested_;
                block(node->body);
                --nested_;
                return;
            }
            case StmtKind::kDelete:
                for (const Expr* node : syntax::as<syntax::DeleteStmt>(statement)->targets) {
                    target(node);
                }
                return;
            default:
                break;
        }
        syntax::each_child(
            statement, [this](const Expr* child) { expr(child); },
            [this](const Stmt* child) { stmt(child); });
    }

    const Interner& names_;
    BlockReads& found_;
    std::vector<std::pair<Symbol, uint32_t>> reads_;
    int nested_ = 0;
};

Targets targets(Stmts statements) {
    Targets found;
    each_statement(statements, true, [&found](const Stmt* statement) {
        switch (statement->kind) {
            case StmtKind::kAssign:
                for (const Expr* target : syntax::as<syntax::AssignStmt>(statement)->targets) {
                    add_targets(target, found);
                }
                break;
            case StmtKind::kAugAssign:
                add_targets(syntax::as<syntax::AugAssignStmt>(statement)->target, found);
                break;
            case StmtKind::kAnnAssign:
                if (syntax::as<syntax::AnnAssignStmt>(statement)->value != nullptr) {
                    add_targets(syntax::as<syntax::AnnAssignStmt>(statement)->target, found);
                }
                break;
            case StmtKind::kFor:
                add_targets(syntax::as<syntax::ForStmt>(statement)->target, found);
                break;
            case StmtKind::kOpaque:
                add_head_targets(syntax::as<syntax::OpaqueStmt>(statement), found);
                break;
            default:
                break;
        }
    });
    return found;
}

// The parameters of the function and the names that its body binds or deletes, by symbol.
SymbolSet local_names(const syntax::FunctionDefStmt& function) {
    SymbolSet names = targets(function.body).seen;
    each_statement(function.body, true, [&names](const Stmt* statement) {
        if (statement->kind == StmtKind::kFunctionDef) {
            names.insert(syntax::as<syntax::FunctionDefStmt>(statement)->name);
        } else if (statement->kind == StmtKind::kDelete) {
            for (const Expr* target : syntax::as<syntax::DeleteStmt>(statement)->targets) {
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
                    names.insert(name->name);
                }
            }
        }
    });
    for (const syntax::Parameter& parameter : function.parameters->items) {
        names.insert(parameter.name);
    }
    return names;
}

}  // namespace

bool always_jumps(Stmts statements) {
    for (const Stmt* statement : statements) {
        switch (statement->kind) {
            case StmtKind::kReturn:
            case StmtKind::kBreak:
            case StmtKind::kContinue:
            case StmtKind::kRaise:
                return true;
            case StmtKind::kIf: {
                const auto* node = syntax::as<syntax::IfStmt>(statement);
                if (!node->orelse.empty() && always_jumps(node->body) &&
                    always_jumps(node->orelse)) {
                    return true;
                }
                break;
            }
            default:
                break;
        }
    }
    return false;
}

bool may_return(Stmts statements) {
    bool found = false;
    each_statement(statements, true, [&found](const Stmt* statement) {
        found = found || statement->kind == StmtKind::kReturn;
    });
    return found;
}

bool may_break(Stmts statements) {
    bool found = false;
    each_statement(statements, false, [&found](const Stmt* statement) {
        found = found || statement->kind == StmtKind::kBreak;
    });
    return found;
}

std::vector<Symbol> assigned_names(Stmts statements) {
    return targets(statements).names;
}

std::optional<syntax::Range> last_assignment(Stmts statements, Symbol name) {
    Targets found = targets(statements);
    for (size_t i = found.all.size(); i-- > 0;) {
        if (found.all[i]->name == name) {
            return found.all[i]->range;
        }
    }
    return std::nullopt;
}

const BlockReads& block_reads(Context& c, const Interner& names, Stmts body) {
    auto [place, is_new] = c.reads.try_emplace(body.data());
    if (is_new) {
        ReadCollector collector(names, place->second);
        collector.block(body);
        collector.finish();
    }
    return place->second;
}

bool is_local(Context& c, const ScriptFunction& function, Symbol name) {
    if (function.definition == nullptr) {
        return false;
    }
    auto [place, is_new] = c.locals.try_emplace(&function);
    if (is_new) {
        place->second = local_names(*function.definition);
    }
    return place->second.contains(name);
}

std::vector<std::pair<Symbol, Object>> outer_objects(Context& c, const ScriptFunction& function,
                                                     std::vector<Symbol> BlockReads::*names,
                                                     ObjectKind kind) {
    std::vector<std::pair<Symbol, Object>> found;
    if (function.definition == nullptr || function.environment == nullptr) {
        return found;
    }
    const Interner& texts = function.tree->names;
    SymbolSet seen;
    for (Symbol name : block_reads(c, texts, function.definition->body).*names) {
        if (!seen.insert(name)) {
            continue;
        }
        std::optional<Object> object = function.environment->lookup(texts.text(name));
        if (object && object->is(kind) && !is_local(c, function, name)) {
            found.emplace_back(name, std::move(*object));
        }
    }
    return found;
}

const BlockReads& lambda_reads(Context& c, const Interner& names,
                               const syntax::LambdaExpr* lambda) {
    auto [place, is_new] = c.reads.try_emplace(lambda);
    if (is_new) {
        ReadCollector collector(names, place->second);
        collector.expr(lambda->body);
        collector.finish();
    }
    return place->second;
}

bool is_live(Context& c, Symbol name, uint32_t offset) {
    if (c.at.body == nullptr) {
        return true;
    }
    const BlockReads& reads = block_reads(c, c.tree().names, *c.at.body);
    const BlockReads::Places* places = reads.names.find(name);
    if (places == nullptr) {
        return false;
    }
    auto first = reads.offsets.begin() + places->begin;
    auto last = reads.offsets.begin() + places->end;
    if (last[-1] >= offset) {
        return true;
    }
    auto in_loop = std::lower_bound(first, last, c.at.loop_begin);
    return in_loop != last && *in_loop < c.at.loop_end;
}

}  // namespace sardonyx::elaborate
