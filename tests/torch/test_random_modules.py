"""Random modules mean the same in PyTorch, in the evaluator and in ONNX Runtime, at several sizes,
and a file of the captured program makes the same model without Python.

`python test_random_modules.py SEED COUNT`, with tests/torch and tests/python on PYTHONPATH, draws
others. A few in a thousand differ there by rounding alone: of sums that cancel, `floor` and
`argsort` take either.
"""

from __future__ import annotations

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from drawn_modules import FIRST, Drawn, drawn  # noqa: E402
from test_models import copied, runtime_with_kernels  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

COUNT = 40
SIZES = (FIRST, (2, 11), (3, 3), (4, 8))
PROGRAM = pathlib.Path(os.environ.get("SDX_BUILD", "build/release")).resolve() / "sardonyx"


def difference(found: Any, wanted: Any) -> str:
    found = np.asarray(found)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind != "f":
        same = (found == wanted).all()
    else:
        scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.01))
        same = np.allclose(found, wanted, rtol=2e-4, atol=2e-4 * scale, equal_nan=True)
    return "" if same else f"{found.ravel()[:5]} instead of {wanted.ravel()[:5]}"


def wanted_results(case: Drawn, program: Any, given: Any) -> list[Any] | None:
    """What PyTorch gives; None where it fails, or has fixed something that depends on sizes."""
    try:
        with torch.no_grad():
            eager, captured = (
                [one.numpy() for one in run(*map(copied, given))]
                for run in (case.module(), program.module())
            )
    except Exception:
        return None
    return eager if not any(map(difference, captured, eager)) else None


def outcome(seed: int, folder: pathlib.Path) -> str:
    case = drawn(seed)
    try:
        with torch.no_grad():
            program = torch.export.export(
                case.module(), case.arguments(FIRST, seed), dynamic_shapes=case.shapes()
            )
    except Exception:
        return "refused by PyTorch"
    exported = sardonyx.torch.convert(program)
    data = exported.to_model_bytes()
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    native, session = exported.compile(), runtime_with_kernels(data)
    for sizes in SIZES:
        given = case.arguments(sizes, seed + 1)
        wanted = wanted_results(case, program, given)
        if wanted is None:
            continue
        arrays = [one.numpy() for one in given]
        ours = native(*arrays)
        found = {"the evaluator": ours if isinstance(ours, (list, tuple)) else [ours]}
        if session is not None:
            names = [one.name for one in session.get_inputs()]
            found["ONNX Runtime"] = session.run(None, dict(zip(names, arrays, strict=True)))
        for who, results in found.items():
            for i, (result, want) in enumerate(zip(results, wanted, strict=True)):
                words = difference(result, want)
                assert not words, f"{who} at {sizes}, result {i}: {words}"
    check_file(program, folder)
    return "equal" if session is not None else "equal, but not run by ONNX Runtime"


def check_file(program: Any, folder: pathlib.Path) -> None:
    path, target = folder / "model.pt2", folder / "model.onnx"
    torch.export.save(program, path)
    done = subprocess.run([PROGRAM, "import", path, "-q", "-o", target], capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == sardonyx.torch.convert(path).to_model_bytes()


@pytest.mark.parametrize("first", range(0, COUNT, 10))
def test_random_modules(first: int, tmp_path: pathlib.Path) -> None:
    torch.set_num_threads(1)
    outcomes = [outcome(seed, tmp_path) for seed in range(first, first + 10)]
    assert outcomes.count("equal") >= 8, outcomes


def main() -> None:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    totals: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                kind = outcome(seed, pathlib.Path(folder))
            except Exception as error:
                kind = "wrong"
                print(f"{seed}: {error}\n{drawn(seed).text}", flush=True)
            totals[kind] += 1
    for kind, number in totals.most_common():
        print(number, kind)


if __name__ == "__main__":
    main()
