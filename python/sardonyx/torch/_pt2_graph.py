"""The program of a .pt2 file as plain data, as `_capture.py` makes it of an ExportedProgram."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ._functional import changed_statistics
from ._program import (
    LEFT_OUT,
    NOTHING,
    WITHOUT,
    WRITERS,
    Body,
    ElementType,
    Input,
    Node,
    Place,
    Problem,
    Program,
    Ref,
    place_of,
    python_target,
    refs_of,
    with_bodies,
)
from ._pt2 import COMPLEX_PARTS, ELEMENT_TYPES, Archive, Pt2Error
from ._sizes import Size, size_of
from ._storages import Storages
from ._text import PYTHON

_DEPTH = 50  # of bodies in bodies
_TORCH = "site-packages/torch/"


def _place(metadata: Mapping[str, str]) -> Place:
    rows = [one.split(",") for one in metadata.get("nn_module_stack", "").split(";")]
    around = tuple((row[1], row[2]) for row in rows if len(row) == 3)
    last = rows[-1][1] if len(rows[-1]) > 1 else ""
    place = place_of(metadata.get("stack_trace", ""), last, _TORCH)
    place.modules = around
    return place


class _Graph:
    """A graph of the file, or one in it, as a program."""

    def __init__(
        self, graph: Mapping[str, Any], name: str, names: Mapping[str, str],
        problems: list[Problem], depth: int = 0,
    ) -> None:  # fmt: skip
        if depth > _DEPTH:
            raise Pt2Error("its graphs are nested too deeply")
        self.graph, self.problems, self.names, self.depth = graph, problems, names, depth
        self.values: Mapping[str, Any] = graph["tensor_values"]
        self.program = Program(name)

    # --- Types

    def element_type(self, name: str) -> int:
        return int(self.values[name]["dtype"]) if name in self.values else 0

    def sizes(self, name: str) -> tuple[list[Size], list[Size]] | None:
        meta = self.values.get(name)
        if meta is None:
            return None
        return [size_of(one) for one in meta["sizes"]], [size_of(one) for one in meta["strides"]]

    def annotation(self, name: str, is_input: bool = False) -> str:
        """The type of a tensor; a complex input has its parts as the last dimension."""
        number = self.element_type(name)
        base = ELEMENT_TYPES.get(number, "") or (COMPLEX_PARTS.get(number, "") if is_input else "")
        found = self.sizes(name)
        if not base or found is None:
            return ""
        dims = [one.annotation(self.names) for one in found[0]]
        dims += ["2"] if number in COMPLEX_PARTS else []
        return f"{base}[{', '.join(dims)}]" if dims else base

    def is_complex(self, name: str) -> bool:
        return self.element_type(name) in COMPLEX_PARTS

    # --- Arguments

    def value(self, argument: Mapping[str, Any], node: Node) -> Any:
        if len(argument) != 1:
            raise Pt2Error(f"an argument of `{node.name}` has {len(argument)} values")
        ((kind, value),) = argument.items()
        if kind == "as_none":
            return None
        if kind in ("as_tensor", "as_custom_obj"):
            if kind == "as_custom_obj":
                self.problems.append(Problem(node, "an argument that is an object of C++"))
            return Ref(value["name"])
        if kind == "as_optional_tensor":
            return self.value(value, node)
        if kind in ("as_tensors", "as_nested_tensors"):
            return [[Ref(x["name"]) for x in one] if isinstance(one, list) else Ref(one["name"])
                    for one in value]  # fmt: skip
        if kind in ("as_optional_tensors",):
            return [self.value(one, node) for one in value]
        if kind in ("as_int", "as_bool", "as_string", "as_ints", "as_bools", "as_strings",
                    "as_int_lists"):  # fmt: skip
            return _literal(value)
        if kind == "as_float":
            return float(value)
        if kind in ("as_floats", "as_float_lists"):
            return [[float(x) for x in one] if isinstance(one, list) else float(one)
                    for one in value]  # fmt: skip
        if kind in ("as_sym_int", "as_sym_bool", "as_sym_float"):
            return self.symbolic(value)
        if kind in ("as_sym_ints", "as_sym_bools", "as_sym_floats"):
            return [self.symbolic(one) for one in value]
        if kind == "as_scalar_type":
            name = ELEMENT_TYPES.get(value) or (
                COMPLEX_PARTS.get(value) if node.takes_pairs else ""
            )
            if not name:
                self.problems.append(
                    Problem(node, f"element type {value} has no equivalent in ONNX")
                )
            return ElementType(name or "FLOAT")
        if kind == "as_complex" and node.takes_pairs:
            return float(value["real"]), float(value["imag"])
        if kind == "as_graph":
            return self.inner(value)
        if kind not in ("as_memory_format", "as_layout", "as_device"):
            self.problems.append(Problem(node, f"an argument of the kind `{kind}`"))
        return None

    def symbolic(self, value: Mapping[str, Any]) -> Any:
        if "as_name" in value:
            return Ref(value["as_name"])
        return _literal(next(iter(value.values())))

    def inner(self, value: Mapping[str, Any]) -> Body:
        name = value["name"]
        if name not in self.program.bodies:
            made = _Graph(value["graph"], name, self.names, self.problems, self.depth + 1)
            for one in value["graph"]["inputs"]:
                ref = made.value(one, Node(name, "", [], {}))
                if isinstance(ref, Ref):
                    made.program.inputs.append(Input(ref.name))
            made.read({})
            made.program.is_tuple = not value["graph"].get("is_single_tensor_return")
            self.program.bodies[name] = made.program
        return Body(name)

    # --- Nodes

    def node(self, raw: Mapping[str, Any]) -> None:
        target = str(raw["target"])
        packet = target.rpartition(".")[0].rpartition(".")[2]
        if target.startswith("torch.ops.aten.") and packet in NOTHING:
            return
        outputs = list(_flat_outputs(raw["outputs"]))
        is_single = len(outputs) == 1 and "as_tensors" not in raw["outputs"][0] and (
            not target.startswith("torch.ops.higher_order.")
            or bool(raw.get("is_hop_single_tensor_return"))
        )  # fmt: skip
        name = outputs[0] if is_single else raw.get("name") or f"results_of_{'_'.join(outputs)}"
        node = Node(name, "", [], {}, place=_place(raw.get("metadata", {})))
        if not outputs:
            words = f"`{target}` gives no result, so that it changes something"
            self.problems.append(Problem(node, words))
            return
        inputs = list(_names_in(raw["inputs"]))
        node.takes_pairs = any(self.is_complex(one) for one in [*outputs, *inputs])
        if target.startswith("torch.ops.higher_order."):
            args = [self.value(one["arg"], node) for one in raw["inputs"]]
            kind = target.rpartition(".")[2]
            if not with_bodies(node, kind, args, len(outputs)):
                words = f"the operator `{kind}`, which has bodies"
                self.problems.append(Problem(node, words, WITHOUT))
        elif target.startswith("torch.ops."):
            self.operator(node, target, raw)
        else:
            node.target = python_target(target.rpartition(".")[2])
            node.args = [self.value(one["arg"], node) for one in raw["inputs"]]
            if node.target.removeprefix("py::") not in PYTHON:
                self.problems.append(Problem(node, f"`{target}` has no translation"))
        self.program.nodes.append(node)
        self.results(node, outputs, is_single)

    def operator(self, node: Node, target: str, raw: Mapping[str, Any]) -> None:
        space, _, rest = target.removeprefix("torch.ops.").partition(".")
        packet, _, overload = rest.partition(".")
        node.target = f"{space}::{packet}.{overload}"
        if packet in ("sym_size", "sym_numel"):
            node.target = f"py::{packet.removeprefix('sym_')}"
        elif packet in ("item", "_local_scalar_dense"):
            kind = next(iter(raw["outputs"][0]))
            node.target = "py::item"
            node.element_type = {"as_sym_bool": "bool", "as_sym_float": "float"}.get(kind, "int")
        by_name = False
        for one in raw["inputs"]:
            if not one["name"].isidentifier():
                raise Pt2Error(f"`{target}` has an argument {one['name'][:40]!r}")
            if one["name"] in LEFT_OUT:
                by_name = True
            elif by_name or one.get("kind") == 2:
                node.kwargs[one["name"]] = self.value(one["arg"], node)
            else:
                node.args.append(self.value(one["arg"], node))
        if packet.startswith("as_strided"):
            words = f"`{node.target}`: a file does not say what else is in the tensor's memory"
            help = "convert what torch.export gives, without a file"
            self.problems.append(Problem(node, words, help))
        is_in_place = packet.endswith("_") and not packet.endswith("__")
        is_in_place = is_in_place or node.target in WRITERS
        if is_in_place or (packet.startswith("__i") and packet.endswith("__")):
            if node.args and isinstance(node.args[0], Ref):
                node.writes = node.args[0].name
        elif overload.endswith("out"):
            words = f"`{node.target}` writes into several tensors"
            self.problems.append(Problem(node, words))

    def results(self, node: Node, outputs: list[str], is_single: bool) -> None:
        """The node's type; where it gives several results, one node for each."""
        if is_single:
            node.type = self.annotation(outputs[0])
            if self.is_complex(outputs[0]):
                self.program.pairs.add(node.name)
            return
        if any(self.is_complex(one) for one in outputs):
            self.program.pairs.add(node.name)
        for i, one in enumerate(outputs):
            if not one:
                continue
            args = [Ref(node.name), i]
            part = Node(one, "py::getitem", args, {}, self.annotation(one), node.place)
            if self.is_complex(one):
                part.is_twice = True
                self.program.pairs.add(one)
            self.program.nodes.append(part)

    def read(self, groups: Mapping[str, object]) -> None:
        for raw in self.graph["nodes"]:
            self.node(raw)
        place = Node("output", "output", [], {})
        self.program.outputs = [self.value(one, place) for one in self.graph["outputs"]]
        self.problems += Storages(self.sizes, self.element_type).tell(self.program, groups)


