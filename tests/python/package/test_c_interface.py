"""The C interface (include/sardonyx/c.h) through ctypes, as another language would bind to it."""

from __future__ import annotations

import ctypes
import pathlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from places import BUILD, ROOT

LIBRARY = BUILD / "libsardonyx.so"
POINTER = ctypes.c_void_p
FLOAT = 1

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="this build has no libsardonyx.so")


class View(ctypes.Structure):
    _fields_ = (
        ("element_type", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("data", POINTER),
        ("size", ctypes.c_size_t),
    )


class Limits(ctypes.Structure):
    _fields_ = (("timeout", ctypes.c_double), ("token", POINTER))


class Argument(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("value", POINTER),
        ("ints", ctypes.POINTER(ctypes.c_int64)),
        ("floats", ctypes.POINTER(ctypes.c_double)),
        ("texts", ctypes.POINTER(ctypes.c_char_p)),
        ("count", ctypes.c_size_t),
    )


class Node(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("name", "op_type", "domain")),
        ("depth", ctypes.c_int32),
        ("output_count", ctypes.c_size_t),
        ("output_names", ctypes.POINTER(ctypes.c_char_p)),
    )


KERNEL = ctypes.CFUNCTYPE(POINTER, POINTER, POINTER)
NODE_DONE = ctypes.CFUNCTYPE(ctypes.c_int32, POINTER, ctypes.POINTER(Node), ctypes.POINTER(POINTER))


class Observer(ctypes.Structure):
    _fields_ = (("node_done", NODE_DONE), ("context", POINTER))


class Finding(ctypes.Structure):
    _fields_ = (
        ("severity", ctypes.c_int32),
        *((name, ctypes.c_char_p) for name in ("code", "message", "help", "path")),
        *((name, ctypes.c_uint32)
          for name in ("line", "column", "end_line", "end_column", "begin", "end")),
        ("edit_count", ctypes.c_size_t),
    )  # fmt: skip


