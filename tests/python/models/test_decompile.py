"""Models as scripts: the text compiles to an isomorphic model with the same results, bit by bit.

`decompile` compares by itself, in C++ (tests/decompile/ has the tests of the comparison). Here the
text is also saved, built by the program and run. The daily run takes each 23rd of the backend cases
of the installed onnx, SDX_FULL=1 all.
"""

from __future__ import annotations

import pathlib
import re
import runpy
import subprocess
import sys
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
import sardonyx
from onnx import TensorProto

from models.corpora import backend_cases
from places import PROGRAM, ROOT
from real_models import MODELS, models_folder
from sampling import SEED, stride

pytestmark = pytest.mark.filterwarnings("ignore")

STRIDE = stride(23)
OFFSET = SEED % STRIDE

# What few others have: optional values, and Scan of opset 8, with lengths before the inputs.
SPECIAL = (
    "test_identity_opt",
    "test_if_opt",
    "test_loop16_seq_none",
    "test_optional_get_element_optional_sequence",
    "test_optional_get_element_optional_tensor",
    "test_optional_has_element_empty_optional_input",
    "test_optional_has_element_optional_input",
    "test_optional_has_element_tensor_input",
    "test_scan_sum",
    "test_sequence_map_extract_shapes",  # a name that items differ in
)


def build(text: str, folder: pathlib.Path) -> bytes:
    """The model that the program makes of a text."""
    source, target = folder / "decompiled.py", folder / "built.onnx"
    source.write_text(text)
    done = subprocess.run(
        [PROGRAM, "build", source, "-o", target], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target.read_bytes()


def same_bits(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_bits, a, b))
    if a is None or b is None:
        return a is b
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    return bool((x == y).all()) if x.dtype.kind in "OSU" else x.tobytes() == y.tobytes()


def results(model: bytes, inputs: list[Any]) -> Any:
    """What a run gives for inputs in order, or the error of it without its place."""
    loaded = sardonyx.Model(model)
    names = [name for name, _ in loaded.inputs]
    try:
        return loaded.run(dict(zip(names, inputs, strict=False)), seed=1)
    except sardonyx.EvalError:
        return "an error"


def check(data: bytes, folder: pathlib.Path, data_sets: list[Any]) -> str:
    text = sardonyx.decompile(data)
    assert text == sardonyx.decompile(data)
    built = build(text, folder)
    build(sardonyx.decompile(built), folder)
    for inputs in data_sets:
        expected, got = results(data, inputs), results(built, inputs)
        assert type(expected) is type(got)
        if isinstance(expected, list):
            assert same_bits(expected, got)
    return text


def test_backend_cases(tmp_path):
    """Every case has a script. Those that SPECIAL names are checked in each run."""
    found = backend_cases()
    names = sorted(found)
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in {*names[OFFSET::STRIDE], *SPECIAL}:
        data, data_sets = found[name]
        text = check(data, tmp_path, data_sets)
        (texts / f"{name.replace('/', '__')}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--check", texts],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


BODIES = {
    "of inputs": "float[3] u) => (bool d, float[3] v, float[3] w)",
    "of a result": "float[] u) => (bool d, float[] v, float[3] w)",
    "with a name": "float[K] u) => (bool d, float[K] v, float[K] w)",
}


@pytest.mark.parametrize("name", BODIES)
def test_sizes_that_bodies_state(name, tmp_path):
    """Where nothing else says them: without iterations, the rows have that type."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (int64 n, float[] x) => (float[] y) {{
            c = Constant <value: tensor = bool {{1}}> ()
            last, y = Loop (n, c, x) <body = b (int64 i, bool cc, {BODIES[name]} {{
                d = Identity (cc)
                v = Relu (u)
                w = Neg (v)
            }}>
        }}""")
    inputs = [np.array(0), np.ones(3, np.float32)]
    text = check(model.SerializeToString(), tmp_path, [inputs, [np.array(2), inputs[1]]])
    assert ("w: FLOAT[3] = -v" if name != "with a name" else "u: FLOAT[None]") in text
    [rows] = sardonyx.load(build(text, tmp_path)).run(dict(zip("nx", inputs, strict=True)))
    assert rows.shape == ((0, 0) if name == "with a name" else (0, 3))


def test_scalars_that_bodies_state(tmp_path):
    """ONNX Runtime refuses a Scan whose results have no rank."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[] x, float[2] s) => (float[] last, float[] rows) {
            last, rows = Scan <num_scan_inputs = 1, body = b (float u, float[] e) =>
                (float v, float[] w) { v = Neg (u)
                w = Sub (v, e) }> (x, s)
        }""")
    x, s = np.array(1, np.float32), np.array([2, 3], np.float32)
    text = check(model.SerializeToString(), tmp_path, [[x, s]])
    options = onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(build(text, tmp_path), options)
    assert session.run(["rows"], {"x": x, "s": s})[0].tolist() == [-3, -2]


