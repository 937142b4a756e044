// Definitions of the normalizations and of the losses of classifiers.
#include <algorithm>
#include <numeric>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// 16-bit floats are normalized as FLOAT.
struct Normalized {
    Expr x;
    Expr mean;
    Expr inverse;  // of the standard deviation
};

// Over the axes; the deviation is made greater by epsilon under the root.
Normalized normalized(Backward& b, const Expr& x, const std::vector<int64_t>& axes) {
    Normalized result;
    result.mean = mean(x, axes);
    Expr centered = x - result.mean;
    Expr variance = mean(centered * centered, axes);
    result.inverse = 1 / apply("Sqrt", variance + b.context().float_attribute("epsilon"));
    result.x = centered * result.inverse;
    return result;
}

// A tensor of one value for each channel, along axis 1 of `rank`.
Expr by_channel(const Expr& x, int rank) {
    Dims dims(std::max(1, rank - 1), 1);
    dims[0] = x.count();
    return reshape(x, dims);
}

// The losses of the labels (input 1) under log-probabilities [N, C, d1, ...], with the weights of
// classes (input 2).
Expr loss_of(Backward& b, const Expr& log_probabilities) {
    Expr labels = b.x(1);
    const KernelContext& c = b.context();
    bool ignores = c.has_attribute("ignore_index");
    Expr ignored =
        equals(labels, ignores ? static_cast<double>(c.int_attribute("ignore_index")) : -1.0);
    labels = where(ignored, 0, labels);
    Dims column = labels.dims();
    column.insert(column.begin() + 1, 1);
    Expr chosen = take_elements(log_probabilities, reshape(labels, column), 1);
    Expr weights =
        b.has_x(2) ? take(b.x(2), labels, 0) : b.algebra().full(chosen.type(), labels.dims(), 1);
    weights = where(ignored, 0, weights);
    Expr losses = -reshape(chosen, labels.dims()) * weights;
    std::string_view reduction = c.string_attribute("reduction");
    if (reduction == "none") {
        return losses;
    }
    Expr total = sum_to(losses, {});
    return reduction == "sum" ? total : total / sum_to(weights, {});
}

}  // namespace

std::vector<Expr> layer_normalization(Backward& b) {
    int rank = b.x().rank();
    Normalized rows = normalized(b, wide(b.x()), axes_from(b.axis("axis", rank), rank));
    Expr y = cast(rows.x, b.x().type()) * b.x(1);
    auto stash = element_type_from_number(b.context().int_attribute("stash_type"));
    return {b.has_x(2) ? y + b.x(2) : y, cast(rows.mean, stash), cast(rows.inverse, stash)};
}

std::vector<Expr> rms_normalization(Backward& b) {
    int rank = b.x().rank();
    Expr x = wide(b.x());
    Expr square = mean(x * x, axes_from(b.axis("axis", rank), rank));
    x = x / apply("Sqrt", square + b.context().float_attribute("epsilon"));
    return {cast(x, b.x(1).type()) * b.x(1)};
}

std::vector<Expr> instance_normalization(Backward& b) {
    int rank = b.x().rank();
    Expr x = cast(normalized(b, wide(b.x()), axes_from(2, rank)).x, b.x().type());
    return {x * by_channel(b.x(1), rank) + by_channel(b.x(2), rank)};
}

std::vector<Expr> group_normalization(Backward& b) {
    Expr x = b.x();
    int64_t groups = b.context().int_attribute("num_groups");
    int64_t places = std::accumulate(x.dims().begin() + std::min(2, x.rank()), x.dims().end(),
                                     int64_t{1}, std::multiplies());
    Expr rows = reshape(wide(x), {x.dim(0), groups, x.dim(1) / groups * places});
    rows = cast(normalized(b, rows, {2}).x, x.type());
    // Version 18 has a scale and a bias for each group, later ones for each channel.
    int64_t count = b.version() < 21 ? groups : x.dim(1);
    rows = reshape(rows, {x.dim(0), count, x.dim(1) * places / std::max<int64_t>(1, count)});
    return {reshape(rows * by_channel(b.x(1), 3) + by_channel(b.x(2), 3), x.dims())};
}

