"""`sardonyx doctor`: what was found on this machine, and what is missing for what."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy
import onnx
import pytest

from places import PROGRAM


def doctor(*words: str, **environment: str) -> Any:
    done = subprocess.run(
        [PROGRAM, "doctor", *words], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout) if "--json" in words else done.stdout


def by_name(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["name"]: row["found"] for row in rows}


def test_what_is_found() -> None:
    report = doctor("--json", SARDONYX_PYTHON=sys.executable)
    machine = by_name(report["machine"])
    assert machine["program"] == str(PROGRAM.resolve()) and machine["sardonyx"] == "0.1.0"
    libc = str(os.confstr("CS_GNU_LIBC_VERSION"))
    assert machine["system"] == f"Linux {os.uname().machine}, {libc}"
    python = by_name(report["python"])
    version = ".".join(map(str, sys.version_info[:3]))
    assert python["python"] == f"{version}, {sys.executable}"
    assert python["numpy"] == numpy.__version__ and python["onnx"] == onnx.__version__
    # What the processor can do, as the kernel tells it.
    info = pathlib.Path("/proc/cpuinfo").read_text().split()
    words = machine["processor"].replace(";", "").split()
    for feature in ("avx2", "fma", "avx512f"):
        assert (feature in words) == (feature in info)
    # As text, each is a line.
    text = doctor(SARDONYX_PYTHON=sys.executable)
    for rows in report.values():
        for row in rows:
            state = row["found"] or "missing; for " + row["purpose"]
            assert f"  {row['name']:<13} {state}" in text


def test_libraries_are_those_that_are_loaded() -> None:
    found = by_name(doctor("--json")["libraries"])
    assert set(found) == {
        "oneDNN", "libturbojpeg", "libpng", "libtiff", "libwebp", "libopenjp2", "zlib",
    }  # fmt: skip
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False)
    for name, file in (("libpng", "libpng16.so.16"), ("libwebp", "libwebp.so.7")):
        if found[name] is not None:
            assert file in known.stdout


def test_python_that_is_missing(tmp_path: pathlib.Path) -> None:
    report = doctor("--json", SARDONYX_PYTHON=str(tmp_path / "none"))
    (python,) = report["python"]
    assert python["found"] is None and "No such file" in python["purpose"]
    assert "apt install python3" in python["install"]
    text = doctor(SARDONYX_PYTHON=str(tmp_path))  # a folder
    assert "  python        missing; for" in text and "Permission denied" in text


PACKAGES = {
    "onnx": "raise ValueError('two\\nlines\\x1b[31m')",
    "onnxruntime": "import of_no_package",
    "ml_dtypes": "print('noise', flush=True); raise SystemExit(3)",
}


def test_packages_that_fail(tmp_path: pathlib.Path) -> None:
    for name, text in PACKAGES.items():
        (tmp_path / f"{name}.py").write_text(text)
    words = {"SARDONYX_PYTHON": sys.executable, "PYTHONPATH": str(tmp_path)}
    rows = {row["name"]: row for row in doctor("--json", **words)["python"]}
    assert all(rows[name]["found"] is None for name in PACKAGES)
    assert "ValueError: two lines" in rows["onnx"]["purpose"]
    assert "of_no_package" in rows["onnxruntime"]["purpose"]
    assert "SystemExit: 3" in rows["ml_dtypes"]["purpose"]
    assert "\x1b" not in doctor(**words)


@pytest.mark.parametrize("text", ["while True: print('y' * 1000)", "raise SystemExit(9)"])
def test_a_python_that_is_none(text: str, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\n{text}\n")
    program.chmod(0o755)
    python = doctor("--json", SARDONYX_PYTHON=str(program))["python"][0]
    assert python["found"] is None and "failed" in python["purpose"]
