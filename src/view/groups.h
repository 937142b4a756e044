// The colours of boxes.
#pragma once

#include <string_view>

#include "view/scene.h"

namespace sardonyx::view {

// Of a node that is no call of a function of the model.
Group group_of(const ir::Node& node);

// As CSS has it.
std::string_view color_of(Group group);

}  // namespace sardonyx::view
