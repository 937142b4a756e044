// The operators of ai.onnx.ml. Samples are (N, features); a vector is one sample.

#include <fmt/format.h>

#include <array>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// The number of samples of input 0.
Dim sample_count(NodeContext& c) {
    const Shape* x = shape_of_rank(c, 0, 1, 2, "(sample, feature) or (feature)");
    if (x == nullptr) {
        return {};
    }
    return x->size() == 1 ? Dim(1) : (*x)[0];
}

// How many elements a list attribute of strings or of integers has; 0 when it is absent, unknown
// when it is a reference.
template <typename T>
Dim list_size(const NodeContext& c, std::string_view attribute) {
    if (const std::vector<T>* list = attribute_value<std::vector<T>>(c, attribute)) {
        return static_cast<int64_t>(list->size());
    }
    return c.is_attribute_unbound(attribute) ? Dim() : Dim(0);
}

// Labels or categories, of which a node has a list of strings or a list of integers.
struct Labels {
    ElementType element = ElementType::kUndefined;
    Dim count;
};

Labels read_labels(NodeContext& c, std::string_view strings, std::string_view ints) {
    Dim string_count = list_size<std::string>(c, strings);
    Dim int_count = list_size<int64_t>(c, ints);
    if (string_count.is_unknown() || int_count.is_unknown()) {
        return {};
    }
    bool has_strings = string_count.value() > 0;
    bool has_ints = int_count.value() > 0;
    if (has_strings && has_ints) {
        c.fail_attribute(kInvalidValue, strings,
                         fmt::format("`{}` has both `{}` and `{}`", c.schema->name, strings, ints),
                         "give one of them");
        return {};
    }
    if (!has_strings && !has_ints) {
        return {};
    }
    return has_strings ? Labels{ElementType::kString, string_count}
                       : Labels{ElementType::kInt64, int_count};
}

// LinearClassifier has a row of coefficients for each intercept. More of them than there are
// features run (ONNX Runtime's own example has them), but somebody has lost a feature, or the rows.
void check_coefficients(NodeContext& c) {
    const Shape* x = c.input_shape(0);
    const auto* coefficients = attribute_value<std::vector<float>>(c, "coefficients");
    const auto* intercepts = attribute_value<std::vector<float>>(c, "intercepts");
    if (x == nullptr || x->empty() || coefficients == nullptr || intercepts == nullptr ||
        intercepts->empty() || !x->back().is_static()) {
        return;
    }
    auto count = static_cast<int64_t>(coefficients->size());
    auto classes = static_cast<int64_t>(intercepts->size());
    int64_t features = x->back().value();
    if (features < 1 || (count % classes == 0 && count / classes == features)) {
        return;
    }
    bool is_short = count / classes < features;
    c.fail_attribute(
        is_short ? kInvalidValue : kUnusedCoefficients, "coefficients",
        fmt::format("`{}` has {} coefficients for {} classes of {} features", c.schema->name, count,
                    classes, features),
        is_short ? "there must be one for each feature of each class"
                 : "the rows of the first ones are used, one after the other, and the rest is not");
}

// Labels of the samples, and one score for each class (`scores`).
void set_classification(NodeContext& c, const Labels& labels, const Dim& scores) {
    Dim samples = sample_count(c);
    c.set_output(0, labels.element, Shape{samples});
    c.set_output(1, ElementType::kFloat, Shape{samples, scores});
}

// (samples, targets).
void set_regression(NodeContext& c, ElementType element, std::optional<int64_t> targets) {
    c.set_output(0, element, Shape{sample_count(c), targets.has_value() ? Dim(*targets) : Dim()});
}

ElementType swapped(ElementType element) {
    if (element == ElementType::kString) {
        return ElementType::kInt64;
    }
    return element == ElementType::kInt64 ? ElementType::kString : ElementType::kUndefined;
}

