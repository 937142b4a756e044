// Ensembles of decision trees: one form for the three operators that have them, and the one that is
// walked.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "eval/operators/kernel.h"

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

// As the attributes say it.
struct Forest {
    std::vector<TreeNode> nodes;
    std::vector<std::vector<LeafWeight>> leaves;
    std::vector<int64_t> roots;  // as the branches of a node
    int64_t targets = 0;
};

// Whether every branch leads somewhere, every walk ends, and features and targets exist.
Status check_forest(const Forest& forest, int64_t features);

// A checked forest as the walks want it: small nodes side by side. T is the type in which features
// are compared: float where features and thresholds are, which gives the same answers as double.
template <typename T>
class FlatForest {
  public:
    explicit FlatForest(const Forest& forest);

    // The aggregates of `count` rows into `scores`, [count, targets] and zero.
    void evaluate(const T* rows, int64_t count, int64_t columns, Aggregate aggregate,
                  double* scores) const;
    // Steps for a row.
    int64_t operations() const { return static_cast<int64_t>(roots_.size()) * 16; }

  private:
    struct Node {
        T value;
        uint32_t feature;  // the highest bit: NaN takes the true branch
        int32_t next[2];   // if false, if true
    };
    static constexpr uint32_t kMissingIsTrue = 1u << 31;
    static constexpr int kLanes = 8;

    template <typename RowOf, typename Decide>
    void walk(int32_t (&at)[kLanes], RowOf row_of, Decide decide) const;
    template <typename Decide, typename Add>
    void walk_all(const T* rows, int64_t count, int64_t columns, Decide decide, Add add) const;
    template <typename Add>
    void with_mode(const T* rows, int64_t count, int64_t columns, Add add) const;

    std::vector<Node> nodes_;  // at least one
    std::vector<BranchMode> modes_;
    bool is_one_mode_ = true;
    bool has_missing_ = false;
    std::vector<size_t> member_starts_;  // of each node and the end; empty: no kMember
    std::vector<T> members_;
    std::vector<int32_t> roots_;
    std::vector<size_t> leaf_starts_;  // of each leaf and the end
    std::vector<LeafWeight> weights_;
    int64_t targets_ = 0;
};

// Whether all thresholds are floats.
bool has_float_thresholds(const Forest& forest);

}  // namespace sardonyx::eval
