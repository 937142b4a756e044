"""Whatever an operator or a Tensor is called with: a result or a Python error, and no crash."""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "data/odd_arguments.py"


@pytest.mark.parametrize("seed", range(3))
def test_odd_arguments_are_python_errors(seed):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", PROGRAM, str(seed), "3000"], capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr[-3000:] or done.returncode
