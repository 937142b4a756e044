"""`decompile --exact`: what a script has no place for comes back, to the last byte.

The models are those of the onnx backend tests, each 19th or, with SDX_FULL=1, all.
"""

from __future__ import annotations

import pathlib

import numpy as np
import onnx
import onnx.parser
import pytest
import sardonyx
from onnx import numpy_helper

from models.corpora import backend_cases
from program import run
from sampling import stride

pytestmark = pytest.mark.filterwarnings("ignore")

STRIDE = stride(19)
MODEL = """\
< ir_version: 10, opset_import: ["" : 20, "local" : 1, "ai.onnx.ml" : 4], producer_name: "me",
  doc_string: "ends a string: ''' and a line", metadata_props: ["classes" : "cat\\"dog"] >
"my graph" (float[N,4] "x.1", float[4,4] x_1, bool flag) => (float[N,4] "a/b:0")
< float[4,40] w = {WEIGHTS}, float[40,4] dead_weights = {WEIGHTS}, float[N,4] h >
{
    [last] h = MatMul("x.1", x_1)
    dead = Identity(dead_weights)
    [first] t = local.scaled <k: float = 2.0> (h)
    wide = MatMul(t, w)
    back = Transpose(w)
    narrow = MatMul(wide, back)
    "a/b:0" = If (flag) <
        then_branch: graph = g () => (a) { a = Mul(narrow, h) },
        else_branch: graph = g2 () => (b) { b = Elu <alpha = 0.1> (narrow) }
    >
}
< domain: "local", opset_import: ["" : 20], doc_string: "scales" >
scaled <k> (v) => (r) { c = Constant <value_float: float = @k> () r = Mul(v, c) }
< domain: "local", opset_import: ["" : 20] >
unused (v) => (r) { r = Neg(v) }
"""


def rich() -> onnx.ModelProto:
    numbers = ", ".join(str(i / 7) for i in range(160))
    proto = onnx.parser.parse_model(MODEL.replace("WEIGHTS", numbers))
    for node in proto.graph.node:
        node.doc_string = f"what {node.op_type} does"
        node.metadata_props.add(key="source", value=f'"{node.op_type}" """ # \n')
    for value in (proto.graph.input[0], proto.graph.output[0], proto.graph.value_info[0]):
        value.doc_string = "a value"
    proto.graph.doc_string = "the graph"
    proto.functions[0].metadata_props.add(key="a", value="b")
    return proto


def built(text: str, folder: pathlib.Path, status: int = 0) -> tuple[bytes, str]:
    (folder / "text.py").write_text(text)
    done = run("build", folder / "text.py", "-o", folder / "built.onnx", status=status)
    return (folder / "built.onnx").read_bytes() if status == 0 else b"", done.stderr


def test_all_words_come_back(tmp_path: pathlib.Path) -> None:
    model = sardonyx.load(rich())
    text = sardonyx.decompile(model, exact=True)
    data, _ = built(text, tmp_path)
    assert data == model.to_bytes()
    before = onnx.ModelProto.FromString(data)
    assert [node.name for node in before.graph.node][:3] == ["last", "", "first"]
    assert before.graph.node[0].doc_string == "what MatMul does"
    assert "the graph" not in text.split("__exact__")[0]

    # Through files, with weights beside the script and external data beside the model.
    model.save(tmp_path / "model.onnx", external_bytes=100)
    first = sardonyx.load(tmp_path / "model.onnx").to_bytes()
    run("decompile", tmp_path / "model.onnx", "--exact", "-o", tmp_path / "script.py")
    run("build", tmp_path / "script.py", "-o", tmp_path / "again.onnx")
    assert sardonyx.load(tmp_path / "again.onnx").to_bytes() == first
    # Large tensors stand in the script's weights, and not in the table.
    table = (tmp_path / "script.py").read_text().partition("__exact__")[2]
    kept = numpy_helper.to_array(rich().graph.initializer[0]).nbytes
    assert len(table) < len(text) + kept


def test_node_cases_come_back(tmp_path: pathlib.Path) -> None:
    tried = 0
    for index, (name, (data, _)) in enumerate(sorted(backend_cases().items())):
        if index % STRIDE != 0:
            continue
        try:
            model = sardonyx.load(data, check=False)
            sardonyx.decompile(model)
        except sardonyx.EvalError:
            continue
        text = sardonyx.decompile(model, exact=True)  # which compares the bytes
        tried += 1
        assert model.to_bytes() == data, name
        if index % (8 * STRIDE) == 0:
            assert built(text, tmp_path)[0] == model.to_bytes(), name
    assert tried > 80


def test_an_edited_script_keeps_what_it_can(tmp_path: pathlib.Path) -> None:
    model = sardonyx.load(rich())
    text = sardonyx.decompile(model, exact=True)
    assert "op.Elu(" in text
    data, _ = built(text.replace("op.Elu(", "op.Selu("), tmp_path)
    proto = onnx.ModelProto.FromString(data)
    assert proto.producer_name == "me" and proto.doc_string == rich().doc_string
    docs = [node.doc_string for node in proto.graph.node]
    assert "what MatMul does" in docs and "what Transpose does" in docs
    assert [value.name for value in proto.graph.input] == ["x.1", "x_1", "flag"]
    onnx.checker.check_model(proto)
    x = np.ones((2, 4), np.float32)
    feed = {"x.1": x, "x_1": x[:1].repeat(4, 0), "flag": np.array(True)}
    np.testing.assert_array_equal(sardonyx.load(data).run(feed)[0], model.run(feed)[0])


def test_wrong_tables(tmp_path: pathlib.Path) -> None:
    text = sardonyx.decompile(sardonyx.load(rich()), exact=True)
    script, _, table = text.partition("__exact__ = ")
    name = table.split('"')[1]
    for words, reason in (("a!", "not base64"), ("AAAA", "damaged"), ("", "ir_version")):
        _, error = built(f'{script}__exact__ = {{"{name}": "{words}"}}\n', tmp_path, status=2)
        assert "is not what `decompile --exact` has written" in error and reason in error
    # A name of one's own that is no such table is one's own.
    for own in ("3", "{}", '{"other": "a!"}', "{1: 2}"):
        assert built(f"{script}__exact__ = {own}\n", tmp_path)[0]
    # Words of another model: those of its own results stay.
    other = sardonyx.decompile(sardonyx.load(backend_cases()["test_relu"][0]), exact=True)
    words = other.partition("__exact__ = ")[2].replace("test_relu", name)
    data, _ = built(f"{script}__exact__ = {words}", tmp_path)
    onnx.checker.check_model(onnx.ModelProto.FromString(data))


def test_usage() -> None:
    with pytest.raises(ValueError, match="outline"):
        sardonyx.decompile(rich(), outline=True, exact=True)
    done = run("decompile", "x.onnx", "--exact", "--outline", status=2)
    assert "`--outline` makes another model" in done.stderr
    done = run("decompile", "x.onnx", "--exact", "--to", "text", status=2)
    assert "are for scripts" in done.stderr
