"""The evaluator against the node cases of the onnx package, each with its own tolerances."""

from __future__ import annotations

import functools
import pathlib
import tempfile
import warnings
from typing import Any

import ml_dtypes  # noqa: F401  (NumPy knows bfloat16 and float8 through it)
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.reference
import pytest
from onnx import TensorProto

from peers import ort_session
from places import BUILD
from tool import Tool

pytestmark = pytest.mark.filterwarnings("ignore")

TOOL = BUILD / "sdx_eval_tool"

# Cases whose numbers are not determined: type and shape are compared.
RANDOM_CASES = (
    "test_bernoulli",
    "test_bernoulli_double",
    "test_bernoulli_double_expanded",
    "test_bernoulli_expanded",
    "test_bernoulli_seed",
    "test_bernoulli_seed_expanded",
    "test_training_dropout",
    "test_training_dropout_default",
    "test_training_dropout_default_mask",
    "test_training_dropout_mask",
)

# Cases that expect the rounding errors of a computation that rounds each step: attention in float16
# and bfloat16. Ours rounds at the end, and must be nearer to the exact result than the expectation
# is.
ROUNDED_STEPS = (
    "test_attention_3d_causal_bf16",
    "test_attention_3d_causal_bf16_expanded",
    "test_attention_4d_attn_mask_causal_bf16",
    "test_attention_4d_attn_mask_causal_bf16_expanded",
    "test_attention_4d_causal_bf16",
    "test_attention_4d_causal_bf16_expanded",
    "test_attention_4d_causal_fp16_expanded",
    "test_attention_4d_causal_padded_kv_bf16",
    "test_attention_4d_causal_padded_kv_bf16_expanded",
    "test_attention_4d_padded_kv_bf16",
    "test_attention_4d_padded_kv_bf16_expanded",
)


class Evaluator:
    """Runs models through the tool, which stays open for all of them."""

    def __init__(self) -> None:
        self.tool = Tool(TOOL)
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def write(self, data: bytes) -> str:
        path = pathlib.Path(self.folder.name) / f"{self.count}.pb"
        self.count += 1
        path.write_bytes(data)
        return str(path)

    def encode(self, value: Any) -> str:
        if value is None:
            return "N"
        if isinstance(value, list):
            protos = [to_proto(item) for item in value]
            name = onnx.TensorProto.DataType.Name(protos[0].data_type) if protos else "UNDEFINED"
            paths = [self.write(proto.SerializeToString()) for proto in protos]
            return f"S:{name}:{','.join(paths)}"
        if isinstance(value, dict):  # a map
            protos = [to_proto(tensor_of(list(part))) for part in (value.keys(), value.values())]
            return "M:" + ",".join(self.write(proto.SerializeToString()) for proto in protos)
        return "T:" + self.write(to_proto(value).SerializeToString())

    def decode(self, field: str, path: str) -> Any:
        if field == "N":
            return None
        if field == "T":
            return read_array(pathlib.Path(path + ".pb"))
        if field == "M":
            return read_map(path)
        count = int(field.rsplit(":", 1)[1])
        if field.startswith("L"):
            return [read_map(f"{path}_{i}") for i in range(count)]
        return [read_array(pathlib.Path(f"{path}_{i}.pb")) for i in range(count)]

    def run(self, model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Any]:
        """The outputs; RuntimeError with the message of an error."""
        prefix = str(pathlib.Path(self.folder.name) / f"out{self.count}")
        fields = [self.write(model.SerializeToString()), prefix]
        fields += [f"{name}={self.encode(value)}" for name, value in inputs.items()]
        answer = self.tool.ask(*fields)
        try:
            if answer[0] != "ok":
                raise RuntimeError(answer[1])
            return [self.decode(field, f"{prefix}_{i}") for i, field in enumerate(answer[1:])]
        finally:
            # Each file that is written looks for left-over ones in its folder, so keep that small.
            for path in pathlib.Path(self.folder.name).iterdir():
                path.unlink()


def to_proto(value: Any) -> onnx.TensorProto:
    if isinstance(value, onnx.TensorProto):
        return value
    return onnx.numpy_helper.from_array(np.asarray(value))


def to_array(value: Any) -> np.ndarray:
    return onnx.numpy_helper.to_array(to_proto(value))


