"""Scripts, models, tensors and errors as people expect objects of Python to behave: pickled,
copied, sent to other processes, shown in notebooks, formatted, written to files."""

from __future__ import annotations

import copy
import errno
import inspect
import io
import os
import pathlib
import pickle
import pydoc
import re
import runpy
import subprocess
import sys
import types
import typing
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import FLOAT, CompileError, Model, Opset, Tensor, script
from sardonyx import opset18 as op


@script()
def scaled(x: FLOAT["N"], k: int = 2):
    return op.Mul(x, 2.0 * k)


@script()
def same(x: FLOAT["N"]):
    return op.Identity(x)


@script()
def undefined(x: FLOAT["N"]):
    return op.Relu(x) + unheard_of


@script()
def passed(x: FLOAT[...]):
    return x, op.Add(x, 1.0)


def error_of(function: Any) -> CompileError:
    with pytest.raises(CompileError) as caught:
        function.to_model_bytes()
    return caught.value


def python(text: str, *words: str, given: str = "", **environment: str) -> tuple[str, str]:
    """What a fresh Python prints, and its complaints."""
    package = str(pathlib.Path(sardonyx.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *(words or ("-c", text))], input=given, capture_output=True, text=True,
        timeout=60, check=False, env={**os.environ, "PYTHONPATH": package, **environment},
    )  # fmt: skip
    return done.stdout, done.stderr


# --- Errors --------------------------------------------------------------------------------------


def test_errors_are_value_errors_and_say_the_place_first():
    error = error_of(undefined)
    assert isinstance(error, ValueError)
    line = undefined.__wrapped__.__code__.co_firstlineno + 2
    first = str(error).split("\n")[0]
    assert first == f"{__file__}, line {line}: `unheard_of` is not defined"
    assert f"--> {__file__}:{line}:25" in str(error)


def test_the_first_line_counts_the_errors():
    @script()
    def two(x: FLOAT["N"]):
        return op.Add(x, unheard_of) + op.Relu(another)

    first = str(error_of(two)).split("\n")[0]
    assert first.endswith("`unheard_of` is not defined (and 1 more)")


def test_errors_are_pickled():
    error = error_of(undefined)
    error.add = "kept"  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CompileError and again.add == "kept"
    assert (str(again), again.diagnostics) == (str(error), error.diagnostics)
    assert str(copy.copy(error)) == str(error)


POOL = """\
import concurrent.futures, multiprocessing, sys
from sardonyx import CompileError, FLOAT, script, opset18 as op
@script()
def undefined(x: FLOAT["N"]):
    return op.Relu(unheard_of)
@script()
def doubled(x: FLOAT["N"]):
    return x + x
def compiled(one):
    return len(one.to_model_bytes())
def called(one):
    return one([1.0, 2.0]).tolist()
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        print(pool.submit(called, doubled).result())
        try:
            pool.submit(compiled, undefined).result()
        except CompileError as error:
            print(error.diagnostics[0]["code"])
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_takes_scripts_and_gives_errors_back(method, tmp_path):
    path = tmp_path / "pool.py"
    path.write_text(POOL)
    assert python("", str(path), method) == ("[2.0, 4.0]\nunknown-name\n", "")


# --- Described -----------------------------------------------------------------------------------

# In a Python that has used none of them before: names are imported when they are first used.
HINTS = """\
import importlib, types, typing
import sardonyx
own = types.FunctionType
for module in ("", ".evaluator", ".onnx_opset", ".onnx_types", ".tensor", ".values"):
    home = importlib.import_module("sardonyx" + module)
    for name in dir(home):
        one = getattr(home, name)
        if not isinstance(one, own | type) or not one.__module__.startswith("sardonyx"):
            continue
        members = vars(one).values() if isinstance(one, type) else ()
        members = [getattr(member, "fget", member) for member in members]
        for each in [one, *(member for member in members if isinstance(member, own))]:
            typing.get_type_hints(each)
