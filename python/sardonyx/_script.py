"""@script: functions that run as Python and compile to ONNX."""

import sys

from ._annotations import KEYWORD_ONLY, POSITIONAL_ONLY, Parameter
from ._core import (
    EvalError,
    Model,
    Opset,
    Tensor,
    as_argument,
    as_result,
    check_keywords,
    enter_script,
    holds_tensor,
    inside_script,
    leave_script,
    parse,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    import os
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any, NoReturn

    import onnx

    from ._core import Schemas, Signature
else:
    from ._type_names import (
        Any,
        Callable,
        Mapping,
        ModuleType,
        NoReturn,
        Schemas,
        Sequence,
        inspect,
        onnx,
        os,
    )


# Returns the evaluator that handles calls of a script itself; None as long as there is none.
seen_by: "Callable[[OnnxFunction], Any] | None" = None


class ScriptWarning(UserWarning):
    """A warning of the compiler: the script is legal, but probably not what was intended."""

    __module__ = "sardonyx"


class CompileError(ValueError):
    """Raised for errors in a script.

    The text shows each location; `diagnostics` contains the findings as data. The first line of the
    text gives the location of the first error and its message.
    """

    __module__ = "sardonyx"

    def __init__(self, text: str, json: str = "[]") -> None:
        super().__init__(text)
        self._json = json

    def __reduce__(self) -> "tuple[Any, ...]":
        return (type(self), (self.args[0], self._json), self.__dict__)

    def __str__(self) -> str:
        return self._summary() + "\n" + str(self.args[0]).rstrip()

    def _summary(self) -> str:
        """`scripts.py, line 7: ...`; nothing where the mistakes are in no place."""
        errors = [one for one in self.diagnostics if one["severity"] == "error"]
        placed = [one for one in errors if one.get("file") and one.get("range")]
        if not placed:
            return ""
        first = placed[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        line = first["range"]["start"]["line"]
        return f"{first['file']}, line {line}: {first['message']}{more}"

    @property
    def diagnostics(self) -> "list[dict[str, Any]]":
        """One dict for each finding, as `sardonyx check --json` prints them."""
        import json

        found: list[dict[str, Any]] = json.loads(self._json)
        return found


# The modules between the caller's line and `_take`.
_OWN_FRAMES = (__name__, "sardonyx._compile", "sardonyx._schemas")


def _take(compiled: "tuple[Any, str, str]") -> "Any":
    """The result of a compilation; raises its errors and warns of the rest."""
    result, text, json = compiled
    if result is None:
        raise CompileError(text, json) from None
    if text:
        import warnings

        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals["__name__"] in _OWN_FRAMES:
            level, frame = level + 1, frame.f_back
        warnings.warn("\n" + text.rstrip(), ScriptWarning, stacklevel=level)
    return result


# Passed to a script unchanged unless an annotation says that it is a tensor, as in a graph.
_LEFT_ALONE = frozenset((int, float, bool, list, tuple))

# Members of the classes whose objects are tensors: of NumPy, of other libraries, of onnx. Other
# objects, such as a slice or a dataclass, reach a script as they are.
_OF_TENSORS = ("__array__", "__dlpack__", "raw_data")


def _as_argument(value: "Any", element_type: "int | None", takes_number: bool = False) -> "Any":
    """The argument for the body: a Tensor if the annotation, or else the value itself, is one."""
    if element_type is None:  # an attribute, which has no type of NumPy's where it is a number
        is_scalar = takes_number and getattr(value, "shape", None) == () and hasattr(value, "item")
        # In a script, the number of a tensor is known only when the graph runs.
        is_scalar = is_scalar and not (inside_script() and isinstance(value, Tensor))
        return value.item() if is_scalar else value
    if not element_type:
        kind = type(value)
        if kind is str or kind is dict or callable(value) or isinstance(value, Opset):
            return value
        if hasattr(kind, "is_onnx_element_type"):
            return value
        if kind in _LEFT_ALONE or isinstance(value, int):
            return value
        if value is not None and not any(hasattr(kind, name) for name in _OF_TENSORS):
            return value
    return as_argument(value, element_type)


def _as_given(value: "Any", parameter: "Parameter") -> "Any":
    """As `_as_argument`; literals in a list or dict become what the annotation says of them."""
    if parameter.is_sequence and type(value) in (list, tuple):
        return as_argument(value, parameter.element_type or 0, True)
    kind = parameter.map_value_type
    if kind and type(value) is dict:
        items = list(value.values())
        if items and all(type(item) in (int, float, str) for item in items):
            return dict(zip(value, as_argument(items, kind).tolist(), strict=True))
    return _as_argument(value, parameter.element_type, parameter.takes_number)


class _OfInstances(property):
    """A property that the class itself does not have: `inspect` and `typing` ask classes, too."""

    def __get__(self, instance: "Any", owner: "type | None" = None) -> "Any":
        if instance is None:
            raise AttributeError("only instances have it")
        return super().__get__(instance, owner)


class _AnnotationsOfInstances(dict[str, object]):
    """Those of the function that an instance wraps. The class has none, and `typing` and `inspect`
    find a dict in its namespace."""

    def __get__(self, instance: "Any", owner: "type | None" = None) -> "dict[str, Any]":
        return {} if instance is None else instance.__wrapped__.__annotations__

    def __set__(self, instance: object, value: object) -> "NoReturn":
        raise AttributeError("the annotations of a script are those of its function")


class OnnxClosure:
    """A function inside a script, marked by `@graph()`: the body of a Loop, Scan or the like."""

    def __init__(self, function: "Callable[..., Any]") -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __class_getitem__(cls, types: object) -> "type[OnnxClosure]":
        # `OnnxClosure[..., Any]` in an annotation: see _functions.pyi.
        return cls

    def __call__(self, *args: "Any", **kwargs: "Any") -> "Any":
        """Runs the function."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"OnnxClosure({self.__name__})"


class OnnxFunction:
    """A Python function decorated with @script.

    A call runs the function as Python on Tensors. NumPy arrays are converted to Tensors, and
    results are arrays if no argument was a Tensor.
    """

    def __init__(
        self,
        function: "Callable[..., Any]",
        opset: "Opset | None" = None,
        default_opset: "Opset | None" = None,
        schemas: "Schemas | None" = None,
        **keywords: "Any",
    ) -> None:
        if function.__code__.co_flags & 0x2A0:  # inspect.CO_COROUTINE, CO_GENERATOR and both
            raise TypeError(
                f"{function.__name__} is a generator or `async def`: a script cannot pause"
            )
        if function.__name__ == "<lambda>":
            raise TypeError("a lambda cannot be a script: write a function with `def`")
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self._options = (opset, default_opset, schemas, keywords)
        self._script = _take(parse(function, opset, default_opset, keywords, schemas))
        self._is_inline = bool(keywords.get("inline"))
        self._parameters: list[Parameter] | None = None
        self._variadic: int | None = None
        self._results: tuple[int, ...] = ()
        self._types: Signature | None = None
        self._body: Callable[..., Any] = function

    def __class_getitem__(cls, types: object) -> "type[OnnxFunction]":
        # `OnnxFunction[..., Any]` in an annotation: see _functions.pyi.
        return cls

    @property
    def name(self) -> str:
        """The function's name."""
        return self.__name__

    @property
    def opset(self) -> Opset:
        """The domain and version that the function itself belongs to."""
        opset: Opset = self._script.opset
        return opset

    @property
    def domain(self) -> str:
        """The domain that the function itself belongs to."""
        return self.opset.domain

    @property
    def function_ir(self) -> "Any":
        """The function as an onnx_ir.Function."""
        from ._ir import function_ir

        return function_ir(self.to_function_proto())  # type: ignore[arg-type]

    def graph(self) -> "Any":
        """The function's graph as an onnx_ir.Graph."""
        result = self.function_ir.graph
        result.name = self.name
        return result

    @property
    def function(self) -> "Callable[..., Any]":
        """The Python function."""
        return self.__wrapped__

    @property
    def source(self) -> str:
        """The text of the definition, with its decorators."""
        text: str = self._script.source
        return text

    __annotations__ = _AnnotationsOfInstances()

    def __get__(self, instance: "Any", owner: "type | None" = None) -> "OnnxFunction":
        return self if instance is None else BoundOnnxFunction(self, instance)

    # As for functions: a script is pickled by its name, and a copy of it is the script itself.
    def __reduce__(self) -> "str | tuple[Any, ...]":
        frame = sys._getframe(1)
        if frame.f_globals.get("__name__", "").rpartition(".")[2] != "cloudpickle":
            return self.__qualname__
        # cloudpickle includes functions whose modules the reading process does not have.
        path, line = self._script.place
        # It includes the globals that the code reads; the source also needs those of annotations.
        from ._sources import annotation_names

        known = self.__wrapped__.__globals__
        names = {one: known[one] for one in annotation_names(self.source) if one in known}
        parts = (type(self), self.__wrapped__, path, line, self.source, self._options, names)
        return (_rebuilt, parts)

    def __copy__(self) -> "OnnxFunction":
        return self

    def __deepcopy__(self, memo: "dict[int, Any]") -> "OnnxFunction":
        return self

    @_OfInstances
    def __signature__(self) -> "inspect.Signature":
        from ._signatures import ScriptSignature

        return ScriptSignature.of(self.__wrapped__)

    def __repr__(self) -> str:
        return f"OnnxFunction({self.__qualname__})"

    def __call__(self, *args: "Any", **kwargs: "Any") -> "Any":
        """Runs the function as Python."""
        if seen_by is not None:
            evaluator = seen_by(self)
            if evaluator is not None:
                return evaluator.eval_function(self, args, kwargs)
        if self._parameters is None:
            self._read_signature()
        positional, named, as_arrays = self._wrap(args, kwargs)
        if self._types is not None:
            self._types.check(positional, named)
        enter_script()
        try:
            result = self._body(*positional, **named)
        except TypeError as error:
            self._note_arguments(error, positional, named)
            raise
        finally:
            leave_script()
        # An inline script returns the results of its body: sizes and types do not become tensors.
        if self._is_inline and (inside_script() or hasattr(result, "is_onnx_element_type")):
            return result
        return as_result(result, self._results, as_arrays)

    def _read_signature(self) -> None:
        from ._annotations import read_signature
        from ._bridge import calls_peer, run
        from ._reveal import provide

        provide(self.__wrapped__)  # type: ignore[arg-type]
        if calls_peer(self.__wrapped__):  # type: ignore[arg-type]
            body = self.__wrapped__
            self._body = lambda *args, **kwargs: run(body, args, kwargs)
        self._parameters, self._variadic, self._results, self._types = read_signature(
            self.__wrapped__
        )

    def _wrap(
        self, args: "tuple[Any, ...]", kwargs: "dict[str, Any]"
    ) -> "tuple[list[Any], dict[str, Any], bool]":
        """The arguments as the body takes them, and whether no Tensor is among them."""
        positional = list(args)
        given, at = len(args), 0
        as_arrays = True
        one = None
        try:
            for one in self._parameters or ():
                is_given = True
                if at < given and one.kind != KEYWORD_ONLY:
                    value = positional[at]
                    positional[at] = _as_given(value, one)
                    at += 1
                elif one.kind != POSITIONAL_ONLY and one.name in kwargs:
                    value = kwargs[one.name]
                    kwargs[one.name] = _as_given(value, one)
                else:
                    value, is_given = one.default, False
                    if value is None or not one.element_type:
                        continue  # Python gives the default itself, or misses the argument
                    if one.kind == POSITIONAL_ONLY:
                        positional.append(_as_argument(value, one.element_type))
                    else:
                        kwargs[one.name] = _as_argument(value, one.element_type)
                if is_given and one.element_type is not None and holds_tensor(value):
                    as_arrays = False
        except (TypeError, ValueError) as error:
            if hasattr(error, "add_note") and one is not None:
                error.add_note(f"this is `{one.name}` of `{self.__name__}`")
            raise
        for i in range(at, given):
            as_arrays = as_arrays and not holds_tensor(positional[i])
            positional[i] = _as_argument(positional[i], self._variadic or 0)
        return positional, kwargs, as_arrays

    def _note_arguments(
        self, error: TypeError, positional: "Sequence[Any]", named: "Mapping[str, Any]"
    ) -> None:
        """Adds the parameters that got None, as the error speaks of an operator or of a class, and
        what a keyword that is none of a parameter is like."""
        if not hasattr(error, "add_note"):  # before Python 3.11
            return
        known = [one for one in self._parameters or () if one.kind != KEYWORD_ONLY]
        given = {one.name: value for one, value in zip(known, positional, strict=False)}
        names = [one.name for one in self._parameters or ()]
        for name in named:
            if f"unexpected keyword argument '{name}'" in str(error) and name not in names:
                from ._absent import meant

                listed = ", ".join(f"`{one}`" for one in names)
                error.add_note(f"`{self.__name__}` takes {listed}{meant(name, names)}")
        for name, value in {**given, **named}.items():
            if value is None:
                error.add_note(f"`{name}` of `{self.__name__}` is None")

    def compile(self, **options: "Any") -> Model:
        """Compiles the script to a model that is prepared once and runs without Python.

        Accepts the same parameters as `to_model_bytes`. The model is called with its inputs, by
        position or by name. Arrays that the script reads are copied once: changing them later does
        not change the model.
        """
        model: Model = _take(self._script.compile_model(*self._request(**options)))
        return model

    def _repr_svg_(self) -> "str | None":
        """The graph, as notebooks show it; nothing where the script does not compile by itself."""
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.compile()._repr_svg_()
            except CompileError:
                return None

    def save(
        self,
        path: "str | os.PathLike[str]",
        *,
        external_bytes: int = 0,
        quiet: bool = False,
        **options: "Any",
    ) -> None:
        """Writes the script as a model to a file, completely or not at all.

        Initializers of `external_bytes` and more go to a file beside it. Accepts the same
        parameters as `to_model_bytes`.
        """
        import os

        name = os.fspath(path)
        try:
            self._write(name, external_bytes, quiet, **options)
        except EvalError as error:
            raise os_error(error, name) from None

    def check(self) -> "list[dict[str, Any]]":
        """Returns the errors and warnings, each as a dict like those of `sardonyx check --json`.

        The script is compiled as a model if its annotations allow it, otherwise as a function.
        """
        import json

        found: list[dict[str, Any]] = json.loads(self._script.check())
        return found

    def _write(
        self, path: str, external_bytes: int = 0, quiet: bool = False, **options: "Any"
    ) -> int:
        """Writes the model, and initializers of so many bytes and more beside it; their size."""
        request = self._request(**options)
        size: int = _take(self._script.compile_file(path, external_bytes, quiet, *request))
        return size

    def _request(
        self,
        io_types: "Any" = None,
        input_types: "Sequence[Any] | Mapping[str, Any] | None" = None,
        output_types: "Sequence[Any] | None" = None,
        value_infos: "Mapping[str, Any] | None" = None,
        producer_name: str = "",
        producer_version: str = "",
        ir_version: int = 0,
        opset: "Opset | int" = 0,
        attributes: "Mapping[str, Any] | None" = None,
    ) -> "Any":
        """What the extension is asked for, as a tuple."""
        return (
            self._input_types(io_types, input_types, value_infos),
            list(output_types or ()),
            named_attributes(attributes),
            opset_version(opset),
            ir_version or 0,
            producer_name,
            producer_version,
        )

    def to_model_bytes(self, *types: "Any", **options: "Any") -> bytes:
        """Returns the script as the bytes of a ModelProto.

        `io_types` is the type of all inputs, or of all inputs and results if it is a type;
        `input_types` and `output_types` give the types separately, in order; `input_types` may be
        a dict by name. So is `value_infos`, in which names that are no inputs are ignored. `opset`
        is the version of ai.onnx to use instead of the one that the script imports, and
        `attributes` are the values of its attribute parameters.
        """
        result: bytes = _take(self._script.compile_bytes(*self._request(*types, **options)))
        return result

    # Its parameters are those of `_request`, whose errors name what has been called.
    to_model_bytes.__wrapped__ = _request  # type: ignore[attr-defined]
    _request.__qualname__ = to_model_bytes.__qualname__

    def to_model_proto(self, **options: "Any") -> "onnx.ModelProto | bytes":
        """Returns the script as a ModelProto if the onnx package is installed, otherwise as bytes.

        Accepts the same parameters as `to_model_bytes` and, if onnx is installed, `doc_string`,
        `domain` and `model_version` of the message. `opset_version` states the version of ai.onnx,
        as callers of onnxscript do; `opset` chooses it.
        """
        stated = options.pop("opset_version", None)
        package = _onnx()
        names = () if package is None else ("doc_string", "domain", "model_version")
        fields = {name: options.pop(name) for name in names if name in options}
        data = self.to_model_bytes(**options)
        if package is None:
            return data
        model: onnx.ModelProto = package.ModelProto.FromString(data)
        for name, value in fields.items():
            setattr(model, name, value)
        for entry in model.opset_import if stated is not None else ():
            if entry.domain == "" and entry.version != stated:
                raise ValueError(
                    f"opset_version={stated}, but `{self.name}` uses opset {entry.version} of "
                    f"ai.onnx; opset={stated} compiles it for another version"
                )
        return model

    def to_function_bytes(self) -> bytes:
        """Returns the script as the bytes of a FunctionProto."""
        result: bytes = _take(self._script.compile_function())
        return result

    def to_function_proto(self) -> "onnx.FunctionProto | bytes":
        """Returns the script as a FunctionProto if the onnx package is installed, otherwise as
        bytes."""
        data = self.to_function_bytes()
        onnx = _onnx()
        return data if onnx is None else onnx.FunctionProto.FromString(data)

    def _input_types(
        self,
        io_types: "Any",
        input_types: "Sequence[Any] | Mapping[str, Any] | None",
        value_infos: "Mapping[str, Any] | None",
    ) -> "dict[str, Any]":
        if io_types is None and not input_types and not value_infos:
            return {}
        if self._parameters is None:
            self._read_signature()
        inputs = [one.name for one in self._parameters or () if one.element_type is not None]
        if self._variadic is not None and input_types:
            code = self.__wrapped__.__code__
            rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
            fixed = sum(one.kind != KEYWORD_ONLY for one in self._parameters or ())
            more = [f"{rest}_{i}" for i in range(len(input_types) - len(inputs))]
            inputs[fixed:fixed] = more
        types: dict[str, Any] = {}
        from collections.abc import Mapping

        if isinstance(input_types, Mapping):
            unknown = [name for name in input_types if name not in inputs]
            if unknown:
                raise TypeError(f"{self.__name__} has no input {unknown[0]!r}: it has {inputs}")
            value_infos = {**(value_infos or {}), **input_types}
            input_types = None
        if io_types is not None:
            untyped = [name for name in inputs if name not in self.__wrapped__.__annotations__]
            # As in onnxscript, a bare FLOAT gives the element type only.
            is_bare = hasattr(io_types, "dtype") and getattr(io_types, "shape", ...) is None
            types.update(dict.fromkeys(untyped, io_types[...] if is_bare else io_types))
        if input_types:
            if len(input_types) > len(inputs):
                have = f"{len(inputs)} input" + "s" * (len(inputs) != 1)
                raise TypeError(f"{self.__name__} has {have}, got {len(input_types)} types")
            types.update(zip(inputs, input_types, strict=False))
        types.update({name: info for name, info in (value_infos or {}).items() if name in inputs})
        return types


def opset_version(opset: "Opset | int") -> int:
    """Of the parameter `opset` of what compiles."""
    if isinstance(opset, (int, Opset)):
        return opset if isinstance(opset, int) else opset.version
    raise TypeError(f"`opset` is a version, such as 21, or an Opset, not {opset!r}")


def named_attributes(attributes: "Mapping[str, Any] | None") -> "dict[str, Any]":
    """Of the parameter `attributes` of what compiles."""
    if attributes is not None and not hasattr(attributes, "keys"):
        raise TypeError(
            f'`attributes` has the values of attribute parameters by name, as in {{"alpha": 0.1}}, '
            f"not {attributes!r}"
        )
    return dict(attributes or {})


class BoundOnnxFunction(OnnxFunction):
    """A script that is a method of an object: `self` is known when it is compiled.

    Values that the body reads from `self` are constants of the model, like globals.
    """

    def __init__(self, script: OnnxFunction, owner: "Any") -> None:
        import types

        self.__dict__.update(script.__dict__)
        self.__dict__.pop("_script", None)  # the property below
        self.__self__ = owner
        self.__func__ = script
        self.__wrapped__ = types.MethodType(script.__wrapped__, owner)
        self._body = self.__wrapped__
        self._parameters = None  # without the first one

    @property
    def _script(self) -> "Any":
        # Made at each access: it holds the object where the garbage collector does not see it.
        return self.__func__._script.bind(self.__self__)

    def __reduce__(self) -> "str | tuple[Any, ...]":
        return (getattr, (self.__self__, self.__name__))

    def __get__(self, instance: "Any", owner: "type | None" = None) -> OnnxFunction:
        return self  # bound already


class TracedOnnxFunction(OnnxFunction):
    """A script function given by opset and function."""

    def __init__(self, opset: Opset, function: "Callable[..., Any]") -> None:
        super().__init__(function, opset)


def _rebuilt(
    kind: "type[OnnxFunction]",
    function: "Any",
    path: str,
    line: int,
    source: str,
    options: "tuple[Any, ...]",
    names: "dict[str, Any]",
) -> OnnxFunction:
    """A script that cloudpickle has stored with its source."""
    from ._sources import keep_text

    for name, value in names.items():
        function.__globals__.setdefault(name, value)
    keep_text(function, path, line, source)
    opset, default_opset, schemas, keywords = options
    made = kind.__new__(kind)
    OnnxFunction.__init__(made, function, opset, default_opset, schemas, **keywords)
    return made


def os_error(error: Exception, path: str) -> Exception:
    """The exception for a file that cannot be written: OSError if the system gives the reason."""
    import errno
    import os

    for number in errno.errorcode:
        if str(error).endswith(": " + os.strerror(number)):
            return OSError(number, os.strerror(number), path)
    return error


def _onnx() -> "ModuleType | None":
    """The onnx package if it is installed."""
    try:
        import onnx
    except ImportError:
        return None
    return onnx


def script(
    opset: "Opset | Callable[..., Any] | None" = None,
    default_opset: "Opset | None" = None,
    schemas: "Schemas | None" = None,
    **keywords: "Any",
) -> "Any":
    """Makes a Python function a script: `@script`, `@script()` or `@script(opset, ...)`.

    `opset` is the domain and version that the function itself belongs to, `default_opset` the opset
    of Python's operators in its body. With `inline`, calls from other scripts expand its body in
    place; with `caller_opset`, opsets of ai.onnx in the body are then replaced by the caller's
    opset. Arrays of `initializer_bytes` and more (by default 1024) are initializers of a model,
    named after the names that refer to them. What operators make of constants is computed for a
    model if it has at most `fold_bytes` (by default 0: it is left to the run). `ir_version`,
    `producer_name`, `producer_version` and `doc_string` are stored in models made from the script.
    `schemas` describes operators of other domains (`load_schemas`).
    """
    if type(opset) is type(script):
        return OnnxFunction(opset, None, default_opset, schemas, **keywords)
    if opset is not None and not hasattr(opset, "version"):
        raise TypeError(f"script takes an Opset, such as `sardonyx.opset21`, not {opset!r}")
    check_keywords(keywords)

    def decorate(function: "Callable[..., Any]") -> OnnxFunction:
        if type(function) is not type(script):
            raise TypeError(f"script takes a Python function, not {function!r}")
        return OnnxFunction(function, opset, default_opset, schemas, **keywords)  # type: ignore[arg-type]

    return decorate


def _from_source(text: str, name: "str | None" = None) -> OnnxFunction:
    """Runs a Python text that defines scripts, and returns the script of this name.

    Without a name it is the one that no other script of the text mentions. For texts that are in no
    file: those of `exec`, of the interactive prompt, and those that a program makes.
    """
    from ._sources import run_text

    names = run_text(text)
    scripts = {key: one for key, one in names.items() if isinstance(one, OnnxFunction)}
    own = {key: one for key, one in scripts.items() if one.__module__ == names["__name__"]}
    if name is not None and name not in own:
        raise ValueError(f"the text defines no script `{name}`{_listed(own)}")
    if name is not None:
        return own[name]
    used = {word for one in own.values() for word in one.function.__code__.co_names}
    left = [one for key, one in own.items() if key not in used]
    if len(left) != 1:
        problem = "more than one script, name one" if own else "no function with `@script()`"
        raise ValueError(f"the text defines {problem}{_listed(own)}")
    return left[0]


def _listed(scripts: "dict[str, OnnxFunction]") -> str:
    return ": it has " + ", ".join(f"`{name}`" for name in scripts) if scripts else ""


script.from_source = _from_source  # type: ignore[attr-defined]


def graph() -> "Callable[[Callable[..., Any]], OnnxClosure]":
    """Marks a function inside a script as the body of a Loop, Scan, If or SequenceMap."""
    return OnnxClosure
