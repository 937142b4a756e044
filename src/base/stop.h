// What ends long work before its end: the question that phases ask while they work.
//
// Who answers it is of the surface: it knows of Ctrl-C, times and tokens
// (eval/runtime/interrupt.h), and sets the answer for the thread that works. Phases ask at each
// statement, node, tensor and the like. One that is told to end ends at once, wherever it is: as
// memory that runs out, that is an exception, which only the surface catches, and which leaves
// nothing of the work behind. Kernels ask by themselves (eval/runtime/parallel.h), because several
// threads work there.
#pragma once

#include <cstdint>

namespace sardonyx {

// Work that was ended. It is no std::exception, so that nobody takes it for a failure.
struct Stopped {};

// While one lives, the functions below ask `should_stop(data)` on this thread, and no one before.
class StopScope {
  public:
    using Question = bool (*)(void* data);
    StopScope(Question should_stop, void* data);
    ~StopScope();
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;

  private:
    Question before_;
    void* data_before_;
};

// Whether the work of this thread shall end. Once it is so, it stays so.
bool should_stop();
// Throws Stopped if so; cheap enough for each node.
void stop_point();

// The same for steps of less than a microsecond, which their caller counts: the question looks at
// the clock, and is asked at some of them.
inline void stop_point_at(int64_t step) {
    constexpr int64_t kApart = 32;
    if (step % kApart == 0) [[unlikely]] {
        stop_point();
    }
}

// Counts the steps of one loop.
class StopCounter {
  public:
    void step() { stop_point_at(++steps_); }

  private:
    int64_t steps_ = 0;
};

}  // namespace sardonyx
