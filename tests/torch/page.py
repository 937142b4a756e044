"""docs/torch-operators.md: what `python tests/torch/opinfo.py --write` found, and all overloads.

`python tests/torch/page.py` brings the files and lines of the overloads up to date, and keeps what
the last run of opinfo.py found.
"""

from __future__ import annotations

import collections
import inspect
import pathlib
import re
from typing import Any

from sardonyx.torch import aten

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/torch-operators.md"
HEAD = """\
# Operators of PyTorch

This page lists which operators of PyTorch can be converted; `python tests/torch/opinfo.py
--write` writes it. The first part shows the results for PyTorch's own samples of its operators
(OpInfo, `torch.testing._internal`, the first four of each operator, float32): each is captured,
converted, run by Sardonyx's evaluator and compared with PyTorch. An operator is right if all of
its samples are right, refused if one sample is refused with a message, and wrong if one gives a
different result. For random results, only type and shape are compared, and eigenvectors and
singular vectors are compared without their signs and phases, as in PyTorch's own tests. Samples of
sparse tensors, and samples that PyTorch itself cannot trace, are left out.

"""
OVERLOADS = "## Overloads of the library\n"
# Operators of prims that the library does not have, and why.
WITHOUT_PRIMS = {
    "_make_token": "orders effects; a graph has none",
    "_sink_tokens": "orders effects; a graph has none",
    "maximum_value": "a number, not a tensor, which torch.export computes",
    "minimum_value": "a number, not a tensor, which torch.export computes",
    "view_of_dtype": "ONNX has no operator that takes bytes for another type before opset 26",
    "xor_sum": "ONNX has no sum of bits",
}


TYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "uint8",
    "bool",
    "complex64",
)
OPSETS = (18, 28)


def places() -> dict[str, str]:
    """The file and line of the function of each overload; needs no torch."""
    found = {}
    for key, (_, function) in aten.overloads().items():
        if key.startswith(("aten::", "prims::", "quantized_decomposed::", "torchvision::")):
            file = pathlib.Path(inspect.getsourcefile(function.__wrapped__) or "").name
            found[key.removeprefix("aten::")] = (
                f"{file}:{function.__wrapped__.__code__.co_firstlineno}"
            )
    return found


def evidence_of(one: Any) -> str:
    """The last three columns of an overload."""
    types = [name for name in TYPES if name in one.types]
    all_types = "all" if len(types) == len(TYPES) else ", ".join(types)
    opsets = sorted(one.opsets)
    is_all = opsets == list(range(OPSETS[0], OPSETS[1] + 1))
    all_opsets = "all" if is_all else ", ".join(map(str, opsets))
    nodes = "-" if one.nodes is None else str(one.nodes)
    return f"{all_types or '-'} | {all_opsets or '-'} | {nodes}"


def overload_table(evidence: dict[str, str]) -> str:
    """Each overload with the place of its function and what is known of it."""
    rows = places()
    lines = [
        OVERLOADS,
        f"{len(rows)} overloads, with the lines of `lib/torch/` that they are. The other columns",
        "are of the samples above that have the overload in them, alone or among others: for which",
        f"element types ({', '.join(TYPES)})",
        f"and opsets ({OPSETS[0]} to {OPSETS[1]}; not all samples are tried at all of them) the",
        "results were right, and the fewest nodes, without Constants, of a model that is the",
        "overload alone. Other tests try the overloads without an entry.\n",
        "| overload | function | element types | opsets | nodes |",
        "|---|---|---|---|---:|",
    ]
    lines += [
        f"| `{name}` | {place} | {evidence.get(name, '- | - | -')} |"
        for name, place in sorted(rows.items())
    ]
    lines += [
        "\nOperators of prims that are not in the library:\n",
        "| operator | why |",
        "|---|---|",
    ]
    lines += [f"| `prims::{name}` | {why} |" for name, why in sorted(WITHOUT_PRIMS.items())]
    return "\n".join(lines) + "\n"


def written_evidence() -> dict[str, str]:
    """What the page says of overloads."""
    text = PAGE.read_text(encoding="utf-8").partition(OVERLOADS)[2]
    rows = re.findall(r"^\| `([^`]+)` \| [\w.]+:\d+ \| (.*) \|$", text, re.MULTILINE)
    return dict(rows)


def reason_of(text: str) -> str:
    missing = re.findall(r"`([^`]+)` is not in the library", text)
    if missing:
        return "not in the library: " + ", ".join(f"`{one}`" for one in dict.fromkeys(missing))
    found = re.search(r"error\[[\w-]+\]: (.*?)(?: error\[| -->|$)", text)
    return (found[1] if found else text)[:120].replace("|", "\\|")