def test_sizes_that_bodies_state_wrongly(tmp_path):
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[] s, float[2, 3] x) => (float[] y) {
            last, y = Scan <num_scan_inputs = 1, body = b (float[4] u, float[4] r) =>
                (float[4] v, float[4] w) { v = Identity (u)
                w = Neg (r) }> (s, x)
        }""")
    assert "def body(u, r):" in check(model.SerializeToString(), tmp_path, [])


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("wanted", [[2], [0, 3], [3], [1, 2]])
def test_values_of_loops_that_nobody_reads(tmp_path, asks, wanted):
    """The compiler leaves them out; the rest is as it was, and so are all bytes with --exact."""

    def value(name, kind=1, dims=(2,)):
        return onnx.helper.make_tensor_value_info(name, kind, dims)

    node = onnx.helper.make_node
    nodes = [node("Add", ["n", "k"], ["n2"]), node("Neg", ["n2"], ["d2"]),
             node("Mul", ["n2", "p"], ["q"]), node("ReduceSum", ["n2"], ["s"], keepdims=0),
             node("Less", ["s", "limit"], ["c2"])]  # fmt: skip
    body = onnx.helper.make_graph(
        nodes, "b", [value("i", 7, ()), value("c", 9, ()), *map(value, "ndp")],
        [value("c2", 9, ()), value("n2"), value("d2"), value("p"), value("q")],
    )  # fmt: skip
    loop = node("Loop", ["" if asks else "count", "go", "z", "z", "z"], list("ABCD"), body=body)
    inputs = [value("go", 9, ()), value("z"), value("k"), value("limit", 1, ())]
    inputs.append(value("count", 7, ()))
    outputs = [value("ABCD"[i], 1, None) for i in wanted]
    graph = onnx.helper.make_graph([loop], "g", inputs, outputs)
    opsets = [onnx.helper.make_opsetid("", 15)]
    data = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    feed = {"go": np.array(True), "z": np.ones(2, np.float32), "k": np.full(2, 3, np.float32),
            "limit": np.float32(20), "count": np.array(3)}  # fmt: skip
    check(data, tmp_path, [list(feed.values())])
    model = sardonyx.load(data)
    built = sardonyx.load(build(sardonyx.decompile(model, exact=True), tmp_path))
    assert built.to_bytes() == data and built.is_isomorphic(model)


@pytest.mark.parametrize(("ir_version", "is_for"), [(3, True), (8, False)])
def test_the_condition_of_a_loop_in_old_models(tmp_path, ir_version, is_for):
    """Before IR version 4, an initializer is an input that cannot be given: the loop counts."""
    body = onnx.parser.parse_graph(
        "b (int64 i, bool c, float[2] n) => (bool c, float[2] n2) { n2 = Add(n, n) }"
    )
    graph = onnx.parser.parse_graph(
        "g (int64 count, float[2] x, bool go) => (float[2] y) { y = Loop(count, go, x) }"
    )
    graph.node[0].attribute.append(onnx.helper.make_attribute("body", body))
    graph.initializer.append(onnx.numpy_helper.from_array(np.array(True), "go"))
    opsets = [onnx.helper.make_opsetid("", 8)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
    inputs = [np.array(3), np.ones(2, np.float32), np.array(True)]
    text = check(model.SerializeToString(), tmp_path, [inputs if ir_version > 3 else inputs[:2]])
    assert ("    for i in range(count):\n" in text) == is_for


def test_the_page():
    """The example of docs/decompile.md: a model in onnx's text form, and its script."""
    page = (ROOT / "docs/decompile.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    model = onnx.parser.parse_model(next(text for kind, text in blocks if kind == "onnx"))
    model.graph.node[0].output[0] = model.graph.node[1].input[0] = "h.1"
    assert sardonyx.decompile(model) == next(text for kind, text in blocks if kind == "py")


def test_onnxscript_name():
    model = onnx.parser.parse_model(
        '< ir_version: 10, opset_import: ["" : 20] > g (float[N] x) => (float[N] y) { y = Abs(x) }'
    )
    assert sardonyx.proto2python(model) == sardonyx.decompile(model)


EXAMPLES = {
    path.stem: str(path)
    for path in sorted((ROOT / "examples").glob("*.py"))
    # Several scripts; functions that take any type; programs that need torch.
    if path.stem not in ("loops", "vectors") and not path.stem.startswith("torch_")
} | {name: f"{ROOT}/examples/loops.py:{name}" for name in ("polynomial", "collatz_steps")}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, tmp_path):
    """The model of each example comes back."""
    assert run("build", EXAMPLES[name], "-o", tmp_path / "m.onnx").returncode == 0
    text = check((tmp_path / "m.onnx").read_bytes(), tmp_path, [])
    loops = {"polynomial": "    for iteration in range(n):\n", "collatz_steps": "    while not_1"}
    assert loops.get(name, "") in text


