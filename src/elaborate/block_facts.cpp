// What can be said of a block by its text alone: whether it leaves, what it assigns, what is read
// where.

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "elaborate/exec.h"

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
            default:
                break;
        }
    }
}

// Names in the order in which they are first assigned to.
struct Targets {
    std::vector<Symbol> names;
    std::unordered_set<uint32_t> seen;
};

void add_targets(const Expr* target, Targets& found) {
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
        if (found.seen.insert(name->name.index).second) {
            found.names.push_back(name->name);
        }
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

using Reads = std::unordered_map<uint32_t, std::vector<uint32_t>>;

// Every place where a name is read. Reads inside nested functions count as after everything,
// because the function may be called at any time.
class ReadCollector {
  public:
    explicit ReadCollector(BlockReads& found)
        : reads_(found.offsets), bases_(found.bases), called_(found.called), named_(found.named) {}

    void block(Stmts statements) {
        for (const Stmt* statement : statements) {
            stmt(statement);
        }
    }

    void expr(const Expr* node) {
        if (node == nullptr) {
            return;
        }
        switch (node->kind) {
            case ExprKind::kName:
                reads_[syntax::as<syntax::NameExpr>(node)->name.index].push_back(
                    nested_ ? UINT32_MAX : node->range.begin);
                break;
            case ExprKind::kFString:
                fstring(syntax::as<syntax::FStringExpr>(node));
                break;
            case ExprKind::kTuple:
            case ExprKind::kList:
            case ExprKind::kSet:
                exprs(static_cast<const syntax::SequenceExpr*>(node)->items);
                break;
            case ExprKind::kDict:
                exprs(syntax::as<syntax::DictExpr>(node)->keys);
                exprs(syntax::as<syntax::DictExpr>(node)->values);
                break;
            case ExprKind::kComprehension: {
                const auto* n = syntax::as<syntax::ComprehensionExpr>(node);
                expr(n->element);
                expr(n->value);
                for (const syntax::ComprehensionFor& clause : n->clauses) {
                    expr(clause.iterable);
                    exprs(clause.conditions);
                }
                break;
            }
            case ExprKind::kUnary:
                expr(syntax::as<syntax::UnaryExpr>(node)->operand);
                break;
            case ExprKind::kBinary: {
                const auto* n = syntax::as<syntax::BinaryExpr>(node);
                while (const auto* inner = syntax::maybe_as<syntax::BinaryExpr>(n->left)) {
                    expr(n->right);
                    n = inner;
                }
                expr(n->left);
                expr(n->right);
                break;
            }
            case ExprKind::kBoolOp:
                exprs(syntax::as<syntax::BoolOpExpr>(node)->operands);
                break;
            case ExprKind::kCompare:
                expr(syntax::as<syntax::CompareExpr>(node)->left);
                exprs(syntax::as<syntax::CompareExpr>(node)->rights);
                break;
            case ExprKind::kCall: {
                const auto* n = syntax::as<syntax::CallExpr>(node);
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(n->callee)) {
                    called_.push_back(name->name);
                }
                expr(n->callee);
                exprs(n->args);
                for (const syntax::Keyword& keyword : n->keywords) {
                    expr(keyword.value);
                }
                break;
            }
            case ExprKind::kAttribute: {
                const Expr* base = syntax::as<syntax::AttributeExpr>(node)->value;
                if (const auto* name = syntax::maybe_as<syntax::NameExpr>(base)) {
                    bases_.push_back(name->name);
                }
                expr(base);
                break;
            }
            case ExprKind::kSubscript:
                expr(syntax::as<syntax::SubscriptExpr>(node)->value);
                expr(syntax::as<syntax::SubscriptExpr>(node)->index);
                break;
            case ExprKind::kSlice: {
                const auto* n = syntax::as<syntax::SliceExpr>(node);
                expr(n->lower);
                expr(n->upper);
                expr(n->step);
                break;
            }
            case ExprKind::kStarred:
            case ExprKind::kAwait:
            case ExprKind::kYield:
            case ExprKind::kYieldFrom:
                expr(static_cast<const syntax::PrefixExpr*>(node)->operand);
                break;
            case ExprKind::kLambda: {
                defaults(syntax::as<syntax::LambdaExpr>(node)->parameters);
                ++nested_;
                expr(syntax::as<syntax::LambdaExpr>(node)->body);
                --nested_;
                break;
            }
            case ExprKind::kIfExp: {
                const auto* n = syntax::as<syntax::IfExpExpr>(node);
                expr(n->condition);
                expr(n->body);
                expr(n->orelse);
                break;
            }
            case ExprKind::kNamed: {
                const auto* n = syntax::as<syntax::NamedExpr>(node);
                if (!nested_) {
                    named_.emplace_back(n->range.begin, n->target->name);
                }
                expr(n->value);
                break;
            }
            default:
                break;
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
            expr(parameter.default_value);
        }
    }

    void fstring(const syntax::FStringExpr* node) {
        for (const syntax::FStringPart& part : node->parts) {
            expr(part.expr);
            expr(part.format);
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
            case StmtKind::kExpr:
                expr(syntax::as<syntax::ExprStmt>(statement)->value);
                break;
            case StmtKind::kAssign:
                for (const Expr* node : syntax::as<syntax::AssignStmt>(statement)->targets) {
                    target(node);
                }
                expr(syntax::as<syntax::AssignStmt>(statement)->value);
                break;
            case StmtKind::kAugAssign:
                expr(syntax::as<syntax::AugAssignStmt>(statement)->target);
                expr(syntax::as<syntax::AugAssignStmt>(statement)->value);
                break;
            case StmtKind::kAnnAssign:
                expr(syntax::as<syntax::AnnAssignStmt>(statement)->value);
                break;
            case StmtKind::kReturn:
                expr(syntax::as<syntax::ReturnStmt>(statement)->value);
                break;
            case StmtKind::kAssert:
                expr(syntax::as<syntax::AssertStmt>(statement)->condition);
                break;
            case StmtKind::kIf: {
                const auto* node = syntax::as<syntax::IfStmt>(statement);
                expr(node->condition);
                block(node->body);
                block(node->orelse);
                break;
            }
            case StmtKind::kFor: {
                const auto* node = syntax::as<syntax::ForStmt>(statement);
                expr(node->iterable);
                block(node->body);
                block(node->orelse);
                break;
            }
            case StmtKind::kWhile: {
                const auto* node = syntax::as<syntax::WhileStmt>(statement);
                expr(node->condition);
                block(node->body);
                block(node->orelse);
                break;
            }
            case StmtKind::kFunctionDef: {
                const auto* node = syntax::as<syntax::FunctionDefStmt>(statement);
                defaults(node->parameters);
                ++nested_;
                block(node->body);
                --nested_;
                break;
            }
            default:
                break;
        }
    }

    Reads& reads_;
    std::vector<Symbol>& bases_;
    std::vector<Symbol>& called_;
    std::vector<std::pair<uint32_t, Symbol>>& named_;
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
            default:
                break;
        }
    });
    return found;
}