class Library:
    """The functions, whose errors become exceptions."""

    def __init__(self) -> None:
        self.raw = ctypes.CDLL(str(LIBRARY))
        self.raw.sdx_error_message.restype = ctypes.c_char_p
        self.raw.sdx_version.restype = ctypes.c_char_p
        for name in ("sdx_value_count", "sdx_model_input_count", "sdx_model_output_count"):
            getattr(self.raw, name).restype = ctypes.c_size_t
        for name in ("sdx_error_message", "sdx_error_free", "sdx_value_free", "sdx_model_free",
                     "sdx_value_kind", "sdx_value_count", "sdx_model_input_count"):  # fmt: skip
            getattr(self.raw, name).argtypes = [POINTER]

    def call(self, name: str, *arguments: Any) -> None:
        function = getattr(self.raw, name)
        function.restype = POINTER
        error = function(*arguments)
        if error is not None:
            message = self.raw.sdx_error_message(error).decode()
            self.raw.sdx_error_free(error)
            raise ValueError(message)

    def make(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        out = POINTER(1)
        try:
            self.call(name, *arguments, ctypes.byref(out))
        except ValueError:
            assert out.value is None
            raise
        return out

    def model(self, body: str) -> ctypes.c_void_p:
        text = f"from sardonyx import FLOAT, opset18 as op, script\n@script()\ndef f{body}\n"
        size = ctypes.c_size_t(len(text))
        return self.make("sdx_compile_text", text.encode(), size, b"f.py", None)

    def borrow(self, array: np.ndarray, element_type: int = FLOAT) -> ctypes.c_void_p:
        return self.make("sdx_value_borrow", ctypes.byref(view_of(array, element_type)), None, None)

    def run(self, model: ctypes.c_void_p, *inputs: ctypes.c_void_p) -> ctypes.c_void_p:
        out = (POINTER * 1)()
        handles = (POINTER * len(inputs))(*inputs)
        self.call("sdx_model_run", model, handles, ctypes.c_size_t(len(inputs)), None, out,
                  ctypes.c_size_t(1))  # fmt: skip
        return POINTER(out[0])


def view_of(array: np.ndarray, element_type: int = FLOAT) -> View:
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    return View(element_type, array.ndim, dims, array.ctypes.data, array.nbytes)


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    yield Library()


def test_results_share_the_memory_of_an_input(library: Library) -> None:
    model = library.model("(x: FLOAT['N']):\n    return op.Identity(x)")
    array = np.arange(1000, dtype=np.float32)
    x = library.borrow(array)
    y = library.run(model, x)
    view = View()
    library.call("sdx_value_view", y, ctypes.byref(view))
    assert view.data == array.ctypes.data and view.dims[0] == 1000 and view.element_type == FLOAT
    for handle in (x, y):
        library.raw.sdx_value_free(handle)
    library.raw.sdx_model_free(model)


def test_memory_is_released_with_the_last_value(library: Library) -> None:
    released: list[int] = []
    release = ctypes.CFUNCTYPE(None, POINTER)(lambda context: released.append(context))
    array = np.ones(4, np.float32)
    x = library.make("sdx_value_borrow", ctypes.byref(view_of(array)), release, POINTER(7))
    model = library.model("(x: FLOAT['N']):\n    return op.Identity(x)")
    y = library.run(model, x)
    library.raw.sdx_value_free(x)
    assert released == []
    library.raw.sdx_value_free(y)
    assert released == [7]
    bad = view_of(array)
    bad.size = 3
    with pytest.raises(ValueError, match="3 bytes"):
        library.make("sdx_value_borrow", ctypes.byref(bad), release, POINTER(8))
    assert released == [7]
    library.raw.sdx_model_free(model)


def test_results_in_given_memory(library: Library) -> None:
    model = library.model("(x: FLOAT['N'], y: FLOAT['N']):\n    return x * y")
    result = np.zeros(3, np.float32)
    arrays = [np.full(3, k, np.float32) for k in (2, 5)]
    inputs = (POINTER * 2)(*(library.borrow(array) for array in arrays))
    two, one = ctypes.c_size_t(2), ctypes.c_size_t(1)
    view = view_of(result)
    library.call("sdx_model_run_into", model, inputs, two, None, ctypes.byref(view), one)
    assert result.tolist() == [10, 10, 10]
    library.raw.sdx_model_free(model)


def test_ports(library: Library) -> None:
    model = library.model("(x: FLOAT['N', 2]):\n    return op.Shape(x)")
    name, type_ = ctypes.c_char_p(), ctypes.c_char_p()
    both = ctypes.byref(name), ctypes.byref(type_)
    library.call("sdx_model_input", model, ctypes.c_size_t(0), *both)
    assert (name.value, type_.value) == (b"x", b"FLOAT[N, 2]")
    library.call("sdx_model_output", model, ctypes.c_size_t(0), *both)
    assert type_.value == b"INT64[2]"
    with pytest.raises(ValueError, match="value 1 of 1"):
        library.call("sdx_model_input", model, ctypes.c_size_t(1), *both)
    library.raw.sdx_model_free(model)


def test_mistakes_of_a_script(library: Library) -> None:
    out = POINTER()
    text = (
        b"from sardonyx import opset18 as op, script\n@script()\ndef f(x):\n    return op.Nope(x)\n"
    )
    size = ctypes.c_size_t(len(text))
    function = library.raw.sdx_compile_text
    function.restype = POINTER
    error = function(text, size, b"f.py", None, ctypes.byref(out))
    library.raw.sdx_error_is_compilation.argtypes = [POINTER]
    assert library.raw.sdx_error_is_compilation(error) == 1
    assert b"unknown-operator" in library.raw.sdx_error_message(error)
    library.raw.sdx_error_finding_count.argtypes = [POINTER]
    count = library.raw.sdx_error_finding_count(error)
    findings = [Finding() for _ in range(count)]
    for i, found in enumerate(findings):
        library.call("sdx_error_finding", POINTER(error), ctypes.c_size_t(i), ctypes.byref(found))
    (finding,) = (found for found in findings if found.code == b"unknown-operator")
    assert (finding.severity, finding.path) == (2, b"f.py")
    zero, beyond = ctypes.c_size_t(0), ctypes.c_size_t(count)
    assert b"Nope" in text[finding.begin : finding.end]
    assert (finding.line, finding.end_line) == (4, 4)
    for wrong in (error, None):
        with pytest.raises(ValueError, match="no such finding"):
            library.call("sdx_error_finding", POINTER(wrong), beyond, ctypes.byref(finding))
        with pytest.raises(ValueError, match="no such edit"):
            library.call("sdx_error_edit", POINTER(wrong), zero, ctypes.c_size_t(99), None)
    library.raw.sdx_error_free(error)
    with pytest.raises(ValueError, match="cannot"):
        library.make("sdx_model_load", b"/nowhere/at/all.onnx")


class CheckOptions(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.POINTER(ctypes.c_char_p)) for name in ("text_paths", "texts")),
        ("text_count", ctypes.c_size_t),
        ("schemas", ctypes.POINTER(ctypes.c_char_p)),
        ("schema_count", ctypes.c_size_t),
    )


