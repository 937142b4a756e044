// `if` on a tensor, and what runs unless a jump has been made.
#pragma once

#include "elaborate/objects/context.h"
#include "elaborate/statements.h"

namespace sardonyx::elaborate {

// a if condition else b, on a tensor-valued condition.
Object choose(Context& c, ir::Value* condition, const syntax::IfExpExpr* expr);

// Control flow on tensor values (control_flow.cpp).
Jump exec_if(Context& c, ir::Value* condition, const syntax::IfStmt* statement, const Rest* rest,
             bool& consumed_rest);

// Runs `rest` unless a jump has been made.
Jump exec_guarded(Context& c, ir::Value* skip, syntax::Range range, const Rest* rest);

}  // namespace sardonyx::elaborate
