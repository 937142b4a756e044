// A loop that becomes a Loop node, and one run over its body.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "elaborate/objects/object.h"

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

// One run of the body.
struct Round {
    ir::Graph* graph = nullptr;
    std::vector<Object> results;                       // of the carried names
    std::vector<std::pair<Symbol, Object>> bound;      // the other names that it leaves bound
    std::vector<std::pair<Symbol, Object>> instances;  // names that hold one at its end
    std::vector<Object> held;                          // of each carried name, as it is
    std::vector<Symbol> failed;                        // those whose binding has been reported
    std::vector<Symbol> hidden;      // names and cells that it has changed, and its text does not
    Object go_on;                    // BOOL: static or a tensor of the body's graph
    Object broke, returned, result;  // the flags
};

}  // namespace sardonyx::elaborate
