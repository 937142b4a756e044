#include "driver/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/descriptor.h"

namespace sardonyx::driver {
namespace {

// Replaces the line; empty: takes it away.
void write_line(std::string_view line) {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        line = line.substr(0, size.ws_col - 1U);
    }
    (void)write_bytes(STDERR_FILENO, fmt::format("\r{}\x1b[K", line));
}

}  // namespace

ProgressBar::ProgressBar(bool is_quiet, std::chrono::milliseconds delay)
    : is_shown_(!is_quiet && ::isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      next_(start_ + delay) {}

ProgressBar::~ProgressBar() {
    finish();
}

double ProgressBar::seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ProgressBar::show(double part, std::string_view words) {
    constexpr int kWidth = 30;
    next_ = Clock::now() + std::chrono::milliseconds(100);
    is_drawn_ = true;
    int filled = static_cast<int>(std::floor(std::clamp(part, 0.0, 1.0) * kWidth));
    write_line(fmt::format("[{:#<{}}{: <{}}] {}", "", filled, "", kWidth - filled, words));
}

void ProgressBar::finish() {
    if (is_drawn_) {
        write_line({});
    }
    is_drawn_ = false;
}

void SavingBar::show(size_t done, size_t all) {
    constexpr size_t kSmallest = 1'000'000'000;
    constexpr double kGigabyte = 1e9;
    if (all < kSmallest || !bar_.is_due()) {
        return;
    }
    double written = static_cast<double>(done), size = static_cast<double>(all);
    bar_.show(written / size, fmt::format("{:.1f} of {:.1f} GB, {:.0f} s", written / kGigabyte,
                                          size / kGigabyte, bar_.seconds()));
}

}  // namespace sardonyx::driver
