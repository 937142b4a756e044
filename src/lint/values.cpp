// Locals of a script that nothing reads, results that are dropped, and names that hide scripts.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/stop.h"
#include "base/symbol_map.h"
#include "lint/diagnostics.h"
#include "lint/lints.h"
#include "syntax/visit.h"

namespace sardonyx::lint {
namespace {

using syntax::Expr;
using syntax::ExprKind;
using syntax::FunctionDefStmt;
using syntax::NameExpr;
using syntax::Range;
using syntax::Stmt;
using syntax::StmtKind;
using syntax::Stmts;

// The name that a plain assignment binds; null for all other statements.
const NameExpr* bound_name(const Stmt* statement) {
    if (const auto* assign = syntax::maybe_as<syntax::AssignStmt>(statement)) {
        return assign->targets.size() == 1 ? syntax::maybe_as<NameExpr>(assign->targets[0])
                                           : nullptr;
    }
    const auto* annotated = syntax::maybe_as<syntax::AnnAssignStmt>(statement);
    return annotated != nullptr && annotated->value != nullptr
               ? syntax::maybe_as<NameExpr>(annotated->target)
               : nullptr;
}

// Calls `see(Symbol)` for every name in an expression, and those that Gradient has in strings.
template <typename See>
void each_read(const File& file, const Expr* expr, See& see) {
    auto visit = [&](const Expr* one) {
        if (const auto* name = syntax::maybe_as<NameExpr>(one)) {
            see(name->name);
        }
        syntax::each_named_variable(file.tree.names, one, see);
    };
    syntax::each_expression(expr, visit);
}

// The same for everything that a statement and its blocks read, and `bind(Symbol)` for the names
// that plain assignments bind in them. The target of an augmented assignment, and what a subscript
// on the left side changes, are read too.
template <typename See, typename Bind>
void each_use(const File& file, const Stmt* statement, See& see, Bind& bind) {
    const NameExpr* bound = bound_name(statement);
    if (bound != nullptr) {
        bind(bound->name);
    }
    const auto* assign = syntax::maybe_as<syntax::AssignStmt>(statement);
    const auto* loop = syntax::maybe_as<syntax::ForStmt>(statement);
    syntax::each_child(
        statement,
        [&](const Expr* child) {
            bool is_target = child == bound || (loop != nullptr && child == loop->target) ||
                             (assign != nullptr && child != assign->value &&
                              (child->kind == ExprKind::kName || child->kind == ExprKind::kTuple));
            if (!is_target) {
                each_read(file, child, see);
            }
        },
        [&](const Stmt* child) { each_use(file, child, see, bind); });
}

template <typename See>
void each_read(const File& file, const Stmt* statement, See& see) {
    auto bind = [](Symbol) {};
    each_use(file, statement, see, bind);
}

// What nested functions read may be read whenever they are called.
template <typename See>
void each_nested_read(const File& file, Stmts statements, See& see) {
    for (const Stmt* statement : statements) {
        stop_point();
        if (const auto* inner = syntax::maybe_as<FunctionDefStmt>(statement)) {
            each_read(file, inner, see);
            continue;
        }
        auto visit = [&](const Expr* one) {
            if (const auto* lambda = syntax::maybe_as<syntax::LambdaExpr>(one)) {
                each_read(file, lambda, see);
            }
        };
        syntax::each_child(
            statement, [&visit](const Expr* child) { syntax::each_expression(child, visit); },
            [&](const Stmt* child) { each_nested_read(file, Stmts(&child, 1), see); });
    }
}

bool is_private(std::string_view name) {
    return name.substr(0, 1) == "_";
}

// What a script does with each name of its file: a byte for each of these, as they are dense.
class Uses {
  public:
    explicit Uses(const Interner& names) : uses_(names.size() + 1) {}

