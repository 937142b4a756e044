#!/usr/bin/env python3
"""Writes src/view/page.html as the table of src/view/page.h, with the digest of its script.

generate_view_page.py OUT.cpp
"""

import argparse
import base64
import hashlib
import pathlib
import re

from generate_pages import literal

_PAGE = pathlib.Path(__file__).resolve().parents[1] / "src/view/page.html"

_TEXT = """\
// Written by tools/generate_view_page.py from src/view/page.html; do not edit.
// NOLINTBEGIN
#include "view/page.h"

namespace sardonyx::view {{
using namespace std::string_view_literals;
std::string_view page_head() {{
    return {head};
}}
std::string_view page_tail() {{
    return {tail};
}}
}}  // namespace sardonyx::view
// NOLINTEND
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    page = _PAGE.read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    head, tail = page.replace("@SCRIPT@", f"sha256-{digest}").split("@DATA@")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_TEXT.format(head=literal(head), tail=literal(tail)), encoding="utf-8")


if __name__ == "__main__":
    main()
