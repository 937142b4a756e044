"""What evaluates operators called from Python: the native kernels, unless told otherwise.

`native`, `onnxruntime` and `reference` are chosen for one call, for a block, or from now on:

    evaluator.onnxruntime.call(op.Add, x, y)
    with evaluator.reference:
        y = gelu(x)
    evaluator.set_default(evaluator.onnxruntime)

A block is of the thread or asyncio task that runs it (it is a context variable): others do not see
what it chooses. What `set_default` chooses outside of blocks holds wherever no block does.

One of your own inherits from `Evaluator` and implements `eval`. Those written for onnxscript work
as they are: `eval(schema, inputs, attributes)`, `eval_op(op, args, kwargs)`, which sees each call
of an operator with its arguments as they are given, and `eval_function(function, args, kwargs)`,
which sees each call of a script.
"""

from contextvars import ContextVar

from ._core import Op, Tensor, set_evaluator, set_evaluator_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Any

    import onnx
else:
    from ._type_names import Any, Callable, Sequence, TracebackType, onnx

__all__ = [
    "Evaluator",
    "NativeEvaluator",
    "ORTEvaluator",
    "ORTMixedEvaluator",
    "OnnxReferenceRuntimeEvaluator",
    "default",
    "default_as",
    "native",
    "onnxruntime",
    "reference",
    "set_default",
]

# The innermost `with evaluator:` of this context, and what was there before it: the evaluator as
# operator calls ask for it (None: the native kernels), the evaluator, the choice around.
_choice: "ContextVar[tuple[Evaluator | None, Evaluator, Any] | None]" = ContextVar(
    "sardonyx.evaluator", default=None
)


# The script that `eval_function` is about to call.
_unseen: "ContextVar[Any]" = ContextVar("sardonyx.evaluator.function", default=None)


class Evaluator:
    """The base class of evaluators. `with evaluator:` makes it the default within the block."""

    # The members of onnxscript's interface that a subclass defines.
    _sees_calls = False
    _sees_functions = False
    ignore_unknown_function_kwargs = False

    def __init_subclass__(cls) -> None:
        own = cls.__dict__
        cls._sees_calls = cls._sees_calls or "eval_op" in own
        cls._sees_functions = cls._sees_functions or "eval_function" in own
        code = getattr(own.get("eval"), "__code__", None)
        if code is not None and code.co_argcount == 4 and not code.co_flags & 0x04:
            setattr(cls, "eval", _by_schema(own["eval"]))  # noqa: B010

    def eval_op(self, op: Op, args: "Sequence[Any]", kwargs: "dict[str, Any]") -> "Any":
        """Returns the result of a call of an operator."""
        with _Plain(self):
            return op(*args, **kwargs)

    def eval_function(
        self, function: "Any", args: "Sequence[Any]", kwargs: "dict[str, Any]"
    ) -> "Any":
        """Returns the result of a call of a script."""
        if self.ignore_unknown_function_kwargs:
            names = function.__signature__.parameters
            kwargs = {name: value for name, value in kwargs.items() if name in names}
        token = _unseen.set(function)
        try:
            with self:
                return function(*args, **kwargs)
        finally:
            _unseen.reset(token)

    def eval(
        self, op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", output_count: int
    ) -> "Sequence[Any]":
        """The results of an operator on NumPy arrays (None: left out; a list: a sequence)."""
        raise NotImplementedError

    def call(self, function: "Callable[..., Any]", *args: "Any", **kwargs: "Any") -> "Any":
        """Calls an operator or a script with this evaluator."""
        with self:
            return function(*args, **kwargs)

    def __enter__(self) -> "Evaluator":
        _choose(self, _choice.get())
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        traceback: "TracebackType | None",
    ) -> None:
        choice = _choice.get()
        assert choice is not None
        _choice.set(choice[2])


