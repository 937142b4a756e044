// TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor
// (https://onnx.ai/onnx/operators/index.html#ai-onnx-ml).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <variant>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/ml/ml.h"
#include "eval/kernels/ml/ml_trees.h"
#include "eval/operators/kernel.h"

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
                return Error{fmt::format("`{}` weighs node {} of tree {}, which is not a leaf", ids,
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

// The attributes of the operators, prepared for runs.
struct TreeModel {
    std::variant<std::monostate, FlatForest<float>, FlatForest<double>> forest;
    int64_t targets = 0;
    std::vector<double> base;
    bool is_positive = false;    // no weight is negative
    bool has_one_class = false;  // all weights are of one class
    // The greatest feature that a node asks for; -1: there are no nodes.
    int64_t feature = -1;
    size_t feature_node = 0;

    bool is_float() const { return std::holds_alternative<FlatForest<float>>(forest); }
};

Result<TreeModel> tree_model(const KernelContext& c, const Forest& forest, int64_t features) {
    SDX_TRY(check_forest(forest, features));
    TreeModel model;
    model.targets = forest.targets;
    for (size_t i = 0; i < forest.nodes.size(); ++i) {
        if (forest.nodes[i].feature > model.feature) {
            model.feature = forest.nodes[i].feature;
            model.feature_node = i;
        }
    }
    if (c.type(0) == ElementType::kFloat && has_float_thresholds(forest)) {
        model.forest.emplace<FlatForest<float>>(forest);
    } else {
        model.forest.emplace<FlatForest<double>>(forest);
    }
    return model;
}

Result<TreeModel> old_tree_model(const KernelContext& c, const std::string& prefix, int64_t targets,
                                 int64_t features) {
    SDX_ASSIGN(Forest forest, OldForestReader().read(c, prefix, targets));
    SDX_ASSIGN(TreeModel model, tree_model(c, forest, features));
    SDX_ASSIGN(model.base, base_values(c, targets));
    std::span<const int64_t> ids = c.ints_attribute(prefix + "_ids");
    SDX_ASSIGN(std::vector<double> weights, attribute_numbers(c, prefix + "_weights"));
    model.is_positive =
        std::all_of(weights.begin(), weights.end(), [](double weight) { return weight >= 0; });
    model.has_one_class =
        std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id == ids[0]; });
    return model;
}

using TreeModelPtr = std::shared_ptr<const TreeModel>;

// The model of an earlier run, or of `make`; and the rows as it wants them.
template <typename Make>
Result<TreeModelPtr> kept_model(const KernelContext& c, FeatureRows& x, Make make) {
    bool is_float = c.type(0) == ElementType::kFloat;
    // A model with thresholds of double does for rows of float, but is not the best one.
    auto fits = [&](const TreeModel& model) { return is_float || !model.is_float(); };
    SDX_ASSIGN(TreeModelPtr model, of_attributes<TreeModel>(c, fits, make));
    if (model->feature >= x.columns) {
        return Error{fmt::format("node {} of a tree asks for feature {} of {}", model->feature_node,
                                 model->feature, x.columns)};
    }
    if (model->is_float()) {
        x.data = c.tensor(0);
    } else {
        SDX_ASSIGN(x.data, cast_tensor(c, c.tensor(0), ElementType::kDouble));
    }
    return model;
}

// Calls finish(first, scores) with the aggregates of pieces of the rows, several at once.
template <typename Finish>
void evaluate_rows(const KernelContext& c, const TreeModel& model, const FeatureRows& x,
                   Aggregate aggregate, Finish finish) {
    auto run = [&]<typename T>(const FlatForest<T>& forest) {
        int64_t piece = items_per_task(forest.operations() + model.targets);
        parallel_for(c.threads(), x.rows, piece, [&](int64_t begin, int64_t end) {
            std::vector<double> scores((end - begin) * model.targets);
            const T* rows = x.data.elements<T>().data() + begin * x.columns;
            forest.evaluate(rows, end - begin, x.columns, aggregate, scores.data());
            finish(begin, std::span<double>(scores));
        });
    };
    if (const auto* forest = std::get_if<FlatForest<float>>(&model.forest)) {
        run(*forest);
    } else {
        run(std::get<FlatForest<double>>(model.forest));
    }
}

void add_base(const TreeModel& model, std::span<double> scores) {
    for (size_t t = 0; t < scores.size() && !model.base.empty(); ++t) {
        scores[t] += model.base[model.base.size() == 1 ? 0 : t];
    }
}

}  // namespace

