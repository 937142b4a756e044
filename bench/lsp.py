"""How long the language server takes: to start, after an edit, for a hover and a completion.

    python bench/lsp.py

The program is that of SDX_BUILD, build/release by default. Times are the least of several.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

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


def file_of(lines: int) -> str:
    return HEAD + "".join(SCRIPT.format(i) for i in range(lines // 9))


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


def resident(client: Client) -> float:
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    print(f"start to first diagnostics: {least(5, start):.1f} ms")
    for lines in (500, 5_000):
        client = Client("utf-8")
        uri = "file:///a.py"
        client.open(uri, file_of(lines))
        client.findings(uri)
        place = {"line": 5, "character": 0}
        edits = ["y", ""]

        def edit(client=client, uri=uri, place=place, edits=edits) -> None:
            edits.reverse()
            end = {"line": 5, "character": len(edits[1])}
            client.change(uri, {"range": {"start": place, "end": end}, "text": edits[0]})
            client.findings(uri)

        print(f"{lines} lines, edit to diagnostics: {least(6, edit):.1f} ms")
        for name, character in (("hover", 12), ("completion", 11)):
            method = f"textDocument/{name}"
            took = least(20, lambda: client.at(method, uri, 4, character))  # noqa: B023
            print(f"{lines} lines, {name}: {took:.2f} ms")
        print(f"{lines} lines, resident: {resident(client):.0f} MB")
        client.end()


if __name__ == "__main__":
    main()
