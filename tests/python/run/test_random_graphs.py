"""Random graphs: our evaluator, onnx.reference and ONNX Runtime agree.

The graphs hold operators over several element types, branches, loops and scans with names from
around them, calls of functions with attributes, sequences and optionals. Their floats are whole
numbers, so that every order of a sum gives the same. SDX_RANDOM_GRAPHS is how many are drawn
(SDX_FULL: 20,000), always from the same seeds; Hypothesis shrinks a graph that fails, and prints
it as ONNX's text. `tools/dev fuzz random_graphs` draws others in each run, for the evaluator that
has sanitizers, and keeps what fails.
"""

from __future__ import annotations

import argparse
import concurrent.futures.process
import dataclasses
import functools
import math
import pathlib
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import onnx
import onnx.checker
import onnx.helper
import onnx.parser
import onnx.printer
import onnx.reference
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from eval.test_node_cases import Evaluator, onnxruntime_run
from sampling import count

pytestmark = pytest.mark.filterwarnings("ignore")

GRAPHS = count("SDX_RANDOM_GRAPHS", 400, 20000)
SHARDS = 4
OPSET = 21  # the newest that ONNX Runtime has kernels of
EVALUATOR = Evaluator()

FLOATS = ("float32", "float64", "float16")
INTS = ("int64", "int32", "uint8")
NUMBERS = FLOATS + INTS
ANY = (*NUMBERS, "bool", "object")
BOUND = 64
DEEPEST = 2


@dataclasses.dataclass(frozen=True)
class Kind:
    """What is known of a value: a tensor, or a sequence or an optional of such tensors."""

    dtype: str
    dims: tuple[int, ...]
    container: str = "tensor"

    @property
    def rank(self) -> int:
        return len(self.dims)


def type_proto(kind: Kind) -> onnx.TypeProto:
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind.dtype))
    if kind.container == "tensor":
        return onnx.helper.make_tensor_type_proto(number, kind.dims)
    tensor = onnx.helper.make_tensor_type_proto(number, None)
    if kind.container == "sequence":
        return onnx.helper.make_sequence_type_proto(tensor)
    return onnx.helper.make_optional_type_proto(tensor)


class Names:
    def __init__(self) -> None:
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"


class Graph:
    """A graph under construction: the kinds of the names that its nodes may use."""

    def __init__(self, draw: Any, names: Names, outer: Graph | None = None) -> None:
        self.draw = draw
        self.names = names
        self.depth = 0 if outer is None else outer.depth + 1
        self.functions: list[Function] = [] if outer is None else outer.functions
        self.outer = {} if outer is None else dict(outer.known)
        self.own: dict[str, Kind] = {}  # made by its nodes, and its inputs
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[str] = []

    @property
    def known(self) -> dict[str, Kind]:
        return {**self.outer, **self.own}

    # --- Choices

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def find(self, fits: Callable[[Kind], bool]) -> str:
        """A name that fits; a node without any is not made."""
        names = [name for name, kind in self.known.items() if fits(kind)]
        if not names:
            raise NothingFitsErrorError
        # The newest names first, so that graphs are deep.
        return self.draw(st.sampled_from(names[::-1]))

    def tensor(self, dtypes: tuple[str, ...], fits: Callable[[Kind], bool] = bool) -> str:
        return self.find(lambda k: k.container == "tensor" and k.dtype in dtypes and bool(fits(k)))

    # --- Nodes

    def add(self, op: str, inputs: list[str], *kinds: Kind, **attributes: Any) -> str:
        names = [self.names.fresh() for _ in kinds]
        domain = attributes.pop("domain", "")
        self.nodes.append(onnx.helper.make_node(op, inputs, names, domain=domain, **attributes))
        self.own.update(zip(names, kinds, strict=True))
        return names[0]

    def constant(self, value: Any, dtype: str = "int64") -> str:
        array = np.asarray(value, dtype)
        tensor = onnx.numpy_helper.from_array(array)
        return self.add("Constant", [], Kind(dtype, array.shape), value=tensor)

    def bounded(self, name: str) -> str:
        """The same numbers within the bound, so that sums and products stay exact."""
        kind = self.known[name]
        if kind.dtype not in NUMBERS or kind.container != "tensor":
            return name
        low = 0 if kind.dtype == "uint8" else -BOUND
        limits = [self.constant(value, kind.dtype) for value in (low, BOUND)]
        return self.add("Clip", [name, *limits], kind)

    def like(self, kind: Kind, otherwise: str) -> str:
        """A value of this graph's own of that kind: one that is there, or a copy."""
        names = [n for n, k in self.own.items() if k == kind and n not in self.inputs]
        if names and self.chance(80):
            return self.draw(st.sampled_from(names[::-1]))
        return self.add("Identity", [otherwise], kind)

    def body(self, name: str, outputs: list[str]) -> onnx.GraphProto:
        infos = [
            [onnx.helper.make_value_info(n, type_proto(self.own[n])) for n in names]
            for names in (self.inputs, outputs)
        ]
        return onnx.helper.make_graph(self.nodes, name, *infos)

    def take(self, kind: Kind) -> str:
        name = self.names.fresh()
        self.inputs.append(name)
        self.own[name] = kind
        return name

    def fill(self, most: int) -> None:
        for _ in range(self.number(1, most)):
            try:
                self.draw(st.sampled_from(STEPS))(self)
            except NothingFitsErrorError:
                continue


