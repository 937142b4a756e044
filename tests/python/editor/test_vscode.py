"""The extension for VS Code: its own tests, which run it against the program, and its package."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import zipfile

import pytest

from places import PROGRAM, ROOT

FOLDER = ROOT / "editors/vscode"


@pytest.fixture(scope="module")
def modules() -> pathlib.Path:
    """The commands of the installed modules."""
    folder = FOLDER / "node_modules/.bin"
    subprocess.run([folder / "tsc", "-p", FOLDER], check=True, timeout=300)
    return folder


@pytest.mark.editors
@pytest.mark.usefixtures("modules")
def test_extension() -> None:
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap"], cwd=FOLDER,
        env={**os.environ, "SARDONYX": str(PROGRAM)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# skipped 0" in done.stdout


@pytest.mark.editors
def test_package(modules: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """What the .vsix holds: the extension and the modules that it needs when it runs."""
    del modules
    path = tmp_path / "sardonyx.vsix"
    subprocess.run(
        ["npm", "run", "package", "--", "--out", path], cwd=FOLDER, check=True, timeout=600,
        capture_output=True,
    )  # fmt: skip
    with zipfile.ZipFile(path) as package:
        names = package.namelist()
        manifest = json.loads(package.read("extension/package.json"))
    assert f"extension/{manifest['main'].removeprefix('./')}" in names
    assert "extension/LICENSE.txt" in names
    assert any(name.startswith("extension/node_modules/vscode-languageclient/") for name in names)
    assert not any("typescript" in name or name.startswith("extension/src/") for name in names)
    assert path.stat().st_size < 2_000_000


def test_lock() -> None:
    """Versions are pinned, by content, and no registry is named."""
    text = (FOLDER / "package-lock.json").read_text()
    packages = json.loads(text)["packages"]
    manifest = json.loads((FOLDER / "package.json").read_text())
    assert '"resolved"' not in text
    assert all("integrity" in one for name, one in packages.items() if name)
    for wanted in (manifest["dependencies"], manifest["devDependencies"]):
        for name, version in wanted.items():
            assert packages[f"node_modules/{name}"]["version"] == version