std::vector<Expr> batch_normalization(Backward& b) {
    const KernelContext& c = b.context();
    bool trains = b.version() >= 14  ? c.int_attribute("training_mode") != 0
                  : b.version() >= 7 ? b.output_count() > 1
                                     : c.int_attribute("is_test") == 0;
    Expr x = b.x();
    int rank = x.rank();
    // Old versions can have statistics for each place of a channel, not only for the channel.
    bool by_place = c.int_attribute("spatial", 1) == 0;
    Dims places(x.dims().begin() + std::min(1, rank), x.dims().end());
    auto statistic = [&](size_t i) {
        return by_place ? reshape(b.x(i), places) : by_channel(b.x(i), rank);
    };
    Expr scale = statistic(1);
    Expr bias = statistic(2);
    if (!trains) {
        Expr deviation = apply("Sqrt", statistic(4) + c.float_attribute("epsilon"));
        Expr y = (x - statistic(3)) / deviation * scale + bias;
        return {cast(y, b.x().type())};
    }
    std::vector<int64_t> axes = by_place ? std::vector<int64_t>() : axes_from(2, rank);
    axes.push_back(0);
    Normalized channels = normalized(b, x, axes);
    std::vector<Expr> results = {channels.x * scale + bias};
    if (b.version() >= 14 && b.output_count() > 1) {
        double momentum = c.float_attribute("momentum");
        Expr centered = x - channels.mean;
        Expr variance = reshape(mean(centered * centered, axes), b.x(4).dims());
        Expr average = reshape(channels.mean, b.x(3).dims());
        auto running = [&](const Expr& old, const Expr& now) {
            return old * momentum + cast(now, old.type()) * (1 - momentum);
        };
        results.push_back(running(b.x(3), average));
        results.push_back(running(b.x(4), variance));
    }
    return results;
}

std::vector<Expr> lp_normalization(Backward& b) {
    Expr x = b.x();
    std::vector<int64_t> axes = {b.axis("axis", x.rank())};
    Expr norm = b.algebra().call(b.context().int_attribute("p") == 1 ? "ReduceL1" : "ReduceL2",
                                 {x, b.algebra().ints(axes)});
    return {x / where(equals(norm, 0), 1, norm)};
}

std::vector<Expr> mean_variance_normalization(Backward& b) {
    std::span<const int64_t> given = b.context().ints_attribute("axes");
    std::vector<int64_t> axes(given.begin(), given.end());
    axes = axes.empty() ? std::vector<int64_t>{0, 2, 3} : axes;
    Expr centered = b.x() - mean(b.x(), axes);
    return {centered / (apply("Sqrt", mean(centered * centered, axes)) + 1e-9)};
}

// Each channel is divided by a power of the squares in the channels around it.
std::vector<Expr> lrn(Backward& b) {
    const KernelContext& c = b.context();
    Expr x = b.x();
    int64_t size = c.int_attribute("size");
    int64_t channels = x.dim(1);
    std::vector<int64_t> before(x.rank());
    std::vector<int64_t> after(x.rank());
    // What is further away than all channels has no part.
    before[1] = std::min((size - 1) / 2, channels);
    after[1] = std::min(size / 2, channels);
    Expr squares = pad(x * x, before, after);
    Expr total = zeros_like(x);
    for (int64_t shift = 0; shift <= before[1] + after[1]; ++shift) {
        total = total + slice(squares, 1, shift, shift + channels);
    }
    Expr base = total * (c.float_attribute("alpha") / static_cast<double>(size)) +
                c.float_attribute("bias");
    return {x / power(base, c.float_attribute("beta"))};
}

std::vector<Expr> negative_log_likelihood_loss(Backward& b) {
    return {loss_of(b, b.x())};
}

std::vector<Expr> softmax_cross_entropy_loss(Backward& b) {
    Expr log_probabilities =
        b.algebra().call("LogSoftmax", {b.x()}, {ir::make_attribute("axis", int64_t{1})});
    return {loss_of(b, log_probabilities), log_probabilities};
}

}  // namespace sardonyx::eval::derivatives
