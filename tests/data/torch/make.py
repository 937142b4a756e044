"""Makes the files of this folder: what torch.onnx writes for three modules, without the weights.

    python tests/data/torch/make.py [NAME ...]

needs torch and onnxscript (requirements/torch.txt). Tensors of more than 64 elements lose their
elements, which the tests draw anew; the files are the rest, compressed.
"""

from __future__ import annotations

import io
import lzma
import pathlib
import sys

import onnx
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent


class Bottleneck(nn.Module):
    """Of ResNet-50: 1x1, 3x3, 1x1, each normalised, and a shortcut."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width),
        )  # fmt: skip
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != 4 * width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet50() -> nn.Module:
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]  # fmt: skip
    channels = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for i in range(count):
            layers.append(Bottleneck(channels, 64 << stage, 2 if i == 0 and stage else 1))
            channels = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class Tagger(nn.Module):
    """Two layers of LSTM in both directions over embedded words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.lstm = nn.LSTM(32, 24, 2, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(48, 7)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.tags(self.lstm(self.words(words))[0]).log_softmax(-1)


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 12, nn.LayerNorm(64), enable_nested_tensor=False)


MODULES = {
    "resnet50": (resnet50, torch.zeros(2, 3, 64, 64)),
    "lstm": (Tagger, torch.zeros(2, 9, dtype=torch.int64)),
    "transformer": (transformer, torch.zeros(2, 8, 64)),
}


def strip(tensor: onnx.TensorProto) -> None:
    count = 1
    for dim in tensor.dims:
        count *= dim
    if count > 64:
        tensor.raw_data = b""
        assert not (tensor.float_data or tensor.int64_data or tensor.int32_data)


def main() -> None:
    torch.manual_seed(0)
    for name in sys.argv[1:] or MODULES:
        make, example = MODULES[name]
        module = make().eval()
        for dynamo in (True, False):
            data = io.BytesIO()
            if dynamo:
                shapes = ({0: torch.export.Dim("batch")},)
                program = torch.onnx.export(
                    module, (example,), dynamo=True, dynamic_shapes=shapes, opset_version=20
                )
                proto = program.model_proto
            else:
                torch.onnx.export(
                    module, (example,), data, dynamo=False, opset_version=17,
                    input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}},
                )  # fmt: skip
                proto = onnx.load_from_string(data.getvalue())
            for tensor in proto.graph.initializer:
                strip(tensor)
            for node in proto.graph.node:
                for attribute in node.attribute:
                    if attribute.type == onnx.AttributeProto.TENSOR:
                        strip(attribute.t)
            way = "export" if dynamo else "trace"
            target = HERE / f"{name}_{way}.onnx.xz"
            target.write_bytes(lzma.compress(proto.SerializeToString()))
            print(target, target.stat().st_size)


if __name__ == "__main__":
    main()
