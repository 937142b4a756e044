// NonMaxSuppression: of boxes that overlap, the one with the best score.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

struct Box {
    float top, left, bottom, right;

    float area() const { return (bottom - top) * (right - left); }
};

// From two opposite corners, or from the centre and the size.
Box read_box(const float* numbers, bool centred) {
    if (centred) {
        float x = numbers[0], y = numbers[1], w = numbers[2] / 2, h = numbers[3] / 2;
        return {y - h, x - w, y + h, x + w};
    }
    return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
            std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

bool overlap(const Box& a, const Box& b, float threshold) {
    float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    float width = std::min(a.right, b.right) - std::max(a.left, b.left);
    if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) {
        return false;
    }
    float common = height * width;
    return common / (a.area() + b.area() - common) > threshold;
}

}  // namespace

Status non_max_suppression(KernelContext& c) {
    const Dims& boxes = c.dims(0);
    const Dims& scores = c.dims(1);
    if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
        boxes[1] != scores[2]) {
        return Error{
            fmt::format("boxes {} and scores {} must be [N, count, 4] and [N, classes, "
                        "count]",
                        to_string(boxes), to_string(scores))};
    }
    int64_t most = 0;
    double overlap_limit = 0;
    double score_limit = -INFINITY;
    if (c.has_input(2)) {
        SDX_ASSIGN(most, c.int_scalar(2));
    }
    if (c.has_input(3)) {
        SDX_ASSIGN(overlap_limit, c.real_scalar(3));
    }
    if (c.has_input(4)) {
        SDX_ASSIGN(score_limit, c.real_scalar(4));
    }
    bool centred = c.int_attribute("center_point_box") != 0;
    int64_t count = boxes[1];
    std::vector<int64_t> selected;
    std::vector<int64_t> order;
    std::vector<Box> kept;
    for (int64_t row = 0; row < scores[0] * scores[1]; ++row) {
        const float* score = c.tensor(1).elements<float>().data() + row * count;
        const float* box = c.tensor(0).elements<float>().data() + row / scores[1] * count * 4;
        order.clear();
        for (int64_t i = 0; i < count; ++i) {
            if (score[i] > score_limit) {
                order.push_back(i);
            }
        }
        // A heap, since mostly few of the boxes are looked at: by score, then by place.
        auto comes_later = [score](int64_t a, int64_t b) {
            return score[a] < score[b] || (score[a] == score[b] && a > b);
        };
        std::make_heap(order.begin(), order.end(), comes_later);
        kept.clear();
        auto work = static_cast<int64_t>(order.size());
        while (!order.empty() && static_cast<int64_t>(kept.size()) < most) {
            if (work += static_cast<int64_t>(kept.size()) + 32; work > kPolled) {
                work = 0;
                if (c.threads().poll()) {
                    return {};
                }
            }
            std::pop_heap(order.begin(), order.end(), comes_later);
            int64_t i = order.back();
            order.pop_back();
            Box candidate = read_box(box + i * 4, centred);
            bool hidden = std::any_of(kept.begin(), kept.end(), [&](const Box& other) {
                return overlap(candidate, other, static_cast<float>(overlap_limit));
            });
            if (!hidden) {
                kept.push_back(candidate);
                selected.insert(selected.end(), {row / scores[1], row % scores[1], i});
            }
        }
    }
    SDX_ASSIGN(Tensor * out,
               c.output(0, ElementType::kInt64, {static_cast<int64_t>(selected.size()) / 3, 3}));
    std::copy(selected.begin(), selected.end(), out->mutable_elements<int64_t>().begin());
    return {};
}

}  // namespace sardonyx::eval::kernels
