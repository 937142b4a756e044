// How native work is ended early from Python: by signals, a timeout, or a CancelToken.
#pragma once

#include <optional>

#include "base/stop.h"
#include "bindings/bindings.h"
#include "eval/runtime/interrupt.h"

namespace sardonyx::python {

// Of one run, or of other work that takes its time. Work on the main thread, where Python handles
// signals, is asked to end when a handler raises, as that of Ctrl-C does.
class RunInterrupt {
  public:
    RunInterrupt();
    RunInterrupt(const RunInterrupt&) = delete;
    RunInterrupt& operator=(const RunInterrupt&) = delete;

    // `timeout`: seconds, or None. `cancel`: a CancelToken that outlives the run, or None.
    void set_limits(nb::handle timeout, nb::handle cancel);
    eval::Interrupt* get() { return &interrupt_; }
    // Raises the reason why the run ended: the handler's exception, TimeoutError, or
    // CancelledError.
    [[noreturn]] void raise_if_stopped();

  private:
    static bool check_signals(void* self);

    eval::Interrupt interrupt_;
    std::optional<nb::python_error> raised_;  // by a handler
};

// The result of a run, or the exception that ended it.
template <typename T>
T unwrap(RunInterrupt& interrupt, Result<T>&& result) {
    if (interrupt.get()->is_stopped()) {
        interrupt.raise_if_stopped();
    }
    return unwrap(std::move(result));
}

// The result of `work()`, or the exception that ended it: phases check regularly (base/stop.h).
template <typename Work>
auto stoppable(RunInterrupt& interrupt, const Work& work) -> decltype(work()) {
    StopScope scope([](void* data) { return static_cast<eval::Interrupt*>(data)->poll(); },
                    interrupt.get());
    try {
        return work();
    } catch (const Stopped&) {
        interrupt.raise_if_stopped();
    }
}
template <typename Work>
auto stoppable(const Work& work) -> decltype(work()) {
    RunInterrupt interrupt;
    return stoppable(interrupt, work);
}

}  // namespace sardonyx::python
