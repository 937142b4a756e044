// Phases and plans under the interrupt of a run.
#pragma once

#include "base/stop.h"
#include "eval/runtime/interrupt.h"

namespace sardonyx::eval {

// What `work()` gives, a Result; it ends with the interrupt's error as soon as that says so
// (base/stop.h).
template <typename Work>
auto within(Interrupt& interrupt, const Work& work) -> decltype(work()) {
    StopScope scope([](void* data) { return static_cast<Interrupt*>(data)->poll(); }, &interrupt);
    try {
        return work();
    } catch (const Stopped&) {
        return interrupt.error();
    }
}

}  // namespace sardonyx::eval
