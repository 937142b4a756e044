#include "view/picture.h"

#include <memory>

#include "infer/infer.h"
#include "ir/copy.h"
#include "view/layout.h"
#include "view/write.h"

namespace sardonyx::view {

std::optional<std::string> picture(const ir::Model& model) {
    Result<Scene> scene = make_scene(model, nullptr, {});
    if (!scene.ok() || scene->box_count > kMostPictureBoxes) {
        return std::nullopt;
    }
    // The copy shares the weights.
    std::unique_ptr<ir::Model> copy = ir::copy(model);
    (void)infer::infer_model(*copy);
    scene = make_scene(*copy, nullptr, {});
    if (!scene.ok()) {
        return std::nullopt;
    }
    lay_out(*scene, true);
    return to_svg(*scene);
}

}  // namespace sardonyx::view
