#!/usr/bin/env python3
"""Writes the tables of src/syntax/normal_form.h from Python's unicodedata.

generate_normal_forms.py OUT.cpp
"""

import argparse
import itertools
import pathlib
import sys
import unicodedata

_TEXT = """\
// Written by tools/generate_normal_forms.py from Unicode {version}; do not edit.
// NOLINTBEGIN
#include "syntax/normal_form.h"

namespace sardonyx::syntax {{
namespace {{

constexpr Decomposition kDecompositions[] = {{
{decompositions}
}};

constexpr uint32_t kPoints[] = {{
{points}
}};

constexpr CombiningRun kCombiningRuns[] = {{
{runs}
}};

constexpr Composition kCompositions[] = {{
{compositions}
}};

}}  // namespace

std::span<const Decomposition> decompositions() {{
    return kDecompositions;
}}

std::span<const uint32_t> decomposed_points() {{
    return kPoints;
}}

std::span<const CombiningRun> combining_runs() {{
    return kCombiningRuns;
}}

std::span<const Composition> compositions() {{
    return kCompositions;
}}

}}  // namespace sardonyx::syntax
// NOLINTEND
"""

HANGUL = range(0xAC00, 0xAC00 + 11172)  # computed, not listed
POINTS = [p for p in range(sys.maxunicode + 1) if not 0xD800 <= p < 0xE000 and p not in HANGUL]


def lines(rows: list[str]) -> str:
    return "\n".join("    " + " ".join(rows[i : i + 8]) for i in range(0, len(rows), 8))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    decompositions, points, pairs = [], [], []
    places: dict[str, int] = {}
    for point in POINTS:
        text = chr(point)
        apart = unicodedata.normalize("NFKD", text)
        if apart != text:
            if apart not in places:
                places[apart] = len(points)
                points += [f"0x{ord(part):x}," for part in apart]
            decompositions.append(f"{{0x{point:x}, {places[apart]}, {len(apart)}}},")
        parts = unicodedata.decomposition(text).split()
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.normalize("NFC", text) == text:
            pairs.append((int(parts[0], 16), int(parts[1], 16), point))
    runs = []
    for kind, run in itertools.groupby(POINTS, lambda p: unicodedata.combining(chr(p))):
        members = list(run)
        if kind != 0:
            runs.append(f"{{0x{members[0]:x}, 0x{members[-1]:x}, {kind}}},")
    text = _TEXT.format(
        version=unicodedata.unidata_version,
        decompositions=lines(decompositions),
        points=lines(points),
        runs=lines(runs),
        compositions=lines([f"{{0x{a:x}, 0x{b:x}, 0x{c:x}}}," for a, b, c in sorted(pairs)]),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
