"""Small models with random weights: each with its arguments and the names of its dimensions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch.nn import functional as F  # noqa: N812


@dataclasses.dataclass
class Model:
    """`arguments(b, n)` makes inputs of a batch of b and a length of n."""

    module: nn.Module
    arguments: Callable[[int, int], tuple[Any, ...]]
    shapes: Any = None  # torch.export's dynamic_shapes


MODELS: dict[str, Callable[[], Model]] = {}
BATCH, LENGTH = "batch", "length"


def model(make: Callable[[], Model]) -> Callable[[], Model]:
    MODELS[make.__name__] = make
    return make


def images(b: int, _: int) -> tuple[torch.Tensor]:
    return (torch.randn(b, 3, 16, 16),)


def rows(width: int) -> Callable[[int, int], tuple[torch.Tensor]]:
    return lambda b, _: (torch.randn(b, width),)


def sequences(width: int) -> Callable[[int, int], tuple[torch.Tensor]]:
    return lambda b, n: (torch.randn(b, n, width),)


def words(b: int, n: int) -> tuple[torch.Tensor]:
    return (torch.randint(0, 50, (b, n)),)


FIRST = ({0: BATCH},)
BOTH = ({0: BATCH, 1: LENGTH},)


@model
def mlp() -> Model:
    layers = [nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Dropout(0.5), nn.Linear(16, 4)]
    return Model(nn.Sequential(*layers, nn.Softmax(-1)), rows(8), FIRST)


@model
def activations() -> Model:
    kinds = [nn.ReLU(), nn.SiLU(), nn.Hardswish(), nn.Mish(), nn.ELU(), nn.PReLU(),
             nn.Softplus(), nn.GELU("tanh"), nn.LeakyReLU(), nn.Tanhshrink(), nn.LogSigmoid(),
             nn.CELU()]  # fmt: skip

    class Activations(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kinds = nn.ModuleList(kinds)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return sum(kind(x) for kind in self.kinds)

    return Model(Activations(), rows(8), FIRST)


@model
def cnn() -> Model:
    layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
              nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding="same", groups=4), nn.Hardswish(),
              nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)]  # fmt: skip
    return Model(nn.Sequential(*layers), images, FIRST)


class ResidualBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


@model
def resnet() -> Model:
    layers = [nn.Conv2d(3, 8, 3, 2, 1), ResidualBlock(8), ResidualBlock(8)]
    return Model(nn.Sequential(*layers), images, FIRST)


@model
def unet() -> Model:
    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.Conv2d(3, 8, 3, padding=1)
            self.below = nn.Conv2d(8, 16, 3, padding=1)
            self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
            self.norm = nn.GroupNorm(2, 16)
            self.last = nn.Conv2d(16, 2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            side = torch.relu(self.down(x))
            x = torch.relu(self.below(F.max_pool2d(side, 2)))
            x = self.norm(torch.cat([self.up(x), side], dim=1))
            return F.interpolate(self.last(x), scale_factor=2.0, mode="bilinear")

    return Model(UNet(), images, FIRST)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.causal = heads, causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, n, width))


class Block(nn.Module):
    def __init__(self, width: int, causal: bool = False) -> None:
        super().__init__()
        self.attention = Attention(width, 2, causal)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@model
def attention() -> Model:
    return Model(Attention(8, 2, False), sequences(8), BOTH)


@model
def vit() -> Model:
    class ViT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, 8, 4, 4)
            self.token = nn.Parameter(torch.randn(1, 1, 8))
            self.places = nn.Parameter(torch.randn(1, 17, 8))
            self.blocks = nn.Sequential(Block(8), Block(8))
            self.head = nn.Linear(8, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
            return self.head(self.blocks(x)[:, 0])

    return Model(ViT(), images, FIRST)


@model
def gpt() -> Model:
    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(50, 8), nn.Embedding(64, 8)
            self.blocks = nn.Sequential(Block(8, True), Block(8, True))
            self.head = nn.Linear(8, 50, bias=False)
            self.head.weight = self.words.weight  # tied

        def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
            x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
            return {"logits": self.head(self.blocks(x))}

    return Model(GPT(), words, BOTH)


@model
def rotary_llama() -> Model:
    class Llama(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 8)
            self.norm = nn.RMSNorm(8)
            self.q, self.kv = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
            self.gate, self.up, self.down = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 8)

        def turned(self, x: torch.Tensor) -> torch.Tensor:
            places = torch.arange(x.shape[-2], dtype=torch.float32)
            angles = torch.outer(places, 1.0 / 100 ** (torch.arange(0, 4, 2).float() / 4))
            angles = torch.cat([angles, angles], dim=-1)
            half = torch.cat([-x[..., 2:], x[..., :2]], dim=-1)
            return x * angles.cos() + half * angles.sin()

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            x = self.words(ids)
            b, n, _ = x.shape
            y = self.norm(x)
            q = self.turned(self.q(y).view(b, n, 2, 4).transpose(1, 2))
            k, v = self.kv(y).view(b, n, 1, 8).transpose(1, 2).chunk(2, dim=-1)
            y = F.scaled_dot_product_attention(
                q, self.turned(k), v, is_causal=True, enable_gqa=True
            )
            x = x + y.transpose(1, 2).reshape(b, n, 8)
            return x + self.down(F.silu(self.gate(x)) * self.up(x))

    return Model(Llama(), words, BOTH)


@model
def encoder_layer() -> Model:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return Model(layer, sequences(8), BOTH)


@model
def masked_attention() -> Model:
    class Masked(nn.Module):
        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            allowed = mask[:, None, :].bool()
            scores = (x @ x.mT).masked_fill(~allowed, float("-inf"))
            return torch.softmax(scores, -1) @ x

    def arguments(b: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        mask = torch.ones(b, n, dtype=torch.int64)
        mask[:, -1] = 0
        return torch.randn(b, n, 8), mask

    return Model(Masked(), arguments, ({0: BATCH, 1: LENGTH}, {0: BATCH, 1: LENGTH}))


def recurrent(kind: Any, **options: Any) -> Model:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = kind(6, 5, batch_first=True, **options)

        def forward(self, x: torch.Tensor) -> Any:
            y, state = self.cells(x)
            return y, state[0] if isinstance(state, tuple) else state

    # torch.export fixes the length of recurrent networks.
    return Model(Recurrent(), lambda b, _: (torch.randn(b, 5, 6),), FIRST)


@model
def lstm() -> Model:
    return recurrent(nn.LSTM, num_layers=2, bidirectional=True)


@model
def gru() -> Model:
    return recurrent(nn.GRU, num_layers=2)


@model
def rnn() -> Model:
    return recurrent(nn.RNN)


@model
def lstm_cells() -> Model:
    class Cells(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.LSTMCell(6, 6)
            self.gru = nn.GRUCell(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h, c = self.cell(x)
            h, c = self.cell(x, (h, c))
            return self.gru(c, h)

    return Model(Cells(), rows(6), FIRST)


@model
def bag() -> Model:
    class Bag(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bag = nn.EmbeddingBag(50, 6, mode="mean")

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.bag(ids)

    return Model(Bag(), lambda b, _: words(b, 5), FIRST)


@model
def in_place() -> Model:
    class InPlace(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = x.clone()
            left, right = y[:, :4], y[:, 4:]
            left.mul_(2)
            y[:, 0] = 7.0
            right += left
            y.t()[1].zero_()
            y.view(-1)[0:2].add_(1.0)
            return y, left * 1

    return Model(InPlace(), rows(8), FIRST)


@model
def counted_state() -> Model:
    class Counted(nn.Module):
        count: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1.0)
            return x * self.count

    return Model(Counted(), rows(4), FIRST)


@model
def condition() -> Model:
    class Condition(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda v: self.linear(v), lambda v: v - 1.0, (x,))

    return Model(Condition(), rows(4), FIRST)


@model
def loop() -> Model:
    class Loop(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            start = torch.zeros((), dtype=torch.int64)
            _, y = while_loop(
                lambda i, v: (i < 5) & (v.abs().max() < 100), lambda i, v: (i + 1, v * 2.0 + 1.0),
                (start, x),
            )  # fmt: skip
            return y

    return Model(Loop(), rows(4), FIRST)


@model
def found_places() -> Model:
    class Found(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            places = torch.nonzero(x > 0)
            return x[x > 0.5].sum() + places.sum()

    return Model(Found(), rows(8), FIRST)


@model
def nested_inputs() -> Model:
    class Nested(nn.Module):
        def forward(self, data: dict[str, torch.Tensor], pair: tuple[torch.Tensor, int]) -> Any:
            x, k = pair
            return {"sum": data["a"] + x * k, "parts": [data["b"], x.split(2, dim=1)[1]]}

    def arguments(b: int, _: int) -> tuple[Any, ...]:
        return {"a": torch.randn(b, 4), "b": torch.randn(b, 4)}, (torch.randn(b, 4), 3)

    shapes = ({"a": {0: BATCH}, "b": {0: BATCH}}, ({0: BATCH}, None))
    return Model(Nested(), arguments, shapes)


@model
def statistics() -> Model:
    class Statistics(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            top, places = x.topk(2, dim=-1)
            mixed = torch.einsum("bi,bj->bij", x, x).tril()
            hot = F.one_hot(x.argmax(-1), 8).float()
            return x.std(-1), x.var(0), top, places, mixed, x.cumsum(-1), hot, x.norm(dim=-1)

    return Model(Statistics(), rows(8), FIRST)


@model
def pyramid() -> Model:
    class Pyramid(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1d(3, 4, 3, dilation=2)
            self.norm = nn.InstanceNorm2d(3, affine=True)

        def forward(self, x: torch.Tensor) -> Any:
            y = F.pad(self.norm(x), (1, 1, 2, 2), mode="reflect")
            rows = self.conv(y.flatten(2))
            return (
                F.adaptive_avg_pool2d(y, (3, 5)),
                F.interpolate(y, size=(9, 7)),
                rows,
                x.roll(1, -1),
            )

    return Model(Pyramid(), images, FIRST)


@model
def half_precision() -> Model:
    return Model(nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).half(),
                 lambda b, _: (torch.randn(b, 8).half(),), FIRST)  # fmt: skip


@model
def graph_network() -> Model:
    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            messages = self.linear(x)[edges[0]]
            total = torch.zeros_like(x).index_add_(0, edges[1], messages)
            count = torch.zeros(x.shape[0]).scatter_add(0, edges[1], torch.ones(edges.shape[1]))
            return total / count.clamp(min=1).unsqueeze(-1)

    def arguments(b: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(b, 6), torch.randint(0, b, (2, n))

    return Model(Graph(), arguments, ({0: "nodes"}, {1: "edges"}))


@model
def complex_numbers() -> Model:
    class Complex(nn.Module):
        turns: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            angles = torch.outer(torch.arange(16.0), 1.0 / 100 ** (torch.arange(0, 4) / 4))
            self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

        def forward(self, x: torch.Tensor) -> Any:
            pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
            turned = torch.view_as_real(pairs * self.turns[: x.shape[1]]).flatten(2)
            spectrum = torch.fft.rfft(x, dim=-1)
            return (
                turned,
                spectrum.abs(),
                torch.fft.irfft(spectrum * 2, n=8),
                torch.fft.fft2(x).real,
            )

    return Model(Complex(), sequences(8), BOTH)


@model
def spectrogram() -> Model:
    class Spectrogram(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            window = torch.hann_window(16)
            return torch.stft(x, 16, 4, window=window, return_complex=True).abs().log1p()

    return Model(Spectrogram(), lambda b, _: (torch.randn(b, 64),), FIRST)


@model
def scanned() -> Model:
    class Scanned(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            def step(total: torch.Tensor, row: torch.Tensor) -> Any:
                total = total * 0.5 + row
                return total, total * 2

            return scan(step, torch.zeros(4), x, dim=0)

    return Model(Scanned(), lambda b, _: (torch.randn(b, 4),), FIRST)


@model
def mixture_of_experts() -> Model:
    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(6, 4)
            self.up = nn.Parameter(torch.randn(4, 6, 8))
            self.down = nn.Parameter(torch.randn(4, 8, 6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            share, chosen = torch.softmax(self.gate(x), -1).topk(2, dim=-1)
            share = share / share.sum(-1, keepdim=True)
            y = torch.relu(torch.einsum("bi,bkij->bkj", x, self.up[chosen]))
            y = torch.einsum("bkj,bkji->bki", y, self.down[chosen])
            return (y * share.unsqueeze(-1)).sum(1)

    return Model(Experts(), rows(6), FIRST)


@model
def detection_head() -> Model:
    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.boxes, self.classes = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 5, 1)

        def forward(self, x: torch.Tensor) -> Any:
            boxes = self.boxes(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 4)
            scores = self.classes(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 5).sigmoid()
            best, kind = scores.max(-1)
            top, places = best.topk(7, dim=1)
            chosen = boxes.gather(1, places.unsqueeze(-1).expand(-1, -1, 4))
            corners = torch.stack([chosen[..., 0] - chosen[..., 2] / 2,
                                   chosen[..., 1] + chosen[..., 3] / 2], -1)  # fmt: skip
            return {"boxes": corners.clamp(-1, 1), "scores": top, "kinds": kind.gather(1, places)}

    return Model(Head(), images, FIRST)


@model
def state_space() -> Model:
    class StateSpace(nn.Module):
        """A selective state space, by a running sum of logarithms."""

        def __init__(self) -> None:
            super().__init__()
            self.step, self.mix = nn.Linear(4, 4), nn.Conv1d(4, 4, 3, padding=2, groups=4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = F.silu(self.mix(x.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)
            decay = F.softplus(self.step(y))
            total = decay.cumsum(1)
            return (torch.exp(total) * y).cumsum(1) * torch.exp(-total)

    return Model(StateSpace(), sequences(4), BOTH)


@model
def quantized() -> Model:
    import torch.ao.quantization.fx._decomposed

    ops = torch.ops.quantized_decomposed

    class Quantized(nn.Module):
        """As pt2e writes it, with int8 weights."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("codes", torch.randint(-100, 100, (3, 4), dtype=torch.int8))
            self.register_buffer("scales", torch.tensor([0.1, 0.2, 0.3]))
            self.register_buffer("zeros", torch.tensor([0, 1, -2]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = ops.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
            x = ops.dequantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
            weight = ops.dequantize_per_channel(
                self.codes, self.scales, self.zeros, 0, -128, 127, torch.int8
            )
            y = ops.quantize_per_tensor(F.linear(x, weight), 0.5, 0, 0, 200, torch.uint8)
            return ops.dequantize_per_tensor(y, 0.5, 0, 0, 200, torch.uint8)

    return Model(Quantized(), rows(4), FIRST)
