// The domains of operators. The standard's own has two names, "" and "ai.onnx"; all code but this
// and what is shown to people knows the first alone.
#pragma once

#include <string_view>

namespace sardonyx {

constexpr std::string_view normal_domain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

// For messages.
constexpr std::string_view shown_domain(std::string_view domain) {
    return domain.empty() ? std::string_view("ai.onnx") : domain;
}

}  // namespace sardonyx
