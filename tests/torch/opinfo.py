"""PyTorch's own samples of its operators (OpInfo), converted, run, and compared with torch.

`python tests/torch/opinfo.py [NAMES] [--samples N] [--type float32]` prints what is wrong or
refused and counts; test_library.py runs a sample of them.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import gc
import itertools
import re
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sardonyx
import torch
from sardonyx.torch import ExportError
from sardonyx.torch._capture import program_of_graph
from sardonyx.torch._decompose import decomposed
from sardonyx.torch._exported import finished
from sardonyx.torch._operators import overloads
from sardonyx.torch._program import Program
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree

if "expecttest" not in sys.modules:
    # torch's own test cases derive from it; the table of operators does not need it.
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    sys.modules["expecttest"] = stand_in
from torch.testing._internal.common_methods_invocations import op_db

# Results that are drawn, or that depend on where memory is or what was in it.
RANDOM = {
    "bernoulli", "multinomial", "normal", "uniform", "rand_like", "randint_like", "randn_like",
    "randint", "randn", "rand", "cauchy", "exponential", "geometric", "log_normal", "empty",
    "empty_like", "new_empty", "empty_permuted", "empty_strided", "new_empty_strided",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.rrelu", "torch.ops.aten._safe_softmax.default", "data_ptr",
    "nn.functional.multi_head_attention_forward",
}  # fmt: skip


WORST_FIRST = ("wrong", "refused", "no kernel")
OPSETS = range(18, max(map(int, re.findall(r"opset(\d+)\b", " ".join(dir(sardonyx))))) + 1)
RUNTIME = False  # whether ONNX Runtime runs the samples too
_ORDER = "eigenvalues, which have no order, are in another one"
# What is known to differ, with the reason.
KNOWN: dict[str, str] = {
    "matrix_exp": "torch's result in float32 has an error of 5e-6, ours one of 6e-8",
    "linalg.eig": _ORDER,
}


# The other element types of the page, and what differs in them, with the reason.
OTHER_TYPES = ("float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")
_TIES = "equal elements are in another order"
_ROUNDED = "torch rounds after each step, ours once"
KNOWN_IN_OTHERS = {
    "sort": _TIES,
    "argsort": _TIES,
    "topk": _TIES,
    "kthvalue": _TIES,
    "addbmm": _ROUNDED,
    "matrix_exp": "torch's result is NaN",
    "linalg.eig": _ORDER,
    "matrix_exp complex64": "torch's result has an error of 1e-6, ours one of 4e-8",
    "nn.functional.conv_transpose3d": _ROUNDED,
    "nn.functional.scaled_dot_product_attention": _ROUNDED,
    "nn.functional.interpolate.bicubic": "torch's weights of pixels are fixed-point numbers",
    "nn.functional.interpolate.bilinear": "torch's weights of pixels are fixed-point numbers",
    "special.bessel_j0": "torch's result has an error of 4e-7, ours one of 6e-17",
    "special.bessel_y1": "torch's result has an error of 9e-7, ours one of 2e-16",
}


@dataclasses.dataclass
class Outcome:
    """`right`, `wrong`, `refused`, or `skipped`, and the reason."""

    kind: str
    reason: str = ""


def flat_function(operator: Any, sample: Any) -> tuple[Callable[..., Any], list[torch.Tensor]]:
    """The operator as a function of the sample's tensors alone."""
    leaves, spec = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    tensors = [leaves[i] for i in places]

    def function(*given: torch.Tensor) -> Any:
        values = list(leaves)
        for place, one in zip(places, given, strict=True):
            values[place] = one
        first, args, kwargs = _pytree.tree_unflatten(values, spec)
        return operator(first, *args, **kwargs)

    return function, tensors


def as_array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().resolve_neg()
        return value.float().numpy() if value.dtype == torch.bfloat16 else value.numpy()
    return np.asarray(value)


def agree(ours: Any, theirs: torch.Tensor, is_drawn: bool = False) -> str:
    """Where two results differ; empty: nowhere. What is drawn has a type and a shape alone."""
    a, b = np.asarray(ours), as_array(theirs)
    if theirs.dtype == torch.bfloat16 and a.dtype.name == "bfloat16":
        a = a.astype(np.float32)
    if a.shape != b.shape:
        return f"shape {a.shape} where torch has {b.shape}"
    if a.dtype != b.dtype:
        return f"type {a.dtype} where torch has {b.dtype}"
    if is_drawn:
        return ""
    loose = b.dtype in (np.float16,) or theirs.dtype == torch.bfloat16
    rtol, atol = (2e-2, 2e-2) if loose else (1e-4, 2e-5) if b.dtype != np.float64 else (1e-7, 1e-7)
    if not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol, atol, equal_nan=True):
        return f"{a.ravel()[:4]} where torch has {b.ravel()[:4]}"
    return ""


