// Models as pictures for notebooks.
#include "driver/picture.h"

#include <gtest/gtest.h>

#include "../ir/chain.h"

namespace sardonyx::driver {
namespace {

TEST(Picture, DrawsWhatPeopleLookAt) {
    std::unique_ptr<ir::Model> model = ir::chain(2);
    std::optional<std::string> svg = picture(*model);
    ASSERT_TRUE(svg.has_value());
    EXPECT_NE(svg->find("<svg"), std::string::npos);
    EXPECT_NE(svg->find("Neg"), std::string::npos);
    EXPECT_FALSE(model->graph->outputs[0]->type.is_known());  // types are those of a copy
    EXPECT_FALSE(picture(*ir::chain(static_cast<int>(kMostPictureBoxes))).has_value());
    EXPECT_TRUE(picture(*ir::chain(static_cast<int>(kMostPictureBoxes) - 2)).has_value());
}

}  // namespace
}  // namespace sardonyx::driver
