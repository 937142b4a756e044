// Lists that change where the graph decides: in its loops they are ONNX sequences; each branch of
// an `if` changes a copy of its own, and the If joins the copies.
#pragma once

#include <vector>

#include "elaborate/context.h"

namespace sardonyx::elaborate {

// The names whose list a block makes longer: by append or extend, by += or by x = x + [...].
std::vector<Symbol> grown_names(const Context& c, syntax::Stmts statements);

bool is_sequence_value(const Object& object);

// Whether the graph can hold the list as a vector: it is empty, or its items are Python's numbers.
bool may_be_numbers(const Object& object);
// Whether it is an empty list in the graph, of which nothing says yet what its items are.
bool is_open_list(const Object& object);
// The element type of all of its items; kUndefined: it is empty. Nothing: they are not of one, as
// an int and a float are not.
std::optional<ElementType> type_of_numbers(const Object& object);

// The list, a sequence or one of numbers, with one more item; the error object after a diagnostic.
Object insert_item(Context& c, const Object& sequence, const Object& item, syntax::Range range);
// With all items of a static list.
Object insert_items(Context& c, Object sequence, const Object& list, syntax::Range range);

// x.append(item) or x.extend(list) on a name that holds such a list: the name is bound anew. False:
// it is something else.
bool exec_growth(Context& c, const syntax::Expr* expr);
// The same for x += list.
bool exec_growth(Context& c, const syntax::NameExpr* name, const Object& list, const Object& more,
                 syntax::Range range);
// xs + ys of which one at least is a list of numbers that the graph makes.
Object joined_numbers(Context& c, const Object& a, const Object& b, syntax::Range range);

// Notes that a list or dict has been made in the current graph.
void claim(Context& c, const Object& object);
// Whether it may be changed in the current graph: what a branch or loop changes must be its own.
bool is_owned(const Context& c, const Object& object);
// In a branch: gives the name a copy of the list or dict that it holds from outside, which nobody
// else holds, to be changed there.
void own_in_branch(Context& c, Symbol name);
// Whether something else than one name holds a list or dict.
bool is_shared(const Context& c, const Object& object);

// The rows that a sequence has been split into, when they are all of it and op.ConcatFromSequence
// with these attributes stacks them again; else null.
ir::Value* stacked_rows(const ir::Value* sequence, const std::vector<ir::Attribute>& attributes);

}  // namespace sardonyx::elaborate
