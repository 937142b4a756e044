"""The parser against CPython's `ast`, over the standard library and NumPy.

Every file must be read without a crash; a file that CPython accepts must give no error; and each
function that our tree holds completely must be the same tree, with the same ranges, as CPython's.
The default run compares the functions of every eighth file, from SDX_SEED on; SDX_FULL=1 compares
all.
"""

import ast
import pathlib
import random
import re
import sysconfig
import unicodedata
import warnings
import zlib

import numpy
import pytest

from places import BUILD
from sampling import FULL, SEED
from tool import ask_all

TOOL = BUILD / "sdx_syntax_tool"
OPAQUE = {"ClassDef", "With", "AsyncWith", "Try", "TryStar", "Match"}

UNARY = {ast.Invert: "~", ast.Not: "not", ast.UAdd: "+", ast.USub: "-"}
BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^",
    ast.BitAnd: "&", ast.FloorDiv: "//",
}  # fmt: skip
COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is-not", ast.In: "in", ast.NotIn: "not-in",
}  # fmt: skip
ESCAPES = {i: f"\\x{i:02x}" for i in [*range(32), 127]}
ESCAPES |= {ord(c): repr(c)[1:-1] for c in "\n\t\r\\"} | {ord('"'): '\\"'}


def quoted(data):
    """As `sardonyx::quoted` in base/quote.h."""
    text = data.decode("latin-1").translate(ESCAPES).encode("latin-1")
    return f'"{text.decode("utf-8", "backslashreplace")}"'


