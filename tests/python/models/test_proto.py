"""The reader and writer of ONNX files, against the onnx package.

sdx_proto_tool reads files and writes them back; what it wrote is parsed by the onnx package and
compared with what it read. The models are those of the onnx backend tests and hand-made ones for
what these do not have.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import pytest
from google.protobuf.message import Message
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from places import BUILD
from tool import ask_all

TOOL = BUILD / "sdx_proto_tool"

FLOAT = TensorProto.FLOAT
ELEMENT_TYPES = {
    name: number for name, number in TensorProto.DataType.items() if name != "UNDEFINED"
}


@dataclasses.dataclass
class Answer:
    ok: bool
    text: str


class Files:
    """Round trips of many files in one run of the tool."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.requests: list[tuple[object, ...]] = []

    def add(self, content: bytes, kind: str = "model", name: str | None = None) -> pathlib.Path:
        """The path that the file will be written back to."""
        path = self.folder / (name or f"{len(self.requests)}.in")
        path.write_bytes(content)
        target = path.with_suffix(".out")
        self.requests.append((kind, path, target))
        return target

    def run(self) -> list[Answer]:
        answers = [
            Answer(status == "ok", "\t".join(rest))
            for status, *rest in ask_all(TOOL, self.requests)
        ]
        return answers


@pytest.fixture
def files(tmp_path: pathlib.Path) -> Files:
    return Files(tmp_path)


def round_trip(files: Files, content: bytes, kind: str = "model") -> bytes:
    target = files.add(content, kind)
    answer = files.run()[-1]
    assert answer.ok, answer.text
    return target.read_bytes()


def error_of(files: Files, content: bytes, kind: str = "model") -> str:
    files.add(content, kind)
    answer = files.run()[-1]
    assert not answer.ok
    return answer.text


# --- Comparing protos ---------------------------------------------------------------------------


def normalise_tensor(tensor: TensorProto, keep_name: bool) -> None:
    """raw_data for every encoding; the name only where it means something."""
    if tensor.data_type != TensorProto.STRING:
        same = numpy_helper.from_array(numpy_helper.to_array(tensor))
        for field in ("float_data", "int32_data", "int64_data", "uint64_data", "double_data"):
            tensor.ClearField(field)
        tensor.raw_data = same.raw_data
    if not keep_name:
        tensor.ClearField("name")


def normalise(message: Message, keep_tensor_name: bool = False) -> None:
    """Forgets what carries no meaning: empty texts that are present, tensor encodings, names of
    tensors that are no initializers, and the order of value_info."""
    if isinstance(message, TensorProto):
        normalise_tensor(message, keep_tensor_name)
    if isinstance(message, onnx.GraphProto):
        infos = sorted(message.value_info, key=lambda info: info.name)
        del message.value_info[:]
        message.value_info.extend(infos)
    is_named = isinstance(message, onnx.GraphProto)
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            items = value if isinstance(value, Iterable) else [value]
            for item in items:
                named = (is_named and field.name == "initializer") or (
                    isinstance(message, onnx.SparseTensorProto) and keep_tensor_name
                )
                normalise(item, named or (is_named and field.name == "sparse_initializer"))
        elif (
            isinstance(value, str)
            and not value
            and not isinstance(
                message, (onnx.TensorShapeProto.Dimension, onnx.StringStringEntryProto)
            )
        ):
            message.ClearField(field.name)


def same_meaning(a: Message, b: Message) -> bool:
    left, right = type(a)(), type(b)()
    left.CopyFrom(a)
    right.CopyFrom(b)
    normalise(left)
    normalise(right)
    return left == right


