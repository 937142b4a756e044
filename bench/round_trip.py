"""How many models come back from their scripts with onnxscript: the text below the table of
docs/onnx.md.

    PYTHONPATH=build/release/python:tests/python python bench/round_trip.py [--stride N] [NAME ...]

Each model goes through `onnxscript.proto2python`, is imported as a module and compiled by
`to_model_proto`; it has come back when that is isomorphic. A model has 60 seconds. For large
corpora `--stride` takes each Nth. The corpora are those of tests/python/models/test_round_trip.py.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import io
import multiprocessing
import pathlib
import sys
import tempfile
import warnings
from typing import Any

SECONDS = 60


def again(data: bytes) -> bytes:
    """The model of the script of the model."""
    import onnx
    import onnxscript

    model = onnx.load_model_from_string(data)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "script.py"
        path.write_text(onnxscript.proto2python(model))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # where onnxscript looks for the text of a function
        spec.loader.exec_module(module)
    functions = [one for one in vars(module).values() if isinstance(one, onnxscript.OnnxFunction)]
    made: bytes = functions[-1].to_model_proto().SerializeToString()  # the main graph comes last
    return made


def worker(pipe: Any) -> None:
    import sardonyx

    warnings.simplefilter("ignore")
    while True:
        data = pipe.recv_bytes()
        sys.stdout = io.StringIO()
        try:
            other = sardonyx.load(again(data), check=False)
            same = sardonyx.load(data, check=False).is_isomorphic(other)
            pipe.send("" if same else "another model")
        except BaseException as error:
            pipe.send(f"{type(error).__name__}: {error}")


class Peer:
    """A process of its own, which may crash or hang."""

    def __init__(self) -> None:
        self.process: Any = None

    def ask(self, data: bytes) -> str:
        if self.process is None:
            self.pipe, other = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=worker, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send_bytes(data)
            if self.pipe.poll(SECONDS):
                return str(self.pipe.recv())
            reason = f"more than {SECONDS} s"
        except (EOFError, OSError):
            reason = "a crash"
        self.process.kill()
        self.process = None
        return reason


def main() -> None:
    # The run.py beside this would hide the folder `run` of tests/python.
    sys.path.remove(str(pathlib.Path(__file__).parent))
    from models.test_round_trip import CORPORA

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("corpora", nargs="*")
    options = parser.parse_args()
    peer = Peer()
    for name in options.corpora or CORPORA:
        models = sorted(CORPORA[name]().items())[:: options.stride]
        reasons: collections.Counter[str] = collections.Counter()
        for _, source in models:
            data = source if isinstance(source, bytes) else source.read_bytes()
            reasons[peer.ask(data).split("\n")[0][:100]] += 1
        print(f"{name}: {reasons.pop('', 0)} of {len(models)}", flush=True)
        for reason, count in reasons.most_common(5):
            print(f"    {count} {reason}", flush=True)


if __name__ == "__main__":
    main()