def tensor_of(values: list[Any]) -> np.ndarray:
    return np.array(values, {str: "object", int: "int64", float: "float32"}[type(values[0])])


def read_map(path: str) -> dict[Any, Any]:
    parts = [read_array(pathlib.Path(f"{path}_{part}.pb")).tolist() for part in ("keys", "values")]
    return dict(zip(*parts, strict=True))


def read_array(path: pathlib.Path) -> np.ndarray:
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


@functools.cache
def node_cases() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases()


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def check_equal(got: Any, expected: Any, rtol: float, atol: float, values: bool = True) -> None:
    if expected is None:
        assert got is None
        return
    if isinstance(expected, list):
        assert isinstance(got, list) and len(got) == len(expected)
        for item, expected_item in zip(got, expected, strict=False):
            check_equal(item, expected_item, rtol, atol, values)
        return
    wanted = to_array(expected)
    assert got.dtype == wanted.dtype, f"{got.dtype} is not {wanted.dtype}"
    assert got.shape == wanted.shape, f"{got.shape} is not {wanted.shape}"
    if not values:
        return
    if got.dtype.kind in "OSUb":
        np.testing.assert_array_equal(got.astype(object), wanted.astype(object))
    elif got.dtype.kind == "c":
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
    else:
        np.testing.assert_allclose(
            got.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol
        )


def in_double(case: Any, inputs: list[Any]) -> list[np.ndarray]:
    """What onnx.reference makes of the case's operator in double precision."""
    narrow = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
    name = case.name.removesuffix("_expanded")
    model = onnx.ModelProto()
    model.CopyFrom(next(other.model for other in node_cases() if other.name == name))
    for info in [*model.graph.input, *model.graph.output]:
        if info.type.tensor_type.elem_type in narrow:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    arrays = [to_array(item) for item in inputs]
    wide = [x.astype(np.float64) if to_proto(x).data_type in narrow else x for x in arrays]
    names = [info.name for info in model.graph.input]
    result: list[np.ndarray] = onnx.reference.ReferenceEvaluator(model).run(
        None, dict(zip(names, wide, strict=True))
    )
    return result


def check_nearer(got: list[Any], expected: list[Any], exact: list[np.ndarray]) -> None:
    """`got` is at most as far from `exact` as what is expected."""
    for item, other, true in zip(got, expected, exact, strict=True):
        ours, theirs = (np.abs(to_array(x).astype(np.float64) - true).max() for x in (item, other))
        assert ours <= theirs, f"{ours} is more than {theirs}"


def run_case(evaluator: Evaluator, case: Any) -> None:
    for inputs, outputs in case.data_sets:
        names = [info.name for info in case.model.graph.input]
        named = dict(zip(names, inputs, strict=False))
        got = evaluator.run(case.model, named)
        assert len(got) == len(outputs)
        is_random = case.name in RANDOM_CASES
        is_exact = case.name not in ROUNDED_STEPS
        for item, expected in zip(got, outputs, strict=False):
            check_equal(item, expected, case.rtol, case.atol, values=is_exact and not is_random)
        if not is_exact:
            check_nearer(got, outputs, in_double(case, inputs))


def test_node_cases(evaluator: Evaluator, capsys: pytest.CaptureFixture[str]) -> None:
    failed: dict[str, str] = {}
    for case in node_cases():
        try:
            run_case(evaluator, case)
        except Exception as error:
            failed[case.name] = str(error)
    with capsys.disabled():
        passed = len(node_cases()) - len(failed)
        print(f"\nnode cases: {passed} of {len(node_cases())} passed")
        for name, message in sorted(failed.items()):
            print(f"  failed: {name}: {' '.join(message.split())[:300]}")
    assert not failed


# --- Properties: random shapes and values against NumPy and onnx.reference ------------------------

FLOATS = ["float32", "float64", "float16"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, 3.4e38, -1.5, 2.5]
ROUNDS = 40


def random_dims(rng: np.random.Generator, max_rank: int = 4) -> tuple[int, ...]:
    return tuple(int(d) for d in rng.choice([0, 1, 1, 2, 3, 5], size=rng.integers(0, max_rank + 1)))


