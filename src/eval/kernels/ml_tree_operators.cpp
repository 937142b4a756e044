// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor
// (https://onnx.ai/onnx/operators/index.html#ai-onnx-ml).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/cast.h"
#include "eval/kernels/ml.h"
#include "eval/kernels/ml_trees.h"

namespace sardonyx::eval::kernels {
namespace {

// Numbers that stand in a FLOATS attribute or, from version 3 on, in a tensor `name`_as_tensor.
Result<std::vector<double>> attribute_numbers(const KernelContext& c, const std::string& name) {
    const Tensor* tensor = c.tensor_attribute(name + "_as_tensor");
    if (tensor == nullptr) {
        tensor = c.tensor_attribute(name);
    }
    if (tensor == nullptr) {
        std::span<const float> list = c.floats_attribute(name);
        return std::vector<double>(list.begin(), list.end());
    }
    std::optional<std::vector<double>> values = to_doubles(*tensor, tensor->count());
    if (!values.has_value()) {
        return Error{fmt::format("`{}` must hold real numbers", name)};
    }
    return *std::move(values);
}

// --- The older form: every node has a tree and a number, leaves are nodes as well ---------------

struct ModeName {
    std::string_view name;
    BranchMode mode;
};
constexpr ModeName kModes[] = {
    {"BRANCH_LEQ", BranchMode::kLessOrEqual},    {"BRANCH_LT", BranchMode::kLess},
    {"BRANCH_GTE", BranchMode::kGreaterOrEqual}, {"BRANCH_GT", BranchMode::kGreater},
    {"BRANCH_EQ", BranchMode::kEqual},           {"BRANCH_NEQ", BranchMode::kNotEqual},
};

using NodeName = std::pair<int64_t, int64_t>;  // tree and number

class OldForestReader {
  public:
    // The weights are in attributes that begin with `prefix`: "class" or "target".
    Result<Forest> read(const KernelContext& c, const std::string& prefix, int64_t targets) {
        SDX_TRY(place_nodes(c));
        SDX_TRY(read_nodes(c));
        forest_.targets = targets;
        std::string ids = prefix + "_ids";
        std::span<const int64_t> trees = c.ints_attribute(prefix + "_treeids");
        std::span<const int64_t> nodes = c.ints_attribute(prefix + "_nodeids");
        std::span<const int64_t> wanted = c.ints_attribute(ids);
        SDX_ASSIGN(std::vector<double> weights, attribute_numbers(c, prefix + "_weights"));
        if (nodes.size() != trees.size() || wanted.size() != trees.size() ||
            weights.size() != trees.size()) {
            return Error{fmt::format("the lists of `{}` have different lengths", ids)};
        }
        for (size_t i = 0; i < trees.size(); ++i) {
            auto found = places_.find({trees[i], nodes[i]});
            if (found == places_.end() || found->second >= 0) {
                return Error{fmt::format("`{}` weighs node {} of tree {}, which is no leaf", ids,
                                         nodes[i], trees[i])};
            }
            forest_.leaves[-1 - found->second].push_back({wanted[i], weights[i]});
        }
        return std::move(forest_);
    }

  private:
    // Numbers branches and leaves apart; the first node of a tree is its root.
    Status place_nodes(const KernelContext& c) {
        std::span<const int64_t> trees = c.ints_attribute("nodes_treeids");
        std::span<const int64_t> ids = c.ints_attribute("nodes_nodeids");
        std::span<const std::string> modes = c.strings_attribute("nodes_modes");
        if (ids.size() != trees.size() || modes.size() != trees.size()) {
            return Error{"the lists of nodes have different lengths"};
        }
        std::map<int64_t, bool> is_known;
        int64_t branches = 0;
        for (size_t i = 0; i < trees.size(); ++i) {
            bool is_leaf = modes[i] == "LEAF";
            int64_t place = is_leaf ? -1 - static_cast<int64_t>(forest_.leaves.size()) : branches;
            if (is_leaf) {
                forest_.leaves.emplace_back();
            } else {
                ++branches;
            }
            if (!places_.emplace(NodeName{trees[i], ids[i]}, place).second) {
                return Error{fmt::format("tree {} has node {} twice", trees[i], ids[i])};
            }
            if (!is_known[trees[i]]) {
                is_known[trees[i]] = true;
                forest_.roots.push_back(place);
            }
        }
        return {};
    }

