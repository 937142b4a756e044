"""An ExportedProgram, or an FX graph, as a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch.export.graph_signature import InputKind
from torch.utils import _pytree

from .._core import (
    form_without_outs,
    gives_statistics,
    is_left_out,
    is_of_lists,
    is_python_operation,
    means_nothing,
    python_target,
    vmap_target,
)
from ._decompose import REMADE, decomposed, graphs_in, is_mark, targets_in
from ._exported import warn
from ._program import Body, ElementType, Facts, Input, Node, Place, Problem, Program, Ref, Weight
from ._schema import Schema, schema_of

_ELEMENT_TYPES = {
    torch.float32: "FLOAT", torch.float64: "DOUBLE", torch.float16: "FLOAT16",
    torch.bfloat16: "BFLOAT16", torch.bool: "BOOL", torch.uint8: "UINT8", torch.int8: "INT8",
    torch.int16: "INT16", torch.int32: "INT32", torch.int64: "INT64", torch.uint16: "UINT16",
    torch.uint32: "UINT32", torch.uint64: "UINT64", torch.float8_e4m3fn: "FLOAT8E4M3FN",
    torch.float8_e5m2: "FLOAT8E5M2", torch.float8_e4m3fnuz: "FLOAT8E4M3FNUZ",
    torch.float8_e5m2fnuz: "FLOAT8E5M2FNUZ",
}  # fmt: skip
# The element types of the parts of a complex number.
_PARTS = {torch.complex32: "FLOAT16", torch.complex64: "FLOAT", torch.complex128: "DOUBLE"}
_DTYPES: dict[torch.dtype, int] = {}  # a number for each
# Each node asks for these: torch looks up its names in a function of its own.
_Tensor, _GraphNode, _Overload = torch.Tensor, fx.Node, torch._ops.OpOverload
_PLAIN = frozenset((int, bool, float, str, type(None)))  # what a program has as torch has it
_TWO_PARTS = "keep real and imaginary parts in two tensors"


def element_type(dtype: torch.dtype) -> str:
    """ONNX's name of an element type; empty if there is none."""
    return _ELEMENT_TYPES.get(dtype, "")


