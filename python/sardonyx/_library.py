"""Protobuf messages around scripts; all of this needs the onnx package."""

from ._script import OnnxFunction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx
else:
    from ._type_names import Sequence, onnx


def external_tensor(
    name: str,
    data_type: int,
    dims: "Sequence[int]",
    location: str,
    offset: "int | None" = None,
    length: "int | None" = None,
    checksum: "str | None" = None,
    basepath: "str | None" = None,
) -> "onnx.TensorProto":
    """A TensorProto whose elements lie in the file `location`."""
    import onnx

    tensor = onnx.TensorProto(name=name, data_type=int(data_type), dims=dims)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entries = {
        "location": location,
        "offset": offset,
        "length": length,
        "checksum": checksum,
        "basepath": basepath,
    }
    for key, value in entries.items():
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def export_onnx_lib(functions: "Sequence[OnnxFunction]", filename: str) -> None:
    """Writes the functions as a library: a model whose graph is empty."""
    import onnx
    from onnx import helper

    protos = []
    imports: dict[str, int] = {}
    for function in functions:
        proto = onnx.FunctionProto.FromString(function.to_function_bytes())
        protos.append(proto)
        imports.setdefault(proto.domain, function.opset.version)
        for opset in proto.opset_import:
            imports[opset.domain] = max(imports.get(opset.domain, 0), opset.version)
    model = helper.make_model(
        helper.make_graph([], "functions", [], []),
        functions=protos,
        opset_imports=[helper.make_opsetid(*one) for one in imports.items()],
        producer_name="sardonyx",
    )
    onnx.save(model, filename)
