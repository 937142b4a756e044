// Operators on strings.

#include <fmt/format.h>

#include <algorithm>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {

void infer_string_concat(NodeContext& c) {
    c.set_output(0, ElementType::kString, c.broadcast({0, 1}));
}

// The last axis is as long as the longest split; the second output counts the parts of each string.
void infer_string_split(NodeContext& c) {
    std::optional<Shape> shape = c.input_type(0).maybe_shape();
    c.set_output(1, ElementType::kInt64, shape);
    if (shape.has_value()) {
        shape->push_back(Dim());
    }
    int_in_range(c, "maxsplit", 0);
    c.set_output(0, ElementType::kString, std::move(shape));
}

void infer_regex_full_match(NodeContext& c) {
    c.set_output(0, ElementType::kBool, c.input_type(0).maybe_shape());
}

// (C) or (1, C) in and out; stop words are left out, and of no words at all one empty string stays.
void infer_string_normalizer(NodeContext& c) {
    const Shape* input = shape_of_rank(c, 0, 1, 2, "(words) or (1, words)");
    if (input == nullptr) {
        c.set_output(0, ElementType::kString, std::nullopt);
        return;
    }
    Shape shape = *input;
    if (shape.size() == 2) {
        shape[0] = expect_dim(c, {0, 0}, 1, "the operator takes one list of words");
    }
    if (c.has_attribute("stopwords") || !shape.back().is_at_least(1)) {
        shape.back() = Dim();
    }
    c.set_output(0, ElementType::kString, std::move(shape));
}

// (C) -> (features), (N, C) -> (N, features), where the features are one more than the greatest of
// `ngram_indexes`.
void infer_tf_idf_vectorizer(NodeContext& c) {
    std::optional<std::vector<int64_t>> indexes = c.attribute_ints("ngram_indexes");
    Dim features;
    if (indexes.has_value() && !indexes->empty()) {
        int64_t greatest = *std::max_element(indexes->begin(), indexes->end());
        if (*std::min_element(indexes->begin(), indexes->end()) < 0) {
            c.fail_attribute(kInvalidValue, "ngram_indexes",
                             "`ngram_indexes` of `TfIdfVectorizer` has a negative index",
                             "write where in the output each n-gram is counted");
        } else {
            features = Dim(greatest) + 1;
        }
    }
    const Shape* input = shape_of_rank(c, 0, 1, 2, "(words) or (batch, words)");
    std::optional<Shape> shape;
    if (input != nullptr) {
        shape = input->size() == 1 ? Shape{features} : Shape{(*input)[0], features};
    }
    c.set_output(0, ElementType::kFloat, std::move(shape));
}

}  // namespace sardonyx::infer
