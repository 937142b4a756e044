"""`sardonyx lsp`: recorded sessions, encodings, files that import each other, and bad input.

A session is a file of tests/data/lsp. Each ```` ```py ```` block is opened as a document, without
its marks: `«hover»` and the like stand where the request is made. ```` ```edit ```` blocks change
it. The block ```` ```answers ```` behind it has what the server says, a few lines for each;
run as a program, this file writes these blocks anew.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import random
import re
import subprocess
import symtable
import sys
import time
from typing import Any

import pytest

from places import PROGRAM, ROOT

SESSIONS = sorted((ROOT / "tests/data/lsp").glob("*.md"))
MARK = re.compile("«(\\w+)»")
SYMBOLS = {6: "method", 7: "property", 8: "field", 22: "member of an enumeration"}
SEVERITIES = {1: "error", 2: "warning", 3: "note"}


class Client:
    """Starts the server and talks to it; positions are (line, character) from 0 on."""

    def __init__(self, *encodings: str, pulls: bool = False, **parameters: Any) -> None:
        self.process = subprocess.Popen(
            [PROGRAM, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0
        self.published: dict[str, dict] = {}
        self.shown: list[dict] = []
        self.texts: dict[str, str] = {}  # as they have been opened
        self.versions: dict[str, int] = {}
        capabilities: dict[str, Any] = {"general": {"positionEncodings": list(encodings)}}
        if pulls:
            capabilities["textDocument"] = {"diagnostic": {}}
        parameters["capabilities"] = capabilities
        self.capabilities = self.request("initialize", parameters)
        self.notify("initialized", {})

    def send(self, message: dict) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def read(self) -> dict:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            assert name == b"Content-Length"
            length = int(value)
        assert length, "the server has gone"
        message = json.loads(self.process.stdout.read(length))
        assert message["jsonrpc"] == "2.0"
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        if message.get("method") == "window/showMessage":
            self.shown.append(message["params"])
        return message

    def notify(self, method: str, params: dict) -> None:
        self.send({"method": method, "params": params})

    def answer(self, method: str, params: dict) -> dict:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.read()).get("id") != self.number:
            pass
        return message

    def request(self, method: str, params: dict) -> Any:
        message = self.answer(method, params)
        assert "error" not in message, message
        return message["result"]

    def open(self, uri: str, text: str) -> None:
        self.versions[uri] = 1
        self.texts[uri] = text
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, *changes: dict) -> None:
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        params = {"textDocument": document, "contentChanges": list(changes)}
        self.notify("textDocument/didChange", params)

    def at(self, method: str, uri: str, line: int, character: int) -> Any:
        position = {"line": line, "character": character}
        return self.request(method, {"textDocument": {"uri": uri}, "position": position})

    def findings(self, uri: str) -> list[dict]:
        while self.published.get(uri, {}).get("version") != self.versions[uri]:
            self.read()
        return self.published[uri]["diagnostics"]

    def end(self) -> int:
        self.request("shutdown", {})
        self.notify("exit", {})
        return self.process.wait(timeout=20)


@pytest.fixture
def client():
    client = Client("utf-16")
    yield client
    assert client.end() == 0


# --- Sessions ------------------------------------------------------------------------------------


def place(position: dict) -> str:
    return f"{position['line']}:{position['character']}"


def span(found: dict) -> str:
    return f"{place(found['start'])}-{place(found['end'])}"


def say_findings(found: list[dict]) -> list[str]:
    return [
        f"{span(one['range'])} {SEVERITIES[one['severity']]} [{one['code']}] "
        + one["message"].replace("\n", " / ")
        for one in found
    ] or ["nothing"]


def say_hover(found: dict | None) -> list[str]:
    if found is None:
        return ["nothing"]
    lines = [line for line in found["contents"]["value"].splitlines() if line]
    return [span(found["range"]), *lines[:5]]


def say_completion(found: dict) -> list[str]:
    items = sorted(found["items"], key=lambda one: one["sortText"])
    if not items:
        return ["nothing"]
    said = [f"{len(items)} items for {span(items[0]['textEdit']['range'])}"]
    said += [f"{one['textEdit']['newText']}  {one.get('detail', '')}".rstrip() for one in items[:6]]
    return said


def say_signature(found: dict | None) -> list[str]:
    if found is None:
        return ["nothing"]
    (signature,) = found["signatures"]
    label = signature["label"]
    if found["activeParameter"] < len(signature["parameters"]):
        begin, end = signature["parameters"][found["activeParameter"]]["label"]
        units = label.encode("utf-16-le")
        parts = units[: 2 * begin], units[2 * begin : 2 * end], units[2 * end :]
        label = "{}«{}»{}".format(*(part.decode("utf-16-le") for part in parts))
    return [label]


def say_actions(found: list[dict]) -> list[str]:
    said = []
    for one in found:
        (edits,) = one["edit"]["changes"].values()
        said.append(one["title"] + (" (preferred)" if one["isPreferred"] else ""))
        said += [f"{span(edit['range'])} => {edit['newText']}" for edit in edits]
    return said or ["nothing"]


def say_tokens(client: Client, found: dict) -> list[str]:
    """A line of the file in each line: the columns, kinds and modifiers of its names."""
    legend = client.capabilities["capabilities"]["semanticTokensProvider"]["legend"]
    data, lines = found["data"], {}
    line = character = 0
    for i in range(0, len(data), 5):
        step, column, length, kind, modifiers = data[i : i + 5]
        line, character = line + step, column if step else character + column
        words = [legend["tokenTypes"][kind]]
        words += [one for bit, one in enumerate(legend["tokenModifiers"]) if modifiers >> bit & 1]
        said = f"{character}-{character + length} {' '.join(words)}"
        lines.setdefault(line, []).append(said)
    return [f"{line}: {', '.join(said)}" for line, said in lines.items()] or ["nothing"]


def ask(client: Client, uri: str, kind: str, line: int, character: int) -> list[str]:
    position = {"line": line, "character": character}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
    document = {"textDocument": {"uri": uri}}
    if kind == "hover":
        return say_hover(client.at("textDocument/hover", uri, line, character))
    if kind == "completion":
        return say_completion(client.at("textDocument/completion", uri, line, character))
    if kind == "likely":  # what an editor shows that compares what is begun with the items
        found = client.at("textDocument/completion", uri, line, character)
        begun = found["items"][0]["textEdit"]["range"]["start"]["character"]
        text = client.texts[uri].split("\n")[line][begun:character]
        items = [one for one in found["items"] if one["filterText"].lower().startswith(text)]
        return say_completion({"items": items})
    if kind == "signature":
        return say_signature(client.at("textDocument/signatureHelp", uri, line, character))
    if kind == "action":
        here = {"start": position, "end": position}
        params = {**document, "range": here, "context": {"diagnostics": []}}
        return say_actions(client.request("textDocument/codeAction", params))
    if kind == "definition":
        found = client.at("textDocument/definition", uri, line, character)
        same = found and found["uri"].replace(uri, "here")
        return [f"{same} {span(found['range'])}"] if found else ["nothing"]
    if kind == "references":
        params = {**document, "position": position, "context": {"includeDeclaration": True}}
        found = client.request("textDocument/references", params)
        marks = client.at("textDocument/documentHighlight", uri, line, character)
        writes = {span(one["range"]) for one in marks or [] if one["kind"] == 3}
        return [
            span(one["range"]) + (" (bound)" if span(one["range"]) in writes else "")
            for one in found or []
        ] or ["nothing"]
    if kind == "rename":
        if client.at("textDocument/prepareRename", uri, line, character) is None:
            return ["nothing"]
        params = {**document, "position": position, "newName": "renamed"}
        answer = client.answer("textDocument/rename", params)
        if "error" in answer:
            return [f"refused: {answer['error']['message']}"]
        return [span(one["range"]) for one in answer["result"]["changes"][uri]]
    if kind == "hints":
        hints = client.request("textDocument/inlayHint", {**document, "range": whole})
        return [f"{place(one['position'])}{one['label']}" for one in hints]
    if kind == "lens":
        lenses = client.request("textDocument/codeLens", document)
        return [
            f"{span(one['range'])} {one['command']['title']}: {one['command']['command']} "
            + " ".join(one["command"]["arguments"]).replace(uri, "here")
            for one in lenses
        ] or ["nothing"]
    if kind == "folds":
        folds = client.request("textDocument/foldingRange", document)
        return [f"{one['startLine']}-{one['endLine']} {one.get('kind', '')}".rstrip()
                for one in folds]  # fmt: skip
    if kind == "tokens":
        return say_tokens(client, client.request("textDocument/semanticTokens/full", document))
    assert kind == "symbols"
    said = []
    for one in client.request("textDocument/documentSymbol", document):
        said.append(f"{one['name']} ({one['detail']}) {span(one['range'])}")
        said += [f"  {member['name']} ({SYMBOLS[member['kind']]}) {span(member['range'])}"
                 for member in one.get("children", [])]  # fmt: skip
    return said


def play(blocks: list[tuple[str, str]], client: Client, uri: str) -> list[str]:
    """What the server says to one document and the edits of it."""
    said: list[str] = []
    for kind, text in blocks:
        marks = []
        if kind == "py":
            for line, one in enumerate(text.split("\n")):
                for found in MARK.finditer(one):
                    before = MARK.sub("", one[: found.start()])
                    marks.append((found[1], line, len(before.encode("utf-16-le")) // 2))
            client.open(uri, MARK.sub("", text))
        else:
            client.change(uri, *map(read_edit, text.splitlines()))
        said += ["diagnostics", *("  " + one for one in say_findings(client.findings(uri)))]
        for mark, line, character in marks:
            answers = ask(client, uri, mark, line, character)
            said += [f"{mark} at {line}:{character}", *("  " + one for one in answers)]
    return said


def read_edit(line: str) -> dict:
    found = re.fullmatch(r"(\d+):(\d+)-(\d+):(\d+) =>(?: (.*))?", line)
    assert found is not None, line
    a, b, c, d = (int(found[i]) for i in range(1, 5))
    begin, end = {"line": a, "character": b}, {"line": c, "character": d}
    return {"range": {"start": begin, "end": end}, "text": found[5] or ""}


def replayed(path: pathlib.Path) -> str:
    """The session with the answers that the server gives now."""
    text = re.sub(r"\n```answers\n.*?\n```\n", "", path.read_text(), flags=re.S)
    parts = re.split(r"^```(py|edit)\n(.*?)\n```\n", text, flags=re.S | re.M)
    client = Client("utf-16")
    result, blocks = parts[0], []
    for i in range(1, len(parts), 3):
        kind, block, after = parts[i : i + 3]
        result += f"```{kind}\n{block}\n```\n"
        blocks.append((kind, block))
        if i + 3 >= len(parts) or parts[i + 3] == "py":
            answers = "\n".join(play(blocks, client, f"file:///session_{i}.py"))
            result += f"\n```answers\n{answers}\n```\n"
            blocks = []
        result += after
    assert client.end() == 0
    return result


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_session(path):
    assert replayed(path) == path.read_text(), (
        "if it is meant: python tests/python/editor/test_lsp.py"
    )


# --- Encodings, files, documents -----------------------------------------------------------------

SCRIPT = """\
from sardonyx import FLOAT, opset21 as op, script

