"""How long the language server takes: to start, after an edit, for a hover and a completion.

    python bench/lsp.py [--peer "pyright-langserver --stdio" ...]

The program is that of SDX_BUILD, build/release by default. Times are the least of several. Each
peer is a language server of Python, which gets the same scripts written for onnxscript: one that is
given no `--peer` is looked for beside the running Python and on the PATH. Its start is that to its
first diagnostics, be they asked for or published; a peer that gives none has a dash.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
from editor.test_lsp import Client  # noqa: E402

HEAD = "from sardonyx import FLOAT, opset21 as op, script\n\n"
SCRIPT = """\
@script()
def f{0}(X: FLOAT["N", 8], W: FLOAT[8, 8]) -> FLOAT["N", 8]:
    a = op.MatMul(X, W)
    b = op.Relu(a) + X * 2.0
    c = op.Softmax(b, axis=-1)
    d = op.LayerNormalization(c, W[0], axis=-1)
    return op.Add(d, a)


"""


BODY = {"line": 5, "character": 4}  # the name `b` of the first script


def file_of(lines: int, head: str = HEAD) -> str:
    return head + "".join(SCRIPT.format(i) for i in range(lines // 9))


def least(count: int, run: Callable[[], object]) -> float:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times) * 1000


def start() -> None:
    client = Client("utf-8")
    client.open("file:///a.py", file_of(500))
    client.findings("file:///a.py")
    client.process.kill()
    client.process.wait()


def resident(client: Client | Peer) -> float:
    """Of the server and the processes that it has started, in MB."""
    return sum(map(resident_of, family(client.process.pid)))


def family(process: int) -> list[int]:
    found = [process]
    for one in Path(f"/proc/{process}/task").iterdir():
        for child in (one / "children").read_text().split():
            found += family(int(child))
    return found


def resident_of(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


PEER_HEAD = "from onnxscript import FLOAT, opset21 as op, script\n\n"
PEERS = ("pyright-langserver --stdio", "ty server", "jedi-language-server", "pylsp")
# A peer that has not answered by then will not.
PATIENCE = 60.0


class Peer:
    """Another language server; it answers, asks the client, and publishes as it likes."""

    def __init__(self, command: list[str], folder: Path) -> None:
        # Each is told in its own way where onnxscript is.
        found = {"venvPath": str(Path(sys.prefix).parent), "venv": Path(sys.prefix).name}
        (folder / "pyrightconfig.json").write_text(json.dumps(found))
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**os.environ, "VIRTUAL_ENV": sys.prefix},
        )  # fmt: skip
        self.bytes = b""
        self.number = 0
        self.told: dict[int, int] = {}  # how many findings, by the version
        capabilities = {
            "textDocument": {
                "publishDiagnostics": {"versionSupport": True}, "hover": {}, "completion": {},
                "diagnostic": {},
            },
            "workspace": {"configuration": True, "workspaceFolders": True},
        }  # fmt: skip
        root = {"uri": folder.as_uri(), "name": "a"}
        parameters: dict[str, Any] = {
            "processId": os.getpid(),
            "rootUri": root["uri"],
            "workspaceFolders": [root],
        }
        parameters["initializationOptions"] = {"workspace": {"environmentPath": sys.executable}}
        answer = self.request("initialize", {**parameters, "capabilities": capabilities})
        self.pulls = "diagnosticProvider" in answer["capabilities"]
        self.send({"method": "initialized", "params": {}})

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def read(self, until: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            header, found, rest = self.bytes.partition(b"\r\n\r\n")
            length = int(header.lower().split(b"content-length:")[1].split()[0]) if found else 0
            if found and len(rest) >= length:
                self.bytes = rest[length:]
                return json.loads(rest[:length])
            left = until - time.perf_counter()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                raise TimeoutError  # it has gone
            self.bytes += piece

    def take(self, until: float) -> dict[str, Any]:
        """The next answer to us; what the peer asks is answered with nothing."""
        message = self.read(until)
        if message.get("method") == "textDocument/publishDiagnostics":
            told = message["params"]
            self.told[told.get("version") or -1] = len(told["diagnostics"])
        elif "method" in message and "id" in message:
            asked = message["params"].get("items", []) if message.get("params") else []
            self.send({"id": message["id"], "result": [None] * len(asked) or None})
        return message

    def request(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        until = time.perf_counter() + PATIENCE
        while True:
            message = self.take(until)
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")

    def findings(self, uri: str, version: int) -> None:
        """Waits for the diagnostics of this version."""
        if self.pulls:
            self.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            return
        until = time.perf_counter() + PATIENCE
        while version not in self.told and -1 not in self.told:
            self.take(until)
        self.told.clear()

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def change(self, uri: str, version: int, change: dict[str, Any]) -> None:
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": [change]}
        self.send({"method": "textDocument/didChange", "params": params})

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def shown(run: Callable[[], float]) -> str:
    try:
        return f"{run():.1f} ms"
    except TimeoutError:
        return "-"


def has_words(answer: Any) -> bool:
    """Whether a hover or a completion speaks of the operator."""
    return "MatMul" in json.dumps(answer)


def measure_peer(command: list[str], lines: int, folder: Path) -> None:
    name = Path(command[0]).name
    path = folder / "a.py"
    path.write_text(file_of(lines, PEER_HEAD))
    uri = path.as_uri()
    started = time.perf_counter()
    peer = Peer(command, folder)
    try:
        peer.open(uri, path.read_text())

        def start() -> float:
            peer.findings(uri, 1)
            return (time.perf_counter() - started) * 1000

        began = shown(start)
        version = 1

        def edit() -> None:
            nonlocal version
            version += 1
            is_odd = version % 2
            end = {**BODY, "character": BODY["character"] + is_odd}
            text = "" if is_odd else "y"
            peer.change(uri, version, {"range": {"start": BODY, "end": end}, "text": text})
            peer.findings(uri, version)

        took = {"edit to diagnostics": "-"}
        if began != "-":
            took["edit to diagnostics"] = shown(lambda: least(6, edit))
        for what, character in (("hover", 12), ("completion", 11)):
            place = {"line": 4, "character": character}
            params = {"textDocument": {"uri": uri}, "position": place}
            method = f"textDocument/{what}"
            if not has_words(peer.request(method, params)):
                took[what] = "nothing"
                continue
            took[what] = shown(lambda: least(10, lambda: peer.request(method, params)))  # noqa: B023
        parts = ", ".join(f"{what}: {time}" for what, time in took.items())
        print(f"{name}, {lines} lines, start: {began}, {parts}, resident: {resident(peer):.0f} MB")
    except (TimeoutError, BrokenPipeError):
        print(f"{name}: no answer")
    finally:
        peer.kill()


def peers(given: list[str]) -> list[list[str]]:
    """Those that are installed, or those that are asked for."""
    found = []
    for words in map(shlex.split, given or PEERS):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        program = shutil.which(words[0], path=path)
        if program is not None:
            found.append([program, *words[1:]])
        else:
            print(f"{words[0]}: not installed")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--peer", action="append", default=[], metavar="COMMAND")
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    print(f"start to first diagnostics: {least(5, start):.1f} ms")
    for lines in (500, 5_000):
        client = Client("utf-8")
        uri = "file:///a.py"
        client.open(uri, file_of(lines))
        client.findings(uri)
        # In one script, and above all of them, which any of them may depend on.
        for what, place in (("edit", BODY), ("edit at the top", {"line": 1, "character": 0})):
            edits = ["", "y"]

            def edit(client=client, uri=uri, place=place, edits=edits) -> None:
                edits.reverse()
                end = {**place, "character": place["character"] + len(edits[1])}
                client.change(uri, {"range": {"start": place, "end": end}, "text": edits[0]})
                client.findings(uri)

            print(f"{lines} lines, {what} to diagnostics: {least(6, edit):.1f} ms")
        for name, character in (("hover", 12), ("completion", 11)):
            method = f"textDocument/{name}"
            took = least(20, lambda: client.at(method, uri, 4, character))  # noqa: B023
            print(f"{lines} lines, {name}: {took:.2f} ms")
        print(f"{lines} lines, resident: {resident(client):.0f} MB")
        client.end()
    with tempfile.TemporaryDirectory() as folder:
        for command in peers(options.peer):
            for lines in (500, 5_000):
                measure_peer(command, lines, Path(folder))


if __name__ == "__main__":
    main()