print(typing.get_type_hints(sardonyx.load), typing.get_type_hints(sardonyx.from_text)["check"])
"""


def test_the_names_of_annotations_are_found():
    printed, complaints = python(HINTS)
    assert complaints == ""
    assert "'return': <class 'sardonyx._core.Model'>" in printed and "<class 'bool'>" in printed
    hints = typing.get_type_hints(sardonyx.compile)
    assert hints["schemas"] == str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
    assert typing.get_type_hints(sardonyx.Type.shape.fget)["return"] == (
        tuple[int | sardonyx.Dim | None, ...] | None
    )


# --- Pickled and copied --------------------------------------------------------------------------

SHAPED = FLOAT[2, "N"]


@pytest.mark.parametrize(
    "value",
    [scaled, op, Opset("my.domain", 3), FLOAT, SHAPED, FLOAT[...], FLOAT.dtype],
    ids=repr,
)
def test_what_has_a_name_is_itself_again(value):
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    assert copy.deepcopy(value) == value == copy.copy(value)
    if not isinstance(value, Opset | int):
        assert again is value


def test_operators_are_pickled():
    add = pickle.loads(pickle.dumps(op.Add))
    assert (add.name, add.opset, add.since_version) == ("Add", op, op.Add.since_version)
    np.testing.assert_array_equal(add([1.0], [2.0]), [3.0])


def test_schemas_are_pickled():
    schemas = sardonyx.load_schemas("com.microsoft")
    assert len(pickle.loads(pickle.dumps(schemas))) == len(schemas)


def test_models_are_pickled(tmp_path):
    x = np.array([1, 2], np.float32)
    model = scaled.compile(attributes={"k": 3})
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(x), x * 6)
    copied = copy.deepcopy(model)
    assert copied == model and copied is not model
    # Weights in a file of their own come along.
    weights = onnx.helper.make_tensor("w", 1, [2], x.tobytes(), raw=True)
    proto = onnx.load_from_string(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y)'
            "{ y = Add(x, w) }"
        ).SerializeToString()
    )
    proto.graph.initializer.append(weights)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    data = pickle.dumps(sardonyx.load(tmp_path / "m.onnx"))
    for path in tmp_path.iterdir():
        path.unlink()
    np.testing.assert_array_equal(pickle.loads(data)(x), 2 * x)


def make_local(k: float) -> Any:
    @script()
    def local(x: FLOAT["N"]):
        """Scaled,