def _by_schema(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """Adapts an `eval` that takes a schema of the onnx package."""

    def adapted(
        self: Evaluator,
        op: Op,
        inputs: "list[Any]",
        attributes: "dict[str, Any]",
        output_count: int,  # noqa: ARG001
    ) -> "Sequence[Any]":
        results = function(self, op.op_schema, inputs, attributes)
        return results if isinstance(results, list | tuple) else (results,)

    return adapted


class _Plain(Evaluator):
    """An evaluator that is not called recursively; the native kernels for one without `eval`."""

    def __init__(self, evaluator: Evaluator) -> None:
        has_own = type(evaluator).eval is not Evaluator.eval
        self.eval = evaluator.eval if has_own else native.eval  # type: ignore[method-assign]


class NativeEvaluator(Evaluator):
    """The native kernels of sardonyx."""

    def eval(
        self, op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", output_count: int
    ) -> "Sequence[Any]":
        """Evaluates with the native kernels, whatever the default is."""
        results = self.call(op, *inputs, **attributes)
        results = results if isinstance(results, tuple) else (results,)
        if len(results) < output_count:
            raise ValueError(f"{op.name} gave {len(results)} results, not {output_count}")
        return results[:output_count]


def _sees(function: "Any") -> "Evaluator | None":
    """The active evaluator, if it handles this call of a script itself."""
    evaluator = default()
    if not evaluator._sees_functions:
        return None
    if _unseen.get() is function:
        _unseen.set(None)
        return None
    return evaluator


native = NativeEvaluator()
_default: Evaluator = native


def default() -> Evaluator:
    """Returns the current evaluator."""
    choice = _choice.get()
    return _default if choice is None else choice[1]


def _foreign(evaluator: Evaluator) -> "Evaluator | None":
    if evaluator._sees_functions:
        from . import _script

        _script.seen_by = _sees
    return None if isinstance(evaluator, NativeEvaluator) else evaluator


def _choose(evaluator: Evaluator, around: "Any") -> None:
    foreign = _foreign(evaluator)
    _choice.set((foreign, evaluator, around))
    if foreign is not None:  # until then, operator calls need not look
        set_evaluator_choice(_choice.get)


def set_default(evaluator: Evaluator) -> None:
    """Sets the evaluator of all later operator calls; inside a block, until its end."""
    global _default
    choice = _choice.get()
    if choice is not None:
        _choose(evaluator, choice[2])
        return
    _default = evaluator
    set_evaluator(_foreign(evaluator))


def default_as(evaluator: Evaluator) -> Evaluator:
    """`with default_as(evaluator):` - the default within the block."""
    return evaluator


def _type_of(value: "Any") -> "onnx.TypeProto":
    """The type of an array, a list (a sequence) or a dict (a map)."""
    import numpy as np
    from onnx import TensorProto, TypeProto, helper

    if isinstance(value, dict):
        key, item = (Tensor(list(part)).onnx_dtype for part in (value, value.values()))
        items = TypeProto(tensor_type=TypeProto.Tensor(elem_type=item))
        return TypeProto(map_type=TypeProto.Map(key_type=key, value_type=items))
    if isinstance(value, list):  # an empty one does not say of what: most are of floats
        element = value[0] if value else np.zeros((), np.float32)
        return helper.make_sequence_type_proto(_type_of(element))
    if value.dtype.kind in "OU":
        return helper.make_tensor_type_proto(TensorProto.STRING, value.shape)
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _single_node_model(
    op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", output_count: int
) -> "tuple[onnx.ModelProto, dict[str, Any], list[str]]":
    """A model of the one node, its inputs by name, and the names of its outputs."""
    import numpy as np
    from onnx import TypeProto, helper, numpy_helper

    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    feeds = {name: value for name, value in zip(names, inputs, strict=True) if name}
    outputs = [f"y{i}" for i in range(output_count)]
    values = {
        name: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for name, value in attributes.items()
    }
    node = helper.make_node(op.name, names, outputs, domain=op.domain, **values)
    graph = helper.make_graph(
        [node],
        op.name,
        [helper.make_value_info(name, _type_of(value)) for name, value in feeds.items()],
        [helper.make_value_info(name, TypeProto()) for name in outputs],
    )
    imports = [helper.make_opsetid(op.domain, op.opset.version)]
    model = helper.make_model(
        graph, opset_imports=imports, ir_version=helper.find_min_ir_version_for(imports, True)
    )
    return model, feeds, outputs


class ORTEvaluator(Evaluator):
    """ONNX Runtime, one session for each call."""

    def __init__(self, ignore_unknown_function_kwargs: bool = False) -> None:
        self.ignore_unknown_function_kwargs = ignore_unknown_function_kwargs

    def eval(
        self, op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", output_count: int
    ) -> "Sequence[Any]":
        """Evaluates with onnxruntime, which must be installed."""
        import onnxruntime as ort

        model, feeds, outputs = _single_node_model(op, inputs, attributes, output_count)
        session = ort.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        results: Sequence[Any] = session.run(outputs, feeds)
        return results


class ORTMixedEvaluator(ORTEvaluator):
    """ONNX Runtime, and the native kernels for operators that it does not implement."""

    def eval(
        self, op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", output_count: int
    ) -> "Sequence[Any]":
        """Evaluates with the first of the two that can."""
        from onnxruntime.capi import onnxruntime_pybind11_state as errors

        try:
            return super().eval(op, inputs, attributes, output_count)
        except (errors.NotImplemented, errors.InvalidGraph, errors.Fail):
            return native.eval(op, inputs, attributes, output_count)


class OnnxReferenceRuntimeEvaluator(Evaluator):
    """The reference implementation of the onnx package."""

    def eval(
        self, op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", output_count: int
    ) -> "Sequence[Any]":
        """Evaluates with onnx.reference, which must be installed."""
        from onnx.reference import ReferenceEvaluator

        model, feeds, outputs = _single_node_model(op, inputs, attributes, output_count)
        results = ReferenceEvaluator(model).run(outputs, feeds)
        return list(results)


onnxruntime = ORTEvaluator()
reference = OnnxReferenceRuntimeEvaluator()
