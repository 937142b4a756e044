// Numbers about the elements of a tensor, read in pieces: the memory does not grow with it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "types/tensor.h"

namespace sardonyx::models {

struct Statistics {
    // Of the finite elements; least > greatest where there are none.
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();
    double mean = 0;
    double deviation = 0;  // from the mean, of the root of the mean square
    int64_t zero_count = 0;
    int64_t nan_count = 0;
    int64_t infinity_count = 0;

    bool has_numbers() const { return least <= greatest; }
};
// Strings and complex numbers have none.
Statistics statistics(const Tensor& tensor);
// "-1 to 3.5, 2 NaN"; empty where there is nothing to say.
std::string statistics_text(const Tensor& tensor);
std::string statistics_text(const Statistics& found);

// How the elements of a tensor are spread. Of a large tensor, pieces are read that stand equally
// far from each other, so that the time does not grow with it.
struct Histogram {
    Statistics statistics;      // of the elements that are read
    int64_t seen = 0;           // how many are
    std::vector<int64_t> bars;  // those in equal parts from the least to the greatest; empty: all
                                // are equal, or there are no numbers
};
Histogram histogram(const Tensor& tensor);

// How far two tensors are apart.
struct Difference {
    double greatest = 0;  // of |a - b|
    int64_t place = 0;    // the first element beyond the tolerance, or that of the greatest
    int64_t beyond = 0;   // elements beyond the tolerance
    double a = 0;         // the elements at `place`
    double b = 0;
};
// Elements agree where |a - b| <= absolute + relative * |b|, or both are NaN or the same infinity.
// Nothing where types or shapes differ. Strings agree where they are equal.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};
std::optional<Difference> difference(const Tensor& a, const Tensor& b, Tolerance tolerance);

}  // namespace sardonyx::models
