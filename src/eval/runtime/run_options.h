// The limits of a run, its threads, and what may end it.
#pragma once

#include <cstdint>

namespace sardonyx::eval {

class Interrupt;

struct RunOptions {
    int64_t max_steps = INT64_MAX;          // loop iterations and nodes in all; beyond: an error
    int64_t max_bytes = int64_t{16} << 30;  // of one tensor
    uint64_t seed = 0;                      // for random operators that have no `seed` attribute
    int threads = 0;                        // 0: the cores; results do not depend on it
    Interrupt* interrupt = nullptr;         // of this run alone (interrupt.h); null: none
};

}  // namespace sardonyx::eval
