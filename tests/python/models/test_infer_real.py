"""How much `model.infer()` knows of the values of real models: what docs/models.md says."""

from __future__ import annotations

import pathlib
import re

import pytest
import sardonyx

from models.test_round_trip import real
from places import ROOT
from real_models import MODELS

SENTENCE = re.compile(r"Of the ([\d,]+) values of the real models, ([\d.]+) % have a known rank")
DIMS = re.compile(r"of the dimensions of these, ([\d.]+) % are")


def test_ranks_and_dimensions() -> None:
    if len(real()) < len(MODELS):
        pytest.skip("not all real models are there: `tools/dev models` fetches them")
    values, ranks, dims, known = 0, 0, 0, 0
    for path in real().values():
        model = sardonyx.load(pathlib.Path(path))
        model.infer()
        for node in model.graph.walk():
            for value in node.outputs:
                if value is None:
                    continue
                values += 1
                if value.shape is not None:
                    ranks += 1
                    dims += len(value.shape)
                    known += sum(dim is not None for dim in value.shape)
    page = " ".join((ROOT / "docs/models.md").read_text().split())
    count, share = SENTENCE.search(page).groups()  # type: ignore[union-attr]
    of_dims = DIMS.search(page)[1]  # type: ignore[index]
    found = (f"{values:,}", f"{100 * ranks / values:.1f}", f"{100 * known / dims:.2f}")
    assert (count, share, of_dims) == found
    assert known / dims > 0.995