@script()
def f(X: FLOAT["N", 4]):
    return "𝔘ö", op.Softmax(X, axis=9)
"""


@pytest.mark.parametrize(
    "encoding, offered",
    [("utf-8", ["utf-8", "utf-16"]), ("utf-16", []), ("utf-32", ["utf-32"]), ("utf-16", ["x"])],
)
def test_encodings(encoding, offered):
    client = Client(*offered)
    assert client.capabilities["capabilities"]["positionEncoding"] == encoding
    client.open("file:///a.py", SCRIPT)
    line = SCRIPT.splitlines()[4]
    count = {
        "utf-8": lambda text: len(text.encode()),
        "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
        "utf-32": len,
    }[encoding]
    (one,) = [x for x in client.findings("file:///a.py") if x["code"] == "axis-out-of-range"]
    begin = count(line[: line.index("9")])
    assert one["range"]["start"] == {"line": 4, "character": begin}
    assert one["range"]["end"] == {"line": 4, "character": begin + 1}
    place = {"line": 4, "character": begin}
    edit = {"range": {"start": place, "end": one["range"]["end"]}, "text": "1"}
    client.change("file:///a.py", edit)
    assert not [x for x in client.findings("file:///a.py") if x["code"] == "axis-out-of-range"]
    assert client.end() == 0


def test_findings_are_those_of_check(client):
    for path in sorted((ROOT / "tests/data/types").glob("*.py")):
        uri = path.as_uri()
        client.open(uri, path.read_text())
        done = subprocess.run([PROGRAM, "check", "--json", path], capture_output=True, text=True)
        expected = [(one["code"], one["range"]["start"]["line"]) for one in json.loads(done.stdout)]
        found = [(one["code"], one["range"]["start"]["line"] + 1) for one in client.findings(uri)]
        assert sorted(found) == sorted(expected)


def test_unsaved_files_import_each_other(client, tmp_path):
    library = "from sardonyx import FLOAT, opset21 as op, script\n\n@script()\ndef twice(X):\n"
    (tmp_path / "a b.py").write_text("")
    (tmp_path / "library.py").write_text(library + "    return op.Relu(X)\n")
    user = (
        "from sardonyx import FLOAT, opset21 as op, script\nfrom library import twice\n\n"
        '@script()\ndef f(X: FLOAT["N"]):\n    y = twice(X)\n    return y\n'
    )
    uri, other = (tmp_path / "a b.py").as_uri(), (tmp_path / "library.py").as_uri()
    client.open(uri, user)
    assert client.findings(uri) == []
    client.open(other, library + "    return op.Shape(X)\n")
    place = client.at("textDocument/definition", uri, 5, 10)
    assert (place["uri"], span(place["range"])) == (other, "3:4-3:9")
    hover = client.at("textDocument/hover", uri, 5, 4)
    assert "y: INT64[1]" in hover["contents"]["value"]
    client.notify("textDocument/didClose", {"textDocument": {"uri": other}})
    hover = client.at("textDocument/hover", uri, 5, 4)
    assert "y: FLOAT[N]" in hover["contents"]["value"]


BLOCKS = """
from dataclasses import dataclass
from sardonyx import opset21 as op
@dataclass
class Config:
    width: int = 4
class Block:
    def __init__(self, cfg: Config):
        self.cfg = cfg
    def run(self, x):
        return op.Relu(x)
def make(n: int) -> Block:
    return Block(Config(n))
