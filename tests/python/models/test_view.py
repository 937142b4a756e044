"""`sardonyx view`: graphs as data and as pictures, of scripts and models, and of hostile ones."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper
import pytest
import sardonyx

from places import PROGRAM, ROOT

LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
SVG = "{http://www.w3.org/2000/svg}"

# What must not be taken for anything but text.
EVIL = "</script><script>alert(1)</script>\"'&<b>]]>\x00\x1b[2J\u202e\u2028\\"

SCRIPT = """
from sardonyx import FLOAT, script
from sardonyx.onnx_opset import opset18 as op

@script()
def double(x: FLOAT["N"]) -> FLOAT["N"]:
    return x * 2.0

@script()
def main(x: FLOAT["N"], flag: FLOAT) -> FLOAT["N"]:
    y = double(x)
    if flag > 0.0:
        z = op.Relu(y)
    else:
        z = op.Neg(y)
    return z + x
"""


def view(*words: Any, status: int = 0, cwd: Any = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [PROGRAM, "view", *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=120
    )
    assert done.returncode == status, done.stderr
    return done


def data_of(path: Any, *words: Any) -> Any:
    return json.loads(view(path, "--json", "-", *words).stdout)


def save(tmp_path: pathlib.Path, graph: onnx.GraphProto, **options: Any) -> pathlib.Path:
    path = tmp_path / "model.onnx"
    options.setdefault("opset_imports", [oh.make_opsetid("", 18)])
    onnx.save(oh.make_model(graph, **options), path)
    return path


def split_page(page: str) -> tuple[str, str, str]:
    """A page before its data, the data, and behind."""
    mark = '<script type="application/json" id="data">'
    assert page.count(mark) == 1 and page.count("<script") == page.count("</script>") == 2
    head, rest = page.split(mark)
    data, tail = rest.split("</script>", 1)
    return head, data, tail


def floats(name: str, *dims: Any) -> onnx.ValueInfoProto:
    return oh.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(dims))


def overlaps(sheet: Any) -> list[tuple[int, int]]:
    """Pairs of boxes that cover each other."""
    rows: dict[int, list[tuple[int, int, int]]] = {}
    for index, box in enumerate(sheet.get("boxes", [])):
        rows.setdefault(box["row"], []).append((box["x"], box["x"] + box["w"], index))
        top, bottom = sheet["rows"][box["row"]]
        assert top <= box["y"] and box["y"] + box["h"] <= bottom + 1
    found = []
    for row in rows.values():
        row.sort()
        found += [(a[2], b[2]) for a, b in itertools.pairwise(row) if b[0] < a[1]]
    return found


def check_places(scene: Any) -> None:
    for sheet in scene["sheets"]:
        assert overlaps(sheet) == []
        for box in sheet.get("boxes", []):
            assert box["x"] >= 0 and box["x"] + box["w"] <= sheet["width"]
            assert box["y"] >= 0 and box["y"] + box["h"] <= sheet["height"]
        for start, _, end, _, far, *points in sheet.get("lines", []):
            source, target = sheet["boxes"][start], sheet["boxes"][end]
            assert len(points) % 2 == 0
            assert abs(points[1] - source["y"] - source["h"]) <= 1
            assert abs(points[-1] - target["y"]) <= 1
            assert source["x"] - 1 <= points[0] <= source["x"] + source["w"] + 1
            assert target["x"] - 1 <= points[-2] <= target["x"] + target["w"] + 1
            if not far:
                assert points[1::2] == sorted(points[1::2])


def edges(sheet: Any) -> set[tuple[str, str]]:
    """From the name of a value to the name of the first result of its reader."""
    return {
        (
            sheet["boxes"][start]["outputs"][output]["name"],
            (sheet["boxes"][end].get("outputs") or sheet["boxes"][end]["inputs"])[0]["name"],
        )
        for start, output, end, *_ in sheet.get("lines", [])
    }


@pytest.mark.parametrize("name", ["resnet50", "inception_v1", "densenet121"])
def test_graph_of_a_real_model(name: str) -> None:
    path = LIGHT / f"light_{name}.onnx"
    graph = onnx.load(path).graph
    scene = data_of(path)
    (sheet,) = scene["sheets"]
    shown = Counter(box["title"] for box in sheet["boxes"] if box["kind"] == "node")
    assert shown == Counter(node.op_type for node in graph.node if node.op_type != "Constant")
    constants = {value.name for value in graph.initializer} | {
        node.output[0] for node in graph.node if node.op_type == "Constant"
    }
    constants -= {value.name for value in graph.input}  # defaults, which a caller may replace
    expected = {
        (value, node.output[0])
        for node in graph.node
        for value in node.input
        if value and value not in constants
    } | {(value.name, value.name) for value in graph.output}
    assert edges(sheet) == expected
    typed = {
        value.name: tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
        for value in onnx.shape_inference.infer_shapes(onnx.load(path)).graph.value_info
    }
    for box in sheet["boxes"]:
        for pin in box.get("outputs", []):
            if all(typed.get(pin["name"], (0,))):
                assert pin["type"] == f"FLOAT[{', '.join(map(str, typed[pin['name']]))}]"
    check_places(scene)
    picture = ET.fromstring(view(path, "--svg", "-").stdout)
    assert len(picture.findall(f".//{SVG}g")) == len(sheet["boxes"])


def test_script(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SCRIPT)
    scene = data_of(path)
    assert scene["title"] == "a.py:main"
    assert [sheet["kind"] for sheet in scene["sheets"]] == [
        "graph", "function", "subgraph", "subgraph",
    ]  # fmt: skip
    main, double, then, other = scene["sheets"]
    nodes = {box["title"]: box for box in main["boxes"] if box["kind"] == "node"}
    assert nodes["double"]["function"] == 1 and double["title"] == "double"
    assert nodes["If"]["inner"] == [["then_branch", 2], ["else_branch", 3]]
    assert then["parent"] == other["parent"] == [0, main["boxes"].index(nodes["If"])]
    # What the branches read comes from outside, and there is a line to the node for it.
    assert {box["kind"] for box in then["boxes"]} == {"node", "output", "captured"}
    assert any(pin.get("captured") for pin in nodes["If"]["inputs"])
    assert nodes["Add"]["outputs"][0]["type"] == "FLOAT[N]"
    # Places in the text.
    (file,) = scene["files"]
    assert file["text"] == SCRIPT
    lines = SCRIPT.splitlines()
    assert lines[nodes["double"]["line"] - 1].strip() == "y = double(x)"
    assert lines[double["boxes"][1]["line"] - 1].strip() == "return x * 2.0"
    assert double["boxes"][1]["inputs"][1]["value"] == "FLOAT {2}"
    check_places(scene)
    picture = ET.fromstring(view(path, "--svg", "-").stdout)
    words = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"double", "If", "then_branch", "Relu", "Neg", "FLOAT[N]"} <= set(words)
    assert data_of(f"{path}:double")["title"] == "a.py:double"


def test_options_of_the_compiler(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SCRIPT)
    types = {
        pin["type"]
        for box in data_of(f"{path}:double", "--input", "x=FLOAT[7]")["sheets"][0]["boxes"]
        for pin in box.get("outputs", [])
    }
    assert types == {"FLOAT[7]"}


def test_every_text_is_text(tmp_path: pathlib.Path) -> None:
    clean = EVIL.replace("\x00", "")
    weight = onnx.numpy_helper.from_array(np.array([clean], dtype=object), clean + "w")
    branch = oh.make_graph(
        [oh.make_node("Identity", [clean + "x"], [clean + "y"], name=clean)],
        clean,
        [],
        [oh.make_tensor_value_info(clean + "y", 8, [clean])],
    )
    nodes = [
        oh.make_node(clean, [clean + "x", clean + "w"], ["b"], domain=clean, **{clean: clean}),
        oh.make_node("Cast", ["b"], ["c"], to=9, doc_string=clean),
        oh.make_node("If", ["c"], [clean + "o"], then_branch=branch, else_branch=branch),
    ]
    graph = oh.make_graph(
        nodes,
        clean,
        [oh.make_tensor_value_info(clean + "x", 8, [clean])],
        [oh.make_tensor_value_info(clean + "o", 8, [clean])],
        initializer=[weight],
        doc_string=clean,
    )
    imports = [oh.make_opsetid("", 18), oh.make_opsetid(clean, 1)]
    path = save(tmp_path, graph, doc_string=clean, producer_name=clean, opset_imports=imports)
    picture = sardonyx.Model(path)._repr_svg_()
    texts = [picture, *(view(path, option, "-").stdout for option in ("--svg", "--json"))]
    texts.append(split_page(view(path, "--html", "-").stdout)[1])
    assert json.loads(texts[2]) == json.loads(texts[3])
    for text in texts:
        assert not re.search(
            r"<script|</script|<b>|[\x00-\x08\x0b-\x1f\x7f\u2028\u202a-\u202e]", text
        )
    picture = ET.fromstring(view(path, "--svg", "-").stdout)
    names = {element.tag.removeprefix(SVG) for element in picture.iter()}
    assert names <= {"svg", "title", "style", "rect", "g", "text", "path"}
    scene = data_of(path)
    box = next(box for box in scene["sheets"][0]["boxes"] if box.get("domain"))
    assert box["title"] == clean.translate({0x1B: "\u241b", 0x202E: "\ufffd", 0x2028: "\ufffd"})


def test_large_names(tmp_path: pathlib.Path) -> None:
    name = "<n>" * 350_000
    graph = oh.make_graph([oh.make_node("Relu", [name], ["y"], name=name)], name,
                          [floats(name, name)], [floats("y", 1)])  # fmt: skip
    path = save(tmp_path, graph, doc_string=name)
    for option in ("--svg", "--json", "--html"):
        assert len(view(path, option, "-").stdout) < 80_000


def test_many_nodes(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    values = ["x"]
    nodes = []
    for i in range(3000):
        other = values[int(rng.integers(max(0, len(values) - 40), len(values)))]
        nodes.append(oh.make_node("Add", [values[-1] if i % 3 else other, other], [f"v{i}"]))
        values.append(f"v{i}")
    path = save(tmp_path, oh.make_graph(nodes, "g", [floats("x", "N")], [floats(values[-1], "N")]))
    scene = data_of(path)
    assert len(scene["sheets"][0]["boxes"]) == 3002
    assert len(scene["sheets"][0]["lines"]) == 6001
    check_places(scene)


def test_far_and_wide(tmp_path: pathlib.Path) -> None:
    """Every node reads the first value, and the last one reads all."""
    count = 700
    nodes = [
        oh.make_node("Add", ["x" if i == 0 else f"v{i - 1}", "x"], [f"v{i}"]) for i in range(count)
    ]
    nodes.append(oh.make_node("Sum", [f"v{i}" for i in range(count)], ["y"]))
    path = save(tmp_path, oh.make_graph(nodes, "g", [floats("x", "N")], [floats("y", "N")]))
    scene = data_of(path)
    assert any(line[4] for line in scene["sheets"][0]["lines"])
    check_places(scene)


def test_deep_subgraphs(tmp_path: pathlib.Path) -> None:
    def nest(depth: int) -> onnx.GraphProto:
        inner = (
            oh.make_node("If", ["c"], [f"o{depth}"], then_branch=nest(depth - 1), else_branch=leaf)
            if depth
            else oh.make_node("Relu", ["x"], ["o0"])
        )
        return oh.make_graph([inner], f"g{depth}", [], [floats(f"o{depth}", 1)])

    leaf = oh.make_graph([oh.make_node("Neg", ["x"], ["n"])], "leaf", [], [floats("n", 1)])
    graph = nest(20)
    graph.input.extend([floats("x", 1), oh.make_tensor_value_info("c", 9, [])])
    path = save(tmp_path, graph)
    scene = data_of(path)
    assert len(scene["sheets"]) == 41
    # The values go from sheet to sheet.
    assert all(
        "captured" in {box["kind"] for box in sheet["boxes"]} for sheet in scene["sheets"][1:]
    )
    check_places(scene)
    ET.fromstring(view(path, "--svg", "-").stdout)


def test_functions_and_defaults(tmp_path: pathlib.Path) -> None:
    call = oh.make_function(
        "own", "F", ["a"], ["b"], [oh.make_node("F", ["a"], ["b"], domain="own")],
        [oh.make_opsetid("own", 1)],
    )  # fmt: skip
    graph = oh.make_graph(
        [oh.make_node("F", ["x"], ["y"], domain="own")],
        "g", [floats("x", 2)], [floats("y", 2), floats("w", 2)],
        initializer=[onnx.numpy_helper.from_array(np.ones(2, np.float32), "w")],
    )  # fmt: skip
    imports = [oh.make_opsetid("", 18), oh.make_opsetid("own", 1)]
    path = tmp_path / "f.onnx"
    onnx.save(oh.make_model(graph, functions=[call], opset_imports=imports), path)
    scene = data_of(path)
    boxes = scene["sheets"][0]["boxes"]
    assert next(box for box in boxes if box["title"] == "F")["function"] == 1
    (output,) = [box for box in boxes if box["title"] == "w" and box["kind"] == "output"]
    assert output["inputs"][0]["value"] == "FLOAT[2] {1, 1}"
    check_places(scene)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["missing.onnx", "--svg", "-"], 1, "missing.onnx"),
        (["-"], 2, "cannot be read again"),
        (["a.py", "--html", "-", "--port", "8000"], 2, "`--port`"),
        (["a.py", "--port", "0"], 2, "port"),
        (["bad.py"], 1, "unknown-operator"),
        (["a.py", "--svg", "-", "--json", "-"], 2, "one of"),
        (["a.py:none", "--svg", "-"], 2, "none"),
        (["bad.py", "--svg", "-"], 1, "unknown-operator"),
        (["a.py", "--svg", "missing/a.svg"], 1, "missing"),
        (["a.py", "--svg", "-", "--input", "x=FLOAT["], 2, "FLOAT"),
        (["a.py", "missing.onnx", "--svg", "-"], 1, "missing.onnx"),
        (["a.py", "", "--svg", "-"], 1, "cannot open"),
        (["a.py", "a.py:none", "--svg", "-"], 2, "none"),
        (["a.py", "bad.py", "--svg", "-"], 1, "unknown-operator"),
        (["a.py", "-", "--svg", "-"], 2, "not standard input"),
        (["-", "a.py", "--svg", "-"], 2, "not standard input"),
        (["m.onnx:main", "--svg", "-"], 2, "`:NAME`"),
        (["m.onnx", "--svg", "-", "--opset", "20"], 2, "are for scripts"),
        (["m.onnx", "m.onnx", "--svg", "-", "--input", "x=FLOAT"], 2, "are for scripts"),
        (["a.py", "--svg", "-", "--seed", "3"], 2, "use them with `--run` or `--random`"),
        (["a.py", "--svg", "-", "--dim", "N=3"], 2, "use them with `--run` or `--random`"),
        (["a.py", "--svg", "-", "--run", "x"], 2, "`--run X=3.5`"),
        (["a.py", "--svg", "-", "--run", "x=[1.0]"], 1, "write `--run flag=...`"),
        (["a.py", "--svg", "-", "--run", "flog=1.0"], 1, "did you mean `flag`?"),
        (["a.py", "--svg", "-", "--random", "--run", "x=[[1.0]]"], 1, "FLOAT[N]"),
        (["a.py", "--svg", "-", "--run", "missing.npz"], 1, "missing.npz"),
        (["bad.py", "--svg", "-", "--random"], 1, "unknown-operator"),
        (["m.onnx", "--netron", "--svg", "-"], 2, "without other options"),
        (["a.py", "--netron"], 2, "sardonyx build"),
        (["m.onnx", "--netron"], 1, "pip install netron"),
    ],
)
def test_mistakes(tmp_path: pathlib.Path, words: list[str], status: int, message: str) -> None:
    (tmp_path / "a.py").write_text(SCRIPT)
    (tmp_path / "bad.py").write_text(SCRIPT.replace("op.Relu", "op.Rleu"))
    done = subprocess.run(
        [PROGRAM, "view", *words], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PATH": str(tmp_path)},
    )  # fmt: skip
    assert message in done.stderr
    assert done.returncode == status
    assert done.stdout == ""


def test_commands_of_the_page(tmp_path: pathlib.Path) -> None:
    """The commands of docs/editor.md."""
    page = (ROOT / "docs/editor.md").read_text().split("\n## The graph\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"^```\n(.*?)^```", page, re.S | re.M)
    source = ROOT / "examples/gelu.py"
    (tmp_path / "gelu.py").write_text(source.read_text())
    subprocess.run([PROGRAM, "build", "gelu.py", "-o", "gelu.onnx"], cwd=tmp_path, check=True)
    for line in filter(None, block.splitlines()):
        command, *words = line.split("#")[0].split()
        assert command == "sardonyx"
        if len(words) == 2 or "--netron" in words:  # it serves
            continue
        subprocess.run([PROGRAM, *words], cwd=tmp_path, check=True)
    ET.parse(tmp_path / "gelu.svg")
    assert split_page((tmp_path / "gelu.html").read_text())
    assert json.loads((tmp_path / "gelu.json").read_text())["title"] == "gelu.onnx"


def notes_of(scene: Any) -> dict[str, dict[str, str]]:
    """What is said of each value that is made, by its name."""
    return {
        pin["name"]: dict(scene["notes"][pin["note"]]["fields"])
        for sheet in scene["sheets"]
        for box in sheet["boxes"]
        for pin in box.get("outputs", [])
        if "note" in pin
    }


def test_values_of_a_run(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SCRIPT)
    scene = data_of(path, "--run", "x=[-1.5, 3.0]", "--run", "flag=-1")
    notes = notes_of(scene)
    assert notes["x"] == {"run": "FLOAT[2]", "range": "-1.5 to 3", "elements": "FLOAT[2] {-1.5, 3}"}
    # Inside of the function, and of the branch that ran.
    (product,) = [box for box in scene["sheets"][1]["boxes"] if box["title"] == "Mul"]
    assert notes[product["outputs"][0]["name"]]["elements"] == "FLOAT[2] {-3, 6}"
    then, other = (
        next(box["outputs"][0] for box in scene["sheets"][i]["boxes"] if box["kind"] == "node")
        for i in (2, 3)
    )
    assert "note" not in then
    assert dict(scene["notes"][other["note"]]["fields"])["range"] == "-6 to 3"
    assert ["first NaN", "none"] in scene["fields"]
    # Files, and random numbers for the rest.
    np.savez(tmp_path / "x.npz", x=np.arange(100, dtype=np.float32))
    words = ["--run", tmp_path / "x.npz", "--random"]
    scene = data_of(path, *words)
    assert notes_of(scene)["x"] == {
        "run": "FLOAT[100]", "range": "0 to 99", "mean": "49.5, deviation 28.87",
        "zeros": "1 of 100",
    }  # fmt: skip
    assert view(path, "--json", "-", *words).stdout == view(path, "--json", "-", *words).stdout
    assert data_of(path, *words, "--seed", 1) != scene
    # A model gives the same values as its script.
    model = tmp_path / "a.onnx"
    subprocess.run([PROGRAM, "build", path, "-o", model], check=True, capture_output=True)
    given = ["--run", "x=[-1.5, 3.0]", "--run", "flag=-1"]
    assert notes_of(data_of(model, *given)) == notes


def test_first_nan(tmp_path: pathlib.Path) -> None:
    nodes = [
        oh.make_node("Exp", ["x"], ["e"]),
        oh.make_node("Log", ["x"], ["l"], name="logarithm"),
        oh.make_node("Add", ["e", "l"], ["y"]),
        oh.make_node("Reshape", ["y", "s"], ["z"]),
    ]
    shape = onnx.numpy_helper.from_array(np.array([5], np.int64), "s")
    path = save(tmp_path, oh.make_graph(nodes, "g", [floats("x", "N")], [floats("z", 5)], [shape]))
    # A run that fails shows how far it came, and says so.
    done = view(path, "--run", "x=[-1.0, 2.0]", "--json", "-", status=1)
    assert "Reshape" in done.stderr
    scene = json.loads(done.stdout)
    fields = dict(scene["fields"])
    assert fields["first NaN"] == "`l` of node `logarithm` (`Log`)"
    assert "Reshape" in fields["failed"] and fields["values of the run"] == "4"
    marked = [box["title"] for box in scene["sheets"][0]["boxes"] if box.get("first_nan")]
    assert marked == ["Log"]
    assert notes_of(scene)["l"]["range"].endswith("1 NaN")
    picture = view(path, "--run", "x=[-1.0, 2.0]", "--svg", "-", status=1).stdout
    assert picture.count('class="sdx-m sdx-nan"') == 1
    scene = data_of(path, "--run", "x=[1.0, 2.0, 3, 4, 5]")
    assert dict(scene["fields"])["first NaN"] == "none"


def test_spread_of_weights(tmp_path: pathlib.Path) -> None:
    weights = np.random.default_rng(0).normal(size=(1000, 1000)).astype(np.float32)
    path = save(tmp_path, oh.make_graph(
        [oh.make_node("MatMul", ["x", "w"], ["m"]), oh.make_node("Add", ["m", "b"], ["y"])],
        "g", [floats("x", "N", 1000)], [floats("y", "N", 1000)],
        [onnx.numpy_helper.from_array(weights, "w"),
         onnx.numpy_helper.from_array(np.array([np.nan, np.inf, 0, 2, 0], np.float32), "b")],
    ))  # fmt: skip
    scene = data_of(path)
    pins = {
        pin["name"]: pin for box in scene["sheets"][0]["boxes"] for pin in box.get("inputs", [])
    }
    note = scene["notes"][pins["w"]["note"]]
    fields = dict(note["fields"])
    # Pieces of what is large.
    assert fields["seen"] == "262144 of 1000000 elements"
    assert sum(note["bars"]) == 262144
    expected, _ = np.histogram(weights, 24, note["range"])
    assert np.abs(np.array(note["bars"]) / 262144 - expected / 1e6).max() < 0.005
    note = scene["notes"][pins["b"]["note"]]
    assert dict(note["fields"])["zeros"] == "2 of 5"
    assert note["bars"] == [2, *[0] * 22, 1]


def test_two_models(tmp_path: pathlib.Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text(SCRIPT)
    second.write_text(SCRIPT.replace("op.Relu(y)", "op.Elu(y)").replace("z + x", "op.Abs(z + x)"))
    scene = data_of(first, second)
    assert scene["title"] == "a.py:main | b.py:main"
    assert [file["path"] for file in scene["files"]] == [str(first), str(second)]
    count = len(data_of(first)["sheets"])
    assert scene["beside"] == count and len(scene["sheets"]) == count + len(
        data_of(second)["sheets"]
    )
    # The same differences as of `sardonyx diff`.
    for path in (first, second):
        words = [PROGRAM, "build", path, "-o", path.with_suffix(".onnx")]
        subprocess.run(words, check=True, capture_output=True)
    diff = subprocess.run(
        [PROGRAM, "diff", "--json", first.with_suffix(".onnx"), second.with_suffix(".onnx")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert len(scene["changes"]) == len(json.loads(diff.stdout)["changes"]) > 1
    marks = [
        {(box["title"], box["mark"]) for sheet in part for box in sheet["boxes"] if "mark" in box}
        for part in (scene["sheets"][:count], scene["sheets"][count:])
    ]
    assert marks[0] == {("If", "changed"), ("Relu", "changed")}
    assert marks[1] == {("If", "changed"), ("Elu", "changed"), ("Abs", "added")}
    # The same node has the same number in both, and everything leads into its own part.
    for name in ("double", "Add"):
        numbers = [
            next(box["pair"] for box in scene["sheets"][i]["boxes"] if box["title"] == name)
            for i in (0, count)
        ]
        assert numbers[0] == numbers[1]
    for sheet in scene["sheets"][count:]:
        assert sheet.get("parent", [count])[0] >= count
        for box in sheet["boxes"]:
            assert box.get("file", 1) == 1 and box.get("function", count) >= count
            assert all(index >= count for _, index in box.get("inner", []))
    check_places(scene)
    assert "changes" not in data_of(first, first) and data_of(first, first)["beside"] == count
    # A script beside a model, run both.
    words = ["--run", "x=[1.0]", "--run", "flag=1"]
    scene = data_of(first, second.with_suffix(".onnx"), *words)
    assert sum(name == "first NaN" for name, _ in scene["fields"]) == 1
    assert sum("note" in box.get("outputs", [{}])[0] for box in scene["sheets"][0]["boxes"]) > 2
    texts = ET.fromstring(view(first, second, "--svg", "-").stdout)
    assert {"first: main", "second: main"} <= {text.text for text in texts.iter(f"{SVG}text")}
    frames = Counter(rect.get("class") for rect in texts.iter(f"{SVG}rect") if rect.get("class"))
    assert frames == {"sdx-m sdx-changed": 4, "sdx-m sdx-added": 1}


def test_repeated_layers(tmp_path: pathlib.Path) -> None:
    nodes, weights, last = [], [], "x"
    for i in range(4):
        weight = np.full((3, 3), i, np.float32)
        weights.append(onnx.numpy_helper.from_array(weight, f"w{i}"))
        nodes += [oh.make_node("MatMul", [last, f"w{i}"], [f"m{i}"]),
                  oh.make_node("Relu", [f"m{i}"], [f"r{i}"]),
                  oh.make_node("Add", [last, f"r{i}"], [f"a{i}"])]  # fmt: skip
        last = f"a{i}"
    graph = oh.make_graph(nodes, "g", [floats("x", "N", 3)], [floats(last, "N", 3)], weights)
    path = save(tmp_path, graph)
    scene = data_of(path, "--outline")
    assert [sheet["kind"] for sheet in scene["sheets"]] == ["graph", "function"]
    assert sum(box.get("function") == 1 for box in scene["sheets"][0]["boxes"]) == 4
    run = notes_of(data_of(path, "--outline", "--run", "x=[[1.0, 2, 3]]"))
    assert run[last] == notes_of(data_of(path, "--run", "x=[[1.0, 2, 3]]"))[last]


class OpenTags(html.parser.HTMLParser):
    """The elements that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        del self.tags[len(self.tags) - 1 - self.tags[::-1].index(tag)]


