"""What editors and type checkers read: the stubs say what the package has, and the standard's text.

Run as a program, this file rewrites the stubs of some operators in tests/data/types/stubs.txt and
the signatures of one opset in tests/data/types/opset23.txt.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import pathlib
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator

import onnx.defs
import pytest
import sardonyx
from sardonyx import _script, onnx_types

from places import ROOT

GOLDEN = ROOT / "tests/data/types/stubs.txt"
GOLDEN_OPSET = ROOT / "tests/data/types/opset23.txt"
PACKAGE = pathlib.Path(sardonyx.__file__).parent
SHOWN = (
    ("Opset1", "Split"),
    ("Opset10", "Upsample"),
    ("Opset11", "TopK"),
    ("Opset12", "Dropout"),
    ("Opset18", "Split"),
    ("Opset22", "Conv"),
    ("Opset25", "Cast"),
    ("Opset_ai_onnx_ml1", "ZipMap"),
)


@functools.cache
def stub(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text())


def classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {one.name: one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)}


def methods(one: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """By name, the last overload of each."""
    return {item.name: item for item in one.body if isinstance(item, ast.FunctionDef)}


def schemas(domain: str, version: int) -> Iterator[onnx.defs.OpSchema]:
    for name in {one.name for one in onnx.defs.get_all_schemas_with_history()}:
        with contextlib.suppress(onnx.defs.SchemaError):
            yield onnx.defs.get_schema(name, version, domain)


@pytest.mark.parametrize(
    "name, domain, version",
    [
        ("Opset1", "", 1),
        ("Opset13", "", 13),
        ("Opset21", "", 21),
        ("Opset_ai_onnx_ml3", "ai.onnx.ml", 3),
    ],
)
def test_a_class_has_exactly_the_operators_of_its_opset(name, domain, version):
    of_class = classes(stub("_opsets.pyi"))
    found: dict[str, ast.FunctionDef] = {}
    while name != "Opset":
        found = methods(of_class[name]) | found
        (base,) = of_class[name].bases
        assert isinstance(base, ast.Name)
        name = base.id
    expected = {one.name: one for one in schemas(domain, version)}
    assert found.keys() == expected.keys()
    for operator, schema in expected.items():
        arguments = found[operator].args
        given = [one.arg for one in [*arguments.args[1:], arguments.vararg] if one is not None]
        assert given == [one.name for one in schema.inputs]
        named = {one.arg for one in arguments.kwonlyargs}
        assert named == schema.attributes.keys() - set(given)
        required = {
            one.arg
            for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is None
        }
        assert required == {one.name for one in schema.attributes.values() if one.required}
        marks = [ast.unparse(one) for one in found[operator].decorator_list]
        assert schema.deprecated == any(mark.startswith("deprecated('use ") for mark in marks)


def test_documentation_is_markdown():
    """No HTML, no quote that is escaped, fences in pairs."""
    for one in ast.walk(stub("_opsets.pyi")):
        text = isinstance(one, ast.FunctionDef) and ast.get_docstring(one)
        if not text:
            continue
        assert text.count("```") % 2 == 0, one.name
        assert "\\_" not in text and '\\"' not in text, one.name
        prose = re.sub(r"```.*?```|`[^`]*`|^    .*$|<https:[^>]*>", "", text, flags=re.S | re.M)
        assert not re.search(r"</?[A-Za-z][^<>\n]*>", prose), one.name
        assert "**Outputs**" in text and "https://onnx.ai/onnx/operators/" in text, one.name


def test_a_class_for_each_element_type():
    assert set(onnx_types.TYPE_NAMES) <= classes(stub("_element_types.pyi")).keys()


def test_checkers_see_all_public_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    lines = [
        line
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for line in block.body
    ]
    seen = {
        alias.asname or alias.name
        for line in lines
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    } | {line.name for line in lines if isinstance(line, ast.ClassDef)}
    public = {name for name in dir(sardonyx) if not name.startswith(("_", "opset"))}
    assert public - {"load", *onnx_types.TYPE_NAMES} <= seen


def test_functions_are_those_of_the_package():
    """The stubs of scripts have the members that the code has, with the same parameters."""
    of_class = classes(stub("_functions.pyi"))
    for kind in (_script.OnnxFunction, _script.OnnxClosure):
        written = methods(of_class[kind.__name__])
        public = {name for name in vars(kind) if not name.startswith("_")}
        assert public == {name for name in written if not name.startswith("_")}
        for name in public:
            member = inspect.getattr_static(kind, name)
            if inspect.isfunction(member):
                compare(written[name], inspect.signature(member))
    request = inspect.signature(_script.OnnxFunction.to_model_bytes)
    for name in ("compile", "to_model_proto"):
        compare(methods(of_class["OnnxFunction"])[name], request)
    call = methods(of_class["_Script"])["__call__"]
    assert [one.arg for one in call.args.args][1:] == ["opset", "default_opset", "schemas"]
    compare(methods(of_class["_Script"])["from_source"], inspect.signature(_script._from_source))
    for keyword in call.args.kwonlyargs:
        is_text = keyword.arg == "doc_string" or "producer" in keyword.arg
        value = "1" if is_text else keyword.arg == "inline" or 9
        assert callable(_script.script(**{keyword.arg: value})), keyword.arg


def compare(written: ast.FunctionDef, signature: inspect.Signature) -> None:
    arguments = written.args
    names = [one.arg for one in [*arguments.args, *arguments.kwonlyargs] if one.arg != "self"]
    kinds = inspect.Parameter
    expected = [
        one.name
        for one in signature.parameters.values()
        if one.kind != kinds.VAR_KEYWORD and one.name != "self"
    ]
    is_open = any(one.kind == kinds.VAR_KEYWORD for one in signature.parameters.values())
    assert names == expected or (is_open and names[: len(expected)] == expected), written.name


def test_signatures_of_operators():
    text = "(X, W, B=None, *, auto_pad='NOTSET', dilations=None, group=1, kernel_shape=None, "
    text += "pads=None, strides=None)"
    conv = sardonyx.opset21.Conv
    assert str(inspect.signature(conv)) == text
    assert conv.__doc__.startswith(f"Conv{text}\n\nThe convolution operator")
    assert "**Attributes**\n\n- `auto_pad` (string, default 'NOTSET')" in conv.__doc__
    assert repr(conv) == f"Opset('', 21).Conv{text}"
    concat = inspect.signature(sardonyx.opset21.Concat)
    assert str(concat) == "(*inputs, axis)"
    assert concat.parameters["axis"].default is inspect.Parameter.empty
    alpha = inspect.signature(sardonyx.opset21.LeakyRelu).parameters["alpha"].default
    assert alpha == 0.01 and inspect.signature(sardonyx.opset1.Split).parameters["split"]
    custom = sardonyx.values.Op(sardonyx.Opset("my.domain", 1), "Something")
    assert str(inspect.signature(custom)) == "(*inputs, **attributes)" and custom.__doc__ is None
    for name in dir(sardonyx.opset21):
        assert inspect.signature(getattr(sardonyx.opset21, name))


def test_imports_load_no_documentation():
    """Nor what takes time to load: `import sardonyx` and a script cost no module of these."""
    code = "import sys; before = set(sys.modules); from sardonyx import FLOAT, opset21, script; "
    code += "opset21.Conv; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "sardonyx._script" in loaded, done.stderr
    slow = {"inspect", "typing", "json", "onnx", "numpy", "sardonyx._signatures"}
    assert not loaded & slow


def test_help_shows_the_documentation():
    text = pydoc.render_doc(sardonyx.opset21.Conv, renderer=pydoc.plaintext)
    assert "auto_pad" in text


def shown() -> str:
    """The stubs of some operators and of one element type."""
    text = (PACKAGE / "_opsets.pyi").read_text()
    lines = text.splitlines()
    of_class = classes(stub("_opsets.pyi"))
    parts = []
    for name, operator in SHOWN:
        parts.append(f"# {name}")
        for one in of_class[name].body:
            if isinstance(one, ast.FunctionDef) and one.name == operator:
                first = min([one.lineno, *(mark.lineno for mark in one.decorator_list)])
                parts += lines[first - 1 : one.end_lineno]
    types = (PACKAGE / "_element_types.pyi").read_text()
    found = re.search(r"^    class FLOAT\(.*?(?=^    class )", types, re.M | re.S)
    assert found is not None
    return "\n".join([*parts, "# Element types", found[0].rstrip(), ""])


def test_stubs_of_some_operators():
    assert shown() == GOLDEN.read_text(), (
        "if this is meant: python tests/python/editor/test_stubs.py"
    )


def signatures(version: int) -> str:
    """Every operator of an opset of ai.onnx, in alphabetical order: a line for each overload."""
    of_class = classes(stub("_opsets.pyi"))
    found: dict[str, list[str]] = {}
    for older in range(1, version + 1):
        own: dict[str, list[str]] = {}
        for one in of_class[f"Opset{older}"].body:
            if isinstance(one, ast.FunctionDef):
                marks = [ast.unparse(mark) for mark in one.decorator_list]
                kind = "".join(f"@{mark} " for mark in marks if mark != "overload")
                result = ast.unparse(one.returns) if one.returns else "?"
                line = f"{kind}{one.name}({ast.unparse(one.args)}) -> {result}"
                own.setdefault(one.name, []).append(line)
        found.update(own)
    return "".join(f"{line}\n" for name in sorted(found) for line in found[name])


def test_signatures_of_a_whole_opset():
    assert signatures(23) == GOLDEN_OPSET.read_text(), (
        "if this is meant: python tests/python/editor/test_stubs.py"
    )


if __name__ == "__main__":
    GOLDEN.write_text(shown())
    GOLDEN_OPSET.write_text(signatures(23))
    print(f"wrote {GOLDEN.relative_to(ROOT)}", file=sys.stderr)
