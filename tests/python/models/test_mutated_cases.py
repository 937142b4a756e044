"""Node cases of onnx with one change each, beside `onnx.checker.check_model(full_check=True)`.

What the checker refuses must be a finding of ours, but for what ONLY_THE_CHECKER lists. What it
takes and we refuse must be nothing that ONNX Runtime runs on the inputs of the case, but for what
STRICTER lists. SDX_MUTATIONS=60000 draws more than the few that every run has, and
SDX_MUTATIONS_SEED others.
"""

from __future__ import annotations

import functools
import os
import pathlib
import random
import re
import resource
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import helper, numpy_helper

COUNT = int(os.environ.get("SDX_MUTATIONS", "150"))
SEED = int(os.environ.get("SDX_MUTATIONS_SEED", "1"))

# Changes and messages of the checker about models that are valid, or about which the standard says
# nothing, and why.
ONLY_THE_CHECKER = {
    r"it crashes$": "the checker ends the process",
    r"default_of_input: .*Inference error": (
        "the checker takes the default of an input for its value, which a run may replace"
    ),
    r"RMSNormalization\): Y has inconsistent type": (
        "the checker gives Y the type of X; the schema gives it that of the scale"
    ),
    r"\(op_type:\w*Pool.*Inferred shape and existing shape differ in dimension \d+: \(-\d+\)": (
        "a size of 0 in an image stands for an unknown one in files of old exporters; the checker "
        "computes a negative size with it, and compares that with what is declared"
    ),
}

# Findings of ours in models that run elsewhere, and why they are right.
STRICTER = {
    r"is declared as": (
        "a declared type that contradicts what the node makes: the checker infers nothing there, "
        "because functions and unknown contents are no concern of it"
    ),
    r"`\w+` of `\w+` is -?\d+": (
        "a flag that is neither 0 nor 1, or a number of a choice that is not in the text"
    ),
    r"`[^`]*` is not a value of": "strings that the operator's text does not list",
    r"has no attribute": "the checker skips the attributes of operators that are functions",
    r"opset_import": "versions that no release of the standard has defined",
    r"of rank \d+, and must have": (
        "lists that are scalars or matrices: axes, starts, repeats are lists by the text"
    ),
    r"repeats, and input|outside a shape of rank|does not order the": (
        "what a runtime never reaches, because it replaces the node or does not need the number"
    ),
}

Model = onnx.ModelProto


def nodes_of(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)


