// The colours of boxes.
#pragma once

#include <string_view>

#include "view/scene.h"

namespace sardonyx::view {

Group group_of(const ir::Node& node, bool is_function);

// As CSS has it.
std::string_view color_of(Group group);

}  // namespace sardonyx::view