@dataclasses.dataclass
class Function:
    proto: onnx.FunctionProto
    parameters: list[Kind]
    result: Kind


OnFailure = Callable[[onnx.ModelProto, dict[str, np.ndarray]], None]


class NothingFitsErrorError(Exception):
    pass


# --- Operators ------------------------------------------------------------------------------------


def one_operand(g: Graph) -> None:
    op, dtypes = g.pick(
        ("Neg", ("float32", "float64", "int64", "int32")),
        ("Abs", NUMBERS),
        ("Sign", NUMBERS),
        ("Relu", ("float32", "float64")),
        ("Floor", FLOATS),
        ("Not", ("bool",)),
        ("BitwiseNot", INTS),
        ("Identity", ANY),
    )
    x = g.tensor(dtypes)
    g.add(op, [x], g.known[x])


def two_operands(g: Graph) -> None:
    op, dtypes, result = g.pick(
        ("Add", NUMBERS, None),
        ("Sub", NUMBERS, None),
        ("Mul", NUMBERS, None),
        ("Max", NUMBERS, None),
        ("Min", NUMBERS, None),
        ("And", ("bool",), "bool"),
        ("Xor", ("bool",), "bool"),
        ("BitwiseAnd", INTS, None),
        ("BitwiseOr", INTS, None),
        ("Equal", (*NUMBERS, "bool", "object"), "bool"),
        ("Less", NUMBERS, "bool"),
        ("GreaterOrEqual", NUMBERS, "bool"),
        ("StringConcat", ("object",), None),
    )
    x = g.tensor(dtypes)
    dtype, dims = g.known[x].dtype, g.known[x].dims
    y = g.tensor((dtype,), lambda k: broadcast(dims, k.dims) is not None)
    whole = broadcast(dims, g.known[y].dims)
    assert whole is not None
    made = g.add(op, [x, y], Kind(result or dtype, whole))
    if op in ("Add", "Sub", "Mul"):
        g.bounded(made)


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


def choice(g: Graph) -> None:
    c = g.tensor(("bool",))
    dims = g.known[c].dims
    x = g.tensor(ANY, lambda k: broadcast(dims, k.dims) is not None)
    kind = g.known[x]
    y = g.tensor((kind.dtype,), lambda k: k.dims == kind.dims)
    whole = broadcast(dims, kind.dims)
    assert whole is not None
    g.add("Where", [c, x, y], Kind(kind.dtype, whole))


def conversion(g: Graph) -> None:
    x = g.tensor((*NUMBERS, "bool"))
    kind = g.known[x]
    # Numbers beyond a type, and texts of floats, are every runtime's own.
    targets = ("object",) if kind.dtype in INTS else ()
    to = g.pick(*NUMBERS, "bool", *targets)
    source = g.bounded(x)
    if to == "uint8" and kind.dtype not in ("uint8", "bool"):
        source = g.add("Abs", [source], kind)
    g.add("Cast", [source], Kind(to, kind.dims), to=type_number(to))


def type_number(dtype: str) -> int:
    return onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def reduction(g: Graph) -> None:
    op = g.pick("ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1")
    # There is no greatest number of none.
    x = g.tensor(("float32", "float64", "int64", "int32"), lambda k: 0 not in k.dims)
    kind = g.known[x]
    axes = [a for a in range(kind.rank) if g.chance(50)]
    keep = g.chance(50)
    over = axes or list(range(kind.rank))
    dims = [1 if a in over else d for a, d in enumerate(kind.dims) if keep or a not in over]
    signed = [a - kind.rank if g.chance(30) else a for a in axes]
    inputs = [g.bounded(x), *([g.constant(signed)] if axes else [])]
    g.bounded(g.add(op, inputs, Kind(kind.dtype, tuple(dims)), keepdims=int(keep)))


