// Which scripts of an edited file are not checked again, and where their findings are then.
#include "driver/check_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace sardonyx::driver {
namespace {

const diagnostics::Kind kKind{"a-kind", diagnostics::Severity::kWarning};

// Two scripts, `f` and `g`, whose bodies are given, between `before` and `after`.
struct File {
    File(const std::string& before, const std::string& in_f, const std::string& in_g,
         const std::string& after = "")
        : text(before + "def f:" + in_f + "def g:" + in_g + after) {
        auto place = [](size_t offset) { return static_cast<uint32_t>(offset); };
        size_t f = before.size() + 6, g = f + in_f.size() + 6;
        bodies = {{"f", place(f), place(f + in_f.size())}, {"g", place(g), place(g + in_g.size())}};
    }
    ScriptLayout layout() const { return {{0}, text, bodies, mentioned, context}; }

    std::string text;
    std::vector<ScriptBody> bodies;
    std::vector<std::vector<size_t>> mentioned{{}, {}};
    uint64_t context = 0;
};

// One finding about what stands at the first `word` of the text.
ScriptFindings at_word(const File& file, std::string_view word) {
    auto begin = static_cast<uint32_t>(file.text.find(word));
    ScriptFindings found;
    diagnostics::Span span{{0}, begin, begin + static_cast<uint32_t>(word.size())};
    found.findings.push_back({&kKind, "about it", {{span, ""}}, {}, "", {}});
    return found;
}

std::string word_of(const File& file, const ScriptFindings* found) {
    if (found == nullptr) {
        return "";
    }
    diagnostics::Span span = found->findings[0].labels[0].span;
    return file.text.substr(span.begin, span.end - span.begin);
}

using Words = std::pair<std::string, std::string>;

// What is found of each script in `after`, when both had a finding about a word in `before`.
Words after_edit(const File& before, std::string_view in_f, std::string_view in_g,
                 const File& after) {
    CheckMemory memory;
    memory.begin(before.layout());
    memory.keep(0, at_word(before, in_f));
    memory.keep(1, at_word(before, in_g));
    memory.end();
    memory.begin(after.layout());
    std::string f = word_of(after, memory.find(0));
    return {f, word_of(after, memory.find(1))};
}

TEST(CheckMemory, KeepsWhatIsNotEdited) {
    File file("x\n", " one\n", " two\n");
    EXPECT_EQ(after_edit(file, "one", "two", file), Words("one", "two"));
}

TEST(CheckMemory, AnEditOfOneBodyMovesTheOther) {
    File before("x\n", " one\n", " two\n");
    EXPECT_EQ(after_edit(before, "one", "two", File("x\n", " one and more\n", " two\n")),
              Words("", "two"));
    EXPECT_EQ(after_edit(before, "one", "two", File("x\n", " one\n", "")), Words("one", ""));
}

TEST(CheckMemory, AnEditOutsideOfBodiesForgetsAll) {
    File before("x\n", " one\n", " two\n");
    EXPECT_EQ(after_edit(before, "one", "two", File("y\n", " one\n", " two\n")), Words("", ""));
    EXPECT_EQ(after_edit(before, "one", "two", File("x\n", " one\n", " two\n", "z")),
              Words("", ""));
}

TEST(CheckMemory, ACallerSeesWhatItNames) {
    File before("x\n", " one g\n", " two\n");
    File after("x\n", " one g\n", " three\n");
    File other("x\n", " one g \n", " two\n");
    before.mentioned = after.mentioned = other.mentioned = {{1}, {}};
    EXPECT_EQ(after_edit(before, "one", "two", after), Words("", ""));
    EXPECT_EQ(after_edit(before, "one", "two", other), Words("", "two"));
}

TEST(CheckMemory, WhatIsNamedOutsideOfBodiesIsSeenByAll) {
    File before("x\n", " one\n", " two\n", "alias = g");
    File after("x\n", " one\n", " 2\n", "alias = g");
    EXPECT_EQ(after_edit(before, "one", "two", after), Words("", ""));
}

TEST(CheckMemory, AFindingAboutAnotherBodyOrALineIsNotKept) {
    File file("x\n", " one\n", " two\n");
    EXPECT_EQ(after_edit(file, "two", "def f", file), Words("", "def f"));
    CheckMemory memory;
    ScriptFindings about_line = at_word(file, "one");
    about_line.findings[0].message = "it is computed in line 4";
    memory.begin(file.layout());
    memory.keep(0, about_line);
    memory.end();
    memory.begin(file.layout());
    EXPECT_EQ(memory.find(0), nullptr);
}

TEST(CheckMemory, AnotherContextForgetsAll) {
    File before("x\n", " one\n", " two\n");
    File after = before;
    after.context = 1;
    EXPECT_EQ(after_edit(before, "one", "two", after), Words("", ""));
}

}  // namespace
}  // namespace sardonyx::driver
