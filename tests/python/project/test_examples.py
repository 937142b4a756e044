"""The models of examples/: compiled by the program and from Python, and run in every way there is.

Each row of the table names a model, its inputs and what NumPy says of its results. The same numbers
must come from our evaluator, onnx.reference, ONNX Runtime and the scripts' own Python.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib
import math
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.reference
import onnxruntime
import pytest

from places import BUILD, PROGRAM, ROOT

EXAMPLES = ROOT / "examples"

Results = list[Any]  # of arrays, and of lists of arrays for sequences


def f32(*dims: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def scalar(value: float) -> np.ndarray:
    return np.array(value, dtype=np.float32)


def i64(value: Any) -> np.ndarray:
    return np.array(value, dtype=np.int64)


# --- What NumPy says -----------------------------------------------------------------------------


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))


def split_chunks(x: np.ndarray) -> Results:
    size = math.ceil(x.shape[1] / 10)
    parts = [x[:, i : i + size] for i in range(0, x.shape[1], size)]
    return [parts[0].sum().reshape(1, 1), parts[-1].sum().reshape(1, 1), len(parts), parts]


def nothing_dropped(x: np.ndarray, **_: np.ndarray) -> Results:
    return [x, np.full(x.shape, True)]


def cumulative_sum(x: np.ndarray, decay: np.ndarray) -> Results:
    sums = [np.zeros(x.shape[1])]
    for row in x:
        sums.append(sums[-1] * decay + row)
    return [sums[-1], np.stack(sums[1:])]


def slicing(x: np.ndarray, i: np.ndarray, rows: np.ndarray) -> Results:
    return [
        x[1],
        x[-1, 2],
        x[1:3],
        x[:, ::2],
        x[::-1, -2::-1],
        x[..., 0],
        x[:, None, 0],
        x[i],
        x[i : i + 2, 1],
        x[rows],
        x[rows, 0, ..., 1:],
        x[1:, :-1].shape[1],
    ]


def polynomial(x: np.ndarray, n: np.ndarray) -> Results:
    terms = [x.astype(np.float64) ** i / math.factorial(i) for i in range(n)]
    return [sum(terms, start=np.zeros(x.shape))]


def collatz_steps(start: np.ndarray) -> Results:
    value, steps = int(start), 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return [steps]


def square_root(x: np.ndarray, most_steps: np.ndarray) -> Results:
    root, steps = x, 0
    while steps < most_steps:
        better = np.float32(0.5) * (root + x / root)
        moved, root, steps = np.abs(better - root).max(), better, steps + 1
        if moved < 1e-4:
            break
    return [root, steps]


def named_weights(x: np.ndarray) -> Results:
    hidden = np.tanh(x @ [[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]] + [0.1, 0.2, -0.3])
    return [np.tanh(hidden @ [[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5]] + [0.0, -0.1])]


def unrolled_layers(x: np.ndarray) -> Results:
    def leaky_relu(y: np.ndarray, slope: float) -> np.ndarray:
        return np.where(y < 0, slope * y, y)

    y = leaky_relu(x @ [[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]] + [0.1, 0.2, -0.3], 0.1)
    y = leaky_relu(y @ [[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5]] + [0.0, -0.1], 0.2)
    return [y @ [[2.0], [-1.0]] + [0.5]]


def nearest_vector(queries: np.ndarray, known: np.ndarray) -> Results:
    known = known / np.linalg.norm(known, axis=1, keepdims=True)
    cosines = queries @ known.T / np.linalg.norm(queries, axis=1, keepdims=True)
    best = cosines.argmax(axis=1)
    return [best, cosines.max(axis=1), known[best]]


def attention(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> Results:
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return [weights @ value, weights]


def transformer_block(
    x: np.ndarray,
    scale: np.ndarray,
    projection: np.ndarray,
    output: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
) -> Results:
    def normalize(y: np.ndarray) -> np.ndarray:
        mean, variance = y.mean(axis=-1, keepdims=True), y.var(axis=-1, keepdims=True)
        return (y - mean) / np.sqrt(variance + 1e-5) * scale

    query, key, value = np.split(normalize(x) @ projection, 3, axis=-1)
    heads = [
        attention(query[..., part], key[..., part], value[..., part])[0]
        for part in (slice(0, 4), slice(4, 8))
    ]
    x = x + np.concatenate(heads, axis=-1) @ output
    return [x + gelu(normalize(x) @ up) @ down]


def symbolic_shapes(x: np.ndarray) -> Results:
    return [x.reshape(-1, 2, 12), x.reshape(-1), x.mean(axis=2), x.shape[0]]


def sequences(x: np.ndarray) -> Results:
    divided = [x[: i + 1] / x[i] for i in range(len(x))]
    return [np.concatenate(divided), len(divided), divided[1]]


def settle(x: np.ndarray, limit: np.ndarray) -> Results:
    largest = np.abs(x).max()
    if limit <= 0 or largest <= limit:
        return [x]
    return [np.clip(x, -limit, limit) if np.isinf(largest) else x * (limit / largest)]


def element_types(half: np.ndarray, double: np.ndarray, count: np.ndarray) -> Results:
    return [
        half * np.float16(2) + np.float16(1),
        half.astype(np.float64) * double / 3.0,
        count // 2 * 2 + 1,
        (count & 6) | 1,
        np.abs(half.astype(np.float32)) > 1.5,
        np.clip(np.round(double * 255), 0, 255).astype(np.uint8),
        (-count).astype(np.int8),
    ]


# --- The table -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Example:
    target: str  # FILE.py:NAME
    inputs: dict[str, np.ndarray]
    expected: Callable[..., Results]
    case: str = ""

    @property
    def module(self) -> str:
        return self.target.partition(".py:")[0]

    @property
    def name(self) -> str:
        return self.target.partition(":")[2]

    def __str__(self) -> str:
        return self.name + self.case


TABLE = [
    Example("gelu.py:gelu_model", {"x": f32(3, 4)}, lambda x: [gelu(x)]),
    Example("gelu.py:gelu_model", {"x": f32(0, 4)}, lambda x: [x], "-empty"),
    Example(
        "linear_gelu.py:linear_gelu",
        {"x": f32(2, 5), "weight": f32(3, 5, seed=1), "bias": f32(3, seed=2)},
        lambda x, weight, bias: [gelu(x @ weight.T + bias)],
    ),
    Example("split_chunks.py:split_model", {"x": f32(2, 30)}, split_chunks),
    Example("split_chunks.py:split_model", {"x": f32(2, 25)}, split_chunks, "-uneven"),
    Example(
        "dropout.py:dropout_model",
        {"x": f32(3, 4), "ratio": scalar(0.25), "training_mode": np.array(False)},
        nothing_dropped,
        "-inference",
    ),
    Example(
        "dropout.py:dropout_model",
        {"x": f32(3, 4), "ratio": scalar(0.0), "training_mode": np.array(True)},
        nothing_dropped,
        "-training-keeps-all",
    ),
    Example(
        "cumulative_sum.py:cumulative_sum",
        {"x": f32(5, 3), "decay": scalar(0.5)},
        cumulative_sum,
    ),
    Example(
        "slicing.py:slicing",
        {"x": f32(4, 5, 3), "i": i64(2), "rows": i64([3, 0, -1])},
        slicing,
    ),
    Example("loops.py:polynomial", {"x": f32(4), "n": i64(12)}, polynomial),
    Example("loops.py:polynomial", {"x": f32(4), "n": i64(0)}, polynomial, "-no-turn"),
    Example("loops.py:collatz_steps", {"start": i64(27)}, collatz_steps),
    Example("loops.py:collatz_steps", {"start": i64(1)}, collatz_steps, "-no-turn"),
    Example(
        "loops.py:square_root", {"x": np.abs(f32(5)) + 0.5, "most_steps": i64(50)}, square_root
    ),
    Example(
        "loops.py:square_root",
        {"x": np.abs(f32(5)) + 0.5, "most_steps": i64(2)},
        square_root,
        "-without-break",
    ),
    Example("named_weights.py:named_weights", {"x": f32(5, 2)}, named_weights),
    Example("unrolled_layers.py:unrolled_layers", {"x": f32(6, 2)}, unrolled_layers),
    Example(
        "nearest_vector.py:nearest_vector",
        {"queries": f32(4, 3), "known": f32(6, 3, seed=1)},
        nearest_vector,
    ),
    Example(
        "attention.py:attention",
        {"query": f32(2, 4, 3), "key": f32(2, 4, 3, seed=1), "value": f32(2, 4, 3, seed=2)},
        attention,
    ),
    Example(
        "transformer_block.py:transformer_block",
        {
            "x": f32(2, 5, 8),
            "scale": f32(8, seed=1),
            "projection": f32(8, 24, seed=2),
            "output": f32(8, 8, seed=3),
            "up": f32(8, 16, seed=4),
            "down": f32(16, 8, seed=5),
        },
        transformer_block,
    ),
    Example("symbolic_shapes.py:symbolic_shapes", {"x": f32(3, 4, 6)}, symbolic_shapes),
    Example("sequences.py:sequences", {"x": f32(4)}, sequences),
    Example("early_return.py:settle", {"x": f32(4), "limit": scalar(0.0)}, settle, "-no-limit"),
    Example("early_return.py:settle", {"x": f32(4), "limit": scalar(99.0)}, settle, "-below"),
    Example("early_return.py:settle", {"x": f32(4), "limit": scalar(0.5)}, settle, "-above"),
    Example(
        "early_return.py:settle",
        {"x": np.float32([1, -np.inf, 3]), "limit": scalar(2.0)},
        settle,
        "-infinite",
    ),
    Example(
        "element_types.py:element_types",
        {
            "half": f32(6).astype(np.float16),
            "double": np.linspace(-0.2, 1.2, 6),
            "count": np.array([0, 1, 5, 12, 100, 127], dtype=np.int32),
        },
        element_types,
    ),
]
TARGETS = sorted({example.target for example in TABLE})
# Functions for other files: there is no model in these.
LIBRARIES = {"vectors"}
# Programs that need PyTorch: tests/torch/test_torch_examples.py runs them.
WITH_TORCH = {"torch_decoding", "torch_export", "torch_transformers"}

every_example = pytest.mark.parametrize("example", TABLE, ids=str)
every_target = pytest.mark.parametrize("target", TARGETS)


def test_the_table_is_complete():
    modules = {example.module for example in TABLE}
    assert modules | LIBRARIES | WITH_TORCH == {path.stem for path in EXAMPLES.glob("*.py")}
    assert len(modules) >= 10


# --- Compiling -----------------------------------------------------------------------------------


def program(*words: str | os.PathLike[str], **options: Any) -> str:
    run = subprocess.run(
        [PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False, **options
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "warning" not in run.stderr, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The model file of every target, by the program."""
    folder = tmp_path_factory.mktemp("models")
    files = {}
    for target in TARGETS:
        files[target] = folder / f"{target.partition(':')[2]}.onnx"
        program("build", EXAMPLES / target, "-o", files[target])
    return files


