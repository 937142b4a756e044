// Execution of statements at compile time.
#pragma once

#include "elaborate/objects/context.h"

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

}  // namespace sardonyx::elaborate