"""
USER_OF_BLOCKS = """
from sardonyx import FLOAT, opset21 as op, script
from pkg import blocks
from pkg.blocks import Block, Config, make
class Wide(Block):
    def run(self, x):
        return super().run(x) + self.cfg.width
made = make(3)
@script()
def f(x: FLOAT["N"]):
    return made.run(x) + blocks.Block(Config(width=3)).run(x) + Wide(Config()).run(x)
"""


def test_classes_of_other_files(client, tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/blocks.py").write_text(BLOCKS)
    uri = (tmp_path / "user.py").as_uri()
    client.open(uri, USER_OF_BLOCKS)
    assert client.findings(uri) == []
    expected = {
        "super().~run": ("9:8-9:11", "def run(x)"),
        "self.~cfg": ("8:13-8:16", "self.cfg: Config = cfg"),
        "self.cfg.~width": ("5:4-5:9", "width: int = 4"),
        "made.~run": ("9:8-9:11", "def run(x)"),
        "blocks.~Block": ("6:6-6:11", "class Block(cfg: Config)"),
        "~width=3": ("5:4-5:9", "width: int = 4"),
        "~make(3)": ("11:4-11:8", "def make(n: int) -> Block"),
    }
    for words, (where, text) in expected.items():
        offset = USER_OF_BLOCKS.index(words.replace("~", "")) + words.index("~") + 1
        before = USER_OF_BLOCKS[:offset]
        line, character = before.count("\n"), offset - before.rfind("\n") - 1
        found = client.at("textDocument/definition", uri, line, character)
        assert found["uri"].endswith("/blocks.py")
        assert span(found["range"]) == where, words
        hover = client.at("textDocument/hover", uri, line, character)
        assert hover["contents"]["value"].splitlines()[1] == text


def test_any_edits_give_the_state_of_a_fresh_file(client):
    text = (ROOT / "examples/attention.py").read_text()
    draw = random.Random(7)
    client.open("file:///edited.py", text)
    for step in range(30):
        lines = text.splitlines(keepends=True) or [""]
        a, b = sorted((draw.randrange(len(text) + 1), draw.randrange(len(text) + 1)))
        b = min(b, a + draw.randrange(30))
        new = draw.choice(["", "(", "op.", "\n    ", '"', "𝔘", lines[draw.randrange(len(lines))]])
        client.change("file:///edited.py", {"range": {"start": at(text, a), "end": at(text, b)},
                                            "text": new})  # fmt: skip
        text = text[:a] + new + text[b:]
        if step % 6 == 5:
            client.open(f"file:///fresh{step}.py", text)
            edited = json.dumps(client.findings("file:///edited.py"))
            fresh = json.dumps(client.findings(f"file:///fresh{step}.py"))
            assert edited.replace("edited.py", f"fresh{step}.py") == fresh


SCRIPTS = """from sardonyx import FLOAT, opset21 as op, script

SCALE = [2.0, 3.0]

def helper(x):
    return third(x) * SCALE[0]

