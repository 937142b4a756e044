"""Still more models of the zoo, of families that the others do not have, small and random."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_rows
from torch.nn import functional as F  # noqa: N812
from zoo import BATCH, BOTH, FIRST, LENGTH, Model, images, model, rows, sequences, words


def network(forward: Any, **parts: Any) -> nn.Module:
    """A module of this function, and of the modules and tensors that it uses."""
    made: nn.Module = type("Network", (nn.Module,), {"forward": forward})()
    for name, one in parts.items():
        if isinstance(one, torch.Tensor) and not isinstance(one, nn.Parameter):
            made.register_buffer(name, one)
        else:
            setattr(made, name, one)
    return made


def mlp_of(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Linear(a, b), nn.SiLU()]
    return nn.Sequential(*layers[:-1])


# --- Images


@model
def yolo_head() -> Model:
    """Boxes by offsets in a grid, and anchors."""

    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.conv(x)
        b, _, h, w = y.shape
        y = y.view(b, 3, 9, h, w).permute(0, 1, 3, 4, 2)
        gy, gx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack([gx, gy], -1).float()
        middle = (y[..., :2].sigmoid() * 2 - 0.5 + grid) * 8
        size = (y[..., 2:4].sigmoid() * 2) ** 2 * self.anchors[:, None, None]
        boxes = torch.cat([middle - size / 2, middle + size / 2], -1)
        scores = y[..., 4:5].sigmoid() * y[..., 5:].sigmoid()
        return boxes.flatten(1, 3), scores.flatten(1, 3).amax(-1)

    anchors = torch.tensor([[10.0, 13.0], [16.0, 30.0], [33.0, 23.0]])
    return Model(network(forward, conv=nn.Conv2d(3, 27, 3, 2, 1), anchors=anchors), images, FIRST)


@model
def convnext_block() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        y = self.depth(x).permute(0, 2, 3, 1)
        y = self.down(F.gelu(self.up(self.norm(y)))) * self.scale
        return x + y.permute(0, 3, 1, 2)

    parts = {"depth": nn.Conv2d(3, 3, 7, padding=3, groups=3), "norm": nn.LayerNorm(3, 1e-6),
             "up": nn.Linear(3, 12), "down": nn.Linear(12, 3),
             "scale": nn.Parameter(torch.ones(3) * 0.1)}  # fmt: skip
    return Model(network(forward, **parts), images, FIRST)


@model
def mobilenet_block() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        y = F.hardswish(self.bn(self.expand(x)))
        y = F.hardswish(self.depth(y))
        y = y * F.hardsigmoid(self.gate(y.mean((2, 3), keepdim=True)))
        return self.project(y) + x

    parts = {"expand": nn.Conv2d(3, 12, 1, bias=False), "bn": nn.BatchNorm2d(12, 0.001),
             "depth": nn.Conv2d(12, 12, 5, 1, 2, groups=12), "gate": nn.Conv2d(12, 12, 1),
             "project": nn.Conv2d(12, 3, 1)}  # fmt: skip
    return Model(network(forward, **parts), images, FIRST)


@model
def densenet() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        for norm, conv in zip(self.norms, self.convs, strict=True):
            x = torch.cat([x, conv(F.relu(norm(x)))], 1)
        return F.avg_pool2d(x, 2, ceil_mode=True).flatten(1)

    norms = nn.ModuleList(nn.BatchNorm2d(3 + 4 * i) for i in range(3))
    convs = nn.ModuleList(nn.Conv2d(3 + 4 * i, 4, 3, padding=1) for i in range(3))
    return Model(network(forward, norms=norms, convs=convs), images, FIRST)


@model
def shufflenet() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        a, b = self.first(x).chunk(2, dim=1)
        y = torch.cat([a, self.depth(F.relu(self.point(b)))], 1)
        return F.channel_shuffle(y, 2)

    parts = {"first": nn.Conv2d(3, 8, 1), "point": nn.Conv2d(4, 4, 1),
             "depth": nn.Conv2d(4, 4, 3, padding=1, groups=4)}  # fmt: skip
    return Model(network(forward, **parts), images, FIRST)


@model
def super_resolution() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        y = F.pixel_shuffle(self.conv(F.pad(x, (1, 1, 1, 1), mode="reflect")), 2)
        return (y + F.interpolate(x, scale_factor=2, mode="bicubic")).clamp(0, 1)

    return Model(network(forward, conv=nn.Conv2d(3, 12, 3)), images, FIRST)


@model
def spatial_transformer() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        theta = self.where(F.adaptive_avg_pool2d(x, 4).flatten(1)).view(-1, 2, 3) * 0.1
        theta = theta + torch.eye(2, 3)
        grid = F.affine_grid(theta, [x.shape[0], 3, 8, 8], align_corners=False)
        return F.grid_sample(x, grid, padding_mode="border", align_corners=False)

    return Model(network(forward, where=nn.Linear(48, 6)), images, FIRST)


@model
def style_transfer() -> Model:
    """The statistics of one image in place of another's."""

    def forward(self: Any, x: torch.Tensor, style: torch.Tensor) -> torch.Tensor:
        a, b = self.conv(x), self.conv(style)
        mean, std = b.mean((2, 3), keepdim=True), b.std((2, 3), keepdim=True)
        return F.leaky_relu(F.instance_norm(a) * std + mean, 0.2)

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 3, 12, 12), torch.randn(b, 3, 10, 10)

    return Model(network(forward, conv=nn.Conv2d(3, 6, 3)), arguments, (*FIRST, *FIRST))


