"""`sardonyx run`: kinds of inputs, forms of outputs, sizes of random inputs, tolerances."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest

import program
from places import PROGRAM

TWO = """\
from sardonyx import FLOAT, INT64, opset18 as op, script
@script()
def two(x: FLOAT["N"], y: INT64["N"]):
    return op.Add(x, op.Cast(y, to=1)), op.Identity(y)
"""
ONE = """\
from sardonyx import FLOAT, opset18 as op, script
@script()
def one(x: FLOAT["N", "M"]):
    return op.Shape(x)
@script()
def text(x):
    return op.Identity(x)
"""


def run(*words: Any, **options: Any) -> Any:
    return program.run("run", *words, **options)


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.py").write_text(TWO)
    (tmp_path / "one.py").write_text(ONE)
    return tmp_path


X, Y = np.array([1, np.nan, -np.inf], np.float32), np.array([1, 2, 3])


def results(*words: Any) -> Any:
    """What --json prints."""
    return json.loads(run("two.py", *words, "--json").stdout)


@pytest.mark.parametrize(
    "words",
    [
        ["x=[1, nan, -inf]", "y=[1, 2, 3]"], ["x=[1.0, NaN, -Infinity]", "y=y.json"],
        ["x=both.npz", "y=both.npz"], ["x=only.npz", "y=y.json"], ["both.npz"], ["both.json"],
        ["only_x.json", "y=[1, 2, 3]"],
    ],
    ids=str,
)  # fmt: skip
def test_inputs(folder: pathlib.Path, words: list[str]) -> None:
    np.savez(folder / "both.npz", x=X, y=Y)
    np.savez_compressed(folder / "only.npz", other=X)
    (folder / "y.json").write_text("[1,\n 2, 3]\n")
    (folder / "both.json").write_text(json.dumps({"x": X.tolist(), "y": Y.tolist()}, indent=2))
    (folder / "only_x.json").write_text(json.dumps({"x": X.tolist()}))
    found = results(*words)
    assert [one["type"] for one in found.values()] == ["FLOAT[3]", "INT64[3]"]
    first, second = (np.array(one["data"]) for one in found.values())
    np.testing.assert_array_equal(first, X + Y)
    np.testing.assert_array_equal(second, Y)


def test_scalars_that_are_no_numbers(folder: pathlib.Path) -> None:
    (folder / "s.py").write_text(
        "from sardonyx import BOOL, FLOAT, STRING, opset18 as op, script\n@script()\n"
        "def f(x: FLOAT, s: STRING, b: BOOL):\n"
        "    return op.Identity(x), op.Identity(s), op.Identity(b)\n"
    )
    found = json.loads(run("s.py", "x=-inf", "s=nan", "b=True", "--json").stdout)
    assert [one["data"] for one in found.values()] == [float("-inf"), "nan", True]
    assert "NaN" in run("s.py", "x=nan", "s=a", "b=False", "--json").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x=no.npz"], "input `x`: cannot open `no.npz`"),
        (["no.json"], "cannot open `no.json`"),
        (["x=."], "input `x`"),
        (["x=bad.npz"], "bad.npz"),
        (["x=bad.json"], "`bad.json` is not JSON with numbers"),
        (["x=code.json"], "`code.json` is not JSON with numbers"),
        (["bad.json"], "`bad.json` is not JSON with numbers"),
        (["list.json"], "`list.json` does not contain an object with a value for each input"),
        (["other.json"], "`other.json`: there is no input `z`"),
        (["x=object.json"], "an object is not a tensor"),
        (["x=several.npz"], "holds `a`, `b`, and none is `x`"),
        (["x=empty.npz"], "`empty.npz` holds no arrays"),
        (["x=[1.0]", "both.npz"], "`both.npz`: `x` is given twice"),
        (["x=nan", "y=nan"], "input `y`"),
        (["x=pipe.json"], "input `x`"),
        (["x=[1.0", "y=[1]"], "input `x`"),
    ],
    ids=str,
)
def test_bad_inputs(folder: pathlib.Path, words: list[str], said: str) -> None:
    np.savez(folder / "both.npz", x=X, y=Y)
    np.savez(folder / "several.npz", a=X, b=Y)
    np.savez(folder / "empty.npz")
    texts = {
        "bad.npz": "words", "bad.json": '{"x": [1,', "list.json": "[1]", "other.json": '{"z": 1}',
        "code.json": "__import__('os').system('touch made')", "object.json": '{"a": 1}',
        "pipe.json": "\udcff",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, errors="surrogateescape")
    done = run("two.py", *words, status=1)
    assert said in done.stderr and done.stdout == ""
    assert not (folder / "made").exists()


def test_output_folders_are_written_as_a_whole(folder: pathlib.Path) -> None:
    """A sequence of maps has no .npy files, so the output before it has none either."""
    scores = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
    maps = onnx.helper.make_sequence_type_proto(
        onnx.helper.make_map_type_proto(onnx.TensorProto.INT64, scores)
    )
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Neg", ["x"], ["y"]),
            onnx.helper.make_node(
                "ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[5]
            ),
        ],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1])],
        [
            onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 1]),
            onnx.helper.make_value_info("z", maps),
        ],
    )
    opsets = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("ai.onnx.ml", 1)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), folder / "m.onnx")
    assert "no .npy files" in run("m.onnx", "x=[[1.5]]", "-o", "made", status=1).stderr
    assert list((folder / "made").iterdir()) == []


def test_output_as_one_file(folder: pathlib.Path) -> None:
    run("two.py", "x=[1, nan, -inf]", "y=[1, 2, 3]", "-o", "out.npz")
    with np.load(folder / "out.npz") as read:
        assert sorted(read.files) == ["return_val_0", "return_val_1"]
        np.testing.assert_array_equal(read["return_val_0"], X + Y)
        np.testing.assert_array_equal(read["return_val_1"], Y)
    # What one run writes, the next one reads.
    (folder / "same.py").write_text(
        "from sardonyx import FLOAT, opset18 as op, script\n@script()\n"
        "def same(return_val_0: FLOAT['N']):\n    return op.Neg(return_val_0)\n"
    )
    assert "nan" in run("same.py", "return_val_0=out.npz").stdout
    for path in ("missing/out.npz", "/dev/full/out.npz"):
        done = run("two.py", "x=[1.0]", "y=[1]", "-o", path, status=1)
        assert "out.npz" in done.stderr
    (folder / "dir.npz").mkdir()
    assert run("two.py", "x=[1.0]", "y=[1]", "-o", "dir.npz", status=1).stderr


def test_every_type_as_json(folder: pathlib.Path) -> None:
    arrays = {
        "f": np.array([[1.5, -0.0]], np.float64), "h": np.array([0.5], np.float16),
        "u": np.array([2**64 - 1], np.uint64), "b": np.array([[True], [False]]),
        "c": np.array([1 + 2j, complex(np.nan, np.inf)], np.complex64),
        "s": np.array(['a"\\\n', "ü"], object), "e": np.zeros((2, 0), np.float32),
        "big": np.arange(3000, dtype=np.int32),
    }  # fmt: skip
    nodes = [onnx.helper.make_node("Identity", [name], [f"y_{name}"]) for name in arrays]
    constants = [
        onnx.helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(value))
        for name, value in arrays.items()
    ]
    outputs = [onnx.helper.make_empty_tensor_value_info(f"y_{name}") for name in arrays]
    graph = onnx.helper.make_graph(constants + nodes, "g", [], outputs)
    onnx.save(
        onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8
        ),
        folder / "m.onnx",
    )
    found = json.loads(run("m.onnx", "--json").stdout)
    for name, value in arrays.items():
        data = found[f"y_{name}"]["data"]
        if name == "c":
            assert data[0] == [1, 2] and np.isnan(data[1][0]) and data[1][1] == np.inf
        else:
            assert data == value.tolist(), name


def test_sizes_of_random_inputs() -> None:
    done = run("one.py:one", "--random", "--dim", "N=6", "--dim", "M=7")
    assert "[6 7]" in done.stdout
    assert "[6 4]" in run("one.py:one", "--random", "--dim", "N=6").stdout
    assert "[6 7]" in run("one.py:one", "x=rand", "--dim", "N=6", "--dim", "M=7").stdout
    for words, said in [
        (["--dim", "K=6"], "no input has a dimension `K`; there are `M`, `N`"),
        (["--dim", "N=six"], "`--dim N=six`: a size is an integer of 0 or more"),
        (["--dim", "N=-1"], "a size is an integer of 0 or more"),
        (["--dim", "N=99999999999"], "that many random numbers do not fit"),
    ]:
        assert said in run("one.py:one", "--random", *words, status=1).stderr
    assert "is given twice" in run("one.py", "--dim", "N=1", "--dim", "N=2", status=2).stderr


def test_mistakes_of_the_script_come_first(folder: pathlib.Path) -> None:
    (folder / "wrong.py").write_text(TWO.replace("op.Add", "op.Addd"))
    for words in ([], ["x=no.npy"], ["z=1"]):
        done = run("wrong.py", *words, status=1)
        assert "error[unknown-operator]" in done.stderr and "no value for" not in done.stderr
    assert "no value for `x`" in run("two.py", status=1).stderr
    assert "no value for `x`" in run("one.py:text", status=1).stderr


def test_options_that_do_not_go_together() -> None:
    assert "`--json` prints" in run("two.py", "--json", "--trace", status=2).stderr
    assert "are for `--compare`" in run("two.py", "--rtol", "1", status=2).stderr
    assert "--atol" in run("two.py", "--atol", "-1", "--compare", "reference", status=2).stderr


def model(scale: float, w: float) -> onnx.ModelProto:
    """y = (x + scale) - scale + w, whose difference from another w is small beside `scale`."""
    return onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y)'
        f"<float s = {{{scale}}}, float w = {{{w}}}> "
        "{ z = Mul(x, s)  y = Add(z, w) }"
    )


def test_tolerance_of_comparisons(folder: pathlib.Path) -> None:
    onnx.save(model(1e6, 0.0), folder / "a.onnx")
    onnx.save(model(1e6, 50.0), folder / "b.onnx")
    given = ["a.onnx", "x=[1.0, 0.0001]", "--compare", "b.onnx"]
    # 50 is much beside 100, and less than rounding beside the other element, 1e6.
    assert "all 2 values agree" in run(*given).stdout
    done = run(*given, "--atol", "1", status=1)
    assert "the first difference is in `y`" in done.stdout
    assert "input z: FLOAT[2]\n" in done.stdout and "input w: FLOAT\n" in done.stdout
    assert "all 2 values agree" in run(*given, "--atol", "50.5", "--rtol", "0").stdout
    onnx.save(model(1.0, 0.01), folder / "c.onnx")
    onnx.save(model(1.0, 0.0), folder / "d.onnx")
    assert "`y`" in run("c.onnx", "x=[1.0, 2.0]", "--compare", "d.onnx", status=1).stdout


def test_outputs_of_other_names_are_compared(folder: pathlib.Path) -> None:
    """By their order, and also those that no node makes."""

    def write(name: str, output: str, scale: float, constant: float) -> None:
        text = (
            '<ir_version: 8, opset_import: ["": 18]> '
            f"g (float[2] x) => (float[2] {output}, float c, float[2] x) "
            f"<float s = {{{scale}}}, float c = {{{constant}}}> {{ {output} = Mul(x, s) }}"
        )
        onnx.save(onnx.parser.parse_model(text), folder / name)

    write("one.onnx", "y", 2.0, 5.0)
    given = ["one.onnx", "x=[1.0, 3.0]", "--compare"]
    write("other.onnx", "z", 2.0, 5.0)
    assert "all 3 values agree" in run(*given, "other.onnx").stdout
    write("other.onnx", "z", 2.5, 5.0)
    assert "difference is in `y`, an output\n" in run(*given, "other.onnx", status=1).stdout
    write("other.onnx", "y", 2.0, 6.0)
    assert "difference is in `c`, an output\n" in run(*given, "other.onnx", status=1).stdout


def test_outputs_that_are_not_compared_are_said(folder: pathlib.Path) -> None:
    head = '<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => '
    one = head + "(float[2] y, float[2] z) { y = Neg(x) z = Abs(x) }"
    onnx.save(onnx.parser.parse_model(one), folder / "two_outputs.onnx")
    onnx.save(
        onnx.parser.parse_model(head + "(float[2] y) { y = Neg(x) }"), folder / "one_output.onnx"
    )
    done = run("two_outputs.onnx", "x=[1.0, 3.0]", "--compare", "one_output.onnx")
    assert "all 1 values agree" in done.stdout
    assert "not compared: the output `z`\n" in done.stdout


def test_the_python_beside_the_program_is_found(folder: pathlib.Path) -> None:
    """As in a virtual environment, where the program is beside its Python."""
    (folder / "bin").mkdir()
    program = folder / "bin/sardonyx"
    program.write_bytes(PROGRAM.read_bytes())
    program.chmod(0o755)
    (folder / "bin/python").mkdir()
    python = folder / "bin/python3"
    python.write_text(f'#!/bin/sh\necho beside >&2\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key != "SARDONYX_PYTHON"}
    done = subprocess.run(
        [program, "run", "two.py", "x=[1.0]", "y=[1]", "--python"],
        capture_output=True, text=True, timeout=60, env=environment, check=False,
    )  # fmt: skip
    assert "beside" in done.stderr
    # Nor is a folder of that name one: the Python of PATH is.
    python.rename(folder / "python3")
    done = subprocess.run(
        [program, "run", "two.py", "x=[1.0]", "y=[1]", "--python"],
        capture_output=True, text=True, timeout=60, check=False,
        env=environment | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert "beside" in done.stderr and "cannot start" not in done.stderr


# --- Pictures ------------------------------------------------------------------------------------

PICTURES = """\
from sardonyx import FLOAT, UINT8, DOUBLE, STRING, opset20 as op, script
@script()
def bytes_of(x: UINT8["n"]):
    return op.Identity(x)
