// Where the boxes and lines of a sheet stand.
#pragma once

#include "view/scene.h"

namespace sardonyx::view {

// Room between the corner of a sheet and what is in it.
inline constexpr float kMargin = 16;
// What a box needs above and below its subgraphs.
inline constexpr float kInnerTitle = 18;
inline constexpr float kInnerRoom = 8;

// Where the subgraphs of nodes are. kInside: in their nodes, as far as the picture stays of a size
// that people look at; kApart: each sheet is laid out as if its nodes had none, and whoever shows
// it makes room where one is opened.
enum class Subgraphs : uint8_t { kApart, kInside };

// Places everything.
void lay_out(Scene& scene, Subgraphs subgraphs);

}  // namespace sardonyx::view