@script()
def first(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    a = op.Relu(x)
    b = second(a) + a
    return b * SCALE[1]

@script()
def second(x):
    'Two.'
    y = op.MatMul(x, op.Transpose(x))
    return op.ReduceSum(y, [1], keepdims=1)

@script()
def third(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
    if op.ReduceSum(x) > 0.0:
        y = x + 1.0
    else:
        y = -x
    unused = y
    return y

alias = third

@script()
def fourth(x: FLOAT[3, 4]) -> FLOAT[3, 4]:
    return alias(x) + helper(x) + x.shape[0]

class Box:
    @script()
    def fifth(x: FLOAT["M"]) -> FLOAT["M"]:
        z = op.Sin(x)
        return z.nothing
"""
EDITS = [
    ("op.Relu(x)", "op.Abs(x)"), ("op.Relu(x)", "op.Relu(x, x)"), ("x + 1.0", "x[0]"),
    ("keepdims=1", "keepdims=0"), ("y = -x", "y = -x\n        z = y"), ("SCALE[0]", "SCALE[7]"),
    ("[2.0, 3.0]", "[2.0, 'a']"), ("alias = third", "alias = second"), ("op.Sin(x)", "op.Sinn(x)"),
    ('FLOAT["N", 4]) -> FLOAT["N", 4]:\n    if', 'FLOAT["N", 5]) -> FLOAT["N", 5]:\n    if'),
    ("    unused = y\n", "    # nothing\n\n"), ("second(a)", "missing(a)"),
    ("return y", "return"), ("op.ReduceSum(x) > 0.0", "(x > 0.0"), ("    'Two.'\n", "    'Two.\n"),
    ("\n\n@script()\ndef second", "\n\n\n# more\n@script()\ndef second"), ("third", "first"),
    ("x.shape[0]", "SCALE[1:]"), ("opset21", "opset9"),
    ("\nalias", "\nfor i in second:\n    pass\nalias"),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_scripts_that_an_edit_leaves_alone_are_as_in_a_fresh_file(
    client: Client, seed: int
) -> None:
    """Findings and types of scripts that are not compiled again, after edits and their undoing."""
    draw = random.Random(seed)
    edited, fresh = "file:///kept.py", "file:///again.py"
    text = SCRIPTS
    client.open(edited, text)
    undo: list[tuple[str, str]] = []
    for _ in range(60):
        old, new = undo.pop() if undo and draw.random() < 0.4 else draw.choice(EDITS)
        place = text.find(old)
        if place < 0:
            continue
        undo.append((new, old))
        span = {"start": at(text, place), "end": at(text, place + len(old))}
        client.change(edited, {"range": span, "text": new})
        text = text[:place] + new + text[place + len(old) :]
        client.open(fresh, text)
        whole = {"start": {"line": 0, "character": 0}, "end": at(text, len(text))}
        said = []
        for uri in (edited, fresh):
            hints = {"textDocument": {"uri": uri}, "range": whole}
            said.append([client.findings(uri), client.request("textDocument/inlayHint", hints)])
        client.notify("textDocument/didClose", {"textDocument": {"uri": fresh}})
        assert json.dumps(said[0]).replace("kept.py", "again.py") == json.dumps(said[1]), text


def at(text: str, offset: int) -> dict:
    before = text[:offset]
    column = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(column.encode("utf-16-le")) // 2}


def tables(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    return [table, *(inner for child in table.get_children() for inner in tables(child))]


def kinds(table: symtable.SymbolTable, names: dict[str, str]) -> list[tuple]:
    """What Python says of the names of a scope; `names` stand for others."""
    return sorted(
        (names.get(one.get_name(), one.get_name()), one.is_local(), one.is_free(), one.is_global())
        for one in table.get_symbols()
    )


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem
)
def test_renamed_variables_mean_the_same(client: Client, path: pathlib.Path) -> None:
    """By CPython's symbol tables: one scope binds the new name, and no other name has changed."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    uri = path.as_uri()
    client.open(uri, text)
    before = tables(symtable.symtable(text, "a.py", "exec"))
    done = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        place = {"line": node.lineno - 1, "character": node.col_offset}
        params = {"textDocument": {"uri": uri}, "position": place, "newName": "renamed"}
        found = client.request("textDocument/rename", params)
        if found is None:
            continue
        places = [one["range"]["start"] for one in found["changes"][uri]]
        assert place in places
        if (key := str(places)) in done:
            continue
        done.add(key)
        changed = list(lines)
        for one in sorted(places, key=lambda one: (one["line"], one["character"]), reverse=True):
            line, begin = changed[one["line"]], one["character"]
            assert line[begin:].startswith(node.id)
            changed[one["line"]] = line[:begin] + "renamed" + line[begin + len(node.id) :]
        after = tables(symtable.symtable("".join(changed), "a.py", "exec"))
        names = {"renamed": node.id}
        assert [kinds(one, {}) for one in before] == [kinds(one, names) for one in after]
        binding = [
            one for one in after if "renamed" in one.get_identifiers()
            and one.lookup("renamed").is_local()
        ]  # fmt: skip
        assert len(binding) == 1 and binding[0].get_type() == "function"


def test_clients_that_ask_for_diagnostics_get_none_by_themselves():
    client = Client("utf-16", pulls=True)
    client.open("file:///a.py", SCRIPT)
    report = client.request("textDocument/diagnostic", {"textDocument": {"uri": "file:///a.py"}})
    assert report["kind"] == "full" and "axis-out-of-range" in {x["code"] for x in report["items"]}
    assert client.published == {}
    assert client.end() == 0


def test_other_files_are_left_to_other_servers(client):
    client.open("file:///plain.py", "import os\nx = foo(\n")
    assert client.findings("file:///plain.py") == []
    assert client.at("textDocument/hover", "file:///plain.py", 1, 0) is None
    assert client.at("textDocument/definition", "file:///plain.py", 1, 0) is None
    assert client.at("textDocument/completion", "file:///plain.py", 1, 1)["items"] == []


def test_tokens_of_a_range_are_those_of_the_whole(client: Client) -> None:
    path = ROOT / "examples/attention.py"
    client.open(path.as_uri(), path.read_text())
    document = {"textDocument": {"uri": path.as_uri()}}
    whole = client.request("textDocument/semanticTokens/full", document)
    part = {"start": {"line": 10, "character": 0}, "end": {"line": 20, "character": 0}}
    some = client.request("textDocument/semanticTokens/range", {**document, "range": part})
    expected = [
        one for one in say_tokens(client, whole) if 10 <= int(one.partition(":")[0]) < 20
    ]  # fmt: skip
    assert expected and say_tokens(client, some) == expected


AFTER = """

@script()
def after(X: FLOAT["N"]):
    q = op.Relu(X)
    return q
"""


@pytest.mark.parametrize(
    "line",
    [
        "y = op.", "y = op.Add(", "y = op.Add(X", "y = op.Conv(X, auto_pad=",
        'y = op.Conv(X, auto_pad="', "y = [", "y = {'a':", "if X:", "if X", "for", "return",
        "return op.Add(", "def", "def g(", "@", "y = X.", "y: ", "x = f'{op.", "x = '", "lambda",
        "y = op.Add(X, lambda", "with", "class A", "import", "from . import", "await", "\ty = 1",
        "y = op.Relu(X))", "y = \\", "}", "match X", "try", "global", "y = (yield", "\x0c",
        "\ufeff",
    ],
)  # fmt: skip
def test_an_unfinished_line_spoils_no_other_function(client: Client, line: str) -> None:
    head = SCRIPT.partition("def f")[0] + 'def f(X: FLOAT["N"]):\n    '
    client.open("file:///a.py", head + line + AFTER)
    assert "after (script)" in ask(client, "file:///a.py", "symbols", 0, 0)[-1]
    assert ask(client, "file:///a.py", "hints", 0, 0)[-1].endswith("FLOAT[N]")
    assert len(ask(client, "file:///a.py", "lens", 0, 0)) >= 2
    assert ask(client, "file:///a.py", "folds", 0, 0)[-1] == "7-9"
    for kind in ("completion", "hover", "signature", "tokens"):
        assert ask(client, "file:///a.py", kind, 4, 4 + len(line))


# --- Calls, graphs -------------------------------------------------------------------------------

LIBRARY = """\
from sardonyx import FLOAT, opset21 as op, script

@script()
def twice(X):
    return op.Add(X, X)

@script()
def four(X):
    return twice(twice(X))
"""
USER = """\
import library
from library import twice as double
from sardonyx import FLOAT, opset21 as op, script

@script()
def f(X: FLOAT["N"]):
    def twice(y):
        return y
    return double(X) + library.four(twice(X))
"""


def say_calls(found: list[dict], end: str) -> list[str]:
    return [
        f"{pathlib.Path(one[end]['uri']).name} {one[end]['name']} "
        f"{span(one[end]['selectionRange'])}: {' '.join(map(span, one['fromRanges']))}"
        for one in found
    ]


def test_calls_of_scripts_over_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "closed.py").write_text(USER)
    (tmp_path / "inner" / "twice.py").write_text("twice = (")
    (tmp_path / "latin.py").write_bytes(b"twice = '\xe4'\n")
    folders = [{"uri": tmp_path.as_uri(), "name": "root"}]
    client = Client("utf-16", workspaceFolders=folders)
    library, user = (tmp_path / "library.py").as_uri(), (tmp_path / "user.py").as_uri()
    client.open(library, LIBRARY)
    client.open(user, USER)
    (item,) = client.at("textDocument/prepareCallHierarchy", user, 8, 13)
    assert (item["uri"], item["name"], span(item["selectionRange"])) == (
        library,
        "twice",
        "3:4-3:9",
    )
    assert span(item["range"]) == "3:0-4:23"
    assert client.at("textDocument/prepareCallHierarchy", user, 8, 40) is None
    assert client.at("textDocument/prepareCallHierarchy", user, 2, 3) is None
    assert say_calls(client.request("callHierarchy/incomingCalls", {"item": item}), "from") == [
        "library.py four 7:4-7:8: 8:11-8:16 8:17-8:22",
        "user.py f 5:4-5:5: 8:11-8:17",
        "closed.py f 5:4-5:5: 8:11-8:17",
    ]
    (item,) = client.at("textDocument/prepareCallHierarchy", user, 5, 4)
    expected = ["library.py twice 3:4-3:9: 8:11-8:17", "library.py four 7:4-7:8: 8:31-8:35"]
    assert (
        say_calls(client.request("callHierarchy/outgoingCalls", {"item": item}), "to") == expected
    )
    item["uri"] = (tmp_path / "closed.py").as_uri()
    assert (
        say_calls(client.request("callHierarchy/outgoingCalls", {"item": item}), "to") == expected
    )
    item["uri"] = (tmp_path / "gone.py").as_uri()
    assert client.request("callHierarchy/outgoingCalls", {"item": item}) == []
    assert client.request("callHierarchy/incomingCalls", {"item": {"name": 3}}) == []
    assert client.end() == 0


CLASSES_FILE = """\
from dataclasses import dataclass, replace
from sardonyx import opset21 as op, script

@dataclass
class Config:
    width: int = 4

class Base:
    def __init__(self, cfg: Config, scale=1.0):
        self.cfg = cfg
        self.scale = scale

    def act(self, x, slope=0.1):
        return op.LeakyRelu(x, alpha=slope)

    def shift(self, x, by=1.0):
        return self.act(x + by) * self.scale

class Wide(Base):
    def act(self, x, slope=0.1):
        return op.Relu(x) * self.scale

@script()
def twice(x, alpha: float = 1.0):
    return op.Relu(x) * alpha
"""
USER_OF_CLASSES = """\
import classes
from classes import Base, Config, Wide, twice
from sardonyx import FLOAT, opset21 as op, script

layer = Wide(Config(width=8), scale=3.0)

@script()
def f(x: FLOAT["width"]) -> FLOAT["width"]:
    y = twice(x, alpha=2.0) + classes.twice(x=x, alpha=layer.cfg.width)
    return layer.shift(op.LeakyRelu(y, alpha=0.5), by=2.0) + layer.act(y, slope=layer.scale)
"""


# A line and column of the file of the classes or of its user, and the places that change; their
# lines and columns in both files.
@pytest.mark.parametrize(
    "name, line, character, own, others",
    [
        ("classes", 5, 4, "5:4", "4:20 8:65"),  # a field, which calls of the class name
        ("user", 8, 65, "5:4", "4:20 8:65"),
        ("classes", 10, 13, "10:13 16:39 20:33", "9:86"),  # self.scale, and not `scale=3.0`
        ("classes", 8, 36, "8:36 10:21", "4:30"),  # the parameter of the same name
        ("classes", 19, 8, "12:8 16:20 19:8", "9:67"),  # a method, and what overrides it
        ("classes", 15, 23, "15:23 16:28", "9:51"),
        ("user", 8, 17, "23:13 24:24", "8:17 8:49"),
        ("classes", 23, 10, "23:10 24:19", "8:44"),
    ],
)
def test_renaming_over_files(
    tmp_path: pathlib.Path, name: str, line: int, character: int, own: str, others: str
) -> None:
    client, uris = classes_and_user(tmp_path)
    here = {
        "textDocument": {"uri": uris[name]},
        "position": {"line": line, "character": character},
    }
    assert client.request("textDocument/prepareRename", here)
    answer = client.request("textDocument/rename", {**here, "newName": "renamed"})
    found = {
        uri: " ".join(place(one["range"]["start"]) for one in edits)
        for uri, edits in answer["changes"].items()
    }
    assert found == {uris["classes"]: own, uris["user"]: others}
    params = {**here, "context": {"includeDeclaration": True}}
    places = client.request("textDocument/references", params)
    assert sorted((one["uri"], place(one["range"]["start"])) for one in places) == sorted(
        (uri, one) for uri, found_places in found.items() for one in found_places.split()
    )
    assert client.end() == 0


def classes_and_user(folder: pathlib.Path) -> tuple[Client, dict[str, str]]:
    """A client with the file of the user, and that of the classes on the disk."""
    texts = {"classes": CLASSES_FILE, "user": USER_OF_CLASSES}
    uris = {name: (folder / f"{name}.py").as_uri() for name in texts}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    client = Client("utf-16", workspaceFolders=[{"uri": folder.as_uri(), "name": "root"}])
    client.open(uris["user"], USER_OF_CLASSES)
    client.open(uris["classes"], CLASSES_FILE)
    return client, uris


@pytest.mark.parametrize(
    "line, character, new_name, more, reason",
    [
        (5, 4, "scale ", "", "`scale ` cannot be a name"),
        (5, 4, "class", "", "`class` cannot be a name"),
        (9, 13, "scale", "", "a class with `cfg` has a member `scale` already"),
        (23, 13, "x", "", "the function uses the name `x` already"),
        (12, 21, "k", "", "`act` overrides, or is overridden by, a method of another class"),
        (5, 4, "size", "def g(script):\n    return script.width\n", "`width` in other.py:2 may be"),
        (5, 4, "size", "getattr(script, 'width')\n", "`width` in other.py:1 may be"),
        (5, 4, "size", "from user import layer, script\nscript.cfg(layer, width=2)\n", ":2 may be"),
        (23, 13, "k", "from classes import script, twice\ntwice(1, **{'alpha': 2})\n", ":2 may be"),
        (5, 4, "size", "import numpy as script\nscript.zeros(1).width\nprint(1, width=2)\n", None),
        (
            5,
            4,
            "size",
            "import classes\nclasses.layer.width\n",
            "other.py: it uses `classes` and has",
        ),
        (5, 4, "size", "import torch\ntorch.layer.width\n", None),
    ],
)
def test_renaming_that_is_not_certain(
    tmp_path: pathlib.Path, line: int, character: int, new_name: str, more: str, reason: str | None
) -> None:
    client, uris = classes_and_user(tmp_path)
    (tmp_path / "other.py").write_text(more)
    position = {"line": line, "character": character}
    here = {"textDocument": {"uri": uris["classes"]}, "position": position}
    answer = client.answer("textDocument/rename", {**here, "newName": new_name})
    assert (reason or "") in answer.get("error", {"message": ""})["message"]
    assert ("error" in answer) == (reason is not None)
    assert client.end() == 0


def test_references_of_functions_and_classes(tmp_path: pathlib.Path) -> None:
    client, uris = classes_and_user(tmp_path)
    for at, expected in [
        ((23, 4), "classes 23:4, user 1:40, user 8:8, user 8:38"),
        ((18, 6), "classes 18:6, user 1:34, user 4:8"),
        ((18, 12), "classes 7:6, classes 18:11, user 1:20"),
    ]:
        here = {
            "textDocument": {"uri": uris["classes"]},
            "position": {"line": at[0], "character": at[1]},
            "context": {"includeDeclaration": True},
        }
        found = client.request("textDocument/references", here)
        said = [f"{pathlib.Path(one['uri']).stem} {place(one['range']['start'])}" for one in found]
        assert ", ".join(said) == expected
    assert client.end() == 0


def test_graph_is_that_of_view(client: Client, tmp_path: pathlib.Path) -> None:
    (tmp_path / "library.py").write_text(LIBRARY)
    path = tmp_path / "user.py"
    path.write_text(USER)
    client.open(path.as_uri(), USER)
    document = {"uri": path.as_uri()}
    data = client.request("sardonyx/graph", {"textDocument": document, "name": "f"})
    command = [PROGRAM, "view", f"{path}:f", "--json", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert data == json.loads(done.stdout)
    client.open((tmp_path / "library.py").as_uri(), LIBRARY.replace("Add(X, X)", "Relu(X)"))
    data = client.request("sardonyx/graph", {"textDocument": document, "name": "f"})
    titles = {box["title"] for sheet in data["sheets"] for box in sheet["boxes"]}
    assert "Relu" in titles and data != json.loads(done.stdout)


def test_graphs_that_cannot_be_shown(client: Client) -> None:
    def ask(uri: str, name: Any) -> str:
        params = {"textDocument": {"uri": uri}, "name": name}
        answer = client.answer("sardonyx/graph", params)
        assert answer["error"]["code"] == -32803
        return answer["error"]["message"]

    client.open("file:///a.py", SCRIPT)
    assert ask("file:///b.py", "f") == "the document is not open"
    assert "has no script `g`" in ask("file:///a.py", "g")
    assert ask("file:///a.py", "f") == "/a.py:5: axis 9 of `Softmax` is outside a shape of rank 2"
    client.open("file:///empty.py", "")
    assert ask("file:///empty.py", None)


# --- Notebooks, folders, requests that are taken back --------------------------------------------

BOOK = "file:///notes/book.ipynb"
CELLS = [
    "%pip install sardonyx\nfrom sardonyx import FLOAT, opset21 as op, script",
    '@script()\ndef f(X: FLOAT["N", 4]):\n    return op.Softmax(X, axis=9)  # 𝔘',
    'x = 1\n@script()\ndef g(Y: FLOAT["N", 4]):\n    z = f(Y)\n    return z',
]


def cell_uri(number: int) -> str:
    return f"vscode-notebook-cell:/notes/book.ipynb#W{number}sZmlsZQ%3D%3D"


def cell(number: int, kind: int = 2) -> dict:
    return {"kind": kind, "document": cell_uri(number)}


def item_of_cell(number: int, text: str) -> dict:
    return {"uri": cell_uri(number), "languageId": "python", "version": 1, "text": text}


def open_book(client: Client, *texts: str) -> None:
    for number in range(len(texts)):
        client.versions[cell_uri(number)] = 1
    cells = [cell(number) for number in range(len(texts))]
    book = {"uri": BOOK, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
    items = [item_of_cell(number, text) for number, text in enumerate(texts)]
    client.notify(
        "notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": items}
    )


def change_book(client: Client, **cells: Any) -> None:
    params = {"notebookDocument": {"uri": BOOK, "version": 2}, "change": {"cells": cells}}
    client.notify("notebookDocument/didChange", params)


def book_findings(client: Client, number: int) -> list[str]:
    return say_findings(client.findings(cell_uri(number)))


def test_cells_of_a_notebook_share_their_names(client: Client) -> None:
    open_book(client, *CELLS)
    axis = "axis 9 of `Softmax` is outside a shape of rank 2 / help: use an axis from -2 to 1"
    assert book_findings(client, 1) == [f"2:30-2:31 error [axis-out-of-range] {axis}"]
    assert book_findings(client, 0) == ["nothing"]
    where = client.at("textDocument/definition", cell_uri(2), 3, 8)
    assert (where["uri"], span(where["range"])) == (cell_uri(1), "1:4-1:5")
    document = {"textDocument": {"uri": cell_uri(1)}, "position": {"line": 1, "character": 4}}
    params = {**document, "context": {"includeDeclaration": True}}
    found = client.request("textDocument/references", params)
    assert [(one["uri"], span(one["range"])) for one in found] == [
        (cell_uri(1), "1:4-1:5"),
        (cell_uri(2), "3:8-3:9"),
    ]
    assert ask(client, cell_uri(1), "symbols", 0, 0) == ["f (script) 1:0-2:32"]
    assert ask(client, cell_uri(2), "folds", 0, 0) == ["2-4"]
    assert ask(client, cell_uri(2), "tokens", 0, 0)[0] == "0: 0-1 variable declaration"
    (item,) = client.at("textDocument/prepareCallHierarchy", cell_uri(2), 3, 8)
    assert (item["uri"], item["name"]) == (cell_uri(1), "f")
    (caller,) = client.request("callHierarchy/incomingCalls", {"item": item})
    assert caller["from"]["uri"] == cell_uri(2) and span(caller["fromRanges"][0]) == "3:8-3:9"
    end = {"line": 2, "character": 31}
    edit = {"range": {"start": {"line": 2, "character": 30}, "end": end}, "text": "1"}
    client.versions[cell_uri(1)] = 2
    of_cell = {"document": {"uri": cell_uri(1), "version": 2}, "changes": [edit]}
    change_book(client, textContent=[of_cell])
    assert book_findings(client, 1) == ["nothing"]
    assert "2:4: FLOAT[N, 4]" not in ask(client, cell_uri(2), "hints", 0, 0)
    assert ask(client, cell_uri(2), "hints", 0, 0) == ["3:5: FLOAT[N, 4]"]
    params = {"textDocument": {"uri": cell_uri(2)}, "name": "g"}
    titles = [
        box["title"]
        for sheet in client.request("sardonyx/graph", params)["sheets"]
        for box in sheet["boxes"]
    ]
    assert "Softmax" in titles


def test_cells_come_go_and_move(client: Client) -> None:
    open_book(client, *CELLS)
    assert len(client.findings(cell_uri(1))) == 1
    # A new cell comes before the last one, which is moved behind a text.
    new = {"start": 2, "deleteCount": 1, "cells": [cell(3), cell(8, 1), cell(2)]}
    client.versions[cell_uri(3)] = 1
    change_book(client, structure={"array": new, "didOpen": [item_of_cell(3, "f = 3")]})
    # What was published before the change has the same version.
    document = {"textDocument": {"uri": cell_uri(2)}}
    (only,) = client.request("textDocument/diagnostic", document)["items"]
    assert only["range"]["start"]["line"] == 3
    array = {"start": 1, "deleteCount": 1}
    change_book(client, structure={"array": array, "didClose": [{"uri": cell_uri(1)}]})
    client.published.clear()
    while client.published.get(cell_uri(1), {}).get("diagnostics") != []:
        client.read()
    for structure in [
        {"array": {"start": -3, "deleteCount": 10**12, "cells": 4}, "didOpen": 3, "didClose": [{}]},
        {"array": {"start": 10**12}},
    ]:
        change_book(client, structure=structure)
    # A cell that has been taken out and not closed.
    assert client.at("textDocument/hover", cell_uri(0), 1, 5) is None
    client.notify("notebookDocument/didSave", {"notebookDocument": {"uri": BOOK}})
    client.notify("notebookDocument/didClose", {"notebookDocument": {"uri": BOOK}})
    answer = client.answer("textDocument/hover", {"textDocument": {"uri": cell_uri(0)}})
    assert answer["error"]["message"] == "the document is not open"


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notebookDocument": 3, "change": 4},
        {"notebookDocument": {"uri": "", "cells": {}}, "cellTextDocuments": {}},
        {
            "notebookDocument": {
                "uri": "x",
                "cells": [1, {}, {"kind": 2}, {"kind": 2, "document": ""}, cell(1), cell(1)],
            },
            "cellTextDocuments": [item_of_cell(1, "script\nscript("), {}, {"uri": ""}, 3],
            "change": {"cells": {"structure": 3, "textContent": [{}, 3, {"document": {}}]}},
        },
    ],
)
def test_notebooks_that_are_wrong(client: Client, params: dict) -> None:
    for method in ("didOpen", "didChange", "didSave", "didOpen", "didClose", "didChange"):
        client.notify(f"notebookDocument/{method}", params)
        client.answer("textDocument/codeLens", {"textDocument": {"uri": cell_uri(1)}})
    open_book(client, *CELLS)
    assert len(book_findings(client, 1)) == 1


