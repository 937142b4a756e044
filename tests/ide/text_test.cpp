#include "ide/text.h"

#include <gtest/gtest.h>

#include <string>

namespace sardonyx::ide {
namespace {

// "a", "ö" (2 bytes), "𝔘" (4 bytes, 2 units of UTF-16), "b".
const std::string kText =
    "x\na\xC3\xB6\xF0\x9D\x94\x98"
    "b\r\ny\rz";

TEST(LineTable, Encodings) {
    LineTable lines(kText);
    struct Row {
        Encoding encoding;
        uint32_t character;
    };
    for (Row row : {Row{Encoding::kUtf8, 7}, Row{Encoding::kUtf16, 4}, Row{Encoding::kUtf32, 3}}) {
        EXPECT_EQ(lines.offset({1, row.character}, row.encoding), 9u);
        EXPECT_EQ(lines.place(9, row.encoding), (Place{1, row.character}));
    }
}

TEST(LineTable, LineEndsOfAllSystems) {
    LineTable lines(kText);
    EXPECT_EQ(kText.substr(lines.offset({2, 0}, Encoding::kUtf16), 1), "y");
    EXPECT_EQ(kText.substr(lines.offset({3, 0}, Encoding::kUtf16), 1), "z");
}

TEST(LineTable, PlacesOutOfRange) {
    LineTable lines(kText);
    EXPECT_EQ(lines.offset({9, 0}, Encoding::kUtf16), kText.size());
    EXPECT_EQ(lines.offset({0, 99}, Encoding::kUtf16), 1u);
    EXPECT_EQ(lines.offset({1, 3}, Encoding::kUtf16), 5u);  // within a pair of units
    EXPECT_EQ(lines.place(99, Encoding::kUtf8).line, 3u);
    EXPECT_EQ(lines.place(7, Encoding::kUtf16), (Place{1, 2}));  // within a code point
    EXPECT_EQ(LineTable("").place(0, Encoding::kUtf8), Place());
    LineTable broken("\xF0\x9D\xFF\x80");
    EXPECT_EQ(broken.place(4, Encoding::kUtf16).character, 4u);
}

}  // namespace
}  // namespace sardonyx::ide