with a line at the margin."""  # fmt: skip
        return op.Mul(x, k)

    return local


def test_local_scripts_are_no_more_pickled_than_local_functions():
    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(make_local(2.0))


@pytest.mark.parametrize("shaped", [FLOAT, SHAPED, FLOAT[...], FLOAT["2*N+1", None]], ids=repr)
def test_cloudpickle_stores_types_by_name(shaped):
    """It looks for a class where its names say; only others are stored with their contents."""
    found = sys.modules[shaped.__module__]
    for name in shaped.__qualname__.split("."):
        found = getattr(found, name)
    assert found is shaped
    with pytest.raises(AttributeError):
        getattr(sys.modules[shaped.__module__], "FLOAT['Unheard', 7]")


def test_cloudpickle_takes_scripts_along():
    """What cloudpickle asks a script for, and what it does with the answer."""
    made = make_local(3.0)
    asking = types.FunctionType(
        (lambda one: one.__reduce_ex__(4)).__code__, {"__name__": "cloudpickle.cloudpickle"}
    )
    rebuild, parts = asking(made)
    function = parts[1]
    # A function of its own, as from another process, whose text is in no file there.
    # It has the globals that its code reads, which are not those of its annotations.
    known = {name: function.__globals__[name] for name in function.__code__.co_names
             if name in function.__globals__}  # fmt: skip
    assert "FLOAT" not in known
    copied = types.FunctionType(
        function.__code__.replace(co_filename="/nowhere/made.py"),
        known, function.__name__, None, function.__closure__,
    )  # fmt: skip
    copied.__annotations__ = function.__annotations__
    again = rebuild(parts[0], copied, "/nowhere/made.py", *parts[3:])
    np.testing.assert_array_equal(again([1.0, 2.0]), [3.0, 6.0])
    assert Model(again.to_model_bytes())([1.0])[0] == 3
    assert again.source == made.source


# --- What scripts say of themselves --------------------------------------------------------------


def test_members_of_scripts():
    assert typing.get_type_hints(scaled) == {"x": FLOAT["N"], "k": int}
    for one in (type(scaled), sardonyx.TracedOnnxFunction):
        assert typing.get_type_hints(one) == inspect.get_annotations(one) == {}
    assert scaled.function is scaled.__wrapped__
    assert scaled.source.startswith("@script()\ndef scaled(x")
    assert scaled.source.endswith("return op.Mul(x, 2.0 * k)")
    assert scaled.check() == []
    assert [one["code"] for one in undefined.check()] == ["unknown-name"]


def test_signatures_show_types_as_they_are_written():
    @script()
    def typed(
        x: FLOAT["N", 2],
        y: typing.Optional[FLOAT[...]] = None,  # noqa: UP045, ARG001
        *,
        alpha: float = 1.0,
    ) -> tuple[FLOAT["N", 2], FLOAT]:
        return op.Mul(x, alpha), op.ReduceSum(x)

    signature = inspect.signature(typed)
    shown = ("(x: FLOAT['N', 2], y: Optional[FLOAT[...]] = None, *, alpha: float = 1.0)"
             " -> tuple[FLOAT['N', 2], FLOAT]")  # fmt: skip
    assert str(signature) == shown
    assert signature.parameters["x"].annotation is FLOAT["N", 2]
    assert pydoc.plain(pydoc.render_doc(scaled)).split("\n\n")[1].strip() == (
        "scaled(x: FLOAT['N'], k: int = 2)"
    )
    # What cannot be evaluated stays a string.
    made = script.from_source(TEXT.replace("x: FLOAT", "y: 'Unknown', x: FLOAT", 1), "half")
    assert str(inspect.signature(made)) == "(y: 'Unknown', x: FLOAT['N'])"


def test_save(tmp_path):
    path = tmp_path / "scaled.onnx"
    assert scaled.save(path, attributes={"k": 4}) is None
    onnx.checker.check_model(path, full_check=True)
    assert Model(path)([1.0])[0] == 8
    with pytest.raises(CompileError, match="unknown-name"):
        undefined.save(tmp_path / "no.onnx")
    with pytest.raises(FileNotFoundError):
        scaled.save(tmp_path / "no" / "x.onnx")
    with pytest.raises(IsADirectoryError):
        scaled.save(tmp_path)
    with pytest.raises(OSError, match="space") as full:
        scaled.save("/dev/full")
    assert full.value.errno == errno.ENOSPC
    assert sorted(one.name for one in tmp_path.iterdir()) == ["scaled.onnx"]


@pytest.mark.parametrize("read", [sardonyx.load, sardonyx.load_weights, sardonyx.load_schemas])
def test_missing_files_are_what_python_calls_them(read, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read(tmp_path / "missing.npz")
    assert caught.value.filename == str(tmp_path / "missing.npz")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        read(tmp_path / "loop")


def test_unknown_attributes_are_refused():
    with pytest.raises(CompileError, match="no attribute parameter `kk`") as caught:
        scaled.to_model_bytes(attributes={"kk": 3})
    assert "did you mean `k`?" in str(caught.value)
    with pytest.raises(CompileError, match="is an input, not an attribute"):
        scaled.compile(attributes={"x": 3})


# --- Results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 3000])
def test_results_may_be_written(size):
    x = np.ones(size, np.float32)
    result_of = [
        scaled(x), same(x), scaled.compile()(x), same.compile()(x), op.Identity(x),
        op.Reshape(x, [1, -1])[0], op.Add(x, 1.0), passed(x)[1],
    ]  # fmt: skip
    for result in result_of:
        assert type(result) is np.ndarray and result.flags.writeable
        result[0] = 7
        assert x[0] == 1 and result[1] != 7
    assert passed(x)[0] is x  # as a function of Python gives its argument back


def test_a_result_that_somebody_keeps_is_another_array():
    kept = []

    @script()
    def keeping(x: FLOAT["N"]):
        y = op.Add(x, 1.0)
        kept.append(y)
        return y, op.Reshape(y, [-1])

    results = keeping(np.ones(5000, np.float32))
    for result in results:
        result[:] = 0
    assert kept[0].numpy()[0] == 2


def test_a_large_result_is_not_copied():
    import tracemalloc

    x = np.ones(1 << 22, np.float32)
    scaled(x)
    tracemalloc.start()
    try:
        scaled(x)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


# --- Tensors -------------------------------------------------------------------------------------


def test_functions_of_numpy_on_tensors():
    x = np.array([1, 4], np.float32)
    t = Tensor(x)
    for result, expected in [
        (np.exp(t), np.exp(x)), (np.sqrt(t), [1, 2]), (np.sum(t), 5),
        (np.hypot(t, t), np.hypot(x, x)), (np.add.outer(t, x), np.add.outer(x, x)),
        (np.maximum(x, t), x), (np.stack([t, t]), [x, x]),
    ]:  # fmt: skip
        assert not isinstance(result, Tensor)
        np.testing.assert_array_equal(result, expected)
    out = np.zeros(2, np.float32)
    assert np.add(x, t, out=out) is out
    np.testing.assert_array_equal(out, 2 * x)


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "**", "@", "<", "<=", "==", "!=", ">", ">="])
def test_arrays_leave_operators_to_tensors(sign):
    left, right = np.array([1.5, 2], np.float32), np.array([2, 0.5], np.float32)
    expected = eval(f"a {sign} b", {"a": left, "b": right})
    for one, other in [(left, Tensor(right)), (Tensor(left), right), (Tensor(left), Tensor(right))]:
        result = eval(f"a {sign} b", {"a": one, "b": other})
        assert isinstance(result, Tensor)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


def test_numpy_is_refused_in_scripts():
    @script()
    def by_numpy(x: FLOAT["N"]):
        return np.exp(x)

    @script()
    def as_list(x: FLOAT["N"]):
        return op.Mul(x, x.tolist()[0])

    for one in (by_numpy, as_list):
        with pytest.raises((TypeError, AttributeError)):
            one([1.0])
        error_of(one)


@pytest.mark.parametrize(
    ("expression", "instead"),
    [
        ("np.exp(x)", "scripts call operators: `op.Exp(...)`"),
        ("np.where(x > 0, x, 0)", "scripts call operators: `op.Where(...)`"),
        ("np.sum(x, axis=0)", "scripts call operators: `op.ReduceSum(...)`"),
        ("np.mean(x)", "scripts call operators: `op.ReduceMean(...)`"),
        ("np.concatenate([x, x])", "write `op.Concat(a, b, axis=axis)`"),
        ("np.nan_to_num(x)", "call an operator"),
    ],
)
def test_functions_of_numpy_in_scripts_say_the_operator(expression, instead, tmp_path):
    """They would compute what no model has; the compiler refuses them, too."""
    path = tmp_path / "by_numpy.py"
    path.write_text(
        "import numpy as np\nfrom sardonyx import FLOAT, script, opset18 as op\n"
        f"@script()\ndef f(x: FLOAT['N']):\n    return {expression}\n"
    )
    f = runpy.run_path(str(path))["f"]
    name = expression.split("(")[0]
    with pytest.raises(TypeError, match=re.escape(f"{name} computes with NumPy")) as error:
        f(np.ones(2, np.float32))
    assert instead in str(error.value)
    error_of(f)


def test_tensors_as_numbers_and_lists():
    one = Tensor(np.float32(1.25))
    assert (float(one), one.item(), one.tolist(), one.numpy().shape) == (1.25, 1.25, 1.25, ())
    assert Tensor([[1, 2]]).tolist() == [[1, 2]]
    assert (f"{one:.3f}", f"{one:>8}", f"{Tensor(7):03d}") == ("1.250", "    1.25", "007")
    assert f"{Tensor([1.0])}" == repr(Tensor([1.0]))
    assert f"{Tensor('a'):>3}" == "  a"
    with pytest.raises(TypeError, match=r"one number, and the tensor is FLOAT\[2\]"):
        f"{Tensor([1.0, 2.0]):.2f}"
    with pytest.raises(ValueError, match="2 elements"):
        Tensor([1, 2]).item()


# --- Where a script's text comes from ------------------------------------------------------------

TEXT = """\
from sardonyx import FLOAT, script, opset18 as op
@script()
def half(x: FLOAT["N"]):
    return op.Mul(x, 0.5)