def test_a_cell_goes_to_another_notebook(client: Client) -> None:
    open_book(client, *CELLS)
    other = {"uri": "file:///other.ipynb", "version": 1, "cells": [cell(1)]}
    client.notify("notebookDocument/didOpen", {"notebookDocument": other})
    document = {"textDocument": {"uri": cell_uri(2)}}
    found = client.request("textDocument/diagnostic", document)["items"]
    assert [one["code"] for one in found] == ["unknown-name"]
    client.notify("notebookDocument/didClose", {"notebookDocument": other})
    assert "error" in client.answer("textDocument/hover", {"textDocument": {"uri": cell_uri(1)}})


def test_magics_are_named_and_unfinished_cells_spoil_no_other(client: Client) -> None:
    uses = "files = !ls\n@script()\ndef f(X):\n    return op.Add(X, files)"
    open_book(client, CELLS[0], "y = op.Add(", uses, "%%bash\nls (", "x = op.")
    assert [one["code"] for one in client.findings(cell_uri(1))] == ["unclosed-bracket"]
    assert "IPython commands are not run" in book_findings(client, 2)[0]
    assert book_findings(client, 3) == ["nothing"]
    assert len(client.at("textDocument/completion", cell_uri(4), 0, 7)["items"]) > 190


def test_settings_are_those_of_each_folder(tmp_path: pathlib.Path) -> None:
    for name, text in {"a": 'ignore = ["unused-value"]', "b": "", "c": "ignore = 3"}.items():
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "pyproject.toml").write_text(f"[tool.sardonyx]\n{text}\n")
    text = SCRIPT.replace("    return", "    op.Relu(X)\n    return")
    client = Client("utf-8", workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "x"}])
    codes = {}
    for name in "abc":
        uri = (tmp_path / name / "inner" / "x.py").as_uri()
        client.open(uri, text)
        codes[name] = {one["code"] for one in client.findings(uri)}
    assert codes["b"] == codes["c"] == codes["a"] | {"unused-value"}
    (tmp_path / "b" / "pyproject.toml").write_text('[tool.sardonyx]\nignore = ["unused-value"]\n')
    params = {"changes": [{"uri": (tmp_path / "b/pyproject.toml").as_uri(), "type": 2}]}
    client.notify("workspace/didChangeWatchedFiles", params)
    uri = (tmp_path / "b" / "inner" / "x.py").as_uri()
    client.change(uri, {"text": text})
    assert {one["code"] for one in client.findings(uri)} == codes["a"]
    assert client.end() == 0
    (shown,) = client.shown
    assert shown["type"] == 2 and "`ignore` is a list of strings" in shown["message"]


