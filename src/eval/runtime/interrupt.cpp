#include "eval/runtime/interrupt.h"

#include <chrono>

#include <fmt/format.h>

#if defined(__linux__)
#include <time.h>
#endif

#include "eval/runtime/helper_thread.h"

namespace sardonyx::eval {
namespace {

// The monotonic clock, to a few milliseconds where that is cheaper: a run asks after every node.
int64_t now() {
#if defined(__linux__)
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
#else
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

}  // namespace

void Interrupt::set_timeout(double seconds) {
    constexpr double kNever = 100.0 * 366 * 24 * 3600;
    seconds_ = seconds;
    if (seconds < kNever) {
        deadline_ = now() + (seconds > 0 ? static_cast<int64_t>(seconds * 1e9) : 0);
    }
}

bool Interrupt::look() {
    int64_t time = now();
    if (time >= deadline_) {
        return stop(Reason::kLate);
    }
    int64_t next = next_check_.load(std::memory_order_relaxed);
    if (check_ == nullptr || time < next || is_helper_thread()) {
        return false;
    }
    next_check_.store(time + kInterval, std::memory_order_relaxed);
    // What came before the run is the caller's: a short run costs nothing.
    return next != 0 && check_(data_) && stop(Reason::kCaller);
}

bool Interrupt::stop(Reason reason) {
    Reason none = Reason::kNone;
    reason_.compare_exchange_strong(none, reason);
    return true;
}

Error Interrupt::error() const {
    return Error{reason() == Reason::kLate
                     ? fmt::format("the run has taken longer than its timeout of {:g} s", seconds_)
                 : reason() == Reason::kCancelled ? "the run was cancelled"
                                                  : "the run was interrupted"};
}

}  // namespace sardonyx::eval