# Vectors that may have either sign, or any phase: compared as torch's own tests do.
EITHER_SIGN = {"linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank"}


def operator_of(info: Any, sample: Any) -> Callable[..., Any]:
    if info.name not in EITHER_SIGN:
        return info.op  # type: ignore[no-any-return]
    return lambda *args, **kwargs: sample.output_process_fn_grad(info.op(*args, **kwargs))


@dataclasses.dataclass
class Captured:
    """A sample of an operator as a graph, its tensors, and what torch gives for them."""

    module: torch.fx.GraphModule
    tensors: list[torch.Tensor]
    wanted: list[torch.Tensor]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Generators of samples that are collected while torch traces switch gradients in the graph."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def capture(operator: Any, sample: Any) -> Captured | Outcome:
    function, tensors = flat_function(operator, sample)
    if any(one.layout != torch.strided for one in tensors):
        return Outcome("skipped", "a sparse tensor")
    copies = [one.clone() for one in tensors]
    try:
        with torch.no_grad(), uncollected():
            wanted = _pytree.tree_leaves(function(*[one.clone() for one in tensors]))
            module = make_fx(function, tracing_mode="fake", pre_dispatch=True)(*copies)
            module = decomposed(module, overloads())
    except Exception as error:
        return Outcome("skipped", f"torch cannot trace it: {str(error)[:60]!r}")
    wanted = [real(one) for one in wanted if isinstance(one, torch.Tensor)]
    if not wanted or any(one.layout != torch.strided for one in wanted):
        return Outcome("skipped", "no tensors as results")
    return Captured(module, tensors, wanted)


def try_sample(operator: Any, sample: Any, is_drawn: bool = False, type_name: str = "") -> Outcome:
    captured = capture(operator, sample)
    if isinstance(captured, Outcome):
        return captured
    return try_captured(captured, is_drawn, type_name=type_name)


@dataclasses.dataclass
class Evidence:
    """For which element types of samples and which opsets an overload gave the right results, and
    the fewest nodes of a model of it alone, without Constants."""

    types: set[str] = dataclasses.field(default_factory=set)
    opsets: set[int] = dataclasses.field(default_factory=set)
    nodes: int | None = None


EVIDENCE: dict[str, Evidence] = collections.defaultdict(Evidence)


def note(program: Program, model: sardonyx.Model, type_name: str, opset: int) -> None:
    """Keeps what a right result shows of the overloads of the program."""
    targets = [one.target for one in program.nodes if not one.target.startswith("py::")]
    for target in targets:
        EVIDENCE[target].types.add(type_name)
        EVIDENCE[target].opsets.add(opset)
    if len(targets) == 1:
        count = sum(node.op_type != "Constant" for node in model.graph)
        known = EVIDENCE[targets[0]].nodes
        EVIDENCE[targets[0]].nodes = count if known is None else min(known, count)


def try_captured(
    captured: Captured, is_drawn: bool = False, opset: int = 20, type_name: str = ""
) -> Outcome:
    outcome, program, model = run_captured(captured, is_drawn, opset)
    if outcome.kind == "right" and program is not None and model is not None and type_name:
        note(program, model, type_name, opset)
    return outcome


def run_captured(
    captured: Captured, is_drawn: bool, opset: int
) -> tuple[Outcome, Program | None, sardonyx.Model | None]:
    module = captured.module
    try:
        program = program_of_graph(module)
        arrays = {one.key: getattr(module, one.key) for one in program.weights}
        made = finished(program, arrays, opset, "drop")
        model = made.compile()
        data = made.to_model_bytes() if RUNTIME else b""
    except ExportError as error:
        return Outcome("refused", " ".join(str(error).split())[:300]), None, None
    return compared(captured, program, model, data, is_drawn), program, model


def compared(
    captured: Captured, program: Program, model: sardonyx.Model, data: bytes, is_drawn: bool
) -> Outcome:
    """The results of the model beside those of torch."""
    module, wanted = captured.module, captured.wanted
    used = {one.name for one in program.inputs}
    names = [node.name for node in module.graph.nodes if node.op == "placeholder"]
    tensors = [real(one) for one in captured.tensors]
    given = [np.array(as_array(one), order="C") if one.dtype != torch.bfloat16 else bfloat16(one)
             for name, one in zip(names, tensors, strict=False) if name in used]  # fmt: skip
    try:
        results = model(*given)
    except Exception as error:
        return Outcome("wrong", f"the evaluator: {' '.join(str(error).split())[:200]}")
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    if len(results) != len(wanted):
        return Outcome("wrong", f"{len(results)} results where torch has {len(wanted)}")
    for ours, theirs in zip(results, wanted, strict=True):
        reason = agree(ours, theirs, is_drawn)
        if reason:
            return Outcome("wrong", reason)
    if is_drawn:
        return Outcome("right")
    return in_runtime(data, given, wanted) if RUNTIME else Outcome("right")