def index_of_greatest(g: Graph) -> None:
    x = g.tensor(("float32", "int64", "int32"), lambda k: k.rank > 0 and 0 not in k.dims)
    kind = g.known[x]
    axis = g.number(0, kind.rank - 1)
    dims = tuple(1 if a == axis else d for a, d in enumerate(kind.dims))
    g.add(g.pick("ArgMax", "ArgMin"), [x], Kind("int64", dims), axis=axis, keepdims=1)


def running_sum(g: Graph) -> None:
    x = g.tensor(("float32", "float64", "int64", "int32"), lambda k: k.rank > 0)
    kind = g.known[x]
    axis = g.constant(g.number(-kind.rank, kind.rank - 1))
    more = {"exclusive": g.number(0, 1), "reverse": g.number(0, 1)}
    g.bounded(g.add("CumSum", [g.bounded(x), axis], kind, **more))


def product(g: Graph) -> None:
    x = g.tensor(("float32", "float64", "int32", "int64"), lambda k: k.rank == 2)
    kind = g.known[x]
    y = g.tensor((kind.dtype,), lambda k: k.rank == 2 and k.dims[0] == kind.dims[1])
    dims = (kind.dims[0], g.known[y].dims[1])
    g.bounded(g.add("MatMul", [g.bounded(x), g.bounded(y)], Kind(kind.dtype, dims)))


def order(g: Graph) -> None:
    x = g.tensor(ANY)
    kind = g.known[x]
    perm = list(g.draw(st.permutations(range(kind.rank))))
    more = {"perm": perm} if kind.rank else {}
    g.add("Transpose", [x], Kind(kind.dtype, tuple(kind.dims[a] for a in perm)), **more)


def shape(g: Graph) -> None:
    x = g.tensor(ANY)
    kind = g.known[x]
    count = math.prod(kind.dims)
    way = g.pick("flat", "unsqueeze", "squeeze", "shape", "size", "flatten", "part")
    if way == "flat":
        g.add("Reshape", [x, g.constant([-1 if count else 0])], Kind(kind.dtype, (count,)),
              allowzero=int(count == 0))  # fmt: skip
    elif way == "unsqueeze":
        axis = g.number(-kind.rank - 1, kind.rank)
        dims = np.expand_dims(np.empty(kind.dims, bool), axis).shape
        g.add("Unsqueeze", [x, g.constant([axis])], Kind(kind.dtype, dims))
    elif way == "squeeze":
        g.add("Squeeze", [x], Kind(kind.dtype, tuple(d for d in kind.dims if d != 1)))
    elif way == "shape":
        g.add("Shape", [x], Kind("int64", (kind.rank,)))
    elif way == "part":
        # onnx.reference takes an end before the first dimension for Python's.
        start, end = g.number(-4, 4), g.number(-kind.rank, 4)
        g.add("Shape", [x], Kind("int64", (len(kind.dims[start:end]),)), start=start, end=end)
    elif way == "size":
        g.add("Size", [x], Kind("int64", ()))
    else:
        axis = g.number(0, kind.rank)
        dims = (math.prod(kind.dims[:axis]), math.prod(kind.dims[axis:]))
        g.add("Flatten", [x], Kind(kind.dtype, dims), axis=axis)


def parts(g: Graph) -> None:
    x = g.tensor(ANY, lambda k: k.rank > 0)
    kind = g.known[x]
    axis = g.number(0, kind.rank - 1)
    start, end, step = g.number(-4, 4), g.number(-4, 4), g.pick(1, 2, -1, -2)
    if step < 0:  # onnx.reference takes a start before the first element for NumPy's
        start = max(start, -kind.dims[axis])
    n = len(range(kind.dims[axis])[start:end:step])
    bounds = [g.constant([value]) for value in (start, end, axis, step)]
    g.add("Slice", [x, *bounds], with_size(kind, axis, n))


def with_size(kind: Kind, axis: int, n: int) -> Kind:
    return Kind(kind.dtype, (*kind.dims[:axis], n, *kind.dims[axis + 1 :]))


