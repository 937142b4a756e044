#include "infer/opset_versions.h"

#include "base/stop.h"
#include "ops/ops.h"

namespace sardonyx::infer {

namespace {

const ir::Node* incompatible_in(const ir::Model& model, const ir::Function& function,
                                const ir::Graph& graph) {
    StopCounter stops;
    for (const ir::Node& node : graph) {
        stops.step();
        int64_t own = ir::opset_version(function.opset_imports, node.domain);
        int64_t whole = ir::opset_version(model.opset_imports, node.domain);
        if (own != whole && own != 0 && whole != 0 &&
            ops::find_schema(node.domain, node.op_type, own) !=
                ops::find_schema(node.domain, node.op_type, whole)) {
            return &node;
        }
        for (const ir::Attribute& attribute : node.attributes) {
            ir::Graph* const* inner = attribute.get<ir::Graph*>();
            const ir::Node* found =
                inner != nullptr ? incompatible_in(model, function, **inner) : nullptr;
            if (found != nullptr) {
                return found;
            }
        }
    }
    return nullptr;
}

}  // namespace

const ir::Node* incompatible_node(const ir::Model& model, const ir::Function& function) {
    return incompatible_in(model, function, *function.body);
}

}  // namespace sardonyx::infer
