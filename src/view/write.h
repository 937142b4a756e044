// A scene that is laid out, as text for others.
#pragma once

#include <string>

#include "view/scene.h"

namespace sardonyx::view {

// All that a scene says, on one line; texts are escaped so that it may stand in a page.
std::string to_json(const Scene& scene);
// A picture of all graphs and functions, below each other; laid out open.
std::string to_svg(const Scene& scene);
// A page that needs nothing else, around the JSON.
std::string to_html(const Scene& scene);

}  // namespace sardonyx::view
