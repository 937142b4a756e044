#!/usr/bin/env python3
"""Writes the tables of src/eval/kernels/regex/unicode.h from Python's unicodedata and fontTools.

    generate_unicode.py OUT.cpp

The categories are those of the Unicode version of the Python that runs this, which has no scripts;
those are the ones of the installed fontTools.
"""

import argparse
import itertools
import pathlib
import sys
import unicodedata
from collections.abc import Iterator

from fontTools.unicodedata import Scripts

_TEXT = """\
// Written by tools/generate_unicode.py from Unicode {version} and fontTools; do not edit.
// NOLINTBEGIN
#include "eval/kernels/regex/unicode.h"

namespace sardonyx::eval {{
namespace {{

constexpr UnicodeRun kCategoryRuns[] = {{
{categories}
}};

constexpr UnicodeRun kScriptRuns[] = {{
{scripts}
}};

}}  // namespace

std::span<const UnicodeRun> category_runs() {{
    return kCategoryRuns;
}}

std::span<const UnicodeRun> script_runs() {{
    return kScriptRuns;
}}

}}  // namespace sardonyx::eval
// NOLINTEND
"""

Runs = Iterator[tuple[int, int, str]]


def category_runs() -> Runs:
    """First and last code point of each run, and its category; without the unassigned ones."""
    points = range(sys.maxunicode + 1)
    for category, run in itertools.groupby(points, lambda c: unicodedata.category(chr(c))):
        members = list(run)
        if category != "Cn":
            yield members[0], members[-1], category


def script_runs() -> Runs:
    """The same of the scripts, with their long names; without what is of no script."""
    ends = [*Scripts.RANGES[1:], sys.maxunicode + 1]
    for first, end, code in zip(Scripts.RANGES, ends, Scripts.VALUES, strict=True):
        if code != "Zzzz":
            yield first, end - 1, Scripts.NAMES[code]


def rows(runs: Runs) -> str:
    return "\n".join(f'    {{0x{a:x}, 0x{b:x}, "{name}"}},' for a, b, name in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    text = _TEXT.format(
        version=unicodedata.unidata_version,
        categories=rows(category_runs()),
        scripts=rows(script_runs()),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