    void read(Symbol name) { of(name) |= kRead; }
    void bind(Symbol name) {
        uint8_t& uses = of(name);
        uses |= (uses & kBound) != 0 ? kRebound : kBound;
    }
    bool is_read(Symbol name) const { return (of(name) & kRead) != 0; }
    // Whether several assignments bind it.
    bool is_rebound(Symbol name) const { return (of(name) & kRebound) != 0; }

  private:
    static constexpr uint8_t kRead = 1, kBound = 2, kRebound = 4;

    uint8_t& of(Symbol name) { return uses_[std::min<size_t>(name.index, uses_.size() - 1)]; }
    uint8_t of(Symbol name) const { return const_cast<Uses*>(this)->of(name); }

    std::vector<uint8_t> uses_;  // the last one: of names that could not be parsed
};

class Function {
  public:
    Function(const File& file, const FunctionDefStmt* definition)
        : file_(file), definition_(definition), uses_(file.tree.names) {
        auto read = [this](Symbol name) { uses_.read(name); };
        auto bind = [this](Symbol name) { uses_.bind(name); };
        for (const Stmt* statement : definition->body) {
            each_use(file_, statement, read, bind);
        }
    }

    void block(Stmts statements) {
        for (size_t i = 0; i < statements.size(); ++i) {
            stop_point();
            const Stmt* statement = statements[i];
            check_binding(statements, i);
            if (const auto* expression = syntax::maybe_as<syntax::ExprStmt>(statement)) {
                check_dropped(expression->value);
            }
            syntax::each_child(
                statement, [](const Expr*) {},
                [this](const Stmt* inner) { block(Stmts(&inner, 1)); });
            // The blocks of a statement are straight lines of their own.
            each_block(statement, [this](Stmts inner) { overwritten(inner); });
        }
    }

    // A value that is bound again before anything reads it, with nothing but plain statements
    // between.
    void overwritten(Stmts statements) {
        SymbolMap<const NameExpr*> unread;  // of names that other assignments bind, too
        auto read = [&unread](Symbol name) { unread.erase(name); };
        for (const Stmt* statement : statements) {
            const NameExpr* bound = bound_name(statement);
            if (statement->kind != StmtKind::kExpr && bound == nullptr) {
                unread.clear();
            } else if (!unread.empty()) {
                each_read(file_, statement, read);
            }
            if (bound == nullptr || !uses_.is_rebound(bound->name)) {
                continue;
            }
            const NameExpr*& place = unread[bound->name];
            if (place != nullptr) {
                report_overwritten(place, bound);
            }
            place = bound;
        }
    }

  private:
    template <typename Visit>
    static void each_block(const Stmt* statement, Visit visit) {
        if (const auto* branch = syntax::maybe_as<syntax::IfStmt>(statement)) {
            visit(branch->body);
            visit(branch->orelse);
        } else if (const auto* loop = syntax::maybe_as<syntax::ForStmt>(statement)) {
            visit(loop->body);
            visit(loop->orelse);
        } else if (const auto* repeat = syntax::maybe_as<syntax::WhileStmt>(statement)) {
            visit(repeat->body);
            visit(repeat->orelse);
        } else if (const auto* inner = syntax::maybe_as<FunctionDefStmt>(statement)) {
            visit(inner->body);
        }
    }

    void report_overwritten(const NameExpr* first, const NameExpr* second) {
        bool is_unused = !uses_.is_read(first->name);  // said of the name as a whole
        if (is_unused || is_private(file_.text(first->name)) || is_read_later(first->name)) {
            return;
        }
        file_
            .report(kUnusedValue, first->range,
                    fmt::format("this value of `{}` is not used", file_.text(first->name)))
            .label(file_.tree.span(second->range), "it gets another one here")
            .with_help("remove the first assignment, or read the name between them");
    }

    bool is_read_later(Symbol name) {
        if (!nested_reads_) {
            auto read = [&names = nested_reads_.emplace()](Symbol one) { names.insert(one); };
            each_nested_read(file_, definition_->body, read);
        }
        return nested_reads_->contains(name);
    }

