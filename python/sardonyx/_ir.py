"""Scripts and types as objects of onnx_ir, for programs that were written for onnxscript."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import onnx


def function_ir(proto: "onnx.FunctionProto") -> "Any":
    """The function as an onnx_ir.Function."""
    import onnx_ir

    return onnx_ir.serde.deserialize_function(proto)


def type_and_shape(proto: "onnx.TypeProto") -> "Any":
    """The type as an onnx_ir.TypeAndShape."""
    import onnx_ir

    return onnx_ir.TypeAndShape(
        onnx_ir.serde.deserialize_type_proto_for_type(proto),
        onnx_ir.serde.deserialize_type_proto_for_shape(proto),
    )