@script()
def last(x: UINT8["h", "w", 3]):
    return op.Identity(x)
@script()
def first(x: FLOAT[1, 3, "h", "w"]):
    return op.Identity(x)
@script()
def grey(x: DOUBLE["n", "h", "w", 1]):
    return op.Identity(x)
@script()
def small(x: FLOAT[1, 3, 2, 2]):
    return op.Identity(x)
@script()
def unclear(x: FLOAT["n", "c", "h", "w"]):
    return op.Identity(x)
@script()
def text(x: STRING["n"]):
    return op.Identity(x)
"""
PIXELS = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3) * 10
PICTURE = b"P6\n4 2\n255\n" + PIXELS.tobytes()  # a format without a library


@pytest.fixture
def picture(folder: pathlib.Path) -> pathlib.Path:
    (folder / "pictures.py").write_text(PICTURES)
    (folder / "Picture.PPM").write_bytes(PICTURE)
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bytes_of", np.frombuffer(PICTURE, np.uint8)), ("last", PIXELS),
        ("first", PIXELS.transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)),
    ],
)  # fmt: skip
def test_pictures(picture: pathlib.Path, name: str, expected: np.ndarray) -> None:
    run(f"pictures.py:{name}", "x=Picture.PPM", "-o", "out.npz")
    (found,) = np.load(picture / "out.npz").values()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_grey_pictures(picture: pathlib.Path) -> None:
    run("pictures.py:grey", "x=Picture.PPM", "-o", "out.npz")
    (found,) = np.load(picture / "out.npz").values()
    luma = PIXELS @ np.array([0.299, 0.587, 0.114])
    assert found.shape == (1, 2, 4, 1) and found.dtype == np.float64
    np.testing.assert_allclose(found[0, :, :, 0], luma / 255, atol=1 / 255)


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        ("small", "Picture.PPM", "the picture is 2 high and 4 wide, which does not fit"),
        ("unclear", "Picture.PPM", "is not the type of a picture"),
        ("text", "Picture.PPM", "a picture is not a `STRING[n]`"),
        ("last", "none.png", "No such file or directory"),
        ("last", "folder.png", "folder.png"),
        ("last", "damaged.png", "input `x`: "),
        ("last", "empty.bmp", "the file is damaged, or no picture of a known format"),
    ],
)  # fmt: skip
def test_bad_pictures(picture: pathlib.Path, name: str, file: str, said: str) -> None:
    (picture / "folder.png").mkdir()
    (picture / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    (picture / "empty.bmp").write_bytes(b"")
    done = run(f"pictures.py:{name}", f"x={file}", status=1)
    assert done.stderr.startswith("error: input `x`: ") and said in done.stderr