@contextlib.contextmanager
def as_onnxscript(folder: pathlib.Path) -> Iterator[None]:
    """`from onnxscript import ...` means sardonyx, and scripts import those beside them."""
    import sardonyx

    before = dict(sys.modules)
    sys.modules["onnxscript"] = sardonyx
    sys.modules["onnxscript.values"] = importlib.import_module("sardonyx.values")
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - set(before):
            if (folder / f"{name}.py").exists():
                del sys.modules[name]
        for name in ("onnxscript", "onnxscript.values"):
            sys.modules.pop(name, None)
            if name in before:
                sys.modules[name] = before[name]


@pytest.fixture(scope="module")
def scripts() -> dict[str, Any]:
    """The script functions of every target, as Python imports them."""
    found = {}
    with as_onnxscript(EXAMPLES):
        for target in TARGETS:
            module, _, name = target.partition(".py:")
            found[target] = getattr(importlib.import_module(module), name)
    return found


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs_of(attribute.g)


def element_type(type_: onnx.TypeProto) -> int:
    while type_.WhichOneof("value") in ("sequence_type", "optional_type"):
        kind = type_.WhichOneof("value")
        type_ = getattr(type_, kind).elem_type
    return type_.tensor_type.elem_type


@every_target
def test_the_checker_accepts_it_and_every_value_is_typed(target, built):
    model = onnx.load(built[target])
    onnx.checker.check_model(model, full_check=True)
    for graph in graphs_of(model.graph):
        values = [*graph.input, *graph.output, *graph.value_info]
        typed = {value.name for value in values if element_type(value.type) != 0}
        named = {name for node in graph.node for name in node.output if name}
        named |= {value.name for value in [*graph.input, *graph.output]}
        assert named - typed - {tensor.name for tensor in graph.initializer} == set()


