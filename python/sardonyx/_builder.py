"""Models made call by call: `b = Builder(opset=20)`, `y = b.op.MatMul(x, w) + 1`."""

from ._core import GraphBuilder, Model, ModelError, Op, Opset, domains
from ._script import OnnxFunction
from ._sources import run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from ._core import Graph, Value

    Names = int | Iterable[str | None]
else:
    from ._type_names import Any, Callable, Graph, Iterable, Names, NoReturn, Value


def _given(argument: "Any") -> "Any":
    """Replaces expressions by their values, also in subscripts, for the native part."""
    if isinstance(argument, Expression):
        return argument.value
    if type(argument) is slice:
        return slice(_given(argument.start), _given(argument.stop), _given(argument.step))
    return tuple(map(_given, argument)) if type(argument) is tuple else argument


def _binary(symbol: str) -> "Callable[[Expression, Any], Any]":
    def method(self: "Expression", other: "Any") -> "Any":
        return self._builder._wrap(self._core.binary(symbol, self.value, _given(other)))

    return method


def _reflected(symbol: str) -> "Callable[[Expression, Any], Any]":
    def method(self: "Expression", other: "Any") -> "Any":
        return self._builder._wrap(self._core.binary(symbol, _given(other), self.value))

    return method


def _compare(symbol: str) -> "Callable[[Expression, Any], Any]":
    def method(self: "Expression", other: "Any") -> "Any":
        return self._builder._wrap(self._core.compare(symbol, self.value, _given(other)))

    return method


def _unary(symbol: str) -> "Callable[[Expression], Expression]":
    def method(self: "Expression") -> "Expression":
        return Expression(self._builder, self._core.unary(symbol, self.value))

    return method


class Expression:
    """A value of a Builder, on which Python's operators make nodes, as in a script."""

    __slots__ = ("_builder", "value")
    __array_ufunc__ = None  # an array beside it leaves the operator to us

    def __init__(self, builder: "Builder", value: "Value") -> None:
        self._builder = builder
        self.value = value

    @property
    def _core(self) -> GraphBuilder:
        return self._builder._core

    @property
    def name(self) -> str:
        """The value's name."""
        return self.value.name

    @property
    def type(self) -> "str | None":
        """The value's type, as in "FLOAT[N, 4]"."""
        return self.value.type

    @property
    def shape(self) -> "tuple[int | str | None, ...] | None":
        """The value's shape; None where the rank is not known."""
        return self.value.shape

    @property
    def dtype(self) -> "Any":
        """The value's numpy.dtype."""
        return self.value.dtype

    __add__, __radd__ = _binary("+"), _reflected("+")
    __sub__, __rsub__ = _binary("-"), _reflected("-")
    __mul__, __rmul__ = _binary("*"), _reflected("*")
    __matmul__, __rmatmul__ = _binary("@"), _reflected("@")
    __truediv__, __rtruediv__ = _binary("/"), _reflected("/")
    __floordiv__, __rfloordiv__ = _binary("//"), _reflected("//")
    __mod__, __rmod__ = _binary("%"), _reflected("%")
    __pow__, __rpow__ = _binary("**"), _reflected("**")
    __lshift__, __rlshift__ = _binary("<<"), _reflected("<<")
    __rshift__, __rrshift__ = _binary(">>"), _reflected(">>")
    __and__, __rand__ = _binary("&"), _reflected("&")
    __or__, __ror__ = _binary("|"), _reflected("|")
    __xor__, __rxor__ = _binary("^"), _reflected("^")
    __lt__, __le__, __gt__, __ge__ = map(_compare, ("<", "<=", ">", ">="))
    __eq__, __ne__ = _compare("=="), _compare("!=")
    __neg__, __pos__, __invert__ = _unary("-"), _unary("+"), _unary("~")
    __hash__ = object.__hash__

    def __getitem__(self, index: "Any") -> "Expression":
        return Expression(self._builder, self._core.subscript(self.value, _given(index)))

    def __iter__(self) -> "NoReturn":
        raise TypeError("a value of a Builder has no elements yet: use `op.Split` or a subscript")

    def __bool__(self) -> bool:
        raise TypeError(
            "a value of a Builder is neither true nor false yet: use `op.Where`, `&`, `|` and `~`"
        )

    def __repr__(self) -> str:
        return repr(self.value).replace("<Value", "<Expression", 1)


class _Operators:
    """`builder.op`: its attributes are the operators of the opset."""

    def __init__(self, builder: "Builder", opset: Opset) -> None:
        self._builder = builder
        self._opset = opset

    def __getattr__(self, name: str) -> "Callable[..., Any]":
        if name.startswith("_"):
            raise AttributeError(name)
        is_known = self._opset.domain in {domain for domain, _, _ in domains()}
        found: Op = getattr(self._opset, name) if is_known else Op(self._opset, name)

        def call(
            *inputs: "Any", _outputs: "Names | None" = None, _name: str = "", **attributes: "Any"
        ) -> "Any":
            return self._builder._call(found, inputs, attributes, _outputs, _name)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = found.__doc__
        setattr(self, name, call)
        return call

    def __dir__(self) -> "list[str]":
        return dir(self._opset)


