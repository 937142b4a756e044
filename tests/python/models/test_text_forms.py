"""Models as text: onnx.parser's form, protobuf's JSON and its text format.

What we write is read by onnx and protobuf, and what they write is read by us; both must be the same
model. The models are those of the onnx backend tests, each 23rd or, with SDX_FULL=1, all.
"""

from __future__ import annotations

import pathlib
import random
import subprocess
from collections.abc import Iterator

import google.protobuf.json_format as json_format
import google.protobuf.text_format as text_format
import numpy as np
import onnx
import onnx.parser
import onnx.printer
import pytest
import sardonyx
from onnx import TensorProto, helper, numpy_helper
from sardonyx import _core

from models.corpora import backend_cases
from places import PROGRAM, ROOT
from sampling import stride

pytestmark = pytest.mark.filterwarnings("ignore")

FORMS = ("onnxtxt", "json", "textproto")
STRIDE = stride(23)
MODEL = (ROOT / "tests/data/forms/all.onnxtxt").read_text()  # each word of the grammar


def models() -> Iterator[tuple[str, bytes]]:
    for index, (name, (data, _)) in enumerate(sorted(backend_cases().items())):
        if index % STRIDE == 0:
            yield name, data


def loaded(data: bytes) -> sardonyx.Model | None:
    try:
        return sardonyx.load(data, check=False)
    except sardonyx.EvalError:
        return None


def proto_of(data: bytes) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(data)


def test_json_and_textproto_are_those_of_protobuf() -> None:
    tried = 0
    for name, data in models():
        model = loaded(data)
        if model is None:
            continue
        proto = model.to_proto()
        expected = proto.SerializeToString(deterministic=True)
        for form, parse in (("json", json_format.Parse), ("textproto", text_format.Parse)):
            text = model.to_text(form)
            read = parse(text, onnx.ModelProto())
            assert read.SerializeToString(deterministic=True) == expected, (name, form)
            assert sardonyx.from_text(text, form, check=False) == model, name
        for text, form in (
            (json_format.MessageToJson(proto), "json"),
            (json_format.MessageToJson(proto, preserving_proto_field_name=True), "json"),
            (text_format.MessageToString(proto), "textproto"),
            (text_format.MessageToString(proto, as_one_line=True), "textproto"),
        ):
            assert sardonyx.from_text(text, form, check=False) == model, name
        tried += 1
    assert tried > 80


def plain(proto: onnx.ModelProto) -> bytes:
    """Tensors as raw data, and without fields that are empty texts."""

    def visit(message: object) -> None:
        if isinstance(message, TensorProto):
            string = message.data_type == TensorProto.STRING
            if not string and not message.external_data and not message.HasField("raw_data"):
                array = numpy_helper.to_array(message)
                raw = numpy_helper.from_array(array).raw_data
                for field in ("float_data", "int32_data", "int64_data", "double_data",
                              "uint64_data"):  # fmt: skip
                    message.ClearField(field)
                message.raw_data = raw
        for field, value in list(message.ListFields()):  # type: ignore[attr-defined]
            if field.type == field.TYPE_MESSAGE:
                for one in value if field.is_repeated else [value]:
                    visit(one)
            elif field.type == field.TYPE_STRING and not field.is_repeated and value == "":
                message.ClearField(field.name)  # type: ignore[attr-defined]

    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    visit(copy)
    return copy.SerializeToString(deterministic=True)


def without_what_the_form_lacks(proto: onnx.ModelProto) -> None:
    for node in proto.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
        for attribute in node.attribute:
            attribute.ClearField("doc_string")
            if attribute.HasField("t") and not attribute.t.name.isidentifier():
                attribute.t.ClearField("name")
            if attribute.HasField("g"):
                attribute.g.ClearField("name")