def pieces(g: Graph) -> None:
    x = g.tensor(ANY, lambda k: k.rank > 0)
    kind = g.known[x]
    axis = g.number(0, kind.rank - 1)
    cut = g.number(0, kind.dims[axis])
    sizes = (cut, kind.dims[axis] - cut)
    kinds = [with_size(kind, axis, n) for n in sizes]
    g.add("Split", [x, g.constant(sizes)], *kinds, axis=axis)


def joined(g: Graph) -> None:
    x = g.tensor(ANY, lambda k: k.rank > 0)
    kind = g.known[x]
    axis = g.number(0, kind.rank - 1)
    y = g.tensor(
        (kind.dtype,), lambda k: k.rank == kind.rank and with_size(k, axis, 0).dims
        == with_size(kind, axis, 0).dims
    )  # fmt: skip
    n = kind.dims[axis] + g.known[y].dims[axis]
    g.add("Concat", [x, y], with_size(kind, axis, n), axis=axis)


def gathered(g: Graph) -> None:
    # ONNX Runtime takes wrong strings where more than one goes with an index.
    x = g.tensor(ANY, lambda k: 0 not in k.dims and 0 < k.rank < (2 if k.dtype == "object" else 9))
    kind = g.known[x]
    axis = g.number(0, kind.rank - 1)
    n = kind.dims[axis]
    dims = g.pick((), (1,), (2,), (2, 2))
    places = g.draw(nps.arrays("int64", dims, elements=st.integers(-n, n - 1)))
    result = (*kind.dims[:axis], *dims, *kind.dims[axis + 1 :])
    g.add("Gather", [x, g.constant(places)], Kind(kind.dtype, result), axis=axis)


def widened(g: Graph) -> None:
    x = g.tensor(ANY, lambda k: math.prod(k.dims) <= 16)
    kind = g.known[x]
    way = g.pick("Expand", "Tile", "Pad")
    if way == "Expand":
        whole = broadcast(kind.dims, g.pick((), (2, 1), (1, 3)))
        if whole is not None:
            g.add("Expand", [x, g.constant(whole)], Kind(kind.dtype, whole))
    elif way == "Tile":
        repeats = [g.number(0, 2) for _ in kind.dims]
        dims = tuple(d * r for d, r in zip(kind.dims, repeats, strict=True))
        g.add("Tile", [x, g.constant(repeats)], Kind(kind.dtype, dims))
    elif kind.rank > 0 and kind.dtype in ("float32", "float64", "int64", "int32"):
        pads = [g.number(0, 2) for _ in range(2 * kind.rank)]
        dims = tuple(d + a + b for d, a, b in
                     zip(kind.dims, pads[: kind.rank], pads[kind.rank :], strict=True))  # fmt: skip
        g.add("Pad", [x, g.constant(pads)], Kind(kind.dtype, dims))


# --- Sequences and optionals ----------------------------------------------------------------------

# The runtimes have sequences of these.
ITEMS = ("float32", "int64", "object")


def sequence_of(kind: Kind) -> Kind:
    """A sequence of tensors of one shape, never empty."""
    return Kind(kind.dtype, kind.dims, "sequence")


def new_sequence(g: Graph) -> None:
    x = g.tensor(ITEMS)
    kind = g.known[x]
    items = [x, *(g.tensor((kind.dtype,), lambda k: k == kind) for _ in range(g.number(0, 2)))]
    g.add("SequenceConstruct", items, sequence_of(kind))


def longer_sequence(g: Graph) -> None:
    s = g.find(lambda k: k.container == "sequence")
    kind = g.known[s]
    x = g.find(lambda k: k == Kind(kind.dtype, kind.dims))
    place = [g.constant(g.pick(0, -1))] if g.chance(50) else []
    g.add("SequenceInsert", [s, x, *place], kind)


def from_sequence(g: Graph) -> None:
    s = g.find(lambda k: k.container == "sequence")
    kind = g.known[s]
    way = g.pick("SequenceAt", "SequenceLength", "joined")
    if way == "SequenceAt":
        g.add(way, [s, g.constant(g.pick(0, -1))], Kind(kind.dtype, kind.dims))
    elif way == "SequenceLength":
        g.add(way, [s], Kind("int64", ()))
    else:
        # How many items there are is not followed: the sum over them has a known shape again.
        if kind.dtype == "object":
            raise NothingFitsErrorError
        stack = onnx.helper.make_node(
            "ConcatFromSequence", [s], [g.names.fresh()], axis=0, new_axis=1
        )
        g.nodes.append(stack)
        made = g.add(
            "ReduceSum", [stack.output[0], g.constant([0])], Kind(kind.dtype, kind.dims), keepdims=0
        )
        g.bounded(made)