# Runs take seconds, more under sanitizers: of the others, the comparison in C++ says enough.
QUICK = ("silero_vad", "magika", "ocr_classify", "captcha_quantized")


@pytest.mark.parametrize("name", MODELS)
def test_real_models(name, tmp_path):
    """All of them come back."""
    path = models_folder() / MODELS[name].path
    if not path.exists():
        pytest.skip(f"{path.name} is not there: `tools/dev models` fetches it")
    done = run("decompile", path, "-o", tmp_path / "out.py")
    assert done.returncode == 0, done.stderr
    if name == "ocr_recognise":  # 10 MB in Constant nodes, of which only literals are possible here
        with pytest.raises(sardonyx.EvalError, match="write them to a file of their own"):
            sardonyx.decompile(path)
    if name in QUICK or STRIDE == 1:
        assert run("build", tmp_path / "out.py", "-o", tmp_path / "b.onnx").returncode == 0
        first, second = sardonyx.load(path), sardonyx.load(tmp_path / "b.onnx")
        given = MODELS[name].inputs()
        renamed = {old: new for (old, _), (new, _) in zip(first.inputs, second.inputs, strict=True)}
        again = second.run({renamed[key]: value for key, value in given.items()})
        assert same_bits(first.run(given), again)


# --- Hostile models ------------------------------------------------------------------------------

NAMES = [
    "t.1",
    "t_1",
    "t-1",
    "1",
    "class",
    "None",
    "op",
    "np",
    "FLOAT",
    "print",
    "graph",
    "",
    "é",
    "名",
    "a b",
    "a\nimport os",
    '"""',
    "a'b\"c\\",
    "__import__('os')",
    "\u202e",
    "\x00",
    "_",
    "__",
    "x" * 300,
    "/model/layers.0/attention/query/MatMul_output_0",
]


def chain(names: list[str], doc: str = "") -> onnx.ModelProto:
    """y = Abs(...) over values of these names, each of which the result needs."""
    names = [name for name in names if name]
    nodes = [
        onnx.helper.make_node("Abs" if i % 2 else "Neg", [names[i - 1] if i else "in"], [name])
        for i, name in enumerate(names)
    ]
    nodes.append(onnx.helper.make_node("Sum", names, ["out"], name=doc, doc_string=doc))
    values = [onnx.helper.make_tensor_value_info(n, 1, ["N"]) for n in ("in", "out")]
    graph = onnx.helper.make_graph(nodes, doc or "g", values[:1], values[1:], doc_string=doc)
    opsets = [onnx.helper.make_opsetid("", 20)]
    return onnx.helper.make_model(graph, opset_imports=opsets, doc_string=doc, producer_name=doc)


def test_inputs_and_outputs_keep_their_names(tmp_path):
    """Callers say them: builtins that the text does not use, long ones, underscores."""
    long = "encoder_attention_mask_of_the_second_stage_of_all"
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
    main (float[N] input, float[N] _x, float[N] a__b, float[N] {long}, float[N] float_)
        => (float[N] max, float[N] y, float[N] result_) {{
        u = Add(input, a__b)
        max = Mul(u, {long})
        between = Sub(u, float_)
        y = Neg(between)
        result_ = Exp(y)
    }}""")
    between = model.graph.node[2]
    between.output[0] = model.graph.node[3].input[0] = "/y"  # comes before the output `y`
    text = sardonyx.decompile(model)
    assert "other names" not in text
    built = onnx.load_from_string(build(text, tmp_path))
    for side in ("input", "output"):
        names = [one.name for one in getattr(model.graph, side)]
        assert [one.name for one in getattr(built.graph, side)] == names


def test_other_names_of_inputs_and_outputs_are_said():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
    main (float[N] range, float[N] x) => (float[N] y) { y = Add(range, x) }""")
    model.graph.input[1].name = model.graph.node[0].input[1] = 'past.0"\n'
    text = sardonyx.decompile(model)
    assert (
        "# inputs and outputs that have other names here than in the model:\n"
        "#   range_1: range\n"
        '#   past_0: past.0"\\n\n'
    ) in text
    assert 'def main(range_1: FLOAT["N"], past_0: FLOAT["N"])' in text


def test_names_never_fall_together(tmp_path):
    model = chain(NAMES).SerializeToString()
    check(model, tmp_path, [[np.arange(3, dtype=np.float32)]])


@pytest.mark.parametrize("words", [name for name in NAMES if "\x00" not in name])
def test_texts_cannot_break_out(words, tmp_path):
    """The text has the statements of a plain name, whatever the model's own texts are."""
    import ast

    hostile = f'{words}\n"""\nimport os\nos.abort()\n# \r\f\x0bimport os\u2028import os'
    model = chain(["a", "b"], hostile)
    text = check(model.SerializeToString(), tmp_path, [])
    plain = sardonyx.decompile(chain(["a", "b"], "plain"))
    kinds = [[type(node) for node in ast.walk(ast.parse(one))] for one in (text, plain)]
    assert kinds[0] == kinds[1]
    assert text.isascii()
    assert text.isprintable() or all(line.isprintable() for line in text.split("\n"))