def test_the_text_of_onnx_is_read_by_its_parser() -> None:
    tried, refused = 0, 0
    for name, data in models():
        model = loaded(data)
        if model is None:
            continue
        try:
            text = model.to_text()
        except sardonyx.ModelError:
            refused += 1
            continue
        ours, theirs = model.to_proto(), onnx.parser.parse_model(text)
        if text.startswith("# without"):
            without_what_the_form_lacks(ours)
            without_what_the_form_lacks(theirs)
        assert plain(theirs) == plain(ours), name
        again = sardonyx.from_text(text, check=False)
        assert again.to_text() == text, name
        if not text.startswith("#"):
            assert again == model, name
        tried += 1
    assert tried > 80
    assert refused <= tried // 20


def test_what_the_printer_of_onnx_writes_is_read() -> None:
    tried = 0
    for name, data in models():
        proto = proto_of(data)
        text = onnx.printer.to_text(proto)
        try:
            theirs = onnx.parser.parse_model(text)
            expected = loaded(theirs.SerializeToString())
        except (onnx.parser.ParseError, UnicodeDecodeError):
            continue  # what it writes it does not read, for instance large tensors
        if expected is None:
            continue
        ours = sardonyx.from_text(text, check=False)
        assert ours == expected, name
        tried += 1
    assert tried > 60


def test_all_of_the_grammar() -> None:
    theirs = onnx.parser.parse_model(MODEL)
    ours = proto_of(_core.bytes_of_text(MODEL, "onnxtxt"))
    for node in theirs.graph.node:
        node.domain = node.domain  # it says an empty domain, too
    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1: a name is missing"),
        ("g (float[2] x) => (y) { y = Relu(x", "`)` is missing"),
        ("g (flaot[2] x) => (y) { y = Relu(x) }", "`)` is missing"),
        ("< ir_version: 99999999999999999999 > g () => () {}", "larger than its type"),
        ("< version: 1 > g () => () {}", "there is no key `version`"),
        ('< doc_string: "a > g () => () {}', "a text has no end"),
        ("g () => () {\n y = A <a: tensors = [float {1}]> () }", "line 2"),
        ("g () => () { y = A <a = [1, 2.0]> () }", "elements of one type"),
        ("g () => () { y = A <a = []> () }", "an empty list needs its type"),
        ("g () => () < float[N] w = {1} > {}", "sizes of a tensor are numbers"),
        ("g () => () < float[3] w = {1, 2, ...} > {}", "for display only"),
        ("g () => () < int32 w = {1.5} > {}", "a whole number"),
        ("g () => () < float w = {1e99} > {}", "larger than its type"),
        ("g (" + "optional(" * 100_000, "nested too deep"),
        ("g () => () { y = A <b = " + "g () => () { y = A <b = " * 50_000, "nested too deep"),
    ],
)
def test_wrong_texts_of_onnx(text: str, place: str) -> None:
    with pytest.raises(sardonyx.ModelError) as caught:
        sardonyx.from_text(text)
    assert place in str(caught.value)