// One side of LabelEncoder, "keys" or "values": the one list that it has of several types. Nothing
// is known of it where an attribute is an argument of a function, or after a Finding.
Labels encoded_list(NodeContext& c, std::string_view side) {
    auto name_of = [side](std::string_view kind) { return fmt::format("{}_{}", side, kind); };
    Labels list;
    std::string found;
    auto see = [&](std::string name, ElementType type, const Dim& count) {
        if (!found.empty()) {
            c.fail_attribute(kInvalidValue, name,
                             fmt::format("`LabelEncoder` has both `{}` and `{}`", found, name),
                             fmt::format("give one list of {}", side));
        }
        found = std::move(name);
        list = {type, count};
    };
    constexpr std::string_view kKinds[] = {"strings", "int64s", "floats", "tensor"};
    for (std::string_view kind : kKinds) {
        if (c.is_attribute_unbound(name_of(kind))) {
            return {};
        }
    }
    if (std::string name = name_of("strings"); c.has_attribute(name)) {
        see(name, ElementType::kString, list_size<std::string>(c, name));
    }
    if (std::string name = name_of("int64s"); c.has_attribute(name)) {
        see(name, ElementType::kInt64, list_size<int64_t>(c, name));
    }
    if (std::string name = name_of("floats"); c.has_attribute(name)) {
        see(name, ElementType::kFloat, list_size<float>(c, name));
    }
    if (std::string name = name_of("tensor"); c.has_attribute(name)) {
        const Tensor* tensor = c.attribute_tensor(name);
        see(name, tensor != nullptr ? tensor->element_type() : ElementType::kUndefined,
            tensor != nullptr ? Dim(tensor->count()) : Dim());
    }
    if (found.empty()) {
        c.fail(kMissingAttribute, fmt::format("`LabelEncoder` has no {}", side), -1, -1,
               fmt::format("give one of `{0}_strings`, `{0}_int64s` and `{0}_floats`", side));
    }
    return list;
}

// The element type that LabelEncoder maps to.
ElementType encoded_element(NodeContext& c) {
    Labels keys = encoded_list(c, "keys"), values = encoded_list(c, "values");
    ElementType given = c.input_element(0);
    if (given != ElementType::kUndefined && keys.element != ElementType::kUndefined &&
        given != keys.element) {
        c.fail(kTypeMismatch,
               fmt::format("{} is {} and the keys of `{}` are {}, and they must be of one type",
                           c.input_name(0), name(given), c.schema->name, name(keys.element)),
               0);
    }
    if (keys.count.differs(values.count)) {
        c.fail(kInvalidValue,
               fmt::format("`{}` has {} keys and {} values", c.schema->name, keys.count.to_string(),
                           values.count.to_string()),
               -1, -1, "give one value for each key");
    }
    return values.element;
}

// How many elements a list of an attribute has; unknown: it is none, or not known.
Dim length_of(const ir::Attribute& attribute) {
    if (const auto* ints = attribute.get<std::vector<int64_t>>()) {
        return static_cast<int64_t>(ints->size());
    }
    if (const auto* floats = attribute.get<std::vector<float>>()) {
        return static_cast<int64_t>(floats->size());
    }
    if (const auto* texts = attribute.get<std::vector<std::string>>()) {
        return static_cast<int64_t>(texts->size());
    }
    const auto* tensor = attribute.get<Tensor>();
    return tensor != nullptr ? Dim(tensor->count()) : Dim();
}

// The lists of a tree whose names begin so are parallel: they have one length, or are left out.
void check_parallel(NodeContext& c, std::string_view prefix) {
    const ir::Attribute* first = nullptr;
    Dim count;
    for (const ir::Attribute& attribute : c.node.attributes) {
        const ir::Attribute* resolved = c.attribute(attribute.name);
        Dim length = resolved != nullptr ? length_of(*resolved) : Dim();
        // Nodes that test for members need no threshold.
        if (attribute.name.substr(0, prefix.size()) != prefix || length.is_unknown() ||
            length.equals(0) || attribute.name == "nodes_splits") {
            continue;
        }
        if (first == nullptr) {
            first = &attribute;
            count = length;
        } else if (length.differs(count)) {
            c.fail_attribute(
                kInvalidValue, attribute.name,
                fmt::format("`{}` of `{}` has {} elements and `{}` has {}", attribute.name,
                            c.schema->name, length.to_string(), first->name, count.to_string()),
                "these lists have one element for each node of the trees, or leaf");
        }
    }
}

}  // namespace

void infer_array_feature_extractor(NodeContext& c) {
    const Shape* x = shape_of_rank(c, 0, 1, INT_MAX);
    const Shape* indices = c.input_shape(1);
    std::optional<Shape> shape;
    if (x != nullptr) {
        shape = x->size() == 1 ? Shape{1} : Shape(x->begin(), x->end() - 1);
        shape->push_back(indices != nullptr ? product(*indices) : Dim());
    }
    c.set_output_shape(0, std::move(shape));
}