// The parameters of the function and the names that its body assigns, by symbol.
std::unordered_set<uint32_t> local_names(const syntax::FunctionDefStmt& function) {
    std::unordered_set<uint32_t> names = targets(function.body).seen;
    for (const syntax::Parameter& parameter : function.parameters->items) {
        names.insert(parameter.name.index);
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

const BlockReads& block_reads(Context& c, Stmts body) {
    auto [place, is_new] = c.reads.try_emplace(body.data());
    if (is_new) {
        ReadCollector(place->second).block(body);
        for (auto& [symbol, offsets] : place->second.offsets) {
            std::sort(offsets.begin(), offsets.end());
        }
    }
    return place->second;
}

std::vector<std::pair<Symbol, Object>> outer_objects(Context& c, const ScriptFunction& function,
                                                     std::vector<Symbol> BlockReads::*names,
                                                     ObjectKind kind) {
    std::vector<std::pair<Symbol, Object>> found;
    if (function.definition == nullptr || function.environment == nullptr) {
        return found;
    }
    std::unordered_set<uint32_t> seen;
    std::optional<std::unordered_set<uint32_t>> locals;  // made when one could be hidden
    for (Symbol name : block_reads(c, function.definition->body).*names) {
        if (!seen.insert(name.index).second) {
            continue;
        }
        std::optional<Object> object =
            function.environment->lookup(function.tree->names.text(name));
        if (!object || !object->is(kind)) {
            continue;
        }
        if (!locals) {
            locals = local_names(*function.definition);
        }
        if (locals->count(name.index) == 0) {
            found.emplace_back(name, std::move(*object));
        }
    }
    return found;
}

const BlockReads& lambda_reads(Context& c, const syntax::LambdaExpr* lambda) {
    auto [place, is_new] = c.reads.try_emplace(lambda);
    if (is_new) {
        ReadCollector(place->second).expr(lambda->body);
    }
    return place->second;
}

bool is_live(Context& c, Symbol name, uint32_t offset) {
    if (c.at.body == nullptr) {
        return true;
    }
    const Reads& reads = block_reads(c, *c.at.body).offsets;
    auto found = reads.find(name.index);
    if (found == reads.end()) {
        return false;
    }
    const std::vector<uint32_t>& offsets = found->second;
    if (offsets.back() >= offset) {
        return true;
    }
    auto in_loop = std::lower_bound(offsets.begin(), offsets.end(), c.at.loop_begin);
    return in_loop != offsets.end() && *in_loop < c.at.loop_end;
}

}  // namespace sardonyx::elaborate