FUNCTIONS = [
    ("gelu.py:gelu", "this", ["x"], []),
    ("split_chunks.py:split_chunks", "this", ["x"], ["chunks", "dim"]),
    ("dropout.py:dropout", "this", ["x", "ratio", "training_mode"], ["seed"]),
    ("attention.py:attend", "this", ["query", "key", "value"], ["causal"]),
    ("vectors.py:Cosine", "my.vectors", ["a", "b"], []),
    ("vectors.py:Normalize", "my.vectors", ["a"], ["epsilon"]),
]


@pytest.mark.parametrize(
    ("target", "domain", "inputs", "attributes"), FUNCTIONS, ids=[row[0] for row in FUNCTIONS]
)
def test_functions_for_other_models(target, domain, inputs, attributes, tmp_path):
    program("build", "--function", EXAMPLES / target, "-o", tmp_path / "function.onnx")
    function = onnx.FunctionProto.FromString((tmp_path / "function.onnx").read_bytes())
    context = onnx.checker.C.CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {entry.domain: entry.version for entry in function.opset_import}
    onnx.checker.check_function(function, context)
    assert (function.domain, function.name) == (domain, target.partition(":")[2])
    assert list(function.input) == inputs
    defaults = [attribute.name for attribute in function.attribute_proto]
    assert sorted([*function.attribute, *defaults]) == sorted(attributes)