def texts(*items: bytes | None) -> Any:
    return (ctypes.c_char_p * len(items))(*items)


def test_checks(library: Library, tmp_path: pathlib.Path) -> None:
    text = b"from sardonyx import opset18 as op, script\n@script()\ndef f(x):\n    return "
    one, none = ctypes.c_size_t(1), ctypes.c_size_t(0)
    (tmp_path / "saved.py").write_bytes(text + b"op.Relu(x)\n")
    paths = texts(bytes(tmp_path))
    assert library.make("sdx_check_files", paths, one, None).value is None
    options = CheckOptions(texts(b"f.py"), texts(text + b"op.Nope(x)\n"), one)
    report = library.make("sdx_check_files", paths, one, ctypes.byref(options))
    assert b"unknown-operator" in library.raw.sdx_error_message(report)
    found = Finding()
    library.call("sdx_error_finding", report, none, ctypes.byref(found))
    assert (found.code, found.path, found.line) == (b"unknown-operator", b"f.py", 4)
    library.raw.sdx_error_free(report)
    for wrong, message in (
        ((None, one, None), "`paths` is NULL"),
        ((texts(None), one, None), "`paths` is NULL at 0"),
        ((None, none, ctypes.byref(CheckOptions(None, None, one))), "`text_paths` is NULL"),
    ):
        with pytest.raises(ValueError, match=message):
            library.make("sdx_check_files", *wrong)


def test_misused_handles_are_errors(library: Library) -> None:
    """NULL, and a handle of another kind, everywhere."""
    model = library.model("(x: FLOAT['N']):\n    return -x")
    x = library.borrow(np.ones(2, np.float32))
    view, out, text = View(), POINTER(), ctypes.c_char_p()
    zero, one = ctypes.c_size_t(0), ctypes.c_size_t(1)
    handles = (POINTER * 1)(model)  # no value
    for wrong in (None, model):
        for call in (
            ("sdx_value_view", wrong, ctypes.byref(view)),
            ("sdx_value_text", wrong, zero, ctypes.byref(text), None),
            ("sdx_value_item", wrong, zero, ctypes.byref(out)),
            ("sdx_value_keys", wrong, ctypes.byref(out)),
            ("sdx_value_values", wrong, ctypes.byref(out)),
            ("sdx_value_map", wrong, wrong, ctypes.byref(out)),
        ):
            with pytest.raises(ValueError, match=r"no|keys"):
                library.call(*call)
        assert library.raw.sdx_value_kind(wrong) == -1
        assert library.raw.sdx_value_count(wrong) == 0
        library.raw.sdx_value_free(wrong)  # nothing
    for wrong in (None, x):
        for call in (
            ("sdx_model_prepare", wrong),
            ("sdx_model_save", wrong, b"x.onnx"),
            ("sdx_model_share", wrong, ctypes.byref(out)),
            ("sdx_model_input", wrong, zero, None, None),
            ("sdx_model_run", wrong, handles, one, None, (POINTER * 1)(), one),
            ("sdx_model_run_into", wrong, handles, one, None, None, zero),
        ):
            with pytest.raises(ValueError, match=r"model .*NULL"):
                library.call(*call)
        library.raw.sdx_model_free(wrong)
    with pytest.raises(ValueError, match="is not a value"):
        library.call("sdx_model_run", model, handles, one, None, (POINTER * 1)(), one)
    with pytest.raises(ValueError, match="9 outputs"):
        library.call("sdx_model_run", model, handles, one, None, (POINTER * 9)(),
                     ctypes.c_size_t(9))  # fmt: skip
    with pytest.raises(ValueError, match="is NULL"):
        library.call("sdx_model_run", model, None, zero, None, None, one)
    with pytest.raises(ValueError, match="`out` is NULL"):
        library.call("sdx_compile_text", b"", zero, None, None, None)
    library.raw.sdx_value_free(x)
    library.raw.sdx_model_free(model)