def random_array(rng: np.random.Generator, dtype: str, dims: tuple[int, ...]) -> np.ndarray:
    if dtype == "bool":
        return rng.integers(0, 2, dims).astype(bool)
    if dtype.startswith("float"):
        values = rng.normal(0, 3, dims)
        special = rng.choice(SPECIAL, dims)
        return np.where(rng.random(dims) < 0.15, special, values).astype(dtype)
    info = np.iinfo(dtype)
    wide = rng.integers(info.min, info.max, dims, dtype=dtype, endpoint=True)
    return np.where(rng.random(dims) < 0.5, wide, rng.integers(0, 9, dims)).astype(dtype)


def broadcasting_pair(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    whole = random_dims(rng)
    thin = [tuple(d if rng.random() < 0.7 else 1 for d in whole) for _ in range(2)]
    cut = int(rng.integers(0, len(whole) + 1))
    return (thin[0], thin[1][cut:]) if rng.random() < 0.5 else (thin[0][cut:], thin[1])


def node_model(
    op: str, inputs: list[Any], outputs: int, opset: int, attributes: dict[str, Any]
) -> onnx.ModelProto:
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    node = onnx.helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **attributes)
    infos = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in zip(names, inputs, strict=True)
        if value is not None
    ]
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = onnx.helper.make_graph([node], "g", infos, results)
    imports = [onnx.helper.make_opsetid("", opset)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)


def run_node(
    evaluator: Evaluator,
    op: str,
    inputs: list[Any],
    outputs: int = 1,
    opset: int = 21,
    **attributes: Any,
) -> list[Any]:
    model = node_model(op, inputs, outputs, opset, attributes)
    named = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    return evaluator.run(model, named)


def assert_same(got: np.ndarray, expected: Any, rtol: float = 0) -> None:
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got, expected)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


def python_divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Integer division towards zero, by Python's integers."""
    quotients = [
        abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1)
        for x, y in zip(*(side.reshape(-1) for side in np.broadcast_arrays(a, b)), strict=False)
    ]
    bits = a.dtype.itemsize * 8
    wrapped = [q & ((1 << bits) - 1) for q in quotients]
    unsigned = np.array(wrapped, dtype=f"uint{bits}")
    return unsigned.view(a.dtype).reshape(np.broadcast_shapes(a.shape, b.shape))


BINARY = {
    "Add": (np.add, FLOATS + INTS),
    "Sub": (np.subtract, FLOATS + INTS),
    "Mul": (np.multiply, FLOATS + INTS),
    "Max": (np.maximum, FLOATS + INTS),
    "Min": (np.minimum, FLOATS + INTS),
    "Equal": (np.equal, [*FLOATS, *INTS, "bool"]),
    "Less": (np.less, FLOATS + INTS),
    "GreaterOrEqual": (np.greater_equal, FLOATS + INTS),
    "And": (np.logical_and, ["bool"]),
    "Xor": (np.logical_xor, ["bool"]),
    "BitwiseAnd": (np.bitwise_and, INTS),
    "BitwiseXor": (np.bitwise_xor, INTS),
}


@pytest.mark.parametrize("op", BINARY)
def test_binary(evaluator: Evaluator, op: str) -> None:
    function, dtypes = BINARY[op]
    rng = np.random.default_rng(len(op))
    for dtype in dtypes:
        for _ in range(8):
            left, right = broadcasting_pair(rng)
            a, b = random_array(rng, dtype, left), random_array(rng, dtype, right)
            assert_same(run_node(evaluator, op, [a, b])[0], function(a, b))