def opset_table(sweeps: list[tuple[str, dict[int, Any]]]) -> str:
    """Of outcomes of operators by opset: those that not every opset has right."""
    sweeps = [(name, found) for name, found in sweeps
              if any(one.kind == "right" for one in found.values())]  # fmt: skip
    opsets = sorted(next(iter(sweeps))[1])
    partial = [(name, found) for name, found in sweeps
               if any(one.kind != "right" for one in found.values())]  # fmt: skip
    everywhere = len(sweeps) - len(partial)
    lines = [
        "## Opsets\n",
        f"The first sample of {len(sweeps)} operators was converted for each opset from",
        f"{opsets[0]} to {opsets[-1]} and run: {everywhere} are right at all of them. Others:\n",
        "| operator | right at | why not at the others |",
        "|---|---|---|",
    ]
    for name, found in sorted(partial):
        right = ", ".join(str(opset) for opset, one in found.items() if one.kind == "right")
        reason = next(one.reason for one in found.values() if one.kind != "right")
        lines.append(f"| `{name}` | {right} | {reason_of(reason)} |")
    return "\n".join(lines) + "\n\n"


KINDS = ("right", "wrong", "refused", "skipped")


def by_kind(
    rows: list[tuple[str, list[Any]]], known: dict[str, str]
) -> dict[str, list[tuple[str, str]]]:
    """Operators with the reason, by the worst of their samples."""
    kinds: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for name, found in rows:
        tried = [one for one in found if one.kind != "skipped"]
        worst = next((o for kind in ("wrong", "refused") for o in tried if o.kind == kind), None)
        kind = worst.kind if worst else "right" if tried else "skipped"
        reason = known.get(name) or (reason_of(worst.reason) if worst else "")
        kinds[kind].append((name, reason))
    return kinds


def type_table(others: dict[str, list[tuple[str, list[Any]]]], known: dict[str, str]) -> str:
    """Of the first samples of other element types: counts, and each operator that differs."""
    lines = [
        "## Other element types\n",
        "The first two samples of each operator that takes the type were tried. All that is",
        "refused in complex64 is not in the library for real numbers either.\n",
        "| type | right | wrong | refused | left out |",
        "|---|---:|---:|---:|---:|",
    ]
    wrong = []
    for type_name, rows in others.items():
        # What differs in one type alone has its name behind the operator's.
        here = {key.removesuffix(f" {type_name}"): why for key, why in known.items()}
        kinds = by_kind(rows, here)
        counts = " | ".join(str(len(kinds[kind])) for kind in KINDS)
        lines.append(f"| {type_name} | {counts} |")
        wrong += [(name, type_name, reason) for name, reason in kinds["wrong"]]
    lines += ["\n| operator | type | what differs |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {reason} |" for name, kind, reason in sorted(wrong)]
    return "\n".join(lines) + "\n\n"


def write(
    rows: list[tuple[str, list[Any]]],
    known: dict[str, str],
    sweeps: list[tuple[str, dict[int, Any]]],
    others: dict[str, list[tuple[str, list[Any]]]],
    known_in_others: dict[str, str],
    evidence: dict[str, Any],
) -> None:
    """The page, of the outcomes of all operators; `known` has reasons of differences."""
    samples = collections.Counter(one.kind for _, found in rows for one in found)
    kinds = by_kind(rows, known)
    lines = [
        "## Samples\n",
        "| | right | wrong | refused | left out |",
        "|---|---:|---:|---:|---:|",
    ]
    counts = [len(kinds[kind]) for kind in KINDS]
    lines.append("| operators | " + " | ".join(map(str, counts)) + " |")
    counts = [samples[kind] for kind in KINDS]
    lines.append("| samples | " + " | ".join(map(str, counts)) + " |")
    for kind in ("wrong", "refused"):
        lines += [f"\n### {kind.capitalize()}\n", "| operator | why |", "|---|---|"]
        lines += [f"| `{name}` | {reason} |" for name, reason in sorted(kinds[kind])]
    text = HEAD + "\n".join(lines) + "\n\n" + type_table(others, known_in_others)
    found = {key.removeprefix("aten::"): evidence_of(one) for key, one in evidence.items()}
    text += opset_table(sweeps) + overload_table(found)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    start, _, _ = PAGE.read_text(encoding="utf-8").partition(OVERLOADS)
    PAGE.write_text(start + overload_table(written_evidence()), encoding="utf-8")