    void check_binding(Stmts statements, size_t index) {
        const NameExpr* bound = bound_name(statements[index]);
        if (bound == nullptr || uses_.is_read(bound->name) || is_private(file_.text(bound->name))) {
            return;
        }
        file_
            .report(kUnusedValue, bound->range,
                    fmt::format("`{}` is not used", file_.text(bound->name)))
            .with_help(
                fmt::format("remove the assignment, or call it `_{}`", file_.text(bound->name)));
    }

    void check_dropped(const Expr* value) {
        bool is_operator = value->kind == ExprKind::kBinary || value->kind == ExprKind::kUnary ||
                           value->kind == ExprKind::kCompare || value->kind == ExprKind::kSubscript;
        if (const auto* call = syntax::maybe_as<syntax::CallExpr>(value)) {
            is_operator = is_pure(call->callee);
        }
        if (is_operator) {
            file_.report(kUnusedValue, value->range, "the result of this expression is not used")
                .with_help("bind it to a name, or remove it: it changes nothing");
        }
    }

    // Operators and scripts give results and do nothing else.
    bool is_pure(const Expr* callee) const {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(callee);
        const auto* name = syntax::maybe_as<NameExpr>(member != nullptr ? member->value : callee);
        if (name == nullptr) {
            return false;
        }
        std::optional<elaborate::Object> object = file_.environment.lookup(file_.text(name->name));
        return object && object->is(member != nullptr ? elaborate::ObjectKind::kOpset
                                                      : elaborate::ObjectKind::kScript);
    }

    const File& file_;
    const FunctionDefStmt* definition_;
    Uses uses_;
    std::optional<SymbolSet> nested_reads_;  // what nested functions read; made when needed
};

using Scripts = SymbolMap<const FunctionDefStmt*>;

void check_local(const File& file, const Scripts& scripts, SymbolSet& seen, Symbol name,
                 Range range) {
    const FunctionDefStmt* const* found = scripts.find(name);
    if (found == nullptr || !seen.insert(name)) {
        return;
    }
    file.report(kShadowedScript, range,
                fmt::format("this `{0}` hides the script `{0}`", file.text(name)))
        .label(file.tree.span((*found)->name_range), "the script")
        .with_help("choose another name for one of them");
}

void check_block(const File& file, const Scripts& scripts, SymbolSet& seen, Stmts statements) {
    for (const Stmt* statement : statements) {
        if (const NameExpr* bound = bound_name(statement)) {
            check_local(file, scripts, seen, bound->name, bound->range);
        }
        if (const auto* inner = syntax::maybe_as<FunctionDefStmt>(statement)) {
            check_local(file, scripts, seen, inner->name, inner->name_range);
        }
        syntax::each_child(
            statement, [](const Expr*) {},
            [&](const Stmt* child) { check_block(file, scripts, seen, Stmts(&child, 1)); });
    }
}

}  // namespace

void find_unused_values(const File& file, const FunctionDefStmt* script) {
    Function function(file, script);
    function.block(script->body);
    function.overwritten(script->body);
}

void find_shadowed_scripts(const File& file) {
    Scripts scripts;
    for (const FunctionDefStmt* script : file.scripts) {
        const FunctionDefStmt*& place = scripts[script->name];
        if (place != nullptr) {
            file.report(kShadowedScript, script->name_range,
                        fmt::format("a second script `{}`: the first one cannot be reached",
                                    file.text(script->name)))
                .label(file.tree.span(place->name_range), "the first")
                .with_help("rename one of them, or remove the first");
        }
        place = script;
    }
    for (const FunctionDefStmt* script : file.scripts) {
        SymbolSet seen;
        for (const syntax::Parameter& parameter : script->parameters->items) {
            check_local(file, scripts, seen, parameter.name, parameter.range);
        }
        check_block(file, scripts, seen, script->body);
    }
}

}  // namespace sardonyx::lint