@model
def pixel_cnn() -> Model:
    """A convolution that sees only what was drawn before."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        weight = self.conv.weight.clone()
        weight[:, :, 1, 2:] = 0
        weight[:, :, 2:] = 0
        y = F.conv2d(x, weight, self.conv.bias, padding=1)
        return F.log_softmax(self.head(F.relu(y)).unflatten(1, (3, 4)), dim=2)

    parts = {"conv": nn.Conv2d(3, 8, 3), "head": nn.Conv2d(8, 12, 1)}
    return Model(network(forward, **parts), images, FIRST)


@model
def antialiased_thumbnails() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        y = F.interpolate(x, size=(7, 5), mode="bilinear", antialias=True)
        return (y - self.mean[:, None, None]) / self.std[:, None, None]

    parts = {"mean": torch.tensor([0.4, 0.5, 0.6]), "std": torch.tensor([0.2, 0.3, 0.25])}
    return Model(network(forward, **parts), images, FIRST)


# --- Sequences


class CrossAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.q, self.kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.out, self.heads = nn.Linear(width, width), heads

    def forward(self, x: torch.Tensor, y: torch.Tensor, causal: bool = False) -> torch.Tensor:
        def split(v: torch.Tensor) -> torch.Tensor:
            return v.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        k, v = self.kv(y).chunk(2, -1)
        z = F.scaled_dot_product_attention(split(self.q(x)), split(k), split(v), is_causal=causal)
        return self.out(z.transpose(1, 2).flatten(2))


@model
def whisper() -> Model:
    """An encoder of spectra, with convolutions and sinusoids, and a decoder of words."""

    def forward(self: Any, sound: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        x = F.gelu(self.conv2(F.gelu(self.conv1(sound)))).transpose(1, 2)
        places = torch.arange(x.shape[1])[:, None] * self.speeds
        x = x + torch.cat([places.sin(), places.cos()], 1)
        x = x + self.own(self.norm1(x), self.norm1(x))
        y = self.words(ids) + self.places[: ids.shape[1]]
        y = y + self.masked(self.norm2(y), self.norm2(y), True)
        y = y + self.cross(self.norm3(y), x)
        return y @ self.words.weight.T

    def arguments(b: int, n: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 6, 2 * n), torch.randint(0, 20, (b, 4))

    speeds = torch.exp(-math.log(10000) / 3 * torch.arange(4))
    parts = {"conv1": nn.Conv1d(6, 8, 3, padding=1), "conv2": nn.Conv1d(8, 8, 3, 2, 1),
             "own": CrossAttention(8, 2), "masked": CrossAttention(8, 2), "speeds": speeds,
             "cross": CrossAttention(8, 2), "words": nn.Embedding(20, 8),
             "places": nn.Parameter(torch.randn(16, 8)), "norm1": nn.LayerNorm(8),
             "norm2": nn.LayerNorm(8), "norm3": nn.LayerNorm(8)}  # fmt: skip
    length = torch.export.Dim("half", min=2, max=64)
    return Model(network(forward, **parts), arguments, ({0: BATCH, 2: 2 * length}, {0: BATCH}))


@model
def conformer_block() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        x = x + 0.5 * self.first(x)
        x = x + self.attention(x, x)
        y = F.glu(self.point(x.transpose(1, 2)), dim=1)
        y = F.silu(self.norm(self.depth(y))).transpose(1, 2)
        return F.layer_norm(x + y + 0.5 * self.second(x), (8,))

    parts = {"first": mlp_of(8, 16, 8), "second": mlp_of(8, 16, 8), "point": nn.Conv1d(8, 16, 1),
             "attention": CrossAttention(8, 2), "norm": nn.BatchNorm1d(8),
             "depth": nn.Conv1d(8, 8, 3, padding=1, groups=8)}  # fmt: skip
    return Model(network(forward, **parts), sequences(8), BOTH)


@model
def perceiver() -> Model:
    """A few learned vectors that look at a sequence of any length."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        latents = self.latents.expand(x.shape[0], -1, -1)
        latents = latents + self.look(latents, x)
        return self.head((latents + self.think(latents, latents)).mean(1))

    parts = {"latents": nn.Parameter(torch.randn(1, 4, 8)), "look": CrossAttention(8, 2),
             "think": CrossAttention(8, 2), "head": nn.Linear(8, 3)}  # fmt: skip
    return Model(network(forward, **parts), sequences(8), BOTH)


