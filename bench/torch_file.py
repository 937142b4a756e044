"""How long the program takes to convert a .pt2 file of BERT-base with random weights, beside `cp`.

Needs PyTorch and transformers; the file has 440 MB.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import resource
import subprocess
import tempfile
import time
import zipfile
from typing import Any


def save_bert(path: pathlib.Path) -> int:
    """Writes the file; returns how many nodes its graph has."""
    import torch
    import transformers

    torch.manual_seed(0)
    bert = transformers.BertModel(transformers.BertConfig()).eval()

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert

        def forward(self, input_ids: torch.Tensor) -> Any:
            return self.bert(input_ids=input_ids).last_hidden_state

    sizes = dict.fromkeys((0, 1), torch.export.Dim.AUTO)
    ids = torch.randint(3, 1000, (2, 16))
    torch.export.save(torch.export.export(Encoder(), (ids,), dynamic_shapes=(sizes,)), path)
    with zipfile.ZipFile(path) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith("models/model.json")]
        return len(json.loads(archive.read(name))["graph_module"]["graph"]["nodes"])


def timed(command: list[str], rounds: int) -> tuple[float, float]:
    """Seconds of user time and of the clock, for one of `rounds` runs."""
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    clock = time.perf_counter()
    for _ in range(rounds):
        subprocess.run(command, check=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - user
    return spent / rounds, (time.perf_counter() - clock) / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/release/sardonyx")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "bert.pt2"
        nodes = save_bert(path)
        model, copy = f"{folder}/bert.onnx", f"{folder}/copy.pt2"
        commands = {
            "sardonyx import": [options.program, "import", str(path), "-o", model, "-q"],
            "cp": ["cp", str(path), copy],
        }
        print(f"{path.stat().st_size / 1e6:.0f} MB, {nodes} nodes of PyTorch")
        for name, command in commands.items():
            user, clock = timed(command, options.rounds)
            print(f"{name:16} {user * 1e3:6.1f} ms of user time, {clock * 1e3:6.1f} ms")


if __name__ == "__main__":
    main()
