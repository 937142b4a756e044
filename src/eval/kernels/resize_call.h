// What a call of Resize or Upsample asks for.
#pragma once

#include <string_view>
#include <vector>

#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

struct WeightedPlace {
    int64_t place;
    double weight;
};

// How one axis is resampled.
struct ResizeAxis {
    int64_t in = 0;
    int64_t out = 0;
    double scale = 1;
    double roi_begin = 0;
    double roi_end = 1;
    // By place of the result; empty where the result takes the extrapolation value.
    std::vector<std::vector<WeightedPlace>> taps;
};

struct ResizeOptions {
    std::string_view mode = "nearest";  // nearest, linear, cubic
    std::string_view transformation = "asymmetric";
    std::string_view rounding = "floor";  // of nearest
    double cubic_a = -0.75;
    bool exclude_outside = false;
    bool antialias = false;
    double extrapolation = 0;
};

// A call: its options, and its axes without their taps.
struct ResizeCall {
    ResizeOptions options;
    std::vector<ResizeAxis> axes;
};

Result<ResizeCall> read_resampling(const KernelContext& c);

}  // namespace sardonyx::eval::kernels