# In Python: there, the last one wins, and an empty list is an empty message.
TAKEN_BY_PROTOBUF = ('{"ir_version": 9, "irVersion": 9}', '{"graph": []}')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1: `{` is missing"),
        ('{"ir_version": "9"', "`,` or `}` is missing"),
        ('{"ir_versoin": 9}', "ModelProto has no field `ir_versoin`"),
        ('{"ir_version": 9, "irVersion": 9}', "given twice"),
        ('{"ir_version": 1.5}', "a whole number of 64 bits"),
        ('{"ir_version": 1e400}', "a whole number of 64 bits"),
        ('{"ir_version": 9223372036854775808}', "a whole number of 64 bits"),
        ('{"graph": []}', "`{` is missing"),
        ('{"graph": {"initializer": [{"raw_data": "=a"}]}}', "base64"),
        ('{"producer_name": "\\ud800"}', "surrogate"),
        ('{"producer_name": "\\x41"}', "an escape that JSON does not have"),
        ('{"producer_name": "a\nb"}', "control character"),
        ('{"functions": [{"node": [{"attribute": [{"type": "FLOTA"}]}]}]}', "a name of onnx.proto"),
        ('{"functions": [{"node": [{"attribute": [{"f": 1e39}]}]}]}', "a number that its type"),
        ("{} {}", "there is more"),
        ('{"graph": ' + '{"node": [{"attribute": [{"g": ' * 60_000, "nested too deep"),
    ],
)
def test_wrong_json(text: str, place: str) -> None:
    with pytest.raises(sardonyx.ModelError) as caught:
        sardonyx.from_text(text, "json")
    assert place in str(caught.value)
    if text not in TAKEN_BY_PROTOBUF:
        with pytest.raises((json_format.ParseError, RecursionError)):
            json_format.Parse(text, onnx.ModelProto())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ir_versoin: 9", "line 1, column 1: ModelProto has no field `ir_versoin`"),
        ("ir_version 9", "`:` is missing"),
        ("ir_version: 9 ir_version: 9", "given twice"),
        ("ir_version: 0x8000000000000000", "does not fit the type of `ir_version`"),
        ("ir_version: 9x", "does not fit the type of `ir_version`"),
        ("graph {", "`}` is missing"),
        ("graph: 3", "`{` is missing"),
        ('producer_name: "a', "a text has no end"),
        ('producer_name: "\\777"', "larger than a byte"),
        ('producer_name: "\\377"', "not UTF-8"),
        ('producer_name: "\\q"', "an escape that the text format does not have"),
        ("graph {" + "node { attribute { g {" * 60_000, "nested too deep"),
    ],
)
def test_wrong_textproto(text: str, place: str) -> None:
    with pytest.raises(sardonyx.ModelError) as caught:
        sardonyx.from_text(text, "textproto")
    assert place in str(caught.value)


TEXTPROTO = r"""# a comment
ir_version: 0xA; opset_import < domain: '' "" version: 024 >,
producer_name: "a\x41\101\n\u00e9" 'b' # another
graph: { name: "g" node { op_type: "Op" attribute { name: "f" type: 1 f: -1.5e2f }
  attribute { name: "l" type: FLOATS floats: [1, -inf, nan, .5, 3.] } } }
"""


def test_all_of_the_text_format() -> None:
    theirs = text_format.Parse(TEXTPROTO, onnx.ModelProto())
    ours = proto_of(_core.bytes_of_text(TEXTPROTO, "textproto"))
    assert ours == theirs or ours.SerializeToString() == theirs.SerializeToString()


def small(**attributes: object) -> onnx.ModelProto:
    node = helper.make_node("Op", ["x"], ["y"], domain="d", **attributes)  # type: ignore[arg-type]
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([node], "g", [value], [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("d", 1)])


def test_what_the_form_has_no_words_for() -> None:
    model = sardonyx.load(small(), check=False)
    model.graph.nodes[0].doc = "why"
    model.graph.nodes[0].metadata = {"a": "b"}
    text = model.to_text()
    first = text.splitlines()[0]
    assert "documentation of nodes, metadata of nodes" in first and first.startswith(
        "# left out, because this form cannot express it: "
    )
    assert onnx.parser.parse_model(text).graph.node[0].op_type == "Op"
    assert sardonyx.from_text(model.to_text("json"), "json", check=False).to_bytes() == (
        model.to_bytes()
    )

    tensor = numpy_helper.from_array(np.ones(2, np.float32))
    for proto, word in (
        (small(**{"a-b": 1}), "the attribute"),
        (small(ts=[tensor]), "tensors"),
        (small(s=b"\xff"), "not UTF-8"),
        (small(s="a\0b"), "NUL"),
    ):
        model = sardonyx.load(proto, check=False)
        with pytest.raises(sardonyx.ModelError, match=word):
            model.to_text()
        assert "# cannot be read back" in str(model)
        for form in ("json", "textproto"):
            back = sardonyx.from_text(model.to_text(form), form, check=False)
            assert back == model