class _Block:
    """The base of `if_` and `loop`: the graph that a `with` statement fills."""

    def __init__(self, builder: "Builder") -> None:
        self._builder = builder
        self._block: Any = None
        self._results: tuple[Expression, ...] | None = None

    @property
    def results(self) -> "tuple[Expression, ...]":
        """The results of the block, once it is complete."""
        if self._results is None:
            raise ModelError("the block is not complete: its results are known after its end")
        return self._results

    @property
    def result(self) -> Expression:
        """The only result of the block."""
        (value,) = self.results
        return value

    def _enter(self) -> None:
        self._builder._open.append(self)

    def _leave(self, error: object) -> bool:
        """Whether the block is to be completed; after an error, it is taken out."""
        innermost = self._builder._open.pop()
        if error is None and innermost is not self:
            raise ModelError("a block that was begun later is not complete")
        if error is not None:
            self._builder._core.leave(self._block)
            self._block = None
        return error is None


class If(_Block):
    """`with builder.if_(condition) as branch:` and then `with branch.else_():`."""

    def __init__(self, builder: "Builder", condition: "Any", name: str) -> None:
        super().__init__(builder)
        self._request = (condition, name)
        self._given: tuple[Any, ...] | None = None
        self._branch = "then_branch"

    def give(self, *values: "Any") -> None:
        """Sets the results of the branch."""
        if self._given is not None:
            raise ModelError("the branch gives its values once")
        self._given = tuple(map(_given, values))

    def else_(self) -> "If":
        """The other branch, for another `with` statement."""
        if self._branch != "then_branch" or self._block is None:
            raise ModelError("`else_` follows the first branch, once")
        self._branch = "else_branch"
        return self

    def __enter__(self) -> "If":
        core = self._builder._core
        if self._branch == "then_branch":
            self._block = core.open_if(*self._request)
            self._builder._waiting.append(self)
        core.enter_branch(self._block, self._branch)
        self._enter()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        core = self._builder._core
        is_last = self._branch == "else_branch"
        if not self._leave(error):
            self._builder._waiting.remove(self)
            return
        given, self._given = self._given or (), None
        core.leave_branch(self._block, given)
        if is_last:
            self._builder._waiting.remove(self)
            made = core.close_if(self._block)
            self._results = tuple(Expression(self._builder, value) for value in made)


class Loop(_Block):
    """`with builder.loop(count, *carried) as loop:`."""

    def __init__(
        self,
        builder: "Builder",
        trips: "Any",
        condition: "Any",
        carried: "tuple[Any, ...]",
        types: "Iterable[Any]",
        name: str,
    ) -> None:
        super().__init__(builder)
        self._request = (trips, condition, carried, tuple(types), name)
        self._next: tuple[Any, ...] | None = None
        self._stacked: list[Any] = []
        self._condition: Any = None
        self._index: Expression | None = None
        self._values: tuple[Expression, ...] = ()

    @property
    def index(self) -> Expression:
        """The number of the iteration, from 0."""
        if self._index is None:
            raise ModelError("the loop has not begun: `with builder.loop(...) as loop:`")
        return self._index

    @property
    def values(self) -> "tuple[Expression, ...]":
        """The carried values of this iteration."""
        return self._values

    def next(self, *values: "Any") -> None:
        """Sets the carried values for the next iteration."""
        self._next = tuple(map(_given, values))

    def stack(self, value: "Any") -> None:
        """Stacks a value of all iterations along a new first axis."""
        self._stacked.append(_given(value))

    def while_(self, condition: "Any") -> None:
        """Sets the condition for the next iteration."""
        self._condition = _given(condition)

    def __enter__(self) -> "Loop":
        core = self._builder._core
        self._block = core.open_loop(*self._request)
        index, *values = core.loop_inputs(self._block)
        self._index = Expression(self._builder, index)
        self._values = tuple(Expression(self._builder, value) for value in values)
        self._enter()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not self._leave(error):
            return
        carried = self._next if self._next is not None else tuple(v.value for v in self._values)
        core = self._builder._core
        made = core.close_loop(self._block, self._condition, carried, tuple(self._stacked))
        self._results = tuple(Expression(self._builder, value) for value in made)