def test_every_function_of_the_header_is_exported(library: Library) -> None:
    header = (ROOT / "include/sardonyx/c.h").read_text()
    names = re.findall(r"^SDX_C [\w* ]*?(sdx_\w+)\(", header, re.MULTILINE)
    assert len(names) == header.count("\nSDX_C ")
    for name in names:
        assert getattr(library.raw, name)


LOOP = """(x: FLOAT[4], n: INT64):
    for i in range(n):
        x = x + 1.0
    return x"""


def test_runs_end_by_a_timeout_and_by_a_token(library: Library) -> None:
    text = "from sardonyx import FLOAT, INT64, opset18 as op, script\n@script()\ndef f" + LOOP
    size = ctypes.c_size_t(len(text))
    model = library.make("sdx_compile_text", text.encode(), size, b"f.py", None)
    token = library.make("sdx_token_new")
    x = library.borrow(np.zeros(4, np.float32))
    many, few = np.array(1 << 50), np.array(3)
    values = {n: library.borrow(a, 7) for n, a in (("many", many), ("few", few))}
    out = (POINTER * 1)()
    one = ctypes.c_size_t(1)
    raw = library.raw
    raw.sdx_model_run_limited.restype = POINTER
    for name in ("sdx_error_end", "sdx_token_cancel", "sdx_token_free", "sdx_token_is_cancelled"):
        getattr(raw, name).argtypes = [POINTER]

    def end_of(count: str, limits: Limits | None) -> int:
        inputs = (POINTER * 2)(x, values[count])
        given = None if limits is None else ctypes.byref(limits)
        error = raw.sdx_model_run_limited(model, inputs, ctypes.c_size_t(2), None, given, out, one)
        end = raw.sdx_error_end(error)
        assert (error is None) == (out[0] is not None)
        raw.sdx_error_free(error)
        raw.sdx_value_free(out[0])
        return int(end)

    assert end_of("few", None) == end_of("few", Limits(0, None)) == 0
    assert end_of("many", Limits(0.05, None)) == 2
    assert end_of("many", Limits(-1, None)) == 2
    assert end_of("many", Limits(0, model)) == 0  # no token: an error before the run
    timer = threading.Timer(0.1, lambda: raw.sdx_token_cancel(token))
    timer.start()
    assert end_of("many", Limits(60, token)) == 1
    timer.join()
    assert raw.sdx_token_is_cancelled(token) == 1
    assert end_of("many", Limits(0, token)) == 1
    assert raw.sdx_token_is_cancelled(None) == 0
    raw.sdx_token_free(token)
    for value in (x, *values.values()):
        raw.sdx_value_free(value)
    raw.sdx_model_free(model)