@every_target
def test_the_program_gives_the_same_bytes_again(target, built, tmp_path):
    program("build", EXAMPLES / target, "-o", tmp_path / "again.onnx")
    # Neither does it matter where the program runs, or which file is built first.
    program("build", target, "-o", tmp_path / "beside.onnx", cwd=EXAMPLES)
    assert (tmp_path / "again.onnx").read_bytes() == built[target].read_bytes()
    assert (tmp_path / "beside.onnx").read_bytes() == built[target].read_bytes()


@every_target
def test_python_gives_the_same_bytes(target, built, scripts):
    proto = scripts[target].to_model_proto()
    assert proto == onnx.load(built[target])
    assert proto.SerializeToString(deterministic=True) == built[target].read_bytes()


DIGESTS = """
import hashlib, pathlib, sys
from project import test_examples
with test_examples.as_onnxscript(test_examples.EXAMPLES):
    for target in test_examples.TARGETS:
        module, _, name = target.partition(".py:")
        proto = getattr(__import__(module), name).to_model_proto()
        data = proto.SerializeToString(deterministic=True)
        print(target, hashlib.sha256(data).hexdigest())
"""


def test_the_order_of_hashes_does_not_matter(scripts):
    own = {
        target: hashlib.sha256(
            script.to_model_proto().SerializeToString(deterministic=True)
        ).hexdigest()
        for target, script in scripts.items()
    }
    for seed in ("1", "2"):
        path = os.pathsep.join([str(pathlib.Path(__file__).parents[1]), *sys.path])
        run = subprocess.run(
            [sys.executable, "-c", DIGESTS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert dict(line.split() for line in run.stdout.splitlines()) == own


# --- Running -------------------------------------------------------------------------------------


def run_program(example: Example, model: pathlib.Path, folder: pathlib.Path) -> Results:
    words = []
    for name, value in example.inputs.items():
        np.save(folder / f"{name}.npy", value)
        words.append(f"{name}={folder / name}.npy")
    program("run", model, *words, "-o", folder / "out")
    results: Results = []
    for value in onnx.load(model).graph.output:
        if value.type.HasField("sequence_type"):
            files = list((folder / "out").glob(f"{value.name}_*.npy"))
            files.sort(key=lambda path: int(path.stem.rpartition("_")[2]))
            results.append([np.load(file) for file in files])
        else:
            results.append(np.load(folder / "out" / f"{value.name}.npy"))
    return results


def run_reference(example: Example, model: pathlib.Path, _: pathlib.Path) -> Results:
    return onnx.reference.ReferenceEvaluator(str(model)).run(None, example.inputs)


def run_onnxruntime(example: Example, model: pathlib.Path, _: pathlib.Path) -> Results:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return session.run(None, example.inputs)


RUNTIMES = {"program": run_program, "reference": run_reference, "onnxruntime": run_onnxruntime}


def assert_close(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if found.dtype.kind == "f":
        tolerance = {2: 2e-3, 4: 2e-6, 8: 1e-14}[found.dtype.itemsize]
        np.testing.assert_allclose(found, expected, rtol=5 * tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(found, expected)


def assert_types(results: Results, model: pathlib.Path) -> None:
    for value, result in zip(onnx.load(model).graph.output, results, strict=True):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(element_type(value.type))
        for array in result if isinstance(result, list) else [result]:
            assert np.asarray(array).dtype == dtype


@every_example
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_numbers(example, runtime, built, tmp_path):
    model = built[example.target]
    results = RUNTIMES[runtime](example, model, tmp_path)
    assert_types(results, model)
    assert_close(results, example.expected(**example.inputs))


@every_example
def test_the_numbers_of_an_eager_call(example, scripts, built):
    results = scripts[example.target](*example.inputs.values())
    results = list(results) if isinstance(results, tuple) else [results]
    assert_types(results, built[example.target])
    assert_close(results, example.expected(**example.inputs))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_dropout_in_training(runtime, built, tmp_path):
    """Random numbers differ from runtime to runtime, but not what dropout makes of them."""
    x = np.random.default_rng(0).uniform(1.0, 2.0, (100, 100)).astype(np.float32)
    inputs = {"x": x, "ratio": scalar(0.25), "training_mode": np.array(True)}
    example = Example("dropout.py:dropout_model", inputs, list)
    output, mask = RUNTIMES[runtime](example, built[example.target], tmp_path)
    assert mask.dtype == np.bool_ and mask.shape == x.shape
    # Five standard deviations of 10,000 coins.
    assert abs(mask.mean() - 0.75) < 5 * math.sqrt(0.25 * 0.75 / x.size)
    np.testing.assert_allclose(output, np.where(mask, x / 0.75, 0.0), rtol=1e-6)


# --- Scripts of today ----------------------------------------------------------------------------

# What onnxscript 0.7.2 compiles too; the other examples use what it has not.
ALSO_FOR_ONNXSCRIPT = [
    "cumulative_sum.py:cumulative_sum",
    "dropout.py:dropout_model",
    "gelu.py:gelu_model",
    "linear_gelu.py:linear_gelu",
    "nearest_vector.py:nearest_vector",
    "split_chunks.py:split_model",
]


@pytest.mark.parametrize("example", [e for e in TABLE if e.target in ALSO_FOR_ONNXSCRIPT], ids=str)
def test_onnxscript_means_the_same(example, tmp_path, monkeypatch):
    """The same file, compiled by the onnxscript that it imports."""
    shutil.copytree(EXAMPLES, tmp_path / "scripts", ignore=shutil.ignore_patterns("cpp"))
    monkeypatch.syspath_prepend(tmp_path / "scripts")
    script = getattr(importlib.import_module(example.module), example.name)
    model = tmp_path / "peer.onnx"
    onnx.save(script.to_model_proto(), model)
    for name in {path.stem for path in EXAMPLES.glob("*.py")}:
        sys.modules.pop(name, None)
    results = run_onnxruntime(example, model, tmp_path)
    assert_close(results, example.expected(**example.inputs))


# --- The demo ------------------------------------------------------------------------------------


def test_the_demo_runs_every_example():
    environment = {**os.environ, "SDX_BUILD": str(BUILD)}
    run = subprocess.run(
        [ROOT / "tools" / "demo"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for target in TARGETS:
        assert f"sardonyx build examples/{target}" in run.stdout