@model
def temporal_convolutions() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.transpose(1, 2)
        for i, conv in enumerate(self.convs):
            y = y + F.relu(conv(F.pad(y, (2**i * 2, 0))))
        return self.head(y[..., -1])

    convs = nn.ModuleList(
        nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 8, 3, dilation=2**i)) for i in range(3)
    )
    return Model(network(forward, convs=convs, head=nn.Linear(8, 2)), sequences(8), BOTH)


@model
def retention() -> Model:
    """Attention that decays with the distance, without a softmax."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        places = torch.arange(x.shape[1])
        apart = (places[:, None] - places[None, :]).float()
        decay = torch.where(apart >= 0, 0.9 ** apart.clamp(min=0), 0.0)
        y = (q @ k.transpose(1, 2) * decay) @ v
        return F.group_norm(y.flatten(0, 1), 2).view_as(y) * F.silu(self.gate(x))

    parts = {"qkv": nn.Linear(8, 24), "gate": nn.Linear(8, 8)}
    return Model(network(forward, **parts), sequences(8), BOTH)


@model
def rwkv() -> Model:
    """A recurrence with a numerator and a denominator, step by step."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        k, v = self.key(x).transpose(0, 1), self.value(x).transpose(0, 1)
        zero = torch.zeros_like(k[0])

        def step(state: Any, one: Any) -> Any:
            (a, b), (key, value) = state, one
            e = key.clamp(max=5).exp()
            y = (a + e * self.bonus.exp() * value) / (b + e * self.bonus.exp())
            decay = torch.exp(-self.decay.exp())
            return [a * decay + e * value, b * decay + e], y

        _, y = scan(step, [zero, zero + 0.0], [k, v])
        return self.out(y.transpose(0, 1) * torch.sigmoid(self.gate(x)))

    parts = {"key": nn.Linear(6, 6), "value": nn.Linear(6, 6), "gate": nn.Linear(6, 6),
             "out": nn.Linear(6, 6), "bonus": torch.randn(6), "decay": torch.randn(6)}  # fmt: skip
    return Model(network(forward, **parts), sequences(6), BOTH)


@model
def viterbi() -> Model:
    """The best path through a chain: a scan forwards, and one backwards."""

    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        emissions = self.score(x).transpose(0, 1).detach()

        def step(best: Any, one: Any) -> Any:
            values, places = (best.unsqueeze(2) + self.moves).max(1)
            return values + one, places

        def back(tag: Any, places: Any) -> Any:
            before = places.gather(1, tag.unsqueeze(1)).squeeze(1)
            return before, tag.clone()

        last, places = scan(step, emissions[0].clone(), emissions[1:])
        value, tag = last.max(1)
        first, rest = scan(back, tag, places.flip(0))
        path = torch.cat([rest, first.unsqueeze(0)]).flip(0)
        return value, path.transpose(0, 1)

    parts = {"score": nn.Linear(6, 5), "moves": torch.randn(5, 5)}
    return Model(network(forward, **parts), sequences(6), BOTH)