def test_integer_division_and_remainder(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(1)
    for dtype in INTS:
        for _ in range(8):
            left, right = broadcasting_pair(rng)
            a, b = random_array(rng, dtype, left), random_array(rng, dtype, right)
            b = np.where(b == 0, np.ones_like(b), b).astype(dtype)
            assert_same(run_node(evaluator, "Div", [a, b])[0], python_divide(a, b))
            assert_same(run_node(evaluator, "Mod", [a, b])[0], np.mod(a, b))
            assert_same(run_node(evaluator, "Mod", [a, b], fmod=1)[0], np.fmod(a, b))
    with pytest.raises(RuntimeError, match="integer division by zero"):
        run_node(evaluator, "Mod", [np.ones(2, "int8"), np.zeros(2, "int8")])


REDUCTIONS = {
    "ReduceSum": np.sum,
    "ReduceProd": np.prod,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
    "ReduceMean": np.mean,
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(np.square(x), **k)),
    "ReduceSumSquare": lambda x, **k: np.sum(np.square(x), **k),
    "ReduceLogSumExp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
}


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduction(evaluator: Evaluator, op: str) -> None:
    rng = np.random.default_rng(len(op))
    for _ in range(ROUNDS):
        dims = random_dims(rng)
        x = rng.normal(0, 2, dims).astype(rng.choice(["float32", "float64"]))
        count = int(rng.integers(0, len(dims) + 1))
        axes = rng.permutation(len(dims))[:count].astype("int64")
        axes = np.where(rng.random(count) < 0.5, axes - len(dims), axes)
        keep = bool(rng.integers(0, 2))
        got = run_node(evaluator, op, [x, axes], opset=18, keepdims=int(keep))[0]
        over = tuple(int(a) for a in axes) or None
        neutral = {"ReduceMax": -np.inf, "ReduceMin": np.inf}
        more = {"initial": neutral[op]} if op in neutral else {}
        expected = REDUCTIONS[op](x, axis=over, keepdims=keep, **more)
        assert_same(got, np.asarray(expected, x.dtype), rtol=1e-5)


def standard_slice(start: int, end: int, step: int, n: int) -> slice:
    """Slice's rules: Python's, but backwards a start before the first element is that element."""
    return slice(0 if step < 0 and start < -n else start, end, step)