    Status read_nodes(const KernelContext& c) {
        std::span<const int64_t> trees = c.ints_attribute("nodes_treeids");
        std::span<const std::string> modes = c.strings_attribute("nodes_modes");
        std::span<const int64_t> features = c.ints_attribute("nodes_featureids");
        std::span<const int64_t> if_true = c.ints_attribute("nodes_truenodeids");
        std::span<const int64_t> if_false = c.ints_attribute("nodes_falsenodeids");
        std::span<const int64_t> missing = c.ints_attribute("nodes_missing_value_tracks_true");
        SDX_ASSIGN(std::vector<double> values, attribute_numbers(c, "nodes_values"));
        size_t n = trees.size();
        if (features.size() != n || if_true.size() != n || if_false.size() != n ||
            values.size() != n || (!missing.empty() && missing.size() != n)) {
            return Error{"the lists of nodes have different lengths"};
        }
        for (size_t i = 0; i < n; ++i) {
            if (modes[i] == "LEAF") {
                continue;
            }
            const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                            [&](const ModeName& m) { return m.name == modes[i]; });
            auto yes = places_.find({trees[i], if_true[i]});
            auto no = places_.find({trees[i], if_false[i]});
            if (mode == std::end(kModes) || yes == places_.end() || no == places_.end()) {
                return Error{
                    fmt::format("node {} has mode `{}` or leads to a node that its tree "
                                "does not have",
                                i, modes[i])};
            }
            forest_.nodes.push_back({mode->mode,
                                     !missing.empty() && missing[i] != 0,
                                     features[i],
                                     values[i],
                                     {},
                                     yes->second,
                                     no->second});
        }
        return {};
    }

    Forest forest_;
    std::map<NodeName, int64_t> places_;
};

// Base values are one per target, or one for all; nothing else.
Result<std::vector<double>> base_values(const KernelContext& c, int64_t targets) {
    SDX_ASSIGN(std::vector<double> values, attribute_numbers(c, "base_values"));
    if (!values.empty() && static_cast<int64_t>(values.size()) != targets && values.size() != 1) {
        return Error{fmt::format("{} base values for {} targets", values.size(), targets)};
    }
    return values;
}

// Limits what attributes alone ask for.
Status check_targets(const KernelContext& c, int64_t rows, int64_t targets) {
    if (targets < 1) {
        return Error{fmt::format("{} targets", targets)};
    }
    SDX_TRY(check_size(ElementType::kDouble, std::array<int64_t, 1>{targets}, c.options()));
    return check_size(ElementType::kDouble, std::array{rows, targets}, c.options());
}

Result<Aggregate> aggregate_function(const KernelContext& c) {
    std::string_view name = c.string_attribute("aggregate_function");
    if (name != "SUM" && name != "AVERAGE" && name != "MIN" && name != "MAX") {
        return Error{fmt::format("aggregate_function `{}` is not known", name)};
    }
    return name == "SUM"       ? Aggregate::kSum
           : name == "AVERAGE" ? Aggregate::kAverage
           : name == "MIN"     ? Aggregate::kMinimum
                               : Aggregate::kMaximum;
}

}  // namespace

Status tree_ensemble_regressor(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_rows(c, 0));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(Aggregate aggregate, aggregate_function(c));
    int64_t targets = c.int_attribute("n_targets", 1);
    SDX_TRY(check_targets(c, x.rows, targets));
    SDX_ASSIGN(Forest forest, OldForestReader().read(c, "target", targets));
    SDX_TRY(check_forest(forest, x.columns));
    SDX_ASSIGN(std::vector<double> base, base_values(c, targets));
    std::vector<double> all;
    for (int64_t i = 0; i < x.rows; ++i) {
        ForestScores scores = evaluate(forest, aggregate, x.row(i));
        for (int64_t t = 0; t < targets && !base.empty(); ++t) {
            scores.values[t] += base[base.size() == 1 ? 0 : t];
        }
        transform_scores(transform, scores.values);
        all.insert(all.end(), scores.values.begin(), scores.values.end());
    }
    return set_scores(c, 0, x.rows, all);
}

