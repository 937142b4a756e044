"""Random models as exporters write them, for test_random_models.py.

A node is run alone when it is drawn, with an example of each value: its results say which nodes may
follow, so that a node needs no rule for the shapes of its results. A value is exact where every
runtime must have the same bits of it; only those go to operators that would show a rounding error
at once, such as a comparison.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes  # noqa: F401  (NumPy knows bfloat16 and float8 through it)
import numpy as np
import onnx
import sardonyx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

SIZES = {"N": 2, "M": 3}
DIMS: list[tuple[int, ...]] = [
    (),
    (2,),
    (3,),
    (1,),
    (2, 3),
    (3, 2),
    (1, 3),
    (2, 2, 3),
    (2, 1),
    (0, 3),
]

FLOATS = (T.FLOAT, T.DOUBLE, T.FLOAT16)
WIDE = (*FLOATS, T.BFLOAT16)
INTS = (T.INT64, T.INT32)
SMALL = (T.INT8, T.UINT8, T.INT16, T.UINT16)
ORDINARY = (*FLOATS, *INTS, T.BOOL)
EIGHTS = (T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2, T.FLOAT8E5M2FNUZ)
FOURS = (T.INT4, T.UINT4)
SINCE = dict.fromkeys(EIGHTS, 19) | dict.fromkeys(FOURS, 21) | {T.FLOAT4E2M1: 23}


@dataclasses.dataclass(frozen=True, eq=False)
class Value:
    element: int
    example: Any  # an array, or a list of them
    container: str = "tensor"
    exact: bool = True

    @property
    def dims(self) -> tuple[int, ...]:
        return self.example.shape

    @property
    def rank(self) -> int:
        return self.example.ndim


def dtype_of(element: int) -> np.dtype[Any]:
    return helper.tensor_dtype_to_np_dtype(element) if element != T.STRING else np.dtype(object)


def element_of(array: np.ndarray) -> int:
    if array.dtype.kind in "OU":
        return T.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def value_of(result: Any, exact: bool) -> Value:
    if isinstance(result, list):
        element = element_of(result[0]) if result else T.FLOAT
        return Value(element, result, "sequence", exact)
    array = np.asarray(result)
    return Value(element_of(array), array, "tensor", exact)


def type_of(value: Value, dims: Sequence[Any] | None = None) -> onnx.TypeProto:
    tensor = helper.make_tensor_type_proto(value.element, dims)
    if value.container == "sequence":
        return helper.make_sequence_type_proto(tensor)
    if value.container == "optional":
        return helper.make_optional_type_proto(tensor)
    return tensor


class RefusedError(Exception):
    """A node that is not drawn: it does not run on these examples."""


@dataclasses.dataclass
class Function:
    proto: onnx.FunctionProto
    parameters: list[Value]
    attributes: dict[str, Callable[[random.Random], Any]]
    needed: set[str]


def names_read(graph: onnx.GraphProto) -> set[str]:
    """The names from around a body that it reads."""
    own = {i.name for i in graph.input} | {i.name for i in graph.initializer}
    read: set[str] = set()
    for node in graph.node:
        read |= set(node.input) - own
        for attribute in node.attribute:
            if attribute.HasField("g"):
                read |= names_read(attribute.g) - own
        own |= set(node.output)
    return (read | ({o.name for o in graph.output} - own)) - {""}


class Drawn:
    """A model under construction."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.opset = self.rng.choice((13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24))
        self.ml = self.rng.choice((1, 2, 3, 4, 5)) if self.opset >= 15 else 2
        self.ir_version = max(self.rng.choice((8, 9, 10)), 11 if self.opset >= 23 else 8)
        if self.opset >= 21:
            self.ir_version = max(self.ir_version, 10)
        self.count = 0
        self.functions: list[Function] = []
        self.inputs: dict[str, np.ndarray] = {}
        self.input_dims: dict[str, list[Any]] = {}
        self.external: set[str] = set()
        self.defaults: set[str] = set()

    def imports(self) -> list[onnx.OperatorSetIdProto]:
        return [
            helper.make_opsetid("", self.opset),
            helper.make_opsetid("ai.onnx.ml", self.ml),
            helper.make_opsetid("local", 1),
        ]

    def fresh(self, hint: str = "v") -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def numbers(self, element: int, dims: tuple[int, ...]) -> np.ndarray:
        count = math.prod(dims)
        rng = self.rng
        if element == T.STRING:
            picked = [rng.choice(["", "a", "é", "b c", "A1", "12"]) for _ in range(count)]
            return np.array(picked, dtype=object).reshape(dims)
        if element == T.BOOL:
            return np.array([rng.random() < 0.5 for _ in range(count)], bool).reshape(dims)
        low = 0 if element in (T.UINT8, T.UINT16, T.UINT32, T.UINT64, T.UINT4) else -4
        whole = [rng.randint(low, 5) for _ in range(count)]
        if element in WIDE:
            whole = [n / 2 for n in whole]
        return np.array(whole, "float32").reshape(dims).astype(dtype_of(element))


