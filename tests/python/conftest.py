"""Of every run: the random numbers of each test, and the tests that were skipped, whether each may
be.

A module's generator `RANDOM` begins each test with a seed of the test's own: the numbers of a test
do not depend on those that ran before it in the same worker.

`SKIPS` says for which reasons a test may be skipped where everything that the tests want is
installed, and how many at most. With SDX_STRICT=1, as `make test` and CI have it, a run with other
skips fails: a test that silently stops running guards nothing.
"""

from __future__ import annotations

import collections
import contextlib
import importlib
import os
import pathlib
import re
import resource
import zlib

import numpy as np
import pytest

# In processes that tests start, a leak is a failure, in release builds, too; in this one it is not,
# because pytest keeps objects of tests until the end. The extension reads the variable when it is
# imported; tests of single phases have no extension.
os.environ.pop("SARDONYX_LEAKS", None)
with contextlib.suppress(ImportError):
    importlib.import_module("sardonyx._core")
os.environ["SARDONYX_LEAKS"] = "1"

# A pattern of the reason, how many tests at most, and why they cannot run.
SKIPS = (
    (r"ReduceMean does not take 8-bit integers", 2, "the operator has no such type"),
    (r"NumPy's remainder does not take it", 1, "NumPy, the peer, has no such type"),
    (r"onnxscript refuses it", 220, "there is no model of the peer to compare ours with"),
    (r"could not import 'torch'", 60, "torch has a phase of its own: `tools/dev torch`"),
    (r"could not import 'transformers'", 2, "transformers too: `tools/dev torch`"),
    (r"`tools/dev editors` runs it", 5, "editors and browsers have a phase of their own"),
    (r"`tools/dev types` runs it", 1, "the type checkers have a phase of their own"),
    (r"mounting a small file system needs root", 1, "a test must not become root"),
    (r"this system mounts no tmpfs", 1, "containers may not mount"),
    (r"this disk knows no sparse files", 2, "5 GiB would be too much to write"),
    (r"writes more than 2 GiB", 4, "`tools/dev test --full` runs it"),
    (r"got empty parameter set for \(path\)", 1, "tests/python/found/ holds no program"),
)


class Failures:
    """Writes each failure to a file as it comes: a run of hours may not reach its end."""

    def __init__(self, path: str) -> None:
        self.path = pathlib.Path(path)
        self.path.write_text("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self.path.open("a") as file:
                file.write(f"--- {report.nodeid} ({report.when})\n{report.longreprtext}\n")


def pytest_configure(config: pytest.Config) -> None:
    """What `tools/dev test --full` asks for: a file of failures, and tests that get a MemoryError
    where they would take the machine's memory."""
    if most := os.environ.get("SDX_WORKER_MEMORY"):
        resource.setrlimit(resource.RLIMIT_DATA, (int(most), int(most)))
    path = os.environ.get("SDX_FAILURES")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(path))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What the tests of editors need is there or they fail, where `tools/dev editors` runs them."""
    if item.get_closest_marker("editors") and "SDX_EDITORS" not in os.environ:
        pytest.skip("`tools/dev editors` runs it")


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> None:
    drawn = getattr(request.module, "RANDOM", None)
    if isinstance(drawn, np.random.Generator):
        seed = zlib.crc32(request.node.name.encode())
        drawn.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test or a file of tests was skipped, without pytest's word for it."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def unexpected(reasons: collections.Counter[str]) -> list[str]:
    """The lines about skips that `SKIPS` has no room for."""
    lines = []
    counted: collections.Counter[str] = collections.Counter()
    for reason, count in reasons.items():
        row = next((pattern for pattern, *_ in SKIPS if re.match(pattern, reason)), None)
        if row is None:
            lines.append(f"{count} skipped for a reason that is not in SKIPS: {reason}")
        else:
            counted[row] += count
    for pattern, most, _ in SKIPS:
        if counted[pattern] > most:
            lines.append(f"{counted[pattern]} skipped where at most {most} are: {pattern}")
    return lines


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("SDX_STRICT") != "1":
        return
    skipped = terminalreporter.stats.get("skipped", [])
    lines = unexpected(collections.Counter(reason_of(report) for report in skipped))
    if lines:
        terminalreporter.section("unexpected skips (tests/python/conftest.py)", red=True)
        for line in lines:
            terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("SDX_STRICT") != "1" or reporter is None:
        return  # a worker of pytest-xdist: the controller sees all reports
    skipped = reporter.stats.get("skipped", [])
    if unexpected(collections.Counter(reason_of(report) for report in skipped)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