Status tree_ensemble_regressor(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_shape(c, 0));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(Aggregate aggregate, aggregate_function(c));
    int64_t targets = c.int_attribute("n_targets", 1);
    SDX_TRY(check_targets(c, x.rows, targets));
    SDX_ASSIGN(TreeModelPtr model,
               kept_model(c, x, [&] { return old_tree_model(c, "target", targets, x.columns); }));
    SDX_ASSIGN(float* out, scores_output(c, 0, x.rows, targets));
    evaluate_rows(c, *model, x, aggregate, [&](int64_t first, std::span<double> scores) {
        for (size_t i = 0; i < scores.size(); i += targets) {
            std::span<double> row = scores.subspan(i, targets);
            add_base(*model, row);
            transform_scores(transform, row);
            put_scores(row, out, first++);
        }
    });
    return {};
}

namespace {

// Two labels with weights for one class only: the score is that of the second label. As in ONNX
// Runtime, weights of which none is negative are probabilities, whose threshold is a half. Gives
// the label, and `scores` for the two that the trees have summed.
int64_t classify_binary(const TreeModel& model, PostTransform transform,
                        std::vector<double>& scores) {
    double score = scores[0] + scores[1];
    if (!model.base.empty()) {
        score += model.base.back();
    }
    if (model.base.size() == 2) {
        scores = {-score, score};
    } else {
        scores = {score};
    }
    class_scores(transform, scores,
                 model.is_positive ? SecondClass::kComplement : SecondClass::kOpposite);
    return score > (model.is_positive ? 0.5 : 0.0) ? 1 : 0;
}

int64_t classify(const TreeModel& model, PostTransform transform, std::vector<double>& scores) {
    add_base(model, scores);
    auto best = std::max_element(scores.begin(), scores.end());
    int64_t label = best - scores.begin();
    if (model.targets == 1) {
        label = scores[0] > 0 ? 0 : ClassLabels::kNegative;
    }
    class_scores(transform, scores, SecondClass::kNone);
    return label;
}

}  // namespace

Status tree_ensemble_classifier(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_shape(c, 0));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(ClassLabels labels,
               ClassLabels::read(c, "classlabels_int64s", "classlabels_strings"));
    int64_t targets = labels.size();
    SDX_TRY(check_targets(c, x.rows, targets));
    SDX_ASSIGN(TreeModelPtr model,
               kept_model(c, x, [&] { return old_tree_model(c, "class", targets, x.columns); }));
    bool is_binary = targets == 2 && model->has_one_class;
    std::vector<int64_t> classes(x.rows);
    SDX_ASSIGN(float* out, scores_output(c, 1, x.rows, targets));
    evaluate_rows(c, *model, x, Aggregate::kSum, [&](int64_t first, std::span<double> sums) {
        std::vector<double> row;
        for (size_t i = 0; i < sums.size(); i += targets) {
            std::span<double> sum = sums.subspan(i, targets);
            row.assign(sum.begin(), sum.end());
            classes[first] = is_binary ? classify_binary(*model, transform, row)
                                       : classify(*model, transform, row);
            put_scores(row, out, first++);
        }
    });
    return labels.set_output(c, classes);
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
    SDX_ASSIGN(FeatureRows x, feature_shape(c, 0));
    int64_t transform = c.int_attribute("post_transform");
    int64_t aggregate = c.int_attribute("aggregate_function", 1);
    if (transform < 0 || transform > 4 || aggregate < 0 || aggregate > 3) {
        return Error{fmt::format("post_transform {} or aggregate_function {} is not known",
                                 transform, aggregate)};
    }
    int64_t targets = c.int_attribute("n_targets", 1);
    SDX_TRY(check_targets(c, x.rows, targets));
    SDX_ASSIGN(TreeModelPtr model, kept_model(c, x, [&]() -> Result<TreeModel> {
                   SDX_ASSIGN(Forest forest, ForestReader().read(c));
                   return tree_model(c, forest, x.columns);
               }));
    SDX_ASSIGN(Tensor result, c.scratch(ElementType::kDouble, {x.rows, targets}));
    double* out = result.mutable_elements<double>().data();
    evaluate_rows(c, *model, x, static_cast<Aggregate>(aggregate),
                  [&](int64_t first, std::span<double> scores) {
                      for (size_t i = 0; i < scores.size(); i += targets) {
                          transform_scores(static_cast<PostTransform>(transform),
                                           scores.subspan(i, targets));
                      }
                      std::copy(scores.begin(), scores.end(), out + first * targets);
                  });
    SDX_ASSIGN(Tensor converted, cast_tensor(c, result, c.type(0)));
    c.set_output(0, std::move(converted));
    return {};
}

}  // namespace sardonyx::eval::kernels
