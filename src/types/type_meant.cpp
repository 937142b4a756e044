#include "types/type_meant.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/nearest.h"
#include "types/numpy_names.h"
#include "types/type.h"

namespace sardonyx {
namespace {

bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string upper(std::string_view word) {
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
}

// The name of an element type that the word means.
std::string element_meant(std::string_view word) {
    if (ElementType type = element_type_from_numpy(word); type != ElementType::kUndefined) {
        return std::string(name(type));
    }
    if (std::string_view meant = element_name_meant(word); !meant.empty()) {
        return std::string(meant);
    }
    std::string large = upper(word);
    if (element_type_from_name(large) != ElementType::kUndefined) {
        return large;
    }
    std::vector<std::string_view> names;
    for (int i = 1; i < kElementTypeCount; ++i) {
        names.push_back(name(static_cast<ElementType>(i)));
    }
    return std::string(nearest(large, names));
}

}  // namespace

std::string type_help(std::string_view text) {
    static constexpr std::array<std::string_view, 4> kContainers = {"Sequence", "Optional",
                                                                    "SparseTensor", "Map"};
    for (size_t begin = 0; begin < text.size();) {
        size_t end = begin;
        while (end < text.size() && is_of_word(text[end])) {
            ++end;
        }
        std::string_view word = text.substr(begin, end - begin);
        bool is_element = !word.empty() && std::find(kContainers.begin(), kContainers.end(),
                                                     word) == kContainers.end();
        if (is_element) {
            std::string whole = std::string(text.substr(0, begin)) + element_meant(word) +
                                std::string(text.substr(end));
            return parse_type(whole).has_value() ? "; did you mean `" + whole + "`?"
                                                 : std::string();
        }
        begin = std::max(end, begin + 1);
    }
    return {};
}

}  // namespace sardonyx
