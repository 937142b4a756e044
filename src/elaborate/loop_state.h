// What loops have in common: the state of the activation inside them, and trials.
#pragma once

#include "elaborate/context.h"

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

// What has been done since a point, so that it can be taken back.
class Trial {
  public:
    explicit Trial(Context& c);
    void keep() { c_.at.scope->keep(); }
    void take_back();

  private:
    Context& c_;
    ir::Node* last_;
    size_t said_;
    int fresh_;
    size_t mark_;
    size_t changes_;
};

// Counts a static iteration; false past the limit, which is reported.
bool count_iteration(Context& c, syntax::Range range);

}  // namespace sardonyx::elaborate
