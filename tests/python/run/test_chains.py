"""Chains of elementwise operators, which a plan runs in blocks: bit by bit what the operators give
one by one, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

pytestmark = pytest.mark.filterwarnings("ignore")

OPSET = 22
# Shapes of chains, and what broadcasts to them beside the whole and a single number: with rows of
# odd lengths, blocks that do not divide the rows, and shapes that cannot be cut.
SHAPES: dict[tuple[int, ...], list[tuple[int, ...]]] = {
    (50_021,): [(1,)],
    (16_385,): [],
    (131, 301): [(301,), (1, 301), (131, 1), (1, 1)],
    (1, 97, 1023): [(1023,), (1, 97, 1), (97, 1), (1, 1, 1023), (97, 1023)],
    (5, 9001): [(9001,), (5, 1)],
    (3, 16, 700): [(16, 700), (16, 1), (3, 1, 1), (3, 16, 1), (700,)],
    (2, 3, 5000): [(3, 1), (1, 3, 1), (2, 1, 5000)],
    (40, 50, 30): [(50, 1), (40, 1, 1), (50, 30)],
    (20_000, 1): [(1, 1), (1,)],
    (0, 70_000): [(1, 70_000)],
}
ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "Min")
BINARY = {
    "f": (*ARITHMETIC, "Pow"),
    "i": ("Add", "Sub", "Mul", "Max", "Min"),
    "b": ("And", "Xor"),
}
UNARY = {
    "f": ("Erf", "Exp", "Tanh", "Neg", "Relu", "Sigmoid", "Sqrt", "Elu", "Gelu", "HardSwish"),
    "i": ("Abs", "Neg", "Sign", "Relu"),
    "b": ("Not",),
}
FLOATS = ("float32", "float64", "float16")
CODES = {"uint8": 2, "int8": 3, "uint16": 4, "int4": 22}
NUMBERS = {"float32": 1, "float64": 11, "float16": 10, "int32": 6, "int64": 7}


class Chain:
    """A graph that grows node by node, beside the values that the nodes give one by one."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.dims = draw(st.sampled_from(sorted(SHAPES)))
        self.random = np.random.default_rng(draw(st.integers(0, 1 << 16)))
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, np.ndarray] = {}
        self.values: dict[str, np.ndarray] = {}

    def numbers(self, dims: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        if dtype.kind == "b":
            return self.random.random(dims) < 0.5
        values = self.random.normal(0, 3, dims)
        if dtype.kind == "f" and values.size:
            places = self.random.integers(0, values.size, 4)
            values.flat[places] = [np.nan, np.inf, -np.inf, -0.0]
        return np.asarray(values).astype(dtype)

    def input(self, dtype: np.dtype, whole: bool = False) -> str:
        """A new input of the graph."""
        parts = [self.dims] if whole else [(), self.dims, *SHAPES[self.dims]]
        dims = self.draw(st.sampled_from(parts))
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.values[name] = self.numbers(dims, dtype)
        return name

    def beside(self, name: str) -> str:
        """A second operand of the same type: a value that is there, or a new input."""
        dtype = self.values[name].dtype
        known = [other for other, value in self.values.items() if value.dtype == dtype]
        return self.draw(st.sampled_from([*known, ""])) or self.input(dtype)

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A new node, which is run on its own."""
        name = f"v{len(self.nodes)}"
        node = helper.make_node(kind, list(inputs), [name], **attributes)
        operands = {operand: self.values[operand] for operand in inputs if operand}
        [self.values[name]] = run(model_of([node], operands, [name]), operands)
        self.nodes.append(node)
        return name

    def constant(self, value: np.ndarray) -> str:
        """A constant of the graph."""
        name = f"c{len(self.nodes)}"
        self.nodes.append(
            helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))
        )
        self.values[name] = value
        return name

    def step(self, last: str) -> str:
        """One more node, which reads the one before."""
        dtype = self.values[last].dtype
        forms = ["unary", "binary", "binary"]
        if dtype.kind != "b":
            forms += ["compare", "cast", "clip"]
        if dtype == np.float32:
            forms += ["codes"]
        if dtype.kind == "b" and any(value.dtype.kind == "f" for value in self.values.values()):
            forms += ["where"] * 3
        form = self.draw(st.sampled_from(forms))
        kind = dtype.kind
        if form == "unary":
            return self.add(self.draw(st.sampled_from(UNARY[kind])), last)
        if form == "codes":
            codes = self.draw(st.sampled_from(["uint8", "int8", "uint16", "int4"]))
            zero = np.array(3, onnx.helper.tensor_dtype_to_np_dtype(CODES[codes]))
            parts = (self.constant(np.array(0.07, np.float32)), self.constant(zero))
            return self.add("DequantizeLinear", self.add("QuantizeLinear", last, *parts), *parts)
        if form == "where":
            floats = [name for name, value in self.values.items() if value.dtype.kind == "f"]
            chosen = self.draw(st.sampled_from(floats))
            return self.add("Where", last, chosen, self.beside(chosen))
        if form == "cast":
            return self.add("Cast", last, to=NUMBERS[self.draw(st.sampled_from(sorted(NUMBERS)))])
        if form == "clip":
            bound = f"x{len(self.inputs)}"
            self.inputs[bound] = self.values[bound] = np.array(1, dtype)
            return self.add("Clip", last, *self.draw(st.sampled_from([(bound,), ("", bound)])))
        operands = [last, self.beside(last)]
        if form == "compare":
            return self.add("Less", *operands)
        operator = self.draw(st.sampled_from(BINARY[kind]))
        return self.add(operator, *(reversed(operands) if self.draw(st.booleans()) else operands))


def model_of(nodes: list[onnx.NodeProto], inputs: dict[str, np.ndarray], results: list[str]) -> Any:
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in inputs.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph(nodes, "g", infos, outputs)
    imports = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return sardonyx.load(model.SerializeToString())


def run(model: Any, inputs: dict[str, np.ndarray], threads: int = 1) -> list[np.ndarray]:
    return model.run(inputs, threads=threads)


def assert_same(got: np.ndarray, expected: np.ndarray) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_random_chains(data: Any) -> None:
    chain = Chain(data.draw)
    last = chain.input(np.dtype(data.draw(st.sampled_from([*FLOATS, "int32"]))), whole=True)
    for _ in range(data.draw(st.integers(2, 8))):
        last = chain.step(last)
    made = [node.output[0] for node in chain.nodes if node.op_type != "Constant"]
    results = [name for name in made if name == last or data.draw(st.integers(0, 3)) == 0]
    model = model_of(chain.nodes, chain.inputs, results)
    for threads in (1, 2):
        for name, got in zip(results, run(model, chain.inputs, threads), strict=True):
            assert_same(got, chain.values[name])


def test_chain_reads_inputs_more_than_once() -> None:
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("Add", ["square", "square"], ["double"]),
        helper.make_node("Sub", ["double", "x"], ["y"]),
    ]
    x = np.linspace(-4, 4, 70_001, dtype="float32")
    [y] = run(model_of(nodes, {"x": x}, ["y"]), {"x": x}, 2)
    assert_same(y, x * x + x * x - x)


def test_error_in_a_chain_is_that_of_its_node() -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["minus"], name="first"),
        helper.make_node("Div", ["minus", "d"], ["y"], name="second"),
    ]
    x = np.arange(60_000, dtype="int32")
    divisors = np.ones(60_000, "int32")
    divisors[50_000] = 0
    inputs = {"x": x, "d": divisors}
    with pytest.raises(sardonyx.EvalError, match=r"`second` \(`Div`\): integer division by zero"):
        run(model_of(nodes, inputs, ["y"]), inputs)


def test_limit_of_steps_counts_each_operator_of_a_chain() -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["minus"]),
        helper.make_node("Exp", ["minus"], ["y"]),
    ]
    inputs = {"x": np.zeros(60_000, "float32")}
    model = model_of(nodes, inputs, ["y"])
    model.run(inputs, max_steps=2)
    with pytest.raises(sardonyx.EvalError, match="the limit of 1 steps"):
        model.run(inputs, max_steps=1)
