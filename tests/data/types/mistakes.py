"""One mistake in each function, on the line that names it; editor/test_type_checkers.py has who sees it."""

import sardonyx
from sardonyx import BOOL, FLOAT, INT64, FLOAT7  # mistake: element type that does not exist
from sardonyx import opset13, script, opset99  # mistake: opset that does not exist
from sardonyx import opset21 as op
from sardonyx import scirpt  # mistake: misspelt public name


@script()
def one(X: FLOAT["N"], alpha: float = 1.0) -> FLOAT["N"]:
    return op.LeakyRelu(X, alpha=alpha)


@script()
def f01(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Rellu(X)  # mistake: misspelt operator


@script()
def f02(X: FLOAT["N"]) -> FLOAT["N"]:
    return opset13.Gelu(X)  # mistake: operator of a later opset


@script()
def f03(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Scaler(X)  # mistake: operator of another domain


@script()
def f04(X: FLOAT[1, 1, 2, 2]) -> FLOAT[1, 1, 4, 4]:
    return op.Upsample(X, [1.0, 1.0, 2.0, 2.0])  # mistake: deprecated operator


@script()
def f05(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Softmax(X, axes=0)  # mistake: misspelt attribute


@script()
def f06(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Softmax(X, 0)  # mistake: attribute by position


@script()
def f07(X: FLOAT["N", "N"]) -> FLOAT["N", "N"]:
    return op.MatMul(X)  # mistake: input is missing


@script()
def f08(X: FLOAT["N"]) -> FLOAT["M"]:
    return op.Concat(X, X)  # mistake: attribute is missing


@script()
def f09(X: FLOAT[1, 1, 4, 4], W: FLOAT[1, 1, 3, 3]) -> FLOAT[1, 1, 4, 4]:
    return op.Conv(X, W, auto_pad="SAME")  # mistake: word that the enumeration does not have


@script()
def f10(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Softmax(X, axis="0")  # mistake: string for an int


@script()
def f11(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Softmax(X, axis=0.5)  # mistake: float for an int


@script()
def f12(X: FLOAT[1, 1, 4, 4]) -> FLOAT[1, 1, 2, 2]:
    return op.MaxPool(X, kernel_shape=2)  # mistake: number for a list


@script()
def f13(X: FLOAT["N"]) -> FLOAT["M"]:
    return op.Concat(X, X, axis=[0])  # mistake: list for a number


@script()
def f14(X: FLOAT["N"]) -> INT64["N"]:
    return op.Cast(X, to="int64")  # mistake: string for an element type


@script()
def f15(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(A=X, C=X)  # mistake: input by a name that it does not have


@script()
def f16(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(X, A=X)  # mistake: input twice


@script()
def f17(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(X, one)  # mistake: script for a tensor


@script()
def f18(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(X, {"a": 1.0})  # mistake: dict for a tensor


@script()
def f19(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(X, op.Relu)  # mistake: operator that is not called


@script()
def f20(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(None)  # mistake: None for an input that is required


@script()
def f21(X: FLOAT["N"]) -> FLOAT["M"]:
    a, b, c = op.TopK(X, [2])  # mistake: too many results
    return a


@script()
def f22(X: FLOAT["N"]) -> FLOAT["M"]:
    y = op.TopK(X, [2]) + 1.0  # mistake: several results as one
    return y


@script()
def f23(X: FLOAT["N"]) -> FLOAT["M"]:
    a, b = op.Split(X, num_outputs=3)  # mistake: fewer names than num_outputs
    return a


@script()
def f24(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(X).reshape(-1)  # mistake: method that tensors do not have


@script()
def f25(X: FLOAT["N"]) -> INT64[1]:
    y = op.Relu(X)
    return op.Shape(y) + y.shpe[0]  # mistake: misspelt member of a result


@script()
def f26(X: FLOAT["N"]) -> FLOAT["N"]:
    y = op.Relu(X)
    return y(X)  # mistake: tensor that is called


@script()
def f27(X: FLOAT["N"]) -> FLOAT["N"]:
    return one()  # mistake: script without its input


@script()
def f28(X: FLOAT["N"]) -> FLOAT["N"]:
    return one(X, 1.0, X)  # mistake: too many arguments of a script


@script()
def f29(X: FLOAT["N"]) -> FLOAT["N"]:
    return one(X, beta=1.0)  # mistake: attribute that a script does not have


@script()
def f30(X: FLOAT["N"]) -> FLOAT["N"]:
    return one(X, alpha="1")  # mistake: string for a script's float


@script()
def f31(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(X, Z)  # mistake: name that is not defined


@script()
def f32(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]:
    if c:
        y = op.Relu(X)
    return y  # mistake: name that may not be bound


@script()
def f33(X: FLOAT["N"], k: int = 2) -> FLOAT["N"]:
    return X * float(k.shape[0])  # mistake: member of a number


@script()
def f34(X: FLOAT["N"]) -> FLOAT["N"]:
    parts = op.SequenceConstruct(X, X)
    return parts.shape  # mistake: sequence as a tensor


@script()
def f35(X: FLOAT["N"]) -> FLOAT["N"]:
    y = op.Relu(X)
    return y * (y.shape + 1)  # mistake: sum of a tuple and a number


@script()
def f36(X: FLOAT["N"]) -> FLOAT["M"]:
    return op.Concat([X, X], axis="0")  # mistake: string for an axis


@script()
def f37(X: FLOAT["N", 3], Y: FLOAT[4, 5]) -> FLOAT["N", 5]:
    return op.MatMul(X, Y)  # mistake: inner dimensions differ


@script()
def f38(X: FLOAT[3], Y: FLOAT[4]) -> FLOAT[4]:
    return op.Add(X, Y)  # mistake: shapes that do not broadcast


@script()
def f39(X: FLOAT["N", 3]) -> FLOAT["N", 3]:
    return op.Softmax(X, axis=2)  # mistake: axis out of range


@script()
def f40(X: FLOAT["N"], Y: INT64["N"]) -> FLOAT["N"]:
    return op.Add(X, Y)  # mistake: element types differ


@script()
def f41(X: FLOAT["N", 3]) -> FLOAT["N", 4]:
    return op.Relu(X)  # mistake: result differs from its annotation


@script()
def f42(X: FLOAT["N"]) -> tuple[FLOAT["N"], FLOAT["N"]]:
    return op.Relu(X)  # mistake: one result where two are annotated


@script(default_opset="21")  # mistake: string for an opset
def f43(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(X)


@script(producer="me")  # mistake: option that script does not have
def f44(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(X)


class Layer:
    @script()
    def forward(self, X: FLOAT["N"]) -> FLOAT["N"]:
        return op.Relu(X)


def uses() -> None:
    Layer().forward()  # mistake: method without its input
    one.to_model_protos()  # mistake: misspelt method of a script
    one.to_model_proto(input_type=[FLOAT[2]])  # mistake: misspelt option of a model
    one.opset.versions  # mistake: misspelt member of an opset
    sardonyx.load()  # mistake: path is missing
    sardonyx.lode("model.onnx")  # mistake: misspelt function of the package