class _DimNames(dict[str, str]):
    """The user's names of torch's symbols, and the sizes that have been printed with them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__(names)
        self.printed: dict[Any, str] = {}
        # The same by torch's objects for sizes, which many tensors share, and these objects, so
        # that no other takes the place of one in memory.
        self.nodes: dict[int, tuple[str, Any]] = {}

    def size(self, size: Any) -> str:
        node = size.node
        known = self.nodes.get(id(node))
        if known is not None:
            return known[0]
        expression = node.expr
        found = self.printed.get(expression)
        if found is None:
            found = self.printed[expression] = _dim_text(expression, self)
        self.nodes[id(node)] = (found, node)
        return found


def _has_function(expression: Any) -> bool:
    return bool(expression.is_Function) or any(_has_function(one) for one in expression.args)


def _text_of_two(expression: Any, names: Mapping[str, str]) -> str:
    """`2*n` and `n+3`, as sympy prints them; empty for others."""
    args = expression.args
    if len(args) != 2 or not args[0].is_Integer or not args[1].is_Symbol:
        return ""
    number, symbol = int(args[0]), str(args[1].name)
    name = names.get(symbol, symbol)
    if not symbol.isascii() or not symbol.isidentifier():
        return ""
    if expression.is_Mul and number > 0:
        return f"{number}*{name}"
    return f"{name}{number:+}" if expression.is_Add else ""


def _dim_text(expression: Any, names: Mapping[str, str]) -> str:
    """A size in an annotation: sympy takes long to print one, and most are simple."""
    if expression.is_Integer:
        return str(int(expression))
    if expression.is_Symbol:
        name = str(expression.name)
        return f'"{names.get(name, name)}"'
    if simple := _text_of_two(expression, names):
        return f'"{simple}"'
    if _has_function(expression):
        return "None"
    text = str(expression)
    if re.fullmatch(r"[\w+*() -]+", text) and "**" not in text:
        text = re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), text)
        if not re.search(r"[A-Za-z_]\w*\(", text):
            return f'"{text.replace(" ", "")}"'
    return "None"


def annotation(value: Any, names: _DimNames) -> str:
    """The type of a tensor in a script; empty if it is not a tensor."""
    base = _ELEMENT_TYPES.get(value.dtype) if isinstance(value, _Tensor) else None
    if base is None:
        return ""
    dims = [str(size) if type(size) is int else names.size(size) for size in value.shape]
    return f"{base}[{', '.join(dims)}]" if dims else base


def _is_complex(value: Any) -> bool:
    """Whether it is a complex tensor, or a list of some."""
    if isinstance(value, _Tensor):
        return value.dtype in _PARTS
    return isinstance(value, (list, tuple)) and any(_is_complex(one) for one in value)


def input_type(value: Any, names: _DimNames) -> str:
    """The same for an input, which has the parts of complex numbers as its last dimension."""
    if not _is_complex(value):
        return annotation(value, names)
    dims = [str(size) if type(size) is int else names.size(size) for size in value.shape]
    return f"{_PARTS[value.dtype]}[{', '.join([*dims, '2'])}]"


def _storage(value: Any) -> int:
    from torch._C import _functorch

    if isinstance(value, torch.Tensor) and _functorch.is_functorch_wrapped_tensor(value):
        return _storage(_functorch.get_unwrapped(value))  # of an element in a call of torch.vmap
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return 0
    return int(value.untyped_storage()._cdata)


def _needs_storages(module: fx.GraphModule) -> bool:
    """Whether an operator writes in place, or reads memory: storages tell what that means."""
    schemas = (
        schema_of(target) for inner in graphs_in(module) for target in targets_in(inner)
        if isinstance(target, _Overload)
    )  # fmt: skip
    return any(one.changes_memory or one.is_strided for one in schemas)


def _modules(around: Iterable[tuple[Any, Any]]) -> tuple[tuple[str, str], ...]:
    """The paths and classes of the modules around a node, outermost first."""
    found = []
    for path, of in around:
        name = of if isinstance(of, str) else f"{of.__module__}.{of.__qualname__}"
        found.append((str(path).removeprefix("L['self']").removeprefix("."), name))
    return tuple(found)


class _Reader:
    def __init__(
        self, dim_names: _DimNames, problems: list[Problem], needs_storages: bool = True,
        groups: Callable[[], dict[str, str]] = dict, arrays: dict[str, torch.Tensor] | None = None,
    ) -> None:  # fmt: skip
        self.dim_names = dim_names
        self.problems = problems
        self.needs_storages = needs_storages
        self.groups = groups  # tells which weights share their memory
        self.arrays = {} if arrays is None else arrays  # gets the constants of bodies
        # Many nodes have the same modules around them and the same line.
        self.modules: dict[Any, tuple[tuple[tuple[str, str], ...], dict[str, Place]]] = {}
        self.complex: set[fx.Node] = set()  # those whose values are
        self.same: dict[int, int] = {}  # storages of traced values that are one in a run

    def storage(self, value: Any) -> int:
        """The storage of a value, where it is asked for."""
        number = _storage(value) if self.needs_storages else 0
        return self.same.get(number, number)

    def same_storage(self, fx_node: fx.Node, value: Any) -> None:
        """Dropout in evaluation gives its argument, and in a trace a copy of it."""
        if fx_node.target is torch.ops.aten.dropout.default and fx_node.args[2:] == (False,):
            base = fx_node.args[0]
            self.same[_storage(value)] = self.storage(getattr(base, "meta", {}).get("val"))

    def place(self, meta: Mapping[str, Any]) -> Place:
        around = tuple((meta.get("nn_module_stack") or {}).values())
        found = self.modules.get(around)
        if found is None:
            found = self.modules[around] = (_modules(around), {})
        modules, places = found
        trace = meta.get("stack_trace") or ""
        place = places.get(trace)
        if place is None:
            module = next((path for path, _ in reversed(modules) if path), "")
            place = places[trace] = Place(module, modules, trace)
        return place

    def value(self, value: Any, node: Node, program: Program) -> Any:
        kind = type(value)
        if kind is _GraphNode:
            return Ref(value.name)
        if kind in _PLAIN:
            return value
        if isinstance(value, (list, tuple)):
            return [self.value(one, node, program) for one in value]
        if isinstance(value, torch.dtype):
            name = element_type(value)
            if value.is_complex and node.takes_pairs:
                name = _PARTS[value]
            if not name:
                self.problems.append(Problem(node, f"`{value}` has no operators in ONNX",
                                             _TWO_PARTS))  # fmt: skip
            return ElementType(name or "FLOAT")
        if isinstance(value, complex) and node.takes_pairs:
            return (value.real, value.imag)
        if isinstance(value, complex):
            self.problems.append(Problem(node, f"the complex number `{value}`"))
            return 0.0
        if isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, torch.SymInt):
            return int(value)
        self.problems.append(Problem(node, f"an argument of the type `{type(value).__name__}`"))
        return None

    def arguments(self, fx_node: fx.Node, node: Node, schema: Schema, program: Program) -> None:
        """By place as torch gives them, by name from the first that is left out."""
        args, by_name = fx_node.args, False
        if not schema.leaves_out:
            node.args = [
                Ref(value.name) if type(value) is _GraphNode else self.value(value, node, program)
                for value in args
            ]
        else:
            for (parameter, left_out), value in zip(schema.parameters, args, strict=False):
                if left_out:
                    by_name = True
                elif by_name:
                    node.kwargs[parameter] = self.value(value, node, program)
                else:
                    node.args.append(self.value(value, node, program))
        for name, value in fx_node.kwargs.items():
            if not is_left_out(name):
                node.kwargs[name] = self.value(value, node, program)
        for i, parameter in schema.writes:
            written = args[i] if i < len(args) else fx_node.kwargs[parameter]
            if gives_statistics(node.target) or form_without_outs(node.target):
                continue  # their new values are among its results
            if is_of_lists(node.target.removeprefix("aten::")):
                continue  # they become one node each
            if isinstance(written, fx.Node) and not node.writes:
                node.writes = written.name
            else:
                self.problems.append(
                    Problem(node, f"`{fx_node.target}` writes into several tensors")
                )

    def call(
        self, fx_node: fx.Node, value: Any, kind: str, module: fx.GraphModule, program: Program
    ) -> Node | None:
        """The node, whose value has an annotation of this kind."""
        target, place = fx_node.target, self.place(fx_node.meta)
        if self.needs_storages:
            self.same_storage(fx_node, value)
        node = Node(fx_node.name, "", [], {}, kind, place, self.storage(value))
        if isinstance(target, _Overload):
            return self.operator(fx_node, node, value, program)
        if isinstance(target, torch._ops.HigherOrderOperator):
            if means_nothing(str(target)):
                return None
            return self.higher_order(fx_node, node, module, program)
        name = getattr(target, "__name__", str(target))
        if means_nothing(name):
            return None
        if is_mark(fx_node):
            node.target = vmap_target(name)
            node.args = [self.value(one, node, program) for one in fx_node.args]
            return node
        node.target = python_target(name)
        if not is_python_operation(node.target.removeprefix("py::")):
            self.problems.append(Problem(node, f"`{name}` has no translation"))
            return node
        node.args = [self.value(one, node, program) for one in fx_node.args]
        node.args += [self.value(one, node, program) for one in fx_node.kwargs.values()]
        if name == "getitem":
            if fx_node in self.complex:
                node.is_twice = True
                program.pairs.add(node.name)
        return node

    def operator(self, fx_node: fx.Node, node: Node, value: Any, program: Program) -> Node | None:
        schema = schema_of(fx_node.target)
        node.target = schema.target_in_program
        if schema.means_nothing:
            return None
        if node.target == "py::item":
            kinds = ((torch.SymBool, bool), (torch.SymFloat, float))
            node.element_type = next(
                (k.__name__ for s, k in kinds if isinstance(value, (s, k))), "int"
            )
        if self.complex:
            node.takes_pairs = not self.complex.isdisjoint((fx_node, *fx_node.all_input_nodes))
        self.arguments(fx_node, node, schema, program)
        if fx_node in self.complex:
            program.pairs.add(node.name)
        elif not node.type and isinstance(value, torch.Tensor):  # its element type is none of ONNX
            words = f"`{node.target}` gives a tensor of `{value.dtype}`"
            self.problems.append(Problem(node, words))
        return node

    # --- Operators with bodies

    def higher_order(
        self, fx_node: fx.Node, node: Node, module: fx.GraphModule, program: Program
    ) -> Node:
        name = str(fx_node.target)
        args: list[Any] = []
        for one in fx_node.args:
            inner = self.module_of(one, module)
            if isinstance(one, fx.Node) and inner is not None:
                body = str(one.target)  # its name in files, too
                self.inner(body, inner, program)
                args.append(Body(body))
            else:
                args.append(self.value(one, node, program) if not _is_opaque(one) else None)
        value = fx_node.meta.get("val")
        node.higher_order, node.args = name, args
        node.results = len(value) if isinstance(value, (list, tuple)) else 1
        return node

    def module_of(self, value: Any, module: fx.GraphModule) -> fx.GraphModule | None:
        if not isinstance(value, fx.Node) or value.op != "get_attr":
            return None
        found = module
        for word in str(value.target).split("."):
            found = getattr(found, word)
        return found if isinstance(found, fx.GraphModule) else None

    def inner(self, name: str, module: fx.GraphModule, program: Program) -> None:
        if name in program.bodies:
            return
        body = Program(name)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                body.inputs.append(Input(node.name, "", self.storage(node.meta.get("val"))))
        self.constants(module, body, f"{name}.")
        self.read(module, body)
        program.bodies[name] = body

    def constants(self, module: fx.GraphModule, program: Program, path: str = "") -> None:
        """The tensors that `get_attr` nodes name, as weights."""
        tensors = dict(module.named_buffers(recurse=False))
        for node in module.graph.nodes:
            if node.op == "get_attr" and node.target in tensors:
                key = path + node.target
                while key in self.arrays:
                    key += "_"
                value = self.arrays[key] = tensors[node.target]
                program.weights.append(Weight(node.name, key, annotation(value, self.dim_names)))

    def read(self, module: fx.GraphModule, program: Program) -> None:
        """The nodes and outputs."""
        for fx_node in module.graph.nodes:
            value, op = fx_node.meta.get("val"), fx_node.op
            kind = annotation(value, self.dim_names) if op == "call_function" else ""
            if not kind and _is_complex(value):
                self.complex.add(fx_node)
            if op == "call_function":
                node = self.call(fx_node, value, kind, module, program)
                if node is not None:
                    program.nodes.append(node)
            elif op == "output":
                results = fx_node.args[0]
                program.is_tuple = isinstance(results, (list, tuple))
                flat = _pytree.tree_leaves(results)
                place = Node("output", "output", [], {})
                program.outputs = [self.value(one, place, program) for one in flat]
        if not self.needs_storages:
            return
        program.numbers_storages = bool(module.meta.get(REMADE)) or not _are_told(program)
        # The nodes of bodies may become a part of the graph around them.
        is_around = not program.is_model or program.bodies
        is_strided = any("::as_strided" in one.target for one in program.nodes)
        if program.numbers_storages or is_strided or is_around:
            values = {node.name: node.meta.get("val") for node in module.graph.nodes}
            program.facts = {
                name: _facts(value) for name, value in values.items()
                if isinstance(value, torch.Tensor) and value.layout == torch.strided
            }  # fmt: skip
            program.weight_groups = self.groups()


def _are_told(program: Program) -> bool:
    """Whether torch's storages say what a write changes; they do not in a program from a file."""
    if not all(_are_told(body) for body in program.bodies.values()):
        return False
    writes = [node for node in program.nodes if node.writes]
    if not writes:
        return True
    storages = {one.name: one.storage for one in program.inputs}
    storages |= {one.name: one.storage for one in program.weights}
    storages |= {node.name: node.storage for node in program.nodes}
    return all(storages.get(node.writes) == node.storage != 0 for node in writes)


