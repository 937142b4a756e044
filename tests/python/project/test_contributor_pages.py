"""What docs/architecture.md and docs/adding.md name is there: files, folders and identifiers."""

from __future__ import annotations

import functools
import pathlib
import re
import subprocess

import pytest

from places import ROOT

PAGES = ["docs/architecture.md", "docs/adding.md"]
# What stands for other names, is made by a build, or is not there yet. Names in `<>` are patterns.
ELSEWHERE = {"X.cpp", "X.h", "build/fuzz/findings", "sardonyx/torch/aten", "src/torch"}


@functools.cache
def tracked() -> frozenset[str]:
    """Files of the repository and the folders that hold them."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    folders = {str(folder) for path in listed for folder in pathlib.PurePosixPath(path).parents}
    return frozenset(listed) | folders


@functools.cache
def words() -> frozenset[str]:
    """Identifiers of the sources, and the stems of their names."""
    found: set[str] = set()
    for name in tracked():
        path = ROOT / name
        found.add(pathlib.PurePosixPath(name).stem)
        if path.is_file() and path.suffix not in {".md", ".png", ".onnx"}:
            found.update(re.findall(r"\w+", path.read_text("utf-8", errors="ignore")))
    return frozenset(found)


def missing(span: str) -> list[str]:
    """What a span of code names and the repository lacks."""
    span = span.strip().rstrip("/")
    is_path = "/" in span and not re.search(r"[ =]", span)
    if span in ELSEWHERE or "<" in span:
        return []
    if is_path:
        braces = re.search(r"\{(.*)\}", span)
        choices = braces[1].split(",") if braces else [""]
        paths = [span.replace(braces[0], each) if braces else span for each in choices]
        return [p for p in paths if not any(t == p or t.endswith("/" + p) for t in tracked())]
    return [word for word in re.findall(r"[A-Za-z_]\w+", span) if word not in words()]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    text = re.sub(r"^ *```.*?^ *```", "", (ROOT / page).read_text("utf-8"), flags=re.S | re.M)
    spans = re.findall(r"`([^`]+)`", text)
    assert len(spans) > 100
    assert {span: lost for span in spans if (lost := missing(span))} == {}


def test_a_name_that_is_gone_is_found() -> None:
    gone = "_".join(("keeps", "axes", "in", "order"))
    assert missing(gone) == [gone]
    assert missing("src/nowhere/lost.cpp") == ["src/nowhere/lost.cpp"]
