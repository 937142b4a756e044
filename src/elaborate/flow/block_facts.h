// What a block does, by its text alone: jumps, names that it binds and reads.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "elaborate/flow/text_facts.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// What a block does, by its text alone (block_facts.cpp).
bool always_jumps(
    syntax::Stmts statements);  // ends in break, continue, return or raise on every path

bool may_return(syntax::Stmts statements);

// Whether the function with this body is a generator: it has a `yield` of its own.
bool is_generator(Context& c, syntax::Stmts body);

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

// Whether the body of a plain or nested function binds the name, which is then its own everywhere.
bool is_own_name(Context& c, syntax::Stmts body, Symbol name);

// Whether a name is read after `offset`, or anywhere in the loop (if any) that is running around
// it.
bool is_live(Context& c, Symbol name, uint32_t offset);

}  // namespace sardonyx::elaborate
