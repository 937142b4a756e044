#include "decompile/decompile.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/quote.h"
#include "base/stop.h"
#include "decompile/unit.h"
#include "types/domain.h"

namespace sardonyx::decompile {
namespace {

constexpr size_t kMaxNodes = 2'000'000;  // in all scripts
constexpr int kMaxCallDepth = 500;       // of functions that call each other

// The functions that a graph needs, callees first.
class Callees {
  public:
    explicit Callees(const ir::Model& model) : model_(model) {}

    Result<void> visit(const ir::Graph& graph) {
        Facts facts(model_, graph);
        return visit_all(facts);
    }
    Result<void> visit(const ir::Function& function) {
        if (done_.contains(&function)) {
            return {};
        }
        if (!open_.insert(&function).second || open_.size() > kMaxCallDepth) {
            return Error{fmt::format("the function {} calls itself", quoted(function.name))};
        }
        SDX_TRY(visit_all(Facts(model_, *function.body)));
        open_.erase(&function);
        done_.insert(&function);
        order_.push_back(&function);
        return {};
    }
    const std::vector<const ir::Function*>& order() const { return order_; }
    size_t node_count() const { return nodes_; }

  private:
    Result<void> visit_all(const Facts& facts) {
        nodes_ += facts.node_count();
        for (const ir::Function* one : facts.callees()) {
            SDX_TRY(visit(*one));
        }
        return {};
    }

    const ir::Model& model_;
    std::unordered_set<const ir::Function*> open_, done_;
    std::vector<const ir::Function*> order_;
    size_t nodes_ = 0;
};

std::string counted(size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

size_t nodes_in(const ir::Graph& graph) {
    size_t count = 0;
    for (const ir::Node& node : graph) {
        stop_point();
        ++count;
        for (const ir::Graph* one : subgraphs(node)) {
            count += nodes_in(*one);
        }
    }
    return count;
}

void append_note(std::string& text, std::string_view words) {
    text += words.empty() ? "#\n" : fmt::format("# {}\n", words);
}

// What the model says of itself, for people: the text does not depend on it. Each line is short
// words of our own and escaped ones of the model behind them.
std::string summary(const ir::Model& model, const Options& options, const Callees& callees) {
    std::string text;
    append_note(text, options.source.empty()
                          ? "Written by `sardonyx decompile`; `sardonyx build` compiles it."
                          : fmt::format("Written by `sardonyx decompile` from {}; `sardonyx build` "
                                        "compiles it.",
                                        comment_text(options.source)));
    append_note(text, "");
    if (is_library(model)) {
        append_note(text,
                    fmt::format("a library: {}", counted(callees.order().size(), "function")));
    } else {
        append_note(text,
                    fmt::format("graph {}: {}, {}, {}; {}", comment_text(quoted(model.graph->name)),
                                counted(model.graph->inputs.size(), "input"),
                                counted(model.graph->outputs.size(), "output"),
                                counted(nodes_in(*model.graph), "node"),
                                counted(callees.order().size(), "function")));
    }
    std::string opsets;
    for (const ir::OpsetImport& import : model.opset_imports) {
        opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", shown_domain(import.domain),
                              import.version);
    }
    append_note(text,
                fmt::format("opsets: {}; IR version {}", comment_text(opsets), model.ir_version));
    if (!model.producer_name.empty()) {
        append_note(
            text, fmt::format("producer: {}", comment_text(fmt::format("{} {}", model.producer_name,
                                                                       model.producer_version))));
    }
    if (!options.annotates_results) {
        append_note(text, "The types that the model states of its results contradict its nodes.");
    }
    std::string_view doc = model.doc;
    for (int line = 0; !doc.empty() && line < 20; ++line) {
        size_t end = std::min(doc.find('\n'), doc.size());
        append_note(text, comment_text(fmt::format("| {}", doc.substr(0, end))));
        doc.remove_prefix(std::min(doc.size(), end + 1));
    }
    return text;
}

// For those who call the model by names that a script cannot have.
std::string renamed_note(const Unit& unit) {
    std::string text;
    size_t count = 0;
    for (auto [of_model, of_script] : unit.renamed()) {
        if (++count > 20) {
            append_note(text, "  and others");
            break;
        }
        if (count == 1) {
            append_note(text, "inputs and outputs that have other names here than in the model:");
        }
        append_note(text, fmt::format("  {}: {}", of_script, comment_text(of_model)));
    }
    return text;
}

}  // namespace

bool is_library(const ir::Model& model) {
    return model.graph == nullptr ||
           (!model.functions.empty() && model.graph->inputs.empty() &&
            model.graph->outputs.empty() && model.graph->first_node() == nullptr);
}

Result<Script> decompile(const ir::Model& model, const Options& options) {
    Callees callees(model);
    if (!is_library(model)) {
        SDX_TRY(callees.visit(*model.graph));
    } else {
        for (const ir::Function* function : model.functions) {
            SDX_TRY(callees.visit(*function));
        }
    }
    if (callees.node_count() > kMaxNodes) {
        return Error{fmt::format("the model has more than {} nodes", kMaxNodes)};
    }
    Module module(model, options);
    for (const ir::Function* function : callees.order()) {
        module.name_function(*function);
    }
    Script script;
    std::string scripts, renamed;
    for (const ir::Function* function : callees.order()) {
        Result<std::string> text =
            Unit(module, *function->body, function, module.function_name(*function)).write();
        SDX_TRY(text);
        scripts += "\n\n" + *text;
    }
    if (!is_library(model)) {
        script.entry = module.name_entry(model.graph->name);
        Unit unit(module, *model.graph, nullptr, script.entry);
        Result<std::string> text = unit.write();
        SDX_TRY(text);
        renamed = renamed_note(unit);
        scripts += "\n\n" + *text;
    }
    Result<std::string> head = module.head();
    SDX_TRY(head);
    script.text = summary(model, options, callees) + renamed + "\n" + *head + scripts;
    script.weights = module.take_weights();
    return script;
}

}  // namespace sardonyx::decompile