def split_and_map(g: Graph) -> None:
    x = g.tensor(("float32", "int64"), lambda k: k.rank > 0 and k.dims[0] > 0)
    kind = g.known[x]
    rows = Kind(kind.dtype, kind.dims[1:])
    s = g.add("SplitToSequence", [x], sequence_of(rows), axis=0, keepdims=0)
    if g.depth < DEEPEST:
        inner = Graph(g.draw, g.names, g)
        item = inner.take(rows)
        inner.fill(2)
        result = inner.like(rows, item)
        body = inner.body("each", [result])
        g.add("SequenceMap", [s], sequence_of(rows), body=body)


def optional(g: Graph) -> None:
    if g.chance(50):
        x = g.tensor(ITEMS)
        kind = g.known[x]
        g.add("Optional", [x], Kind(kind.dtype, kind.dims, "optional"))
    else:
        x = g.find(lambda k: k.container == "optional")
        kind = g.known[x]
        g.add("OptionalHasElement", [x], Kind("bool", ()))
        g.add("OptionalGetElement", [x], Kind(kind.dtype, kind.dims))


# --- Bodies ---------------------------------------------------------------------------------------


def condition(g: Graph) -> str:
    """One BOOL: a constant, one that is there, or a comparison."""
    names = [n for n, k in g.known.items() if k == Kind("bool", ())]
    if names and g.chance(60):
        return g.pick(*names)
    x = g.tensor(("float32", "int64"), lambda k: k.rank == 0)
    kind = g.known[x]
    return g.add("Less", [x, g.constant(g.number(-2, 2), kind.dtype)], Kind("bool", ()))


def bodies_end(g: Graph) -> None:
    if g.depth >= DEEPEST:
        raise NothingFitsErrorError


def branches(g: Graph) -> None:
    bodies_end(g)
    test = condition(g)
    models = [g.find(lambda _: True) for _ in range(g.number(1, 2))]
    kinds = [g.known[name] for name in models]
    if any(kind.container == "optional" for kind in kinds):
        raise NothingFitsErrorError
    graphs = []
    for name in ("then", "other"):
        inner = Graph(g.draw, g.names, g)
        inner.fill(3)
        results = [inner.like(k, n) for k, n in zip(kinds, models, strict=True)]
        # A name stands once among the outputs of a body.
        if len(set(results)) < len(results):
            results[1] = inner.add("Identity", [models[1]], kinds[1])
        graphs.append(inner.body(name, results))
    g.add("If", [test], *kinds, then_branch=graphs[0], else_branch=graphs[1])


def distinct(inner: Graph, names: list[str]) -> list[str]:
    return [
        inner.add("Identity", [name], inner.known[name]) if name in names[:i] else name
        for i, name in enumerate(names)
    ]


def loop(g: Graph) -> None:
    bodies_end(g)
    start = [g.find(lambda k: k.container != "optional") for _ in range(g.number(0, 2))]
    kinds = [g.known[name] for name in start]
    inner = Graph(g.draw, g.names, g)
    step, going = inner.take(Kind("int64", ())), inner.take(Kind("bool", ()))
    # What a body sees as condition where none was given is open.
    has_condition = g.chance(50)
    if not has_condition:
        del inner.own[going]
    state = [inner.take(kind) for kind in kinds]
    inner.fill(4)
    ends = g.chance(50)
    if ends:
        limit = inner.constant(g.number(0, 3))
        again = inner.add("Less", [step, limit], Kind("bool", ()))
    elif has_condition:
        again = inner.add("Identity", [going], Kind("bool", ()))
    else:
        again = inner.constant(True, "bool")
    inner.own[going] = Kind("bool", ())
    after = [inner.bounded(inner.like(k, n)) for k, n in zip(kinds, state, strict=True)]
    rows = [n for n, k in inner.own.items() if k.container == "tensor" and n not in inner.inputs]
    row = [g.pick(*rows)] if g.chance(70) else []
    outputs = distinct(inner, [again, *after, *row])
    if len(outputs) == 1:
        raise NothingFitsErrorError
    # The number of rows is known only where the trip count alone ends the loop.
    trips = g.number(1, 3)
    known = not ends
    count = g.constant(trips) if known or g.chance(50) else ""
    first = g.constant(True, "bool") if has_condition or not count else ""
    results = list(kinds)
    if row:
        kind = inner.known[row[0]]
        results.append(Kind(kind.dtype, (trips if known else -1, *kind.dims)))
    made = g.add("Loop", [count, first, *start], *results, body=inner.body("body", outputs))
    if row and not known:
        stacked = g.nodes[-1].output[-1]
        kind = g.own.pop(stacked)
        rest = Kind(kind.dtype, kind.dims[1:])
        g.add("Shape", [stacked], Kind("int64", (kind.rank,)))
        if rest.dtype in ("int64", "int32", "float32", "float64"):
            total = [stacked, g.constant([0])]
            g.bounded(g.add("ReduceSum", total, rest, keepdims=0))
    assert made


