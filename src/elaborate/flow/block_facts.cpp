// What can be said of a block by its text alone: whether it leaves, what it assigns, what is read
// where.
#include "elaborate/flow/block_facts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/symbol_map.h"
#include "elaborate/flow/bindings.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/unknowns.h"
#include "syntax/visit.h"

namespace sardonyx::elaborate {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

namespace {

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
                    bool is_same = !found_.bases.empty() && found_.bases.back() == name->name;
                    if (!is_same) {  // `op` stands in most lines
                        found_.bases.push_back(name->name);
                    }
                }
                break;
            case ExprKind::kLambda:
                defaults(syntax::as<syntax::LambdaExpr>(node)->parameters);
                ++nested_;
                expr(syntax::as<syntax::LambdaExpr>(node)->body);
                --nested_;
                return;
            case ExprKind::kNamed:
                expr(syntax::as<syntax::NamedExpr>(node)->value);
                return;
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
    auto see = [&found](const Stmt* statement) {
        found = found || statement->kind == StmtKind::kReturn;
    };
    each_statement(statements, LoopBodies::kVisited, see);
    return found;
}

bool may_break(Stmts statements) {
    bool found = false;
    auto see = [&found](const Stmt* statement) {
        found = found || statement->kind == StmtKind::kBreak;
    };
    each_statement(statements, LoopBodies::kSkipped, see);
    return found;
}

namespace {

bool has_yield(const Expr* node) {
    bool found = node->kind == ExprKind::kYield || node->kind == ExprKind::kYieldFrom;
    if (!found && node->kind != ExprKind::kLambda) {
        syntax::each_child(node,
                           [&found](const Expr* child) { found = found || has_yield(child); });
    }
    return found;
}

bool has_yield(const Stmt* statement) {
    bool found = false;
    if (statement->kind != StmtKind::kFunctionDef) {
        syntax::each_child(
            statement, [&found](const Expr* child) { found = found || has_yield(child); },
            [&found](const Stmt* child) { found = found || has_yield(child); });
    }
    return found;
}

}  // namespace

bool is_generator(Context& c, Stmts body) {
    auto [place, is_new] = c.texts->generators.try_emplace(body.data());
    if (is_new) {
        place->second =
            std::any_of(body.begin(), body.end(), [](const Stmt* one) { return has_yield(one); });
    }
    return place->second;
}

std::vector<Symbol> assigned_names(Stmts statements) {
    std::vector<Symbol> names;
    SymbolSet seen;
    auto see = [&](const Bound& one) {
        if (seen.insert(one.name)) {
            names.push_back(one.name);
        }
    };
    each_binding<binds::kTarget | binds::kItem | binds::kHead>(nullptr, statements, see);
    return names;
}

std::optional<syntax::Range> last_assignment(Stmts statements, Symbol name) {
    std::optional<syntax::Range> last;
    auto see = [&](const Bound& one) {
        if (one.name == name) {
            last = one.range;
        }
    };
    each_binding<binds::kTarget | binds::kItem>(nullptr, statements, see);
    return last;
}

const BlockReads& block_reads(Context& c, const Interner& names, Stmts body) {
    auto [place, is_new] = c.texts->reads.try_emplace(body.data());
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
    auto [place, is_new] = c.texts->locals.try_emplace(&function);
    if (is_new) {
        // One whose items are assigned to is among them: in a graph it gets another tensor.
        *place = own_names<binds::kOwn | binds::kItem>(
            *function.tree, *function.definition->parameters, function.definition->body);
    }
    return place->contains(name);
}

bool is_own_name(Context& c, Stmts body, Symbol name) {
    auto [place, is_new] = c.texts->own_names.try_emplace(body.data());
    if (is_new) {
        *place = own_names<binds::kOwn>(c.tree(), body);
    }
    return place->contains(name);
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
    auto [place, is_new] = c.texts->reads_of_lambdas.try_emplace(lambda);
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
