// Which place of a frame each value has, and what the values of a plan take.
//
// A value has a place from the node that makes it to the one that reads it last; then the place is
// empty, and the next value that is made takes it. A chain makes and reads its values as one node
// does. What a subgraph makes lies beside all that lives around its node, and the places are free
// again behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// Gives values that are not alive at one time one slot: so far each has its own. The graphs of the
// frame are whole, with their chains, and none is differentiated, which runs nodes again.
void share_places(FramePlan& frame);

// The most that values of a frame take at one time, constants aside.
struct Peak {
    int64_t bytes = 0;
    size_t unknown = 0;              // values whose type or sizes the model does not say
    const NodePlan* node = nullptr;  // that runs then; null: the inputs alone take it
};
// Values that share their elements are counted twice, and so is what a node writes over its input:
// the run takes no more for values than this.
Peak peak_of(const FramePlan& frame);
// Bytes of the elements of a value; -1: its type does not say.
int64_t size_of(const ir::Value& value);

}  // namespace sardonyx::eval
