#include "models/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/stop.h"
#include "ir/copy.h"
#include "ir/walk.h"

namespace sardonyx::models {
namespace {

class Inliner {
  public:
    Inliner(ir::Model& model, size_t limit, std::optional<std::string_view> domain)
        : model_(model), left_(limit), domain_(domain) {}

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
        if (function != nullptr && domain_ && function->domain != *domain_) {
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
        for (size_t i = 0; i < std::min(call.output_count(), made.outputs.size()); ++i) {
            take_place(*call.output(i), *made.outputs[i]);
        }
        if (std::none_of(call.outputs().begin(), call.outputs().end(),
                         [](const ir::Value* output) { return output->has_uses(); })) {
            origins_.erase(&call);
            graph.remove(&call);
        }
        return made.nodes;
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
    std::optional<std::string_view> domain_;  // of the functions; nothing: all
    size_t serial_ = 0;
    Origins origins_;
};

}  // namespace

Origins inline_calls(ir::Model& model, size_t limit) {
    return model.graph != nullptr ? Inliner(model, limit, std::nullopt).run() : Origins();
}

Origins inline_domain(ir::Model& model, std::string_view domain, size_t limit) {
    return model.graph != nullptr ? Inliner(model, limit, domain).run() : Origins();
}

}  // namespace sardonyx::models