def _literal(value: Any, depth: int = 0) -> Any:
    """Numbers, words, and lists of them; JSON may hold anything."""
    if isinstance(value, list) and depth < 2:
        return [_literal(one, depth + 1) for one in value]
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise Pt2Error(f"{str(value)[:60]!r} where a number is expected")
    return value


def _check_names(program: Program) -> None:
    """Every value is made before it is read, once, and has a word as its name."""
    known: set[str] = set()

    def add(name: Any) -> None:
        if not isinstance(name, str) or not name or name in known:
            raise Pt2Error(f"a value with the name {str(name)[:60]!r}")
        known.add(name)

    for name in [*[one.name for one in program.inputs], *program.weights]:
        add(name)
    for node in program.nodes:
        _check_read(node, known)
        add(node.name)
    _check_read(Node("output", "", program.outputs, {}), known)
    for body in program.bodies.values():
        _check_names(body)
    if not all(isinstance(one, str) for one in (*program.weights.values(), *program.bodies)):
        raise Pt2Error("a weight without a name")


def _check_read(node: Node, known: set[str]) -> None:
    unknown = [one for one in refs_of(node) if not isinstance(one, str) or one not in known]
    if unknown:
        raise Pt2Error(f"`{node.name}` reads {str(unknown[0])[:60]!r}, which nothing has made")


