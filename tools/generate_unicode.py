#!/usr/bin/env python3
"""Writes the table of src/eval/kernels/unicode.h from Python's unicodedata.

    generate_unicode.py OUT.cpp

Output depends on the Unicode version of the Python that runs this alone.
"""

import argparse
import itertools
import pathlib
import sys
import unicodedata
from collections.abc import Iterator

_TEXT = """\
// Written by tools/generate_unicode.py from Unicode {version}; do not edit.
// NOLINTBEGIN
#include "eval/kernels/unicode.h"

namespace sardonyx::eval {{
namespace {{

constexpr CategoryRun kCategoryRuns[] = {{
{rows}
}};

}}  // namespace

std::span<const CategoryRun> category_runs() {{
    return kCategoryRuns;
}}

}}  // namespace sardonyx::eval
// NOLINTEND
"""


def category_runs() -> Iterator[tuple[int, int, str]]:
    """First and last code point of each run, and its category; without the unassigned ones."""
    points = range(sys.maxunicode + 1)
    for category, run in itertools.groupby(points, lambda c: unicodedata.category(chr(c))):
        members = list(run)
        if category != "Cn":
            yield members[0], members[-1], category


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    rows = "\n".join(f'    {{0x{a:x}, 0x{b:x}, "{name}"}},' for a, b, name in category_runs())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_TEXT.format(version=unicodedata.unidata_version, rows=rows), encoding="utf-8")


if __name__ == "__main__":
    main()
