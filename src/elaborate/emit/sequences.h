// Lists that the graph makes: ONNX sequences, and vectors of Python's numbers.
#pragma once

#include <optional>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

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

// xs + ys of which one at least is a list of numbers that the graph makes.
Object joined_numbers(Context& c, const Object& a, const Object& b, syntax::Range range);

// The sequence of the rows of a tensor; null after a diagnostic.
ir::Value* split_rows(Context& c, ir::Value* rows, syntax::Range range);

// The tensor whose rows the sequence is, as split_rows makes it; else null.
ir::Value* stacked_rows(const ir::Value* sequence);

// The same where op.ConcatFromSequence with these attributes stacks the rows again.
ir::Value* stacked_rows(const ir::Value* sequence, const std::vector<ir::Attribute>& attributes);

}  // namespace sardonyx::elaborate