def _flat_outputs(outputs: list[Mapping[str, Any]]) -> Iterator[str]:
    for one in outputs:
        ((kind, value),) = one.items()
        if kind in ("as_tensors", "as_optional_tensors"):
            for each in value:
                yield each.get("name", "") or each.get("as_tensor", {}).get("name", "")
        elif kind == "as_tensor":
            yield value["name"]
        elif kind.startswith("as_sym"):
            yield value["as_name"]
        else:
            yield ""


def _names_in(inputs: list[Mapping[str, Any]]) -> Iterator[str]:
    for one in inputs:
        for kind, value in one["arg"].items():
            if kind == "as_tensor":
                yield value["name"]
            elif kind == "as_tensors":
                yield from (each["name"] for each in value)


def _leaf_names(spec: Mapping[str, Any], words: list[str], has_key: bool) -> Iterator[str]:
    """A name for each result, of the keys that lead to it; empty: it has none."""
    children = spec.get("children_spec") or []
    if spec.get("type") is None:
        yield "_".join(words) if has_key else ""
        return
    try:
        context = json.loads(spec.get("context") or "null")
    except (ValueError, RecursionError):
        context = None
    is_keys = isinstance(context, list) and len(context) == len(children)
    keys = [str(one) for one in context] if is_keys else [str(i) for i in range(len(children))]
    for key, one in zip(keys, children, strict=True):
        yield from _leaf_names(one, [*words, key], has_key or is_keys)


