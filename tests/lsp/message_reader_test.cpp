#include "lsp/message_reader.h"

#include <gtest/gtest.h>

#include "lsp/json.h"

namespace sardonyx::lsp {
namespace {

// The messages of the bytes, of which `step` come at a time.
std::vector<std::string> read_in_pieces(std::string_view bytes, size_t step) {
    MessageReader reader;
    std::vector<std::string> found;
    for (size_t i = 0; i < bytes.size(); i += step) {
        reader.add(bytes.substr(i, step));
        while (std::optional<std::string> one = reader.next()) {
            found.push_back(*one);
        }
    }
    return found;
}

TEST(MessageReader, MessagesInPieces) {
    std::string bytes = frame("{}") + "content-length:3\n\nabc" + frame("");
    for (size_t step = 1; step < bytes.size(); ++step) {
        EXPECT_EQ(read_in_pieces(bytes, step), (std::vector<std::string>{"{}", "abc", ""}));
    }
}

TEST(MessageReader, WhatIsNoHeaderIsPassedOver) {
    MessageReader reader;
    reader.add(std::string(20'000, 'x'));
    EXPECT_FALSE(reader.next());
    reader.add("\r\n\r\nContent-Length: x\r\n\r\nContent-Type: a\r\nContent-Length: 1\r\n\r\n7");
    EXPECT_EQ(reader.next(), "7");
    EXPECT_FALSE(reader.next());
}

// Behind bytes that are no message, and that no line feed ends, the next message is read all the
// same.
TEST(MessageReader, ReadsOnBehindWhatIsNoMessage) {
    for (std::string_view junk :
         {"Content-Length: -5\r\n\r\n{}", "Content-Length: 99999999999999999999999\r\n\r\n{}",
          "Content-Length:\r\n\r\n{\"a\":1}", "Content-Type: x\r\n\r\n{}", "nonsense",
          "content-length: 7 Content-Len"}) {
        std::string bytes = std::string(junk) + frame("7") + frame("8");
        for (size_t step : {size_t{1}, size_t{3}, bytes.size()}) {
            EXPECT_EQ(read_in_pieces(bytes, step), (std::vector<std::string>{"7", "8"})) << junk;
        }
    }
}

TEST(MessageReader, HeaderInPiecesBehindManyBytes) {
    MessageReader reader;
    reader.add(std::string(20'000, 'x') + "Content-Le");
    EXPECT_FALSE(reader.next());
    reader.add("ngth: 1\r\n\r\n7");
    EXPECT_EQ(reader.next(), "7");
}

TEST(MessageReader, MessagesThatAreTooLongArePassedOver) {
    MessageReader reader;
    size_t length = MessageReader::kLongest + 1;
    reader.add("Content-Length: " + std::to_string(length) + "\r\n\r\n");
    EXPECT_FALSE(reader.next());
    std::string piece(1 << 20, '\n');
    while (length > 0) {
        size_t count = std::min(length, piece.size());
        reader.add(std::string_view(piece).substr(0, count));
        length -= count;
        EXPECT_FALSE(reader.next());
    }
    reader.add(frame("x"));
    EXPECT_EQ(reader.next(), "x");
}

TEST(Json, ReadAndWritten) {
    std::string text = R"({"a":[1,-2,true,null,"x\n\"\\"],"b":{"c":1.5}})";
    std::optional<Json> json = read_json(text);
    ASSERT_TRUE(json.has_value());
    EXPECT_EQ(json->write(), text);
    EXPECT_EQ((*json)["a"].items().size(), 5u);
    EXPECT_TRUE((*json)["b"]["d"]["e"].is_null());
    EXPECT_EQ(Json(std::string("\xFF\x01")).write(), "\"\xEF\xBF\xBD\\u0001\"");
    EXPECT_FALSE(read_json("{"));
    EXPECT_FALSE(read_json(std::string(200, '[')));
    EXPECT_FALSE(read_json("\"\xFF\""));
    EXPECT_EQ(read_json("18446744073709551615")->integer(), 0);
}

}  // namespace
}  // namespace sardonyx::lsp
