// Rows of features, several beside each other in lanes: products with coefficients, and distances.

#include "eval/kernels/ml/ml_rows.h"

#include <array>

#include "eval/kernels/cast.h"
#include "eval/kernels/ml/ml.h"
#include "eval/loops/clones.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

template <typename W>
SDX_CLONES Lanes four_sums(const Lanes* items, const W* weights, int64_t count) {
    typedef double Vector
        __attribute__((vector_size(sizeof(Lanes))));  // NOLINT(modernize-use-using)
    Vector total[kFewSums] = {};
    for (int64_t i = 0; i < count; i += kFewSums) {
        for (int64_t s = 0; s < std::min<int64_t>(kFewSums, count - i); ++s) {
            Vector item;
            std::memcpy(&item, items + i + s, sizeof item);
            total[s] += item * static_cast<double>(weights[i + s]);
        }
    }
    Vector all = (total[0] + total[1]) + (total[2] + total[3]);
    Lanes sum;
    std::memcpy(&sum, &all, sizeof all);
    return sum;
}

}  // namespace

Lanes dot(std::span<const Lanes> items, std::span<const float> weights) {
    return four_sums(items.data(), weights.data(), static_cast<int64_t>(weights.size()));
}
Lanes dot(std::span<const Lanes> items, std::span<const double> weights) {
    return four_sums(items.data(), weights.data(), static_cast<int64_t>(weights.size()));
}

void load_rows(const FeatureRows& x, int64_t first, std::vector<Lanes>& block) {
    int64_t count = std::min<int64_t>(kLanes, x.rows - first);
    if (x.data.element_type() == ElementType::kFloat) {
        const float* rows = x.data.elements<float>().data();
        load_rows(rows + first * x.columns, count, x.columns, block);
    } else {
        const double* rows = x.data.elements<double>().data();
        load_rows(rows + first * x.columns, count, x.columns, block);
    }
}

Result<FeatureRows> real_rows(const KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, feature_shape(c, 0));
    bool is_float = c.type(0) == ElementType::kFloat;
    SDX_ASSIGN(x.data,
               cast_tensor(c, c.tensor(0), is_float ? ElementType::kFloat : ElementType::kDouble));
    return x;
}

namespace {

// out[s] is the sum of the squares of items[i] - points[s * items.size() + i], for kFewSums points.
SDX_CLONES void add_distances(std::span<const Lanes> items, const float* points, Lanes* out) {
    typedef double Vector
        __attribute__((vector_size(sizeof(Lanes))));  // NOLINT(modernize-use-using)
    Vector total[kFewSums] = {};
    for (size_t i = 0; i < items.size(); ++i) {
        Vector item;
        std::memcpy(&item, &items[i], sizeof item);
        for (int s = 0; s < kFewSums; ++s) {
            Vector difference = item - static_cast<double>(points[s * items.size() + i]);
            total[s] += difference * difference;
        }
    }
    std::memcpy(out, total, sizeof total);
}

}  // namespace

void squared_distances(std::span<const Lanes> items, std::span<const float> points, int64_t count,
                       Lanes* out) {
    int64_t i = 0;
    for (; i + kFewSums <= count; i += kFewSums) {
        add_distances(items, points.data() + i * items.size(), out + i);
    }
    for (; i < count; ++i) {
        out[i] = {};
        for (size_t k = 0; k < items.size(); ++k) {
            for (int lane = 0; lane < kLanes; ++lane) {
                double difference =
                    items[k][lane] - static_cast<double>(points[i * items.size() + k]);
                out[i][lane] += difference * difference;
            }
        }
    }
}

void take_lane(std::span<const Lanes> values, int64_t lane, std::vector<double>& row) {
    row.resize(values.size());
    std::transform(values.begin(), values.end(), row.begin(),
                   [&](const Lanes& value) { return value[lane]; });
}

size_t greatest_of(std::span<const double> scores) {
    return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

}  // namespace sardonyx::eval::kernels
