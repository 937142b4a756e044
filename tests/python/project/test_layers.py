"""tools/check_layers.py: a planted violation of each rule is found.

That the repository has none is a phase of .ci/run (`tools/dev layers`).
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest

from places import ROOT

FIRST = "namespace {\n\nint twice(int x) {\n\nconstexpr int kMost = 4;\n\nstruct Reader {\n"
HEADER = "// A header.\n#pragma once\n"
HOST = ".".join(("pypi", "org"))
MACHINE = "/".join(("", "home", "someone", "checkout"))


def check(root: pathlib.Path, *arguments: str) -> list[str]:
    command = [sys.executable, ROOT / "tools/check_layers.py", "--root", root, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert (done.returncode == 0) == (done.stdout == "")
    return done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """A small repository that breaks no rule."""
    plant(tmp_path, "src/base/text.h", HEADER)
    plant(tmp_path, "src/ir/ir.h", HEADER + '#include "base/text.h"\n#include <vector>\n')
    plant(tmp_path, "src/infer/infer.h", HEADER + '#include "ir/ir.h"\n')
    plant(tmp_path, "src/infer/infer.cpp", '#include "ir/ir.h"\n')
    plant(tmp_path, "src/lsp/json.h", HEADER)
    plant(tmp_path, "src/lsp/json.cpp", "#include <nlohmann/json.hpp>\n")
    plant(tmp_path, "src/infer/strings.cpp", '// throw and try {\nconst auto* s = "throw \'em";\n')
    plant(tmp_path, "src/infer/first.cpp", FIRST)
    plant(tmp_path, "src/infer/diagnostics.def", 'SDX_DIAGNOSTIC(Odd, "odd-rank", kError)\n')
    plant(tmp_path, "src/infer/odd.cpp", "const auto& kind = kOdd;\n")
    plant(tmp_path, "docs/diagnostics/odd-rank.md", "# odd-rank\n")
    return tmp_path


def plant(root: pathlib.Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_small_tree_keeps_the_rules(tree: pathlib.Path) -> None:
    assert check(tree) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "src/base/bad.h",
            HEADER + '#include "ir/ir.h"\n',
            "src/base/bad.h:3: `base` must not include `ir`",
        ),
        (
            "src/infer/bad.cpp",
            '#include "syntax/tree.h"\n',
            "src/infer/bad.cpp:1: `infer` must not include `syntax`",
        ),
        (
            "src/elaborate/bad.cpp",
            '\n#include "proto/proto.h"\n',
            "src/elaborate/bad.cpp:2: `elaborate` must not include `proto`",
        ),
        (
            "src/eval/bad.cpp",
            '  #  include "syntax/tree.h"\n',
            "src/eval/bad.cpp:1: `eval` must not include `syntax`",
        ),
        (
            "src/eval/kernels/bad.cpp",
            '#include "eval/plan/plan.h"\n',
            "src/eval/kernels/bad.cpp:1: `eval/kernels` must not include `eval/plan`",
        ),
        (
            "src/elaborate/flow/bad.cpp",
            '#include "elaborate/emit/emit.h"\n',
            "src/elaborate/flow/bad.cpp:1: `elaborate/flow` must not include `elaborate/emit`",
        ),
        (
            "src/ir/bad.cpp",
            "namespace {\nthread_local std::vector<int> g_left;\n}\n",
            "src/ir/bad.cpp:2: `g_left` can change and outlives a call; make it a parameter",
        ),
        (
            "src/ir/bad.cpp",
            "int next() {\n    static int number = 0;\n    return ++number;\n}\n",
            "src/ir/bad.cpp:2: `number` can change and outlives a call; make it a parameter",
        ),
        (
            "src/eval/odd/bad.cpp",
            '#include "eval/eval.h"\n',
            "src/eval/odd/bad.cpp:1: `eval/odd` has no place in ROOMS of tools/check_layers.py",
        ),
        (
            "src/ir/bad.cpp",
            '#include "ir.h"\n',
            'src/ir/bad.cpp:1: include "ir.h" by its path from src/, as "folder/name.h"',
        ),
        (
            "src/misc/bad.cpp",
            "",
            "src/misc: this folder has no place in FOLDERS of tools/check_layers.py",
        ),
        ("src/ir/bad.h", "// A header.\n", "src/ir/bad.h:1: no `#pragma once`"),
        (
            "src/ir/bad.h",
            "#pragma once\n",
            "src/ir/bad.h:1: a header begins with a comment that says what it is for",
        ),
        (
            "src/ir/bad.h",
            HEADER + "#include <fmt/format.h>\n",
            "src/ir/bad.h:3: <fmt/format.h> is for .cpp files only",
        ),
        (
            "src/ir/bad.h",
            HEADER + "#include <CLI/CLI.hpp>\n",
            "src/ir/bad.h:3: <CLI/CLI.hpp> is for .cpp files only",
        ),
        (
            "src/ir/bad.cpp",
            "#include <nlohmann/json.hpp>\n",
            (
                "src/ir/bad.cpp:1: <nlohmann/...> is for src/diagnostics/render_json.cpp "
                "and src/driver/notebook.cpp and src/lsp/json.cpp alone"
            ),
        ),
        (
            "src/ir/bad.cpp",
            "#include <format>\n",
            "src/ir/bad.cpp:1: <format> is missing in a supported compiler",
        ),
        (
            "src/ir/bad.cpp",
            "// fine\n/* fine\n*/ void f() { throw 1; }\n",
            "src/ir/bad.cpp:3: the core has no exceptions; use Result<T> or a diagnostic",
        ),
        (
            "src/ir/bad.cpp",
            "void f() { try { } catch (...) { } }\n",
            "src/ir/bad.cpp:1: the core has no exceptions; use Result<T> or a diagnostic",
        ),
        (
            "src/syntax/diagnostics.def",
            'SDX_DIAGNOSTIC(Odd, "odd-rank", kError)  // again\n',
            "src/syntax/diagnostics.def:1: `odd-rank` is already a code of src/infer/",
        ),
        (
            "src/ir/diagnostics.def",
            '\nSDX_DIAGNOSTIC(Odd, "OddOne", kError)\n',
            "src/ir/diagnostics.def:2: `OddOne` is not made of lower-case words and hyphens",
        ),
        (
            "src/ir/diagnostics.def",
            'SDX_DIAGNOSTIC(Even, "even", kError)\n',
            "src/ir/diagnostics.def:1: `even` is never reported",
        ),
        (
            "src/ir/diagnostics.def",
            'SDX_DIAGNOSTIC(Odd, "even", kError)\n',
            "src/ir/diagnostics.def:1: `even` has no page docs/diagnostics/even.md",
        ),
        (
            "src/infer/second.cpp",
            "namespace {\n\nbool twice(bool x) {\n",
            "src/infer/second.cpp:3: `twice` is a name of first.cpp too",
        ),
        (
            "src/infer/second.cpp",
            "namespace {\n\nconstexpr int kMost = 8;\n",
            "src/infer/second.cpp:3: `kMost` is a name of first.cpp too",
        ),
        (
            "src/infer/second.cpp",
            "namespace {\n\nclass Reader {\n",
            "src/infer/second.cpp:3: `Reader` is a name of first.cpp too",
        ),
        (
            "src/infer/second.h",
            HEADER + "struct Reader {\n",
            "src/infer/second.h:3: `Reader` is a name of first.cpp too",
        ),
        (
            "src/infer/long.cpp",
            "\n" * 601,
            "src/infer/long.cpp:601: 601 lines; cut it along what it decides",
        ),
        (
            "src/syntax/alone.cpp",
            '#include "base/text.h"\n',
            "src/syntax/alone.cpp:1: no header of its own, alone.h",
        ),
        (
            "src/lsp/json.h",
            HEADER + "\nint read(\n    int x);\nint inside(int x) {\n    return x;\n}\n",
            "src/lsp/json.h:4: `read` is not of json.cpp",
        ),
        (
            "docs/diagnostics/even.md",
            "",
            "docs/diagnostics/even.md:1: no diagnostic has this code",
        ),
        (
            "python/bindings/bad.cpp",
            "\nbool is = PyFunction_Check(o);\n",
            "python/bindings/bad.cpp:2: `PyFunction_Check` is not in Python's stable ABI",
        ),
        ("docs/bad.md", f"\nsee https://{HOST}/x\n", "docs/bad.md:2: names a package registry's"),
        ("tools/bad.sh", f"cd {MACHINE}\n", "tools/bad.sh:1: names a path of one machine"),
    ],
)
def test_a_planted_violation_is_found(
    tree: pathlib.Path, name: str, text: str, expected: str
) -> None:
    plant(tree, name, text)
    found = check(tree)
    assert found
    assert found[0].startswith(expected)
    assert {line.partition(":")[0] for line in found} == {expected.partition(":")[0]}


def test_two_types_of_one_name_are_found(tree: pathlib.Path) -> None:
    text = "namespace sardonyx::ir {\nstruct Rows {\n    int n;\n};\n}  // namespace sardonyx::ir\n"
    plant(tree, "src/ir/ir.h", HEADER + text)
    plant(tree, "src/infer/infer.h", HEADER + text.replace("::ir", "::infer"))
    assert check(tree) == []
    plant(tree, "src/infer/infer.cpp", "class Rows;\n" + text)
    assert check(tree) == ["src/ir/ir.h:4: `Rows` is another type in src/infer/infer.cpp"]


def test_a_crowded_folder_is_found(tree: pathlib.Path) -> None:
    for number in range(31):
        plant(tree, f"src/eval/loops/loop_{number}.h", HEADER)
        plant(tree, f"src/eval/loops/loop_{number}.cpp", "")
    assert check(tree) == ["src/eval/loops: 31 sources; divide it into rooms"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_a_header_that_leans_on_another_is_found(tree: pathlib.Path) -> None:
    assert check(tree, "--headers", "--compiler", "g++") == []
    plant(tree, "src/ir/bad.h", HEADER + "inline const std::string text;\n")
    (found,) = check(tree, "--headers", "--compiler", "g++")
    assert found.startswith("src/ir/bad.h:1: does not compile alone: ")
    # Three seeds in a row choose each header once.
    chosen = [check(tree, "--headers", "--compiler", "g++", "--seed", str(i)) for i in (7, 8, 9)]
    assert sorted(chosen) == [[], [], [found]]