def _facts(value: torch.Tensor) -> Facts:
    number = _DTYPES.setdefault(value.dtype, len(_DTYPES))
    sizes = [_size(one) for one in value.shape]
    return sizes, [_size(one) for one in value.stride()], number, _size(value.storage_offset())


def _size(value: Any) -> int | str:
    import sympy  # type: ignore[import-untyped]

    return value if isinstance(value, int) else str(sympy.srepr(value.node.expr))


def _is_opaque(value: Any) -> bool:
    return isinstance(value, (torch.dtype, str)) or value is None


# --- Names of inputs, outputs and dimensions


def _leaf_shapes(value: Any, spec: Any) -> Iterator[Any]:
    """What dynamic_shapes says of each leaf of an argument."""
    if isinstance(value, (list, tuple)):
        for i, one in enumerate(value):
            yield from _leaf_shapes(one, spec[i] if isinstance(spec, (list, tuple)) else None)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _leaf_shapes(one, spec.get(key) if isinstance(spec, dict) else None)
    else:
        yield spec


def _specs(parameters: Sequence[str], shapes: Any) -> list[Any]:
    """What dynamic_shapes says of each parameter; those of `*args` share one entry, a tuple."""
    if isinstance(shapes, dict):
        found = []
        for one in parameters:
            packed, _, place = one.rpartition("_")
            rest = shapes.get(packed) if one not in shapes and place.isdecimal() else None
            is_packed = isinstance(rest, (list, tuple)) and int(place) < len(rest)
            found.append(rest[int(place)] if is_packed and rest else shapes.get(one))
        return found
    specs = list(shapes)
    more = len(parameters) - len(specs) + 1
    for i, one in enumerate(specs):
        if more != 1 and isinstance(one, (list, tuple)) and len(one) == more:
            return [*specs[:i], *one, *specs[i + 1 :]]
    return [*specs, *[None] * (more - 1)]