def scan(g: Graph) -> None:
    bodies_end(g)
    # ONNX Runtime divides by the size of what it scans and stacks.
    first = g.tensor(NUMBERS, lambda k: k.rank > 0 and 0 not in k.dims)
    n = g.known[first].dims[0]
    scanned = [first]
    if g.chance(40):
        scanned.append(g.tensor(NUMBERS, lambda k: k.dims[:1] == (n,) and 0 not in k.dims))
    start = [g.tensor(NUMBERS, lambda k: 0 not in k.dims) for _ in range(g.number(0, 1))]
    kinds = [g.known[name] for name in start]
    inner = Graph(g.draw, g.names, g)
    state = [inner.take(kind) for kind in kinds]
    for name in scanned:
        kind = g.known[name]
        inner.take(Kind(kind.dtype, kind.dims[1:]))
    inner.fill(4)
    after = [inner.bounded(inner.like(k, s)) for k, s in zip(kinds, state, strict=True)]
    rows = [n for n, k in inner.own.items() if k.container == "tensor" and n not in inner.inputs]
    if not rows:
        raise NothingFitsErrorError
    row = g.pick(*rows)
    outputs = distinct(inner, [*after, row])
    kind = inner.known[row]
    if 0 in kind.dims:
        raise NothingFitsErrorError
    more: dict[str, Any] = {"num_scan_inputs": len(scanned)}
    if g.chance(30):
        more["scan_input_directions"] = [g.number(0, 1) for _ in scanned]
        more["scan_output_directions"] = [g.number(0, 1)]
    axis = g.number(0, kind.rank) if g.chance(30) else 0
    if axis:
        more["scan_output_axes"] = [axis]
    result = Kind(kind.dtype, (*kind.dims[:axis], n, *kind.dims[axis:]))
    g.add("Scan", [*start, *scanned], *kinds, result, body=inner.body("body", outputs), **more)


def call(g: Graph) -> None:
    if not g.functions:
        raise NothingFitsErrorError
    function = g.pick(*g.functions)
    inputs = [
        g.find(lambda k, wanted=wanted: k == wanted)  # type: ignore[misc]
        for wanted in function.parameters
    ]
    more = {"to": type_number("float32")} if g.chance(50) else {}
    g.add(function.proto.name, inputs, function.result, domain="local", **more)


STEPS = [
    one_operand, two_operands, two_operands, choice, conversion, reduction, index_of_greatest,
    running_sum, product, order, shape, parts, pieces, joined, gathered, widened, new_sequence,
    longer_sequence, from_sequence, split_and_map, optional, branches, loop, scan, call, call,
]  # fmt: skip

# --- Models ---------------------------------------------------------------------------------------

IMPORTS = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("local", 1)]


def add_function(g: Graph, kinds: list[Kind]) -> None:
    """A function over some inputs of the model, which may call those before it."""
    inner = Graph(g.draw, Names())
    inner.functions = g.functions
    parameters = [g.pick(*kinds) for _ in range(g.number(1, 2))]
    names = [inner.take(kind) for kind in parameters]
    inner.fill(4)
    numbers = [n for n, k in inner.own.items() if k.container == "tensor" and k.dtype in NUMBERS]
    if not numbers:
        return
    # Its attribute: the type of the result is float32 by default, and in every call.
    last = inner.bounded(g.pick(*numbers))
    result = Kind("float32", inner.known[last].dims)
    cast = onnx.helper.make_node("Cast", [last], ["result"])
    reference = cast.attribute.add()
    reference.name, reference.ref_attr_name = "to", "to"
    reference.type = onnx.AttributeProto.INT
    proto = onnx.helper.make_function(
        "local",
        f"f{len(g.functions)}",
        names,
        ["result"],
        [*inner.nodes, cast],
        IMPORTS,
        attribute_protos=[onnx.helper.make_attribute("to", type_number("float32"))],
    )
    g.functions.append(Function(proto, parameters, result))


