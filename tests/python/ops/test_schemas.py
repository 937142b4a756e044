"""Operators of other domains, described by schema files: the same checks as for the standard's."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnx.helper
import onnxruntime
import pytest

from places import PROGRAM, ROOT

SHIPPED = ROOT / "python/sardonyx/schemas/com.microsoft.toml"

sys.path.insert(0, str(ROOT / "tools"))

SCHEMAS = """\
domain = "my.ops"

[[operator]]
name = "Pool"
since = 2
inputs = [
  { name = "X", type = "T" },
  { name = "scale", type = "FLOAT", optional = true },
  { name = "rest", type = "T", variadic = true, minimum = 0 },
]
outputs = [{ name = "Y", type = "T", like = "X" }, { name = "I", type = "INT64" }]
[operator.types]
T = ["FLOAT", "FLOAT16"]
[operator.attributes]
axis = { type = "int", default = -1 }
kernel = { type = "ints", required = true }
mode = { type = "string", default = "max", values = ["max", "mean"] }

[[operator]]
name = "Pool"
since = 4
inputs = [{ name = "X", type = "any" }]
outputs = [{ name = "Y", type = "any" }]

[[operator]]
name = "Items"
inputs = [{ name = "X", type = "Sequence[FLOAT]" }]
outputs = [{ name = "Y", type = "Optional[FLOAT]" }]
"""

SCRIPT = """\
from sardonyx import FLOAT, FLOAT16, INT64, opset21 as op, script
from sardonyx.values import Opset

mine = Opset("my.ops", {version})


@script()
def f(X: FLOAT["N", 3], H: FLOAT16["N"], K: INT64["N"]){result}:
    {body}
