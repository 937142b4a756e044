#include "cli/observers.h"

#include <fmt/format.h>

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

void Progress::node_done(const ir::Node& node, std::span<const eval::RuntimeValue* const>,
                         int depth) {
    done_ += depth == 1 ? 1 : 0;
    if (bar_.is_due()) {
        double part =
            node_count_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(node_count_);
        bar_.show(part, fmt::format("{} of {} nodes, {:.0f} s, {}", done_, node_count_,
                                    bar_.seconds(), operator_of(node)));
    }
}

}  // namespace sardonyx::cli
