// The one way to a compilation: which script is meant, which findings are told.
#include "driver/driver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "driver/check.h"
#include "elaborate/objects/unknowns.h"

namespace sardonyx::driver {
namespace {

constexpr std::string_view kHead =
    "from sardonyx import FLOAT, opset23 as op, script\n"
    "\n"
    "\n";

Request request_of(const std::string& body) {
    Request request;
    request.path = "file.py";
    request.text = std::string(kHead) + body;
    return request;
}

std::vector<std::string> codes(const diagnostics::Diagnostics& findings) {
    std::vector<std::string> all;
    for (const diagnostics::Diagnostic& one : findings.items()) {
        all.emplace_back(one.kind->code);
    }
    return all;
}

using Codes = std::vector<std::string>;

constexpr const char* kTwo =
    "@script()\n"
    "def helper(x):\n"
    "    return op.Relu(x)\n"
    "\n"
    "\n"
    "@script()\n"
    "def whole(x: FLOAT[2]):\n"
    "    return helper(x)\n";

TEST(Compile, TakesTheScriptThatNoOtherUses) {
    Compilation compiled = compile(request_of(kTwo));
    ASSERT_FALSE(compiled.has_failed());
    EXPECT_EQ(compiled.script->name, "whole");
    EXPECT_NE(compiled.model->graph, nullptr);
    EXPECT_TRUE(compiled.findings().items().empty());
}

TEST(Compile, TakesTheOnlyOneThatIsAModel) {
    Compilation compiled =
        compile(request_of("@script()\n"
                           "def open(x):\n"
                           "    return op.Relu(x)\n"
                           "\n"
                           "\n"
                           "@script()\n"
                           "def closed(x: FLOAT[2]):\n"
                           "    y = op.Relu(x)\n"
                           "    return op.Neg(y)\n"));
    ASSERT_FALSE(compiled.has_failed());
    EXPECT_EQ(compiled.script->name, "closed");
    EXPECT_TRUE(compiled.findings().items().empty());
}

TEST(Compile, AnAttributeOfTheSameNameIsNoUse) {
    Compilation compiled =
        compile(request_of("@script()\n"
                           "def Relu(x: FLOAT[2]):\n"
                           "    return op.Neg(x)\n"
                           "\n"
                           "\n"
                           "@script()\n"
                           "def other(x):\n"
                           "    return op.Relu(x)\n"));
    ASSERT_FALSE(compiled.has_failed());
    EXPECT_EQ(compiled.script->name, "Relu");
}

TEST(Compile, ComplainsWhenSeveralScriptsMayBeMeant) {
    Request request = request_of(
        "@script()\n"
        "def a(x: FLOAT[2]):\n"
        "    return op.Relu(x)\n"
        "\n"
        "\n"
        "@script()\n"
        "def b(x: FLOAT[2]):\n"
        "    return op.Neg(x)\n");
    Compilation compiled = compile(request);
    EXPECT_EQ(compiled.model, nullptr);
    EXPECT_NE(compiled.complaint.find("several scripts"), std::string::npos);
    request.script = "c";
    compiled = compile(request);
    EXPECT_NE(compiled.complaint.find("no script `c`"), std::string::npos);
    request.script = "b";
    EXPECT_FALSE(compile(request).has_failed());
}

TEST(Compile, AFormAsAnnotated) {
    Request request = request_of("@script()\ndef f(x):\n    return op.Relu(x)\n");
    request.form = Form::kAsAnnotated;
    Compilation compiled = compile(request);
    ASSERT_FALSE(compiled.has_failed());
    EXPECT_EQ(compiled.model->graph, nullptr);
    request.form = Form::kModel;
    EXPECT_EQ(codes(compile(request).findings()), Codes{"missing-input-type"});
}

TEST(Compile, CommentsSilence) {
    const std::string body =
        "@script()\n"
        "def f(x: FLOAT[2]):\n"
        "    y = op.Neg(x)\n"
        "    return op.Relu(x)\n";
    EXPECT_EQ(codes(compile(request_of(body)).findings()), Codes{"unused-value"});
    std::string silenced = body;
    silenced.insert(silenced.find("op.Neg(x)") + 9, "  # sardonyx: ignore[unused-value]");
    Compilation compiled = compile(request_of(silenced));
    EXPECT_TRUE(compiled.findings().items().empty());
    (void)compile_again(compiled, {});
    EXPECT_TRUE(compiled.findings().items().empty());
}

TEST(Compile, ErrorsAreNotSilenced) {
    Compilation compiled =
        compile(request_of("@script()\n"
                           "def f(x: FLOAT[2]):\n"
                           "    return op.Reluu(x)  # sardonyx: ignore\n"));
    EXPECT_TRUE(compiled.has_failed());
    EXPECT_EQ(codes(compiled.findings()), Codes{"unknown-operator"});
}

TEST(Compile, AgainWithOtherTypesTellsEachFindingOnce) {
    Compilation compiled =
        compile(request_of("@script()\n"
                           "def f(x: FLOAT[...]):\n"
                           "    y = op.Neg(x)\n"
                           "    return op.Relu(x)\n"));
    elaborate::Options options;
    options.input_types.emplace_back("x", *parse_type("FLOAT[5]"));
    std::unique_ptr<ir::Model> before = compile_again(compiled, options);
    ASSERT_NE(before, nullptr);
    EXPECT_EQ(codes(compiled.findings()), Codes{"unused-value"});
    EXPECT_EQ(compiled.model->graph->inputs[0]->type.to_string(), "FLOAT[5]");
}

TEST(Compile, AKeywordThatScriptDoesNotTake) {
    for (const char* keyword :
         {"inlined=True", "producer='me'", "ir_version='ten'", "inline=1", "default_opset=23"}) {
        Compilation compiled = compile(request_of(std::string("@script(") + keyword +
                                                  ")\n"
                                                  "def f(x: FLOAT[2]):\n"
                                                  "    return op.Relu(x)\n"));
        EXPECT_EQ(codes(compiled.findings()), Codes{"argument-mismatch"}) << keyword;
    }
}

TEST(Compile, AFileThatIsNotThere) {
    Request request;
    request.path = "no/such/file.py";
    Compilation compiled = compile(request);
    EXPECT_TRUE(compiled.has_failed());
    EXPECT_EQ(codes(compiled.findings()), Codes{"unreadable-file"});
}

TEST(Check, TellsOfAllScriptsAndOfCommentsThatSilenceNothing) {
    CheckRequest request;
    request.files.push_back({"file.py", true,
                             std::string(kHead) +
                                 "@script()\n"
                                 "def a(x):\n"
                                 "    return op.Reluu(x)\n"
                                 "\n"
                                 "\n"
                                 "@script()\n"
                                 "def b(x):\n"
                                 "    return op.Relu(x)  # sardonyx: ignore[unused-value]\n"});
    EXPECT_EQ(codes(check(request).program->diagnostics),
              (Codes{"unknown-operator", "unused-import", "unused-ignore"}));
    request.ignore = {"unused-ignore", "unused-import"};
    EXPECT_EQ(codes(check(request).program->diagnostics), Codes{"unknown-operator"});
}

TEST(Check, AChainWhoseFirstScriptIsWrongIsBuiltOnce) {
    auto built = [](int length) {
        std::string text = std::string(kHead) +
                           "@script()\n"
                           "def f0(x):\n"
                           "    return op.Reluu(x)\n";
        for (int i = 1; i < length; ++i) {
            text += fmt::format("@script()\ndef f{}(x):\n    return op.Neg(f{}(x))\n", i, i - 1);
        }
        CheckRequest request;
        request.files.push_back({"file.py", true, text});
        Checked checked = check(request);
        EXPECT_EQ(codes(checked.program->diagnostics)[0], "unknown-operator");
        return checked.program->built;
    };
    int64_t few = built(20), many = built(80);
    EXPECT_GE(few, 19);
    EXPECT_LE(many, 4 * few + 8);
}

// What statements that are not run may hold refers to each other: a leak to the sanitizers if it
// stays.
TEST(Check, LetsGoOfWhatStatementsThatAreNotRunHold) {
    CheckRequest request;
    request.files.push_back({"file.py", true,
                             std::string(kHead) + "@unknown\n"
                                                  "def a():\n"
                                                  "    eval('x')\n"
                                                  "\n"
                                                  "def one():\n"
                                                  "    return 1\n"
                                                  "\n"
                                                  "@unknown\n"
                                                  "def b():\n"
                                                  "    exec('y')\n"
                                                  "\n"
                                                  "table: dict = {'one': one, **unknown}\n"});
    EXPECT_EQ(check(request).program->unknowns->failures, 3U);
}

}  // namespace
}  // namespace sardonyx::driver
