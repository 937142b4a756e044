// Walks of decision trees. A walk is a chain of loads that wait for each other, so eight walks are
// made side by side, without branches but that of the loop: those of a row through eight trees, and
// the rows of a batch one after the other through the same trees, which then stay in the cache; or,
// where fewer trees are left, those of eight rows through one tree. Each sum keeps the order of the
// trees.
#include <algorithm>
#include <cmath>

#include "eval/kernels/ml/ml_trees.h"

namespace sardonyx::eval {
namespace {

template <typename T>
[[gnu::always_inline]] inline bool holds(BranchMode mode, T x, T value) {
    switch (mode) {
        case BranchMode::kLessOrEqual:
            return x <= value;
        case BranchMode::kLess:
            return x < value;
        case BranchMode::kGreaterOrEqual:
            return x >= value;
        case BranchMode::kGreater:
            return x > value;
        case BranchMode::kEqual:
            return x == value;
        case BranchMode::kNotEqual:
            return x != value;
        case BranchMode::kMember:
            return false;
    }
    return false;
}

bool is_float(double value) {
    return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace

bool has_float_thresholds(const Forest& forest) {
    return std::all_of(forest.nodes.begin(), forest.nodes.end(), [](const TreeNode& node) {
        return is_float(node.value) &&
               std::all_of(node.members.begin(), node.members.end(), is_float);
    });
}

template <typename T>
FlatForest<T>::FlatForest(const Forest& forest) : targets_(forest.targets) {
    bool has_members = false;
    for (const TreeNode& node : forest.nodes) {
        uint32_t missing = node.missing_is_true ? kMissingIsTrue : 0;
        nodes_.push_back(
            {static_cast<T>(node.value),
             static_cast<uint32_t>(node.feature) | missing,
             {static_cast<int32_t>(node.if_false), static_cast<int32_t>(node.if_true)}});
        modes_.push_back(node.mode);
        is_one_mode_ = is_one_mode_ && node.mode == modes_[0];
        has_missing_ = has_missing_ || node.missing_is_true;
        has_members = has_members || node.mode == BranchMode::kMember;
        member_starts_.push_back(members_.size());
        members_.insert(members_.end(), node.members.begin(), node.members.end());
    }
    member_starts_.push_back(members_.size());
    if (!has_members) {
        member_starts_.clear();
    }
    if (nodes_.empty()) {
        nodes_.emplace_back();  // what a lane reads that has come to a leaf
    }
    roots_.assign(forest.roots.begin(), forest.roots.end());
    for (const std::vector<LeafWeight>& leaf : forest.leaves) {
        leaf_starts_.push_back(weights_.size());
        weights_.insert(weights_.end(), leaf.begin(), leaf.end());
    }
    leaf_starts_.push_back(weights_.size());
}

// Walks on from the nodes `at` until all of them are leaves; walk k is that of row_of(k).
template <typename T>
template <typename RowOf, typename Decide>
[[gnu::always_inline]] inline void FlatForest<T>::walk(int32_t (&at)[kLanes], RowOf row_of,
                                                       Decide decide) const {
    const Node* nodes = nodes_.data();
    for (bool is_walking = true; is_walking;) {
        int32_t all = -1;  // its sign: whether all walks have come to a leaf
        for (size_t k = 0; k < kLanes; ++k) {
            int32_t place = at[k];
            const Node& node = nodes[place < 0 ? 0 : place];
            int32_t next = node.next[decide(node, row_of(k)[node.feature & ~kMissingIsTrue])];
            at[k] = place < 0 ? place : next;
            all &= at[k];
        }
        is_walking = all >= 0;
    }
}

// Calls add(row, leaf) for each row and tree.
template <typename T>
template <typename Decide, typename Add>
void FlatForest<T>::walk_all(const T* rows, int64_t count, int64_t columns, Decide decide,
                             Add add) const {
    const T zero = 0;  // of a row without features: then there are leaves alone
    auto row_at = [&](int64_t i) { return columns == 0 ? &zero : rows + i * columns; };
    // The trees that are left over when eight are taken at a time, unless there are fewer rows.
    size_t left_over = count < kLanes ? 0 : roots_.size() % kLanes;
    size_t grouped = roots_.size() - left_over;
    for (size_t tree = 0; tree < grouped; tree += kLanes) {
        int32_t roots[kLanes];
        size_t lanes = std::min<size_t>(kLanes, roots_.size() - tree);
        for (size_t k = 0; k < kLanes; ++k) {
            roots[k] = k < lanes ? roots_[tree + k] : -1;
        }
        for (int64_t i = 0; i < count; ++i) {
            const T* row = row_at(i);
            int32_t at[kLanes];
            std::copy(std::begin(roots), std::end(roots), at);
            walk(
                at, [&](size_t) { return row; }, decide);
            for (size_t k = 0; k < lanes; ++k) {
                add(i, -1 - static_cast<int64_t>(at[k]));
            }
        }
    }
    for (size_t tree = grouped; tree < roots_.size(); ++tree) {
        for (int64_t i = 0; i < count; i += kLanes) {
            size_t lanes = std::min<size_t>(kLanes, count - i);
            const T* given[kLanes];
            int32_t at[kLanes];
            for (size_t k = 0; k < kLanes; ++k) {
                given[k] = row_at(k < lanes ? i + static_cast<int64_t>(k) : i);
                at[k] = k < lanes ? roots_[tree] : -1;
            }
            walk(
                at, [&](size_t k) { return given[k]; }, decide);
            for (size_t k = 0; k < lanes; ++k) {
                add(i + static_cast<int64_t>(k), -1 - static_cast<int64_t>(at[k]));
            }
        }
    }
}

template <typename T>
template <typename Add>
void FlatForest<T>::with_mode(const T* rows, int64_t count, int64_t columns, Add add) const {
    auto walk = [&]<BranchMode kMode>() {
        if (has_missing_) {
            walk_all(
                rows, count, columns,
                [](const Node& node, T x) {
                    return holds(kMode, x, node.value) ||
                           (std::isnan(x) && (node.feature & kMissingIsTrue) != 0);
                },
                add);
            return;
        }
        walk_all(
            rows, count, columns, [](const Node& node, T x) { return holds(kMode, x, node.value); },
            add);
    };
    BranchMode mode = modes_.empty() ? BranchMode::kLessOrEqual : modes_[0];
    if (is_one_mode_ && mode == BranchMode::kLessOrEqual) {
        return walk.template operator()<BranchMode::kLessOrEqual>();
    }
    if (is_one_mode_ && mode == BranchMode::kLess) {
        return walk.template operator()<BranchMode::kLess>();
    }
    auto decide = [this](const Node& node, T x) {
        size_t i = &node - nodes_.data();
        if (std::isnan(x) && (node.feature & kMissingIsTrue) != 0) {
            return true;
        }
        if (i >= modes_.size() || modes_[i] != BranchMode::kMember) {
            return i < modes_.size() && holds(modes_[i], x, node.value);
        }
        auto end = members_.begin() + static_cast<ptrdiff_t>(member_starts_[i + 1]);
        return std::find(members_.begin() + static_cast<ptrdiff_t>(member_starts_[i]), end, x) !=
               end;
    };
    walk_all(rows, count, columns, decide, add);
}

template <typename T>
void FlatForest<T>::evaluate(const T* rows, int64_t count, int64_t columns, Aggregate aggregate,
                             double* scores) const {
    auto for_weights = [&](int64_t leaf, auto body) {
        for (size_t w = leaf_starts_[leaf]; w < leaf_starts_[leaf + 1]; ++w) {
            body(weights_[w]);
        }
    };
    if (aggregate == Aggregate::kMinimum || aggregate == Aggregate::kMaximum) {
        std::vector<bool> is_set(count * targets_);
        with_mode(rows, count, columns, [&](int64_t row, int64_t leaf) {
            for_weights(leaf, [&](const LeafWeight& item) {
                int64_t at = row * targets_ + item.target;
                double lesser = std::min(scores[at], item.weight);
                double greater = std::max(scores[at], item.weight);
                double both = aggregate == Aggregate::kMinimum ? lesser : greater;
                scores[at] = is_set[at] ? both : item.weight;
                is_set[at] = true;
            });
        });
        return;
    }
    with_mode(rows, count, columns, [&](int64_t row, int64_t leaf) {
        for_weights(leaf, [&](const LeafWeight& item) {
            scores[row * targets_ + item.target] += item.weight;
        });
    });
    if (aggregate == Aggregate::kAverage && !roots_.empty()) {
        for (int64_t i = 0; i < count * targets_; ++i) {
            scores[i] /= static_cast<double>(roots_.size());
        }
    }
}

template class FlatForest<float>;
template class FlatForest<double>;

}  // namespace sardonyx::eval