@model
def greedy_ctc() -> Model:
    """As many symbols as there are: the length of the result is not known before."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        best = self.head(x[0]).argmax(-1)
        is_new = torch.cat([torch.ones(1, dtype=torch.bool), best[1:] != best[:-1]])
        return best[is_new & (best != 0)]

    return Model(network(forward, head=nn.Linear(6, 3)), sequences(6), BOTH)


@model
def beam_step() -> Model:
    def forward(self: Any, scores: torch.Tensor, x: torch.Tensor) -> Any:
        logits = self.head(x).log_softmax(-1)
        total = (scores.unsqueeze(-1) + logits).flatten(1)
        values, places = total.topk(3, dim=-1)
        beams, tokens = places // 11, places % 11
        kept = x.gather(1, beams.unsqueeze(-1).expand(-1, -1, x.shape[-1]))
        return {"scores": values, "beams": beams, "tokens": tokens, "states": kept}

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 3), torch.randn(b, 3, 6)

    return Model(network(forward, head=nn.Linear(6, 11)), arguments, (*FIRST, *FIRST))


# --- Tables, sets, points, graphs


@model
def deep_fm() -> Model:
    """Factorisation machines beside a network, over sparse fields."""

    def forward(self: Any, fields: torch.Tensor) -> torch.Tensor:
        vectors = self.vectors(fields + self.offsets)
        square = vectors.sum(1) ** 2 - (vectors**2).sum(1)
        wide = self.wide(fields + self.offsets).sum((1, 2))
        return torch.sigmoid(wide + 0.5 * square.sum(1) + self.deep(vectors.flatten(1)).squeeze(1))

    def arguments(b: int, _: int) -> tuple[torch.Tensor]:
        return (torch.randint(0, 10, (b, 3)),)

    parts = {"vectors": nn.Embedding(30, 4), "wide": nn.Embedding(30, 1),
             "deep": mlp_of(12, 8, 1), "offsets": torch.tensor([0, 10, 20])}  # fmt: skip
    return Model(network(forward, **parts), arguments, FIRST)


@model
def point_net() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        turn = self.turn(x.transpose(1, 2)).amax(2).view(-1, 3, 3) + torch.eye(3)
        y = self.features((x @ turn).transpose(1, 2))
        return self.head(y.max(dim=2).values)

    parts = {"turn": nn.Conv1d(3, 9, 1), "features": nn.Conv1d(3, 8, 1), "head": nn.Linear(8, 4)}
    return Model(network(forward, **parts), sequences(3), BOTH)


@model
def deep_sets() -> Model:
    def forward(self: Any, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        inside = torch.arange(x.shape[1])[None, :] < lengths[:, None]
        y = self.each(x).masked_fill(~inside.unsqueeze(-1), 0.0)
        return self.all(torch.cat([y.sum(1) / lengths.unsqueeze(1), y.amax(1)], -1))

    def arguments(b: int, n: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, n, 4), torch.arange(b) % n + 1

    parts = {"each": mlp_of(4, 8, 8), "all": mlp_of(16, 8, 2)}
    return Model(network(forward, **parts), arguments, (*BOTH, *FIRST))


@model
def pooled_edges() -> Model:
    """Messages along edges, of which each node keeps the greatest."""

    def forward(self: Any, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        messages = self.message(torch.cat([x[source], x[target] - x[source]], -1))
        start = torch.full((x.shape[0], 8), -math.inf)
        index = target.unsqueeze(-1).expand_as(messages)
        best = start.scatter_reduce(0, index, messages, "amax")
        best = torch.where(best == -math.inf, 0.0, best)
        degree = torch.zeros(x.shape[0]).index_add(0, target, torch.ones(target.shape[0]))
        return best / degree.clamp(min=1).unsqueeze(-1)

    def arguments(b: int, n: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b + 3, 4), torch.randint(0, b + 3, (2, n))

    shapes = ({0: "nodes"}, {1: "edges"})
    return Model(network(forward, message=mlp_of(8, 8)), arguments, shapes)


@model
def graph_segments() -> Model:
    """Several graphs in one: a softmax and a sum within each."""

    def forward(self: Any, x: torch.Tensor, graph: torch.Tensor) -> torch.Tensor:
        scores = self.score(x).squeeze(-1)
        top = torch.full((4,), -math.inf).index_reduce(0, graph, scores, "amax")
        weight = (scores - top[graph]).exp()
        total = torch.zeros(4).scatter_add(0, graph, weight)
        weight = weight / total[graph]
        return torch.zeros(4, 4).index_add(0, graph, x * weight.unsqueeze(-1))

    def arguments(_: int, n: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(n + 4, 4), torch.arange(n + 4) % 4

    shapes = ({0: "nodes"}, {0: "nodes"})
    return Model(network(forward, score=nn.Linear(4, 1)), arguments, shapes)


@model
def nearest_clusters() -> Model:
    """One step of k-means."""

    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        nearest = torch.cdist(x, self.centres).argmin(1)
        onehot = F.one_hot(nearest, 4).float()
        count = onehot.sum(0).clamp(min=1)
        return nearest, (onehot.T @ x) / count.unsqueeze(1)

    return Model(network(forward, centres=torch.randn(4, 6)), rows(6), FIRST)


@model
def vq_vae() -> Model:
    def forward(self: Any, x: torch.Tensor) -> dict[str, torch.Tensor]:
        z = self.encode(x)
        flat = z.permute(0, 2, 3, 1).reshape(-1, 4)
        away = (flat**2).sum(1, keepdim=True) - 2 * flat @ self.codes.T + (self.codes**2).sum(1)
        code = away.argmin(1)
        q = self.codes[code].view(z.shape[0], *z.shape[2:], 4).permute(0, 3, 1, 2)
        return {"image": torch.tanh(self.decode(q)), "codes": code.view(z.shape[0], -1),
                "loss": F.mse_loss(z, q)}  # fmt: skip

    parts = {"encode": nn.Conv2d(3, 4, 4, 4), "decode": nn.ConvTranspose2d(4, 3, 4, 4),
             "codes": nn.Parameter(torch.randn(8, 4))}  # fmt: skip
    return Model(network(forward, **parts), images, FIRST)


@model
def coupling_flow() -> Model:
    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x @ self.mix.T
        total = torch.linalg.slogdet(self.mix).logabsdet.expand(x.shape[0])
        for net in self.nets:
            a, b = x.chunk(2, 1)
            scale, shift = net(a).chunk(2, 1)
            x = torch.cat([b * scale.tanh().exp() + shift, a], 1)
            total = total + scale.tanh().sum(1)
        return x, total - 0.5 * (x**2).sum(1)

    parts = {"nets": nn.ModuleList([mlp_of(3, 8, 6), mlp_of(3, 8, 6)]),
             "mix": torch.randn(6, 6)}  # fmt: skip
    return Model(network(forward, **parts), rows(6), FIRST)


# --- Policies, physics, statistics


@model
def dueling_network() -> Model:
    def forward(self: Any, x: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = F.relu(self.body(x))
        value, advantage = self.value(y), self.advantage(y)
        q = value + advantage - advantage.mean(1, keepdim=True)
        q = q.masked_fill(~legal, -1e9)
        return q, q.argmax(1)

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 6), (torch.arange(b * 4) % 3 != 0).view(b, 4)

    parts = {"body": nn.Linear(6, 8), "value": nn.Linear(8, 1), "advantage": nn.Linear(8, 4)}
    return Model(network(forward, **parts), arguments, (*FIRST, *FIRST))


@model
def squashed_gaussian() -> Model:
    """The policy of soft actor-critic, with its noise as an input."""

    def forward(self: Any, x: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mean, log_std = self.body(x).chunk(2, -1)
        log_std = log_std.clamp(-5, 2)
        normal = torch.distributions.Normal(mean, log_std.exp(), validate_args=False)
        y = mean + noise * normal.scale
        log_prob = normal.log_prob(y) - 2 * (math.log(2) - y - F.softplus(-2 * y))
        return torch.tanh(y), log_prob.sum(-1)

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 6), torch.randn(b, 2)

    return Model(network(forward, body=mlp_of(6, 8, 4)), arguments, (*FIRST, *FIRST))


@model
def adaptive_solver() -> Model:
    """A differential equation in steps whose size depends on the error."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        def goes_on(t: Any, _h: Any, _y: Any) -> Any:
            return t < 1.0

        def step(t: Any, h: Any, y: Any) -> Any:
            k1 = torch.tanh(y @ self.field)
            k2 = torch.tanh((y + h * k1) @ self.field)
            error = (h * (k2 - k1)).abs().amax()
            is_fine = error < 0.05
            y = torch.where(is_fine, y + h * 0.5 * (k1 + k2), y)
            t = torch.where(is_fine, t + h, t)
            h = torch.where(is_fine, h * 1.5, h * 0.5)
            return t, torch.minimum(h, 1.0 - t + 1e-6), y

        start = (torch.zeros(()), torch.full((), 0.25), x)
        return while_loop(goes_on, step, start)[2]

    return Model(network(forward, field=torch.randn(4, 4) * 0.5), rows(4), FIRST)