def test_strings_are_escaped(tmp_path):
    text = '"""\n\'\\\x00\x1b[2J\u202eé\U0001f600'
    node = onnx.helper.make_node("Own", ["x"], ["y"], domain="own", text=text, texts=[text, ""])
    words = onnx.helper.make_tensor("w", TensorProto.STRING, [2], [text.encode(), b"b"])
    concat = onnx.helper.make_node("StringConcat", ["y", "w"], ["z"])
    graph = onnx.helper.make_graph(
        [node, concat],
        "g",
        [onnx.helper.make_tensor_value_info("x", TensorProto.STRING, [2])],
        [onnx.helper.make_tensor_value_info("z", TensorProto.STRING, [2])],
        [words],
    )
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("own", 3)]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    assert check(model.SerializeToString(), tmp_path, []).isascii()


def odd_nan() -> float:
    """A NaN with other bits than `float("nan")`."""
    return float(np.array(0x7FC00001, np.uint32).view(np.float32))


def raw(kind: int, *words: int, width: str) -> onnx.TensorProto:
    return onnx.helper.make_tensor("c", kind, [len(words)], np.array(words, width).tobytes(), True)


@pytest.mark.parametrize(
    ("tensor", "is_raw"),
    [
        (onnx.numpy_helper.from_array(np.array([[1 + 2j, -0.0]], np.complex64)), True),
        (onnx.numpy_helper.from_array(np.array([3j, 1e300], np.complex128)), True),
        (raw(TensorProto.FLOAT, 0x7FC00001, 0x3F800000, width="<u4"), True),
        (raw(TensorProto.DOUBLE, 0xFFF8000000000002, width="<u8"), True),
        (raw(TensorProto.FLOAT16, 0x7E01, 0x5C22, width="<u2"), True),
        (raw(TensorProto.BFLOAT16, 0xFFC1, width="<u2"), True),
        (raw(TensorProto.FLOAT8E8M0, 0, 127, width="u1"), True),
        (raw(TensorProto.FLOAT8E8M0, 1, 254, 255, width="u1"), False),
        (raw(TensorProto.FLOAT, 0x7FC00000, 0xFFC00000, width="<u4"), False),
        (
            onnx.helper.make_tensor("c", TensorProto.STRING, [2], [b'a\xff\x00"', b"\xc3\xa9"]),
            False,
        ),
    ],
)
def test_bits_that_no_number_gives(tensor, is_raw, tmp_path):
    """Complex numbers, NaN with bits of their own, and text that is not UTF-8."""
    node = onnx.helper.make_node("Constant", [], ["y"], value=tensor)
    output = onnx.helper.make_tensor_value_info("y", tensor.data_type, tensor.dims)
    graph = onnx.helper.make_graph([node], "g", [], [output])
    opsets = [onnx.helper.make_opsetid("", 24)]
    data = onnx.helper.make_model(graph, opset_imports=opsets).SerializeToString()
    text = check(data, tmp_path, [])
    assert ("raw=True" in text) == is_raw
    (tmp_path / "m.py").write_text(text)
    of_python = runpy.run_path(str(tmp_path / "m.py"))["g"].to_model_bytes()
    for made in (build(text, tmp_path), of_python):
        [constant] = onnx.load_from_string(made).graph.node
        got = constant.attribute[0].t
        assert (got.data_type, got.dims) == (tensor.data_type, tensor.dims)
        assert got.string_data == tensor.string_data
        if tensor.raw_data:
            assert got.raw_data == tensor.raw_data


def model_with(functions, nodes, outputs="y", **words):
    """Of `x`, a FLOAT[2], with functions of the domain `my`."""
    ports = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in ("x", *outputs.split())]
    graph = onnx.helper.make_graph(nodes, "g", ports[:1], ports[1:], **words)
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("my", 1)]
    return onnx.helper.make_model(
        graph, functions=functions, opset_imports=opsets, ir_version=10
    ).SerializeToString()


def function_with(nodes, outputs=("r",), **words):
    return onnx.helper.make_function(
        "my", "F", ["a"], list(outputs), nodes, [onnx.helper.make_opsetid("", 20)], **words
    )


