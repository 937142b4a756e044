#include "base/json_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace sardonyx {
namespace {

std::string error_of(std::string_view text) {
    Result<JsonDocument> document = JsonDocument::parse(text);
    return document.ok() ? "" : document.error().message;
}

TEST(JsonReader, ReadsValues) {
    std::string text =
        R"( {"a": [1, -2.5e1, true, null], "b": {"c": "x\n\u00e9\ud83d\ude00"}, "a2": "", "a": 7} )";
    Result<JsonDocument> document = JsonDocument::parse(text);
    ASSERT_TRUE(document.ok());
    JsonValue root = document->root();
    EXPECT_EQ(root.size(), 4U);
    EXPECT_EQ(root["a"].integer(), 7);  // the last of two
    EXPECT_EQ(root["b"]["c"].text(), "x\n\xc3\xa9\xf0\x9f\x98\x80");
    EXPECT_EQ(root["a2"].text(), "");
    EXPECT_TRUE(root["a2"].is_text(""));
    EXPECT_TRUE(root["b"]["c"].is_text("x\n\xc3\xa9\xf0\x9f\x98\x80"));
    EXPECT_FALSE(root["a"].is_text("7"));
    JsonItems items = root.members()[0].second.items();
    ASSERT_EQ(items.size(), 4U);
    EXPECT_EQ(items[0].integer(), 1);
    EXPECT_EQ(items[1].number(), -25.0);
    EXPECT_EQ(items[1].integer(), std::nullopt);
    EXPECT_EQ(items[2].boolean(), true);
    EXPECT_TRUE(items[3].is_null());
    EXPECT_FALSE(items[4].exists());
    EXPECT_EQ(items.after(2).size(), 2U);
    EXPECT_TRUE(items.after(9).empty());
    EXPECT_EQ(root["b"].sole_name(), "c");
    EXPECT_EQ(root["b"].sole().text(), root["b"]["c"].text());
    EXPECT_FALSE(root.sole().exists());
}

TEST(JsonReader, WhatIsNotThereIsNone) {
    Result<JsonDocument> document = JsonDocument::parse("[]");
    ASSERT_TRUE(document.ok());
    JsonValue root = document->root();
    EXPECT_FALSE(root["a"]["b"].exists());
    EXPECT_EQ(root["a"].text(), std::nullopt);
    EXPECT_TRUE(root["a"].items().empty());
    EXPECT_TRUE(root["a"].source().empty());
    EXPECT_FALSE(root.sole().exists());
    EXPECT_EQ(root.size(), 0U);
}

TEST(JsonReader, RefusesWhatIsNoJson) {
    for (std::string_view text :
         {"", "{", "[1,]", "[1 2]", "{\"a\" 1}", "{1: 2}", "01", "1.", "1e", "-", "nul", "\"a",
          "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[] []", "{\"a\":1,}", "NaN"}) {
        EXPECT_NE(error_of(text), "") << text;
    }
    EXPECT_NE(error_of(std::string(1000, '[')).find("nested too deeply"), std::string::npos);
    EXPECT_EQ(error_of(std::string(500, '[') + std::string(500, ']')), "");
}

// Strings are read eight bytes at a time: each byte is met at each place, in front of each rest.
TEST(JsonReader, StringsEndAtTheFirstQuote) {
    for (size_t before = 0; before < 18; ++before) {
        for (size_t after = 0; after < 10; ++after) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string text(before, '\x80');
                text += static_cast<char>(byte);
                text.append(after, '~');
                std::string json = "[\"" + text + "\", 1]";
                Result<JsonDocument> document = JsonDocument::parse(json);
                bool is_plain = byte >= 0x20 && byte != '"' && byte != '\\';
                ASSERT_EQ(document.ok(), is_plain) << before << ' ' << after << ' ' << byte;
                if (is_plain) {
                    EXPECT_EQ(document->root().items()[0].text(), text);
                } else if (byte < 0x20) {
                    EXPECT_EQ(
                        document.error().message,
                        "a string has a control character, at byte " + std::to_string(before + 2));
                }
            }
        }
    }
}

TEST(JsonReader, LoneSurrogatesAreReplaced) {
    Result<JsonDocument> document = JsonDocument::parse(R"(["\ud83d", "\ud83d\u0041", "\udc00"])");
    ASSERT_TRUE(document.ok());
    JsonItems items = document->root().items();
    EXPECT_EQ(items[0].text(), "\xef\xbf\xbd");
    EXPECT_EQ(items[1].text(),
              "\xef\xbf\xbd"
              "A");
    EXPECT_EQ(items[2].text(), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace sardonyx
