"""How many models come back from their scripts: the table of docs/onnx.md.

`python -m models.test_round_trip --write`, from tests/python, counts anew. The tests
count each 29th model of each corpus, SDX_FULL=1 all, and hold the page to it.
"""

from __future__ import annotations

import collections
import hashlib
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator

import onnxruntime
import pytest
import sardonyx

from models.corpora import (
    backend_cases,
    examples,
    random_graphs,
    random_programs,
    runtime_models,
    torch_exports,
)
from places import ROOT
from real_models import MODELS, models_folder
from sampling import SEED, stride

pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = ROOT / "docs/onnx.md"
STRIDE = stride(29)
OFFSET = SEED % STRIDE

Corpus = dict[str, bytes | pathlib.Path]


def node_cases() -> Corpus:
    return {name: data for name, (data, _) in backend_cases().items() if "/" not in name}


def other_cases() -> Corpus:
    return {name: data for name, (data, _) in backend_cases().items() if "/" in name}


def shipped() -> Corpus:
    folder = pathlib.Path(onnxruntime.__file__).parent
    return {path.name: path for path in sorted(folder.rglob("*.onnx"))}


def real() -> Corpus:
    paths = {name: models_folder() / model.path for name, model in MODELS.items()}
    return {name: path for name, path in paths.items() if path.exists()}


def of_other_packages() -> Corpus:
    """The other models of the packages that `tools/dev models` fetches, each once."""
    known = {models_folder() / model.path for model in MODELS.values()}
    found: dict[str, pathlib.Path] = {}
    for path in sorted(models_folder().rglob("*.onnx")):
        if path not in known:
            found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return {str(path.relative_to(models_folder())): path for path in found.values()}


def own_examples() -> Corpus:
    return dict(examples())


CORPORA: dict[str, Callable[[], Corpus]] = {
    "node cases of the installed onnx": node_cases,
    "its other backend models": other_cases,
    "models in the package of ONNX Runtime": shipped,
    "real models (`tools/dev models`)": real,
    "other models of packages that it fetches": of_other_packages,
    "exports of PyTorch: ResNet-50, an LSTM, a transformer": lambda: dict(torch_exports()),
    "those optimized and quantized by ONNX Runtime; com.microsoft": lambda: dict(runtime_models()),
    "random graphs": lambda: dict(random_graphs()),
    "what random programs compile to": lambda: dict(random_programs()),
    "what the examples compile to": own_examples,
}
FETCHED = (real, of_other_packages)


def reason_of(source: bytes | pathlib.Path) -> str:
    """Why there is no script; empty: it is there, compiles, and gives an isomorphic model."""
    if isinstance(source, bytes) and len(source) > 1 << 20:  # large weights need a file
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            path.write_bytes(source)
            return reason_of(path)
    with tempfile.TemporaryDirectory() as folder:  # for weights of Constant nodes
        weights = (
            pathlib.Path(folder) / "w.safetensors" if isinstance(source, os.PathLike) else None
        )
        try:
            sardonyx.decompile(source, weights=weights)
        except sardonyx.EvalError as error:
            return str(error)
    return ""


# --- The page ------------------------------------------------------------------------------------

ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)


def page_rows() -> dict[str, tuple[int, int]]:
    def number(text: str) -> int:
        return int(text.replace(",", ""))

    return {row[1]: (number(row[2]), number(row[3])) for row in ROW.finditer(PAGE.read_text())}


@pytest.mark.parametrize("name", CORPORA)
def test_the_table(name: str) -> None:
    """Models that come back are as many as the page says, or, of a sample, no fewer."""
    corpus = CORPORA[name]()
    total, back = page_rows()[name]
    if CORPORA[name] in FETCHED and len(corpus) < total:
        pytest.skip("not all real models are there: `tools/dev models` fetches them")
    names = sorted(corpus)
    assert total == len(names)
    if CORPORA[name] is real and STRIDE > 1:
        return  # test_decompile has them all
    reasons = {one: reason_of(corpus[one]) for one in names[OFFSET::STRIDE]}
    lost = [one for one, reason in reasons.items() if reason]
    assert len(lost) <= total - back, lost
    if STRIDE == 1:
        assert len(lost) == total - back, lost


def rows() -> Iterator[tuple[str, int, int]]:
    for name, read in CORPORA.items():
        corpus = read()
        reasons = collections.Counter(reason_of(source) for source in corpus.values())
        for reason, count in reasons.items():
            print(f"{name}: {count} {reason[:150] or 'back'}", file=sys.stderr)
        yield name, len(corpus), reasons[""]


def main() -> int:
    lines = [f"| {name} | {count:,} | {back:,} |" for name, count, back in rows()]
    text = PAGE.read_text()
    begin = text.index("| models |")
    head = text[begin:].split("\n")[:2]
    end = text.index("\n\n", begin)
    if "--write" in sys.argv:
        PAGE.write_text(text[:begin] + "\n".join([*head, *lines]) + text[end:])
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
