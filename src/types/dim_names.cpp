#include "types/dim_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "types/dim_expression.h"

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
    each_symbol(dim, [&symbols](const std::string& symbol) {
        if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) {
            symbols.push_back(symbol);
        }
    });
    return symbols;
}

}  // namespace sardonyx
