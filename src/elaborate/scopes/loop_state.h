// What loops have in common: the state of the activation inside them, and their count.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The state of the activation that a loop changes, put back when it ends.
class LoopState {
  public:
    LoopState(Context& c, syntax::Range statement);
    ~LoopState();
    LoopState(const LoopState&) = delete;
    LoopState& operator=(const LoopState&) = delete;

    void clear_flags();

  private:
    Context& c_;
    int before_loops_;
    uint32_t before_begin_, before_end_;
};

// Counts a static iteration; false past the limit, which is reported.
bool count_iteration(Context& c, syntax::Range range);

}  // namespace sardonyx::elaborate
