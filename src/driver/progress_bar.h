// A bar on standard error, which says how much of something long is done. Only on terminals.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>

namespace sardonyx::driver {

class ProgressBar {
  public:
    // `delay`: how long nothing is shown.
    explicit ProgressBar(bool is_quiet, std::chrono::milliseconds delay);
    ~ProgressBar();  // takes the bar away
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    // Whether it is time to show(): now and then.
    bool is_due() const { return is_shown_ && Clock::now() >= next_; }
    void show(double part, std::string_view words);
    void finish();
    double seconds() const;

  private:
    using Clock = std::chrono::steady_clock;
    bool is_shown_;  // at all
    bool is_drawn_ = false;
    Clock::time_point start_;
    Clock::time_point next_;
};

// The bar of a file that is written, from 1 GB on.
class SavingBar {
  public:
    explicit SavingBar(bool is_quiet) : bar_(is_quiet, {}) {}
    // What SaveOptions::watch takes; it refers to this.
    std::function<void(size_t done, size_t all)> watch() {
        return [this](size_t done, size_t all) { show(done, all); };
    }

  private:
    void show(size_t done, size_t all);

    ProgressBar bar_;
};

}  // namespace sardonyx::driver
