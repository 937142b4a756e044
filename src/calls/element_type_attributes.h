// Which attributes are the number of an element type.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sardonyx::calls {

inline bool names_element_type(std::string_view attribute) {
    constexpr std::array<std::string_view, 6> kNames = {
        "to", "dtype", "output_dtype", "output_datatype", "stash_type", "softmax_precision"};
    return std::find(kNames.begin(), kNames.end(), attribute) != kNames.end();
}

}  // namespace sardonyx::calls