class Builder:
    """Makes a model by calls of operators.

    Types are inferred for each node when it is added. A wrong call raises an exception and does not
    change the model.
    """

    def __init__(self, opset: int = 20, *, name: str = "graph") -> None:
        self._core = GraphBuilder(opset, name)
        self._opset = opset
        self._open: list[_Block] = []  # whose graphs are filled now, outermost first
        self._waiting: list[If] = []  # for their other branch
        self.op = _Operators(self, Opset("", opset))

    def __repr__(self) -> str:
        count = len(self.graph)
        return f"<Builder {self.graph.name!r}: {count} node{'' if count == 1 else 's'}>"

    def __reduce__(self) -> "NoReturn":
        self._core.__reduce__()  # refuses: a copy would fill the same graph
        raise NotImplementedError

    @property
    def graph(self) -> "Graph":
        """The graph under construction."""
        return self._core.graph

    def opset(self, domain: str, version: int) -> "_Operators":
        """The operators of another domain."""
        return _Operators(self, Opset(domain, version))

    def input(self, name: str, type: "Any") -> Expression:
        """An input of the model, of a type as in a script: `FLOAT["N", 4]`."""
        if type is None:
            raise TypeError(f"input {name!r} needs a type: FLOAT['N', 4]")
        return Expression(self, self.graph.add_input(name, type))

    def initializer(self, value: "Any", name: "str | None" = None) -> Expression:
        """Adds a weight of the model. By default, the name is generated."""
        name = name or self._core.fresh_name("weight")
        return Expression(self, self.graph.add_initializer(name, value))

    def constant(self, value: "Any") -> Expression:
        """A `Constant` node: of a number, a list or an array."""
        import numpy as np

        from ._core import Tensor

        given = value if isinstance(value, Tensor | np.ndarray) else Tensor(value)
        made: Expression = self.op.Constant(value=given)
        return made

    def call(self, function: OnnxFunction, *args: "Any", **kwargs: "Any") -> "Any":
        """Calls a script, as in another script; arguments that are not values of the builder are
        static."""
        return _call_script(self, function, args, kwargs)

    def if_(self, condition: "Any", *, name: str = "") -> If:
        """An `If`: `with builder.if_(condition) as branch:`, and `with branch.else_():`."""
        return If(self, _given(condition), name)

    def loop(
        self,
        count: "Any" = None,
        *carried: "Any",
        condition: "Any" = None,
        types: "Iterable[Any]" = (),
        name: str = "",
    ) -> Loop:
        """Adds a `Loop` with this number of iterations, or without a limit, and with carried
        values.

        `types` are types of the carried values that are valid for all iterations, if the types of
        the initial values are too specific.
        """
        values = tuple(map(_given, carried))
        return Loop(self, _given(count), _given(condition), values, types, name)

    def output(
        self, value: Expression, name: "str | None" = None, type: "Any" = None
    ) -> Expression:
        """Makes a value the next output of the model, with this name if one is given.

        `type` adds information to the type of the value, for example if the operator is unknown. A
        type that contradicts the type of the value raises ModelError.
        """
        return Expression(self, self._core.add_output(self._own(value), name, type))

    def model(self) -> Model:
        """Returns the model in its current state; nodes that are added later are not part of it."""
        if self._open or self._waiting:
            raise ModelError("a block is not complete: an `if_` needs both branches")
        if not self.graph.outputs:
            raise ModelError("the model has no outputs: call `builder.output(value)`")
        return self._core.model()

    def _own(self, value: "Any") -> "Any":
        if not isinstance(value, Expression):
            raise TypeError(f"{value!r} is not a value of the builder")
        return value.value

    def _wrap(self, value: "Any") -> "Any":
        return value if value is NotImplemented else Expression(self, value)

    def _call(
        self,
        op: Op,
        inputs: "tuple[Any, ...]",
        attributes: "dict[str, Any]",
        outputs: "Names | None",
        name: str,
    ) -> "Any":
        given = {key: _given(value) for key, value in attributes.items()}
        made = self._core.call(op, tuple(map(_given, inputs)), given, outputs, name)
        results = tuple(Expression(self, value) for value in made)
        return results[0] if len(results) == 1 else results


def _call_script(
    builder: Builder, function: OnnxFunction, args: "tuple[Any, ...]", kwargs: "dict[str, Any]"
) -> "Any":
    """The call stands in a script of its own, whose compiled graph goes into the builder's."""
    if not isinstance(function, OnnxFunction):
        raise TypeError(f"{function!r} is not a script: decorate it with `@sardonyx.script()`")
    names: dict[str, Any] = {"called": function}
    inputs: list[Value] = []

    def word(argument: "Any") -> str:
        if isinstance(argument, Expression):
            inputs.append(argument.value)
            return f"x{len(inputs)}"
        name = f"static{len(names)}"
        names[name] = argument
        return name

    words = [word(one) for one in args]
    words += [f"{key}={word(one)}" for key, one in kwargs.items()]
    parameters = ", ".join(f"x{i + 1}" for i in range(len(inputs)))
    types = [value.type for value in inputs]
    if None in types:
        raise TypeError(f"the type of {inputs[types.index(None)]!r} is not known")
    text = (
        "from sardonyx import script\n"
        "@script()\n"
        f"def call({parameters}):\n"
        f"    return called({', '.join(words)})\n"
    )
    call: OnnxFunction = run_text(text, names)["call"]
    model = call.compile(input_types=types, opset=builder._opset)
    made = builder._core.splice(model, inputs)
    results = tuple(Expression(builder, value) for value in made)
    return results[0] if len(results) == 1 else results
