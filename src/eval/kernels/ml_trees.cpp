#include "eval/kernels/ml_trees.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sardonyx::eval {
namespace {

bool takes_true_branch(const TreeNode& node, double x) {
    if (std::isnan(x) && node.missing_is_true) {
        return true;
    }
    switch (node.mode) {
        case BranchMode::kLessOrEqual:
            return x <= node.value;
        case BranchMode::kLess:
            return x < node.value;
        case BranchMode::kGreaterOrEqual:
            return x >= node.value;
        case BranchMode::kGreater:
            return x > node.value;
        case BranchMode::kEqual:
            return x == node.value;
        case BranchMode::kNotEqual:
            return x != node.value;
        case BranchMode::kMember:
            return std::find(node.members.begin(), node.members.end(), x) != node.members.end();
    }
    return false;
}

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

ForestScores evaluate(const Forest& forest, Aggregate aggregate, std::span<const double> row) {
    ForestScores scores{std::vector<double>(forest.targets), std::vector<bool>(forest.targets)};
    for (int64_t branch : forest.roots) {
        while (branch >= 0) {
            const TreeNode& node = forest.nodes[branch];
            branch = takes_true_branch(node, row[node.feature]) ? node.if_true : node.if_false;
        }
        for (const LeafWeight& item : forest.leaves[-1 - branch]) {
            double& value = scores.values[item.target];
            bool is_first = !scores.is_set[item.target];
            if (aggregate == Aggregate::kMinimum) {
                value = is_first ? item.weight : std::min(value, item.weight);
            } else if (aggregate == Aggregate::kMaximum) {
                value = is_first ? item.weight : std::max(value, item.weight);
            } else {
                value += item.weight;
            }
            scores.is_set[item.target] = true;
        }
    }
    if (aggregate == Aggregate::kAverage && !forest.roots.empty()) {
        for (double& value : scores.values) {
            value /= static_cast<double>(forest.roots.size());
        }
    }
    return scores;
}

}  // namespace sardonyx::eval
