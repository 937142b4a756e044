// Which attributes are the number of an element type.
#pragma once

#include <string_view>

namespace sardonyx::calls {

inline bool names_element_type(std::string_view attribute) {
    return attribute == "to" || attribute == "dtype";
}

}  // namespace sardonyx::calls