class Graph:
    """A graph under construction: the values that its nodes may use."""

    def __init__(self, drawn: Drawn, outer: Graph | None = None) -> None:
        self.drawn = drawn
        self.rng = drawn.rng
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.own: dict[str, Value] = {}
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[str] = []
        self.initializers: list[onnx.TensorProto] = []
        self.in_function = outer is not None and outer.in_function

    @property
    def known(self) -> dict[str, Value]:
        return {**(self.outer.known if self.outer else {}), **self.own}

    def chance(self, percent: int) -> bool:
        return self.rng.random() * 100 < percent

    def pick(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def number_of(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def since(self, version: int) -> None:
        if self.drawn.opset < version:
            raise RefusedError

    def elements(self, *elements: int) -> list[int]:
        return [e for e in elements if SINCE.get(e, 1) <= self.drawn.opset]

    # --- Values

    def find(self, fits: Callable[[Value], bool]) -> str | None:
        names = [name for name, value in self.known.items() if fits(value)]
        return self.rng.choice(names[-12:]) if names else None

    def operand(
        self,
        elements: Sequence[int],
        rank: int | None = None,
        dims: tuple[int, ...] | None = None,
        least: int = 0,
        exact: bool = False,
        filled: bool = False,
    ) -> str:
        """A tensor that is there, or a new one."""

        def fits(v: Value) -> bool:
            return (
                v.container == "tensor"
                and v.element in elements
                and (rank is None or v.rank == rank)
                and (dims is None or v.dims == dims)
                and v.rank >= least
                and (v.exact or not exact)
                and not (filled and 0 in v.dims)
            )

        found = self.find(fits) if self.chance(75) else None
        if found is not None:
            return found
        if dims is None:
            options = [
                d
                for d in DIMS
                if (rank is None or len(d) == rank) and len(d) >= least and not (filled and 0 in d)
            ]
            dims = self.rng.choice(options) if options else (2, 3, 2, 2)[: rank or least]
        return self.source(self.pick(*self.elements(*elements)), dims)

    def source(self, element: int, dims: tuple[int, ...], array: Any = None) -> str:
        is_free = array is None
        array = self.drawn.numbers(element, dims) if array is None else np.asarray(array)
        way = self.rng.random()
        if self.in_function or way < 0.3:
            return self.constant_of(array)
        top = self
        while top.outer is not None and self.chance(60):
            top = top.outer
        name = self.drawn.fresh("w")
        if way < 0.65 or top.outer is not None or element not in (*ORDINARY, *SMALL, T.STRING):
            top.initializers.append(numpy_helper.from_array(array, name))
            if top.outer is None and element != T.STRING and self.chance(30):
                self.drawn.external.add(name)
            elif top.outer is None and self.chance(25):
                self.drawn.defaults.add(name)  # an input, too
                top.inputs.append(name)
                if is_free and self.chance(50):
                    self.drawn.inputs[name] = self.drawn.numbers(element, dims)
        else:
            name = self.drawn.fresh("x")
            top.inputs.append(name)
            self.drawn.inputs[name] = array
        given = self.drawn.inputs.get(name, array)
        top.own[name] = value_of(given, True)
        if name in self.drawn.inputs:
            self.drawn.input_dims[name] = self.symbolic(array.shape)
        return name

    def symbolic(self, dims: tuple[int, ...]) -> list[Any]:
        names = {size: name for name, size in SIZES.items()}
        return [
            None if self.chance(15) else names[d] if d in names and self.chance(50) else d
            for d in dims
        ]

    def constant_of(self, array: Any, plain: bool = False) -> str:
        """A node Constant, in one of its forms."""
        array = np.asarray(array)
        element = element_of(array)
        name = self.drawn.fresh("c")
        form: dict[str, Any] = {"value": numpy_helper.from_array(array, "t")}
        if self.chance(40) and not plain and array.ndim <= 1:
            single = array.ndim == 0
            if element == T.FLOAT and (single or array.size):
                form = {"value_float" if single else "value_floats": array.tolist()}
            elif element == T.INT64 and (single or array.size):
                form = {"value_int" if single else "value_ints": array.tolist()}
            elif element == T.STRING and (single or array.size):
                form = {"value_string" if single else "value_strings": array.tolist()}
        elif self.chance(10) and not plain and element == T.FLOAT and array.ndim and array.any():
            where = np.flatnonzero(array)
            values = numpy_helper.from_array(array.reshape(-1)[where], "v")
            places = numpy_helper.from_array(where.astype("int64"), "i")
            form = {"sparse_value": helper.make_sparse_tensor(values, places, array.shape)}
        self.nodes.append(helper.make_node("Constant", [], [name], **form))
        self.own[name] = value_of(array, True)
        return name

    def ints(self, values: Any) -> str:
        """Numbers that stand for sizes or places: a constant or an initializer."""
        array = np.array(values, "int64")
        if self.in_function or self.chance(50):
            return self.constant_of(array)
        name = self.drawn.fresh("k")
        self.initializers.append(numpy_helper.from_array(array, name))
        self.own[name] = value_of(array, True)
        return name

    # --- Nodes

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        outputs: int = 1,
        domain: str = "",
        exact: bool = True,
        **attributes: Any,
    ) -> list[str]:
        names = [self.drawn.fresh() for _ in range(outputs)]
        overload = attributes.pop("overload", "")
        node = helper.make_node(op, inputs, names, domain=domain, **attributes)
        if overload:
            node.overload = overload
        self.append(node, exact and all(self.known[i].exact for i in inputs if i))
        return names

    def append(self, node: onnx.NodeProto, exact: bool, like: Sequence[Value] = ()) -> None:
        """Runs the node alone, and keeps it with what it gives."""
        known = self.known
        read = {name for name in node.input if name}
        for attribute in node.attribute:
            if attribute.HasField("g"):
                read |= names_read(attribute.g)
        exact = exact and all(known[name].exact for name in read)
        order = sorted(read)
        graph = helper.make_graph(
            [node],
            "one",
            [helper.make_value_info(name, type_of(known[name])) for name in order],
            [onnx.ValueInfoProto(name=name) for name in node.output if name],
        )
        model = helper.make_model(
            graph,
            opset_imports=self.drawn.imports(),
            ir_version=self.drawn.ir_version,
            functions=[f.proto for f in self.drawn.functions],
        )
        feeds = {name: known[name].example for name in order}
        try:
            results = sardonyx.load(model.SerializeToString()).run(feeds, threads=1)
        except sardonyx.EvalError as error:
            raise RefusedError(str(error)) from error
        if any(isinstance(result, list) and not result for result in results):
            raise RefusedError  # of which type its items would be is not known here
        values = [value_of(result, exact) for result in results]
        # A number beyond the bound makes every later sum inexact.
        for value in values:
            if value.container == "tensor" and not bounded(value):
                raise RefusedError
        self.nodes.append(node)
        for i, (name, value) in enumerate(zip([n for n in node.output if n], values, strict=True)):
            if i < len(like) and like[i].container != "tensor":
                value = dataclasses.replace(value, container=like[i].container)
            self.own[name] = value

    def take(self, value: Value) -> str:
        name = self.drawn.fresh("p")
        self.inputs.append(name)
        self.own[name] = value
        return name

    def fill(self, steps: int) -> None:
        for _ in range(steps):
            # What was made for a step that is not possible stays: nodes that nobody reads.
            with contextlib.suppress(RefusedError):
                self.rng.choice(STEPS)(self)

    def typed(self, name: str, sizes: bool) -> onnx.ValueInfoProto:
        value = self.own[name]
        dims = [None] * value.rank if value.container == "tensor" and sizes else None
        return helper.make_value_info(name, type_of(value, dims))

    def body(self, hint: str, outputs: Sequence[str], ranks: bool = True) -> onnx.GraphProto:
        """Most say the ranks of their inputs and outputs, without which few runtimes take them."""
        sizes = ranks and self.chance(85)
        ins = [self.typed(n, sizes) for n in self.inputs]
        outs = [self.typed(n, sizes) for n in outputs]
        return helper.make_graph(self.nodes, hint, ins, outs, self.initializers)

    def results(self) -> list[str]:
        return [
            n
            for n, v in self.own.items()
            if v.container == "tensor" and any(n in node.output for node in self.nodes)
        ]

    def copy(self, name: str) -> str:
        self.append(
            helper.make_node("Identity", [name], [made := self.drawn.fresh()]),
            True,
            [self.known[name]],
        )
        return made


def bounded(value: Value) -> bool:
    array = value.example
    if array.size > 2000:
        return False
    if value.element in (T.STRING, T.BOOL) or not array.size:
        return True
    if array.dtype.kind == "c":
        return False
    numbers = array.astype("float64")
    return bool(np.isfinite(numbers).all() and (np.abs(numbers) <= 300).all())


# --- Steps ----------------------------------------------------------------------------------------


def unary(g: Graph) -> None:
    op, elements, exact, version = g.pick(
        ("Neg", (*FLOATS, *INTS, T.INT8, T.BFLOAT16), True, 13),
        ("Abs", (*WIDE, *INTS, *SMALL), True, 13),
        ("Sign", (*FLOATS, *INTS), True, 13),
        ("Relu", (*WIDE,), True, 14),
        ("Sqrt", FLOATS, False, 13),
        ("Exp", WIDE, False, 13),
        ("Tanh", WIDE, False, 13),
        ("Sigmoid", FLOATS, False, 13),
        ("Erf", (T.FLOAT, T.FLOAT16), False, 13),
        ("Softplus", (T.FLOAT,), False, 13),
        ("Gelu", (T.FLOAT,), False, 20),
        ("Mish", (T.FLOAT,), False, 18),
        ("HardSwish", (T.FLOAT,), False, 14),
        ("Swish", (T.FLOAT, T.FLOAT16), False, 24),
        ("Not", (T.BOOL,), True, 13),
        ("BitwiseNot", (*INTS, *SMALL), True, 18),
        ("Identity", (*ORDINARY, *SMALL, T.STRING, T.BFLOAT16, *EIGHTS, *FOURS), True, 13),
        ("Softmax", FLOATS, False, 13),
        ("LogSoftmax", FLOATS, False, 13),
        ("Reciprocal", FLOATS, False, 13),
    )
    g.since(version)
    g.add(op, [g.operand(elements)], exact=exact)


def sharp(g: Graph) -> None:
    """Steps at which a rounding error would be seen at once."""
    op, elements = g.pick(
        ("Floor", WIDE),
        ("Ceil", FLOATS),
        ("Round", FLOATS),
        ("IsNaN", FLOATS),
        ("ArgMax", (*FLOATS, *INTS, T.UINT8)),
        ("NonZero", (*ORDINARY,)),
        ("Size", (*ORDINARY, T.STRING)),
        ("Shape", (*ORDINARY, T.STRING, T.BFLOAT16)),
        ("Unique", (T.FLOAT, T.INT64, T.STRING)),
        ("TopK", (T.FLOAT, T.INT64)),
    )
    least = 1 if op in ("ArgMax", "TopK", "NonZero", "Unique") else 0
    x = g.operand(elements, exact=True, least=least, filled=least == 1)
    if op == "TopK":
        g.add(op, [x, g.ints([1])], 2, axis=-1)
    elif op == "Unique":
        g.add(op, [x], g.number_of(1, 4), sorted=1)
    elif op == "ArgMax":
        g.add(op, [x], axis=-1, keepdims=g.pick(0, 1), select_last_index=g.pick(0, 1))
    elif op == "Shape" and g.drawn.opset >= 15 and g.chance(50):
        g.add(op, [x], start=g.pick(0, 1, -1), end=g.pick(1, 2, -1))
    else:
        g.add(op, [x])


def binary(g: Graph) -> None:
    op, elements, exact, version = g.pick(
        ("Add", (*WIDE, *INTS, T.UINT8), True, 14),
        ("Sub", (*WIDE, *INTS), True, 14),
        ("Mul", (*WIDE, *INTS), True, 14),
        ("Div", (*FLOATS, *INTS), False, 14),
        ("Pow", (T.FLOAT, T.DOUBLE), False, 15),
        ("Max", (*FLOATS, *INTS, T.UINT8), True, 13),
        ("Min", (*FLOATS, *INTS), True, 13),
        ("Mean", FLOATS, False, 13),
        ("Sum", FLOATS, True, 13),
        ("Equal", (*ORDINARY, T.STRING), None, 19),
        ("Less", (*FLOATS, *INTS), None, 13),
        ("GreaterOrEqual", (*FLOATS, *INTS), None, 16),
        ("And", (T.BOOL,), True, 13),
        ("Xor", (T.BOOL,), True, 13),
        ("BitwiseXor", (*INTS, *SMALL), True, 18),
        ("BitShift", (T.UINT8, T.UINT32, T.UINT64), True, 13),
        ("StringConcat", (T.STRING,), True, 20),
        ("PRelu", FLOATS, True, 16),
        ("Mod", (*INTS, T.UINT8), True, 13),
    )
    g.since(version)
    x = g.operand(elements, exact=exact is None)
    value = g.known[x]
    if g.chance(40):
        y = g.operand((value.element,), dims=value.dims, exact=exact is None)
    else:
        y = g.operand((value.element,), exact=exact is None)
    if op in ("Div", "Mod"):
        divisor = g.drawn.numbers(value.element, g.pick((), (1,)))
        y = g.constant_of(np.where(divisor == 0, divisor.dtype.type(2), divisor))
    more = {"direction": g.pick("LEFT", "RIGHT")} if op == "BitShift" else {}
    g.add(op, [x, y], exact=exact is not False, **more)


def conversion(g: Graph) -> None:
    x = g.operand((*ORDINARY, *SMALL, T.BFLOAT16, *EIGHTS, *FOURS), exact=True)
    value = g.known[x]
    targets = [*ORDINARY, *SMALL, T.BFLOAT16, *EIGHTS, *FOURS, T.FLOAT4E2M1]
    to = g.pick(*g.elements(*targets))
    if to == T.STRING and value.element not in INTS:
        raise RefusedError
    if to in (*SMALL, *FOURS, *INTS) and value.element in (*WIDE, *EIGHTS):
        # Beyond the type, and between two integers, every runtime has its own.
        numbers = value.example.astype("float64")
        low, high = (0, 7) if to in (T.UINT8, T.UINT16, T.UINT4) else (-8, 7)
        if numbers.size and (numbers.min() < low or numbers.max() > high):
            raise RefusedError
        if (numbers != np.floor(numbers)).any():
            raise RefusedError
    if to in (*FOURS, *SMALL) and value.element not in WIDE and value.example.size:
        numbers = value.example.astype("float64")
        low, high = (0, 7) if to in (T.UINT8, T.UINT16, T.UINT4) else (-8, 7)
        if numbers.min() < low or numbers.max() > high:
            raise RefusedError
    if g.chance(15) and g.drawn.opset >= 15:
        g.add("CastLike", [x, g.operand((to,))])
    else:
        g.add("Cast", [x], to=to)


def quantized(g: Graph) -> None:
    """QuantizeLinear and DequantizeLinear of a tensor, an axis or blocks."""
    x = g.operand((T.FLOAT,), least=1, exact=True, filled=True)
    value = g.known[x]
    codes = [T.UINT8, T.INT8]
    codes += [T.UINT16, T.INT16, T.INT4, T.UINT4] if g.drawn.opset >= 21 else []
    codes += [T.FLOAT8E4M3FN, T.FLOAT8E5M2] if g.drawn.opset >= 19 else []
    code = g.pick(*codes)
    way = g.pick("tensor", "axis", "blocks")
    axis = g.number_of(0, value.rank - 1)
    more: dict[str, Any] = {}
    dims: tuple[int, ...] = ()
    if way != "tensor":
        dims = (value.dims[axis],)
        more["axis"] = axis - value.rank if g.chance(30) else axis
    if way == "blocks" and g.drawn.opset >= 21 and value.dims[axis] % 2 == 0:
        dims = tuple(d // 2 if a == axis else d for a, d in enumerate(value.dims))
        more["block_size"] = 2
    scale = g.source(T.FLOAT, dims, np.full(dims, g.pick(0.5, 0.25, 1.0, 2.0), "float32"))
    zero = []
    if code != T.UINT8 or g.chance(60):
        number = 0 if code in EIGHTS else g.number_of(0, 3)
        array = np.full(dims, number, "float32").astype(dtype_of(code))
        # That of FLOAT8 is 0, and no input.
        zero = [g.constant_of(array, True) if code in EIGHTS else g.source(code, dims, array)]
    [y] = g.add("QuantizeLinear", [x, scale, *zero], **more)
    if g.chance(80):
        g.add("DequantizeLinear", [y, scale, *zero], **more)


def quantized_pair(g: Graph, x: str) -> str:
    scale = g.source(T.FLOAT, (), np.array(0.5, "float32"))
    zero = g.source(T.UINT8, (), np.array(8, "uint8"))
    [q] = g.add("QuantizeLinear", [x, scale, zero])
    [y] = g.add("DequantizeLinear", [q, scale, zero])
    return y


def around_codes(g: Graph) -> None:
    """DequantizeLinear, an operator, QuantizeLinear: what runtimes fuse."""
    op = g.pick("MatMul", "Add", "Relu", "Conv", "Mul", "AveragePool", "Reshape", "Softmax")
    if op == "Conv":
        x = quantized_pair(g, g.operand((T.FLOAT,), dims=(1, 2, 3, 3), exact=True))
        w = quantized_pair(g, g.source(T.FLOAT, (2, 2, 2, 2)))
        [y] = g.add("Conv", [x, w])
    elif op == "MatMul":
        x = quantized_pair(g, g.operand((T.FLOAT,), dims=(2, 3), exact=True))
        [y] = g.add("MatMul", [x, quantized_pair(g, g.source(T.FLOAT, (3, 2)))])
    elif op in ("Add", "Mul"):
        x = quantized_pair(g, g.operand((T.FLOAT,), exact=True, filled=True))
        [y] = g.add(op, [x, quantized_pair(g, g.source(T.FLOAT, g.known[x].dims))])
    elif op == "AveragePool":
        x = quantized_pair(g, g.operand((T.FLOAT,), dims=(1, 2, 4, 4), exact=True))
        [y] = g.add(op, [x], kernel_shape=[2, 2], strides=[2, 2])
    else:
        x = quantized_pair(g, g.operand((T.FLOAT,), exact=True, least=1, filled=True))
        [y] = g.add(op, [x, g.ints([-1])] if op == "Reshape" else [x], exact=op != "Softmax")
    if op != "Softmax":
        quantized_pair(g, y)


def integer_products(g: Graph) -> None:
    op = g.pick(
        "QLinearMatMul", "QLinearConv", "MatMulInteger", "ConvInteger", "DynamicQuantizeLinear"
    )
    code = g.pick(T.UINT8, T.INT8)
    if op == "DynamicQuantizeLinear":
        g.add(op, [g.operand((T.FLOAT,), exact=True, filled=True)], 3, exact=False)
        return
    conv = "Conv" in op
    x = g.operand((code,), dims=(1, 2, 3, 3) if conv else (2, 3))
    w = g.source(code, (2, 2, 2, 2) if conv else (3, 2))
    zero_x = g.source(code, (), np.array(1, dtype_of(code)))
    wide = g.chance(40)
    zero_w = g.source(code, (), np.array(0 if conv else 2, dtype_of(code)))
    if op in ("MatMulInteger", "ConvInteger"):
        more = {"pads": [1, 1, 1, 1], "strides": [2, 1]} if conv and wide else {}
        g.add(op, [x, w, zero_x, zero_w][: g.number_of(2, 4)], **more)
        return
    scales = [g.source(T.FLOAT, (), np.array(s, "float32")) for s in (0.5, 0.25, 2.0)]
    zero_y = g.source(code, (), np.array(3, dtype_of(code)))
    inputs = [x, scales[0], zero_x, w, scales[1], zero_w, scales[2], zero_y]
    if conv and g.chance(50):
        inputs.append(g.source(T.INT32, (2,)))
    # A half is rounded to even by all; sums are whole.
    g.add(op, inputs, **({"dilations": [1, 1], "auto_pad": "SAME_UPPER"} if conv and wide else {}))


def texts(g: Graph) -> None:
    op = g.pick(
        "StringNormalizer",
        "StringSplit",
        "RegexFullMatch",
        "LabelEncoder",
        "TfIdfVectorizer",
        "OneHotEncoder",
        "CategoryMapper",
        "Equal",
        "Where",
    )
    if op == "StringNormalizer":
        more = {"stopwords": ["a"]} if g.chance(50) else {}
        x = g.operand((T.STRING,), rank=1, filled=True)
        g.add(op, [x], case_change_action=g.pick("LOWER", "UPPER", "NONE"), **more)
    elif op == "StringSplit":
        g.since(20)
        g.add(op, [g.operand((T.STRING,))], 2, **g.pick({}, {"delimiter": " "}, {"maxsplit": 1}))
    elif op == "RegexFullMatch":
        g.since(20)
        g.add(op, [g.operand((T.STRING,))], pattern=g.pick("[a-z]+", ".*", "\\d+"))
    elif op == "LabelEncoder":
        x = g.operand((T.STRING,))
        if g.drawn.ml == 1:
            g.add(op, [x], domain="ai.onnx.ml", classes_strings=["a", "é"], default_int64=-3)
        else:
            g.add(op, [x], domain="ai.onnx.ml", keys_strings=["a", "é"], values_int64s=[4, 5])
    elif op == "TfIdfVectorizer":
        x = g.operand((T.STRING,), rank=1, filled=True)
        g.add(
            op,
            [x],
            mode=g.pick("TF", "IDF", "TFIDF"),
            min_gram_length=1,
            max_gram_length=2,
            max_skip_count=g.pick(0, 1),
            ngram_counts=[0, 2],
            ngram_indexes=[0, 2, 1],
            pool_strings=["a", "é", "a", "é"],
            weights=[2.0, 0.5, 1.0],
        )
    elif op == "OneHotEncoder":
        g.add(op, [g.operand((T.STRING,), rank=1)], domain="ai.onnx.ml", cats_strings=["a", "é"])
    elif op == "CategoryMapper":
        g.add(
            op,
            [g.operand((T.STRING,))],
            domain="ai.onnx.ml",
            cats_strings=["a", "é"],
            cats_int64s=[1, 2],
            default_int64=0,
        )
    elif op == "Equal":
        g.since(19)
        x = g.operand((T.STRING,))
        g.add(op, [x, g.operand((T.STRING,), dims=g.known[x].dims)])
    else:
        x = g.operand((T.STRING,))
        dims = g.known[x].dims
        g.add(op, [g.operand((T.BOOL,), dims=dims), x, g.operand((T.STRING,), dims=dims)])


def classical(g: Graph) -> None:
    """Operators of ai.onnx.ml."""
    op = g.pick(
        "Scaler",
        "Binarizer",
        "Normalizer",
        "Imputer",
        "LinearRegressor",
        "ZipMap",
        "LinearClassifier",
        "ArrayFeatureExtractor",
        "TreeEnsembleRegressor",
        "FeatureVectorizer",
        "SVMRegressor",
        "TreeEnsembleClassifier",
    )
    x = g.operand((T.FLOAT,), dims=(2, 3), exact=True)
    ml: dict[str, Any] = {"domain": "ai.onnx.ml"}
    if op == "Scaler":
        g.add(op, [x], **ml, offset=[0.5], scale=[2.0])
    elif op == "Binarizer":
        g.add(op, [x], **ml, threshold=0.5)
    elif op == "Normalizer":
        g.add(op, [x], **ml, norm=g.pick("MAX", "L1", "L2"), exact=False)
    elif op == "Imputer":
        g.add(op, [x], **ml, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=0.0)
    elif op == "LinearRegressor":
        g.add(op, [x], **ml, coefficients=[1.0, -2.0, 0.5], intercepts=[0.5], targets=1)
    elif op in ("LinearClassifier", "ZipMap"):
        labels = (
            {"classlabels_strings": ["a", "é"]} if g.chance(50) else {"classlabels_ints": [3, 5]}
        )
        g.add(
            "LinearClassifier",
            [x],
            2,
            **ml,
            coefficients=[1.0, -2.0, 0.5, 0.0, 1.0, 0.25],
            intercepts=[0.5, 0.0],
            post_transform=g.pick("NONE", "SOFTMAX", "LOGISTIC"),
            exact=False,
            **labels,
        )
    elif op == "ArrayFeatureExtractor":
        g.add(op, [x, g.ints([g.pick(0, 1, 2)])], **ml)
    elif op == "FeatureVectorizer":
        g.add(op, [x, g.operand((T.FLOAT,), dims=(2, 3))], **ml, inputdimensions=[3, 3])
    elif op == "SVMRegressor":
        g.add(
            op,
            [x],
            **ml,
            coefficients=[1.0, 0.5],
            kernel_type=g.pick("LINEAR", "RBF", "POLY"),
            kernel_params=[0.5, 1.0, 2.0],
            n_supports=2,
            rho=[0.25],
            exact=False,
            support_vectors=[1.0, 0.0, 2.0, 0.5, 1.0, 0.0],
        )
    else:
        if g.drawn.ml >= 5:
            raise RefusedError  # deprecated: TreeEnsemble is in their place
        tree: dict[str, Any] = {
            "nodes_treeids": [0, 0, 0],
            "nodes_nodeids": [0, 1, 2],
            "nodes_featureids": [1, 0, 0],
            "nodes_modes": [
                g.pick("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_EQ"),
                "LEAF",
                "LEAF",
            ],
            "nodes_values": [0.5, 0.0, 0.0],
            "nodes_truenodeids": [1, 0, 0],
            "nodes_falsenodeids": [2, 0, 0],
        }
        if op == "TreeEnsembleRegressor":
            g.add(
                op,
                [x],
                **ml,
                **tree,
                n_targets=1,
                target_treeids=[0, 0],
                target_nodeids=[1, 2],
                target_ids=[0, 0],
                target_weights=[1.5, -2.0],
            )
        else:
            g.add(
                op,
                [x],
                2,
                **ml,
                **tree,
                class_treeids=[0, 0],
                class_nodeids=[1, 2],
                class_ids=[0, 1],
                class_weights=[1.0, 1.0],
                classlabels_strings=["a", "é"],
            )


def layers(g: Graph) -> None:
    op = g.pick(
        "Conv",
        "ConvTranspose",
        "MaxPool",
        "AveragePool",
        "Gemm",
        "MatMul",
        "Einsum",
        "LSTM",
        "BatchNormalization",
        "LayerNormalization",
        "InstanceNormalization",
        "Resize",
        "GRU",
        "GroupNormalization",
        "RMSNormalization",
        "Attention",
        "LRN",
        "GlobalAveragePool",
        "DepthToSpace",
        "GridSample",
        "RotaryEmbedding",
        "RNN",
    )
    element = g.pick(T.FLOAT, T.FLOAT, T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16)
    image = (1, 2, 4, 4)

    def new(*dims: int) -> str:
        return g.source(element, dims)

    def x(*dims: int) -> str:
        return g.operand((element,), dims=dims)

    if op == "Conv":
        more = g.pick(
            {},
            {"pads": [1, 0, 1, 0]},
            {"auto_pad": "SAME_LOWER"},
            {"group": 2},
            {"strides": [2, 2]},
        )
        w = new(2, 1 if "group" in more else 2, 2, 2)
        g.add(op, [x(*image), w, *([new(2)] if g.chance(50) else [])], exact=False, **more)
    elif op == "ConvTranspose":
        more = g.pick({}, {"strides": [2, 2]}, {"output_padding": [1, 1], "strides": [2, 2]})
        g.add(op, [x(*image), new(2, 1, 2, 2)], exact=False, **more)
    elif op in ("MaxPool", "AveragePool"):
        more = g.pick(
            {}, {"ceil_mode": 1, "strides": [3, 3]}, {"pads": [1, 1, 1, 1]}, {"auto_pad": "VALID"}
        )
        g.add(
            op,
            [x(*image)],
            2 if op == "MaxPool" and g.chance(30) else 1,
            kernel_shape=[2, 2],
            exact=False,
            **more,
        )
    elif op == "Gemm":
        more = g.pick({}, {"alpha": 0.5, "beta": 2.0}, {"transA": 1})
        g.add(
            op,
            [
                x(3, 2) if "transA" in more else x(2, 3),
                new(3, 2),
                *([new(2)] if g.chance(60) else []),
            ],
            exact=False,
            **more,
        )
    elif op == "MatMul":
        g.add(op, g.pick([x(2, 3), x(3, 2)], [x(2, 2, 3), x(3, 2)], [x(3), x(3, 2)]), exact=False)
    elif op == "Einsum":
        g.add(
            op, [x(2, 3), x(3, 2)], exact=False, equation=g.pick("ij,jk->ik", "ij,jk", "ij,ji->i")
        )
    elif op in ("LSTM", "GRU", "RNN"):
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
        more = {"direction": "reverse"} if g.chance(30) else {}
        more |= {"linear_before_reset": 1} if op == "GRU" and g.chance(50) else {}
        lengths = [g.constant_of(np.array([2, 1], "int32"))] if g.chance(30) else [""]
        inputs = [x(2, 2, 3), new(1, gates * 2, 3), new(1, gates * 2, 2)]
        if g.chance(60):
            inputs += [new(1, gates * 4), *lengths]
        g.add(op, inputs, g.pick(1, 2), exact=False, hidden_size=2, **more)
    elif op == "BatchNormalization":
        var = g.constant_of(np.full(2, 2.0, "float32").astype(dtype_of(element)))
        g.add(op, [x(*image), new(2), new(2), new(2), var], exact=False)
    elif op == "LayerNormalization":
        g.since(17)
        g.add(op, [x(2, 3), new(3)], exact=False, axis=-1)
    elif op == "RMSNormalization":
        g.since(23)
        g.add(op, [x(2, 3), new(3)], exact=False, axis=-1)
    elif op == "InstanceNormalization":
        g.add(op, [x(*image), new(2), new(2)], exact=False)
    elif op == "GroupNormalization":
        g.since(21)
        g.add(op, [x(*image), new(2), new(2)], exact=False, num_groups=g.pick(1, 2))
    elif op == "Resize":
        how = g.pick(
            {"mode": "nearest"},
            {"mode": "linear"},
            {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
        )
        if g.chance(50):
            inputs = [x(*image), "", g.constant_of(np.array([1, 1, 2, 2], "float32"), True)]
        else:
            inputs = [x(*image), "", "", g.ints([1, 2, 8, 2])]
        g.add(op, inputs, exact=False, **how)
    elif op == "Attention":
        g.since(23)
        more = g.pick({}, {"is_causal": 1}, {"scale": 0.5})
        g.add(op, [x(1, 2, 3, 4), new(1, 2, 3, 4), new(1, 2, 3, 4)], exact=False, **more)
    elif op == "RotaryEmbedding":
        g.since(23)
        g.add(op, [x(1, 2, 3, 4), new(3, 2), new(3, 2), g.ints([[0, 1, 2]])], exact=False)
    elif op == "LRN":
        g.add(op, [x(*image)], exact=False, size=3)
    elif op == "GlobalAveragePool":
        g.add(op, [x(*image)], exact=False)
    elif op == "DepthToSpace":
        g.add(op, [x(1, 4, 2, 2)], blocksize=2, mode=g.pick("DCR", "CRD"))
    else:
        g.since(16)
        grid = g.constant_of(
            np.array(g.drawn.numbers(T.FLOAT, (1, 2, 2, 2)) / 8, "float32").astype(
                dtype_of(element)
            )
        )
        mode = "linear" if g.drawn.opset >= 20 else "bilinear"
        g.add(
            op,
            [x(*image), grid],
            exact=False,
            mode=g.pick(mode, "nearest") if element == T.DOUBLE else mode,
            padding_mode=g.pick("zeros", "border", "reflection"),
        )


def moved(g: Graph) -> None:
    every = (*ORDINARY, T.STRING, T.UINT8, T.BFLOAT16, *EIGHTS, *FOURS)
    op = g.pick(
        "Reshape",
        "Transpose",
        "Slice",
        "Concat",
        "Gather",
        "Expand",
        "Tile",
        "Pad",
        "Squeeze",
        "Split",
        "Unsqueeze",
        "Flatten",
        "Where",
        "ScatterElements",
        "GatherElements",
        "GatherND",
        "ScatterND",
        "Trilu",
        "OneHot",
        "Range",
        "ConstantOfShape",
        "Compress",
        "CumSum",
        "ReverseSequence",
        "EyeLike",
        "CenterCropPad",
        "Clip",
    )
    x = g.operand(
        every if op not in ("CumSum", "Clip", "Pad") else (*FLOATS, *INTS),
        least=1,
        filled=op not in ("Concat", "Reshape", "Transpose"),
    )
    v = g.known[x]
    axis = g.number_of(0, v.rank - 1)
    n = v.dims[axis]
    if op == "Reshape":
        g.add(op, [x, g.ints(g.pick([-1], [0, -1], [1, -1]) if 0 not in v.dims else [0, 3])])
    elif op == "Transpose":
        perm = list(range(v.rank))
        g.rng.shuffle(perm)
        g.add(op, [x], **({"perm": perm} if g.chance(80) else {}))
    elif op == "Slice":
        bounds = [
            g.ints([b])
            for b in (g.number_of(-2, 2), g.pick(2, -1, 2**62), axis, g.pick(1, 1, 2, -1))
        ]
        g.add(op, [x, *bounds[: g.pick(2, 3, 4)]])
    elif op == "Concat":
        g.add(
            op,
            [x, g.operand((v.element,), dims=v.dims), *([x] if g.chance(20) else [])],
            axis=axis - v.rank if g.chance(30) else axis,
        )
    elif op == "Gather":
        g.add(op, [x, g.ints(g.pick(0, [0, -1], [[0], [n - 1]]))], axis=axis)
    elif op == "Expand":
        g.add(op, [x, g.ints([2, *v.dims])])
    elif op == "Tile":
        g.add(op, [x, g.ints([g.number_of(0, 2) for _ in v.dims])])
    elif op == "Pad":
        g.add(op, [x, g.ints([1, *[0] * (2 * v.rank - 1)])], mode=g.pick("constant", "edge"))
    elif op == "Squeeze":
        g.add(op, [x])
    elif op == "Split":
        if g.drawn.opset >= 18 and g.chance(50):
            g.add(op, [x], min(n, 2), axis=axis, num_outputs=min(n, 2))
        else:
            g.add(op, [x, g.ints([1, n - 1])], 2, axis=axis)
    elif op == "Unsqueeze":
        g.add(op, [x, g.ints(g.pick([0], [-1], [0, 2]))])
    elif op == "Flatten":
        g.add(op, [x], axis=g.pick(0, 1, -1))
    elif op == "Where":
        g.add(
            op,
            [
                g.operand((T.BOOL,), dims=g.pick((), v.dims)),
                x,
                g.operand((v.element,), dims=v.dims),
            ],
        )
    elif op == "ScatterElements":
        places = g.ints(
            g.rng.choices(range(-n, n), k=1)
            if v.rank == 1
            else np.zeros((1,) * v.rank, int).tolist()
        )
        g.add(op, [x, places, g.operand((v.element,), dims=(1,) * v.rank)], axis=axis)
    elif op == "GatherElements":
        g.add(op, [x, g.ints(np.zeros((1,) * v.rank, int).tolist())], axis=axis)
    elif op == "GatherND":
        g.add(op, [x, g.ints([[0], [-1]])])
    elif op == "ScatterND":
        g.add(op, [x, g.ints([[0]]), g.operand((v.element,), dims=(1, *v.dims[1:]))])
    elif op == "Trilu":
        g.add(op, [x], upper=g.pick(0, 1))
    elif op == "OneHot":
        i = g.operand((T.INT64,))
        g.add(op, [i, g.ints(3), g.source(T.FLOAT, (2,))], axis=g.pick(0, -1))
    elif op == "Range":
        g.add(
            op, [g.constant_of(np.array(k, "int64")) for k in (0, g.number_of(0, 5), g.pick(1, 2))]
        )
    elif op == "ConstantOfShape":
        i = g.find(
            lambda w: (
                w.container == "tensor"
                and w.element == T.INT64
                and w.rank == 1
                and w.exact
                and bool((w.example >= 0).all())
                and len(w.example) < 4
            )
        )
        fill = (
            {"value": numpy_helper.from_array(np.array([2.0], "float32"))} if g.chance(50) else {}
        )
        g.add(op, [i or g.ints([2, 3])], **fill)
    elif op == "Compress":
        g.add(op, [x, g.operand((T.BOOL,), rank=1)], **({"axis": axis} if g.chance(60) else {}))
    elif op == "CumSum":
        g.add(op, [x, g.ints(axis)], reverse=g.pick(0, 1), exclusive=g.pick(0, 1))
    elif op == "ReverseSequence":
        g.add(
            op,
            [g.operand((T.FLOAT, T.STRING), dims=(2, 3)), g.ints([2, 1, 1])],
            time_axis=0,
            batch_axis=1,
        )
    elif op == "EyeLike":
        g.add(op, [g.operand((*FLOATS, *INTS), rank=2)], k=g.pick(0, 1, -1))
    elif op == "CenterCropPad":
        g.since(18)
        g.add(op, [g.operand((T.FLOAT, T.INT64), rank=2, filled=True), g.ints([3, 1])])
    else:
        low, high = (g.constant_of(np.array(k).astype(dtype_of(v.element))) for k in (-1, 2))
        g.add(op, g.pick([x, low, high], [x, "", high], [x, low]))


def reduced(g: Graph) -> None:
    op = g.pick(
        "ReduceSum",
        "ReduceMax",
        "ReduceMin",
        "ReduceMean",
        "ReduceL2",
        "ReduceLogSumExp",
        "ReduceProd",
    )
    exact = op in ("ReduceMax", "ReduceMin")
    x = g.operand(
        (*FLOATS, *INTS) if exact or op == "ReduceSum" else (T.FLOAT, T.DOUBLE), filled=True
    )
    v = g.known[x]
    axes = sorted(g.rng.sample(range(v.rank), g.rng.randint(0, v.rank)))
    more: dict[str, Any] = {"keepdims": g.pick(0, 1)}
    if not axes:
        more |= (
            {"noop_with_empty_axes": 1}
            if g.chance(30) and (g.drawn.opset >= 18 or op == "ReduceSum")
            else {}
        )
        g.add(op, [x], exact=exact, **more)
    elif g.drawn.opset >= 18 or op == "ReduceSum":
        g.add(op, [x, g.ints(axes)], exact=exact, **more)
    else:
        g.add(op, [x], exact=exact, axes=axes, **more)


def sequences(g: Graph) -> None:
    s = g.find(lambda v: v.container == "sequence" and len(v.example) > 0)
    if s is None or g.chance(30):
        way = g.pick("SequenceConstruct", "SplitToSequence", "SequenceEmpty")
        if way == "SequenceEmpty":
            g.add("SequenceInsert", [*g.add(way, [], dtype=T.FLOAT), g.operand((T.FLOAT,))])
        elif way == "SplitToSequence":
            x = g.operand((T.FLOAT, T.INT64, T.STRING), least=1, filled=True)
            split = [g.ints(1)] if g.chance(50) else []
            g.add(way, [x, *split], axis=0, **({} if split else {"keepdims": g.pick(0, 1)}))
        else:
            x = g.operand((T.FLOAT, T.INT64, T.STRING))
            more = [g.operand((g.known[x].element,)) for _ in range(g.number_of(0, 2))]
            g.add(way, [x, *more])
        return
    v = g.known[s]
    way = g.pick(
        "SequenceAt",
        "SequenceLength",
        "SequenceErase",
        "SequenceInsert",
        "ConcatFromSequence",
        "Optional",
        "Identity",
        "SequenceMap",
    )
    if way in ("SequenceAt", "SequenceErase"):
        g.add(way, [s, g.ints(g.pick(0, -1))])
    elif way == "SequenceInsert":
        x = g.operand((v.element,))
        g.add(way, [s, x, *([g.ints(g.pick(0, -1))] if g.chance(50) else [])])
    elif way == "ConcatFromSequence":
        g.add(way, [s], axis=0, new_axis=g.pick(0, 1))
    elif way == "SequenceMap":
        g.since(17)
        if g.depth >= 2:
            raise RefusedError
        inner = Graph(g.drawn, g)
        item = inner.take(Value(v.element, v.example[0], "tensor", v.exact))
        if v.element != T.STRING:
            inner.add("Add", [item, item])
        else:
            inner.add("Identity", [item])
        result = inner.results()[-1]
        g.add(way, [s], exact=v.exact, body=inner.body("each", [result], ranks=False))
    elif way == "Optional":
        g.since(15)
        optionals(g, s)
    else:
        g.add(way, [s], 1)


def optionals(g: Graph, name: str | None = None) -> None:
    g.since(16)
    x = name or g.operand((T.FLOAT, T.INT64))
    v = g.known[x]
    made = g.drawn.fresh("o")
    node = helper.make_node("Optional", [x], [made])
    g.nodes.append(node)
    g.own[made] = dataclasses.replace(v, container="hidden")
    has, got = g.drawn.fresh(), g.drawn.fresh()
    g.nodes.append(helper.make_node("OptionalHasElement", [made], [has]))
    g.nodes.append(helper.make_node("OptionalGetElement", [made], [got]))
    g.own[has] = value_of(np.array(True), True)
    g.own[got] = v


# --- Bodies


def closes(inner: Graph, outputs: list[str]) -> list[str]:
    """Outputs of a body: each its own, computed in it, once."""
    made: list[str] = []
    for name in outputs:
        own = name in inner.own and name not in inner.inputs and name not in made
        if not own or name in [i.name for i in inner.initializers]:
            name = inner.copy(name)
        made.append(name)
    return made


def branches(g: Graph) -> None:
    if g.depth >= 2:
        raise RefusedError
    test = g.operand((T.BOOL,), rank=0)
    graphs, kinds = [], None
    wanted = g.number_of(1, 2)
    for hint in ("then", "other"):
        inner = Graph(g.drawn, g)
        inner.in_function = g.in_function
        inner.fill(g.number_of(1, 3))
        if kinds is None:
            names = [n for n, v in inner.known.items() if v.container in ("tensor", "sequence")]
            if not names:
                raise RefusedError
            outputs = [g.rng.choice(names[-6:]) for _ in range(wanted)]
            kinds = [inner.known[n] for n in outputs]
        else:
            outputs = []
            for kind in kinds:
                found = inner.find(
                    lambda v, k=kind: (
                        v.container == k.container
                        and v.element == k.element
                        and (k.container != "tensor" or v.rank == k.rank)
                    )
                )
                if found is None and kind.container == "tensor":
                    found = inner.constant_of(kind.example)
                if found is None:
                    raise RefusedError
                outputs.append(found)
        exact = all(inner.known[n].exact for n in outputs)
        graphs.append((inner.body(hint, closes(inner, outputs)), exact))
    names = [g.drawn.fresh() for _ in range(wanted)]
    node = helper.make_node("If", [test], names, then_branch=graphs[0][0], else_branch=graphs[1][0])
    g.append(node, graphs[0][1] and graphs[1][1])


def loops(g: Graph) -> None:
    if g.depth >= 2:
        raise RefusedError
    state = [
        n
        for n in (
            g.find(lambda v: v.container in ("tensor", "sequence") and v.element != T.STRING)
            for _ in range(g.number_of(0, 2))
        )
        if n
    ]
    inner = Graph(g.drawn, g)
    step = inner.take(value_of(np.array(0), True))
    going = inner.take(value_of(np.array(True), True))
    taken = [inner.take(dataclasses.replace(g.known[n])) for n in state]
    inner.fill(g.number_of(1, 4))
    again = going
    if g.chance(40):
        [again] = inner.add("Less", [step, inner.constant_of(np.array(g.number_of(0, 2)))])
    after = []
    for name in taken:
        k = inner.own[name]
        if k.container == "sequence" and g.chance(60):
            x = inner.operand((k.element,))
            after += inner.add("SequenceInsert", [name, x])
            continue
        found = inner.find(
            lambda v, k=k: (
                v.container == k.container
                and v.element == k.element
                and (k.container != "tensor" or v.dims == k.dims)
            )
        )
        after.append(found or name)
    rows = [n for n in inner.results() if inner.own[n].element != T.STRING]
    row = [g.rng.choice(rows)] if rows and g.chance(60) else []
    outputs = closes(inner, [again, *after, *row])
    if len(outputs) == 1:
        raise RefusedError
    names = [g.drawn.fresh() for _ in outputs[1:]]
    trips = g.ints(g.number_of(1, 3))
    first = g.constant_of(np.array(True)) if g.chance(60) else ""
    exact = all(inner.known[n].exact for n in outputs)
    node = helper.make_node("Loop", [trips, first, *state], names, body=inner.body("body", outputs))
    g.append(node, exact)


def scans(g: Graph) -> None:
    if g.depth >= 2:
        raise RefusedError
    x = g.operand((*FLOATS, *INTS), least=1, filled=True)
    state = g.operand((*FLOATS, *INTS), filled=True)
    inner = Graph(g.drawn, g)
    carried = inner.take(g.known[state])
    v = g.known[x]
    inner.take(value_of(v.example[0], v.exact))
    inner.fill(g.number_of(1, 3))
    k = inner.own[carried]
    found = inner.find(
        lambda w: w.container == "tensor" and w.element == k.element and w.dims == k.dims
    )
    rows = [
        n
        for n in inner.results()
        if inner.own[n].element != T.STRING and 0 not in inner.own[n].dims
    ]
    outputs = closes(inner, [found or carried, *([g.rng.choice(rows)] if rows else [])])
    names = [g.drawn.fresh() for _ in outputs]
    more = {"scan_input_directions": [1]} if g.chance(25) else {}
    exact = all(inner.known[n].exact for n in outputs)
    node = helper.make_node(
        "Scan", [state, x], names, num_scan_inputs=1, body=inner.body("body", outputs), **more
    )
    g.append(node, exact)


# --- Functions

ATTRIBUTES: dict[str, tuple[int, Callable[[random.Random], Any], str]] = {
    "value_float": (onnx.AttributeProto.FLOAT, lambda r: r.choice((0.5, 2.0, -1.0)), "FLOAT"),
    "value_int": (onnx.AttributeProto.INT, lambda r: r.randint(0, 3), "INT64"),
    "value_floats": (onnx.AttributeProto.FLOATS, lambda r: [r.choice((0.5, 1.0)), 2.0], "FLOAT"),
    "value_ints": (onnx.AttributeProto.INTS, lambda r: [r.randint(0, 3), 1], "INT64"),
    "value_string": (onnx.AttributeProto.STRING, lambda r: r.choice(("a", "é")), "STRING"),
    "value": (
        onnx.AttributeProto.TENSOR,
        lambda r: numpy_helper.from_array(np.array([r.randint(0, 3)] * 2, "float32"), "t"),
        "FLOAT",
    ),
}


def add_function(drawn: Drawn, name: str, overload: str = "") -> None:
    """A function with attributes, needed ones and those with defaults, which may call others."""
    g = Graph(drawn)
    g.in_function = True
    rng = drawn.rng
    parameters = [
        value_of(
            drawn.numbers(rng.choice((T.FLOAT, T.INT64)), rng.choice(((2,), (2, 3), ()))), False
        )
        for _ in range(rng.randint(1, 2))
    ]
    for value in parameters:
        g.take(value)
    attributes, needed, defaults = {}, set(), []
    references = []
    for form in rng.sample(list(ATTRIBUTES), rng.randint(0, 2)):
        kind, make, _ = ATTRIBUTES[form]
        attribute = f"a_{form}"
        made = drawn.fresh("r")
        node = helper.make_node("Constant", [], [made])
        reference = node.attribute.add()
        reference.name, reference.ref_attr_name, reference.type = form, attribute, kind
        attributes[attribute] = make
        example = make(rng)
        if rng.random() < 0.5:
            needed.add(attribute)
        else:
            defaults.append(helper.make_attribute(attribute, example))
        array = (
            numpy_helper.to_array(example)
            if form == "value"
            else np.array(
                example,
                {"FLOAT": "float32", "INT64": "int64", "STRING": object}[ATTRIBUTES[form][2]],
            )
        )
        references.append(node)
        # Another call gives another number: nothing that follows may count on it.
        g.own[made] = value_of(array, False)
    g.nodes += references
    g.fill(rng.randint(1, 5))
    results = [n for n in g.results() if g.own[n].element != T.STRING]
    if not results:
        return
    outputs = closes(g, rng.sample(results[-4:], min(len(results), rng.randint(1, 2), 4)))
    imports = drawn.imports()
    proto = helper.make_function(
        "local",
        name,
        g.inputs,
        outputs,
        g.nodes,
        imports,
        attributes=sorted(needed),
        attribute_protos=defaults,
    )
    if overload:
        proto.overload = overload
    drawn.functions.append(Function(proto, parameters, attributes, needed))


def calls(g: Graph) -> None:
    if not g.drawn.functions:
        raise RefusedError
    function = g.rng.choice(g.drawn.functions)
    inputs = [g.operand((v.element,), dims=v.dims) for v in function.parameters]
    given = {
        name: make(g.rng)
        for name, make in function.attributes.items()
        if name in function.needed or g.chance(50)
    }
    if function.proto.overload:
        given["overload"] = function.proto.overload
    g.add(
        function.proto.name,
        inputs,
        len(function.proto.output),
        domain="local",
        exact=False,
        **given,
    )


STEPS: list[Callable[[Graph], None]] = [
    unary,
    unary,
    sharp,
    binary,
    binary,
    conversion,
    conversion,
    quantized,
    around_codes,
    integer_products,
    texts,
    texts,
    classical,
    layers,
    layers,
    moved,
    moved,
    moved,
    reduced,
    sequences,
    sequences,
    optionals,
    branches,
    loops,
    scans,
    calls,
    calls,
]


@dataclasses.dataclass
class Model:
    proto: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    values: dict[str, Value]  # those of the graph
    external: set[str]
    seed: int


def draw_model(seed: int) -> Model | None:
    drawn = Drawn(seed)
    for i in range(drawn.rng.choice((0, 0, 1, 2))):
        add_function(drawn, f"f{i}")
        if drawn.ir_version >= 10 and drawn.rng.random() < 0.3 and drawn.functions:
            add_function(drawn, f"f{i}", "other")
    g = Graph(drawn)
    g.fill(drawn.rng.randint(3, 12))
    made = [n for n in (v for node in g.nodes for v in node.output) if n in g.own]
    made = [n for n in made if g.own[n].container != "hidden"]
    if not made:
        return None
    outputs = [n for n in made if n == made[-1] or drawn.rng.random() < 0.6]
    ins = []
    # A script's parameters without a default come first.
    for name in sorted(g.inputs, key=lambda n: n in drawn.defaults):
        value = g.own[name]
        dims = drawn.input_dims.get(name, list(value.dims))
        ins.append(helper.make_value_info(name, type_of(value, dims)))
    outs = []
    for name in outputs:
        value = g.own[name]
        stated = (
            [None] * value.rank
            if value.container == "tensor" and drawn.rng.random() < 0.5
            else None
        )
        outs.append(helper.make_value_info(name, type_of(value, stated)))
    graph = helper.make_graph(g.nodes, "g", ins, outs, g.initializers)
    model = helper.make_model(
        graph,
        opset_imports=drawn.imports(),
        ir_version=drawn.ir_version,
        functions=[f.proto for f in drawn.functions],
    )
    return Model(model, drawn.inputs, {n: g.own[n] for n in made}, drawn.external, seed)
