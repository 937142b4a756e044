// What loops put into sequences that are empty before them: the type SequenceEmpty gives says
// nothing of the shapes of the tensors, and joined with it, neither would that of the loop.
#pragma once

#include "ir/ir.h"
#include "types/type.h"

namespace sardonyx::infer {

// The type of a sequence `after` that a loop body makes of its input `before`, if that is empty
// when the loop begins: what SequenceInsert puts into it, also in branches and inner loops. The
// unknown type: nothing is put into it.
Type filled_sequence(const ir::Value& after, const ir::Value& before);

// Whether it is the output of SequenceEmpty.
bool is_empty_sequence(const ir::Value* value);

}  // namespace sardonyx::infer
