// Ensembles of decision trees: one form for the three operators that have them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/kernel.h"

namespace sardonyx::eval {

// The numbers are those of TreeEnsemble's `nodes_modes`.
enum class BranchMode : uint8_t {
    kLessOrEqual,
    kLess,
    kGreaterOrEqual,
    kGreater,
    kEqual,
    kNotEqual,
    kMember,
};

// The numbers are those of TreeEnsemble's `aggregate_function`.
enum class Aggregate : uint8_t { kAverage, kSum, kMinimum, kMaximum };

struct TreeNode {
    BranchMode mode = BranchMode::kLessOrEqual;
    bool missing_is_true = false;  // where NaN goes
    int64_t feature = 0;
    double value = 0;
    std::vector<double> members;
    // Where to go: a node, or, below 0, the leaf -1 - n.
    int64_t if_true = 0;
    int64_t if_false = 0;
};

// What a leaf adds to a target.
struct LeafWeight {
    int64_t target = 0;
    double weight = 0;
};

struct Forest {
    std::vector<TreeNode> nodes;
    std::vector<std::vector<LeafWeight>> leaves;
    std::vector<int64_t> roots;  // as the branches of a node
    int64_t targets = 0;
};

// Whether every branch leads somewhere, every walk ends, and features and targets exist.
Status check_forest(const Forest& forest, int64_t features);

// The aggregate of a row per target. `is_set`: the targets that a leaf contributed to.
struct ForestScores {
    std::vector<double> values;
    std::vector<bool> is_set;
};
ForestScores evaluate(const Forest& forest, Aggregate aggregate, std::span<const double> row);

}  // namespace sardonyx::eval