def test_tensors_as_attributes_of_functions(tmp_path):
    """Required and with a default, as arguments and where the default stays."""
    node, array = onnx.helper.make_node, onnx.numpy_helper.from_array
    constant = node("Constant", [], ["k"])
    constant.attribute.add(name="value", type=onnx.AttributeProto.TENSOR, ref_attr_name="k")
    body = [constant, node("Add", ["a", "k"], ["r"])]
    first, second = (array(np.array(one, np.float32)) for one in ([1, 2], [[10, 20]]))
    default = onnx.helper.make_attribute("k", first)
    x = np.zeros(2, np.float32)
    given = node("F", ["x"], ["y"], domain="my", k=second)
    left = node("F", ["x"], ["z"], domain="my")
    text = check(model_with([function_with(body, attributes=["k"])], [given]), tmp_path, [[x]])
    assert "k: TensorProto" in text
    function = function_with(body, attribute_protos=[default])
    data = model_with([function], [given, left], "y z")
    check(data, tmp_path, [[x]])
    (tmp_path / "m.py").write_text(sardonyx.decompile(data))
    y, z = runpy.run_path(str(tmp_path / "m.py"))["g"](x)
    np.testing.assert_array_equal(y, [[10, 20]])
    np.testing.assert_array_equal(z, [1, 2])


def test_sparse_constants_are_dense(tmp_path):
    array = onnx.numpy_helper.from_array
    sparse = onnx.helper.make_sparse_tensor(
        array(np.array([7], np.float32)), array(np.array([1])), [2]
    )
    constant = onnx.helper.make_node("Constant", [], ["k"], sparse_value=sparse)
    body = [constant, onnx.helper.make_node("Add", ["a", "k"], ["r"])]
    call = onnx.helper.make_node("F", ["x"], ["y"], domain="my")
    x = np.zeros(2, np.float32)
    assert "7.0" in check(model_with([function_with(body)], [call]), tmp_path, [[x]])


def test_results_of_functions_that_nobody_wants(tmp_path):
    node = onnx.helper.make_node
    function = function_with([node("Neg", ["a"], ["r"]), node("Exp", ["a"], ["s"])], ["r", "s"])
    x = np.ones(2, np.float32)
    for outputs in (["y", ""], ["y"], ["", "y"]):
        call = node("F", ["x"], outputs, domain="my")
        check(model_with([function], [call]), tmp_path, [[x]])


def test_the_other_name_of_the_standard(tmp_path):
    """`ai.onnx` where models say ""; it ended the program."""
    model = onnx.load_from_string(model_with([], [onnx.helper.make_node("Neg", ["x"], ["y"])]))
    model.opset_import[0].domain = "ai.onnx"
    assert "opset20" in check(model.SerializeToString(), tmp_path, [[np.ones(2, np.float32)]])


def test_text_that_is_not_utf8_in_attributes(tmp_path):
    node = onnx.helper.make_node("Constant", [], ["y"], value_strings=[b"a\xff", b"b"])
    output = onnx.helper.make_tensor_value_info("y", TensorProto.STRING, [2])
    graph = onnx.helper.make_graph([node], "g", [], [output])
    opsets = [onnx.helper.make_opsetid("", 20)]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    assert 'value_strings=[b"a\\xff", "b"]' in check(model.SerializeToString(), tmp_path, [])


def test_calls_that_leave_something_out_are_inlined(tmp_path):
    """An input, or an attribute that has no default; also in a function that another one calls."""
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("own", 1)]
    node = onnx.helper.make_node
    elu = node("Elu", ["q"], ["r"])
    elu.attribute.add(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT)
    body = [node("Clip", ["a", "b", "c"], ["q"]), elu]
    make = onnx.helper.make_function
    functions = [
        make("own", "F", ["a", "b", "c"], ["r", "a"], body, opsets[:1], ["alpha"]),
        make("own", "G", ["a"], ["r"], [node("F", ["a"], ["r"], domain="own")], opsets),
    ]
    values = [onnx.helper.make_tensor_value_info(n, 1, [2]) for n in "xyz"]
    least = onnx.numpy_helper.from_array(np.array(-2, np.float32), "m")
    x = np.array([-3, 4], np.float32)
    for call in (
        node("F", ["x"], ["y"], domain="own", alpha=0.5),
        node("F", ["x", "", "m"], ["y", "z"], domain="own", alpha=0.5),
        node("F", ["x", "m"], ["y", "z"], domain="own"),
        node("G", ["x"], ["y"], domain="own"),
    ):
        outputs = [value for value in values[1:] if value.name in call.output]
        graph = onnx.helper.make_graph([call], "g", values[:1], outputs, [least])
        model = onnx.helper.make_model(graph, opset_imports=opsets, functions=functions)
        assert "op.Clip(" in check(model.SerializeToString(), tmp_path, [[x]])
        described = sardonyx.load(model).info()
        assert [one["name"] for one in described["inputs"]] == ["x"]


def test_long_chains_of_calls_are_refused():
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("my", 1)]
    calls = [onnx.helper.make_node(f"F{i + 1}", ["a"], ["r"], domain="my") for i in range(25000)]
    functions = [
        onnx.helper.make_function("my", f"F{i}", ["a"], ["r"], [call], opsets)
        for i, call in enumerate([*calls, onnx.helper.make_node("Neg", ["a"], ["r"])])
    ]
    call = onnx.helper.make_node("F0", ["x"], ["y"], domain="my")
    with pytest.raises(sardonyx.EvalError, match="calls itself"):
        sardonyx.decompile(model_with(functions, [call]))


