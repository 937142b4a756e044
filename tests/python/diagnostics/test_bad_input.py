"""Bad input: random bytes, random tokens and mutated scripts are findings, never a crash or a hang.

`sardonyx check` looks at a folder of them in one process. SDX_FULL=1 tries some thousands.
"""

from __future__ import annotations

import io
import json
import pathlib
import random
import subprocess
import tokenize

import pytest

from diagnostics import test_pages
from places import PROGRAM, ROOT
from sampling import FULL

ROUNDS = 40 if FULL else 2
BATCH = 60
SECONDS = 120  # for a batch

WORDS_TEXT = r'''
and as assert break class continue def del elif else except False finally for from
global if import in is lambda None nonlocal not or pass raise return True try while with
yield match script graph op opset21 FLOAT INT64 BOOL x y z f g n range len int float
list append shape dtype astype reshape min max sum zip enumerate isinstance print abs T
axis to keepdims Add Mul Relu Cast Concat Loop If Scan SequenceConstruct Gather Reshape
0 1 -1 2 3.5 1e400 10**9 9223372036854775807 0x10 "a" "N" f"{x}" """t""" b"a" ... := ==
!= < <= > >= + - * / // % ** @ & | ^ ~ << >> += *= ( ) [ ] { } , : ; . -> = @ @script()
@graph()
'''
WORDS = WORDS_TEXT.split()


def programs() -> list[str]:
    """Real scripts: the examples, and those of the pages of diagnostics."""
    texts = [path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))]
    for code in test_pages.CODES:
        made = test_pages.page(code)
        if made["language"] == "py":
            texts += [made["example"], made["repair"]]
    return [text for text in texts if len(text) < 20_000]


def tokens_of(text: str) -> list[tuple[int, int]]:
    """The places of the tokens; those before the first mistake, if there is one."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            begin = starts[token.start[0] - 1] + token.start[1]
            end = starts[token.end[0] - 1] + token.end[1]
            if begin < end:
                found.append((begin, end))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return found


def mutate(text: str, others: list[str], rng: random.Random) -> str:
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        places = tokens_of(text)
        if not places:
            return text
        begin, end = rng.choice(places)
        other_begin, other_end = rng.choice(places)
        kind = rng.randrange(8)
        if kind == 0:  # drop a token
            text = text[:begin] + text[end:]
        elif kind == 1:  # another word in its place
            text = f"{text[:begin]}{rng.choice(WORDS)} {text[end:]}"
        elif kind == 2:  # a word more
            text = f"{text[:begin]} {rng.choice(WORDS)} {text[begin:]}"
        elif kind == 3:  # one token of the program in the place of another
            text = text[:begin] + text[other_begin:other_end] + text[end:]
        elif kind == 4:  # cut off
            text = text[:end]
        elif kind == 5:  # a piece twice
            first, last = sorted((begin, other_begin))
            text = text[:last] + text[first:last][:2000] + text[last:]
        elif kind == 6:  # lines of another program
            lines, more = text.splitlines(keepends=True), rng.choice(others).splitlines(True)
            at, start = rng.randrange(len(lines) + 1), rng.randrange(len(more))
            text = "".join(lines[:at] + more[start : start + rng.randint(1, 4)] + lines[at:])
        else:  # lines in another order
            lines = text.splitlines(keepends=True)
            at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines.insert(to, lines.pop(at))
            text = "".join(lines)
    return text


def check(folder: pathlib.Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [PROGRAM, "check", "--json", folder], capture_output=True, timeout=SECONDS
    )


def check_batch(files: dict[str, bytes], folder: pathlib.Path) -> None:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    try:
        done = check(folder)
        is_fine = done.returncode in (0, 1)
    except subprocess.TimeoutExpired:
        is_fine = False
    if not is_fine:
        for name in files:  # which one is it?
            alone = folder / name.removesuffix(".py")
            alone.mkdir()
            (folder / name).rename(alone / name)
            done = check(alone)
            assert done.returncode in (0, 1), f"{name}: {done.returncode}\n{files[name]!r}"
        raise AssertionError("the batch fails, and none of its files alone")
    for one in json.loads(done.stdout):
        assert one["code"] and one["message"], one
        assert one["file"] and one["range"], one
        text = files[pathlib.Path(one["file"]).name]
        for label in [one, *one["labels"], *one["edits"]]:
            if label["file"]:
                at = label["range"]
                text = files[pathlib.Path(label["file"]).name]
                assert 0 <= at["start"]["offset"] <= at["end"]["offset"] <= len(text), one


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_mutated_scripts(seed: int, tmp_path: pathlib.Path) -> None:
    rng = random.Random(seed)
    texts = programs()
    for batch in range(3):
        chosen = [rng.choice(texts) for _ in range(BATCH)]
        files = {f"m{i}.py": mutate(one, texts, rng).encode() for i, one in enumerate(chosen)}
        check_batch(files, tmp_path / str(batch))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_tokens(seed: int, tmp_path: pathlib.Path) -> None:
    rng = random.Random(seed)
    header = "from sardonyx import BOOL, FLOAT, INT64, graph, opset21 as op, script\n"
    files = {}
    for i in range(BATCH):
        lines = []
        for _ in range(rng.randint(1, 12)):
            words = [rng.choice(WORDS) for _ in range(rng.randint(1, 9))]
            lines.append(" " * rng.choice([0, 4, 4, 4, 8]) + " ".join(words))
        if rng.random() < 0.7:
            lines.insert(0, '@script()\ndef f(x: FLOAT["N"], n: INT64):\n    y = op.Relu(x)')
        files[f"t{i}.py"] = (header + "\n".join(lines) + "\n").encode()
    check_batch(files, tmp_path / "files")


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_bytes(seed: int, tmp_path: pathlib.Path) -> None:
    rng = random.Random(seed)
    texts = programs()
    files = {}
    for i in range(BATCH):
        data = bytearray(rng.choice(texts).encode())
        if i % 4 == 0:
            data = bytearray(rng.randbytes(rng.randrange(400)))
        for _ in range(rng.randint(1, 8)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        files[f"b{i}.py"] = bytes(data)
    check_batch(files, tmp_path / "files")
