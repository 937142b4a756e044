#!/usr/bin/env python3
"""Writes the pages of docs/diagnostics as the table of src/diagnostics/pages.h.

generate_pages.py OUT.cpp
"""

import argparse
import pathlib
import re

_PAGES = pathlib.Path(__file__).resolve().parents[1] / "docs/diagnostics"
_PIECE = 8000  # bytes in one piece of a string literal

_TEXT = """\
// Written by tools/generate_pages.py from docs/diagnostics; do not edit.
// NOLINTBEGIN
#include "diagnostics/pages.h"

namespace sardonyx::diagnostics {{
namespace {{
using namespace std::string_view_literals;
constexpr Page kPages[] = {{
{rows}
}};
}}  // namespace

std::span<const Page> pages() {{
    return kPages;
}}

}}  // namespace sardonyx::diagnostics
// NOLINTEND
"""


def literal(text: str) -> str:
    data = text.encode()
    pieces = [data[i : i + _PIECE] for i in range(0, len(data), _PIECE)] or [b""]
    return "\n".join(
        '"' + "".join(
            chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
            for byte in piece
        ) + '"'
        for piece in pieces
    ) + "sv"  # fmt: skip


def summary(text: str) -> str:
    """The first sentence after the severity."""
    words = re.search(r"^Severity: \w+\n\n(.+?)(?:\n\n|\Z)", text, re.M | re.S)
    paragraph = " ".join(words[1].split()) if words else ""
    sentence = re.match(r".*?[^.]\.(?=\s|$)", paragraph)
    return sentence[0] if sentence else paragraph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    rows = []
    for path in sorted(_PAGES.glob("*.md"), key=lambda path: path.stem):
        text = path.read_text(encoding="utf-8")
        if text.startswith(f"# {path.stem}\n"):
            rows.append(f"    {{{literal(path.stem)}, {literal(summary(text))}, {literal(text)}}},")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_TEXT.format(rows="\n".join(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