def test_folders_come_and_go(tmp_path: pathlib.Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "library.py").write_text(LIBRARY)
    folder = {"uri": (tmp_path / "one").as_uri(), "name": "one"}
    around = {"uri": tmp_path.as_uri() + "/", "name": "the folder around it"}
    client = Client("utf-16")
    item = {"uri": (tmp_path / "one" / "library.py").as_uri(), "name": "twice"}
    assert client.request("callHierarchy/incomingCalls", {"item": item}) == []
    event = {"added": [folder, around], "removed": []}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    assert len(client.request("callHierarchy/incomingCalls", {"item": item})) == 1
    event = {"added": [], "removed": [folder, {"uri": tmp_path.as_uri()}]}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    assert client.request("callHierarchy/incomingCalls", {"item": item}) == []
    assert client.end() == 0


def test_requests_that_are_cancelled() -> None:
    opened = {"uri": "file:///x.py", "version": 1, "text": SCRIPT}
    hover = {"textDocument": {"uri": "file:///x.py"}, "position": {"line": 4, "character": 20}}
    messages: list[dict] = [
        {"method": "textDocument/didOpen", "params": {"textDocument": opened}},
        {"id": 2, "method": "textDocument/hover", "params": hover},
        {"id": "3", "method": "textDocument/hover", "params": hover},
        {"id": 3, "method": "textDocument/hover", "params": hover},
        {"method": "$/cancelRequest", "params": {"id": "3"}},
        {"method": "$/cancelRequest", "params": {"id": 77}},
        {"method": "$/cancelRequest", "params": 5},
        {"method": "$/cancelRequest"},
        {"id": 4, "method": "shutdown"},
        {"method": "exit"},
    ]
    status, out = run(framed(INITIALIZE, *(json.dumps(one).encode() for one in messages)))
    assert status == 0
    answered = re.findall(rb'"jsonrpc":"2.0","id":("?\d+"?),"(result|error)"', out)
    assert answered == [(b"1", b"result"), (b"2", b"result"), (b'"3"', b"error"),
                        (b"3", b"result"), (b"4", b"result")]  # fmt: skip
    assert out.count(b"-32800") == 1