@model
def mapped_rows() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        return map_rows(lambda row: torch.softmax(self.layer(row), -1).cumsum(0), x)

    return Model(network(forward, layer=nn.Linear(4, 4)), sequences(4), BOTH)


@model
def radiance_field() -> Model:
    """Colours along rays: encoded places, densities, what light is left."""

    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scaled = x.unsqueeze(-1) * 2.0 ** torch.arange(4)
        encoded = torch.cat([x, scaled.sin().flatten(-2), scaled.cos().flatten(-2)], -1)
        out = self.body(encoded)
        alpha = 1 - torch.exp(-F.softplus(out[..., 0]) * 0.1)
        left = torch.cumprod(1 - alpha + 1e-10, -1).roll(1, -1)
        left[:, 0] = 1.0
        weight = alpha * left
        depth = (weight * torch.linspace(1, 2, x.shape[1])).sum(1)
        return (weight.unsqueeze(-1) * out[..., 1:].sigmoid()).sum(1), depth

    return Model(
        network(forward, body=mlp_of(27, 16, 4)), lambda b, _: (torch.randn(b, 5, 3),), FIRST
    )


@model
def kalman_filter() -> Model:
    def forward(self: Any, mean: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, ...]:
        p = self.move @ self.spread @ self.move.T + torch.eye(4) * 0.1
        s = self.look @ p @ self.look.T + torch.eye(2) * 0.2
        gain = torch.linalg.solve(s, self.look @ p).T
        mean = mean @ self.move.T
        mean = mean + (seen - mean @ self.look.T) @ gain.T
        return mean, (torch.eye(4) - gain @ self.look) @ p

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 4), torch.randn(b, 2)

    parts = {"move": torch.randn(4, 4) * 0.4, "look": torch.randn(2, 4), "spread": torch.eye(4)}
    return Model(network(forward, **parts), arguments, (*FIRST, *FIRST))


