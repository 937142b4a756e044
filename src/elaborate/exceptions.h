// Python's exceptions at compile time. What the evaluator reports is one where it says so with
// raises(): a `try` around may catch it. Other mistakes have no class, and no `try` catches them.
#pragma once

#include <functional>
#include <string_view>

#include "elaborate/context.h"
#include "elaborate/graph_loop.h"

namespace sardonyx::elaborate {

// What has just been reported is an exception of this class to Python. Returns the error object.
Object raises(Context& c, std::string_view type);

// Whether a name is a class of exceptions that is built into Python.
bool is_exception_type(std::string_view name);

// Runs the suites of a statement, as the top level or the body of a function does.
using RunSuite = std::function<Jump(syntax::Stmts)>;

// `try`: what it raises goes to the handlers.
Jump exec_try(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run);
// `with` of contextlib.nullcontext and contextlib.suppress.
Jump exec_with(Context& c, const syntax::OpaqueStmt* statement, const RunSuite& run);
void exec_raise(Context& c, const syntax::RaiseStmt* statement);

}  // namespace sardonyx::elaborate
