"""What each public name of onnxscript is tried with.

The same program runs with onnxscript and, as `python -m sardonyx`, with sardonyx: it prints the
results as JSON, which must be equal for a name to count as one that works.
"""

from __future__ import annotations

HEAD = '''\
import json, os, sys, tempfile
import numpy as np
import onnx
import onnx.reference
import onnxscript
from onnxscript import FLOAT, evaluator, graph, onnx_opset, onnx_types, script, tensor, values
from onnxscript import opset18 as op

X = np.array([-1.5, 0.0, 2.5], dtype=np.float32)

@script(values.Opset("my.domain", 1), default_opset=op)
def scaled(x: FLOAT["N"], alpha: float = 2.0) -> FLOAT["N"]:
    """Of the body."""
    return op.Relu(x) * alpha

@script(default_opset=op)
def summed(x: FLOAT["N"]):
    @graph()
    def step(total, item):
        total = op.Add(total, item)
        return total, op.Identity(total)
    zero = op.Constant(value_float=0.0)
    last, all_sums = op.Scan(zero, x, body=step, num_scan_inputs=1)
    return all_sums

def plain_function(x):
    return op.Add(op.Relu(x), x)

traced = values.TracedOnnxFunction(values.Opset("my.domain", 1), plain_function)

class Seen(evaluator.Evaluator):
    """Notes what is called."""
    def __init__(self):
        self.names = []
        self.inner = evaluator.OnnxReferenceRuntimeEvaluator()
    def eval_op(self, op, args, kwargs):
        self.names.append(op.name)
        return self.inner.eval_op(op, args, kwargs)
    def eval_function(self, function, args, kwargs):
        self.names.append(function.name)
        return self.inner.eval_function(function, args, kwargs)

def seen(call):
    one = Seen()
    with evaluator.default_as(one):
        call()
    return one.names

def with_evaluator(one):
    with evaluator.default_as(one):
        return plain(op.Mul(op.Add(X, X), X))

def set_and_back(one):
    before = evaluator.default()
    evaluator.set_default(one)
    try:
        return [evaluator.default() is one, plain(op.Add(X, X))]
    finally:
        evaluator.set_default(before)

def plain(value):
    """As JSON has it."""
    if isinstance(value, tensor.Tensor):
        value = value.value
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value

def interface(proto):
    return [proto.name, proto.domain, list(proto.input), list(proto.output), list(proto.attribute),
            [one.name for one in proto.attribute_proto]]

def run(model):
    return plain(onnx.reference.ReferenceEvaluator(model).run(None, {"x": X}))

def library(functions):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lib.onnx")
        onnxscript.export_onnx_lib(functions, path)
        return sorted(one.name for one in onnx.load(path).functions)

def kind(one):
    return [one.to_string(), int(one.dtype), one[2, "N"].to_type_proto().SerializeToString().hex(),
            one[...].to_type_proto().SerializeToString().hex()]

def versions(one):
    result = [one.domain, one.version]
    if one.domain == "" and one.version > 6:  # what both can evaluate
        result += [plain(one.Abs(X)), hasattr(one, "NoSuchOperator"), "Relu" in one]
    return result

found = {}
def tried(name, call):
    try:
        found[name] = plain(call())
    except Exception as error:
        found[name] = type(error).__name__
'''

OPERATOR = "values.Op(op, 'Add')"
TENSOR = "tensor.Tensor(X)"
REFERENCE = "evaluator.OnnxReferenceRuntimeEvaluator()"
NATIVE = "evaluator.ORTEvaluator()"
MIXED = "evaluator.ORTMixedEvaluator()"

