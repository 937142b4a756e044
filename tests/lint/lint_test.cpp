// Warnings about what is legal and probably not meant, and the comments that silence them.
#include "lint/lint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "elaborate/elaborate.h"

namespace sardonyx::lint {
namespace {

using Codes = std::vector<std::string>;

Codes codes(const std::string& text) {
    elaborate::Program program(nullptr);
    elaborate::FileModule* module = elaborate::load_text(program, "file.py", text);
    for (const auto& script : elaborate::scripts(*module)) {
        elaborate::compile_function(program, *script, {});
    }
    lint_file(program, *module);
    elaborate::FileModule* modules[] = {module};
    apply_ignores(program, modules);
    Codes all;
    for (const diagnostics::Diagnostic& one : program.diagnostics.items()) {
        all.emplace_back(one.kind->code);
    }
    return all;
}

constexpr const char* kHead = "from sardonyx import opset23 as op, script\n\n\n";

TEST(Lint, ValuesThatNothingReads) {
    EXPECT_EQ(codes(std::string(kHead) +
                    "@script()\ndef f(x):\n    y = op.Neg(x)\n    return op.Abs(x)\n"),
              (Codes{"unused-value"}));
    EXPECT_EQ(codes(std::string(kHead) +
                    "@script()\ndef f(x):\n    _ = op.Neg(x)\n    return op.Abs(x)\n"),
              (Codes{}));
}

TEST(Lint, ImportsThatNothingReads) {
    EXPECT_EQ(codes("from sardonyx import FLOAT, opset23 as op, script\n\n\n"
                    "@script()\ndef f(x):\n    return op.Abs(x)\n"),
              (Codes{"unused-import"}));
}

TEST(Lint, ScriptsThatAreDefinedTwice) {
    std::string script = "@script()\ndef f(x):\n    return op.Abs(x)\n\n\n";
    EXPECT_EQ(codes(kHead + script + script), (Codes{"shadowed-script"}));
}

TEST(Lint, CommentsSilenceTheirLine) {
    std::string silent = "    y = op.Neg(x)  # sardonyx: ignore[unused-value]\n";
    EXPECT_EQ(codes(std::string(kHead) + "@script()\ndef f(x):\n" + silent + "    return x + 1\n"),
              (Codes{}));
    std::string needless = "    return x + 1  # sardonyx: ignore[unused-value]\n";
    EXPECT_EQ(codes(std::string(kHead) + "@script()\ndef f(x):\n" + needless),
              (Codes{"unused-ignore"}));
}

TEST(Lint, FilesOfOtherLibrariesHaveNone) {
    EXPECT_EQ(codes("import os\nimport sys\n"), (Codes{}));
}

}  // namespace
}  // namespace sardonyx::lint