class Renderer:
    """Renders CPython's tree in the form of `dump_tree` in src/syntax/dump.h."""

    def __init__(self, line_starts, ranges):
        self.starts = line_starts
        self.ranges = ranges

    def at(self, node):
        if not self.ranges:
            return ""
        begin = self.starts[node.lineno - 1] + node.col_offset
        return f"@{begin}-{self.starts[node.end_lineno - 1] + node.end_col_offset}"

    def __call__(self, node):
        return "-" if node is None else getattr(self, type(node).__name__)(node)

    def node(self, kind, node, *parts):
        return f"({' '.join([kind + self.at(node), *parts])})"

    def all(self, nodes):
        return [self(node) for node in nodes]

    def Name(self, n):
        return self.node("Name", n, n.id)

    def Constant(self, n):
        value = n.value
        if value is None or value is ...:
            return self.node("None" if value is None else "Ellipsis", n)
        if isinstance(value, bool):
            return self.node("Bool", n, str(value))
        if isinstance(value, int):
            return self.node("Int", n, str(value) if value < 2**63 else "overflows")
        if isinstance(value, float):
            return self.node("Float", n, repr(value))
        if isinstance(value, complex):
            return self.node("Imaginary", n, repr(value.imag))
        if isinstance(value, bytes):
            return self.node("Bytes", n, quoted(value))
        return self.node("String", n, quoted(value.encode("utf-8", "surrogatepass")))

    def JoinedStr(self, n):
        parts = []
        for value in n.values:
            if isinstance(value, ast.Constant):
                parts.append(quoted(value.value.encode("utf-8", "surrogatepass")))
            else:
                conversion = "-" if value.conversion < 0 else chr(value.conversion)
                spec = self(value.format_spec)
                parts.append(f"(Field {self(value.value)} {conversion} {spec})")
        return self.node("FString", n, *parts)

    def Tuple(self, n):
        return self.node(type(n).__name__, n, *self.all(n.elts))

    List = Set = Tuple

    def Dict(self, n):
        items = zip(n.keys, n.values, strict=True)
        return self.node("Dict", n, *(f"[{self(k) if k else '**'} {self(v)}]" for k, v in items))

    def comprehension(self, n):
        word = "async-for" if n.is_async else "for"
        return f"({' '.join([word, self(n.target), self(n.iter), *self.all(n.ifs)])})"

    def ListComp(self, n):
        return self.node(type(n).__name__, n, self(n.elt), *self.all(n.generators))

    SetComp = GeneratorExp = ListComp

    def DictComp(self, n):
        return self.node("DictComp", n, self(n.key), self(n.value), *self.all(n.generators))

    def UnaryOp(self, n):
        return self.node("Unary", n, UNARY[type(n.op)], self(n.operand))

    def BinOp(self, n):
        return self.node("Binary", n, BINARY[type(n.op)], self(n.left), self(n.right))

    def BoolOp(self, n):
        op = "and" if isinstance(n.op, ast.And) else "or"
        return self.node("BoolOp", n, op, *self.all(n.values))

    def Compare(self, n):
        pairs = zip(n.ops, n.comparators, strict=True)
        rest = (f"{COMPARE[type(op)]} {self(right)}" for op, right in pairs)
        return self.node("Compare", n, self(n.left), *rest)

    def keyword(self, n):
        return f"{n.arg}={self(n.value)}" if n.arg else f"**{self(n.value)}"

    def Call(self, n):
        return self.node("Call", n, self(n.func), *self.all(n.args), *self.all(n.keywords))

    def Attribute(self, n):
        return self.node("Attribute", n, self(n.value), n.attr)

    def Subscript(self, n):
        return self.node("Subscript", n, self(n.value), self(n.slice))

    def Slice(self, n):
        return self.node("Slice", n, self(n.lower), self(n.upper), self(n.step))

    def Starred(self, n):
        return self.node(type(n).__name__, n, self(n.value))

    Await = Yield = YieldFrom = Starred

    def Lambda(self, n):
        return self.node("Lambda", n, self.arguments(n.args), self(n.body))

    def IfExp(self, n):
        return self.node("IfExp", n, self(n.test), self(n.body), self(n.orelse))

    def NamedExpr(self, n):
        return self.node("Named", n, self(n.target), self(n.value))

    def arguments(self, n):
        positional = [("posonly", a) for a in n.posonlyargs] + [("arg", a) for a in n.args]
        defaults = [None] * (len(positional) - len(n.defaults)) + n.defaults
        rows = [(kind, a, d) for (kind, a), d in zip(positional, defaults, strict=True)]
        rows += [("vararg", n.vararg, None)] if n.vararg else []
        rows += [("kwonly", a, d) for a, d in zip(n.kwonlyargs, n.kw_defaults, strict=True)]
        rows += [("kwarg", n.kwarg, None)] if n.kwarg else []
        shown = (f"({kind} {a.arg} {self(a.annotation)} {self(d)})" for kind, a, d in rows)
        return f"[{''.join(shown)}]"

    def statement(self, n, depth=0):
        """Yields the lines of a statement."""
        words, blocks = self.fields(n)
        yield " ".join(["  " * depth + type(n).__name__ + self.at(n), *words])
        for i, block in enumerate(blocks):
            if i == 1 and block:
                yield "  " * depth + "Else"
            for inner in block:
                yield from self.statement(inner, depth + 1)

    def alias(self, n):
        return f"{n.name} as {n.asname}" if n.asname else n.name

    def fields(self, n):
        """The words of a statement's line, and its blocks."""
        match n:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                decorators = "".join(self.all(n.decorator_list))
                row = [n.name, self.arguments(n.args), self(n.returns), f"[{decorators}]"]
                return row, [n.body]
            case ast.If() | ast.While():
                return [self(n.test)], [n.body, n.orelse]
            case ast.For() | ast.AsyncFor():
                return [self(n.target), self(n.iter)], [n.body, n.orelse]
            case ast.Expr() | ast.Return():
                return [self(n.value)], []
            case ast.Assign():
                return [*self.all(n.targets), self(n.value)], []
            case ast.AugAssign():
                return [self(n.target), BINARY[type(n.op)], self(n.value)], []
            case ast.AnnAssign():
                simple = ["simple"] if n.simple else []
                return [*simple, self(n.target), self(n.annotation), self(n.value)], []
            case ast.Delete():
                return self.all(n.targets), []
            case ast.Raise():
                return [self(n.exc), self(n.cause)], []
            case ast.Assert():
                return [self(n.test), self(n.msg)], []
            case ast.Global() | ast.Nonlocal():
                return n.names, []
            case ast.Import():
                return self.all(n.names), []
            case ast.ImportFrom():
                return [n.module or "-", str(n.level), *self.all(n.names)], []
        if type(n).__name__ == "TypeAlias":  # from Python 3.12 on
            return [self(n.name), self(n.value)], []
        return [], []


def line_starts(source):
    return [0] + [m.end() for m in re.finditer(rb"\r\n|\r|\n", source)]