def array_of(library: Library, value: Any) -> np.ndarray:
    view = View()
    library.call("sdx_value_view", value, ctypes.byref(view))
    numbers = (ctypes.c_float * (view.size // 4)).from_address(view.data)
    return np.array(numbers).reshape([view.dims[i] for i in range(view.rank)])


def evaluate(library: Library, name: bytes, arguments: list[Argument], kernels: Any) -> np.ndarray:
    out = (POINTER * 1)()
    given = (Argument * len(arguments))(*arguments)
    domain = b"" if kernels is None else b"mine"
    library.call("sdx_evaluate", domain, ctypes.c_int64(21), name, given,
                 ctypes.c_size_t(len(arguments)), kernels, None, None, out,
                 ctypes.c_size_t(1))  # fmt: skip
    result = array_of(library, POINTER(out[0]))
    library.raw.sdx_value_free(out[0])
    return result


def test_operators_at_once(library: Library) -> None:
    array = np.array([1, -2, 3], np.float32)  # lives as long as x
    x = library.borrow(array)
    value = Argument(None, 1, x)
    two = ctypes.c_int64(2)
    number = Argument(None, 2, None, ctypes.pointer(two))
    np.testing.assert_array_equal(evaluate(library, b"Mul", [value, number], None), [2, -4, 6])
    alpha = Argument(b"alpha", 3, None, None, ctypes.pointer(ctypes.c_double(0.5)))
    np.testing.assert_array_equal(evaluate(library, b"LeakyRelu", [value, alpha], None), [1, -1, 3])
    for arguments, message in (
        ([value], "`B` is missing"),
        ([value, Argument(None, 9)], "argument 1 has the unknown kind 9"),
        ([value, Argument(None, 1)], "argument 1 is not a value"),
        ([value, Argument(None, 5, None, None, None, None, 4)], "4 elements at NULL"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate(library, b"Mul", arguments, None)
    library.raw.sdx_value_free(x)


def test_kernels_and_observers(library: Library) -> None:
    raw = library.raw
    raw.sdx_error_new.restype = POINTER

    def triple(call: int, _context: Any) -> int | None:
        given = POINTER()
        library.call("sdx_call_input", POINTER(call), ctypes.c_size_t(0), ctypes.byref(given))
        result = 3 * array_of(library, given)
        if result[0] < 0:
            return raw.sdx_error_new(b"negative")  # type: ignore[no-any-return]
        made = library.make("sdx_value_zeros", FLOAT, (ctypes.c_int64 * 1)(*result.shape), 1)
        view = View()
        library.call("sdx_value_view", made, ctypes.byref(view))
        ctypes.memmove(view.data, result.astype(np.float32).ctypes.data, view.size)
        library.call("sdx_call_set_output", POINTER(call), ctypes.c_size_t(0), made)
        raw.sdx_value_free(made)
        return None

    kernel = KERNEL(triple)
    kernels = library.make("sdx_kernels_new")
    library.call("sdx_kernels_add", kernels, b"mine", b"Triple", kernel, None, None)
    with pytest.raises(ValueError, match="has a kernel already"):
        library.call("sdx_kernels_add", kernels, b"mine", b"Triple", kernel, None, None)
    with pytest.raises(ValueError, match="is the standard's"):
        library.call("sdx_kernels_add", kernels, b"ai.onnx", b"Abs", kernel, None, None)
    arrays = (np.array([1, 2], np.float32), np.array([-1], np.float32))  # live as long as these:
    x, negative = (library.borrow(array) for array in arrays)
    np.testing.assert_array_equal(
        evaluate(library, b"Triple", [Argument(None, 1, x)], kernels), [3, 6]
    )

    text = (
        "from sardonyx import FLOAT, Opset, opset18 as op, script\nmine = Opset('mine', 1)\n"
        "@script()\ndef f(x: FLOAT['N']):\n    y = mine.Triple(x)\n    return op.Neg(y)\n"
    )
    plain = library.make("sdx_compile_text", text.encode(), ctypes.c_size_t(len(text)), b"f.py",
                         None)  # fmt: skip
    with pytest.raises(ValueError, match="Triple"):
        library.call("sdx_model_prepare", plain)
    model = library.make("sdx_model_with_kernels", plain, kernels)
    raw.sdx_kernels_free.argtypes = [POINTER]
    raw.sdx_kernels_free(kernels)
    raw.sdx_model_free(plain)
    result = library.run(model, x)
    np.testing.assert_array_equal(array_of(library, result), [-3, -6])
    raw.sdx_value_free(result)
    with pytest.raises(ValueError, match=r"Triple.*negative"):
        library.run(model, negative)

    seen: list[tuple[bytes, bytes, list[float]]] = []

    def look(_context: Any, node: Any, outputs: Any) -> int:
        name = node.contents.output_names[0]
        seen.append((node.contents.op_type, name, list(array_of(library, POINTER(outputs[0])))))
        return len(seen) // 3

    observer = Observer(NODE_DONE(look), None)
    out = (POINTER * 1)()
    arguments = (model, (POINTER * 1)(x), ctypes.c_size_t(1), None, None, ctypes.byref(observer))
    library.call("sdx_model_run_observed", *arguments, out, ctypes.c_size_t(1))
    assert seen[0] == (b"Triple", b"y", [3, 6]) and seen[1][0] == b"Neg"
    raw.sdx_value_free(out[0])
    with pytest.raises(ValueError, match="the observer has ended the run"):
        library.call("sdx_model_run_observed", *arguments, out, ctypes.c_size_t(1))
    assert len(seen) == 3 and out[0] is None
    for value in (x, negative):
        raw.sdx_value_free(value)
    raw.sdx_model_free(model)