namespace {

struct Classified {
    int64_t label = 0;
    std::vector<double> scores;
};

// Two labels with weights for one class only: the score is that of the second label. As in ONNX
// Runtime, weights of which none is negative are probabilities, whose threshold is a half.
Classified classify_binary(const ForestScores& found, const std::vector<double>& base,
                           bool is_positive, PostTransform transform) {
    double score = found.values[0] + found.values[1];
    if (!base.empty()) {
        score += base.back();
    }
    bool is_second = score > (is_positive ? 0.5 : 0.0);
    bool has_both = base.size() == 2;
    std::vector<double> scores = has_both ? std::vector{-score, score} : std::vector{score};
    return {is_second ? 1 : 0,
            class_scores(transform, std::move(scores),
                         is_positive ? SecondClass::kComplement : SecondClass::kOpposite)};
}

}  // namespace

Status tree_ensemble_classifier(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_rows(c, 0));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(ClassLabels labels,
               ClassLabels::read(c, "classlabels_int64s", "classlabels_strings"));
    int64_t targets = labels.size();
    SDX_TRY(check_targets(c, x.rows, targets));
    SDX_ASSIGN(Forest forest, OldForestReader().read(c, "class", targets));
    SDX_TRY(check_forest(forest, x.columns));
    SDX_ASSIGN(std::vector<double> base, base_values(c, targets));
    std::span<const int64_t> ids = c.ints_attribute("class_ids");
    SDX_ASSIGN(std::vector<double> weights, attribute_numbers(c, "class_weights"));
    bool is_positive =
        std::all_of(weights.begin(), weights.end(), [](double weight) { return weight >= 0; });
    bool has_one_class =
        std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id == ids[0]; });
    std::vector<int64_t> classes;
    std::vector<double> all;
    for (int64_t i = 0; i < x.rows; ++i) {
        ForestScores found = evaluate(forest, Aggregate::kSum, x.row(i));
        Classified result;
        if (targets == 2 && has_one_class) {
            result = classify_binary(found, base, is_positive, transform);
        } else {
            for (int64_t t = 0; t < targets && !base.empty(); ++t) {
                found.values[t] += base[base.size() == 1 ? 0 : t];
            }
            auto best = std::max_element(found.values.begin(), found.values.end());
            result.label = targets == 1 ? (found.values[0] > 0 ? 0 : ClassLabels::kNegative)
                                        : best - found.values.begin();
            result.scores = class_scores(transform, std::move(found.values), SecondClass::kNone);
        }
        classes.push_back(result.label);
        all.insert(all.end(), result.scores.begin(), result.scores.end());
    }
    SDX_TRY(labels.set_output(c, classes));
    return set_scores(c, 1, x.rows, all);
}

// --- TreeEnsemble --------------------------------------------------------------------------------

namespace {

class ForestReader {
  public:
    Result<Forest> read(const KernelContext& c) {
        std::span<const int64_t> targets = c.ints_attribute("leaf_targetids");
        SDX_ASSIGN(std::vector<double> weights, attribute_numbers(c, "leaf_weights"));
        if (weights.size() != targets.size()) {
            return Error{"leaf_targetids and leaf_weights have different lengths"};
        }
        for (size_t i = 0; i < targets.size(); ++i) {
            forest_.leaves.push_back({{targets[i], weights[i]}});
        }
        SDX_TRY(read_nodes(c));
        SDX_TRY(read_members(c));
        for (int64_t root : c.ints_attribute("tree_roots")) {
            if (root < 0 || root >= static_cast<int64_t>(forest_.nodes.size())) {
                return Error{
                    fmt::format("tree_roots names node {} of {}", root, forest_.nodes.size())};
            }
            forest_.roots.push_back(root);
        }
        forest_.targets = c.int_attribute("n_targets", 1);
        return std::move(forest_);
    }

