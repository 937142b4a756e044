"""CodeMirror with the language server in a browser; the test itself is in tests/browser."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from places import PROGRAM, ROOT

FOLDER = ROOT / "tests/browser"
PLACES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> dict[str, str]:
    """The environment of the tests."""
    if shutil.which("node") is None or not (FOLDER / "node_modules").exists():
        pytest.skip("`npm ci` in editors/vscode and tests/browser has not been run")
    if "CHROMIUM" not in os.environ and not any(map(shutil.which, PLACES)):
        pytest.skip("no Chromium")
    return {**os.environ, "SARDONYX": str(PROGRAM)}


def run(name: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["node", "--test", name], cwd=FOLDER, env=environment, capture_output=True, text=True,
        timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# skipped 0" in done.stdout


def test_editor(browser: dict[str, str]) -> None:
    run("editor.test.mjs", browser)
