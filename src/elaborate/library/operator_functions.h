// The module `operator`: Python's operators as functions, on whatever they are called with.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/operators/arithmetic.h"
#include "elaborate/operators/comparisons.h"
#include "elaborate/operators/operands.h"

namespace sardonyx::elaborate {

template <syntax::BinaryOp kOp>
Object operator_binary(Context& c, const Arguments& a) {
    return binary(c, kOp, {a.positional[0], a.ranges[0]}, {a.positional[1], a.ranges[1]}, a.range);
}

template <syntax::CompareOp kOp>
Object operator_compare(Context& c, const Arguments& a) {
    return compare_pair(c, kOp, {a.positional[0], a.ranges[0]}, {a.positional[1], a.ranges[1]},
                        a.range);
}

}  // namespace sardonyx::elaborate