# A loop that is unrolled: seconds of work, and each turn of it asks whether it shall end.
LONG = """from sardonyx import FLOAT, opset21 as op, script


@script()
def long(X: FLOAT["N"]) -> FLOAT["N"]:
    for i in [a * b for a in range(300) for b in range(300)]:
        X = X + i
    return X
"""


def pull(client: Client, uri: str) -> int:
    """Asks for diagnostics, and does not wait for them."""
    client.number += 1
    params = {"textDocument": {"uri": uri}}
    client.send({"id": client.number, "method": "textDocument/diagnostic", "params": params})
    return client.number


def cancelled(client: Client, number: int) -> dict:
    """The answer to a request that is cancelled."""
    client.notify("$/cancelRequest", {"id": number})
    while (message := client.read()).get("id") != number:
        pass
    return message


@pytest.mark.parametrize("method", ["textDocument/diagnostic", "sardonyx/graph"])
def test_a_request_that_runs_is_cancelled(method: str) -> None:
    client = Client(pulls=True)
    uri = "file:///long.py"
    client.open(uri, LONG)
    client.number += 1
    params = {"textDocument": {"uri": uri}, "name": "long"}
    client.send({"id": client.number, "method": method, "params": params})
    time.sleep(0.3)
    started = time.monotonic()
    answer = cancelled(client, client.number)
    took = time.monotonic() - started
    assert answer.get("error", {}).get("code") == -32800, str(answer)[:200]
    assert took < 1
    client.change(uri, {"text": SCRIPT})
    assert client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
    assert client.end() == 0


def test_what_is_known_after_cancellations_is_that_of_a_fresh_file() -> None:
    """Wherever the work ends, nothing half-done is left of it."""
    draw = random.Random(11)
    client = Client(pulls=True)
    uri, fresh = "file:///a.py", "file:///b.py"
    script = (
        '@script()\ndef f{0}(X: FLOAT["N"]) -> FLOAT["N"]:\n    a = op.Relu(X)\n    b = a + {0}\n'
    )
    head = "from sardonyx import FLOAT, opset21 as op, script\n\n\n"
    lines = (head + "".join(script.format(i) + "    return b\n\n\n" for i in range(600))).split(
        "\n"
    )
    client.open(uri, "\n".join(lines))
    count = 0
    # How long to wait at most before a request is cancelled: it follows how fast the machine is, so
    # that requests end at every point of the work.
    longest = 0.02
    for turn in range(40):
        # A new line in a body, a script that calls another, a mistake, and a line less.
        at = 5 + 7 * draw.randrange(500)
        lines[at] = draw.choice(
            ["    a = op.Relu(X)", "    a = f3(X)", "    a = op.Rellu(X)", "    a = op.Abs(X)\n"]
        )
        if turn % 10 == 9:
            lines[1] += "\n"
        client.change(uri, {"text": "\n".join(lines)})
        number = pull(client, uri)
        time.sleep(draw.random() * longest)
        ended = "error" in cancelled(client, number)
        count += ended
        longest *= 1.3 if ended else 0.6
    assert count > 5
    client.open(fresh, "\n".join(lines))
    known = [
        client.request("textDocument/diagnostic", {"textDocument": {"uri": one}})["items"]
        for one in (uri, fresh)
    ]
    assert len(known[0]) > 3
    assert json.dumps(known[0]).replace("a.py", "b.py") == json.dumps(known[1])
    assert client.end() == 0


def test_items_are_resolved_with_documentation(client):
    client.open("file:///a.py", "from sardonyx import opset21 as op\nop.")
    items = client.at("textDocument/completion", "file:///a.py", 1, 3)["items"]
    (relu,) = [one for one in items if one["label"] == "Relu"]
    resolved = client.request("completionItem/resolve", relu)
    assert "rectified linear" in resolved["documentation"]["value"]
    assert client.request("completionItem/resolve", {"label": "x"}) == {"label": "x"}