class Mutator:
    """Each public method changes one thing, or raises IndexError where there is nothing like it."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def __call__(self, model: Model) -> str:
        changes = [name for name in dir(self) if not name.startswith("_") and name != "draw"]
        name = self.draw.choice(changes)
        change: Callable[[Model], None] = getattr(self, name)
        change(model)
        return name

    def _node(self, model: Model) -> onnx.NodeProto:
        return self.draw.choice(list(nodes_of(model.graph)))

    def _attribute(self, model: Model) -> onnx.AttributeProto:
        return self.draw.choice(self._node(model).attribute)

    def _tensor(self, values: list[onnx.ValueInfoProto]) -> onnx.TypeProto.Tensor:
        return self.draw.choice(
            [v.type.tensor_type for v in values if v.type.HasField("tensor_type")]
        )

    def _retype(self, values: list[onnx.ValueInfoProto]) -> None:
        numbers = [*range(1, 15), 16, 17, 21, 22, 23]
        self._tensor(values).elem_type = self.draw.choice(numbers)

    def _resize(self, values: list[onnx.ValueInfoProto]) -> None:
        dims = self._tensor(values).shape.dim
        self.draw.choice(dims).dim_value = self.draw.choice([0, 1, 2, 3, 5, 7])

    def _rerank(self, values: list[onnx.ValueInfoProto]) -> None:
        dims = self._tensor(values).shape.dim
        if dims and self.draw.random() < 0.5:
            del dims[self.draw.randrange(len(dims))]
        else:
            dims.add().dim_value = self.draw.choice([1, 2, 3])

    def type_of_input(self, model: Model) -> None:
        self._retype(list(model.graph.input))

    def type_of_output(self, model: Model) -> None:
        self._retype(list(model.graph.output))

    def size_of_input(self, model: Model) -> None:
        self._resize(list(model.graph.input))

    def size_of_output(self, model: Model) -> None:
        self._resize(list(model.graph.output))

    def rank_of_input(self, model: Model) -> None:
        self._rerank(list(model.graph.input))

    def rank_of_output(self, model: Model) -> None:
        self._rerank(list(model.graph.output))

    def drop_input(self, model: Model) -> None:
        names = self._node(model).input
        names.remove(self.draw.choice(names))

    def leave_out_input(self, model: Model) -> None:
        names = self._node(model).input
        names[self.draw.choice(range(len(names)))] = ""

    def add_input(self, model: Model) -> None:
        self._node(model).input.append(self.draw.choice(model.graph.input).name)

    def swap_inputs(self, model: Model) -> None:
        names = self._node(model).input
        a, b = self.draw.choice(range(len(names))), self.draw.choice(range(len(names)))
        names[a], names[b] = names[b], names[a]

    def other_input(self, model: Model) -> None:
        names = self._node(model).input
        at = self.draw.choice(range(len(names)))
        names[at] = self.draw.choice(model.graph.input).name

    def drop_output(self, model: Model) -> None:
        names = self._node(model).output
        names.remove(self.draw.choice(names))

    def leave_out_output(self, model: Model) -> None:
        names = self._node(model).output
        names[self.draw.choice(range(len(names)))] = ""

    def add_output(self, model: Model) -> None:
        self._node(model).output.append("one_more")

    def drop_attribute(self, model: Model) -> None:
        attributes = self._node(model).attribute
        attributes.remove(self.draw.choice(attributes))

    def value_of_attribute(self, model: Model) -> None:
        attribute = self._attribute(model)
        if attribute.type == attribute.FLOAT:
            attribute.f = self.draw.choice([0.0, -1.0, 2.0, 1e30, float("nan")])
        elif attribute.type == attribute.INT:
            attribute.i = self.draw.choice([0, 1, -1, 2, 3, -3, 7, 100, 2**31, -(2**40)])
        elif attribute.type == attribute.STRING:
            attribute.s = self.draw.choice([b"", b"x", b"constant", b"SAME_UPPER", b"linear"])
        elif attribute.type == attribute.INTS:
            at = self.draw.choice(range(len(attribute.ints)))
            attribute.ints[at] = self.draw.choice([0, 1, -1, 2, 3, -5, 100])
        else:
            at = self.draw.choice(range(len(attribute.floats)))
            attribute.floats[at] = self.draw.choice([0.0, -1.0, 1e20])

    def length_of_attribute(self, model: Model) -> None:
        attribute = self._attribute(model)
        values = {6: attribute.floats, 7: attribute.ints, 8: attribute.strings}.get(
            attribute.type, []
        )
        one = self.draw.choice(values)
        values.append(one) if self.draw.random() < 0.5 else values.remove(one)

    def type_of_attribute(self, model: Model) -> None:
        attribute = self._attribute(model)
        value = self.draw.choice([1, 1.5, "s", [1, 2], [1.5], ["a"]])
        attribute.CopyFrom(helper.make_attribute(attribute.name, value))

    def name_of_attribute(self, model: Model) -> None:
        self._attribute(model).name = "bogus"

    def add_attribute(self, model: Model) -> None:
        name = self.draw.choice(["axis", "axes", "bogus", "mode", "to"])
        value = self.draw.choice([1, "s", [1]])
        self._node(model).attribute.append(helper.make_attribute(name, value))

    def repeat_attribute(self, model: Model) -> None:
        attributes = self._node(model).attribute
        attributes.add().CopyFrom(self.draw.choice(attributes[:-1] or attributes))

    def operator(self, model: Model) -> None:
        names = "Relu Add MatMul Conv Reshape Cast Concat Split Gather TopK If Loop Pad Bogus"
        self._node(model).op_type = self.draw.choice([*names.split(), ""])

    def opset(self, model: Model) -> None:
        versions = [1, 5, 7, 9, 10, 11, 13, 15, 18, 20, 22, 25, 30, 0, -1]
        self.draw.choice(model.opset_import).version = self.draw.choice(versions)

    def domain(self, model: Model) -> None:
        self._node(model).domain = self.draw.choice(["", "ai.onnx.ml", "x", "ai.onnx.training"])

    def name_of_input(self, model: Model) -> None:
        self.draw.choice(model.graph.input).name = "another"

    def name_of_output(self, model: Model) -> None:
        self.draw.choice(model.graph.output).name = "another"

    def repeat_node(self, model: Model) -> None:
        model.graph.node.add().CopyFrom(self.draw.choice(model.graph.node[:-1] or model.graph.node))

    def order(self, model: Model) -> None:
        nodes = list(model.graph.node)
        self.draw.shuffle(nodes)
        del model.graph.node[:]
        model.graph.node.extend(nodes)

    def default_of_input(self, model: Model) -> None:
        self._constant(model, self.draw.choice(model.graph.input))

    def constant(self, model: Model) -> None:
        chosen = self.draw.choice(model.graph.input)
        model.graph.input.remove(chosen)
        self._constant(model, chosen)

    def _constant(self, model: Model, value: onnx.ValueInfoProto) -> None:
        kind = value.type.tensor_type
        dims = [dim.dim_value for dim in kind.shape.dim]
        if kind.elem_type not in (1, 6, 7, 9, 11) or len(dims) > 1:
            raise IndexError
        if self.draw.random() < 0.3:
            dims = self.draw.choice([[], [0], [1], [2], [3], [4]])
        numbers = [self.draw.choice([0, 1, -1, 2, 5, -3, 100]) for _ in range(int(np.prod(dims)))]
        array = np.array(numbers, helper.tensor_dtype_to_np_dtype(kind.elem_type)).reshape(dims)
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))


@functools.cache
def cases() -> list[onnx.backend.test.case.test_case.TestCase]:
    import onnx.backend.test.loader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, while the expected results are computed
        found = onnx.backend.test.loader.load_model_tests(kind="node")
    return [one for one in found if one.model is not None]


def in_child(work: Callable[[], str]) -> str | None:
    """What the work gives in a process of its own; None: it crashes there, as other libraries do
    on some of these models."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.write(writing, work().encode(errors="replace")[:4000])
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    text = ""
    while part := os.read(reading, 4096):
        text += part.decode(errors="replace")
    os.close(reading)
    return text if os.waitpid(child, 0)[1] == 0 else None