  private:
    Status read_nodes(const KernelContext& c) {
        std::span<const int64_t> features = c.ints_attribute("nodes_featureids");
        std::span<const int64_t> missing = c.ints_attribute("nodes_missing_value_tracks_true");
        SDX_ASSIGN(std::vector<double> modes, attribute_numbers(c, "nodes_modes"));
        SDX_ASSIGN(std::vector<double> splits, attribute_numbers(c, "nodes_splits"));
        size_t n = features.size();
        for (std::string_view list :
             {"nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"}) {
            if (c.ints_attribute(list).size() != n) {
                return Error{fmt::format("`{}` is not as long as `nodes_featureids`", list)};
            }
        }
        if (modes.size() != n || splits.size() != n || (!missing.empty() && missing.size() != n)) {
            return Error{"the lists of nodes have different lengths"};
        }
        for (size_t i = 0; i < n; ++i) {
            if (!(modes[i] >= 0 && modes[i] <= 6)) {
                return Error{fmt::format("node {} has mode {}", i, modes[i])};
            }
            TreeNode node{static_cast<BranchMode>(modes[i]), !missing.empty() && missing[i] != 0,
                          features[i], splits[i]};
            SDX_ASSIGN(node.if_true, branch(c, "nodes_truenodeids", "nodes_trueleafs", i));
            SDX_ASSIGN(node.if_false, branch(c, "nodes_falsenodeids", "nodes_falseleafs", i));
            forest_.nodes.push_back(std::move(node));
        }
        return {};
    }

    Result<int64_t> branch(const KernelContext& c, std::string_view ids, std::string_view leaves,
                           size_t i) const {
        int64_t id = c.ints_attribute(ids)[i];
        if (id < 0) {
            return Error{fmt::format("`{}` has {}", ids, id)};
        }
        return c.ints_attribute(leaves)[i] != 0 ? -1 - id : id;
    }

    // The sets follow each other in the order of the nodes that ask for them, each ended by NaN.
    Status read_members(const KernelContext& c) {
        SDX_ASSIGN(std::vector<double> members, attribute_numbers(c, "membership_values"));
        size_t at = 0;
        for (TreeNode& node : forest_.nodes) {
            if (node.mode != BranchMode::kMember) {
                continue;
            }
            while (at < members.size() && !std::isnan(members[at])) {
                node.members.push_back(members[at++]);
            }
            if (at++ == members.size()) {
                return Error{"membership_values has fewer sets than there are nodes for them"};
            }
        }
        return {};
    }

    Forest forest_;
};

}  // namespace

Status tree_ensemble(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_rows(c, 0));
    int64_t transform = c.int_attribute("post_transform");
    int64_t aggregate = c.int_attribute("aggregate_function", 1);
    if (transform < 0 || transform > 4 || aggregate < 0 || aggregate > 3) {
        return Error{fmt::format("post_transform {} or aggregate_function {} is not known",
                                 transform, aggregate)};
    }
    SDX_ASSIGN(Forest forest, ForestReader().read(c));
    SDX_TRY(check_targets(c, x.rows, forest.targets));
    SDX_TRY(check_forest(forest, x.columns));
    SDX_ASSIGN(Tensor result, c.scratch(ElementType::kDouble, {x.rows, forest.targets}));
    double* out = result.mutable_elements<double>().data();
    for (int64_t i = 0; i < x.rows; ++i) {
        ForestScores scores = evaluate(forest, static_cast<Aggregate>(aggregate), x.row(i));
        transform_scores(static_cast<PostTransform>(transform), scores.values);
        out = std::copy(scores.values.begin(), scores.values.end(), out);
    }
    SDX_ASSIGN(Tensor converted, cast_tensor(c, result, c.type(0)));
    c.set_output(0, std::move(converted));
    return {};
}

}  // namespace sardonyx::eval::kernels
