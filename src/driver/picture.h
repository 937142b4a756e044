// A model as a picture for those who only look at it, such as a notebook.
#pragma once

#include <optional>
#include <string>

#include "ir/ir.h"

namespace sardonyx::driver {

// More boxes make no picture that people look at, and one that a browser shows slowly.
inline constexpr size_t kMostPictureBoxes = 1500;

// SVG, with types inferred; the model itself does not change. Nothing: it has no graph, or too
// many boxes.
std::optional<std::string> picture(const ir::Model& model);

}  // namespace sardonyx::driver