def refusal_of_the_checker(model: Model) -> str | None:
    def check() -> str:
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception as error:  # of many types
            return str(error) or "no words"
        return ""

    text = in_child(check)
    return "it crashes" if text is None else text or None


def our_refusal(model: Model) -> str | None:
    try:
        found = sardonyx.load(model.SerializeToString()).verify()
    except sardonyx.ModelError as error:
        return str(error)
    return "; ".join(one.message for one in found if one.severity == "error") or None


def runs_elsewhere(case: object, model: Model) -> bool:
    """Whether ONNX Runtime runs it on the inputs of the case."""
    ort = pytest.importorskip("onnxruntime")

    def run() -> str:
        ort.set_default_logger_severity(4)
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        names = [one.name for one in session.get_inputs()]
        given = zip(
            [one.name for one in case.model.graph.input], case.data_sets[0][0], strict=False
        )
        session.run(None, {name: value for name, value in given if name in names})
        return "it runs"

    return in_child(run) == "it runs"


def is_listed(message: str, table: dict[str, str]) -> bool:
    return any(re.search(pattern, message, re.DOTALL) for pattern in table)


def test_mutants_are_refused_where_the_checker_refuses_them(tmp_path: pathlib.Path) -> None:
    draw = random.Random(SEED)
    mutator = Mutator(draw)
    only_theirs: list[str] = []
    only_ours: list[str] = []
    both = 0
    valid = [
        case
        for case in cases()
        if COUNT < 1000
        or (refusal_of_the_checker(case.model), our_refusal(case.model)) == (None,) * 2
    ]
    for number in range(COUNT):
        case = draw.choice(valid)
        model = Model()
        model.CopyFrom(case.model)
        try:
            kind = mutator(model)
        except IndexError:
            continue
        theirs, ours = refusal_of_the_checker(model), our_refusal(model)
        both += theirs is not None and ours is not None
        where = f"{number} {case.name} {kind}: "
        if theirs is not None and ours is None and not is_listed(where + theirs, ONLY_THE_CHECKER):
            only_theirs.append(where + theirs[:300])
            (tmp_path / f"{number}.onnx").write_bytes(model.SerializeToString())
        if theirs is None and ours is not None and not is_listed(ours, STRICTER):
            if runs_elsewhere(case, model):
                only_ours.append(where + ours[:300])
                (tmp_path / f"{number}.onnx").write_bytes(model.SerializeToString())
    assert not only_theirs, f"{len(only_theirs)} in {tmp_path}:\n" + "\n".join(only_theirs[:50])
    assert not only_ours, f"{len(only_ours)} in {tmp_path}:\n" + "\n".join(only_ours[:50])
    assert both > COUNT // 2