def dim_names(
    program: torch.export.ExportedProgram, dynamic_shapes: Any, inputs: Sequence[Any]
) -> dict[str, str]:
    """The user's names of torch's symbols; `inputs` are the tensors of the user's arguments."""
    names: dict[str, str] = {}
    if not dynamic_shapes:
        return names
    args, kwargs = program.example_inputs or ((), {})
    call = program.module_call_graph[0].signature
    parameters = (call.forward_arg_names if call is not None else None) or []
    positional = iter(args)
    values = [kwargs[one] if one in kwargs else next(positional, None) for one in parameters]
    leaves = list(_leaf_shapes(values, _specs(parameters, dynamic_shapes)))
    if len(leaves) != len(inputs):
        return names  # arguments of a kind of their own, such as caches
    fixed = []
    for value, spec in zip(inputs, leaves, strict=True):
        if not isinstance(value, torch.Tensor) or not isinstance(spec, (dict, list, tuple)):
            continue
        pairs = spec.items() if isinstance(spec, dict) else enumerate(spec)
        for axis, dim in pairs:
            name = getattr(dim, "__name__", None) if not isinstance(dim, str) else dim
            if dim is not None and not 0 <= axis < value.ndim:  # torch passes over it
                raise ValueError(
                    f"`dynamic_shapes` has axis {axis} of an input whose axes are 0 to "
                    f"{value.ndim - 1}"
                )
            size = value.shape[axis]
            expression: Any = size if isinstance(size, int) else size.node.expr
            if isinstance(dim, str) and not dim.isidentifier():
                raise ValueError(f"`{dim}` is not a valid name for a dimension")
            if name and (isinstance(size, int) or expression.is_Integer):
                fixed.append(f"`{name}` is {int(expression)}")
            elif name and expression.is_Symbol:
                names.setdefault(str(expression.name), str(name))
    if fixed:
        known = ", ".join(dict.fromkeys(fixed))
        reason = (
            "PyTorch takes the sizes 0 and 1 of an example for the only ones: give one with 2 or "
            "more"
            if all(one.endswith((" is 0", " is 1")) for one in fixed)
            else "PyTorch found that the module takes no other"
        )
        warn(f"a dimension that was named has one size alone in the model: {known}; {reason}")
    # Two dimensions of one name would be equal, and only torch says what is.
    first: dict[str, str] = {}
    for symbol, name in names.items():
        if name.isidentifier():
            first.setdefault(name, symbol)
    return {symbol: name for name, symbol in first.items()}