def test_slice_backwards_from_before_the_first_element(evaluator: Evaluator) -> None:
    """onnx.reference does as NumPy, and gives nothing."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    for start in (-2, -3, -4, -(2**63)):
        lists = [np.array([v], "int64") for v in (start, -(2**63), 0, -1)]
        model = node_model("Slice", [x, *lists], 1, 21, {})
        named = {f"x{i}": value for i, value in enumerate([x, *lists])}
        [got], [expected] = evaluator.run(model, named), onnxruntime_run(model, named)
        assert_same(got, expected)
        assert_same(got, x[:1])


def test_slice(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(3)
    far = np.iinfo("int64").max
    for _ in range(3 * ROUNDS):
        x = random_array(rng, "int32", random_dims(rng))
        axes = rng.permutation(x.ndim)[: rng.integers(0, x.ndim + 1)]
        index = [slice(None)] * x.ndim
        starts, ends, steps = [], [], []
        for axis in axes:
            start, end = (int(v) for v in rng.choice([*range(-7, 8), far, -far], 2))
            step = int(rng.choice([1, 2, 3, -1, -2, far, -far]))
            index[axis] = standard_slice(start, end, step, x.shape[axis])
            starts, ends, steps = [*starts, start], [*ends, end], [*steps, step]
        lists = [np.array(v, "int64") for v in (starts, ends, axes, steps)]
        assert_same(run_node(evaluator, "Slice", [x, *lists])[0], x[tuple(index)])


def test_movement(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(4)
    for _ in range(ROUNDS):
        x = random_array(
            rng, str(rng.choice(["int8", "float16", "int32", "float64"])), random_dims(rng)
        )
        perm = [int(p) for p in rng.permutation(x.ndim)]
        got = run_node(evaluator, "Transpose", [x], **({"perm": perm} if perm else {}))[0]
        assert_same(got, np.transpose(x, perm))
        repeats = rng.integers(0, 3, x.ndim)
        assert_same(run_node(evaluator, "Tile", [x, repeats])[0], np.tile(x, repeats))
        if x.ndim == 0:
            continue
        axis = int(rng.integers(-x.ndim, x.ndim))
        y = random_array(rng, str(x.dtype), x.shape)
        assert_same(
            run_node(evaluator, "Concat", [x, y, x], axis=axis)[0], np.concatenate([x, y, x], axis)
        )
        pads = rng.integers(0, 4, (2, x.ndim))
        mode = str(rng.choice(["constant", "edge", "reflect", "wrap"]))
        if x.size == 0 or (mode == "reflect" and min(x.shape) == 1):
            mode = "constant"
        assert_same(
            run_node(evaluator, "Pad", [x, pads.reshape(-1)], mode=mode)[0],
            np.pad(x, pads.T, mode=mode),
        )


def test_gather_and_scatter(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(5)
    for _ in range(ROUNDS):
        dims = tuple(int(d) for d in rng.integers(1, 5, rng.integers(1, 4)))
        x = random_array(rng, "float32", dims)
        axis = int(rng.integers(-x.ndim, x.ndim))
        n = dims[axis]
        indices = rng.integers(-n, n, random_dims(rng, 2))
        assert_same(
            run_node(evaluator, "Gather", [x, indices], axis=axis)[0], np.take(x, indices, axis)
        )
        part = [int(rng.integers(0, d + 1)) for d in dims]
        shape = [d if k != axis % x.ndim else n for k, d in enumerate(part)]
        order = np.argsort(rng.random(shape), axis=axis).astype("int64")
        clipped = x[tuple(slice(0, d) for d in shape)]
        assert_same(
            run_node(evaluator, "GatherElements", [x, order], axis=axis)[0],
            np.take_along_axis(clipped, order, axis),
        )
        updates = random_array(rng, "float32", tuple(shape))
        expected = x.copy()
        np.put_along_axis(expected[tuple(slice(0, d) for d in shape)], order, updates, axis)
        assert_same(
            run_node(evaluator, "ScatterElements", [x, order, updates], axis=axis)[0], expected
        )


def test_matmul(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(6)
    for _ in range(ROUNDS):
        dtype = str(rng.choice(["float32", "float64", "int32", "int64", "uint32"]))
        left, right = broadcasting_pair(rng)
        m, k, n = (int(v) for v in rng.choice([0, 1, 2, 7, 33, 70], 3))
        a_dims = (k,) if left == () and rng.random() < 0.5 else (*left, m, k)
        b_dims = (k,) if right == () and rng.random() < 0.5 else (*right, k, n)
        a, b = (rng.integers(-9, 9, d).astype(dtype) for d in (a_dims, b_dims))
        assert_same(run_node(evaluator, "MatMul", [a, b])[0], np.matmul(a, b), rtol=1e-6)


def test_cast_between_all_native_types(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(7)
    for source in [*FLOATS, *INTS, "bool"]:
        for target in [*FLOATS, *INTS, "bool"]:
            x = random_array(rng, source, (50,))
            if source.startswith("float") and target in INTS:
                # What does not fit is undefined in ONNX; ours saturates, NumPy's depends.
                info = np.iinfo(target)
                x = np.nan_to_num(np.clip(x, max(info.min, -100), min(info.max, 100)))
            number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))
            assert_same(run_node(evaluator, "Cast", [x], to=number)[0], x.astype(target))


def test_hardmax_of_nan(evaluator: Evaluator) -> None:
    """NaN is the greatest, as for ArgMax: the first of a row."""
    x = np.array([[1, np.nan, 3, np.nan], [np.nan, 2, 1, 0], [1, 5, 5, -1]], np.float32)
    expected = np.eye(4, dtype=np.float32)[np.argmax(x, axis=1)]
    assert_same(run_node(evaluator, "Hardmax", [x])[0], expected)


def onnxruntime_run(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[np.ndarray]:
    return ort_session(model.SerializeToString()).run(None, inputs)


def test_against_onnxruntime(evaluator: Evaluator) -> None:
    """Windows, and definitions of older versions that differ from the newest."""
    rng = np.random.default_rng(8)
    x = rng.normal(0, 1, (2, 4, 7, 6)).astype("float32")
    w = rng.normal(0, 1, (6, 2, 3, 2)).astype("float32")
    wt = rng.normal(0, 1, (4, 3, 3, 2)).astype("float32")
    channels = [rng.normal(1, 0.1, 4).astype("float32") for _ in range(4)]
    cases: list[tuple[str, int, list[np.ndarray], dict[str, Any]]] = []
    for strides in ([1, 1], [2, 3]):
        for pads in ([0, 0, 0, 0], [1, 0, 2, 1]):
            window = {"strides": strides, "pads": pads}
            pool = {**window, "kernel_shape": [3, 2]}
            cases += [
                ("Conv", 18, [x, w], {**window, "group": 2, "dilations": [2, 1]}),
                ("ConvTranspose", 18, [x, wt], window),
                ("MaxPool", 18, [x], {**pool, "ceil_mode": 1}),
                ("AveragePool", 18, [x], {**pool, "count_include_pad": 1}),
                ("LpPool", 18, [x], pool),
            ]
    for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        cases.append(("Conv", 18, [x, w], {"auto_pad": auto_pad, "strides": [2, 2], "group": 2}))
        cases.append(("MaxPool", 18, [x], {"auto_pad": auto_pad, "kernel_shape": [3, 3]}))
        cases.append(("ConvTranspose", 18, [x, wt], {"auto_pad": auto_pad, "strides": [4, 3]}))
    for axis in (0, 1, 2, -1):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            cases += [(op, 11, [x], {"axis": axis}), (op, 13, [x], {"axis": axis})]
        for largest in (0, 1):
            cases.append(("TopK", 18, [x, np.array([2])], {"axis": axis, "largest": largest}))
    cases += [
        ("BatchNormalization", 9, [x, *channels], {}),
        ("BatchNormalization", 15, [x, *channels], {}),
        ("Clip", 6, [x], {"min": -0.5, "max": 0.25}),
        ("Dropout", 7, [x], {"ratio": 0.5}),
        ("Pad", 2, [x], {"pads": [0, 0, 1, 2, 0, 0, 2, 1], "mode": "reflect"}),
        ("Slice", 1, [x], {"starts": [1, -3], "ends": [9, -1], "axes": [1, 2]}),
        ("Split", 2, [x], {"axis": 2, "split": [3, 4]}),
        ("Squeeze", 11, [x[:1]], {"axes": [0]}),
        ("Unsqueeze", 11, [x], {"axes": [1, -1]}),
        ("ReduceSum", 11, [x], {"axes": [1, -1], "keepdims": 0}),
        ("ReduceMax", 12, [x], {"axes": [2]}),
        ("TopK", 1, [x], {"axis": 2, "k": 3}),
        ("Gemm", 9, [x[0, 0], x[0, 1].T.copy(), x[0, 2, :, :1]], {"alpha": 0.5, "beta": 2.0}),
        ("InstanceNormalization", 6, [x, channels[0], channels[1]], {}),
        ("LRN", 13, [x], {"size": 3}),
    ]
    for op, opset, inputs, attributes in cases:
        count = {"TopK": 2, "Split": 2}.get(op, 1)
        model = node_model(op, inputs, count, opset, attributes)
        named = {f"x{i}": value for i, value in enumerate(inputs)}
        got = evaluator.run(model, named)
        for a, b in zip(got, onnxruntime_run(model, named), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=f"{op} {attributes}")
            assert a.dtype == b.dtype


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "message"),
    [
        ("Reshape", [np.zeros((2, 3)), np.array([4, -1])], {}, "6 elements do not fit shape"),
        (
            "Gather",
            [np.zeros(3), np.array([3])],
            {},
            "index 3 is out of range for an axis of size 3",
        ),
        ("Concat", [np.zeros((2, 3)), np.zeros((3, 2))], {"axis": 0}, "do not go together"),
        ("MatMul", [np.zeros((2, 3)), np.zeros((2, 3))], {}, "do not multiply: 3 against 2"),
        ("Softmax", [np.zeros((2, 3))], {"axis": 5}, "axis 5 is out of range for rank 2"),
        ("Expand", [np.zeros((2, 3)), np.array([4, 3])], {}, "do not broadcast: 2 against 4"),
        ("Squeeze", [np.zeros((2, 1)), np.array([0])], {}, "axis 0 has size 2, not 1"),
        ("ConstantOfShape", [np.array([2**40, 2**40])], {}, "negative or too large"),
        ("TopK", [np.zeros(3), np.array([4])], {}, "k is 4, but the axis has 3 elements"),
        (
            "Add",
            [np.zeros(3), np.zeros(3, "float32")],
            {},
            "but input `A` is DOUBLE.3.: both must be of one type",
        ),
    ],
)
def test_errors(
    evaluator: Evaluator, op: str, inputs: list[Any], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        run_node(evaluator, op, inputs, outputs=2 if op == "TopK" else 1, **attributes)
