// A loop that becomes a Loop node.
#pragma once

#include <functional>

#include "elaborate/context.h"

namespace sardonyx::elaborate {

struct GraphLoop {
    const syntax::Stmt* statement = nullptr;  // null: of a comprehension
    syntax::Range range;                      // all of it
    syntax::Range head;                       // to report at
    // What an iteration of a comprehension does, and the list that it makes longer.
    std::function<void(ir::Value* iteration)> run;
    Symbol items;
    syntax::Stmts body;
    const syntax::Expr* target = nullptr;       // of a `for`
    const syntax::Expr* condition = nullptr;    // of a `while`
    ir::Value* trip_count = nullptr;            // null: no limit
    ir::Value* start = nullptr;                 // the condition before the first iteration
    std::function<Object(ir::Value*)> element;  // the target's value from the iteration number
    Dim count;                                  // of iterations, unless it is left by a jump
    bool surely_runs = false;                   // at least once
    bool wants_broke = false;                   // whether it was left by break is asked for
};

// Runs the loop in the graph; names and the flags of a return are bound as they are after it.
// Returns whether it was left by a jump: static, or a BOOL tensor.
Object run_graph_loop(Context& c, const GraphLoop& loop);

}  // namespace sardonyx::elaborate
