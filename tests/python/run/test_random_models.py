"""Random models as exporters write them: the runtimes agree on them, and every tool leaves them
what they are.

drawn_models.py draws them: functions with attributes and overloads, branches, loops and scans that
read values around them, sequences and optionals, sizes that are unknown or have names, quantized
nodes, texts, ai.onnx.ml, narrow types, opsets 13 to 24, defaults of inputs and external data.
test_random_graphs.py draws deeper graphs of fewer operators, which Hypothesis shrinks.

SDX_RANDOM_MODELS is how many are drawn (SDX_FULL: 4,000) from the seed that sampling.py names.
`python -m run.test_random_models SEED` prints one and checks it.
"""

from __future__ import annotations

import collections
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.external_data_helper
import onnx.numpy_helper
import onnx.printer
import onnx.reference
import onnxruntime
import pytest
import sardonyx
from onnx import TensorProto, helper

from models.test_decompile import same_bits
from run.drawn_models import Model, draw_model
from run.test_random_graphs import OnnxRuntime, bodies_of
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_RANDOM_MODELS", 200, 4000)
SHARDS = 2
NEWEST = 24
NARROW = ("bfloat16", "float8", "float4", "int4", "uint4")

# --- The runtimes ---------------------------------------------------------------------------------

OVERLOADS = "functions with overloads"
# What onnx.reference computes otherwise than the standard says.
REFERENCE_ERRS = {
    OVERLOADS: "takes one of them for all",
    "Optional": "holds a list",
    "Loop": "stacks rows of another rank than 1 otherwise, and needs a condition",
    "LinearClassifier": "gives texts of one length, to which others are cut",
    "StringSplit": "fills rows with the number 0",
    "StringNormalizer": "takes accents away, and its stopwords by another case",
    "TfIdfVectorizer": "takes weights for those of columns",
    "QLinearConv": "rounds with the zero point added",
    "QLinearMatMul": "rounds with the zero point added",
    "MaxPool": "has other places of the greatest",
    "DynamicQuantizeLinear": "takes another scale of zeros",
    "Normalizer": "divides by the greatest magnitude",
    "BatchNormalization": "takes version 9 for training",
    "LRN": "sums over one channel less",
    "RNN": "does not know the lengths of sequences",
    "GRU": "does not know the lengths of sequences",
    "LSTM": "does not know the lengths of sequences",
}
# What ONNX Runtime does.
ONNXRUNTIME_ERRS = {
    "Gather": "takes wrong strings where more than one goes with an index",
    "StringSplit": "splits an empty text into none where a delimiter is given",
    "TreeEnsembleClassifier": "takes two classes with weights of one sign for a binary one",
}


def doubtful(model: onnx.ModelProto, errs: dict[str, str]) -> set[str]:
    """The values of the graph that come from an operator that the runtime computes otherwise."""
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    overloaded = {f.name for f in model.functions if f.overload}

    def has_any(part: Any) -> bool:
        for node in part.node:
            callee = functions.get((node.domain, node.op_type, node.overload))
            if node.op_type in errs or (callee is not None and has_any(callee)):
                return True
            if node.op_type in overloaded and OVERLOADS in errs:
                return True
            if any(map(has_any, bodies_of(node))):
                return True
        return False

    def reads(node: Any) -> set[str]:
        inner = [reads(one) for body in bodies_of(node) for one in body.node]
        results = [o.name for body in bodies_of(node) for o in body.output]
        return {*node.input, *results}.union(*inner)

    found: set[str] = set()
    for node in model.graph.node:
        single = onnx.GraphProto(node=[node])
        if has_any(single) or reads(node) & found:
            found |= set(node.output)
    return found


