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

std::vector<std::string> symbols_of(const Dim& dim) {
    std::vector<std::string> symbols;
    (void)dim.substitute([&symbols](std::string_view symbol) {
        if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) {
            symbols.emplace_back(symbol);
        }
        return Dim::symbol(symbol);
    });
    return symbols;
}

}  // namespace sardonyx
