// Two models in one scene.
#pragma once

#include <vector>

#include "view/scene.h"

namespace sardonyx::view {

// Adds the sheets, files and notes of `second` behind those of `first`, and has its main graph
// shown beside. Nothing is placed yet.
void put_beside(Scene& first, Scene second, std::vector<Change> changes);

}  // namespace sardonyx::view