def test_attributes_that_a_function_does_not_read(tmp_path):
    neg = onnx.helper.make_node("Neg", ["a"], ["r"])
    opsets = [onnx.helper.make_opsetid("", 20)]
    function = onnx.helper.make_function("my", "F", ["a"], ["r"], [neg], opsets, ["k"])
    for value, word in ((0.5, "k: float"), ([1, 2], "k: Sequence[int]"), ("a", "k: str")):
        call = onnx.helper.make_node("F", ["x"], ["y"], domain="my", k=value)
        assert word in check(model_with([function], [call]), tmp_path, [[np.ones(2, np.float32)]])


def test_a_function_in_the_domain_of_the_standard_is_refused():
    opsets = [onnx.helper.make_opsetid("", 20)]
    neg = onnx.helper.make_node("Neg", ["a"], ["r"])
    function = onnx.helper.make_function("", "Negated", ["a"], ["r"], [neg], opsets)
    values = [onnx.helper.make_tensor_value_info(n, 1, [2]) for n in "xy"]
    node = onnx.helper.make_node("Negated", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "g", values[:1], values[1:])
    model = onnx.helper.make_model(graph, opset_imports=opsets, functions=[function])
    with pytest.raises(sardonyx.EvalError, match=r"function in the domain of ai\.onnx of the node"):
        sardonyx.decompile(model)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: setattr(m.graph.node[0], "op_type", "a-b"), "the operator's name"),
        (lambda m: setattr(m.graph.node[0], "op_type", "class"), "the operator's name"),
        (lambda m: setattr(m.graph.node[0], "op_type", "f(); g"), "the operator's name"),
        (lambda m: m.graph.node[0].attribute[0].__setattr__("name", "a=1, b"), "the attribute"),
        (
            lambda m: (
                m.graph.node[0]
                .attribute[0]
                .CopyFrom(
                    onnx.AttributeProto(name="text", type=onnx.AttributeProto.FLOAT, f=odd_nan())
                )
            ),
            "the attribute",
        ),
        (lambda m: m.graph.input[0].type.Clear(), "the type"),
    ],
)
def test_what_python_cannot_say_is_refused(change, words):
    node = onnx.helper.make_node("Own", ["x"], ["y"], domain="own", text="a")
    values = [onnx.helper.make_tensor_value_info(n, 1, [2]) for n in "xy"]
    graph = onnx.helper.make_graph([node], "g", values[:1], values[1:])
    opsets = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("own", 3)]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    assert "own.Own(x" in sardonyx.decompile(model)
    change(model)
    with pytest.raises(sardonyx.EvalError, match=words):
        sardonyx.decompile(model)


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf's wire format, whose own library stops at a depth of 100."""
    size, rest = b"", len(content)
    while rest > 127:
        size, rest = size + bytes([rest & 127 | 128]), rest >> 7
    return bytes([number << 3 | 2]) + size + bytes([rest]) + content


def nested(depth: int) -> bytes:
    """A model of subgraphs in subgraphs."""
    model = chain(["a"])
    node = model.graph.node[0].SerializeToString()
    for _ in range(depth):
        subgraph = field(1, node) + field(2, b"g") + field(12, field(1, b"a"))
        body = field(1, b"body") + field(6, subgraph) + b"\xa0\x01\x05"
        node = field(2, b"a") + field(4, b"Own") + field(7, b"own") + field(5, body)
    del model.graph.node[0]
    model.opset_import.append(onnx.helper.make_opsetid("own", 1))
    values = [*model.graph.input, *model.graph.output]
    graph = field(1, node) + b"".join(field(1, n.SerializeToString()) for n in model.graph.node)
    graph += field(2, b"g") + field(11, values[0].SerializeToString())
    graph += field(12, values[1].SerializeToString())
    model.ClearField("graph")
    return model.SerializeToString() + field(7, graph)


def test_deep_subgraphs_are_refused(tmp_path):
    check(nested(20), tmp_path, [])
    for depth in (60, 200):
        with pytest.raises(sardonyx.EvalError, match="nested more than"):
            sardonyx.decompile(nested(depth))
    with pytest.raises(sardonyx.EvalError):
        sardonyx.decompile(nested(5000))


