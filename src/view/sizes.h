// How large boxes are, and where lines end at them. All text has a font of one width, so that its
// size is known without a browser.
#pragma once

#include "view/scene.h"

namespace sardonyx::view {

inline constexpr float kTitleFont = 12, kLineFont = 10.5F, kLabelFont = 9.5F;
inline constexpr float kTitleHeight = 24, kLineHeight = 14;
inline constexpr float kLabelRoom = 14;  // of a type below a box

// The parts of texts that are drawn.
std::string box_title(const Box& box);
std::string pin_label(const Pin& pin);

// Width and height of a box without its subgraphs.
void set_size(Box& box);
// Where the lines of a box end, when its width is known.
void place_pins(Box& box);
// The right end of the types below a box, from its middle.
float label_end(const Box& box);

}  // namespace sardonyx::view