// Binarizer, Imputer, Normalizer, Scaler: element for element.
void infer_ml_elementwise(NodeContext& c) {
    c.pass_shape();
}

// What `cast_to` says; the reference does not say how many axes the tensor has.
void infer_cast_map(NodeContext& c) {
    std::optional<std::string_view> target = c.attribute_string("cast_to");
    ElementType element = target == "TO_STRING"  ? ElementType::kString
                          : target == "TO_INT64" ? ElementType::kInt64
                          : target == "TO_FLOAT" ? ElementType::kFloat
                                                 : ElementType::kUndefined;
    c.set_output(0, element, std::nullopt);
}

void infer_category_mapper(NodeContext& c) {
    c.set_output(0, swapped(c.input_element(0)), c.input_type(0).maybe_shape());
}

void infer_dict_vectorizer(NodeContext& c) {
    c.set_output(0, c.input_type(0).element().element_type(), std::nullopt);
}

// The columns of all inputs side by side; a vector counts as one row.
void infer_feature_vectorizer(NodeContext& c) {
    Dim rows;
    Dim columns = 0;
    for (size_t i = 0; i < c.node.input_count(); ++i) {
        const Shape* x = shape_of_rank(c, i, 1, 2, "(row, feature) or (feature)");
        if (x != nullptr) {
            rows = known_dim(rows, x->size() == 1 ? Dim(1) : (*x)[0]);
        }
        columns = columns + (x != nullptr ? x->back() : Dim());
    }
    if (std::optional<std::vector<int64_t>> sizes = c.attribute_ints("inputdimensions")) {
        columns = sizes->empty() ? columns : Dim(0);
        for (int64_t size : *sizes) {
            columns = columns + Dim(size);
        }
    }
    c.set_output(0, ElementType::kFloat, Shape{rows, columns});
}

// Version 1 maps strings to integers and back; since 2 the list of values says the type.
void infer_label_encoder(NodeContext& c) {
    c.set_output(0, c.version() == 1 ? swapped(c.input_element(0)) : encoded_element(c),
                 c.input_type(0).maybe_shape());
}

void infer_linear_classifier(NodeContext& c) {
    Labels labels = read_labels(c, "classlabels_strings", "classlabels_ints");
    check_coefficients(c);
    set_classification(c, labels, labels.count);
}

void infer_linear_regressor(NodeContext& c) {
    set_regression(c, ElementType::kFloat, int_in_range(c, "targets", 1));
}

void infer_one_hot_encoder(NodeContext& c) {
    Labels categories = read_labels(c, "cats_strings", "cats_int64s");
    std::optional<Shape> shape = c.input_type(0).maybe_shape();
    if (shape.has_value()) {
        shape->push_back(categories.count);
    }
    c.set_output(0, ElementType::kFloat, std::move(shape));
}

// Without probabilities the scores are those of pairs of classes, in runtimes that follow libsvm.
void infer_svm_classifier(NodeContext& c) {
    Labels labels = read_labels(c, "classlabels_strings", "classlabels_ints");
    set_classification(c, labels, c.has_attribute("prob_a") ? labels.count : Dim());
}

void infer_svm_regressor(NodeContext& c) {
    set_regression(c, ElementType::kFloat, 1);
}

// TreeEnsembleRegressor, and TreeEnsemble with the same trees in other words.
void infer_tree_ensemble(NodeContext& c) {
    for (std::string_view prefix : {"nodes_", "leaf_", "target_"}) {
        check_parallel(c, prefix);
    }
    set_regression(c, c.output_element(0), int_in_range(c, "n_targets", 1));
}

void infer_tree_ensemble_classifier(NodeContext& c) {
    check_parallel(c, "nodes_");
    check_parallel(c, "class_");
    Labels labels = read_labels(c, "classlabels_strings", "classlabels_int64s");
    set_classification(c, labels, labels.count);
}

void infer_zip_map(NodeContext& c) {
    Labels labels = read_labels(c, "classlabels_strings", "classlabels_int64s");
    if (c.input_rank(0) > 0 && !labels.count.is_unknown()) {
        expect_dim(c, {0, -1}, labels.count, "the number of class labels");
    }
    if (labels.element != ElementType::kUndefined) {
        c.set_output(0, Type::sequence(
                            Type::map(labels.element, Type::tensor(ElementType::kFloat, Shape{}))));
    }
}

}  // namespace sardonyx::infer
