#include <algorithm>
#include <optional>

#include "eval/loops/clones.h"
#include "eval/loops/convolution.h"
#include "eval/loops/flat_windows.h"
#include "eval/loops/scratch.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval {
namespace {

// The sums of some channels over the same runs.
template <typename S>
struct RunSums {
    const S* planes;
    const int64_t* runs;  // where the run of each term begins
    int64_t terms;
    const S* weights;  // [channel, term]
    const S* start;    // [channel]; null: zeros
    S* sums;           // [channel, step]
    int64_t step;
    int64_t size;  // of a run
};

constexpr int kRunVectorBytes = 64;
// How many channels share the elements that are read, and the vectors of each that fit into
// registers then.
constexpr int kTogether = 4;
template <int kChannels>
constexpr int kRunVectors = 8 / kChannels;
// Sums are written in whole tiles.
template <typename S>
constexpr int64_t kRunTile = kRunVectors<1> * kRunVectorBytes / static_cast<int64_t>(sizeof(S));

template <typename S, int kChannels>
SDX_CLONES void sum_runs(const RunSums<S>& r) {
    typedef S Vector __attribute__((vector_size(kRunVectorBytes), aligned(alignof(S)), may_alias));
    constexpr int kVectors = kRunVectors<kChannels>;
    constexpr int kLanes = kRunVectorBytes / sizeof(S);
    for (int64_t i = 0; i < r.size; i += kVectors * kLanes) {
        Vector sums[kChannels][kVectors] = {};
        for (int c = 0; c < kChannels && r.start != nullptr; ++c) {
            for (int v = 0; v < kVectors; ++v) {
                sums[c][v] += r.start[c];
            }
        }
        for (int64_t t = 0; t < r.terms; ++t) {
            const Vector* in = reinterpret_cast<const Vector*>(r.planes + r.runs[t] + i);
            for (int c = 0; c < kChannels; ++c) {
                const S weight = r.weights[c * r.terms + t];
                for (int v = 0; v < kVectors; ++v) {
                    sums[c][v] += in[v] * weight;
                }
            }
        }
        for (int c = 0; c < kChannels; ++c) {
            for (int v = 0; v < kVectors; ++v) {
                *reinterpret_cast<Vector*>(r.sums + c * r.step + i + v * kLanes) = sums[c][v];
            }
        }
    }
}

}  // namespace

template <typename S>
bool convolve_flat(const ConvShape& shape, const S* x, const S* w, const S* start,
                   const Workers& threads, S* out) {
    constexpr int64_t kFewChannels = 8;
    constexpr int64_t kFewWindows = 16;  // most of a tile would be thrown away
    constexpr int64_t kBlock = 1 << 20;
    const WindowGeometry& g = shape.windows;
    int64_t windows = g.out_count();
    if (shape.in_channels < 1 || shape.in_channels >= kFewChannels || windows < kFewWindows ||
        !FlatWindows::is_small(g)) {
        return false;
    }
    int64_t channels = shape.out_channels;
    int64_t terms = shape.in_channels * g.kernel_count();
    int64_t line = windows / g.out[0];
    int64_t rows = std::clamp<int64_t>(kBlock / (channels * terms * line), 1, g.out[0]);
    int64_t blocks = (g.out[0] + rows - 1) / rows;
    int64_t pictures = shape.batch * shape.groups;
    int64_t piece = items_per_task(channels * terms * line * rows);
    parallel_for(threads, pictures * blocks, piece, [&](int64_t begin, int64_t end) {
        std::optional<FlatWindows> flat;
        std::optional<Scratch<S>> planes, sums;
        std::vector<int64_t> runs;
        int64_t step = 0;
        for (int64_t item = begin; item < end; ++item) {
            int64_t picture = item / blocks, group = picture % shape.groups;
            int64_t first = item % blocks * rows, count = std::min(rows, g.out[0] - first);
            if (!flat.has_value() || flat->rows() != count) {
                flat.emplace(g, count);
                step = flat->run_size() + kRunTile<S>;
                int64_t size = shape.in_channels * flat->plane_size();
                planes.emplace(size + FlatWindows::kBeyond);
                // Sums of what happens to lie there are not used, but subnormal ones are slow.
                std::fill_n(planes->data() + size, FlatWindows::kBeyond, S(0));
                sums.emplace(kTogether * step);
                runs.clear();
                for (int64_t channel = 0; channel < shape.in_channels; ++channel) {
                    for (int64_t tap : flat->taps()) {
                        runs.push_back(channel * flat->plane_size() + tap);
                    }
                }
            }
            for (int64_t channel = 0; channel < shape.in_channels; ++channel) {
                flat->lay_out(x + (picture * shape.in_channels + channel) * g.in_count(), first,
                              S(0), planes->data() + channel * flat->plane_size());
            }
            for (int64_t m = 0; m < channels;) {
                int64_t together = m + kTogether <= channels ? kTogether : 1;
                int64_t channel = group * channels + m;
                RunSums<S> work{planes->data(),
                                runs.data(),
                                terms,
                                w + channel * terms,
                                start != nullptr ? start + channel : nullptr,
                                sums->data(),
                                step,
                                flat->run_size()};
                together == 1 ? sum_runs<S, 1>(work) : sum_runs<S, kTogether>(work);
                for (int64_t c = 0; c < together; ++c, ++m) {
                    flat->take_results(sums->data() + c * step,
                                       out + (picture * channels + m) * windows + first * line);
                }
            }
        }
    });
    return true;
}

template bool convolve_flat(const ConvShape&, const float*, const float*, const float*,
                            const Workers&, float*);
template bool convolve_flat(const ConvShape&, const double*, const double*, const double*,
                            const Workers&, double*);
template bool convolve_flat(const ConvShape&, const uint32_t*, const uint32_t*, const uint32_t*,
                            const Workers&, uint32_t*);
template bool convolve_flat(const ConvShape&, const uint64_t*, const uint64_t*, const uint64_t*,
                            const Workers&, uint64_t*);

}  // namespace sardonyx::eval
