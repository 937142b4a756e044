// What ends a run before its end: a token that another thread or a signal handler sets, a deadline,
// or a check of the caller's, such as Python's for a pressed Ctrl-C.
//
// A run asks between its nodes, and between the tasks of a kernel (parallel.h). Once the answer is
// yes it stays so: the tasks that are left are not done, what their kernel has made is thrown away,
// and the run ends with an error. Nothing of it is kept, so that the plan can run again.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"

namespace sardonyx::eval {

// Of one run. Its sources are set before the run begins.
class Interrupt {
  public:
    // True: end the run. It is called on the thread that runs, every kInterval or so, the first
    // time after as long.
    using Check = bool (*)(void* data);
    enum class Reason : uint8_t { kNone, kCancelled, kLate, kCaller };
    static constexpr int64_t kInterval = 40'000'000;  // nanoseconds

    // The token outlives the run.
    void set_token(const std::atomic<bool>* token) { token_ = token; }
    void set_check(Check check, void* data) {
        check_ = check;
        data_ = data;
    }
    // So many seconds from now; beyond a century: never.
    void set_timeout(double seconds);

    // Whether the run shall end. For all threads that work for it.
    bool poll() {
        if (is_stopped()) [[unlikely]] {
            return true;
        }
        if (token_ != nullptr && token_->load(std::memory_order_relaxed)) [[unlikely]] {
            return stop(Reason::kCancelled);
        }
        return (check_ != nullptr || deadline_ != INT64_MAX) && look();
    }
    // Whether poll() has said yes.
    bool is_stopped() const { return reason() != Reason::kNone; }
    Reason reason() const { return reason_.load(std::memory_order_relaxed); }
    // After that: what the run ends with.
    Error error() const;

  private:
    bool look();
    bool stop(Reason reason);

    const std::atomic<bool>* token_ = nullptr;
    Check check_ = nullptr;
    void* data_ = nullptr;
    double seconds_ = 0;
    int64_t deadline_ = INT64_MAX;        // of the monotonic clock, in nanoseconds
    std::atomic<int64_t> next_check_{0};  // 0: the run has not asked yet
    std::atomic<Reason> reason_{Reason::kNone};
};

}  // namespace sardonyx::eval
