// Assignments to names, tuples and members.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Binds a target (a name, or nested tuples of names) to an object; false, and a diagnostic, when it
// cannot.
bool assign(Context& c, const syntax::Expr* target, Object value, syntax::Range value_range);

// Binds a name here, or where `global` and `nonlocal` say.
void bind_name(Context& c, Symbol name, Object value);

// `before op= value` changes a list, set or dict, and an array while a file runs, for everyone who
// holds it, to what `after` is: done, or reported. False: it makes a new object. `holders` are
// those that are there where nothing but the target holds it.
bool changes_in_place(Context& c, const Object& before, const Object& after, syntax::Range range,
                      int holders);

// Binds the names of a target to nothing, so that one mistake is not reported again at each use.
void bind_error(Context& c, const syntax::Expr* target);

void exec_assign(Context& c, const syntax::AssignStmt* statement);

void exec_aug_assign(Context& c, const syntax::AugAssignStmt* statement);

void exec_annotated(Context& c, const syntax::AnnAssignStmt* statement);

}  // namespace sardonyx::elaborate
