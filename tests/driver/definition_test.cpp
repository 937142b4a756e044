// Functions that a program has defined, looked for in their files.
#include "driver/definition.h"

#include <gtest/gtest.h>

#include <fstream>

#include "driver/source_cache.h"
#include "driver/torch_file.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

struct Read {
    explicit Read(std::string text) { file = program.sources.add("file.py", std::move(text)); }
    Result<Definition> at(uint32_t line, std::string_view name, const IsLambda& is_lambda = {}) {
        return read_definition(program, file, line, name, is_lambda);
    }

    elaborate::Program program{weights::read_weights};
    diagnostics::FileId file;
};

TEST(ReadDefinition, FindsTheFunctionOfALine) {
    Read read("import a\n@script()\ndef f(x):\n    return x\n\n\ndef g(x):\n    return x\n");
    Result<Definition> f = read.at(2, "f");
    ASSERT_TRUE(f.ok());
    ASSERT_NE(f->function, nullptr);
    EXPECT_EQ(f->whole.begin, 9U);  // the decorator belongs to it
    EXPECT_EQ(f->name, "f");
    ASSERT_TRUE(read.at(7, "g").ok());
}

TEST(IsOfProgram, MeansTheFolderOfTheScriptAndThoseBelow) {
    EXPECT_TRUE(is_of_program("/a/b/c.py", "/a/b/script.py"));
    EXPECT_TRUE(is_of_program("/a/b/d/c.py", "/a/b/script.py"));
    EXPECT_TRUE(is_of_program("/a/b/../b/./c.py", "/a/e/../b/script.py"));
    EXPECT_FALSE(is_of_program("/a/c.py", "/a/b/script.py"));
    EXPECT_FALSE(is_of_program("/a/bc/c.py", "/a/b/script.py"));
    EXPECT_TRUE(is_of_program("/a/c.py", "<stdin>"));  // which has no folder
    EXPECT_FALSE(is_of_program("", "/a/b/script.py"));
}

TEST(ReadDefinition, TellsThatTheFileHasChanged) {
    Read read("def f(x):\n    return x\n");
    EXPECT_EQ(read.at(1, "g").error().message,
              "`file.py` has no `def g` in line 1: it has changed since it was imported");
    EXPECT_EQ(read.at(2, "f").error().message,
              "`file.py` has no `def f` in line 2: it has changed since it was imported");
    EXPECT_EQ(read.at(99, "f").error().message,
              "`file.py` has become shorter since it was imported");
    EXPECT_FALSE(read.program.diagnostics.has_errors());
}

TEST(ReadDefinition, TellsSyntaxErrorsToTheProgram) {
    Read read("def f(x:\n    return x\n");
    Result<Definition> f = read.at(1, "f");
    ASSERT_TRUE(f.ok());
    EXPECT_EQ(f->function, nullptr);
    EXPECT_TRUE(read.program.diagnostics.has_errors());
}

TEST(ReadDefinition, TakesALambdaThatItsCallerKnows) {
    Read read("g = lambda x: x + 1\nh = (lambda x: x, lambda y: y)\n");
    EXPECT_FALSE(read.at(1, "<lambda>").ok());
    std::string seen;
    Result<Definition> known = read.at(1, "<lambda>", [&seen](std::string_view text) {
        seen = text;
        return true;
    });
    ASSERT_TRUE(known.ok());
    ASSERT_NE(known->function, nullptr);
    EXPECT_EQ(known->name, "lambda");
    EXPECT_EQ(seen, "lambda x: x + 1");
    Result<Definition> other = read.at(1, "<lambda>", [](std::string_view) { return false; });
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(other->function, nullptr);
    // Of two the one that it knows.
    Result<Definition> two = read.at(2, "<lambda>", [&seen](std::string_view text) {
        seen = text;
        return text == "lambda y: y";
    });
    ASSERT_TRUE(two.ok());
    ASSERT_NE(two->function, nullptr);
    EXPECT_EQ(seen, "lambda y: y");
    EXPECT_EQ(read.at(2, "<lambda>", [](std::string_view) { return false; })->function, nullptr);
}

TEST(CheckDefinition, TellsCertainErrorsAndHearsComments) {
    Read read(
        "def f(x):\n"
        "    return op.Softmax(x, axes=1)\n");
    Result<Definition> f = read.at(1, "f");
    ASSERT_TRUE(f.ok());
    elaborate::ScriptFunction script;
    script.name = "f";
    script.tree = f->tree.get();
    script.definition = f->function;
    auto opset_of = [](std::string_view name) {
        return name == "op" ? std::optional(elaborate::OpsetObject{"", 20}) : std::nullopt;
    };
    check_definition(read.program, script, nullptr, opset_of);
    ASSERT_EQ(read.program.diagnostics.items().size(), 1U);
    EXPECT_NE(read.program.diagnostics.items()[0].message.find("axes"), std::string::npos);
    // Of a name that means something else, nothing is certain.
    read.program.diagnostics.clear();
    check_definition(read.program, script, nullptr,
                     [](std::string_view) { return std::optional<elaborate::OpsetObject>(); });
    EXPECT_TRUE(read.program.diagnostics.items().empty());
}

TEST(SourceCache, ReadsAFileAgainWhereItHasChanged) {
    diagnostics::Sources sources;
    SourceCache cache(sources);
    std::string path = testing::TempDir() + "source_cache_test.py";
    std::ofstream(path) << "a = 1\n";
    diagnostics::FileId first = cache.of_file(path);
    ASSERT_TRUE(first.valid());
    EXPECT_EQ(cache.of_file(path), first);
    std::ofstream(path) << "a = 1234\n";
    diagnostics::FileId second = cache.of_file(path);
    EXPECT_FALSE(second == first);
    EXPECT_EQ(sources.text(second), "a = 1234\n");
    EXPECT_EQ(sources.text(first), "a = 1\n");  // findings point into it
    EXPECT_FALSE(cache.of_file(path + ".missing").valid());
}

TEST(SourceCache, KeepsTextsOfOthersByWhatTheyAreCalled) {
    diagnostics::Sources sources;
    SourceCache cache(sources);
    diagnostics::FileId first = cache.of_text("<cell>", "cell 1", "a");
    EXPECT_EQ(cache.of_text("<cell>", "cell 1", "a"), first);
    EXPECT_FALSE(cache.of_text("<cell>", "cell 1", "b") == first);
    EXPECT_FALSE(cache.of_text("<cell>", "cell 2", "b") == first);
}

TEST(TorchTarget, TakesTheOpsetThatIsChosenWhereTheReleaseDoes) {
    EXPECT_EQ(torch_target(std::nullopt, std::nullopt)->opset, kTorchOpset);
    EXPECT_EQ(torch_target(std::nullopt, 18)->opset, 18);
    EXPECT_EQ(torch_target("onnxruntime-1.20", 18)->runtime, (models::Runtime{1, 20}));
    EXPECT_FALSE(torch_target("onnxruntime-1.17", 23).ok());
    EXPECT_FALSE(torch_target("", std::nullopt).ok());
    EXPECT_FALSE(torch_target("tensorrt-10", std::nullopt).ok());
}

}  // namespace
}  // namespace sardonyx::driver