def passes_checker(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


# --- The models of the onnx backend tests -------------------------------------------------------


def test_backend_models(files: Files) -> None:
    models = [case.model for case in collect_testcases(None) if case.model is not None]
    targets = [files.add(model.SerializeToString()) for model in models]
    identical = 0
    checked = 0
    for model, target, answer in zip(models, targets, files.run(), strict=True):
        assert answer.ok, f"{model.graph.name}: {answer.text}"
        content = target.read_bytes()
        if content == model.SerializeToString():
            identical += 1
            continue
        written = onnx.ModelProto.FromString(content)
        assert same_meaning(model, written), model.graph.name
        if passes_checker(model):
            checked += 1
            onnx.checker.check_model(written, full_check=True)
    print(
        f"{len(models)} backend models: {identical} come back byte for byte; the others have the "
        f"same meaning, {checked} of them pass the full check"
    )
    assert identical > 1300
    assert checked > 0.99 * (len(models) - identical)


# --- Tensors ------------------------------------------------------------------------------------


def random_array(element_type: int, shape: tuple[int, ...]) -> np.ndarray:
    dtype = helper.tensor_dtype_to_np_dtype(element_type)
    generator = np.random.default_rng(element_type)
    if element_type == TensorProto.STRING:
        return np.array(["", "a", "ü ∑", "line\nline", "x\0y", "z" * 300], dtype=object)[
            : int(np.prod(shape))
        ].reshape(shape)
    numbers = generator.integers(-4, 4, size=shape)
    if dtype.kind == "u" or "uint" in dtype.name:
        numbers = np.abs(numbers) % 4
    if dtype.kind == "c":
        return (numbers + 1j * generator.integers(-4, 4, size=shape)).astype(dtype)
    if element_type == TensorProto.FLOAT8E8M0:
        numbers = 2.0**numbers
    return numbers.astype(np.float32).astype(dtype)


def as_list(array: np.ndarray, element_type: int) -> TensorProto:
    """The array in its *_data list, as the comments in onnx.proto have it."""
    tensor = TensorProto(dims=array.shape, data_type=element_type)
    raw = numpy_helper.from_array(array)
    field = helper.tensor_dtype_to_field(element_type)
    if element_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        array = array.ravel().view(np.float32 if field == "float_data" else np.float64)
    if element_type == TensorProto.STRING:
        tensor.string_data.extend(raw.string_data)
    elif element_type in (TensorProto.FLOAT6E2M3, TensorProto.FLOAT6E3M2):
        tensor.int32_data.extend(array.ravel().view(np.uint8).tolist())
    elif field != "int32_data" or (array.dtype.kind in "iu" and array.dtype.isbuiltin):
        getattr(tensor, field).extend(array.ravel().tolist())
    elif array.dtype.itemsize == 2:
        tensor.int32_data.extend(np.frombuffer(raw.raw_data, np.uint16).tolist())
    else:
        tensor.int32_data.extend(np.frombuffer(raw.raw_data, np.uint8).tolist())
    return tensor


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_element_types(files: Files, name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    cases: list[tuple[np.ndarray, pathlib.Path]] = []
    for shape in ((), (1,), (2,), (3,), (5,), (2, 3), (0,), (3, 0, 2)):
        array = random_array(element_type, shape)
        for tensor in (numpy_helper.from_array(array), as_list(array, element_type)):
            content = tensor.SerializeToString()
            cases.append((array, files.add(content, "tensor")))
            if not tensor.HasField("raw_data") and array.size and name != "STRING":
                cases.append((array, files.add(unpack_lists(tensor), "tensor")))
    for (array, target), answer in zip(cases, files.run(), strict=True):
        assert answer.ok, answer.text
        written = TensorProto.FromString(target.read_bytes())
        assert written == numpy_helper.from_array(array)


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def field(number: int, content: bytes | int) -> bytes:
    """A field on the wire: a number as a varint, bytes with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def unpack_lists(tensor: TensorProto) -> bytes:
    """The tensor with a field for each entry, instead of packed lists."""
    result = b"".join(field(1, dim) for dim in tensor.dims) + field(2, tensor.data_type)
    for value in tensor.float_data:
        result += varint(4 << 3 | 5) + struct.pack("<f", value)
    for value in tensor.double_data:
        result += varint(10 << 3 | 1) + struct.pack("<d", value)
    for number, values in (
        (5, tensor.int32_data),
        (7, tensor.int64_data),
        (11, tensor.uint64_data),
    ):
        result += b"".join(field(number, value) for value in values)
    assert TensorProto.FromString(result) == tensor
    return result


def test_packed_dims_and_split_lists(files: Files) -> None:
    content = (
        field(7, varint(1) + varint(-2))
        + field(1, varint(2) + varint(2))
        + field(7, 3)
        + field(2, TensorProto.INT64)
        + field(7, b"")
        + field(7, varint(4))
    )
    written = TensorProto.FromString(round_trip(files, content, "tensor"))
    assert numpy_helper.to_array(written).tolist() == [[1, -2], [3, 4]]


def test_booleans_are_zero_or_one(files: Files) -> None:
    for tensor in (
        TensorProto(dims=[4], data_type=TensorProto.BOOL, raw_data=b"\0\1\2\xff"),
        TensorProto(dims=[4], data_type=TensorProto.BOOL, int32_data=[0, 1, 109, -1]),
    ):
        written = TensorProto.FromString(round_trip(files, tensor.SerializeToString(), "tensor"))
        assert written.raw_data == b"\0\1\1\1"


BAD_TENSORS = [
    (TensorProto(dims=[2]), "no `data_type`"),
    (TensorProto(dims=[2], data_type=99), "no element type 99"),
    (TensorProto(dims=[-1], data_type=FLOAT), "negative"),
    (TensorProto(dims=[1 << 40, 1 << 40], data_type=FLOAT), "too large"),
    (TensorProto(dims=[1 << 60], data_type=TensorProto.COMPLEX128), "too large"),
    (TensorProto(dims=[1 << 50], data_type=TensorProto.INT8, int32_data=[1]), "has fewer"),
    (TensorProto(dims=[2], data_type=FLOAT), "has fewer"),
    (TensorProto(dims=[2], data_type=FLOAT, float_data=[1]), "only 1 entries"),
    (TensorProto(dims=[2], data_type=FLOAT, float_data=[1, 2, 3]), "more than 2 entries"),
    (TensorProto(dims=[2], data_type=TensorProto.INT64, int64_data=[1, 2, 3]), "more than 2"),
    (TensorProto(dims=[2], data_type=FLOAT, raw_data=b"1234567"), "need 8"),
    (TensorProto(dims=[0], data_type=FLOAT, raw_data=b"1234"), "need 0"),
    (TensorProto(dims=[1], data_type=FLOAT, raw_data=b"1234", float_data=[1]), "given twice"),
    (TensorProto(dims=[1], data_type=FLOAT, int64_data=[1]), "belong in `float_data`"),
    (TensorProto(dims=[1], data_type=TensorProto.STRING, raw_data=b"a"), "`string_data`"),
    (TensorProto(dims=[2], data_type=TensorProto.STRING, string_data=[b"a"]), "has 1 entries"),
    (TensorProto(dims=[1], data_type=TensorProto.FLOAT6E2M3, int32_data=[64]), "6 bits"),
    (TensorProto(dims=[1], data_type=TensorProto.FLOAT6E2M3, raw_data=b"\xff"), "not 0"),
    (
        TensorProto(
            dims=[1], data_type=FLOAT, raw_data=b"1234", segment=TensorProto.Segment(begin=0)
        ),
        "segment",
    ),
]


@pytest.mark.parametrize(("tensor", "message"), BAD_TENSORS)
def test_bad_tensors(files: Files, tensor: TensorProto, message: str) -> None:
    assert message in error_of(files, tensor.SerializeToString(), "tensor")


# --- External data ------------------------------------------------------------------------------


def external(location: str, **entries: str) -> bytes:
    tensor = TensorProto(dims=[3], data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor.SerializeToString()


@pytest.fixture
def data_files(files: Files) -> Files:
    values = np.arange(6, dtype=np.float32)
    (files.folder / "deep").mkdir()
    for path in (files.folder / "data.bin", files.folder / "deep" / "data.bin"):
        path.write_bytes(values.tobytes())
    outside = files.folder.parent / f"{files.folder.name}-outside.bin"
    outside.write_bytes(values.tobytes())
    (files.folder / "link.bin").symlink_to("data.bin")
    (files.folder / "escape.bin").symlink_to(outside)
    (files.folder / "escape").symlink_to(files.folder.parent)
    os.mkfifo(files.folder / "pipe")
    return files


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (external("data.bin"), [0, 1, 2]),
        (external("data.bin", offset="12"), [3, 4, 5]),
        (external("data.bin", offset="4", length="12", checksum="ignored"), [1, 2, 3]),
        (external("data.bin", offset="1", length="12"), None),
        (external("deep/data.bin"), [0, 1, 2]),
        (external("./deep/./data.bin"), [0, 1, 2]),
        (external("link.bin"), [0, 1, 2]),
    ],
)
def test_external_data(data_files: Files, content: bytes, expected: list[int] | None) -> None:
    written = TensorProto.FromString(round_trip(data_files, content, "tensor"))
    assert not written.external_data
    if expected is not None:
        assert numpy_helper.to_array(written).tolist() == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (external(""), "must be a path inside"),
        (external("/etc/passwd"), "must be a path inside"),
        (external("../x.bin"), "must be a path inside"),
        (external("deep/../../x.bin"), "must be a path inside"),
        (external("deep/../data.bin"), "must be a path inside"),
        (external("data.bin\0x"), "must be a path inside"),
        (external("escape.bin"), "out of the model's folder"),
        (external("escape/x"), "cannot open"),
        (external("missing.bin"), "cannot open"),
        (external("deep"), "not a file"),
        (external("pipe"), "not a file"),
        (external("data.bin", offset="16"), "ends at byte 24"),
        (external("data.bin", offset="999999999999999999"), "ends at byte 24"),
        (external("data.bin", offset="-4"), "not a number"),
        (external("data.bin", offset="0x10"), "not a number"),
        (external("data.bin", offset="99999999999999999999999"), "not a number"),
        (external("data.bin", length="8"), "need 12"),
        (external("data.bin", length="-1"), "not a number"),
        (external("data.bin") + field(9, b"0" * 12), "given twice"),
    ],
)
def test_hostile_external_data(data_files: Files, content: bytes, message: str) -> None:
    assert message in error_of(data_files, content, "tensor")


def test_external_data_of_a_model(files: Files) -> None:
    model = model_of([helper.make_node("Identity", ["w"], ["y"])])
    values = np.arange(1000, dtype=np.float32)
    model.graph.initializer.append(numpy_helper.from_array(values, "w"))
    path = files.folder / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="model.data", size_threshold=0)
    written = onnx.ModelProto.FromString(round_trip(files, path.read_bytes()))
    assert numpy_helper.to_array(written.graph.initializer[0]).tolist() == values.tolist()


# --- Models -------------------------------------------------------------------------------------


def info(
    name: str, shape: Sequence[int | str | None] | None = (2,), kind: int = FLOAT
) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes: list[onnx.NodeProto], **given: Any) -> onnx.ModelProto:
    options: dict[str, Any] = {"inputs": [info("x")], "outputs": [info("y")], **given}
    ir_version = options.pop("ir_version", 10)
    functions = options.pop("functions", ())
    graph = helper.make_graph(nodes, "g", options.pop("inputs"), options.pop("outputs"), **options)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("my.domain", 1)]
    return helper.make_model(
        graph, ir_version=ir_version, opset_imports=imports, functions=functions
    )


def assert_exact(files: Files, model: onnx.ModelProto) -> None:
    """Every byte comes back."""
    content = model.SerializeToString()
    written = round_trip(files, content)
    assert onnx.ModelProto.FromString(written) == model
    assert written == content


RELU = helper.make_node("Relu", ["x"], ["y"])


def nameless(array: np.ndarray) -> TensorProto:
    return numpy_helper.from_array(array)


def sparse(name: str = "") -> onnx.SparseTensorProto:
    values = numpy_helper.from_array(np.array([1, 2], np.float32), name or None)
    return helper.make_sparse_tensor(values, nameless(np.array([1, 5], np.int64)), [2, 3])


TYPES = {
    "tensor": helper.make_tensor_type_proto(FLOAT, [1, "N", None, "N+1", "2*N", "batch size"]),
    "rank unknown": helper.make_tensor_type_proto(FLOAT, None),
    "scalar": helper.make_tensor_type_proto(TensorProto.INT4, []),
    "sparse": helper.make_sparse_tensor_type_proto(FLOAT, [2, "M"]),
    "sequence": helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, ["N"])),
    "optional": helper.make_optional_type_proto(
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
    ),
    "map": helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.STRING, None)
    ),
    "opaque": onnx.TypeProto(opaque_type=onnx.TypeProto.Opaque(domain="d", name="n")),
    "sequence of opaque": helper.make_sequence_type_proto(
        onnx.TypeProto(opaque_type=onnx.TypeProto.Opaque(domain="d", name="n"))
    ),
    "unusual parameter": helper.make_tensor_type_proto(
        FLOAT, ["N + 1", "1+N", "5", "?", "(N", "2*N+1-1", "max(N, 3)", "'a b'", "-1", "N//2"]
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_types(files: Files, name: str) -> None:
    value = helper.make_value_info("x", TYPES[name])
    inner = helper.make_value_info("z", TYPES[name])
    nodes = [
        helper.make_node("F", ["x"], ["z"], domain="my.domain"),
        helper.make_node("G", ["z"], ["y"], domain="my.domain"),
    ]
    assert_exact(files, model_of(nodes, inputs=[value], value_info=[inner]))


def test_empty_dimension_names_and_negative_dimensions_are_unknown(files: Files) -> None:
    model = model_of([RELU], inputs=[info("x", ["", -1, 3])])
    written = onnx.ModelProto.FromString(round_trip(files, model.SerializeToString()))
    dims = written.graph.input[0].type.tensor_type.shape.dim
    assert [dim.WhichOneof("value") for dim in dims] == [None, None, "dim_value"]


def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [], [info(nodes[-1].output[0])])


ATTRIBUTES = {
    "FLOAT": 0.0,
    "INT": -7,
    "STRING": b"\xff\x00bytes",
    "TENSOR": nameless(np.arange(3.0)),
    "GRAPH": branch("body", helper.make_node("Relu", ["x"], ["inner"])),
    "FLOATS": [1.5, -0.0, float("inf")],
    "INTS": [0, -1, 1 << 62],
    "STRINGS": [b"", b"a", b"\xfe"],
    "TENSORS": [nameless(np.array(1, np.int8)), nameless(np.array(["a", ""], object))],
    "GRAPHS": [
        branch("one", helper.make_node("Relu", ["x"], ["same"])),
        branch("two", helper.make_node("Neg", ["x"], ["same"])),
    ],
    "SPARSE_TENSOR": sparse(),
    "SPARSE_TENSORS": [sparse(), sparse()],
    "TYPE_PROTO": TYPES["sequence"],
    "TYPE_PROTOS": [TYPES["tensor"], TYPES["map"]],
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(files: Files, name: str) -> None:
    attribute = helper.make_attribute("a", ATTRIBUTES[name], doc_string="what it is")
    assert attribute.type == onnx.AttributeProto.AttributeType.Value(name)
    node = helper.make_node("F", ["x"], ["y"], domain="my.domain")
    node.attribute.append(attribute)
    assert_exact(files, model_of([node]))
    # Lists without elements, and values that are left out because they are zero.
    empty = onnx.AttributeProto(name="a", type=attribute.type)
    del node.attribute[:]
    node.attribute.append(empty)
    content = model_of([node]).SerializeToString()
    if name in ("TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"):
        assert "has no value" in error_of(files, content)
    else:
        written = onnx.ModelProto.FromString(round_trip(files, content))
        expected = {"FLOAT": 0.0, "INT": 0, "STRING": b""}.get(name, [])
        assert helper.get_attribute_value(written.graph.node[0].attribute[0]) == expected


# Of the standard's operators, as a field of a ModelProto.
IMPORT = field(8, helper.make_opsetid("", 21).SerializeToString())


def test_packed_attribute_lists(files: Files) -> None:
    attributes = (
        field(5, field(1, b"ints") + field(20, 7) + field(8, varint(1) + varint(-2)) + field(8, 3)),
        field(5, field(1, b"floats") + field(20, 6) + field(7, struct.pack("<2f", 1, 2))),
        field(5, field(1, b"untyped") + field(3, 5)),
    )
    node = field(1, b"x") + field(2, b"y") + field(4, b"F") + b"".join(attributes)
    graph = field(1, node) + field(2, b"g") + field(11, info("x").SerializeToString())
    written = onnx.ModelProto.FromString(round_trip(files, field(1, 8) + IMPORT + field(7, graph)))
    ints, floats, untyped = written.graph.node[0].attribute
    assert list(ints.ints) == [1, -2, 3]
    assert list(floats.floats) == [1, 2]
    assert (untyped.i, untyped.type) == (5, onnx.AttributeProto.INT)


def if_node(
    condition: str, output: str, then: onnx.GraphProto, other: onnx.GraphProto
) -> onnx.NodeProto:
    return helper.make_node("If", [condition], [output], then_branch=then, else_branch=other)


def test_subgraphs_see_outer_names(files: Files) -> None:
    deep = if_node(
        "c",
        "d",
        branch("then", helper.make_node("Add", ["x", "t"], ["e"])),
        branch("else", helper.make_node("Sub", ["z", "w"], ["e"])),
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["z"]),
        if_node(
            "c",
            "y",
            branch("then", helper.make_node("Neg", ["z"], ["t"]), deep),
            branch("else", helper.make_node("Neg", ["w"], ["d"])),
        ),
    ]
    model = model_of(
        nodes,
        inputs=[info("x"), info("c", [], TensorProto.BOOL)],
        initializer=[numpy_helper.from_array(np.ones(2, np.float32), "w")],
        value_info=[info("z")],
    )
    onnx.checker.check_model(model, full_check=True)
    assert_exact(files, model)


def test_functions(files: Files) -> None:
    reference = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT)
    reference.ref_attr_name = "slope"
    node = helper.make_node("LeakyRelu", ["a"], ["b"])
    node.attribute.append(reference)
    function = helper.make_function(
        "my.domain",
        "F",
        ["a"],
        ["c"],
        [node, helper.make_node("Neg", ["b"], ["c"])],
        [helper.make_opsetid("", 21)],
        attributes=["slope"],
        attribute_protos=[helper.make_attribute("axis", 3)],
        doc_string="what it does",
        overload="second",
        value_info=[info("a"), info("b"), info("c")],
    )
    function.metadata_props.add(key="k", value="v")
    call = helper.make_node("F", ["x"], ["y"], domain="my.domain", overload="second", slope=0.5)
    model = model_of([call], functions=[function])
    onnx.checker.check_model(model, full_check=True)
    assert_exact(files, model)
    content = function.SerializeToString()
    assert round_trip(files, content, "function") == content


def test_optional_inputs_and_outputs(files: Files) -> None:
    nodes = [
        helper.make_node("Clip", ["x", "", "x", ""], ["z"]),
        helper.make_node("F", ["", "", "z"], ["", "y", ""], domain="my.domain"),
        helper.make_node("F", [], [], domain="my.domain"),
    ]
    assert_exact(files, model_of(nodes))


def test_sparse_initializers(files: Files) -> None:
    pairs = sparse("s2")
    pairs.indices.CopyFrom(nameless(np.array([[0, 1], [1, 2]], np.int64)))
    nodes = [helper.make_node("F", ["s", "s2"], ["y"], domain="my.domain")]
    assert_exact(files, model_of(nodes, sparse_initializer=[sparse("s"), pairs]))


def test_everything_that_annotates(files: Files) -> None:
    tensor = numpy_helper.from_array(np.ones(2, np.float32), "w")
    tensor.doc_string = "weights"
    tensor.metadata_props.add(key="t", value="1")
    node = helper.make_node("Add", ["x", "w"], ["z"], name="n", doc_string="adds")
    node.metadata_props.add(key="b", value="2")
    node.metadata_props.add(key="a", value="")
    device = node.device_configurations.add(configuration_id="pair", pipeline_stage=1)
    device.sharding_spec.add(tensor_name="x", device=[0, 1])
    inner = info("z", ["N"])
    inner.doc_string = "inner"
    inner.metadata_props.add(key="i", value="3")
    model = model_of(
        [node, helper.make_node("Relu", ["z"], ["y"])],
        initializer=[tensor],
        value_info=[inner],
        doc_string="the graph",
        ir_version=13,
    )
    model.graph.input[0].doc_string = "the input"
    model.graph.output[0].metadata_props.add(key="o", value="4")
    model.graph.metadata_props.add(key="g", value="5")
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    model.producer_name, model.producer_version = "maker", "1.2"
    model.domain, model.model_version, model.doc_string = "com.example", 7, "the model"
    model.metadata_props.add(key="m", value="6")
    model.configuration.add(name="pair", num_devices=2, device=["one", "two"])
    model.training_info.add().algorithm.name = "training"
    function = helper.make_function(
        "my.domain",
        "F",
        ["a"],
        ["b"],
        [helper.make_node("Neg", ["a"], ["b"])],
        [helper.make_opsetid("", 21)],
    )
    model.functions.append(function)
    assert_exact(files, model)


def test_inputs_with_defaults(files: Files) -> None:
    tensor = numpy_helper.from_array(np.ones(2, np.float32), "w")
    model = model_of(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        inputs=[info("x"), info("w")],
        initializer=[tensor],
        ir_version=3,
    )
    assert_exact(files, model)


def test_fields_in_another_order_and_unknown_fields(files: Files) -> None:
    graph = (
        field(12, info("y").SerializeToString())
        + field(1, RELU.SerializeToString() + field(999, b"new") + field(998, 5))
        + field(77, 1)
        + varint(78 << 3 | 5)
        + b"1234"
        + varint(79 << 3 | 1)
        + b"12345678"
        + field(11, info("x").SerializeToString())
        + field(2, b"g")
    )
    imports = helper.make_opsetid("", 21).SerializeToString()
    content = field(8, imports) + field(7, graph) + field(100, b"x") + field(1, 10)
    written = onnx.ModelProto.FromString(round_trip(files, content))
    onnx.checker.check_model(written, full_check=True)
    read = onnx.ModelProto.FromString(content)
    assert written == read  # with what onnx.proto does not have, too
    written.DiscardUnknownFields()
    assert list(written.graph.node) == [RELU]


def test_unknown_fields_of_functions_and_value_infos_of_other_names(files: Files) -> None:
    function = helper.make_function(
        "my.domain", "F", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])],
        [helper.make_opsetid("", 21)], value_info=[info("b"), info("nobody")],
    )  # fmt: skip
    function.MergeFromString(field(999, b"new") + field(998, 5))
    tensor = numpy_helper.from_array(np.ones(2, np.float32), "w")
    model = model_of(
        [helper.make_node("Add", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])],
        initializer=[tensor],
        value_info=[info("z"), info("w"), info("nobody")],
        ir_version=10,
    )
    model.functions.append(function)
    written = onnx.ModelProto.FromString(round_trip(files, model.SerializeToString()))
    assert written == model


def changed(change: Callable[[onnx.ModelProto], object]) -> bytes:
    model = model_of(
        [
            helper.make_node("Neg", ["x"], ["z"], name="first"),
            helper.make_node("Relu", ["z"], ["y"], name="second"),
        ]
    )
    change(model)
    return bytes(model.SerializeToString())


def swap_nodes(model: onnx.ModelProto) -> None:
    nodes = list(reversed(model.graph.node))
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def use_later_name_inside(model: onnx.ModelProto) -> None:
    inner = branch("b", helper.make_node("Neg", ["y"], ["t"]))
    model.graph.node.insert(1, if_node("x", "c", inner, inner))


def hide_outer_name(model: onnx.ModelProto) -> None:
    inner = branch("b", helper.make_node("Neg", ["x"], ["z"]))
    model.graph.node.append(if_node("x", "c", inner, inner))


def repeat_attribute(model: onnx.ModelProto) -> None:
    model.graph.node[1].attribute.extend([helper.make_attribute("a", 1)] * 2)


def two_values(model: onnx.ModelProto) -> None:
    model.graph.node[1].attribute.add(name="a", type=onnx.AttributeProto.INT, i=1, f=2)


def wrong_value(model: onnx.ModelProto) -> None:
    model.graph.node[1].attribute.add(name="a", type=onnx.AttributeProto.INT, f=2)


def bad_index(model: onnx.ModelProto) -> None:
    model.graph.sparse_initializer.append(sparse("s"))
    model.graph.sparse_initializer[0].dims[1] = 2


def same_function_twice(model: onnx.ModelProto) -> None:
    function = helper.make_function("d", "F", [], [], [], [])
    model.functions.extend([function, function])


BAD_MODELS: list[tuple[Callable[[onnx.ModelProto], object], str]] = [
    (lambda m: m.ClearField("ir_version"), "not an ONNX model"),
    (lambda m: setattr(m, "ir_version", 2), "IR version is 2; versions 3 to"),
    (lambda m: setattr(m, "ir_version", 99), "IR version is 99"),
    (lambda m: setattr(m, "ir_version", -5), "IR version is -5"),
    (lambda m: m.ClearField("graph"), "no graph"),
    (lambda m: m.graph.node[1].ClearField("op_type"), "graph.node[1]: the node has no `op_type`"),
    (
        lambda m: m.graph.node[0].input.__setitem__(0, "q"),
        "graph.node[0]: node `first` (Neg) uses `q`, which nothing defines",
    ),
    (swap_nodes, "graph.node[0]: node `second` (Relu) uses `z` before the node that makes it"),
    (
        use_later_name_inside,
        "graph.node[1].attribute[0].g.node[0]: the Neg node uses `y` before the node",
    ),
    (hide_outer_name, "g.node[0]: the Neg node makes `z`, which is defined already"),
    (lambda m: m.graph.node[1].output.append("z"), "node `second` (Relu) makes `z`, which is"),
    (lambda m: m.graph.node[1].output.append("y"), "makes `y`, which is defined already"),
    (lambda m: m.graph.input.append(m.graph.input[0]), "graph.input[1]: `x` is defined twice"),
    (lambda m: m.graph.initializer.extend([nameless(np.ones(1))]), "initializer has no name"),
    (
        lambda m: m.graph.initializer.extend([numpy_helper.from_array(np.ones(1), "w")] * 2),
        "graph.initializer[1]: `w` is defined twice",
    ),
    (lambda m: m.graph.output.append(info("q")), "graph.output[1]: the output `q` is not defined"),
    (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 77),
        "graph.input[0].type.tensor_type: there is no element type 77",
    ),
    (repeat_attribute, "graph.node[1]: the attribute `a` is given twice"),
    (two_values, "graph.node[1].attribute[0]: attribute `a` has values of several types"),
    (wrong_value, "attribute `a` is of type INT and has a value of type FLOAT"),
    (lambda m: m.graph.node[1].attribute.add(name="a"), "attribute `a` has no value"),
    (lambda m: m.graph.node[1].attribute.add(type=onnx.AttributeProto.INT, i=1), "has no name"),
    (bad_index, "sparse index 1 is outside of the dims"),
    (same_function_twice, "functions[1]: the function `F` of domain `d` is defined twice"),
]


@pytest.mark.parametrize(("change", "message"), BAD_MODELS)
def test_bad_models(
    files: Files, change: Callable[[onnx.ModelProto], object], message: str
) -> None:
    assert message in error_of(files, changed(change))


def test_text_must_be_utf8(files: Files) -> None:
    for bad in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"ok\xe2\x82"):
        content = changed(lambda _: None).replace(b"first", b"first"[: 5 - len(bad)] + bad)
        assert "graph.node[0]: a text is not UTF-8" in error_of(files, content)


def test_depth_is_limited(files: Files) -> None:
    # By hand: the onnx package refuses to write it.
    graph = b""
    kind = TYPES["rank unknown"].SerializeToString()
    for _ in range(300):
        attribute = field(1, b"body") + field(20, onnx.AttributeProto.GRAPH) + field(6, graph)
        graph = field(1, field(4, b"F") + field(5, attribute))
        kind = field(4, field(1, kind))
    assert "nested more than 256 deep" in error_of(files, field(1, 10) + IMPORT + field(7, graph))
    model = field(1, 10) + IMPORT + field(7, field(11, field(1, b"x") + field(2, kind)))
    assert "nested more than 256 deep" in error_of(files, model)


# --- Damaged bytes ------------------------------------------------------------------------------


def small_model() -> bytes:
    nodes = [
        helper.make_node("Add", ["x", "w"], ["z"], name="first"),
        if_node(
            "c",
            "y",
            branch("then", helper.make_node("Neg", ["z"], ["t"])),
            branch(
                "else",
                helper.make_node(
                    "F",
                    ["z"],
                    ["e"],
                    domain="my.domain",
                    ints=[1, 2],
                    text="abc",
                    tensor=nameless(np.ones(2)),
                ),
            ),
        ),
    ]
    function = helper.make_function(
        "my.domain",
        "F",
        ["a"],
        ["b"],
        [helper.make_node("Neg", ["a"], ["b"])],
        [helper.make_opsetid("", 21)],
        attributes=["p"],
    )
    list_tensor = helper.make_tensor("v", TensorProto.INT32, [3], [1, -2, 300])
    model = model_of(
        nodes,
        inputs=[info("x", ["N", "N+1"]), info("c", [], TensorProto.BOOL)],
        initializer=[numpy_helper.from_array(np.ones(2, np.float32), "w"), list_tensor],
        sparse_initializer=[sparse("s")],
        value_info=[info("z")],
        functions=[function],
    )
    return bytes(model.SerializeToString())


def test_truncations(files: Files) -> None:
    content = small_model()
    for length in range(len(content)):
        files.add(content[:length])
    # A model cut between two fields may still be one; every other cut is an error.
    assert sum(not answer.ok for answer in files.run()) > len(content) * 0.9


def test_bit_flips(files: Files) -> None:
    content = small_model()
    generator = random.Random(3)
    for _ in range(4000):
        damaged = bytearray(content)
        for _ in range(generator.choice((1, 1, 1, 2, 5))):
            damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
        files.add(bytes(damaged))
    answers = files.run()
    survivors = [
        (files.folder / f"{i}.out").read_bytes() for i, answer in enumerate(answers) if answer.ok
    ]
    assert 100 < len(survivors) < len(answers)
    # What was read can be written, and what was written can be read and is written alike.
    again = Files(files.folder / "again")
    again.folder.mkdir()
    targets = [again.add(content) for content in survivors]
    for content, target, answer in zip(survivors, targets, again.run(), strict=True):
        assert answer.ok, answer.text
        assert target.read_bytes() == content


HOSTILE = {
    "empty": b"",
    "text": b"this is not a model, it is a line of text\n",
    "zeros": bytes(100),
    "length past the end": varint(7 << 3 | 2) + varint(1 << 31) + b"x",
    "length of 64 bits": varint(7 << 3 | 2) + varint((1 << 64) - 1) + b"x",
    "endless varint": varint(1 << 3) + b"\xff" * 50,
    "group": varint(7 << 3 | 3) + b"x",
    "field 0": b"\x02\x00",
    "list of a huge length": field(1, 8) + field(7, field(5, varint(4 << 3 | 2) + varint(1 << 40))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes(files: Files, name: str) -> None:
    for kind in ("model", "function", "tensor"):
        assert error_of(files, HOSTILE[name], kind)
