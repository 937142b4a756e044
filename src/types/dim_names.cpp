#include "types/dim_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace sardonyx {

bool is_placeholder(std::string_view name) {
    constexpr std::string_view kUnknown[] = {"None", "unknown", "dynamic"};
    return std::find(std::begin(kUnknown), std::end(kUnknown), name) != std::end(kUnknown) ||
           std::none_of(name.begin(), name.end(), [](unsigned char character) {
               return std::isalpha(character) != 0 || character > 127;
           });
}

}  // namespace sardonyx
