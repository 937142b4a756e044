#include "eval/kernels/ml/ml_trees.h"

#include <algorithm>

#include <fmt/format.h>

namespace sardonyx::eval {
namespace {

// Walks from every root, each node once: a branch back to a node of the walk is a cycle.
Status check_walks(const Forest& forest) {
    enum class Mark : uint8_t { kNew, kOpen, kDone };
    std::vector<Mark> marks(forest.nodes.size(), Mark::kNew);
    std::vector<int64_t> stack;
    for (int64_t root : forest.roots) {
        if (root >= 0) {
            stack.push_back(root);
        }
        while (!stack.empty()) {
            int64_t at = stack.back();
            if (marks[at] != Mark::kNew) {
                marks[at] = Mark::kDone;
                stack.pop_back();
                continue;
            }
            marks[at] = Mark::kOpen;
            for (int64_t next : {forest.nodes[at].if_true, forest.nodes[at].if_false}) {
                if (next >= 0 && marks[next] == Mark::kOpen) {
                    return Error{fmt::format("node {} of a tree leads back to node {}", at, next)};
                }
                if (next >= 0 && marks[next] == Mark::kNew) {
                    stack.push_back(next);
                }
            }
        }
    }
    return {};
}

}  // namespace

Status check_forest(const Forest& forest, int64_t features) {
    auto nodes = static_cast<int64_t>(forest.nodes.size());
    auto leaves = static_cast<int64_t>(forest.leaves.size());
    if (nodes > INT32_MAX || leaves > INT32_MAX) {
        return Error{fmt::format("{} nodes and {} leaves are too many", nodes, leaves)};
    }
    features = std::min<int64_t>(features, INT32_MAX);
    auto exists = [&](int64_t branch) { return branch >= -leaves && branch < nodes; };
    for (int64_t i = 0; i < nodes; ++i) {
        const TreeNode& node = forest.nodes[i];
        if (!exists(node.if_true) || !exists(node.if_false) || node.feature < 0 ||
            node.feature >= features) {
            return Error{
                fmt::format("node {} of a tree asks for feature {} of {}, or leads to a "
                            "node or leaf that does not exist",
                            i, node.feature, features)};
        }
    }
    if (!std::all_of(forest.roots.begin(), forest.roots.end(), exists)) {
        return Error{"a tree has no root"};
    }
    for (const std::vector<LeafWeight>& leaf : forest.leaves) {
        for (const LeafWeight& item : leaf) {
            if (item.target < 0 || item.target >= forest.targets) {
                return Error{
                    fmt::format("a leaf is of target {} of {}", item.target, forest.targets)};
            }
        }
    }
    return check_walks(forest);
}

}  // namespace sardonyx::eval