def run_onnxruntime(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Any]:
    """Without its optimizer, which joins quantizations that follow each other."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, inputs)


ONNXRUNTIME = OnnxRuntime(run_onnxruntime)


def by_reference(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return onnx.reference.ReferenceEvaluator(model).run(None, inputs)


Peer = Callable[[onnx.ModelProto, dict[str, Any]], list[Any]]
PEERS: tuple[tuple[str, Peer, dict[str, str]], ...] = (
    ("onnx.reference", by_reference, REFERENCE_ERRS),
    ("ONNX Runtime", ONNXRUNTIME.run, ONNXRUNTIME_ERRS),
)


def run(model: bytes | sardonyx.Model, inputs: dict[str, Any]) -> list[Any]:
    loaded = model if isinstance(model, sardonyx.Model) else sardonyx.load(model)
    return loaded.run(inputs, threads=1, seed=1)


def difference(got: Any, wanted: Any, exact: bool) -> str | None:
    """What two results differ in; those that are not exact may differ by roundings."""
    if isinstance(got, list):
        if not isinstance(wanted, list) or len(got) != len(wanted):
            return f"{got}, not {wanted}"
        pairs = zip(got, wanted, strict=True)
        return next((d for a, b in pairs if (d := difference(a, b, exact))), None)
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.dtype.name.startswith(NARROW) and wanted.dtype.itemsize == 1:
        wanted = wanted.view(got.dtype)  # ONNX Runtime gives the bytes of these
    if got.shape != wanted.shape:
        return f"{got.shape}, not {wanted.shape}"
    if got.dtype.kind in "OU":
        return None if got.tolist() == wanted.tolist() else f"{got}, not {wanted}"
    if got.dtype != wanted.dtype:
        return f"{got.dtype}, not {wanted.dtype}"
    a, b = got.astype("float64"), wanted.astype("float64")
    if exact:
        within = 0.0
    elif got.dtype.kind in "iub":
        within = 1.0
    else:
        within = 0.1 if got.dtype.itemsize < 4 else 2e-4
    same = np.allclose(a, b, rtol=0 if got.dtype.kind in "iub" else within, atol=within)
    return None if same else f"{got}, not {wanted}"


# --- One model ------------------------------------------------------------------------------------


class Check:
    """All that is asked of one model; `counts`: what was compared."""

    def __init__(
        self, drawn: Model, folder: pathlib.Path, counts: collections.Counter[str]
    ) -> None:
        self.drawn = drawn
        self.folder = folder
        self.counts = counts
        self.proto = drawn.proto
        self.data = drawn.proto.SerializeToString()
        self.names = [i.name for i in self.proto.graph.input]
        self.given = {name: drawn.inputs[name] for name in self.names if name in drawn.inputs}
        self.expected = run(self.data, self.given)

    def all(self) -> None:
        self.by_peers()
        self.types()
        self.script()
        self.newer_opsets()
        self.files()
        self.texts()
        self.changed_weight()

    def by_peers(self) -> None:
        for peer, by_peer, errs in PEERS:
            try:
                results = by_peer(self.proto, self.given)
            except Exception:  # a refusal says something of that runtime alone
                continue
            self.counts[peer] += 1
            self.agree(f"by {peer}", self.expected, results, doubtful(self.proto, errs))

    def agree(
        self, what: str, got: list[Any], expected: list[Any], but: set[str] | None = None
    ) -> None:
        for info, a, b in zip(self.proto.graph.output, got, expected, strict=True):
            if info.name in (but or ()):
                continue
            found = difference(a, b, self.drawn.values[info.name].exact)
            assert found is None, f"{info.name} {what}: {found}"

    def same(self, what: str, model: bytes | sardonyx.Model) -> None:
        """The same bits; inputs go by their order, since scripts have names of their own."""
        loaded = model if isinstance(model, sardonyx.Model) else sardonyx.load(model)
        names = [name for name, _ in loaded.inputs]
        assert len(names) == len(self.names), what
        pairs = zip(names, self.names, strict=True)
        got = run(loaded, {new: self.given[old] for new, old in pairs if old in self.given})
        assert same_bits(got, self.expected), f"{what}: {got}, not {self.expected}"

    def types(self) -> None:
        """What is inferred of a value holds for what is computed."""
        model = sardonyx.load(self.data)
        assert [f.message for f in model.verify() if f.severity == "error"] == []
        assert [f.message for f in model.infer()] == []
        proto = onnx.load_from_string(self.data)
        del proto.graph.output[:]
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self.drawn.values)
        sizes: dict[str, int] = {}
        for name, value in self.given.items():
            assert contradiction(model.graph[name].type, value, sizes) is None
        results = run(proto.SerializeToString(), self.given)
        for name, result in zip(self.drawn.values, results, strict=True):
            found = contradiction(model.graph[name].type, result, sizes)
            assert found is None, f"{name} is inferred as {model.graph[name].type}: {found}"

    def script(self) -> None:
        model = sardonyx.load(self.data)
        text = sardonyx.decompile(self.data)
        built = sardonyx.compile(text)
        assert built.is_isomorphic(model) and model.is_isomorphic(built), text
        self.same("the script", built)
        again = sardonyx.compile(sardonyx.decompile(built.to_bytes()))
        assert again.is_isomorphic(model)
        assert sardonyx.decompile(self.data, exact=True)

    def newer_opsets(self) -> None:
        """Its script, built for later versions: refused, or the same numbers."""
        version = next(i.version for i in self.proto.opset_import if not i.domain)
        text = sardonyx.decompile(self.data)
        for opset in {min(version + 1, NEWEST), NEWEST} - {version}:
            try:
                built = sardonyx.compile(text, opset=opset)
            except sardonyx.CompileError:
                continue
            self.counts["opsets"] += 1
            pairs = zip([name for name, _ in built.inputs], self.names, strict=True)
            got = run(built, {new: self.given[old] for new, old in pairs if old in self.given})
            self.agree(f"with opset {opset}", got, self.expected)

    def files(self) -> None:
        model = sardonyx.load(self.data)
        choices: list[dict[str, Any]] = [
            {"external_bytes": 0},
            {"external_bytes": 1, "share_equal": True, "alignment": 16},
            {"external_bytes": 8, "weights": "safetensors"},
        ]
        for i, options in enumerate(choices):
            path = self.empty(f"saved{i}") / "model.onnx"
            model.save(path, **options)
            back = sardonyx.load(path)
            self.same(f"saved with {options}", back)
            assert model.diff(back, names=True) == [] and back.is_isomorphic(model)
            self.same(f"onnx's reading with {options}", onnx.load(path).SerializeToString())
        path = self.empty("external") / "model.onnx"
        path.write_bytes(self.with_external_data(path.parent).SerializeToString())
        self.same("external data", sardonyx.load(path))
        text = sardonyx.decompile(path)
        self.same("its script", sardonyx.compile(text, filename=path.parent / "script.py"))

    def empty(self, name: str) -> pathlib.Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        return folder

    def with_external_data(self, folder: pathlib.Path) -> onnx.ModelProto:
        """As onnx writes it."""
        proto = onnx.load_from_string(self.data)
        for tensor in proto.graph.initializer:
            if tensor.name in self.drawn.external:
                onnx.external_data_helper.set_external_data(tensor, "weights.bin")
        onnx.external_data_helper.write_external_data_tensors(proto, str(folder))
        return proto

    def texts(self) -> None:
        model = sardonyx.load(self.data)
        for form in ("onnxtxt", "json", "textproto"):
            try:
                text = model.to_text(form)
            except sardonyx.ModelError:
                assert form == "onnxtxt"  # it has no sparse tensors
                continue
            back = sardonyx.from_text(text, form)
            self.same(form, back)
            assert model.diff(back) == []
            assert form == "onnxtxt" or back == model

    def changed_weight(self) -> None:
        """Another number is another model."""
        model = sardonyx.load(self.data)
        assert model.diff(model.copy(), names=True) == []
        proto = onnx.load_from_string(self.data)
        used = {name for node in proto.graph.node for name in node.input}
        for tensor in proto.graph.initializer:
            array = onnx.numpy_helper.to_array(tensor).copy()
            if tensor.name in used and tensor.data_type == TensorProto.FLOAT and array.size:
                array.reshape(-1)[0] += 1
                tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
                assert model.diff(sardonyx.load(proto.SerializeToString())) != []
                return


def contradiction(said: Any, got: Any, sizes: dict[str, int]) -> str | None:
    """What a type says that does not hold for a value; `sizes` of the names that are known."""
    if said is None or said.kind == "unknown":
        return None
    if said.kind == "optional":
        return None if got is None else contradiction(said.element, got, sizes)
    if said.kind == "sequence":
        if not isinstance(got, list):
            return f"it is {type(got)}"
        found = [contradiction(said.element, item, dict(sizes)) for item in got]
        return next((text for text in found if text), None)
    if isinstance(got, list):
        return None if said.kind != "tensor" else "it is a list"
    array = np.asarray(got)
    is_text = array.dtype.kind in "OU"
    number = TensorProto.STRING if is_text else helper.np_dtype_to_tensor_dtype(array.dtype)
    if said.element_type not in (None, TensorProto.DataType.Name(number)):
        return f"it is {array.dtype}"
    if said.shape is None:
        return None
    if len(said.shape) != array.ndim:
        return f"it is {array.shape}"
    for dim, size in zip(said.shape, array.shape, strict=True):
        wanted = dim.substitute(**sizes) if isinstance(dim, sardonyx.Dim) else dim
        if isinstance(wanted, int) and wanted != size:
            return f"it is {array.shape} with {sizes}"
        if isinstance(wanted, str) and wanted.isidentifier():
            sizes[str(wanted)] = size
    return None


# --- Many -----------------------------------------------------------------------------------------


def check(seed: int, folder: pathlib.Path, counts: collections.Counter[str]) -> None:
    drawn = draw_model(seed)
    if drawn is None:
        return
    counts["models"] += 1
    try:
        Check(drawn, folder, counts).all()
    except Exception as error:
        text = onnx.printer.to_text(drawn.proto)
        raise AssertionError(f"seed {seed}: {error}\n{text}\n{drawn.inputs}") from error


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("first", SEEDS)
def test_random_models(first: int, shard: int, tmp_path: pathlib.Path) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(first + shard, first + COUNT, SHARDS):
        check(seed, tmp_path, counts)
    assert min(counts["onnx.reference"], counts["ONNX Runtime"]) >= 0.25 * counts["models"], counts
    assert counts["opsets"] >= 0.5 * counts["models"], counts


def main() -> None:
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    drawn = draw_model(int(sys.argv[1]))
    assert drawn is not None
    print(onnx.printer.to_text(drawn.proto), drawn.inputs)
    Check(drawn, folder, collections.Counter()).all()


if __name__ == "__main__":
    main()
