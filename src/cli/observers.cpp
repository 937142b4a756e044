#include "cli/observers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"
#include "diagnostics/glyphs.h"
#include "models/statistics.h"

namespace sardonyx::cli {
namespace {

std::string operator_of(const ir::Node& node) {
    return diagnostics::visible(node.domain.empty()
                                    ? std::string(node.op_type)
                                    : fmt::format("{}.{}", node.domain, node.op_type));
}

}  // namespace

std::string place_of(const ir::Node& node, const diagnostics::Sources* sources) {
    if (sources == nullptr || !node.span.valid()) {
        return {};
    }
    return fmt::format("{}:{}", diagnostics::visible(sources->path(node.span.file)),
                       sources->position(node.span.file, node.span.begin).line);
}

std::string describe_node(const ir::Node& node) {
    return node.name.empty() ? fmt::format("`{}`", operator_of(node))
                             : fmt::format("node `{}` (`{}`)", diagnostics::visible(node.name),
                                           operator_of(node));
}

bool Observers::wants_values() const {
    return std::any_of(observers_.begin(), observers_.end(),
                       [](const eval::RunObserver* one) { return one->wants_values(); });
}

void Observers::node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                          int depth) {
    for (eval::RunObserver* observer : observers_) {
        observer->node_done(node, outputs, depth);
    }
}

void Observers::node_failed(const ir::Node& node) {
    if (failed_at_.empty()) {
        failed_at_ = place_of(node, sources_);
    }
}

void Trace::node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const> outputs,
                      int depth) {
    std::string place = place_of(node, sources_);
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (node.output(i)->name.empty()) {
            continue;
        }
        std::string line(static_cast<size_t>(2 * (depth - 1)), ' ');
        line += fmt::format("{}: {}", diagnostics::visible(node.output(i)->name),
                            outputs[i]->describe());
        for (const std::string& part :
             {outputs[i]->is_tensor() ? models::statistics_text(outputs[i]->tensor())
                                      : std::string(),
              operator_of(node), place}) {
            line += part.empty() ? "" : "  " + part;
        }
        print(line + "\n");
    }
}

Progress::Progress(int64_t node_count)
    : is_shown_(::isatty(STDERR_FILENO) != 0),
      node_count_(node_count),
      start_(Clock::now()),
      next_(start_ + std::chrono::seconds(1)) {}

void Progress::finish() {
    if (is_drawn_) {
        print_status({});
    }
    is_drawn_ = false;
}

void Progress::node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const>,
                         int depth) {
    constexpr int kWidth = 30;
    done_ += depth == 1 ? 1 : 0;
    if (!is_shown_ || Clock::now() < next_) {
        return;
    }
    next_ = Clock::now() + std::chrono::milliseconds(100);
    is_drawn_ = true;
    int64_t filled = node_count_ == 0 ? 0 : std::min<int64_t>(kWidth, done_ * kWidth / node_count_);
    double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    print_status(fmt::format("[{}{}] {} of {} nodes, {:.0f} s, {}", std::string(filled, '#'),
                             std::string(kWidth - filled, ' '), done_, node_count_, seconds,
                             operator_of(node)));
}

}  // namespace sardonyx::cli