def test_wide_models_take_time_in_proportion():
    """Many inputs of one node, functions, constants and tensors of one name."""
    many = 3000
    values = [onnx.helper.make_tensor_value_info(n, 1, ["N"]) for n in ("x", "y")]
    local = [onnx.helper.make_opsetid("", 20)]
    functions = [
        onnx.helper.make_function(
            "local", f"f{i}", ["a"], ["b"], [onnx.helper.make_node("Abs", ["a"], ["b"])], local
        )
        for i in range(many)
    ]
    calls = [onnx.helper.make_node(f"f{i}", ["x"], [f"v.{i}"], domain="local") for i in range(many)]
    constants = [
        onnx.helper.make_node(
            "Constant", [], [f"v_{i}"], value=onnx.helper.make_tensor("v", 1, [1], [float(i)])
        )
        for i in range(many)
    ]
    names = [f"v.{i}" for i in range(many)] + [f"v_{i}" for i in range(many)]
    total = onnx.helper.make_node("Sum", names, ["y"])
    graph = onnx.helper.make_graph([*calls, *constants, total], "g", values[:1], values[1:])
    opsets = [*local, onnx.helper.make_opsetid("local", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, functions=functions)
    text = sardonyx.decompile(model)
    assert text.count("def f") == many


# --- Weights and the program ---------------------------------------------------------------------


def with_weights() -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    arrays = {
        "layer.0.weight": rng.normal(size=(8, 8)).astype(np.float32),
        "odd 'name\"\n": rng.normal(size=(8, 8)).astype(np.float16),
        "half": np.full(20, 0.5, ml_dtypes.bfloat16),
        "bias": np.array([np.nan, np.inf, -np.inf, -0.0] * 2, np.float32),
    }
    tensors = [onnx.numpy_helper.from_array(value, name) for name, value in arrays.items()]
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "layer.0.weight"], ["a"]),
        onnx.helper.make_node("Add", ["a", "bias"], ["b"]),
        onnx.helper.make_node("Cast", ["b"], ["c"], to=TensorProto.FLOAT16),
        onnx.helper.make_node("MatMul", ["c", "odd 'name\"\n"], ["d"]),
        onnx.helper.make_node("Identity", ["half"], ["e"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "weighted",
        [onnx.helper.make_tensor_value_info("x", 1, ["N", 8])],
        [
            onnx.helper.make_tensor_value_info("d", TensorProto.FLOAT16, ["N", 8]),
            onnx.helper.make_tensor_value_info("e", TensorProto.BFLOAT16, [20]),
        ],
        tensors,
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])


def run(*words: Any, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_the_program_writes_weights_beside(tmp_path):
    data = with_weights().SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    done = run("decompile", "m.onnx", "-o", "out.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "out.py: script `weighted`, weights in out.safetensors\n"
    text = (tmp_path / "out.py").read_text()
    assert 'x @ weights["layer.0.weight"]' in text
    assert 'load_weights("out.safetensors")' in text
    (tmp_path / "m.onnx").unlink()
    assert run("build", "out.py", "-o", "b.onnx", cwd=tmp_path).returncode == 0
    inputs = [np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)]
    expected = results(data, inputs)
    assert isinstance(expected, list)
    assert same_bits(expected, results((tmp_path / "b.onnx").read_bytes(), inputs))


def test_standard_output_refers_to_the_model(tmp_path):
    data = with_weights().SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    done = run("decompile", "m.onnx", cwd=tmp_path)
    assert 'load_weights("m.onnx")' in done.stdout
    assert run("decompile", "m.onnx", "-o", "-", cwd=tmp_path).stdout == done.stdout
    (tmp_path / "out.py").write_text(done.stdout)
    assert run("build", "out.py", "-o", "b.onnx", cwd=tmp_path).returncode == 0
    inputs = [np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)]
    built = (tmp_path / "b.onnx").read_bytes()
    assert same_bits(results(data, inputs), results(built, inputs))


def test_a_pipe_has_no_file_to_refer_to(tmp_path):
    data = with_weights().SerializeToString()
    done = subprocess.run([PROGRAM, "decompile", "-"], input=data, capture_output=True, check=True)
    text = done.stdout.decode()
    assert "load_weights" not in text
    assert text == sardonyx.decompile(data)
    inputs = [np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)]
    assert same_bits(results(data, inputs), results(build(text, tmp_path), inputs))


def test_python_writes_weights_where_it_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = with_weights().SerializeToString()
    text = sardonyx.decompile(data, weights="w.safetensors")
    assert 'load_weights("w.safetensors")' in text
    assert set(sardonyx.load_weights(tmp_path / "w.safetensors")) == {
        "layer.0.weight",
        "odd 'name\"\n",
        "half",
    }
    built = build(text, tmp_path)
    inputs = [np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)]
    assert same_bits(results(data, inputs), results(built, inputs))
    assert "load_weights" not in sardonyx.decompile(data)


