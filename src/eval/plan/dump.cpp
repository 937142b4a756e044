#include "eval/plan/dump.h"

#include <iterator>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace sardonyx::eval {
namespace {

class Printer {
  public:
    void frame(std::string_view title, const FramePlan& frame) {
        line(0, "{}: {}, {}", title, count(frame.slot_count, "place"),
             count(frame.constants.size(), "constant"));
        for (size_t i = 0; i < frame.constants.size(); ++i) {
            line(1, "c{}: {}", i, frame.constants[i].describe());
        }
        graph(frame.graph, 1);
    }

    // A function after those that call it.
    void function(const FramePlan& plan) { frame(fmt::format("function {}", names_[&plan]), plan); }

    std::string take() { return std::move(text_); }

  private:
    template <typename... Args>
    void line(int depth, fmt::format_string<Args...> words, Args&&... args) {
        text_.append(2 * static_cast<size_t>(depth), ' ');
        fmt::format_to(std::back_inserter(text_), words, std::forward<Args>(args)...);
        text_ += '\n';
    }

    template <typename T>
    static std::string count(T number, std::string_view noun) {
        return fmt::format("{} {}{}", number, noun, number == T(1) ? "" : "s");
    }

    static std::string place(Operand operand) {
        return operand == kNoOperand ? "_"
               : operand >= 0        ? fmt::format("s{}", operand)
                                     : fmt::format("c{}", -1 - static_cast<int64_t>(operand));
    }
    static std::string places(const std::vector<Operand>& operands) {
        std::string text;
        for (Operand operand : operands) {
            text += text.empty() ? "" : ", ";
            text += place(operand);
        }
        return text;
    }

    void graph(const GraphPlan& graph, int depth) {
        if (!graph.inputs.empty()) {
            line(depth, "inputs {}", places(graph.inputs));
        }
        auto chain = graph.chains.begin();
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            while (chain != graph.chains.end() && chain->first + chain->steps.size() <= i) {
                ++chain;
            }
            bool is_chained = chain != graph.chains.end() && chain->first <= i;
            node(graph.nodes[i], depth, is_chained ? "| " : "");
        }
        line(depth, "outputs {}", places(graph.outputs));
    }

    // What is special about the run of a node.
    std::string notes(const NodePlan& node) const {
        std::string text;
        auto add = [&text](std::string note) {
            text += text.empty() ? "  # " : ", ";
            text += note;
        };
        if (!node.name.empty()) {
            add(fmt::format("`{}`", node.name));
        }
        if (node.is_idle) {
            add("for observers alone");
        }
        if (!node.channels_last.is_empty()) {
            add("channels last");
        }
        if (!node.releases.empty()) {
            add(fmt::format("frees {}", places(node.releases)));
        }
        return text;
    }

    void node(const NodePlan& node, int depth, std::string_view bar) {
        std::string name = node.domain.empty() ? std::string(node.op_type)
                                               : fmt::format("{}::{}", node.domain, node.op_type);
        if (node.function != nullptr && !node.function->overload.empty()) {
            name += fmt::format(":{}", node.function->overload);
        }
        if (node.callee != nullptr) {
            names_.emplace(node.callee, name);
        }
        line(depth, "{}{} = {}({}){}", bar, places(node.outputs), name, places(node.inputs),
             notes(node));
        for (const auto& [attribute, subgraph] : node.subgraphs) {
            line(depth + 1, "{}:", attribute);
            graph(*subgraph, depth + 2);
        }
    }

    std::unordered_map<const FramePlan*, std::string> names_;  // of functions, by their callers
    std::string text_;
};

}  // namespace

std::string dump(const Plan& plan) {
    Printer printer;
    printer.frame("main", plan.main);
    for (const auto& function : plan.functions) {
        printer.function(*function);
    }
    return printer.take();
}

}  // namespace sardonyx::eval
