#include "eval/plan/dump.h"

#include <iterator>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "eval/plan/places.h"

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

    // What the values of the main graph take, and when that is most.
    void memory(const FramePlan& frame) {
        Peak peak = peak_of(frame);
        int64_t constants = 0;
        for (const RuntimeValue& value : frame.constants) {
            constants += value.is_tensor() ? byte_count(value.tensor()) : 0;
        }
        std::string when = peak.node != nullptr ? fmt::format(", at `{}`", peak.node->name.empty()
                                                                               ? peak.node->op_type
                                                                               : peak.node->name)
                                                : "";
        std::string more = peak.unknown == 0 ? ""
                                             : fmt::format(", and {} of unknown size",
                                                           count(peak.unknown, "value"));
        line(0, "memory: at most {} of values at one time{}{}; {} of constants",
             count(peak.bytes, "byte"), when, more, count(constants, "byte"));
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

    static int64_t byte_count(const Tensor& tensor) {
        return static_cast<int64_t>(byte_size(tensor.element_type(), tensor.count()));
    }
    // Of what the node makes; -1: the model does not say.
    static int64_t bytes_of(const NodePlan& node) {
        int64_t bytes = 0;
        for (size_t i = 0; i < node.outputs.size(); ++i) {
            bool is_there = node.node != nullptr && i < node.node->output_count();
            int64_t size = is_there ? size_of(*node.node->output(i)) : -1;
            if (size < 0 || __builtin_add_overflow(bytes, size, &bytes)) {
                return -1;
            }
        }
        return bytes;
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
        if (int64_t bytes = bytes_of(node); bytes >= 0) {
            add(count(bytes, "byte"));
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
    printer.memory(plan.main);
    for (const auto& function : plan.functions) {
        printer.function(*function);
    }
    return printer.take();
}

}  // namespace sardonyx::eval