# --- A real client -------------------------------------------------------------------------------


@pytest.mark.editors
def test_neovim(tmp_path):
    text = SCRIPT.replace('    return "𝔘ö", op.Softmax(X, axis=9)', '    """𝔘"""')
    text += "    y = op.Softmax(X, axis=7)\n    z = op.Rellu(y)\n    return z\n"
    (tmp_path / "script.py").write_text(text)
    session = ROOT / "tests/data/lsp/neovim.lua"
    neovim = os.environ.get("SDX_NVIM", "nvim")
    command = [neovim, "--headless", "--clean", "-n", "-c", f"luafile {session}"]
    environment = {**os.environ, "SARDONYX": str(PROGRAM)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert [line for line in done.stdout.splitlines() if line] == [
        "5:27-5:28 axis 7 of `Softmax` is outside a shape of rank 2",
        "6:11-6:16 `ai.onnx` has no operator `Rellu`",
        "hover: Softmax(input, *, axis=-1)",
        "completion: Softmax, SoftmaxCrossEntropyLoss ... softmin leads to Softmax",
        "signature: Softmax(input, *, axis=-1)",
        "did you mean `Relu`?:     z = op.Relu(y)",
        "5:27-5:28 axis 7 of `Softmax` is outside a shape of rank 2",
        "definition: line 6",
        "stopped: true",
    ], done.stderr


# --- Bad input -----------------------------------------------------------------------------------


def run(data: bytes) -> tuple[int, bytes]:
    done = subprocess.run([PROGRAM, "lsp"], input=data, capture_output=True, timeout=60)
    assert done.returncode in (0, 1) and b"rror" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def framed(*contents: bytes) -> bytes:
    return b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(one), one) for one in contents)


INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n\r\n",
        b"nonsense",
        os.urandom(0) + bytes(range(256)) * 40,
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        b"Content-Length: 1000000000\r\n\r\n{}",
        b"Content-Type: x\r\n\r\n" + framed(INITIALIZE),
        framed(b"", b"{", b"[]", b"1", b'"x"', b"null", b"{}", b"\xff\xfe", b"[" * 100000),
        framed(b'{"id":{},"method":[]}', b'{"id":1}', b'{"method":"exit"}'),
    ],
)
def test_any_bytes(data):
    run(data)


@pytest.mark.parametrize(
    "junk",
    [
        b"nonsense",
        bytes(range(256)) * 40,
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        b"Content-Length: five\r\n\r\n{}",
    ],
)
def test_answers_behind_what_is_no_message(junk):
    end = framed(b'{"id":2,"method":"shutdown"}', b'{"method":"exit"}')
    status, out = run(framed(INITIALIZE) + junk + end)
    assert status == 0 and b'"id":2,"result":null' in out


@pytest.mark.parametrize(
    "params",
    [
        "{}", "[]", "null", "3", '{"textDocument":{}}', '{"textDocument":{"uri":7}}',
        '{"textDocument":{"uri":"file:///x.py"}}',
        '{"textDocument":{"uri":"file:///x.py"},"position":{"line":-5,"character":1e300}}',
        '{"textDocument":{"uri":"file:///x.py"},"position":{"line":99999999999,"character":7}}',
        '{"textDocument":{"uri":"file:///x.py"},"range":{"start":{"line":9},"end":{"line":1}}}',
        '{"textDocument":{"uri":"file:///x.py"},"contentChanges":[{"range":{}},{},7,"x"]}',
        '{"textDocument":{"uri":"file:///%zz%4"},"contentChanges":{"text":"a"}}',
    ],
)  # fmt: skip
def test_parameters_that_are_wrong(params):
    methods = [
        "hover", "completion", "signatureHelp", "prepareRename", "inlayHint", "documentSymbol",
        "codeAction", "diagnostic", "didChange", "didClose", "didOpen", "unknown", "foldingRange",
        "codeLens", "semanticTokens/full", "semanticTokens/range", "prepareCallHierarchy",
        "references",
    ]  # fmt: skip
    opened = {"uri": "file:///x.py", "version": 1, "text": "x = \u00e9\n\ud83d\ude00"}
    messages = [
        INITIALIZE,
        json.dumps({"method": "textDocument/didOpen", "params": {"textDocument": opened}}).encode(),
    ]
    for i, method in enumerate(methods):
        text = f'{{"id":{i + 2},"method":"textDocument/{method}","params":{params}}}'
        messages += [text.encode(), text.replace(f'"id":{i + 2},', "").encode()]
    status, out = run(framed(*messages, b'{"id":99,"method":"shutdown"}', b'{"method":"exit"}'))
    assert status == 0
    answered = re.findall(rb'"jsonrpc":"2.0","id":(\d+),"(result|error)"', out)
    assert [int(number) for number, _ in answered] == [1, *range(2, len(methods) + 2), 99]


def test_order_of_life():
    early = framed(b'{"id":5,"method":"textDocument/hover","params":{}}')
    assert b"-32002" in run(early)[1]
    late = framed(INITIALIZE, b'{"id":2,"method":"shutdown"}', b'{"id":3,"method":"shutdown"}')
    assert b"-32600" in run(late)[1]
    assert b"-32600" in run(framed(INITIALIZE, INITIALIZE))[1]
    assert run(framed(INITIALIZE))[0] == 1  # the client has gone
    assert run(framed(INITIALIZE, b'{"method":"exit"}'))[0] == 1
    assert run(framed(b'{"id":1,"method":"initialize"}', b'{"id":2,"method":"x"}'))[1].count(
        b"-32601"
    )


def test_long_lines_and_large_files(client):
    client.open("file:///long.py", "x = '" + "a" * 10_000_000 + "'\ny = op.")
    assert client.at("textDocument/completion", "file:///long.py", 1, 7)["items"] == []
    client.open("file:///deep.py", "(" * 100_000)
    client.findings("file:///deep.py")


def test_ten_thousand_files_in_the_root(tmp_path: pathlib.Path) -> None:
    head = "from sardonyx import FLOAT, opset21 as op, script\n"
    library = tmp_path / "lib.py"
    library.write_text(head + '@script()\ndef helper(x: FLOAT["N"]):\n    return op.Relu(x)\n')
    caller = 'from lib import helper\n@script()\ndef g(x: FLOAT["N"]):\n    return helper(x)\n'
    for i in range(10_000):
        (tmp_path / f"f{i}.py").write_text(head + caller if i % 100 == 0 else "x = 1\n" * 20)
    root = {"uri": tmp_path.as_uri(), "name": "many"}
    client = Client(workspaceFolders=[root], pulls=True)
    uri = library.as_uri()
    client.open(uri, library.read_text())
    (item,) = client.at("textDocument/prepareCallHierarchy", uri, 2, 6)
    assert len(client.request("callHierarchy/incomingCalls", {"item": item})) == 100
    for i in range(0, 10_000, 200):
        (tmp_path / f"f{i}.py").unlink()
    assert len(client.request("callHierarchy/incomingCalls", {"item": item})) == 50
    assert client.end() == 0


if __name__ == "__main__":
    for one in SESSIONS:
        one.write_text(replayed(one))
        print(f"wrote {one.relative_to(ROOT)}", file=sys.stderr)
