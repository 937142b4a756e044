#include "models/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "ir/copy.h"
#include "ir/walk.h"

namespace sardonyx::models {
namespace {

// Which calls become the nodes of their functions.
using Choice = std::function<bool(const ir::Node& call, const ir::Function& function)>;

bool gives_all(const ir::Node& call, const ir::Function& function) {
    for (size_t i = 0; i < function.body->inputs.size(); ++i) {
        if (call.input(i) == nullptr) {
            return false;
        }
    }
    return std::all_of(function.attributes.begin(), function.attributes.end(),
                       [&](std::string_view name) { return call.find_attribute(name) != nullptr; });
}

// Calls that leave something out, and calls of functions that have such calls. Chains of calls may
// be long: functions are marked from callee to caller, without recursion.
class IncompleteCalls {
  public:
    explicit IncompleteCalls(const ir::Model& model) : model_(model) {
        std::unordered_map<const ir::Function*, std::vector<const ir::Function*>> callers;
        std::vector<const ir::Function*> waiting;
        for (const ir::Function* caller : model.functions) {
            for_each_call(*caller->body, [&](const ir::Node& call, const ir::Function& callee) {
                callers[&callee].push_back(caller);
                if (!gives_all(call, callee) && functions_.insert(caller).second) {
                    waiting.push_back(caller);
                }
            });
        }
        while (!waiting.empty()) {
            const ir::Function* callee = waiting.back();
            waiting.pop_back();
            for (const ir::Function* caller : callers[callee]) {
                if (functions_.insert(caller).second) {
                    waiting.push_back(caller);
                }
            }
        }
    }

    bool has(const ir::Node& call, const ir::Function& function) const {
        return !gives_all(call, function) || functions_.contains(&function);
    }
    bool has_in(const ir::Graph& graph) const {
        bool found = false;
        for_each_call(graph, [&](const ir::Node& call, const ir::Function& function) {
            found = found || has(call, function);
        });
        return found;
    }

  private:
    template <typename Visit>
    void for_each_call(const ir::Graph& graph, const Visit& visit) const {
        ir::for_each_node(graph, [&](const ir::Node& node) {
            stop_point();
            if (const ir::Function* function =
                    model_.find_function(node.domain, node.op_type, node.overload)) {
                visit(node, *function);
            }
        });
    }

    const ir::Model& model_;
    std::unordered_set<const ir::Function*> functions_;  // that have such calls
};

class Inliner {
  public:
    Inliner(ir::Model& model, size_t limit, Choice is_chosen)
        : model_(model), left_(limit), is_chosen_(std::move(is_chosen)) {}

    Origins run() {
        size_t number = 0;
        std::vector<ir::Node*> nodes;
        for (ir::Node& node : *model_.graph) {
            nodes.push_back(&node);
        }
        for (ir::Node* node : nodes) {
            origins_[node] = number;
            expand(*node, number++, 0);
        }
        return std::move(origins_);
    }

  private:
    static constexpr int kDeepest = 100;

    void expand(ir::Node& node, size_t number, int depth) {
        stop_point();
        const ir::Function* function =
            model_.find_function(node.domain, node.op_type, node.overload);
        if (function != nullptr && !is_chosen_(node, *function)) {
            return;
        }
        if (depth > kDeepest || (function != nullptr && !takes(*function))) {
            return;
        }
        if (function != nullptr) {
            for (ir::Node* inner : replace(node, *function)) {
                if (inner->graph() == model_.graph) {
                    origins_[inner] = number;
                }
                expand(*inner, number, depth + 1);
            }
            return;
        }
        ir::for_each_subgraph(node, [&](ir::Graph& graph) {
            std::vector<ir::Node*> inside;
            for (ir::Node& inner : graph) {
                inside.push_back(&inner);
            }
            for (ir::Node* inner : inside) {
                expand(*inner, number, depth + 1);
            }
        });
    }

    bool takes(const ir::Function& function) {
        size_t count = 0;
        for ([[maybe_unused]] const ir::Node& node : *function.body) {
            ++count;
        }
        bool fits = count <= left_;
        left_ -= fits ? count : left_;
        return fits;
    }

    std::vector<ir::Node*> replace(ir::Node& call, const ir::Function& function) {
        ir::Graph& graph = *call.graph();
        size_t serial = serial_++;
        ir::Spliced made = ir::expand(model_, call, function, [serial](std::string_view name) {
            return fmt::format("{}.{}", serial, name);
        });
        std::unordered_set<const ir::Value*> taken;
        bool is_replaced = true;
        for (size_t i = 0; i < std::min(call.output_count(), made.outputs.size()); ++i) {
            ir::Value* result = own_result(call, made, i, taken);
            is_replaced = is_replaced && result != nullptr;
            if (result != nullptr) {
                take_place(*call.output(i), *result);
            }
        }
        if (is_replaced &&
            std::none_of(call.outputs().begin(), call.outputs().end(),
                         [](const ir::Value* output) { return output->has_uses(); })) {
            origins_.erase(&call);
            graph.remove(&call);
        }
        return made.nodes;
    }

    // The result of the new nodes that gets the name of output i. An input that the function gives
    // back keeps its own name, so it is copied; null: it was left out, or no node can copy it.
    ir::Value* own_result(ir::Node& call, ir::Spliced& made, size_t i,
                          std::unordered_set<const ir::Value*>& taken) {
        ir::Value* result = made.outputs[i];
        bool is_own = result != nullptr && result->producer() != nullptr &&
                      std::count(made.nodes.begin(), made.nodes.end(), result->producer()) > 0;
        if (is_own && taken.insert(result).second) {
            return result;
        }
        if (result == nullptr || model_.opset_version("") == 0) {
            return nullptr;
        }
        ir::Value* const inputs[] = {result};
        ir::Node* copy = model_.make_node("", "Identity", inputs, size_t{1});
        copy->output()->type = result->type;
        call.graph()->insert(copy, &call);
        made.nodes.push_back(copy);
        return copy->output();
    }

    void take_place(ir::Value& old, ir::Value& made) {
        old.replace_uses_with(&made);
        for (ir::Graph* graph = old.graph(); graph != nullptr; graph = graph->parent()) {
            std::replace(graph->outputs.begin(), graph->outputs.end(), &old, &made);
        }
        made.name = old.name.empty() ? made.name : old.name;
        if (!made.type.is_known()) {
            made.type = old.type;
        }
    }

    ir::Model& model_;
    size_t left_;
    Choice is_chosen_;
    size_t serial_ = 0;
    Origins origins_;
};

}  // namespace

Origins inline_calls(ir::Model& model, size_t limit) {
    auto all = [](const ir::Node&, const ir::Function&) { return true; };
    return model.graph != nullptr ? Inliner(model, limit, all).run() : Origins();
}

Origins inline_domain(ir::Model& model, std::string_view domain, size_t limit) {
    auto is_in_domain = [domain](const ir::Node&, const ir::Function& function) {
        return function.domain == domain;
    };
    return model.graph != nullptr ? Inliner(model, limit, is_in_domain).run() : Origins();
}

Origins inline_incomplete_calls(ir::Model& model, size_t limit) {
    IncompleteCalls calls(model);
    auto is_incomplete = [&calls](const ir::Node& call, const ir::Function& function) {
        return calls.has(call, function);
    };
    return model.graph != nullptr ? Inliner(model, limit, is_incomplete).run() : Origins();
}

bool has_incomplete_calls(const ir::Model& model) {
    return model.graph != nullptr && IncompleteCalls(model).has_in(*model.graph);
}

}  // namespace sardonyx::models
