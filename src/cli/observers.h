// What `sardonyx run` shows while a model runs: the trace of its values and a progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnostics/source.h"
#include "driver/progress_bar.h"
#include "eval/run/observer.h"

namespace sardonyx::cli {

// Several observers as one; it keeps the place where the run has failed.
class Observers final : public eval::RunObserver {
  public:
    // `sources` may be null; it must outlive this.
    explicit Observers(const diagnostics::Sources* sources) : sources_(sources) {}
    void add(eval::RunObserver* observer) { observers_.push_back(observer); }
    // "gelu.py:5" of the innermost node that failed and is from a script; else empty.
    const std::string& failed_at() const { return failed_at_; }
    bool wants_values() const override;
    void node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                   int depth) override;
    void node_failed(const ir::Node& node) override;

  private:
    const diagnostics::Sources* sources_;
    std::string failed_at_;
    std::vector<eval::RunObserver*> observers_;
};

// Prints each value as it is made: name, type and shape, range, how many NaN and infinities, the
// operator, and the line of the script. Nothing is kept.
class Trace final : public eval::RunObserver {
  public:
    // `sources` may be null; it must outlive the trace.
    explicit Trace(const diagnostics::Sources* sources) : sources_(sources) {}
    void node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                   int depth) override;

  private:
    const diagnostics::Sources* sources_;
};

// A bar on standard error for runs that take longer than a second; nothing where that is no
// terminal.
class Progress final : public eval::RunObserver {
  public:
    // `node_count`: of the main graph.
    explicit Progress(int64_t node_count)
        : bar_(false, std::chrono::seconds(1)), node_count_(node_count) {}
    // Takes the bar away.
    void finish() { bar_.finish(); }
    bool wants_values() const override { return false; }
    void node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                   int depth) override;

  private:
    driver::ProgressBar bar_;
    int64_t node_count_;
    int64_t done_ = 0;
};

// "gelu.py:5", or nothing where the node is not from a script.
std::string place_of(const ir::Node& node, const diagnostics::Sources* sources);
// "node `n3` (`Mul`)" or "`Mul`".
std::string describe_node(const ir::Node& node);

}  // namespace sardonyx::cli
