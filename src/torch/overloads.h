// The overloads that compute what others write in place.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sardonyx::torch {

// Whether the library, or the user, has an overload.
using IsKnown = std::function<bool(std::string_view overload)>;

// The overload that computes what an in-place one writes: `add.Tensor` of `add_.Tensor` and of
// `add.out`. It is the same one where the library declares the in-place one.
std::string functional_overload(std::string_view overload, const IsKnown& is_known);

// Whether an in-place operator writes truths, as elements of its target's type.
bool gives_truths(std::string_view overload);

}  // namespace sardonyx::torch