@model
def gaussian_process() -> Model:
    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def kernel(a: Any, b: Any) -> Any:
            return torch.exp(-0.5 * torch.cdist(a, b) ** 2)

        low = torch.linalg.cholesky(kernel(self.places, self.places) + 0.1 * torch.eye(6))
        cross = kernel(self.places, x)
        half = torch.linalg.solve_triangular(low, cross, upper=False)
        weights = torch.cholesky_solve(self.values.unsqueeze(1), low)
        return (cross.T @ weights).squeeze(1), 1.0 - (half**2).sum(0)

    parts = {"places": torch.randn(6, 3), "values": torch.randn(6)}
    return Model(network(forward, **parts), rows(3), FIRST)


@model
def principal_components() -> Model:
    """By singular values; what comes out does not depend on the signs of the vectors."""

    def forward(_: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        middle = x.mean(1, keepdim=True)
        _, s, vh = torch.linalg.svd(x - middle, full_matrices=False)
        top = vh[:, :2]
        return (x - middle) @ top.transpose(1, 2) @ top + middle, s**2 / 6

    def arguments(b: int, _: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, 7, 4) * torch.tensor([4.0, 2.0, 1.0, 0.5]),)

    return Model(network(forward), arguments, FIRST)


@model
def whitening() -> Model:
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        away = x - x.mean(0)
        values, vectors = torch.linalg.eigh(away.T @ away / x.shape[0] + 0.1 * torch.eye(4))
        return away @ (vectors * values.rsqrt()) @ vectors.T

    return Model(network(forward), rows(4), FIRST)


# --- Signals