"""


@pytest.fixture
def schemas(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "my_ops.toml"
    path.write_text(SCHEMAS)
    return path


def check(
    tmp_path: pathlib.Path, *schemas: pathlib.Path, body: str, version: int = 2, result: str = ""
) -> list[tuple[str, str, str]]:
    """(code, the text that is marked, help) of each finding."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(body=body, version=version, result=result))
    words = [word for path in schemas for word in ("--schemas", path)]
    done = subprocess.run(
        [PROGRAM, "check", "--json", "--ignore", "unused-import", *words, script],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode in (0, 1), done.stderr
    text = script.read_bytes()
    found = []
    for one in json.loads(done.stdout):
        marked = ""
        if one["file"] == str(script):
            at = one["range"]
            marked = text[at["start"]["offset"] : at["end"]["offset"]].decode()
        found.append((one["code"], marked, one["help"] or ""))
    return found


CALLS = {
    "fine": ("y, i = mine.Pool(X, kernel=[2])\n    return y, i", None, "", ""),
    "operator": ("return mine.Pol(X)", "unknown-operator", "Pol", "did you mean `Pool`?"),
    "attribute": (
        "y, i = mine.Pool(X, kernel=[2], axes=1)\n    return y, i",
        "unknown-attribute",
        "axes",
        "did you mean `axis`?",
    ),
    "attribute type": (
        "y, i = mine.Pool(X, kernel=[2], axis='a')\n    return y, i",
        "attribute-type",
        "'a'",
        "give an int",
    ),
    "missing attribute": (
        "y, i = mine.Pool(X)\n    return y, i",
        "missing-attribute",
        "mine.Pool(X)",
        "give `kernel=...`",
    ),
    "enumeration": (
        "y, i = mine.Pool(X, kernel=[2], mode='maxx')\n    return y, i",
        "illegal-enumeration",
        "'maxx'",
        "did you mean `max`?",
    ),
    "too few": ("return mine.Items()", "too-few-inputs", "mine.Items()", "give `X`"),
    "too many": ("return mine.Items([X], X)", "too-many-inputs", "X", "remove the rest"),
    "results": ("return mine.Items([X])", None, "", ""),
    "type": (
        "y, i = mine.Pool(K, kernel=[2])\n    return y, i",
        "unsupported-type",
        "K",
        "it takes FLOAT, FLOAT16",
    ),
    "type variable": (
        "y, i = mine.Pool(X, None, H, kernel=[2])\n    return y, i",
        "type-mismatch",
        "H",
        "convert one of them",
    ),
    "unpacked": ("a, b, c = mine.Pool(X, kernel=[2])\n    return a", "result-count", "", "unpack"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, tmp_path: pathlib.Path, schemas: pathlib.Path) -> None:
    body, code, marked, help_text = CALLS[name]
    found = check(tmp_path, schemas, body=body)
    if code is None:
        assert found == []
        return
    ((found_code, found_text, found_help),) = found
    assert found_code == code and help_text in found_help
    assert not marked or found_text == marked


def test_without_a_schema_anything_goes(tmp_path: pathlib.Path) -> None:
    assert check(tmp_path, body="return mine.Pol(X, X, X, axes=1)") == []


def test_versions(tmp_path: pathlib.Path, schemas: pathlib.Path) -> None:
    (found,) = check(tmp_path, schemas, body="return mine.Pool(X)", version=1)
    assert found[0] == "operator-not-in-opset" and "opset 2" in found[2]
    assert check(tmp_path, schemas, body="return mine.Pool(K)", version=4) == []
    assert check(tmp_path, schemas, body="return mine.Pool(K)", version=9) == []


def test_types_and_shapes_are_inferred(tmp_path: pathlib.Path, schemas: pathlib.Path) -> None:
    body = "y, i = mine.Pool(X, kernel=[2])\n    return y"
    (found,) = check(tmp_path, schemas, body=body, result=' -> FLOAT["N", 4]')
    assert found[0] == "return-type-mismatch"
    assert check(tmp_path, schemas, body=body, result=' -> FLOAT["N", 3]') == []
    (found,) = check(tmp_path, schemas, body=body, result=' -> INT64["N", 3]')
    assert found[0] == "return-type-mismatch"


HEAD = 'domain = "a"\n[[operator]]\nname = "A"\n'
WRONG = {
    "no toml": ("domain = ", "not valid TOML", ""),
    "key": ('[[operators]]\nname = "A"', "no key `operators`", "did you mean `operator`?"),
    "key of an operator": (
        'domain = "a"\n[[operator]]\nname = "A"\ninput = []',
        "no key `input`",
        "did you mean `inputs`?",
    ),
    "no name": ('domain = "a"\n[[operator]]\nsince = 1', "without a name", "name ="),
    "no domain": ('[[operator]]\nname = "A"', "no domain", "domain ="),
    "type": (
        'domain = "a"\n[[operator]]\nname = "A"\ninputs = [{ name = "X", type = "FLAOT" }]',
        "`FLAOT` is not a type",
        "did you mean `FLOAT`?",
    ),
    "no type": (
        'domain = "a"\n[[operator]]\nname = "A"\ninputs = [{ name = "X" }]',
        "without a type",
        "type =",
    ),
    "like": (
        (
            'domain = "a"\n[[operator]]\nname = "A"\ninputs = [{ name = "data", type = "FLOAT" }]\n'
            'outputs = [{ name = "Y", type = "FLOAT", like = "dat" }]'
        ),
        "no input `dat`",
        "did you mean `data`?",
    ),
    "attribute type": (
        'domain = "a"\n[[operator]]\nname = "A"\nattributes = { a = { type = "flaot" } }',
        "not a type of an attribute",
        "did you mean `float`?",
    ),
    "default": (
        HEAD + 'attributes = { a = { type = "int", default = 1.5 } }',
        "not of the type int",
        "",
    ),
    "values": (
        HEAD + 'attributes = { a = { type = "int", values = [1] } }',
        "not a list of strings",
        "",
    ),
    "twice": (
        'domain = "a"\n[[operator]]\nname = "A"\n[[operator]]\nname = "A"',
        "known already",
        "since",
    ),
    "of the standard": (
        'domain = "ai.onnx.ml"\n[[operator]]\nname = "Scaler"',
        "known already",
        "",
    ),
    "variadic": (
        (
            'domain = "a"\n[[operator]]\nname = "A"\n'
            'inputs = [{ name = "X", type = "any", variadic = true }, { name = "Y", type = "any" }]'
        ),
        "must be the last one, and the only one",
        "",
    ),
    "deep": ("a = " + "[" * 2000 + "]" * 1000, "not valid TOML", ""),
    "dotted": (".".join("a" * 5000), "a line of more than", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_in_the_file(name: str, tmp_path: pathlib.Path) -> None:
    text, message, help_text = WRONG[name]
    schema, script = tmp_path / "wrong.toml", tmp_path / "script.py"
    schema.write_text(text)
    script.write_text("x = 1\n")
    done = subprocess.run(
        [PROGRAM, "check", "--json", "--schemas", schema, script],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert {one["code"] for one in found} == {"invalid-schema"}
    assert any(message in one["message"] and help_text in (one["help"] or "") for one in found)
    assert all(one["file"] == str(schema) and one["help"] for one in found)
    words = [PROGRAM, "build", "--schemas", schema, script, "-o", tmp_path / "x.onnx"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "error[invalid-schema]" in done.stderr


def test_a_model_is_checked_by_the_schemas(tmp_path: pathlib.Path, schemas: pathlib.Path) -> None:
    info = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N"])
    out = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N"])
    index = onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, None)
    node = onnx.helper.make_node("Pool", ["x"], ["y", "i"], domain="my.ops", mode="maxx")
    graph = onnx.helper.make_graph([node], "g", [info], [out, index])
    imports = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("my.ops", 2)]
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.helper.make_model(graph, opset_imports=imports).SerializeToString())
    done = subprocess.run(
        [PROGRAM, "check", "--json", "--schemas", schemas, path],
        capture_output=True,
        text=True,
        timeout=60,
    )
    codes = sorted(one["code"] for one in json.loads(done.stdout))
    assert codes == ["illegal-enumeration", "missing-attribute"]


def test_a_model_of_the_standard_misses_attributes(tmp_path: pathlib.Path) -> None:
    """What onnx.checker refuses, and what runtimes refuse, is found in the file."""
    info = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 2, 4, 4])
    out = onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None)
    nodes = [
        onnx.helper.make_node("Concat", ["x", "x"], ["y"]),
        onnx.helper.make_node("MaxPool", ["y"], ["z"], kernel_shape=[2, 2], auto_pad="SAME"),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [info], [out])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    done = subprocess.run([PROGRAM, "check", "--json", path], capture_output=True, text=True)
    found = {one["code"]: one for one in json.loads(done.stdout)}
    assert "missing-attribute" in found and "`axis`" in found["missing-attribute"]["message"]
    assert "`SAME_UPPER`" in found["illegal-enumeration"]["help"]


