// `try`, `with` and `raise` at compile time. What the evaluator reports is an exception where it
// says so with raises(): a `try` around may catch it. Other mistakes have no class, and no `try`
// catches them.
#pragma once

#include <functional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Runs the suites of a statement, as the top level or the body of a function does.
using RunSuite = std::function<Jump(syntax::Stmts)>;

// `try`: what it raises goes to the handlers.
Jump exec_try(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run);

// `with` of contextlib.nullcontext and contextlib.suppress.
Jump exec_with(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run);

Jump exec_raise(Context& c, const syntax::RaiseStmt* statement);

}  // namespace sardonyx::elaborate
