// `if` on a tensor's value, and what depends on it.
//
// Both branches run at compile time, each into a subgraph of its own and from the same state of the
// scope; then merge() makes them an If node. A branch that leaves (return, break, continue) takes
// what follows the `if` into the other branch, so that both ways end at the same place. Where a
// branch may or may not leave, a flag is carried out of it (jumps.h) and the rest runs in a second
// If.
#include "elaborate/control_flow.h"

#include <fmt/format.h>

#include "elaborate/expressions.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/jumps.h"
#include "elaborate/objects/context.h"
#include "elaborate/scopes/branch.h"
#include "elaborate/scopes/held_values.h"
#include "elaborate/scopes/joined_kinds.h"
#include "elaborate/scopes/merge.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

namespace {

bool has_statements(const Rest* rest) {
    for (; rest != nullptr; rest = rest->next) {
        if (!rest->statements.empty()) {
            return true;
        }
    }
    return false;
}

// Whether what follows may be written twice: a few statements without blocks.
bool is_short(const Rest* rest) {
    constexpr size_t kShort = 3;
    size_t count = 0;
    for (; rest != nullptr; rest = rest->next) {
        for (const syntax::Stmt* statement : rest->statements) {
            if (++count > kShort || statement->kind == syntax::StmtKind::kIf ||
                statement->kind == syntax::StmtKind::kFor ||
                statement->kind == syntax::StmtKind::kWhile) {
                return false;
            }
        }
    }
    return true;
}

// The branch that runs when the condition is `outcome`.
template <typename Body>
Branch run_branch_where(Context& c, const syntax::Expr* condition, bool outcome, Body&& body) {
    std::vector<ir::Value*> held = held_when(c, condition, outcome);
    Branch branch = run_branch(c, [&] {
        HeldValues values(c, held);
        return body();
    });
    branch.held = std::move(held);
    return branch;
}

}  // namespace

Jump exec_if(Context& c, ir::Value* condition, const syntax::IfStmt* statement, const Rest* rest,
             bool& consumed_rest) {
    bool yes_leaves = always_jumps(statement->body);
    bool no_leaves = !statement->orelse.empty() && always_jumps(statement->orelse);
    bool returns = may_return(statement->body) || may_return(statement->orelse);
    bool repeat = returns && !yes_leaves && !no_leaves && c.at.loops == 0 && is_short(rest);
    bool take_rest = has_statements(rest) && (yes_leaves != no_leaves || repeat);
    consumed_rest = take_rest || (yes_leaves && no_leaves);
    Branch yes = run_branch_where(c, statement->condition, true, [&] {
        return exec(c, statement->body, take_rest && !yes_leaves ? rest : nullptr);
    });
    Branch no = run_branch_where(c, statement->condition, false, [&] {
        return exec(c, statement->orelse, take_rest && !no_leaves ? rest : nullptr);
    });
    yes.statements = statement->body;
    no.statements = statement->orelse;
    // Names are read after the branches; when these hold the rest, only the loop around matters.
    return merge(c, condition, yes, no, statement->condition->range, statement->range.end);
}

Jump exec_guarded(Context& c, ir::Value* skip, syntax::Range range, const Rest* rest) {
    if (!has_statements(rest)) {
        return Jump::kNone;
    }
    return run_unless(c, skip, range, [&] { return exec(c, rest->statements, rest->next); });
}

Object choose(Context& c, ir::Value* condition, const syntax::IfExpExpr* expr) {
    Object a, b;
    Branch yes = run_branch_where(c, expr->condition, true, [&] {
        a = eval(c, expr->body);
        return Jump::kNone;
    });
    Branch no = run_branch_where(c, expr->condition, false, [&] {
        b = eval(c, expr->orelse);
        return Jump::kNone;
    });
    if (a.is_error() || b.is_error()) {
        return Object::error();
    }
    std::optional<Object> joined =
        merge_values(c, condition, yes, no, a, b, expr->range, expr->range.end);
    if (!joined) {
        c.report(
             kBranchTypeMismatch, expr->range,
             fmt::format("the two sides of a conditional are {} and {}", describe(a), describe(b)))
            .label(c.span(expr->body->range), describe(a))
            .label(c.span(expr->orelse->range), describe(b))
            .with_help("cast one of them");
        return Object::error();
    }
    return *joined;
}

}  // namespace sardonyx::elaborate
