#include "ide/text.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Places in long lines, beside those that are counted from the beginning of the line.
TEST(LineTable, LongLines) {
    const char* const kPieces[] = {"a", "\xC3\xB6", "\xF0\x9D\x94\x98", "\xFF", "\n", "\r\n", "\r"};
    std::string text;
    uint32_t draw = 1;
    while (text.size() < 20'000) {
        draw = draw * 1'664'525 + 1'013'904'223;
        uint32_t piece = (draw >> 16) % 5'000;
        text += kPieces[piece < 3 ? 4 + piece : piece % 4];
    }
    LineTable lines(text);
    auto end = static_cast<uint32_t>(text.size());
    for (Encoding encoding : {Encoding::kUtf8, Encoding::kUtf16, Encoding::kUtf32}) {
        uint32_t line = 0, character = 0;
        for (uint32_t at = 0; at < end;) {
            EXPECT_EQ(lines.place(at, encoding), (Place{line, character}));
            bool is_in_break = text[at] == '\n' && at > 0 && text[at - 1] == '\r';
            if (!is_in_break) {
                ASSERT_EQ(lines.offset({line, character}, encoding), at);
            }
            bool is_end =
                text[at] == '\n' || (text[at] == '\r' && (at + 1 == end || text[at + 1] != '\n'));
            uint32_t length = text[at] == '\xC3' ? 2 : text[at] == '\xF0' ? 4 : 1;
            uint32_t units = encoding == Encoding::kUtf8    ? length
                             : encoding == Encoding::kUtf16 ? (length == 4 ? 2 : 1)
                                                            : 1;
            character = is_end ? 0 : character + units;
            line += is_end ? 1 : 0;
            at += length;
        }
    }
    EXPECT_EQ(lines.offset({0, 1'000'000}, Encoding::kUtf16),
              std::min(text.find('\n'), text.find('\r')));
}

}  // namespace
}  // namespace sardonyx::ide
