#include "driver/picture.h"

#include <memory>

#include "infer/infer.h"
#include "ir/copy.h"
#include "view/layout.h"
#include "view/write.h"

namespace sardonyx::driver {

std::optional<std::string> picture(const ir::Model& model) {
    Result<view::Scene> scene = view::make_scene(model, nullptr, {});
    if (!scene.ok() || scene->box_count > kMostPictureBoxes) {
        return std::nullopt;
    }
    // The copy shares the weights.
    std::unique_ptr<ir::Model> copy = ir::copy(model);
    (void)infer::infer_model(*copy);
    scene = view::make_scene(*copy, nullptr, {});
    if (!scene.ok()) {
        return std::nullopt;
    }
    view::lay_out(*scene, view::Subgraphs::kInside);
    return view::to_svg(*scene);
}

}  // namespace sardonyx::driver