# --- com.microsoft -------------------------------------------------------------------------------


def test_the_shipped_file_is_what_the_runtime_reports() -> None:
    """`tools/generate_schemas.py com.microsoft` writes it again after an update."""
    import generate_schemas

    for domain in ("com.microsoft", "ai.onnx"):
        shipped = SHIPPED.with_name(f"{domain}.toml")
        assert shipped.read_text() == generate_schemas.generate(domain)


def test_the_counts_are_those_of_the_runtime(tmp_path: pathlib.Path) -> None:
    """A call with each number of inputs is judged as ONNX Runtime's schema judges it."""
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime

    lines = [
        "from sardonyx import script",
        "from sardonyx.values import Opset",
        'ms = Opset("com.microsoft", 1)',
    ]
    expected: dict[int, str | None] = {}
    for schema in runtime.get_all_operator_schema():
        if schema.domain != "com.microsoft" or any(a.required for a in schema.attributes.values()):
            continue
        for count in range(6):
            lines += ["", "@script()", f"def f{len(lines)}(x):"]
            arguments = ", ".join(["x"] * count)
            lines += [f"    return ms.{schema.name}({arguments})"]
            # An optional input in front of a required one still takes its place.
            last = max(
                (i + 1 for i, one in enumerate(schema.inputs) if one.option.name == "Single"),
                default=0,
            )
            code = None
            if count > schema.max_input:
                code = "too-many-inputs"
            elif count < max(schema.min_input, last):
                code = "too-few-inputs"
            expected[len(lines)] = code
    script = tmp_path / "script.py"
    script.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [PROGRAM, "check", "--json", "--schemas", SHIPPED, script], capture_output=True, text=True
    )
    found = {
        one["range"]["start"]["line"]: one["code"]
        for one in json.loads(done.stdout)
        if one["code"] in ("too-many-inputs", "too-few-inputs")
    }
    assert len(expected) > 200
    assert found == {line: code for line, code in expected.items() if code is not None}


def test_python_takes_schemas(tmp_path: pathlib.Path) -> None:
    sardonyx = pytest.importorskip("sardonyx")
    schemas = sardonyx.load_schemas("com.microsoft")
    assert len(schemas) > 100
    contrib = sardonyx.Opset("com.microsoft", 1)
    from sardonyx import FLOAT, script

    @script(schemas=schemas)
    def act(x):
        return contrib.Gelu(x)

    model = act.to_model_proto(input_types=[FLOAT["N"]])
    x = np.linspace(-2, 2, 5, dtype=np.float32)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    assert session.run(None, {"x": x})[0].shape == (5,)
    assert model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    with pytest.raises(sardonyx.CompileError, match="did you mean `Gelu`"):

        @script(schemas=schemas)
        def wrong(x):
            return contrib.Gelluu(x)

    path = tmp_path / "wrong.toml"
    path.write_text("[[operator]]\n")
    with pytest.raises(sardonyx.CompileError, match="without a name"):
        sardonyx.load_schemas(path)
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        sardonyx.load_schemas("no-such-file.toml")
    with pytest.raises(TypeError, match="load_schemas"):
        script(schemas="com.microsoft")(act.__wrapped__)