def accepted_functions(node):
    """The functions whose trees ours holds completely, outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not any(type(inner).__name__ in OPAQUE for inner in ast.walk(child)):
                yield child
                continue
        yield from accepted_functions(child)


def parsed(paths, *wanted):
    """{path: (errors, {offset: dump lines})}"""
    results = {}
    answers = ask_all(TOOL, [[path, *wanted] for path in paths])
    for path, answer in zip(paths, answers, strict=True):
        fields = iter(answer)
        errors = [next(fields) for _ in range(int(next(fields)))]
        functions = {}
        for field in fields:
            begin, count = map(int, field.split())
            functions[begin] = [next(fields) for _ in range(count)]
        results[path] = (errors, functions)
    return results


def cpython_tree(source):
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def is_utf8(source):
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return True


def corpus():
    roots = [pathlib.Path(sysconfig.get_paths()["stdlib"]), pathlib.Path(numpy.__file__).parent]
    paths = {p for root in roots for p in root.rglob("*.py") if p.is_file()}
    return sorted(str(p) for p in paths if "site-packages" not in p.parts or "numpy" in p.parts)


def expected_lines(function, starts):
    lines = list(Renderer(starts, True).statement(function))
    if any("(FString@" in line for line in lines):
        lines = list(Renderer(starts, False).statement(function))
    return lines


@pytest.fixture(scope="module", autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_files_that_cpython_accepts_have_no_errors():
    paths = corpus()
    results = parsed(paths)
    suspects = [path for path in paths if results[path][0]]
    wrong = {
        path: results[path][0][:3]
        for path in suspects
        if cpython_tree(pathlib.Path(path).read_bytes()) is not None
    }
    print(f"\n{len(paths)} files, {len(suspects)} with errors, {len(wrong)} fine for CPython")
    assert not wrong


def test_names_are_read_in_their_normal_form(tmp_path):
    rng = random.Random(7)
    points = [p for p in range(0x80, 0x30000) if chr(p).isidentifier()]
    changed = [p for p in points if unicodedata.normalize("NFKC", chr(p)) != chr(p)]
    marks = [p for p in range(0x80, 0x30000) if unicodedata.combining(chr(p))]
    hangul = [*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0xAC00, 0xAC40)]
    names = [chr(p) for p in rng.sample(changed, 500)]
    for _ in range(1500):
        kinds = [rng.choice([points, changed, marks, hangul, [*b"aek"]]) for _ in range(4)]
        names.append("a" + "".join(chr(rng.choice(kind)) for kind in kinds))
    names = [name for name in names if unicodedata.normalize("NFKC", name).isidentifier()]
    path = tmp_path / "names.py"
    body = "".join(f"    {name} = x.{name}\n" for name in names if name.isidentifier())
    path.write_text(f"def f(x):\n{body}", encoding="utf-8")
    errors, functions = parsed([str(path)], "functions")[str(path)]
    assert not errors and body.count("\n") > 1000
    source = path.read_bytes()
    (function,) = ast.parse(source).body
    assert functions[0] == expected_lines(function, line_starts(source))


def test_functions_have_the_tree_of_cpython():
    paths = [path for path in corpus() if FULL or (zlib.crc32(path.encode()) + SEED) % 8 == 0]
    compared = equal = by_name = 0
    different = []
    for path, (_, functions) in parsed(paths, "functions").items():
        source = pathlib.Path(path).read_bytes()
        tree = cpython_tree(source)
        if tree is None or not is_utf8(source):
            continue
        starts = line_starts(source)
        expected = {starts[f.lineno - 1] + f.col_offset: f for f in accepted_functions(tree)}
        assert list(expected) == list(functions), path
        for begin, function in expected.items():
            ours = functions[begin]
            end = starts[function.end_lineno - 1] + function.end_col_offset
            if b"\\N{" in source[begin:end]:
                by_name += 1  # characters by name are not looked up
                continue
            theirs = expected_lines(function, starts)
            same = ours == theirs
            compared += 1
            equal += same
            if not same:
                pairs = (p for p in zip(ours, theirs, strict=False) if p[0] != p[1])
                different.append((path, function.name, next(pairs, None)))
    print(f"\n{len(paths)} files, {compared} functions compared, {equal} equal, {by_name} left out")
    assert compared > 1000
    assert not different, different[:5]