@script()
def quarter(x: FLOAT["N"]):
    return half(half(x))
"""
SHOW = "\nprint(quarter([4.0]), len(quarter.to_model_bytes()) > 9)\n"


def test_python_c():
    assert python(TEXT + SHOW) == ("[1.] True\n", "")
    # A text of `exec` in it is none of its own.
    _, complaint = python(f"exec({TEXT!r})")
    assert "script.from_source(text)" in complaint


def test_texts_that_are_not_at_hand():
    with pytest.raises(OSError, match=r"script\.from_source\(text\)"):
        exec(TEXT, {"__name__": "made"})
    _, complaint = python("", "-", given=TEXT)
    assert complaint.endswith(
        "OSError: the source of `half` cannot be read: there is no file or notebook cell "
        "`<stdin>`; put the script into a file, or create it from its text with "
        "`script.from_source(text)`\n"
    )


@pytest.mark.parametrize(
    ("name", "magic"), [("<timed exec>", "%%time"), ("<magic-timeit>", "%%timeit")]
)
def test_texts_that_magics_run(name: str, magic: str):
    # The names that IPython compiles such cells under.
    with pytest.raises(OSError, match=f"`{magic}` runs a text .* in a cell without it"):
        exec(compile(TEXT, name, "exec"), {"__name__": "made"})


def test_from_source():
    made = script.from_source(TEXT)
    assert (made.name, made.source.splitlines()[1]) == ("quarter", 'def quarter(x: FLOAT["N"]):')
    assert Model(made.to_model_bytes())([4.0])[0] == made([4.0])[0] == 1
    assert script.from_source(TEXT, "half").name == "half"
    with pytest.raises(CompileError, match=r"^<script .*, line 4: "):
        script.from_source(TEXT.replace("op.Mul", "op.Mull"))
    for text, message in [
        ("x = 1", "no function with `@script"),
        (TEXT.replace("half(half(x))", "x"), "more than one script, name one: it has `half`"),
    ]:
        with pytest.raises(ValueError, match=message):
            script.from_source(text)
    with pytest.raises(ValueError, match="no script `third`: it has `half`, `quarter`"):
        script.from_source(TEXT, "third")


def test_doctest(tmp_path):
    lines = TEXT.replace("@script()\ndef", "@script()\n... def").splitlines()
    shown = "\n".join((f"    {x}" if x.startswith("...") else f"    >>> {x}") if x[0] != " "
                      else f"    ... {x}" for x in lines)  # fmt: skip
    path = tmp_path / "tried.py"
    path.write_text(f'"""\n{shown}\n    >>> len(quarter.to_model_bytes()) > 9\n    True\n"""\n')
    assert python("", "-m", "doctest", str(path)) == ("", "")


CELLS = (
    TEXT + SHOW,
    "@script()\ndef wrong(x: FLOAT['N']):\n    return op.Relux(x)",
)


def test_notebooks(tmp_path):
    manager = pytest.importorskip("jupyter_client").manager
    package = str(pathlib.Path(sardonyx.__file__).parents[1])
    kernel, client = manager.start_new_kernel(
        kernel_name="python3", cwd=str(tmp_path), env={**os.environ, "PYTHONPATH": package}
    )
    said = io.StringIO()

    def hook(message: dict[str, Any]) -> None:
        content = message["content"]
        said.write(content.get("text", "") + content.get("evalue", ""))

    try:
        for cell in CELLS:
            client.execute_interactive(cell, output_hook=hook, timeout=60)
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    assert said.getvalue().startswith("[1.] True\n")
    assert "\nCell In[2], line 3: `ai.onnx` has no operator `Relux`\n" in said.getvalue()
    assert "--> Cell In[2]:3:15" in said.getvalue()


# --- Methods -------------------------------------------------------------------------------------


class Layer:
    def __init__(self, weight: float, inner: Layer | None = None) -> None:
        self.weight = weight
        self.bias = np.array([1, -1], np.float32)
        self.inner = inner

    @script()
    def scaled(self, x: FLOAT["M", 2], times: int = 1) -> FLOAT["M", 2]:
        """x scaled."""
        return op.Mul(x, self.weight * times)

    @script(default_opset=op)
    def forward(self, x: FLOAT["M", 2]) -> FLOAT["M", 2]:
        y = self.scaled(x) + self.scaled(x, times=3) + self.bias
        if self.inner is not None:
            y = self.inner.forward(y)
        return y

    @staticmethod
    @script()
    def rectified(x: FLOAT["N"]):
        return op.Relu(x)


def test_methods_are_scripts():
    x = np.array([[1, 2], [3, 4]], np.float32)
    layer = Layer(0.5)
    expected = 2 * x + layer.bias
    np.testing.assert_array_equal(layer.forward(x), expected)
    np.testing.assert_array_equal(layer.forward(x=x), expected)
    model = layer.forward.to_model_proto()
    onnx.checker.check_model(model, full_check=True)
    assert [one.name for one in model.graph.input] == ["x"]
    np.testing.assert_array_equal(Model(model)(x), expected)
    # One function for each way in which it is called, whichever object asks.
    assert len(model.functions) == 1
    function = layer.scaled.to_function_proto()
    assert (list(function.input), list(function.attribute)) == (["x"], [])
    assert layer.forward.check() == []
    layer.weight = 1.0
    np.testing.assert_array_equal(Model(layer.forward.to_model_bytes())(x), 4 * x + layer.bias)


def test_methods_of_several_objects():
    x = np.array([[1, 2]], np.float32)
    outer = Layer(0.5, Layer(0.25))
    expected = (2 * x + outer.bias) + outer.bias
    np.testing.assert_array_equal(outer.forward(x), expected)
    model = outer.forward.to_model_proto()
    onnx.checker.check_model(model, full_check=True)
    np.testing.assert_array_equal(Model(model)(x), expected)


def test_methods_as_objects_of_python():
    layer = Layer(0.5)
    assert isinstance(layer.scaled, sardonyx.OnnxFunction)
    assert isinstance(Layer.scaled, sardonyx.OnnxFunction)
    assert str(layer.scaled.__signature__).startswith("(x: ")
    assert layer.scaled.__doc__ == "x scaled."
    assert Layer.rectified([-1.0]).tolist() == layer.rectified([-1.0]).tolist() == [0]
    assert pickle.loads(pickle.dumps(layer.scaled))([[1.0, 2.0]]).tolist() == [[0.5, 1]]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        layer.forward()
    with pytest.raises(CompileError, match=r"of an object, as in `thing\.method`"):
        Layer.forward.to_model_bytes()


def test_objects_with_methods_are_freed():
    import gc
    import weakref

    layer = Layer(0.5)
    layer.kept = layer.forward  # type: ignore[attr-defined]
    layer.kept.to_model_bytes()
    gone = weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None


# --- Leaks ---------------------------------------------------------------------------------------

LEAK = """\
import ctypes, sardonyx
ctypes.pythonapi.Py_IncRef(ctypes.py_object(sardonyx.Tensor([1.0])))
"""


# What holds objects at the end of a process: frames of a thread, failed tests, exits by handlers.
HELD = """\
import atexit, multiprocessing, sys, threading, time
import sardonyx