def test_html(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SCRIPT)
    page = view(path, "--html", "-").stdout
    head, data, tail = split_page(page)
    assert json.loads(data) == data_of(path)
    # No script runs but the page's own, and nothing is fetched.
    script = re.findall(r"<script>(.*?)</script>", tail, re.S)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', head)[0]
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy
    assert not re.search(r"https?:|@import|url\(|innerHTML|document\.write|eval\(", head + tail)
    parser = OpenTags()
    parser.feed(page)
    assert set(parser.tags) <= {"meta", "input"}  # all others are closed


def served(process: subprocess.Popen[str]) -> tuple[int, str]:
    assert process.stdout is not None
    address = process.stdout.readline()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{16}/)\n", address)
    assert found, address
    return int(found[1]), found[2]


def fetch(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_server(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SCRIPT)
    process = subprocess.Popen(
        [PROGRAM, "view", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        port, secret = served(process)
        assert fetch(port, secret) == (200, view(path, "--html", "-").stdout)
        assert fetch(port, secret, "HEAD") == (200, "")
        # Others do not find it.
        assert fetch(port, "/")[0] == 404
        assert fetch(port, secret, Host="evil.example")[0] == 404
        assert fetch(port, secret, "POST")[0] == 405
        # Bytes that are no request, and clients that go away.
        for data in (b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET /" + b"x" * 20_000, b"\x16\x03\x01"):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                client.sendall(data)
        # A reload shows the file as it is, or says what is the matter.
        path.write_text(SCRIPT.replace("op.Relu", "op.Rleu"))
        status, text = fetch(port, secret)
        assert status == 500 and "terminal" in text
        path.write_text(SCRIPT.replace("op.Relu", "op.Elu"))
        assert '"title":"Elu"' in fetch(port, secret)[1]
    finally:
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "unknown-operator" in words
    # On this machine alone.
    taken = socket.create_server(("127.0.0.1", 0))
    done = view(path, "--port", taken.getsockname()[1], status=1)
    assert "cannot listen" in done.stderr
    taken.close()


def test_notebooks(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SCRIPT)
    script = sardonyx.script.from_source(SCRIPT, "main")  # type: ignore[attr-defined]
    words = [text.text for text in ET.fromstring(script._repr_svg_()).iter(f"{SVG}text")]
    assert {"double", "then_branch", "Relu", "FLOAT[N]"} <= set(words)
    wrong = sardonyx.script.from_source(  # type: ignore[attr-defined]
        "from sardonyx import script\n@script()\ndef f(x):\n    return x + y\n"
    )
    assert wrong._repr_svg_() is None
    model = sardonyx.Model(LIGHT / "light_inception_v1.onnx")
    words = [text.text for text in ET.fromstring(model._repr_svg_()).iter(f"{SVG}text")]
    assert "FLOAT[1, 64, 112, 112]" in words  # which the file does not state
    nodes = [oh.make_node("Relu", ["x"], [f"y{i}"]) for i in range(1600)]
    path = save(tmp_path, oh.make_graph(nodes, "g", [floats("x", 1)], [floats("y0", 1)]))
    assert sardonyx.Model(path)._repr_svg_() is None
