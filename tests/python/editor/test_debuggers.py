"""Debuggers stop inside scripts that are called as Python, and see live tensors."""

import json
import os
import subprocess
import sys
import threading
from queue import Empty, Queue

import pytest

PROGRAM = """\
import numpy as np
from sardonyx import FLOAT, script
from sardonyx import opset18 as op


@script(default_opset=op)
def grow(x: FLOAT["N"], times: int = 2) -> FLOAT["N"]:
    total = x * 0.5
    for i in range(times):
        total = op.Add(total, x)  # here
    return total


result = grow(np.array([2, 4], np.float32), times=3)
print("result", result.tolist())
"""
LINE = next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# here"))
SECONDS = 60


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "grow.py"
    path.write_text(PROGRAM)
    return path


def run(command, text, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **environment},
    )
    return done.stdout


def test_pdb_stops_at_a_breakpoint(program):
    commands = [
        f"break {program}:{LINE}",
        "continue",
        "print('first', x.shape, x.value.tolist(), total.value.tolist(), times, i)",
        "continue",
        "print('second', type(total).__name__, repr(total), i)",
        "up",
        "next",  # out of the script, one line after another
        "quit",
    ]
    output = run(["-m", "pdb", program], "\n".join(commands) + "\n")
    assert "first (2,) [2.0, 4.0] [1.0, 2.0] 3 0" in output
    assert "second Tensor Tensor([3., 6.], FLOAT[2]) 1" in output


def test_pdb_steps_from_statement_to_statement(program):
    commands = [f"break {program}:{LINE - 2}", "continue", *["next"] * 3, "print('at', total)"]
    output = run(["-m", "pdb", program], "\n".join([*commands, "quit"]) + "\n")
    for line in PROGRAM.splitlines()[LINE - 3 : LINE]:
        assert f"-> {line.strip()}" in output
    assert "at Tensor([3., 6.], FLOAT[2])" in output


def test_breakpoint_stops_where_it_stands(program):
    program.write_text(PROGRAM.replace("# here", "; breakpoint()"))
    output = run([program], "print('in', total.value.tolist(), i)\ncontinue\n" * 3)
    assert "in [3.0, 6.0] 0" in output
    assert "in [5.0, 10.0] 1" in output
    assert "result [7.0, 14.0]" in output


class Adapter:
    """A client of the Debug Adapter Protocol, over the standard streams of debugpy's adapter."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "debugpy.adapter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.sequence = 0
        self.messages = Queue()
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.process.stdout
        while header := stream.readline():
            length = int(header.split(b":")[1])
            stream.readline()
            self.messages.put(json.loads(stream.read(length)))

    def send(self, command, **arguments):
        """Sends a request; gives its number."""
        self.sequence += 1
        message = {"seq": self.sequence, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()
        return self.sequence

    def wait(self, wanted):
        """The first message, not yet taken, that the function accepts."""
        while True:
            for i, message in enumerate(self.seen):
                if wanted(message):
                    return self.seen.pop(i)
            try:
                self.seen.append(self.messages.get(timeout=SECONDS))
            except Empty:
                pytest.fail(f"no such message; there were {self.seen}")

    def event(self, name):
        return self.wait(lambda m: m["type"] == "event" and m["event"] == name).get("body", {})

    def answer(self, number):
        message = self.wait(lambda m: m["type"] == "response" and m["request_seq"] == number)
        assert message["success"], message
        return message.get("body", {})

    def request(self, command, **arguments):
        return self.answer(self.send(command, **arguments))


@pytest.fixture
def adapter():
    pytest.importorskip("debugpy")
    client = Adapter()
    yield client
    client.process.kill()
    client.process.wait()


def test_debugpy_reads_the_locals(adapter, program):
    adapter.request("initialize", adapterID="test", linesStartAt1=True, columnsStartAt1=True)
    launch = adapter.send(
        "launch", program=str(program), console="internalConsole", python=[sys.executable]
    )
    adapter.event("initialized")
    marks = adapter.request(
        "setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": LINE}]
    )
    assert marks["breakpoints"][0]["verified"]
    adapter.request("configurationDone")
    adapter.answer(launch)

    expected = [("0", "[1.0, 2.0]"), ("1", "[3.0, 6.0]"), ("2", "[5.0, 10.0]")]
    for iteration, elements in expected:
        stopped = adapter.event("stopped")
        assert stopped["reason"] == "breakpoint"
        frames = adapter.request("stackTrace", threadId=stopped["threadId"])["stackFrames"]
        assert (frames[0]["name"], frames[0]["line"]) == ("grow", LINE)
        scopes = adapter.request("scopes", frameId=frames[0]["id"])["scopes"]
        variables = adapter.request(
            "variables", variablesReference=scopes[0]["variablesReference"]
        )["variables"]
        values = {one["name"]: one for one in variables}
        assert values["i"]["value"] == iteration
        assert values["times"]["value"] == "3"
        assert values["total"]["type"] == "Tensor"
        assert values["x"]["value"] == "Tensor([2., 4.], FLOAT[2])"
        asked = {"total.value.tolist()": elements, "x.shape": "(2,)", "x.dtype": "FLOAT"}
        for expression, value in asked.items():
            got = adapter.request(
                "evaluate", expression=expression, frameId=frames[0]["id"], context="watch"
            )
            assert got["result"] == value
        adapter.request("continue", threadId=stopped["threadId"])
    adapter.event("terminated")
    # A line may come in several pieces.
    assert "result [7.0, 14.0]" in "".join(
        message["body"]["output"]
        for message in adapter.seen
        if message.get("event") == "output" and message["body"].get("category") == "stdout"
    )