def test_the_program_refuses(tmp_path):
    (tmp_path / "m.onnx").write_bytes(chain(["a"]).SerializeToString())
    (tmp_path / "text.onnx").write_text("not a model\n")
    (tmp_path / "cut.onnx").write_bytes(chain(["a"]).SerializeToString()[:-9])
    maps = chain(["a"])
    kind = maps.graph.input[0].type.map_type
    kind.key_type = kind.value_type.tensor_type.elem_type = TensorProto.INT64
    (tmp_path / "map.onnx").write_bytes(maps.SerializeToString())
    kind.value_type.tensor_type.elem_type = TensorProto.UNDEFINED
    (tmp_path / "untyped.onnx").write_bytes(maps.SerializeToString())
    rows = [
        (["decompile", "missing.onnx"], 1, "cannot be opened|No such file|missing.onnx"),
        (["decompile", "."], 1, "."),
        (["decompile", "text.onnx"], 1, "text.onnx"),
        (["decompile", "cut.onnx"], 1, "cut.onnx"),
        (["decompile", "untyped.onnx", "-o", "map.py"], 1, "cannot express the type Map"),
        (["decompile", "map.onnx", "-o", "map.py"], 1, "which the operator does not take"),
        (["decompile", "m.onnx", "-o", "m.onnx"], 2, "overwrite the model"),
        (["decompile", "script.py"], 2, "reads a model, not a script"),
        (["decompile", "m.onnx", "-o", "missing/m.py"], 1, "missing"),
        (["decompile"], 2, "missing argument: MODEL.onnx"),
        (["decompile", "m.onnx", "--exakt"], 2, "no option"),
    ]
    for words, status, pattern in rows:
        done = run(*words, cwd=tmp_path)
        assert done.returncode == status, words
        assert done.stdout == ""
        assert re.search(pattern, done.stderr), done.stderr
    assert not (tmp_path / "opt.py").exists()
    assert run("decompile", "--help").returncode == 0


def test_python_compiles_the_text_too(tmp_path, monkeypatch):
    """Imported by Python, the script is the same model."""
    monkeypatch.chdir(tmp_path)
    data = with_weights().SerializeToString()
    (tmp_path / "imported_by_python.py").write_text(
        sardonyx.decompile(data, weights="w.safetensors")
    )
    monkeypatch.syspath_prepend(tmp_path)
    import imported_by_python

    model = imported_by_python.weighted.to_model_proto().SerializeToString()
    inputs = [np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)]
    assert same_bits(results(data, inputs), results(model, inputs))


def test_scalars_in_a_sequence(tmp_path: pathlib.Path) -> None:
    """In `Sequence[FLOAT]` an item has any shape."""
    s = onnx.helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [])
    y = onnx.helper.make_tensor_value_info("y", TensorProto.FLOAT, [])
    nodes = [
        onnx.helper.make_node("Constant", [], ["i"], value_int=0),
        onnx.helper.make_node("SequenceAt", ["s", "i"], ["y"]),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [s], [y])
    opsets = [onnx.helper.make_opsetid("", 18)]
    text = sardonyx.decompile(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8))
    assert "Sequence[FLOAT[()]]" in text
    built = onnx.load_from_string(build(text, tmp_path))
    assert built.graph.input[0].type == s.type


def test_types_of_functions_are_not_imported(tmp_path):
    """No annotation says them: the import would be one that nobody uses."""
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        g (float[2] x) => (float[2] y) { q, y = local.f (x) }
        <domain: "local", opset_import: ["" : 18]>
        f (v) => (q, r) {
            s = Constant <value_float = 1.0> ()
            q = QuantizeLinear (v, s)
            r = Neg (v)
        }""")
    built = sardonyx.compile(sardonyx.decompile(model.SerializeToString()))
    assert built.functions[0].body["q"].type.element_type == "UINT8"
    text = check(built.to_bytes(), tmp_path, [[np.ones(2, np.float32)]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sardonyx.compile(text)


def test_an_input_that_nothing_reads_keeps_its_default(tmp_path):
    """Callers may leave it out."""
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18]>
        g (bool c, float x, float w) => (float y) <float w = {2}> {
            y, z = If (c) <
                then_branch: graph = t () => (float p, float q) { p = Neg (x) q = Abs (x) },
                else_branch: graph = e () => (float p, float q) { p = Abs (x) q = Neg (x) }
            >
        }""")
    given = [np.array(True), np.array(3, np.float32)]
    text = check(model.SerializeToString(), tmp_path, [given, [*given, np.array(5, np.float32)]])
    assert "w: FLOAT = " in text
    sardonyx.decompile(model, exact=True)


def test_what_only_unused_nodes_of_a_body_read(tmp_path):
    """The node in the body is not needed, so neither is the sequence, nor the first result."""
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18]>
        g (bool c, float[2] x) => (float[2] y, float[2] k) {
            u, y = If (c) <
                then_branch: graph = t () => (float[2] a, float[2] b) {
                    a = Neg (x)
                    b = Identity (a)
                },
                else_branch: graph = e () => (float[2] a, float[2] b) {
                    a = Abs (x)
                    b = Identity (a)
                }
            >
            e = SequenceEmpty <dtype = 1> ()
            s = SequenceInsert (e, u)
            k = Scan <num_scan_inputs = 1, body: graph = b (float p) => (float q) {
                q = Neg (p)
                n = SequenceInsert (s, y)
            }> (x)
        }""")
    given = [np.array(True), np.array([3, 4], np.float32)]
    check(model.SerializeToString(), tmp_path, [given])