def _output_names(module: Mapping[str, Any]) -> list[str]:
    calls = module.get("module_call_graph") or [{}]
    signature = calls[0].get("signature")
    try:
        spec = json.loads(signature["out_spec"])[1]
        return list(_leaf_names(spec, [], False))
    except (KeyError, IndexError, TypeError, ValueError, RecursionError):
        return []


def _weight_of(spec: Mapping[str, Any]) -> tuple[str, str]:
    """The placeholder of a parameter, buffer or constant, and the name of its array."""
    for kind, name in (("parameter", "parameter_name"), ("buffer", "buffer_name"),
                       ("tensor_constant", "tensor_constant_name")):  # fmt: skip
        if kind in spec:
            return spec[kind]["arg"]["name"], spec[kind][name]
    return "", ""


def program_of_file(
    archive: Archive, names: Mapping[str, str]
) -> tuple[Program, dict[str, Any], list[Problem]]:
    """The program, its arrays by the names in `weights`, and what cannot be converted.

    `names` are those of the dimensions in place of torch's, such as `s77`.
    """
    try:
        return _program_of_file(archive, names)
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise Pt2Error(f"its model is not of the form that torch writes ({reason})") from None


def _program_of_file(
    archive: Archive, names: Mapping[str, str]
) -> tuple[Program, dict[str, Any], list[Problem]]:
    module = archive.program()["graph_module"]
    signature, graph = module["signature"], module["graph"]
    problems: list[Problem] = []
    reader = _Graph(graph, "main", names, problems)
    program = reader.program
    program.is_model = True
    stored = {**archive.arrays("weights", "weights"), **archive.arrays("constants", "constants")}
    arrays: dict[str, Any] = {}
    groups: dict[str, str] = {}
    for spec in signature["input_specs"]:
        placeholder, key = _weight_of(spec)
        if key:
            if key not in stored:
                raise Pt2Error(f"`{key}` has no entry")
            meta, is_pickled, path = stored[key]
            if is_pickled:
                raise Pt2Error(f"`{key}` is pickled, and nothing is unpickled")
            program.weights[placeholder] = key
            arrays[key] = archive.array(meta, path)
            groups[placeholder] = path
        elif "user_input" in spec:
            value = reader.value(spec["user_input"]["arg"], Node("input", "", [], {}))
            if isinstance(value, Ref):
                placeholder = value.name
                kind = reader.annotation(placeholder, is_input=True) or "INT64"
                program.inputs.append(Input(placeholder, kind))
        elif "constant_input" not in spec and "token" not in spec:
            raise Pt2Error(f"an input of the kind `{next(iter(spec), '')}`")
        if placeholder and reader.is_complex(placeholder):
            program.pairs.add(placeholder)
    reader.read(groups)
    _check_names(program)
    problems += changed_statistics(program)
    _choose_outputs(program, signature["output_specs"], _output_names(module))
    return program, arrays, problems


def _choose_outputs(program: Program, specs: list[Mapping[str, Any]], names: list[str]) -> None:
    """The user's results alone, without those that are None."""
    outputs = [
        value for value, spec in zip(program.outputs, specs, strict=True)
        if "user_output" in spec or "loss_output" in spec
    ]  # fmt: skip
    names += [""] * (len(outputs) - len(names))
    program.output_names = [
        name for name, value in zip(names, outputs, strict=False) if value is not None
    ]
    program.outputs = [value for value in outputs if value is not None]
    if any(isinstance(one, float) and math.isnan(one) for one in program.outputs):
        raise Pt2Error("a result that is not a number")
