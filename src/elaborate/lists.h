// Names whose list grows where the graph decides: in its loops they are sequences or vectors
// (emit/sequences.h); each branch of an `if` changes a copy of its own, and the If joins the
// copies.
#pragma once

#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// x.append(item) or x.extend(list) on a name or a member that holds such a list: it is bound anew.
// False: it is something else.
bool exec_growth(Context& c, const syntax::Expr* expr);

// The same for x += list.
bool exec_growth(Context& c, const syntax::NameExpr* name, const Object& list, const Object& more,
                 syntax::Range range);

// The same for a member of an instance.
bool exec_member_growth(Context& c, Namespace& own, std::string_view name, const Object& more,
                        syntax::Range range);

// In a branch: gives the name a copy of the list or dict that it holds from outside, which nobody
// else holds, to be changed there.
void own_in_branch(Context& c, Symbol name);

}  // namespace sardonyx::elaborate
