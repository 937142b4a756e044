// Execution of statements at compile time.
#pragma once

#include <optional>

#include "elaborate/context.h"

namespace sardonyx::elaborate {

// The statements that follow a block, outwards: what a branch goes on with when the other one has
// left.
struct Rest {
    syntax::Stmts statements;
    const Rest* next = nullptr;
};

// Runs a block, and then `rest`. kReturn: the function has returned, and Context::result is the
// result.
Jump exec(Context& c, syntax::Stmts statements, const Rest* rest = nullptr);

// Binds a target (a name, or nested tuples of names) to an object; false, and a diagnostic, when it
// cannot.
bool assign(Context& c, const syntax::Expr* target, Object value, syntax::Range value_range);

// Binds a name here, or where `global` and `nonlocal` say.
void bind_name(Context& c, Symbol name, Object value);

// While a file runs: `before op= value` has changed a list, set or dict for everyone who holds it,
// to what `after` is. False: it makes a new object.
bool changes_in_place(Context& c, const Object& before, const Object& after, syntax::Range range);

// Binds the names of a target to nothing, so that one mistake is not reported again at each use.
void bind_error(Context& c, const syntax::Expr* target);

// x[i] = value and x[i] op= value (item_assignment.cpp).
bool assign_item(Context& c, const syntax::SubscriptExpr* target, const Object& value,
                 syntax::Range value_range);
void augment_item(Context& c, const syntax::AugAssignStmt* statement);
// del xs[i]: of a static list or dict.
void delete_item(Context& c, const syntax::SubscriptExpr* target);

// A name of a function that waits for the one that runs, and holds a tensor of it.
struct CallerName {
    Scope* scope;
    Symbol name;
};

// Another name, read after `offset`, that holds or may hold the tensor that an assignment to an
// item of `name` changes; nothing when there is none. `in_list`: the tensor is itself an item of
// the list of that name. `callers`: the names that hold it as well and can be given the changed one
// (aliases.cpp).
// `is_list`: the value is a list that grows.
std::optional<std::string> other_holder(Context& c, const ir::Value* value, Symbol name,
                                        bool in_list, uint32_t offset,
                                        std::vector<CallerName>& callers, bool is_list = false);

// The names of the function whose tensor an expression may be, or may hold (aliases.cpp).
std::vector<Symbol> passed_names(Context& c, const syntax::Expr* expr);

// Whether statements assign to items of a name, and whether they bind it to something else.
struct TargetUse {
    bool items = false;
    bool whole = false;
};
TargetUse target_use(syntax::Stmts statements, Symbol name);

// a if condition else b, on a tensor-valued condition.
Object choose(Context& c, ir::Value* condition, const syntax::IfExpExpr* expr);

// The suite that the subject of a `match` chooses, the names of its pattern bound; null: none.
// Nothing after a diagnostic (patterns.cpp).
std::optional<const syntax::Clause*> chosen_case(Context& c, const syntax::OpaqueStmt* statement);

// Control flow on tensor values (control_flow.cpp).
Jump exec_if(Context& c, ir::Value* condition, const syntax::IfStmt* statement, const Rest* rest,
             bool& consumed_rest);
// Runs `rest` unless a jump has been made.
Jump exec_guarded(Context& c, ir::Value* skip, syntax::Range range, const Rest* rest);

// Loops (loops.cpp).
Jump exec_for(Context& c, const syntax::ForStmt* statement);
Jump exec_while(Context& c, const syntax::WhileStmt* statement);

// What a block does, by its text alone (block_facts.cpp).
bool always_jumps(
    syntax::Stmts statements);  // ends in break, continue, return or raise on every path
bool may_return(syntax::Stmts statements);
bool may_break(syntax::Stmts statements);  // out of the loop around it
// The names that a block assigns, in the order of their first assignment, nested functions apart.
std::vector<Symbol> assigned_names(syntax::Stmts statements);
// Where the text of a block assigns the name last.
std::optional<syntax::Range> last_assignment(syntax::Stmts statements, Symbol name);
// Where the names of a function's body are read; found once. `names`: of its file.
const BlockReads& block_reads(Context& c, const Interner& names, syntax::Stmts body);
// What names of the function's body mean outside it: the objects of this kind that no parameter or
// assignment hides, each name once, in order. `names`: &BlockReads::bases or ::called.
std::vector<std::pair<Symbol, Object>> outer_objects(Context& c, const ScriptFunction& function,
                                                     std::vector<Symbol> BlockReads::*names,
                                                     ObjectKind kind);
const BlockReads& lambda_reads(Context& c, const Interner& names, const syntax::LambdaExpr* lambda);
// Whether the function binds the name, anywhere in its body.
bool is_local(Context& c, const ScriptFunction& function, Symbol name);
// Whether a name is read after `offset`, or anywhere in the loop (if any) that is running around
// it.
bool is_live(Context& c, Symbol name, uint32_t offset);

}  // namespace sardonyx::elaborate