def _output_names(program: torch.export.ExportedProgram) -> list[str]:
    """The keys of what the module returns, where it returns dicts or objects with fields."""
    call = program.module_call_graph[0].signature if program.module_call_graph else None
    if call is None or call.out_spec is None:
        return []
    spec = call.out_spec
    tree = _pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    names = [""] * spec.num_leaves
    try:
        # Subclasses of dict may be registered without a function that names their parts.
        paths = _pytree.tree_leaves_with_path(dict(tree) if isinstance(tree, Mapping) else tree)
    except ValueError:  # so may other classes
        return []
    # An object that is made again may hold its fields in another order than the results have.
    for path, leaf in paths:
        words = [
            str(getattr(one, "key", getattr(one, "name", getattr(one, "idx", "")))) for one in path
        ]
        has_key = any(hasattr(one, "key") or hasattr(one, "name") for one in path)
        if has_key and isinstance(leaf, int):
            names[leaf] = "_".join(words)
    return names


def _bounds(
    exported: torch.export.ExportedProgram, names: Mapping[str, str]
) -> dict[str, tuple[int | None, int | None]]:
    def number(bound: Any) -> int | None:
        return int(bound) if bound.is_Integer and abs(int(bound)) < 2**63 else None

    bounds = {}
    for symbol, one in exported.range_constraints.items():
        name = symbol.name if symbol.is_Symbol else str(symbol)  # sympy takes long to print one
        bounds[names.get(name, name)] = (number(one.lower), number(one.upper))
    return bounds