def test_print() -> None:
    model = sardonyx.from_text(
        '<ir_version: 10, opset_import: ["": 20]> g (float[N] "x y") => (float[N] y) '
        '<float[2] w = {1, 2}> { y = Add("x y", w) }'
    )
    assert sardonyx.from_text(str(model)) == model
    model.graph["w"].const_value = np.arange(2000, dtype=np.float32)
    shown = str(model)
    assert len(shown) < 400
    assert "# cannot be read back: elements of large tensors" in shown
    with pytest.raises(sardonyx.ModelError, match=r"for display only|number"):
        sardonyx.from_text(shown)
    assert sardonyx.from_text(model.to_text()) == model
    with pytest.raises(ValueError, match="`form` is one of"):
        model.to_text("yaml")


def test_files(tmp_path: pathlib.Path) -> None:
    data = proto_of(sardonyx.load(backend_cases()["test_gemm_all_attributes"][0]).to_bytes())
    model = sardonyx.load(data)
    for ending in (".onnxtxt", ".onnxtext", ".json", ".onnxjson", ".textproto", ".txtpb",
                   ".prototxt", ".pbtxt"):  # fmt: skip
        path = tmp_path / f"model{ending}"
        model.save(path)
        assert sardonyx.load(path) == model
        if ending != ".onnxtext":
            theirs = onnx.load(path, format=None)
            assert sardonyx.load(theirs) == model
        onnx.save(data, path)
        assert sardonyx.load(path) == model
    (tmp_path / "wrong.json").write_text('{"graph": 1}')
    with pytest.raises(sardonyx.ModelError, match=r"wrong.json.*line 1, column 11"):
        sardonyx.load(tmp_path / "wrong.json")


def run(*words: object, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [str(word) for word in (PROGRAM, *words)]
    return subprocess.run(command, capture_output=True, input=data, timeout=60, check=False)


def test_convert(tmp_path: pathlib.Path) -> None:
    model = sardonyx.load(backend_cases()["test_gemm_all_attributes"][0])
    first = tmp_path / "a.onnx"
    model.save(first)
    last = first
    for name in ("b.onnxtxt", "c.json", "d.textproto", "e.onnx"):
        done = run("convert", last, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        last = tmp_path / name
    assert last.read_bytes() == first.read_bytes()
    done = run("convert", first, "--to", "json", "-o", "-")
    assert json_format.Parse(done.stdout.decode(), onnx.ModelProto()) == model.to_proto()
    done = run("convert", "-", "--from", "json", "-o", "-", data=done.stdout)
    assert done.stdout == first.read_bytes()
    done = run("convert", first, "--to", "yaml", "-o", "-")
    assert done.returncode == 2 and b"there is no form `yaml`" in done.stderr
    done = run("decompile", first, "--to", "text")
    assert done.stdout.decode() == model.to_text() == (tmp_path / "b.onnxtxt").read_text()
    assert run("info", tmp_path / "c.json").stdout == run("info", first).stdout
    assert run("check", tmp_path / "d.textproto").returncode == 0
    (tmp_path / "f.py").write_text(
        "from sardonyx import script, opset20 as op\n\n\n"
        "@script()\ndef f(x):\n    return op.Relu(x)\n"
    )
    done = run("build", "--function", tmp_path / "f.py", "-o", tmp_path / "f.json")
    assert done.returncode == 2 and b"a function is written as bytes" in done.stderr


def test_damaged_texts() -> None:
    """Texts with a few characters changed: read, or refused with a place."""
    model = sardonyx.load(backend_cases()["test_gemm_all_attributes"][0])
    texts = {form: model.to_text(form) for form in FORMS}
    texts["onnxtxt"] = MODEL
    drawn = random.Random(7)
    for form, text in texts.items():
        for _ in range(300):
            damaged = list(text)
            for _ in range(drawn.randrange(1, 4)):
                at = drawn.randrange(len(damaged))
                damaged[at : at + drawn.randrange(3)] = drawn.choice(
                    [
                        "",
                        "{",
                        "}",
                        "<",
                        '"',
                        "\\",
                        "9" * 30,
                        "-",
                        "nan",
                        "\0",
                        "é",
                        text[at : at + 9],
                    ]
                )
            try:
                sardonyx.from_text("".join(damaged), form, check=False)
            except sardonyx.ModelError as error:
                assert str(error)