def values_of(kind: Kind) -> Any:
    elements: Any = {
        "bool": st.booleans(),
        "object": st.sampled_from(["", "a", "é", "bc"]),
        "uint8": st.integers(0, 9),
    }.get(kind.dtype, st.integers(-9, 9))
    return nps.arrays(kind.dtype, kind.dims, elements=elements)


@st.composite
def models(draw: Any) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    g = Graph(draw, Names())
    dims = st.sampled_from([(), (2,), (3,), (2, 3), (1, 3), (2, 1), (0, 3), (3, 2), (2, 2)])
    # A number and a condition for the bodies, and a few of any type.
    kinds = [Kind("int64", ()), Kind("bool", ()), Kind("float32", (2, 3))]
    kinds += [Kind(g.pick(*ANY), draw(dims)) for _ in range(g.number(1, 4))]
    inputs = {g.take(kind): draw(values_of(kind)) for kind in kinds}
    for _ in range(g.number(0, 2)):
        add_function(g, kinds)
    for _ in range(g.number(1, 4)):
        g.fill(6)
    made = [n for n in g.own if n not in inputs and g.own[n].container != "optional"]
    hypothesis.assume(made)
    # Names that nobody sees are the ones whose storage is used again.
    outputs = [n for n in made if n == made[-1] or g.chance(40)]
    graph = g.body("g", outputs)
    model = onnx.helper.make_model(
        graph, opset_imports=IMPORTS, ir_version=10, functions=[f.proto for f in g.functions]
    )
    return model, inputs


def check_same(name: str, got: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(got) == len(expected), f"{name} has {len(got)} items, not {len(expected)}"
        for item, wanted in zip(got, expected, strict=True):
            check_same(name, item, wanted)
        return
    expected = np.asarray(expected)
    assert got.shape == expected.shape, f"{name} is {got.shape}, not {expected.shape}"
    if got.dtype.kind == "O":
        assert got.tolist() == expected.tolist(), f"{name} is {got}, not {expected}"
        return
    assert got.dtype == expected.dtype, f"{name} is {got.dtype}, not {expected.dtype}"
    np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=name)


def bodies_of(node: Any) -> list[Any]:
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def reference_errs(nodes: Any) -> bool:
    """Here or in a body is what onnx.reference computes otherwise than the standard says.

    A Loop without a condition does not run, one that stacks tensors of another rank than 1 makes
    something else of them, and an optional holds a list.
    """
    for node in nodes:
        if node.op_type == "Optional" or (node.op_type == "Loop" and not node.input[1]):
            return True
        for body in bodies_of(node):
            rows = body.output[len(body.input) - 1 :] if node.op_type == "Loop" else []
            if any(len(row.type.tensor_type.shape.dim) != 1 for row in rows):
                return True
            if reference_errs(body.node):
                return True
    return False


def onnxruntime_errs(nodes: Any, mapped: bool = False) -> bool:
    """Here or in a body is what ONNX Runtime computes otherwise than the standard says.

    In the body of a SequenceMap it puts a function's nodes in place of a call without new names for
    them, so that they read values of the graph around that have the same name.
    """
    for node in nodes:
        if mapped and node.domain == "local":
            return True
        inside = mapped or node.op_type == "SequenceMap"
        if any(onnxruntime_errs(body.node, inside) for body in bodies_of(node)):
            return True
    return False


