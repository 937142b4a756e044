// The one way to run a kernel: the call is checked, and nothing of a stopped run is taken for a
// result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "eval/dispatch/dispatch.h"
#include "eval/operators/check_call.h"

namespace sardonyx::eval {

// What nobody has checked before.
enum class Unchecked : uint8_t { kNothing, kCall, kCallAndAttributes };

// Runs the kernel of `entry`, which has one. Errors: those of check_call and check_attributes, of
// the kernel, and of the run's interrupt; the outputs are then worth nothing.
inline Status invoke(const OperatorEntry& entry, KernelContext& c, size_t output_count,
                     Unchecked unchecked = Unchecked::kCall) {
    if (unchecked != Unchecked::kNothing) {
        SDX_TRY(check_call(c.schema(), c.inputs(), output_count));
    }
    if (unchecked == Unchecked::kCallAndAttributes) {
        SDX_TRY(check_attributes(c.schema(), c.attributes()));
    }
    return unless_stopped(c.options(), [&] { return entry.kernel(c); });
}

}  // namespace sardonyx::eval
