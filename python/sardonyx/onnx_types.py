"""The tensor types for annotations: `FLOAT` (a scalar), `FLOAT[2, "N"]`, `FLOAT[...]` (any shape).

They are classes, made when they are first asked for.
"""

import sys

from ._core import annotation_dims, element_type_number, numpy_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import onnx

    from ._element_types import *  # type: ignore[import-not-found,unused-ignore]  # noqa: F403

    tensor_type_registry: "dict[ElementType, type[TensorType]]"
else:
    from ._type_names import Any, np, onnx

# The numbers of TensorProto.DataType.
_NUMBERS = {
    "FLOAT": 1,
    "UINT8": 2,
    "INT8": 3,
    "UINT16": 4,
    "INT16": 5,
    "INT32": 6,
    "INT64": 7,
    "STRING": 8,
    "BOOL": 9,
    "FLOAT16": 10,
    "DOUBLE": 11,
    "UINT32": 12,
    "UINT64": 13,
    "COMPLEX64": 14,
    "COMPLEX128": 15,
    "BFLOAT16": 16,
    "FLOAT8E4M3FN": 17,
    "FLOAT8E4M3FNUZ": 18,
    "FLOAT8E5M2": 19,
    "FLOAT8E5M2FNUZ": 20,
    "UINT4": 21,
    "INT4": 22,
    "FLOAT4E2M1": 23,
    "FLOAT8E8M0": 24,
    "UINT2": 25,
    "INT2": 26,
    "FLOAT6E2M3": 27,
    "FLOAT6E3M2": 28,
}
TYPE_NAMES = tuple(_NUMBERS)


# Floating-point, integer and unsigned types, as onnx_ir.DataType defines them.
_FLOATING = frozenset((1, 10, 11, 16, 17, 18, 19, 20, 23, 24, 27, 28))
_INTEGER = frozenset((2, 3, 4, 5, 6, 7, 12, 13, 21, 22, 25, 26))
_UNSIGNED = frozenset((2, 4, 8, 9, 12, 13, 21, 25))
_BITS = {
    **dict.fromkeys((2, 3, 9, 17, 18, 19, 20, 24), 8),
    **dict.fromkeys((4, 5, 10, 16), 16),
    **dict.fromkeys((1, 6, 12), 32),
    **dict.fromkeys((7, 11, 13, 14), 64),
    15: 128,
    **dict.fromkeys((21, 22, 23), 4),
    **dict.fromkeys((25, 26), 2),
    **dict.fromkeys((27, 28), 6),
}