def program_of(
    exported: torch.export.ExportedProgram, known: Mapping[str, Any], dynamic_shapes: Any = None
) -> tuple[Program, dict[str, torch.Tensor]]:
    """The program, and its arrays by the names in `weights`.

    `known` has the overloads that need no decomposition.
    """
    problems: list[Problem] = []
    module = decomposed(exported.graph_module, known)
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    specs = exported.graph_signature.input_specs
    user_inputs = [
        node.meta.get("val")
        for node, spec in zip(placeholders, specs, strict=True)
        if spec.kind == InputKind.USER_INPUT
    ]
    names = _DimNames(dim_names(exported, dynamic_shapes, user_inputs))
    program = Program("main", is_model=True, bounds=_bounds(exported, names))
    arrays: dict[str, torch.Tensor] = {}

    def groups() -> dict[str, str]:
        return {one.name: str(_storage(arrays[one.key]) or one.name) for one in program.weights}

    reader = _Reader(names, problems, _needs_storages(module), groups, arrays)
    for node, spec in zip(placeholders, specs, strict=True):
        value = node.meta.get("val")
        if _is_complex(value):
            program.pairs.add(node.name)
        if spec.kind == InputKind.USER_INPUT:
            if isinstance(value, torch.Tensor):
                program.inputs.append(Input(node.name, input_type(value, names),
                                            reader.storage(value)))  # fmt: skip
            elif isinstance(value, torch.SymInt):
                program.inputs.append(Input(node.name, "int"))
        elif spec.target is not None:
            kind = annotation(value, names)
            program.weights.append(Weight(node.name, spec.target, kind, reader.storage(value)))
            found = exported.state_dict.get(spec.target)
            arrays[spec.target] = found if found is not None else exported.constants[spec.target]
    reader.constants(module, program)
    reader.read(module, program)
    program.problems = problems
    program.output_names = _output_names(exported)
    program.output_specs = [
        (one.kind.name.lower(), one.target or "")
        for one in exported.graph_signature.output_specs
    ]  # fmt: skip
    return program, arrays


def program_of_graph(module: fx.GraphModule, name: str = "main") -> Program:
    """The same for a bare FX graph, such as that of make_fx; its attributes are not weights."""
    problems: list[Problem] = []
    program = Program(name, is_model=True)
    names = _DimNames({})
    for node in module.graph.nodes:
        value = node.meta.get("val")
        if node.op in ("placeholder", "get_attr") and _is_complex(value):
            program.pairs.add(node.name)
        if node.op == "placeholder" and isinstance(value, torch.Tensor):
            program.inputs.append(Input(node.name, input_type(value, names), _storage(value)))
        elif node.op == "get_attr" and not isinstance(
            getattr(module, node.target, None), fx.GraphModule
        ):
            program.weights.append(Weight(node.name, node.target))
    reader = _Reader(names, problems)
    reader.read(module, program)
    program.problems = problems
    return program