TRIALS = {
    "script": "[plain(scaled(X)), plain(scaled(X, alpha=3.0)), scaled.__name__, scaled.__doc__]",
    "graph": "[plain(summed(X)), run(summed.to_model_proto())]",
    "OnnxFunction": "isinstance(scaled, onnxscript.OnnxFunction)",
    "TracedOnnxFunction": "isinstance(traced, onnxscript.TracedOnnxFunction)",
    "export_onnx_lib": "library([scaled])",
    "external_tensor": "onnxscript.external_tensor('w', 1, [2, 3], 'w.bin', offset=8, length=24)"
    ".SerializeToString().hex()",
    "DEBUG": "onnxscript.DEBUG",
    "OnnxFunction.name": "scaled.name",
    "OnnxFunction.domain": "scaled.domain",
    "OnnxFunction.opset": "[scaled.opset.domain, scaled.opset.version]",
    "OnnxFunction.graph": "[scaled.graph().name, [one.name for one in scaled.graph().inputs]]",
    "OnnxFunction.to_function_proto": "interface(scaled.to_function_proto())",
    "TracedOnnxFunction.name": "traced.name",
    "TracedOnnxFunction.domain": "traced.domain",
    "TracedOnnxFunction.opset": "[traced.opset.domain, traced.opset.version]",
    "TracedOnnxFunction.function_ir": "[traced.function_ir.name, len(traced.function_ir.inputs)]",
    "evaluator": "evaluator.__name__.rpartition('.')[2]",
    "onnx_opset": "onnx_opset.__name__.rpartition('.')[2]",
    "onnx_types": "onnx_types.__name__.rpartition('.')[2]",
    "tensor": "tensor.__name__.rpartition('.')[2]",
    "values": "values.__name__.rpartition('.')[2]",
    "values.OnnxClosure": "values.OnnxClosure.__name__",
    "values.OnnxFunction": "isinstance(scaled, values.OnnxFunction)",
    "values.TracedOnnxFunction": "plain(traced(X))",
    "values.Op.domain": f"{OPERATOR}.domain",
    "values.Op.name": f"{OPERATOR}.name",
    "values.Op.opset": f"[{OPERATOR}.opset.domain, {OPERATOR}.opset.version]",
    "values.Op.op_schema": f"[{OPERATOR}.op_schema.name, {OPERATOR}.op_schema.since_version]",
    "evaluator.OnnxReferenceRuntimeEvaluator": f"with_evaluator({REFERENCE})",
    "evaluator.ORTEvaluator": f"with_evaluator({NATIVE})",
    "evaluator.default_as": f"with_evaluator({REFERENCE})",
    "evaluator.set_default": f"set_and_back({REFERENCE})",
    "evaluator.Evaluator.eval_function": "seen(lambda: scaled(X))[:1]",
    "evaluator.Evaluator.eval_op": "seen(lambda: op.Add(X, X))",
    "tensor.Tensor.dtype": f"{TENSOR}.dtype == np.float32",
    "tensor.Tensor.is_scalar": f"[{TENSOR}.is_scalar, tensor.Tensor(np.array(1.0)).is_scalar]",
    "tensor.Tensor.onnx_dtype": f"int({TENSOR}.onnx_dtype)",
    "tensor.Tensor.rank": f"{TENSOR}.rank",
    "tensor.Tensor.shape": f"{TENSOR}.shape",
    "tensor.Tensor.value": f"{TENSOR}.value",
    "onnx_types.TensorType.to_string": "FLOAT[2, 'N'].to_string()",
    "onnx_types.TensorType.to_type_proto": "kind(FLOAT)",
    "onnx_types.TensorType.to_ir_type_and_shape": "repr(FLOAT[2, 'N'].to_ir_type_and_shape())",
    "onnx_types.ONNXType": "issubclass(FLOAT, onnx_types.ONNXType)",
    "onnx_types.ONNXType.to_string": "FLOAT[2, 'N'].to_string()",
    "onnx_types.ONNXType.to_type_proto": "kind(FLOAT)",
    "onnx_types.ONNXType.to_ir_type_and_shape": "repr(FLOAT[...].to_ir_type_and_shape())",
    "onnx_types.onnx_type_to_onnxscript_repr": "[onnx_types.onnx_type_to_onnxscript_repr("
    "one.to_type_proto(), reversible=True) for one in "
    "(FLOAT, FLOAT[...], FLOAT[2, 'N', None], onnxscript.INT64['N'])]",
    "onnx_opset.Opset": "[onnx_opset.Opset('', 18).version, onnx_opset.Opset('my', 1).domain]",
}
TRIALS |= {
    f"evaluator.{name}.eval_{what}": f"{one}.eval_{what}({call}, [X], {{}})"
    for name, one in (("OnnxReferenceRuntimeEvaluator", REFERENCE), ("ORTEvaluator", NATIVE),
                      ("ORTMixedEvaluator", MIXED))
    for what, call in (("op", "values.Op(op, 'Relu')"), ("function", "scaled"))
}  # fmt: skip


def trial_of(key: str) -> str | None:
    """The expression that tries a name, which is spelt as on the page."""
    if key in TRIALS:
        return TRIALS[key]
    name = key.rpartition(".")[2]
    module = "onnx_types" if name.isupper() else "onnx_opset"
    if name.isupper():
        return f"kind({module}.{name})"
    if name.startswith("opset"):
        return f"versions({module}.{name})"
    if name.startswith("Opset") and name != "Opset":
        older = f"isinstance({module}.{name.lower()}, {module}.{name})"
        return f"[versions({module}.{name}()), {older}]"
    return None


def program(keys: list[str]) -> str:
    lines = [f"tried({key!r}, lambda: {trial_of(key)})" for key in keys if trial_of(key)]
    return HEAD + "\n".join(lines) + "\nprint(json.dumps(found))\n"
