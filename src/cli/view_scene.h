// From the words of `sardonyx view` to what is shown.
#pragma once

#include <optional>

#include "cli/commands.h"
#include "view/scene.h"

namespace sardonyx::cli {

// What is shown, and the exit status. Without a scene, why there is none has been printed; with
// one, a run of it may have failed.
struct Sight {
    std::optional<view::Scene> scene;
    int status = kFailure;
};

Sight see(const ViewOptions& options);

}  // namespace sardonyx::cli
