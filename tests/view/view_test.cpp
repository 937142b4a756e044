// Pictures of models: what is hostile in a model stays text, and boxes stand apart.
#include <gtest/gtest.h>

#include "../ir/chain.h"
#include "view/layout.h"
#include "view/text.h"
#include "view/write.h"

namespace sardonyx::view {
namespace {

Scene scene_of(const ir::Model& model) {
    return make_scene(model, nullptr, "title", nullptr).value();
}

TEST(Shown, MakesTextsHarmless) {
    EXPECT_EQ(shown("abc", 10), "abc");
    EXPECT_EQ(shown("abcdef", 3), "abc…");
    EXPECT_EQ(shown("a\xff", 10), "a\xEF\xBF\xBD");
    EXPECT_EQ(shown("a\x1b[0m", 10), "a␛[0m");
    EXPECT_EQ(shown("a\nb", 10).find('\n'), std::string::npos);
    EXPECT_EQ(shown_lines("a\nb", 10), "a\nb");
    EXPECT_EQ(shown("\u202eabc", 10).find("\u202e"), std::string::npos);  // right to left
    EXPECT_EQ(columns("abc"), 3U);
}

TEST(Scene, HasABoxForEachNodeAndEnd) {
    Scene scene = scene_of(*ir::chain(3));
    ASSERT_EQ(scene.sheets.size(), 1U);
    EXPECT_EQ(scene.sheets[0].boxes.size(), 5U);
    EXPECT_EQ(scene.sheets[0].lines.size(), 4U);
    EXPECT_EQ(scene.box_count, 5U);
}

TEST(Layout, PutsNoBoxOnAnother) {
    Scene scene = scene_of(*ir::chain(40));
    for (Subgraphs subgraphs : {Subgraphs::kApart, Subgraphs::kInside}) {
        lay_out(scene, subgraphs);
        const Sheet& sheet = scene.sheets[0];
        for (size_t i = 0; i < sheet.boxes.size(); ++i) {
            const Box& a = sheet.boxes[i];
            EXPECT_GE(a.x, 0);
            EXPECT_LE(a.x + a.width, sheet.width);
            EXPECT_LE(a.y + a.height, sheet.height);
            for (size_t j = 0; j < i; ++j) {
                const Box& b = sheet.boxes[j];
                EXPECT_TRUE(a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height ||
                            b.y >= a.y + a.height)
                    << i << " on " << j;
            }
        }
    }
}

TEST(Layout, IsTheSameEachTime) {
    Scene first = scene_of(*ir::chain(20)), second = scene_of(*ir::chain(20));
    lay_out(first, Subgraphs::kInside);
    lay_out(second, Subgraphs::kInside);
    EXPECT_EQ(to_svg(first), to_svg(second));
    EXPECT_EQ(to_json(first), to_json(second));
}

TEST(Write, EscapesWhatIsOfTheModel) {
    Scene scene = scene_of(*ir::chain(1, "</script><b>&\"'"));
    lay_out(scene, Subgraphs::kInside);
    for (const std::string& text : {to_svg(scene), to_json(scene), to_html(scene)}) {
        EXPECT_EQ(text.find("</script><b>"), std::string::npos);
    }
}

}  // namespace
}  // namespace sardonyx::view
