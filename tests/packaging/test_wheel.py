"""The wheel: it builds, holds what it should, and works in an environment of its own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

if not (ROOT / "python/sardonyx/__init__.py").exists():
    pytest.skip("there is no Python package yet", allow_module_level=True)


def run(*command: str | pathlib.Path, cwd: pathlib.Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment.setdefault("CXX", "c++")  # the compiler's name of the other builds, for ccache
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*pip, "--wheel-dir", out, ROOT, cwd=out)
    (built,) = out.glob("sardonyx-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The bin folder of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet"]
    constraints = ROOT / "requirements/build.txt"
    run(*pip, "--disable-pip-version-check", "-c", constraints, wheel, cwd=folder)
    return folder / "bin"


def test_the_wheel_holds_the_package_the_types_and_the_license(wheel: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "sardonyx/__init__.py" in names
    assert "sardonyx/py.typed" in names
    assert any(name.startswith("sardonyx/") and name.endswith(".so") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "test" in name or name.endswith((".cpp", ".h", ".a"))]


def test_the_wheel_depends_on_numpy_alone(wheel: pathlib.Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    lines = archive.read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=1.26"]


def test_an_installed_wheel_compiles_and_runs(
    environment: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script = tmp_path / "twice.py"
    script.write_text(
        "import numpy\n"
        "from sardonyx import FLOAT, script, opset18 as op\n"
        "@script()\n"
        "def twice(x: FLOAT[3]) -> FLOAT[3]:\n"
        "    return op.Add(x, x)\n"
        "if __name__ == '__main__':\n"
        "    print(twice(numpy.array([1, 2, 3], numpy.float32)).tolist())\n"
    )
    assert run(environment / "python", script, cwd=tmp_path) == "[2.0, 4.0, 6.0]\n"
    run(environment / "sardonyx", "build", "twice.py", "-o", "twice.onnx", cwd=tmp_path)
    assert (tmp_path / "twice.onnx").stat().st_size > 0
