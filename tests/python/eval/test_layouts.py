"""Values that stay with their channels innermost between convolutions: whatever reads them, the
results and messages are those of ONNX's order."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from eval.test_node_cases import Evaluator
from peers import ort_session

RANDOM = np.random.default_rng(11)
EVALUATOR = Evaluator()


class Net:
    """A model with weights, built node by node; each value has so many axes and channels."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.channels = {"x": 3}
        self.sizes = {"x": 1}  # strides before it, 0 for one place: what goes together

    def weight(self, *dims: int) -> str:
        name = f"w{len(self.weights)}"
        values = RANDOM.integers(-2, 3, dims).astype(np.float32) / 4
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        value = next(name for name in inputs if name in self.channels)
        self.channels[name] = self.channels[value]
        self.sizes[name] = 0 if kind == "GlobalAveragePool" else self.sizes[value]
        return name

    def conv(self, x: str, out: int, kernel: int, stride: int = 1, groups: int = 1) -> str:
        spatial = [kernel] * (self.rank - 2)
        w = self.weight(out, self.channels[x] // groups, *spatial)
        y = self.op(
            "Conv",
            x,
            w,
            *([self.weight(out)] if out % 2 else []),
            strides=[stride] * len(spatial),
            pads=[kernel // 2] * 2 * len(spatial),
            group=groups,
        )
        self.channels[y], self.sizes[y] = out, self.sizes[x] * stride
        return y

    def model(self, outputs: list[str], shape: list[int | str]) -> bytes:
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self.weights,
        )
        imports = [helper.make_opsetid("", 18)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()


def grow(net: Net, choose: random.Random) -> str:
    """One more node, which reads values that are there."""
    x = choose.choice(list(net.channels))
    channels, alike = (
        net.channels[x],
        [
            name
            for name in net.channels
            if (net.channels[name], net.sizes[name]) == (net.channels[x], net.sizes[x])
        ],
    )
    spatial = [1] * (net.rank - 2)
    kinds = {
        "conv": lambda: net.conv(
            x, choose.choice([1, 3, 4, 8, 33]), choose.choice([1, 3]), choose.choice([1, 1, 2])
        ),
        "depthwise": lambda: net.conv(x, channels, 3, groups=channels),
        "relu": lambda: net.op(choose.choice(["Relu", "Sigmoid", "HardSwish", "Abs"]), x),
        "add": lambda: net.op("Add", x, choose.choice(alike)),
        "scale": lambda: net.op("Mul", x, net.weight(channels, *spatial)),
        "shift": lambda: net.op("Add", net.weight(1, channels, *spatial), x),
        "prelu": lambda: net.op("PRelu", x, net.weight(channels, *spatial)),
        "number": lambda: net.op("Mul", x, net.weight()),
        "pool": lambda: net.op(
            choose.choice(["MaxPool", "AveragePool"]),
            x,
            kernel_shape=[3] * len(spatial),
            pads=[1] * 2 * len(spatial),
        ),
        "gate": lambda: net.op("Mul", x, net.op("Sigmoid", net.op("GlobalAveragePool", x))),
        "squeeze": lambda: net.op(
            "Mul", x, net.conv(net.conv(net.op("GlobalAveragePool", x), 4, 1), channels, 1)
        ),
        "norm": lambda: net.op(
            "BatchNormalization",
            x,
            net.weight(channels),
            net.weight(channels),
            net.weight(channels),
            variance(net, channels),
        ),
        "concat": lambda: concat(net, x, choose.choice(list(net.channels))),
        "flip": lambda: flip(net, x),
    }
    return kinds[choose.choice(list(kinds))]()


def variance(net: Net, channels: int) -> str:
    """Weights that are positive."""
    name = net.weight(channels)
    net.weights[-1] = numpy_helper.from_array(np.full(channels, 1.5, np.float32), name)
    return name


def flip(net: Net, x: str) -> str:
    """There and back; what lies between is no value of the net."""
    flipped = net.op("Transpose", x)
    back = net.op("Transpose", flipped)
    del net.channels[flipped]
    return back


def concat(net: Net, x: str, y: str) -> str:
    """Along the channels, where the sizes are the same."""
    if net.sizes[x] != net.sizes[y] or net.channels[x] + net.channels[y] > 64:
        return net.op("Neg", x)
    both = net.op("Concat", x, y, axis=1)
    net.channels[both] = net.channels[x] + net.channels[y]
    return both


def onnx_runtime(model: bytes, x: np.ndarray) -> list[np.ndarray]:
    return list(ort_session(model).run(None, {"x": x}))


def random_net(seed: int) -> tuple[Net, random.Random]:
    """And what further choices come from."""
    choose = random.Random(seed)
    net = Net(rank=choose.choice([3, 4]))
    for _ in range(choose.randint(4, 24)):
        grow(net, choose)
    return net, choose


def picture(*dims: int) -> np.ndarray:
    return RANDOM.integers(-4, 5, dims).astype(np.float32) / 4


@pytest.mark.parametrize("seed", range(60))
def test_random_nets_are_those_of_onnx_runtime(seed: int) -> None:
    net, choose = random_net(seed)
    names = [node.output[0] for node in net.nodes]
    some = names[-1:] + choose.sample(names[:-1], min(2, len(names) - 1))
    x = picture(choose.choice([1, 2]), 3, *([17, 12][: net.rank - 2]))
    whole = dict(zip(names, onnx_runtime(net.model(names, list(x.shape)), x), strict=True))
    for outputs in (names[-1:], some, names):
        model = net.model(outputs, ["n", 3, *([None] * (net.rank - 2))])
        results = EVALUATOR.run(onnx.ModelProto.FromString(model), {"x": x})
        for name, got in zip(outputs, results, strict=True):
            bound = 1e-4 * max(1.0, float(np.abs(whole[name]).max(initial=0)))
            np.testing.assert_allclose(got, whole[name], rtol=1e-4, atol=bound, err_msg=name)


def chain_of_convolutions() -> Net:
    """From "x" to "v2"."""
    net = Net(rank=4)
    net.conv(net.op("Relu", net.conv("x", 8, 3)), 8, 3)
    return net


def test_a_failure_tells_the_shapes_of_onnx() -> None:
    net = chain_of_convolutions()
    net.conv("v0", 8, 3, stride=2)
    net.op("Relu", net.op("Add", "v2", "v3"))
    model = onnx.ModelProto.FromString(net.model(["v5"], ["n", 3, "h", "w"]))
    shapes = r"FLOAT\[1, ?8, ?9, ?7\], FLOAT\[1, ?8, ?5, ?4\]"
    with pytest.raises(RuntimeError, match=shapes):
        EVALUATOR.run(model, {"x": picture(1, 3, 9, 7)})


def test_a_pool_without_inputs_is_an_error() -> None:
    net = chain_of_convolutions()
    net.nodes.append(helper.make_node("MaxPool", [], ["v3"], kernel_shape=[2, 2]))
    model = onnx.ModelProto.FromString(net.model(["v2", "v3"], ["n", 3, "h", "w"]))
    with pytest.raises(RuntimeError, match="MaxPool"):
        EVALUATOR.run(model, {"x": picture(1, 3, 9, 7)})