def in_runtime(data: bytes, given: list[Any], wanted: list[torch.Tensor]) -> Outcome:
    """The same with ONNX Runtime, where it has the kernels."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return Outcome("no kernel", " ".join(str(error).split())[:200])
    names = [one.name for one in session.get_inputs()]
    try:
        results = session.run(None, dict(zip(names, given, strict=True)))
    except Exception as error:
        return Outcome("wrong", f"ONNX Runtime: {' '.join(str(error).split())[:200]}")
    for ours, theirs in zip(results, wanted, strict=True):
        if reason := agree(ours, theirs):
            return Outcome("wrong", f"ONNX Runtime: {reason}")
    return Outcome("right")


def real(tensor: torch.Tensor) -> torch.Tensor:
    """Complex numbers as models have them: their parts are the last dimension."""
    if not tensor.is_complex():
        return tensor
    return torch.view_as_real(tensor.detach().resolve_conj().resolve_neg())


def bfloat16(tensor: torch.Tensor) -> Any:
    import ml_dtypes

    return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)


def outcomes(info: Any, dtype: torch.dtype, samples: int) -> Iterator[Outcome]:
    """Of the first samples of an operator."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), samples):
        is_drawn = info.name in RANDOM or bool(sample.kwargs.get("dropout_p"))
        type_name = str(dtype).removeprefix("torch.")
        yield try_sample(operator_of(info, sample), sample, is_drawn, type_name)


def by_opset(info: Any) -> dict[int, Outcome]:
    """Of the first sample of an operator that torch can trace, at all opsets; empty: none."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    samples = info.sample_inputs("cpu", torch.float32, requires_grad=False)
    for sample in itertools.islice(samples, 4):
        is_drawn = info.name in RANDOM or bool(sample.kwargs.get("dropout_p"))
        captured = capture(operator_of(info, sample), sample)
        if isinstance(captured, Captured):
            return {opset: try_captured(captured, is_drawn, opset, "float32") for opset in OPSETS}
    return {}


def float_infos() -> list[tuple[str, Any]]:
    """Operators that take float32, by their names, without those that are known to differ."""
    found = [(f"{one.name} {one.variant_test_name}".strip(), one) for one in op_db
             if torch.float32 in one.supported_dtypes("cpu")]  # fmt: skip
    return [(name, one) for name, one in found if name not in KNOWN]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--type", default="float32")
    parser.add_argument("--write", action="store_true", help="docs/torch-operators.md")
    parser.add_argument("--part", default="0/1", help="such as 0/2: the first of two halves")
    parser.add_argument("--runtime", action="store_true", help="run them with ONNX Runtime too")
    words = parser.parse_args()
    global RUNTIME
    RUNTIME = words.runtime
    torch.set_num_threads(1)
    rows = results(words.type, words.samples, words.names, words.part)
    if words.write:
        import page

        others = {one: results(one, 2, [], "0/1") for one in OTHER_TYPES}
        sweeps = [(one, by_opset(info)) for one, info in float_infos()]
        page.write(rows, KNOWN, sweeps, others, KNOWN_IN_OTHERS, EVIDENCE)


def results(
    type_name: str, samples: int, names: list[str], which: str
) -> list[tuple[str, list[Outcome]]]:
    """The outcomes of operators that take a type, by their names; prints what is not right."""
    dtype = getattr(torch, type_name)
    part, parts = map(int, which.split("/"))
    counts: collections.Counter[str] = collections.Counter()
    whole: collections.Counter[str] = collections.Counter()
    rows: list[tuple[str, list[Outcome]]] = []
    for number, info in enumerate(op_db):
        name = info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")
        if number % parts != part or (names and name not in names):
            continue
        if dtype not in info.supported_dtypes("cpu"):
            continue
        try:
            found = list(outcomes(info, dtype, samples))
        except Exception as error:
            print(f"{name}: crash {type(error).__name__}: {str(error)[:200]}", flush=True)
            whole["crashed"] += 1
            continue
        kinds = [one.kind for one in found if one.kind != "skipped"]
        counts.update(one.kind for one in found)
        worst = next((one for kind in WORST_FIRST for one in found if one.kind == kind), None)
        whole[worst.kind if worst else "right" if kinds else "skipped"] += 1
        rows.append((name, found))
        if worst is not None:
            print(f"{name}: {worst.kind} ({kinds.count(worst.kind)} of {len(kinds)}): "
                  f"{worst.reason}", flush=True)  # fmt: skip
    print(type_name, f"samples {dict(counts)}", f"operators {dict(whole)}", sep="\n")
    return rows


if __name__ == "__main__":
    sys.exit(main())
