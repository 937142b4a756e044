"""Programs that import onnxscript run on sardonyx unchanged; the public names that they use."""

from __future__ import annotations

import inspect
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import evaluator, onnx_opset, onnx_types, tensor, values

TENSOR_TYPES = [
    "FLOAT",
    "DOUBLE",
    "FLOAT16",
    "BFLOAT16",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "BOOL",
    "STRING",
    "COMPLEX64",
    "COMPLEX128",
    "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ",
    "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ",
    "INT4",
    "UINT4",
    "FLOAT4E2M1",
]

# Module, and the names that it offers.
OPSETS = [f"opset{i}" for i in range(1, 24)] + [f"opset_ai_onnx_ml{i}" for i in range(1, 6)]
NAMES = {
    sardonyx: [
        "script",
        "graph",
        "OnnxFunction",
        "TracedOnnxFunction",
        "external_tensor",
        "export_onnx_lib",
        "Opset",
        "tensor",
        "values",
        "evaluator",
        "onnx_types",
        "onnx_opset",
        *TENSOR_TYPES,
        *OPSETS,
    ],
    values: ["Opset", "OnnxFunction", "TracedOnnxFunction", "OnnxClosure", "Op"],
    evaluator: [
        "Evaluator",
        "default",
        "default_as",
        "set_default",
        "ORTEvaluator",
        "ORTMixedEvaluator",
        "OnnxReferenceRuntimeEvaluator",
    ],
    tensor: ["Tensor"],
    onnx_types: ["TensorType", "tensor_type_registry", *TENSOR_TYPES],
    onnx_opset: ["all_opsets", "Opset", *OPSETS],
}

SIGNATURES = {
    "script": "opset default_opset schemas keywords",
    "graph": "",
    "export_onnx_lib": "functions filename",
    "external_tensor": "name data_type dims location offset length checksum basepath",
}


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in NAMES.items() for name in names],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_public_name(module: object, name: str) -> None:
    assert getattr(module, name) is not None


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name: str) -> None:
    assert list(inspect.signature(getattr(sardonyx, name)).parameters) == SIGNATURES[name].split()


def test_tensor_members() -> None:
    one = tensor.Tensor(np.array([1, 2], np.int64))
    assert one.shape == (2,) and one.rank == 1 and one.dtype == np.int64
    assert one.onnx_dtype == onnx.TensorProto.INT64 and not one.is_scalar
    assert (one + one)[0] == 2 and (one.value == [1, 2]).all()


def test_evaluator_of_a_block() -> None:
    before = evaluator.default()
    with evaluator.default_as(evaluator.ORTEvaluator()) as inside:
        assert evaluator.default() is inside
        assert onnx_opset.opset18.Abs(np.array([-1.0], np.float32))[0] == 1
    assert evaluator.default() is before


PROGRAM = '''\
"""A program."""
import sys
import numpy as np
import onnxscript
import onnxscript.onnx_types
from onnxscript import FLOAT, script, opset18 as op
from onnxscript.values import Opset, OnnxFunction
from onnxscript.onnx_opset import opset17
from onnxscript import evaluator
from helper_of_the_program import one

assert __name__ == "__main__" and __file__ == sys.argv[0], (__name__, __file__)


@script()
def f(x: FLOAT["N"], alpha: float = 2.0) -> FLOAT["N"]:
    """Doubles."""
    return op.Abs(x) * alpha + one


assert isinstance(f, OnnxFunction) and f.name == "f" and f.__doc__ == "Doubles."
assert f.__wrapped__.__name__ == "f"
print(f(np.array([-1.0, 2.0], np.float32)), sys.argv[1:])
model = f.to_model_proto(producer_name="p", value_infos={}, ir_version=9)
print(model.producer_name, model.ir_version, [n.op_type for n in model.graph.node])
print(type(f.to_function_proto()).__name__, onnxscript.__name__)
'''


def run(folder: pathlib.Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **more}
    return subprocess.run(
        [sys.executable, "-m", "sardonyx", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
    )


def test_program_runs_unchanged(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "helper_of_the_program.py").write_text("one = 1.0\n")
    result = run(tmp_path, "elsewhere/program.py", "a", "--b")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "[3. 5.] ['a', '--b']"
    assert lines[1].startswith("p 9 ['Abs'")
    assert lines[2] == "FunctionProto sardonyx"


ENDINGS = {
    "an exception": ("def g():\n    raise ValueError('no')\n\ng()\n", 1),
    "a syntax error": ("x = = 1\n", 1),
    "an exit code": ("import sys\nsys.exit(3)\n", 3),
    "an exit message": ("raise SystemExit('stop')\n", 1),
    "a missing module": ("import onnxscript.no_such_module\n", 1),
    "the end": ("pass\n", 0),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_program_ends_as_with_python(name: str, tmp_path: pathlib.Path) -> None:
    source, code = ENDINGS[name]
    (tmp_path / "program.py").write_text(source)
    ours = run(tmp_path, "program.py")
    assert ours.returncode == code
    if "onnxscript" in source:
        assert "ModuleNotFoundError: No module named 'onnxscript.no_such_module'" in ours.stderr
        return
    python = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    shorter = ours.stderr.replace(str(tmp_path) + os.sep, "")
    assert shorter == python.stderr.replace(str(tmp_path) + os.sep, "")


def test_missing_program(tmp_path: pathlib.Path) -> None:
    result = run(tmp_path, "nothing.py")
    assert result.returncode == 2 and "can't open file" in result.stderr


def test_export_onnx_lib(tmp_path: pathlib.Path) -> None:
    source = textwrap.dedent("""\
        from sardonyx import script, opset18 as op, values
        own = values.Opset("my.own", 2)

        @script(own, default_opset=op)
        def g(x):
            return x + 1
        """)
    path = tmp_path / "lib_of_one.py"
    path.write_text(source)
    scope: dict[str, object] = {"__name__": "lib_of_one"}
    exec(compile(source, str(path), "exec"), scope)
    target = tmp_path / "lib.onnxlib"
    sardonyx.export_onnx_lib([scope["g"]], str(target))
    model = onnx.load(target)
    assert [(one.domain, one.name) for one in model.functions] == [("my.own", "g")]