class ElementType(int):
    """An element type: its number in TensorProto.DataType, and equal to its NumPy dtype.

    It is hashed as the number: onnx and onnx_ir find it so, and a set of NumPy's own does not.
    """

    is_onnx_element_type = True
    name: str

    def __new__(cls, name: str) -> "ElementType":
        self = super().__new__(cls, _NUMBERS[name])
        self.name = name
        return self

    @property
    def dtype(self) -> "np.dtype[np.generic]":
        """The NumPy dtype."""
        return numpy_dtype(int(self))

    @property
    def value(self) -> int:
        """The number in TensorProto.DataType."""
        return int(self)

    @property
    def bitwidth(self) -> int:
        """The bits of one element."""
        if self not in _BITS:
            raise TypeError(f"elements of {self.name} have no fixed size")
        return _BITS[self]

    def numpy(self) -> "np.dtype[np.generic]":
        """The NumPy dtype."""
        return self.dtype

    def is_integer(self) -> bool:
        """Whether it is a type of integers, of any width, with or without a sign."""
        return self in _INTEGER

    def is_floating_point(self) -> bool:
        """Whether it is a type of floating-point numbers, of any width."""
        return self in _FLOATING

    def is_signed(self) -> bool:
        """Whether its numbers can be negative."""
        return self not in _UNSIGNED

    def __getattr__(self, name: str) -> "Any":
        # Other members of NumPy's dtype: kind, itemsize.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return int(self) == int(other)
        if isinstance(other, str):
            return bool(self.dtype.name == other)
        return int(self) == element_type_number(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> "tuple[type[ElementType], tuple[str]]":
        return (ElementType, (self.name,))


# Also subclasses of the exceptions that onnxscript raises.
class _ShapeTwiceError(TypeError, ValueError):
    pass


class _NoInstanceError(TypeError, NotImplementedError):
    pass


class TensorTypeMeta(type):
    """Makes `FLOAT["N"]` a type."""

    dtype: ElementType
    shape: object
    _shaped: "dict[object, Any]"

    def __getitem__(cls, shape: object) -> "Any":
        if cls.shape is not None:
            raise _ShapeTwiceError(f"{cls!r} has a shape already")
        if shape is not Ellipsis:
            shape = _dims(cls, shape)
        shaped = cls._shaped.get(shape)
        if shaped is None:
            import copyreg

            copyreg.pickle(TensorTypeMeta, _reduced)
            body = {"dtype": cls.dtype, "shape": shape, "__module__": __name__}
            shaped = TensorTypeMeta(cls.__name__, (cls,), body)
            # As signatures and `typing` show it; without dots, which separate names.
            shaped.__qualname__ = repr(shaped).replace("...", "Ellipsis")
            cls._shaped[shape] = shaped
        return shaped

    def __repr__(cls) -> str:
        if cls.shape is None:
            return cls.__name__
        if cls.shape is Ellipsis:
            return f"{cls.__name__}[...]"
        dims = cls.shape if isinstance(cls.shape, tuple) else (cls.shape,)
        return f"{cls.__name__}[{', '.join(map(repr, dims))}]"


def _dims(cls: TensorTypeMeta, given: object) -> object:
    """The dimensions; a lone one stays as it is, and a string may hold several."""
    dims: list[object] = []
    for dim in given if isinstance(given, tuple) else (given,):
        is_size = isinstance(dim, int) and not isinstance(dim, bool) and dim >= 0
        if isinstance(dim, str) and not dim.isidentifier():
            dims += annotation_dims(dim)
        elif is_size or isinstance(dim, str) or dim is None:
            dims.append(dim)
        elif dim is Ellipsis:
            annotation_dims("...")  # raises
        else:
            raise TypeError(
                f"{dim!r} is not a dimension of {cls.__name__}: use a size, a name, or None; "
                f"{cls.__name__}[...] for any shape"
            )
    is_lone = len(dims) == 1 and dims[0] is not None and not isinstance(given, tuple)
    return dims[0] if is_lone else tuple(dims)


class TensorType(metaclass=TensorTypeMeta):
    """A tensor of an element type; the base of `FLOAT` and its like."""

    shape = None

    def __init__(self, *_: object, **__: object) -> None:
        raise _NoInstanceError(
            f"{type(self)!r} is a type for annotations, it has no instances; "
            "`sardonyx.Tensor(values)` makes a tensor"
        )

    @classmethod
    def to_string(cls) -> str:
        """The type as operator schemas write it: `tensor(float)`."""
        names = {1: "float", 11: "double"}
        return f"tensor({names.get(int(cls.dtype), cls.dtype.name.lower())})"

    @classmethod
    def to_type_proto(cls) -> "onnx.TypeProto":
        """The type as a TypeProto of the onnx package."""
        from onnx import helper

        shape: object = cls.shape
        if shape is None:
            shape = ()
        elif shape is Ellipsis:
            shape = None
        elif not isinstance(shape, tuple):
            shape = (shape,)
        return helper.make_tensor_type_proto(int(cls.dtype), shape)

    @classmethod
    def to_ir_type_and_shape(cls) -> "Any":
        """The type as an onnx_ir.TypeAndShape."""
        from ._ir import type_and_shape

        return type_and_shape(cls.to_type_proto())


class OPTIONAL:
    """A value that may be absent when the model runs: `OPTIONAL[FLOAT["N"]]`.

    `typing.Optional` is an input that a call may leave out.
    """

    __class_getitem__: object = classmethod(type(list[int]))


class SPARSE:
    """A tensor of which only some elements are stored: `SPARSE[FLOAT["N"]]`."""

    __class_getitem__: object = classmethod(type(list[int]))


ONNXType = TensorType  # as onnxscript names the base, too


def onnx_type_to_onnxscript_repr(
    onnx_type: "onnx.TypeProto",
    *,
    reversible: bool = True,  # noqa: ARG001
) -> str:
    """A TypeProto of a tensor as an annotation: `FLOAT[2,'N']`.

    An annotation always says the rank, so `reversible` changes nothing.
    """
    tensor = onnx_type.tensor_type
    if not onnx_type.HasField("tensor_type"):
        raise NotImplementedError(f"no annotation says this type: {onnx_type}")
    name = next((name for name, at in _NUMBERS.items() if at == tensor.elem_type), None)
    if name is None:
        raise ValueError(f"{tensor.elem_type} is not the number of an element type")
    if not tensor.HasField("shape"):
        return f"{name}[...]"
    words = {
        "dim_value": lambda dim: str(dim.dim_value),
        "dim_param": lambda dim: repr(dim.dim_param),
    }
    dims = [words.get(dim.WhichOneof("value"), lambda _: "None")(dim) for dim in tensor.shape.dim]
    return f"{name}[{','.join(dims)}]" if dims else name


def _with_shape(name: str, shape: object) -> "Any":
    return getattr(sys.modules[__name__], name)[shape]


def _reduced(cls: TensorTypeMeta) -> "str | tuple[Any, ...]":
    """How a type is pickled: by its name, and with its shape."""
    return cls.__name__ if cls.shape is None else (_with_shape, (cls.__name__, cls.shape))


def _make(name: str) -> "Any":
    body: dict[str, object] = {
        "dtype": ElementType(name),
        "shape": None,
        "_shaped": {},
        "__module__": __name__,
        "__doc__": f"A tensor of {name}: `{name}` is a scalar, `{name}[2, 'N']` has two axes.",
    }
    return TensorTypeMeta(name, (TensorType,), body)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _NUMBERS:
            value: object = _make(name)
        elif name.partition("[")[0] in _NUMBERS:
            # cloudpickle looks for a type under its qualified name; if it did not find it, it would
            # store a copy of the class, which would be another type in the reading process.
            plain = getattr(sys.modules[__name__], name.partition("[")[0])
            for shaped in plain._shaped.values():
                if shaped.__qualname__ == name:
                    return shaped
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        elif name == "tensor_type_registry":
            value = {ElementType(one): globals().get(one) or __getattr__(one) for one in _NUMBERS}
        elif name.startswith("_"):  # Python itself asks for these
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        else:
            from ._absent import absent

            raise absent(__name__, name, __dir__(), sys._getframe(1))
        globals()[name] = value
        return value


def __dir__() -> "list[str]":
    return [*_NUMBERS, "OPTIONAL", "SPARSE", "ElementType", "TensorType", "tensor_type_registry"]
