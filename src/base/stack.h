// How deep functions may still call each other.
#pragma once

#include <cstddef>

namespace sardonyx {

// Whether less than `reserve` bytes of this thread's stack are left. Functions that call themselves
// as deep as their input is nested ask, beside a limit of their own: threads have stacks of 128 KiB
// (musl), 512 KiB (macOS) or 8 MiB. False where the system does not tell.
bool is_stack_low(size_t reserve = size_t{96} << 10);

}  // namespace sardonyx