def by_reference(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[Any]:
    if any(reference_errs(part.node) for part in (model.graph, *model.functions)):
        raise NotImplementedError
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return onnx.reference.ReferenceEvaluator(model).run(None, inputs)


class OnnxRuntime:
    """In a process of its own: some graphs crash it. It starts again with the next one."""

    def __init__(self, run: Callable[..., list[Any]] = onnxruntime_run) -> None:
        self.function = run
        self.pool: concurrent.futures.ProcessPoolExecutor | None = None

    def run(self, model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[Any]:
        self.pool = self.pool or concurrent.futures.ProcessPoolExecutor(1)
        try:
            return self.pool.submit(self.function, model, inputs).result()
        except concurrent.futures.process.BrokenProcessPool:
            self.pool = None
            raise


ONNXRUNTIME = OnnxRuntime()


def by_onnxruntime(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[Any]:
    if any(onnxruntime_errs(part.node) for part in (model.graph, *model.functions)):
        raise NotImplementedError
    return ONNXRUNTIME.run(model, inputs)


def check_model(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> int:
    """How many runtimes could run it too.

    The checker accepts the model, so a refusal says something of that runtime alone: onnx.reference
    has no backward scans and no Flatten of an empty tensor, ONNX Runtime has kernels of few types,
    and its optimizer stumbles over some bodies in bodies.
    """
    onnx.checker.check_model(model)
    got = EVALUATOR.run(model, inputs)
    count = 0
    for peer, run in (("onnx.reference", by_reference), ("ONNX Runtime", by_onnxruntime)):
        try:
            expected = run(model, inputs)
        except Exception:
            continue
        count += 1
        for info, item, wanted in zip(model.graph.output, got, expected, strict=True):
            check_same(f"{info.name} by {peer}", item, wanted)
    return count


def check_graphs(seed: int, count: int, counts: dict[int, int], on_failure: OnFailure) -> None:
    """Draws graphs and checks them; the last failure that is told of is the shrunk one."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(models())
    def check(drawn: tuple[onnx.ModelProto, dict[str, np.ndarray]]) -> None:
        model, inputs = drawn
        try:
            counts[check_model(model, inputs)] += 1
        except Exception as error:
            on_failure(model, inputs)
            text = onnx.printer.to_text(model)
            raise AssertionError(f"{error}\n{text}\n{inputs}") from error

    check()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_graphs(shard: int) -> None:
    counts = {0: 0, 1: 0, 2: 0}
    check_graphs(shard, -(-GRAPHS // SHARDS), counts, lambda *_: None)
    assert counts[0] <= 0.1 * sum(counts.values()), counts
    assert counts[2] >= 0.5 * sum(counts.values()), counts


def test_a_runtime_that_refuses_is_no_failure() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["": 21]>
        g (float[0,3] x) => (float[0,3] y) { y = Flatten <axis = 1> (x) }
    """)
    assert check_model(model, {"x": np.empty((0, 3), "float32")}) == 1


def test_a_call_in_the_body_of_a_sequence_map_reads_its_own_names() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (int64 v1, float[2] x) => (seq(float[]) y) {
            one = Constant <value: tensor = int64 {1}> ()
            s = SplitToSequence <axis: int = 0, keepdims: int = 0> (x)
            y = SequenceMap (s) <body: graph = each (float item) => (float z) { z = local.f (one) }>
        }
        <domain: "local", opset_import: ["": 21]>
        f (v1) => (result) { result = Cast <to = 1> (v1) }
    """)
    inputs = {"v1": np.array(0), "x": np.zeros(2, "float32")}
    [result] = EVALUATOR.run(model, inputs)
    assert result == [1, 1]
    # Neither does it right: one is not asked, the other does not find `one`.
    assert check_model(model, inputs) == 0


# --- The fuzz target of tools/dev -----------------------------------------------------------------

BATCH = 50


def save(folder: pathlib.Path, model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> None:
    """As the test data of ONNX's backend tests: model.onnx, and the inputs in their order."""
    shutil.rmtree(folder, ignore_errors=True)  # of a graph before it was shrunk
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, (name, value) in enumerate(inputs.items()):
        tensor = onnx.numpy_helper.from_array(value, name)
        (data / f"input_{i}.pb").write_bytes(tensor.SerializeToString())


def main() -> int:
    """Batches of graphs until their number or time is over; each has a seed: the first is given."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--runs", type=int, default=-1, help="how many graphs; -1 is any number")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--findings", type=pathlib.Path, required=True)
    options = parser.parse_args()
    counts = {0: 0, 1: 0, 2: 0}
    end = time.monotonic() + options.seconds
    seed = options.seed
    while time.monotonic() < end and (options.runs < 0 or sum(counts.values()) < options.runs):
        folder = options.findings / f"random_graphs-{seed}"
        try:
            check_graphs(seed, BATCH, counts, functools.partial(save, folder))
        except AssertionError as error:
            print(f"{error}\nin {folder}; again: --seed {seed}", file=sys.stderr)
            return 1
        seed += 1
    print(f"compared with none, one and both: {list(counts.values())}", file=sys.stderr)
    print(f"stat::number_of_executed_units: {sum(counts.values())}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
