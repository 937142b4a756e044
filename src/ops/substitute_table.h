// The table behind substitutes.h, for those who list it.
#pragma once

#include <span>
#include <string_view>

namespace sardonyx::ops {

struct Substitute {
    std::string_view name;  // in small letters, without underscores
    std::string_view text;  // "write `x * op.Sigmoid(x)`, ..."
};

// In alphabetical order.
std::span<const Substitute> substitutes();

}  // namespace sardonyx::ops