KINDS = {
    "Dropout ratio": ("Dropout", {}, [[0.5]], 18),
    "Resize with one scale": ("Resize", {}, [None, np.ones(1, np.float32) * 2], 18),
    "Resize with a matrix of sizes": ("Resize", {}, [None, None, np.ones((1, 4), np.int64)], 18),
    "Resize with too many sizes": ("Resize", {}, [None, None, np.ones(5, np.int64)], 18),
    "OneHot depth": ("OneHot", {}, [[3.0, 4.0], [0.0, 1.0]], 18),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_were_taken_once(kind: str) -> None:
    op_type, attributes, constants, opset = KINDS[kind]
    inputs, initializers = ["x"], []
    for i, constant in enumerate(constants):
        inputs.append("" if constant is None else f"c{i}")
        if constant is not None:
            array = np.asarray(constant)
            array = array.astype(np.float32) if array.dtype == np.float64 else array
            initializers.append(numpy_helper.from_array(array, f"c{i}"))
    graph = helper.make_graph(
        [helper.make_node(op_type, inputs, ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    assert our_refusal(model) is not None


def labels(**attributes: object) -> Model:
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.INT64, [3])],
        [helper.make_value_info("y", onnx.TypeProto())],
    )
    graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 4)], ir_version=9
    )


def test_lists_of_label_encoder() -> None:
    right = {"keys_int64s": [1, 2], "values_floats": [0.5, 1.5]}
    assert our_refusal(labels(**right)) is None
    for wrong, words in [
        ({"keys_int64s": [1, 2]}, "has no values"),
        ({"values_floats": [0.5, 1.5]}, "has no keys"),
        ({**right, "keys_strings": ["a", "b"]}, "has both"),
        ({**right, "values_floats": [0.5]}, "2 keys and 1 values"),
        ({"keys_strings": ["a", "b"], "values_floats": [0.5, 1.5]}, "one type"),
    ]:
        assert words in (our_refusal(labels(**wrong)) or "")


def test_a_window_that_reaches_past_the_end() -> None:
    """With ceil_mode a window may be longer than the image: ONNX Runtime and PyTorch say so too."""
    graph = helper.make_graph(
        [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3], strides=[2], ceil_mode=1)],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1, 2])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 1, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    assert our_refusal(model) is None
    x = np.array([[[1.0, 2.0]]], np.float32)
    assert np.asarray(sardonyx.load(model.SerializeToString()).run({"x": x})[0]).tolist() == [
        [[2.0]]
    ]


def one_node(
    op_type: str, inputs: list[str], outputs: list[str], opset: int, **more: object
) -> Model:
    graph = helper.make_graph(
        [helper.make_node(op_type, inputs, outputs, **more)],
        "g",
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in inputs],
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def test_what_the_standard_has_taken_back() -> None:
    names = ["x", "scales"]
    assert "deprecated" in (our_refusal(one_node("Upsample", names, ["y"], 13)) or "")
    assert our_refusal(one_node("Upsample", names, ["y"], 9)) is None


def test_outputs_of_batch_normalization() -> None:
    inputs = ["x", "scale", "bias", "mean", "var"]
    for opset, right in ((9, (1, 5)), (15, (1, 3))):
        for count in range(1, right[-1] + 1):
            outputs = [f"y{i}" for i in range(count)]
            model = one_node("BatchNormalization", inputs, outputs, opset)
            if opset == 15 and count == 3:
                model.graph.node[0].attribute.append(helper.make_attribute("training_mode", 1))
            assert (our_refusal(model) is None) == (count in right), (opset, count)


def test_nodes_without_outputs() -> None:
    for op_type, inputs, outputs in [("Constant", [], []), ("TopK", ["x", "k"], ["v"])]:
        value = {"value_float": 1.0} if op_type == "Constant" else {}
        graph = helper.make_graph(
            [
                helper.make_node(op_type, inputs, outputs, **value),
                helper.make_node("Relu", ["x"], ["y"]),
            ],
            "g",
            [
                helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4]),
                helper.make_tensor_value_info("k", onnx.TensorProto.INT64, [1]),
            ],
            [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        assert "output" in (our_refusal(model) or "")
