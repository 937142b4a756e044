// The places of a row's boxes, as near as can be to where each wants to be.
#pragma once

#include <vector>

namespace sardonyx::view {

struct Wish {
    float place = 0;
    float weight = 1;
};

// Replaces the places by those that never fall and whose weighted sum of squared differences is the
// least (pool adjacent violators; Ayer et al. 1955).
void fit_rising(std::vector<Wish>& wishes);

}  // namespace sardonyx::view