def wait(held):
    time.sleep(60)

def hold():
    held = sardonyx.Tensor([1.0])
    threading.Thread(target=wait, args=(held,), daemon=True).start()

def test_held():
    hold()
    held = sardonyx.opset18.Add
    assert sardonyx.Tensor([1.0]) is held

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        child = multiprocessing.get_context(method).Process(target=hold)
        child.start()
        child.join()
    atexit.register(sys.exit, 3)
    hold()
    print("end")
"""


def test_leaks_are_reported_if_asked_for():
    assert "leaked 1 instances" in python(LEAK, SARDONYX_LEAKS="1")[1]


@pytest.mark.skipif("release" not in os.environ.get("SDX_BUILD", "release"), reason="reports leaks")
@pytest.mark.parametrize("words", [
    [], ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"],
    ["-m", "pytest", "-p", "no:cacheprovider", "-n", "1"],
], ids=["program", "pytest", "xdist"])  # fmt: skip
def test_leaks_are_not_reported_to_users(words, tmp_path):
    (tmp_path / "test_held.py").write_text(HELD)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    environment = {k: v for k, v in os.environ.items() if k != "SARDONYX_LEAKS"}
    package = str(pathlib.Path(sardonyx.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *words, "test_held.py"], capture_output=True, text=True, timeout=60,
        check=False, cwd=tmp_path, env={**environment, "PYTHONPATH": package},
    )  # fmt: skip
    assert "leaked" not in done.stdout + done.stderr
    assert ("1 failed" if words else "end") in done.stdout


@pytest.mark.skipif("release" not in os.environ.get("SDX_BUILD", "release"), reason="reports leaks")
def test_leaks_are_not_reported_at_the_end_of_our_tests(tmp_path):
    (tmp_path / "test_held.py").write_text(HELD)
    package = pathlib.Path(sardonyx.__file__).parents[1]
    tests = pathlib.Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-c",
         os.devnull, "test_held.py"],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{package}:{tests}", "SDX_STRICT": ""},
    )  # fmt: skip
    assert "1 failed" in done.stdout and "leaked" not in done.stdout + done.stderr