@model
def cepstrum() -> Model:
    """Spectra of a sound in mel bands, and their cosine transform."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        spectrum = torch.stft(x, 16, 8, window=self.window, return_complex=True).abs() ** 2
        return self.cosines @ torch.log(self.bands @ spectrum + 1e-6)

    def arguments(b: int, _: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, 80),)

    k = torch.arange(6)
    cosines = torch.cos(math.pi / 6 * (k[None, :] + 0.5) * k[:4, None])
    parts = {"window": torch.hann_window(16), "bands": torch.rand(6, 9), "cosines": cosines}
    return Model(network(forward, **parts), arguments, FIRST)


@model
def envelope() -> Model:
    """Hilbert's transform."""

    def forward(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        analytic = torch.fft.ifft(torch.fft.fft(x) * self.sides)
        return analytic.abs(), torch.atan2(analytic.imag, analytic.real)

    sides = torch.tensor([1.0] + [2.0] * 7 + [1.0] + [0.0] * 7)
    return Model(network(forward, sides=sides), rows(16), FIRST)


@model
def recursive_filter() -> Model:
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        def step(state: Any, one: Any) -> Any:
            z1, z2 = state
            y = 0.2 * one + z1
            return [0.3 * one + 0.4 * y + z2, 0.1 * one - 0.2 * y], y

        zero = torch.zeros(x.shape[0])
        _, y = scan(step, [zero, zero.clone()], x.T)
        return y.T

    def arguments(b: int, n: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, n),)

    return Model(network(forward), arguments, BOTH)


@model
def learned_filters() -> Model:
    """Band passes whose edges are weights."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        t = torch.arange(-7, 8) / 16.0
        low, high = self.low.abs()[:, None], (self.low.abs() + self.width.abs())[:, None]
        bands = 2 * high * torch.sinc(2 * high * t) - 2 * low * torch.sinc(2 * low * t)
        bands = bands * torch.hamming_window(15, periodic=False)
        return torch.log1p(F.max_pool1d(F.conv1d(x, bands.unsqueeze(1)).abs(), 3))

    def arguments(b: int, _: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, 1, 64),)

    parts = {"low": nn.Parameter(torch.rand(4)), "width": nn.Parameter(torch.rand(4))}
    return Model(network(forward, **parts), arguments, FIRST)


# --- Types


@model
def double_precision() -> Model:
    def arguments(b: int, _: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, 6, dtype=torch.float64),)

    layers = [nn.Linear(6, 8), nn.Softplus(), nn.LayerNorm(8), nn.Linear(8, 2)]
    return Model(nn.Sequential(*layers).double(), arguments, FIRST)


@model
def half_transformer() -> Model:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x), self.norm(x))
        return F.softmax(self.head(x), -1)

    def arguments(b: int, n: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, n, 8).half(),)

    parts = {"attention": CrossAttention(8, 2), "norm": nn.LayerNorm(8), "head": nn.Linear(8, 4)}
    return Model(network(forward, **parts).half(), arguments, BOTH)


@model
def siamese() -> Model:
    def forward(self: Any, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x, y = F.normalize(self.body(a), dim=-1), F.normalize(self.body(b), dim=-1)
        return F.cosine_similarity(x, y), F.pairwise_distance(x, y), (x @ y.T * 10).softmax(-1)

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(b, 6), torch.randn(b, 6)

    return Model(network(forward, body=mlp_of(6, 8, 4)), arguments, (*FIRST, *FIRST))


@model
def sentence_encoder() -> Model:
    """Byte-pair words in, one vector out: the mean over what is no padding."""

    def forward(self: Any, ids: torch.Tensor) -> torch.Tensor:
        mask = (ids != 0).unsqueeze(-1)
        x = self.words(ids)
        x = self.layer(x, src_key_padding_mask=(ids == 0))
        return F.normalize((x * mask).sum(1) / mask.sum(1).clamp(min=1), dim=-1)

    def arguments(b: int, n: int) -> tuple[torch.Tensor]:
        ids = words(b, n)[0]
        ids[:, 0] = 1
        ids[0, -1] = 0
        return (ids,)

    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
    shapes = ({0: BATCH, 1: LENGTH},)
    return Model(network(forward, words=nn.Embedding(50, 8), layer=layer), arguments, shapes)
