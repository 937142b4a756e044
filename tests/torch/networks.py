"""More models of the zoo: networks as their papers and libraries write them, much smaller."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from zoo import BATCH, BOTH, FIRST, LENGTH, Block, Model, images, model, rows, sequences, words


@model
def swin_block() -> Model:
    """Attention in shifted windows, with a bias by relative places."""

    class Swin(nn.Module):
        bias_of: torch.Tensor
        mask: torch.Tensor

        def __init__(self, size: int = 8, window: int = 4, heads: int = 2) -> None:
            super().__init__()
            self.window, self.heads, self.shift = window, heads, window // 2
            self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
            self.merge = nn.Linear(32, 16, bias=False)
            self.bias = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads))
            axis = torch.arange(window)
            places = torch.stack(torch.meshgrid(axis, axis, indexing="ij")).flatten(1)
            apart = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0) + window - 1
            self.register_buffer("bias_of", apart[..., 0] * (2 * window - 1) + apart[..., 1])
            regions = torch.zeros(1, size, size, 1)
            cuts = (slice(0, -window), slice(-window, -self.shift), slice(-self.shift, None))
            for count, (a, b) in enumerate((a, b) for a in cuts for b in cuts):
                regions[:, a, b] = count
            region = self.windows(regions).squeeze(-1)
            apart = region.unsqueeze(1) - region.unsqueeze(2)
            self.register_buffer("mask", apart.masked_fill(apart != 0, -100.0))

        def windows(self, x: torch.Tensor) -> torch.Tensor:
            b, h, w, c = x.shape
            n = self.window
            x = x.view(b, h // n, n, w // n, n, c).permute(0, 1, 3, 2, 4, 5)
            return x.contiguous().view(-1, n * n, c)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            b, h, w, c = x.shape
            n = self.window
            y = torch.roll(self.norm(x), shifts=(-self.shift, -self.shift), dims=(1, 2))
            y = self.windows(y)
            qkv = self.qkv(y).reshape(-1, n * n, 3, self.heads, c // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            scores = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1)
            bias = self.bias[self.bias_of.view(-1)].view(n * n, n * n, -1).permute(2, 0, 1)
            scores = scores + bias.unsqueeze(0)
            count = self.mask.shape[0]
            scores = scores.view(-1, count, self.heads, n * n, n * n)
            scores = scores + self.mask.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, self.heads, n * n, n * n).softmax(-1)
            y = self.out((scores @ v).transpose(1, 2).reshape(-1, n * n, c))
            y = y.view(b, h // n, w // n, n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
            x = x + torch.roll(y, shifts=(self.shift, self.shift), dims=(1, 2))
            parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
            return self.merge(torch.cat(parts, -1))

    return Model(Swin(), lambda b, _: (torch.randn(b, 8, 8, 8),), FIRST)


@model
def t5_attention() -> Model:
    """Buckets of relative places, as T5 counts them."""

    class T5(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Embedding(8, 2)
            self.q, self.k, self.v = (nn.Linear(8, 8, bias=False) for _ in range(3))
            self.scale = nn.Parameter(torch.ones(8))

        def buckets(self, n: int) -> torch.Tensor:
            places = torch.arange(n, dtype=torch.long)
            apart = places[None, :] - places[:, None]
            found = (apart > 0).to(torch.long) * 4
            apart = torch.abs(apart)
            is_small = apart < 2
            large = 2 + (torch.log(apart.float() / 2) / math.log(16 / 2) * 2).to(torch.long)
            large = torch.min(large, torch.full_like(large, 3))
            found += torch.where(is_small, apart, large)
            return found

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            b, n, _ = x.shape
            y = x * torch.rsqrt(x.to(torch.float32).pow(2).mean(-1, keepdim=True) + 1e-6)
            y = self.scale * y
            q, k, v = (f(y).view(b, -1, 2, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
            scores = torch.matmul(q, k.transpose(3, 2))
            bias = self.bias(self.buckets(n)).permute([2, 0, 1]).unsqueeze(0)
            away = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
            scores += bias + away
            weights = F.softmax(scores.float(), dim=-1).type_as(scores)
            y = torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, -1, 8)
            return x + F.dropout(y, 0.1, self.training)

    return Model(T5(), masked_sequences, (BOTH[0], BOTH[0]))


def masked_sequences(b: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones(b, n, dtype=torch.int64)
    mask[:, -1] = 0
    return torch.randn(b, n, 8), mask


@model
def mamba() -> Model:
    """A selective scan whose states are a loop over a length that is fixed."""

    class Mamba(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inward, self.out = nn.Linear(8, 32, bias=False), nn.Linear(16, 8, bias=False)
            self.conv = nn.Conv1d(16, 16, 4, groups=16, padding=3)
            self.x_proj, self.dt_proj = nn.Linear(16, 9, bias=False), nn.Linear(1, 16)
            self.a_log = nn.Parameter(torch.log(torch.arange(1.0, 5.0).repeat(16, 1)))
            self.d = nn.Parameter(torch.ones(16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            n = x.shape[1]
            y, gate = self.inward(x).chunk(2, dim=-1)
            y = self.conv(y.transpose(1, 2))[:, :, :n].transpose(1, 2)
            y = F.silu(y)
            dt, b, c = self.x_proj(y).split([1, 4, 4], dim=-1)
            dt = F.softplus(self.dt_proj(dt))
            decay = torch.exp(dt.unsqueeze(-1) * -torch.exp(self.a_log))
            step = dt.unsqueeze(-1) * b.unsqueeze(2) * y.unsqueeze(-1)
            state = x.new_zeros(x.shape[0], 16, 4)
            found = []
            for i in range(n):
                state = decay[:, i] * state + step[:, i]
                found.append(torch.einsum("bdn,bn->bd", state, c[:, i]))
            return self.out((torch.stack(found, dim=1) + y * self.d) * F.silu(gate))

    return Model(Mamba(), lambda b, _: (torch.randn(b, 6, 8),), FIRST)


@model
def graph_attention() -> Model:
    """Messages by scatter_reduce: a softmax over the edges of each node."""

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.score = nn.Linear(6, 6, bias=False), nn.Linear(12, 1)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> Any:
            source, target = edges.unbind(0)
            h = self.linear(x)
            score = F.leaky_relu(self.score(torch.cat([h[source], h[target]], -1)), 0.2)[:, 0]
            top = torch.full((x.shape[0],), float("-inf"))
            top = top.scatter_reduce(0, target, score, "amax", include_self=True)
            weight = (score - top[target]).exp()
            total = torch.zeros(x.shape[0]).index_add(0, target, weight)
            weight = weight / (total[target] + 1e-16)
            out = torch.zeros_like(h)
            out.scatter_add_(0, target[:, None].expand(-1, 6), h[source] * weight[:, None])
            mean = torch.zeros_like(h).index_reduce(0, target, h[source], "mean")
            degree = torch.bincount(target, minlength=4)
            return out, mean, degree.sum()

    def arguments(b: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(b, 6), torch.randint(0, b, (2, n))

    return Model(Graph(), arguments, ({0: "nodes"}, {1: "edges"}))


@model
def wav2vec() -> Model:
    """Strided convolutions of a wave, then a convolution for places with normalised weights."""

    class Wav2Vec(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList(
                [nn.Conv1d(1, 8, 10, 5, bias=False), nn.Conv1d(8, 8, 3, 2, bias=False),
                 nn.Conv1d(8, 8, 2, 2, bias=False)])  # fmt: skip
            self.norm = nn.GroupNorm(8, 8)
            places = nn.Conv1d(8, 8, 4, padding=2, groups=2)
            self.places = nn.utils.parametrizations.weight_norm(places, name="weight", dim=2)
            self.project, self.block = nn.Linear(8, 8), Block(8)

        def forward(self, wave: torch.Tensor) -> torch.Tensor:
            x = (wave - wave.mean(-1, keepdim=True)) / torch.sqrt(wave.var(-1, keepdim=True) + 1e-7)
            x = x[:, None]
            for i, conv in enumerate(self.convs):
                x = conv(x)
                x = F.gelu(self.norm(x) if i == 0 else x)
            x = self.project(F.layer_norm(x.transpose(1, 2), (8,)))
            places = F.gelu(self.places(x.transpose(1, 2))[:, :, :-1])
            return self.block(x + places.transpose(1, 2))

    def arguments(b: int, n: int) -> tuple[torch.Tensor]:
        return (torch.randn(b, 20 * n + 60),)

    return Model(Wav2Vec(), arguments, ({0: BATCH, 1: torch.export.Dim.AUTO},))


@model
def vae() -> Model:
    """The noise is an input."""

    class Vae(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(
                nn.Conv2d(3, 8, 3, 2, 1), nn.LeakyReLU(0.01), nn.Conv2d(8, 8, 3, 2, 1), nn.Flatten()
            )
            self.mean, self.spread = nn.Linear(128, 4), nn.Linear(128, 4)
            self.start = nn.Linear(4, 128)
            self.decoder = nn.Sequential(
                nn.ConvTranspose2d(8, 8, 3, 2, 1, output_padding=1), nn.BatchNorm2d(8), nn.ELU(),
                nn.ConvTranspose2d(8, 3, 4, 2, 1, groups=1), nn.Sigmoid(),
            )  # fmt: skip

        def forward(self, x: torch.Tensor, noise: torch.Tensor) -> Any:
            h = self.encoder(x)
            mean, log_var = self.mean(h), self.spread(h)
            z = mean + noise * torch.exp(0.5 * log_var)
            y = self.decoder(self.start(z).view(-1, 8, 4, 4))
            loss = F.binary_cross_entropy(y, x.sigmoid(), reduction="none").flatten(1).sum(1)
            kl = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp(), dim=1)
            return y, loss + kl

    def arguments(b: int, _: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(b, 3, 16, 16), torch.randn(b, 4)

    return Model(Vae(), arguments, (FIRST[0], FIRST[0]))


@model
def recurrent_states() -> Model:
    """Both directions, projections, states that are given, sequences before batches."""

    class States(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(6, 5, 2, bidirectional=True, proj_size=3, bias=False)
            self.gru = nn.GRU(6, 4, bidirectional=True)
            self.score = nn.Linear(8, 1)

        def forward(
            self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, g: torch.Tensor
        ) -> Any:
            y, (h, c) = self.lstm(x, (h, c))
            z, last = self.gru(y, g)
            weights = torch.softmax(self.score(torch.tanh(z)).squeeze(-1), 0)
            pooled = torch.bmm(weights.t().unsqueeze(1), z.transpose(0, 1)).squeeze(1)
            return pooled, h, c, torch.cat((last[-2], last[-1]), dim=1)

    def arguments(b: int, _: int) -> tuple[torch.Tensor, ...]:
        return (torch.randn(4, b, 6), torch.randn(4, b, 3), torch.randn(4, b, 5),
                torch.randn(2, b, 4))  # fmt: skip

    return Model(States(), arguments, ({1: BATCH},) * 4)


@model
def packed_lengths() -> Model:
    """Lengths as a mask over what a recurrent network gives, the last one by gather."""

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.gru = (
                nn.Embedding(50, 6, padding_idx=0),
                nn.GRU(6, 4, batch_first=True),
            )

        def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> Any:
            y, _ = self.gru(self.words(ids))
            inside = torch.arange(ids.shape[1])[None, :] < lengths[:, None]
            y = y * inside.unsqueeze(-1)
            last = y.gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, 1, y.size(2))).squeeze(1)
            mean = y.sum(1) / lengths.unsqueeze(1).to(y.dtype)
            top = y.masked_fill(~inside.unsqueeze(-1), float("-inf")).max(dim=1).values
            return last, mean, top

    def arguments(b: int, _: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randint(0, 50, (b, 5)), torch.randint(1, 6, (b,))

    return Model(Packed(), arguments, (FIRST[0], FIRST[0]))


@model
def fourier_operator() -> Model:
    """A Fourier neural operator: weights for low frequencies, written into a spectrum of zeros."""

    class Fourier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.Parameter(torch.randn(4, 4, 5, dtype=torch.cfloat) * 0.3)
            self.skip = nn.Conv1d(4, 4, 1)

        def forward(self, x: torch.Tensor) -> Any:
            spectrum = torch.fft.rfft(x)
            low = torch.einsum("bix,iox->box", spectrum[:, :, :5], self.weights)
            padded = torch.zeros(x.shape[0], 4, x.shape[-1] // 2 + 1, dtype=torch.cfloat)
            padded[:, :, :5] = low
            y = torch.fft.irfft(padded, n=x.shape[-1])
            return F.gelu(y + self.skip(x)), torch.angle(low), (low * low.conj()).real

    return Model(Fourier(), lambda b, _: (torch.randn(b, 4, 16),), FIRST)


@model
def policy() -> Model:
    """Actor and critic: a squashed normal distribution and categorical actions by argmax."""

    class Policy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
            self.mean, self.value, self.logits = (
                nn.Linear(16, 2),
                nn.Linear(16, 1),
                nn.Linear(16, 5),
            )
            self.log_std = nn.Parameter(torch.zeros(2))
            self.register_buffer("low", torch.tensor([-1.0, -2.0]))
            self.register_buffer("high", torch.tensor([1.0, 3.0]))

        def forward(self, seen: torch.Tensor, allowed: torch.Tensor) -> Any:
            h = self.body(seen.clamp(-5, 5))
            normal = torch.distributions.Normal(self.mean(h), self.log_std.clamp(-20, 2).exp(),
                                                validate_args=False)  # fmt: skip
            action = torch.tanh(normal.mean)
            chance = normal.log_prob(normal.mean).sum(-1) - torch.log(1 - action**2 + 1e-6).sum(-1)
            scaled = self.low + 0.5 * (action + 1.0) * (self.high - self.low)
            logits = torch.where(allowed, self.logits(h), torch.tensor(-1e8))
            logits = logits - logits.logsumexp(-1, keepdim=True)
            entropy = -(logits.exp() * logits.clamp(min=-1e4)).sum(-1)
            return scaled, chance, self.value(h).squeeze(-1), logits.argmax(-1), entropy

    def arguments(b: int, _: int) -> tuple[torch.Tensor, torch.Tensor]:
        allowed = torch.rand(b, 5) > 0.3
        allowed[:, 0] = True
        return torch.randn(b, 8), allowed

    return Model(Policy(), arguments, (FIRST[0], FIRST[0]))


@model
def cached_decoder() -> Model:
    """One model for the prompt and for each further token: the cache grows."""

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.qkv, self.out = nn.Embedding(50, 8), nn.Linear(8, 24), nn.Linear(8, 50)

        def forward(self, ids: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> Any:
            b, n = ids.shape
            past = keys.shape[2]
            x = self.words(ids)
            q, k, v = self.qkv(x).view(b, n, 3, 2, 4).permute(2, 0, 3, 1, 4)
            keys, values = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
            rows_ = torch.arange(past, past + n)[:, None]
            allowed = torch.arange(past + n)[None, :] <= rows_
            y = F.scaled_dot_product_attention(q, keys, values, attn_mask=allowed)
            return self.out(x + y.transpose(1, 2).reshape(b, n, 8)), keys, values

    def arguments(b: int, n: int) -> tuple[torch.Tensor, ...]:
        return (*words(b, n - 3), torch.randn(b, 2, n, 4), torch.randn(b, 2, n, 4))

    cache = {0: BATCH, 2: "past"}
    return Model(Decoder(), arguments, (BOTH[0], cache, cache))


@model
def static_cache() -> Model:
    """A cache of fixed size, into which each step writes its rows."""

    class Decoder(nn.Module):
        keys: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.qk = nn.Linear(8, 16)
            self.register_buffer("keys", torch.zeros(1, 12, 8))

        def forward(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
            q, k = self.qk(x).chunk(2, -1)
            self.keys.index_copy_(1, places, k)
            self.keys[:, places] = k * 1.5
            mask = torch.arange(12)[None, :] > places[:, None]
            scores = (q @ self.keys.mT).masked_fill(mask, float("-inf"))
            return scores.softmax(-1) @ self.keys

    def arguments(b: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(1, n, 8), torch.arange(b, b + n)

    return Model(Decoder(), arguments, ({1: LENGTH}, {0: LENGTH}))


@model
def dynamic_quantized() -> Model:
    """Scales and zero points of the activations are computed for each row."""

    class Linear(nn.Module):
        codes: torch.Tensor
        scales: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("codes", torch.randint(-127, 128, (5, 8), dtype=torch.int8))
            self.register_buffer("scales", torch.rand(5, 1) * 0.1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            low = torch.min(x.amin(-1, keepdim=True), torch.zeros(()))
            high = torch.max(x.amax(-1, keepdim=True), torch.zeros(()))
            scale = ((high - low) / 255.0).clamp(min=torch.finfo(torch.float32).eps)
            zero = (-128 - torch.round(low / scale)).clamp(-128, 127)
            x8 = torch.clamp(torch.round(x / scale) + zero, -128, 127).to(torch.int8)
            total = x8.to(torch.int32) @ self.codes.to(torch.int32).t()
            total = total - zero.to(torch.int32) * self.codes.sum(1, dtype=torch.int32)
            return total.to(torch.float32) * scale * self.scales.t()

    return Model(Linear(), rows(8), FIRST)


@model
def routed_experts() -> Model:
    """Each expert takes its own tokens, as Mixtral writes it: masks, index and index_add_."""

    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(6, 4, bias=False)
            self.experts = nn.ModuleList(
                nn.Sequential(nn.Linear(6, 8), nn.SiLU(), nn.Linear(8, 6)) for _ in range(4)
            )

        def forward(self, x: torch.Tensor) -> Any:
            b, n, width = x.shape
            flat = x.reshape(-1, width)
            shares = F.softmax(self.gate(flat), dim=1, dtype=torch.float)
            shares, chosen = torch.topk(shares, 2, dim=-1)
            shares /= shares.sum(dim=-1, keepdim=True)
            out = torch.zeros_like(flat)
            mask = F.one_hot(chosen, num_classes=4).permute(2, 1, 0)
            for number, expert in enumerate(self.experts):
                slot, row = torch.where(mask[number] > 0)
                y = expert(flat[row]) * shares[row, slot, None]
                out.index_add_(0, row, y.to(x.dtype))
            return out.view(b, n, width), mask.sum((1, 2))

    return Model(Experts(), sequences(6), BOTH)


@model
def boxes_without_overlap() -> Model:
    """Anchors, box decoding, overlaps, and a suppression by masks in a fixed number of steps."""

    class Head(nn.Module):
        anchors: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("anchors", torch.rand(12, 4) * 10)

        def forward(self, deltas: torch.Tensor, logits: torch.Tensor) -> Any:
            center = self.anchors[:, :2] + self.anchors[:, 2:] / 2
            xy = deltas[..., :2] * self.anchors[:, 2:] + center
            wh = deltas[..., 2:].clamp(max=math.log(1000.0 / 16)).exp() * self.anchors[:, 2:]
            boxes = torch.cat([xy - wh / 2, xy + wh / 2], dim=-1)
            scores = logits.sigmoid()
            order = scores.argsort(dim=-1, descending=True)
            boxes = boxes.gather(1, order[..., None].expand(-1, -1, 4))
            scores = scores.gather(1, order)
            area = (boxes[..., 2:] - boxes[..., :2]).prod(-1)
            low = torch.maximum(boxes[:, :, None, :2], boxes[:, None, :, :2])
            high = torch.minimum(boxes[:, :, None, 2:], boxes[:, None, :, 2:])
            common = (high - low).clamp_(min=0).prod(-1)
            overlap = common / (area[:, :, None] + area[:, None, :] - common)
            keep = torch.ones_like(scores, dtype=torch.bool)
            for i in range(11):
                worse = (overlap[:, i] > 0.3) & (torch.arange(12) > i)
                keep &= ~(worse & keep[:, i : i + 1])
            return boxes, scores * keep, keep.nonzero(), boxes[keep], keep.sum(-1)

    def arguments(b: int, _: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(b, 12, 4) * 0.3, torch.randn(b, 12)

    return Model(Head(), arguments, (FIRST[0], FIRST[0]))


@model
def deberta_attention() -> Model:
    """Content to place and place to content, by gather, as DeBERTa has it."""

    class Disentangled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
            self.places = nn.Embedding(8, 8)

        def split(self, x: torch.Tensor) -> torch.Tensor:
            x = x.view(*x.size()[:-1], 2, -1)
            return x.permute(0, 2, 1, 3).contiguous().view(-1, x.size(1), x.size(-1))

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            n = x.size(-2)
            q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
            scale = torch.sqrt(torch.tensor(q.size(-1), dtype=torch.float) * 3)
            scores = torch.bmm(q, k.transpose(-1, -2) / scale.to(dtype=q.dtype))
            ids = torch.arange(0, n)
            apart = (ids[:, None] - ids.view(1, -1)).unsqueeze(0)
            sign = torch.sign(apart)
            far = torch.where((apart < 2) & (apart > -2), torch.tensor(1).type_as(apart),
                              torch.abs(apart))  # fmt: skip
            log = torch.ceil(torch.log(far / 2) / math.log(7 / 2) * 1) + 2
            apart = torch.where(far <= 2, apart.type_as(log), log * sign).long()
            places = self.places.weight.unsqueeze(0)
            pk = self.split(self.k(places)).repeat(x.shape[0], 1, 1)
            pq = self.split(self.q(places)).repeat(x.shape[0], 1, 1)
            c2p = torch.bmm(q, pk.transpose(-1, -2))
            at = torch.clamp(apart + 4, 0, 7).squeeze(0).expand([q.size(0), n, n])
            scores += torch.gather(c2p, dim=-1, index=at) / scale
            p2c = torch.bmm(k, pq.transpose(-1, -2))
            at = torch.clamp(-apart + 4, 0, 7).squeeze(0).expand([k.size(0), n, n])
            scores += torch.gather(p2c, dim=-1, index=at).transpose(-1, -2) / scale
            scores = scores.view(-1, 2, n, n)
            both = (mask.unsqueeze(1).unsqueeze(2) * mask[:, None, :, None]).bool()
            scores = scores.masked_fill(~both, torch.finfo(x.dtype).min).softmax(-1)
            y = torch.bmm(scores.view(-1, n, n), v)
            y = y.view(-1, 2, n, 4).permute(0, 2, 1, 3).contiguous()
            return y.view((*y.size()[:-2], -1))

    return Model(Disentangled(), masked_sequences, (BOTH[0], BOTH[0]))


@model
def diffusion_unet() -> Model:
    """Time embeddings, attention over pixels, group norms, nearest upsampling."""

    class Resnet(nn.Module):
        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.GroupNorm(4, inner), nn.GroupNorm(4, outer)
            self.conv1 = nn.Conv2d(inner, outer, 3, padding=1)
            self.conv2 = nn.Conv2d(outer, outer, 3, padding=1)
            self.time = nn.Linear(8, 2 * outer)
            self.skip = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

        def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
            h = self.conv1(F.silu(self.norm1(x)))
            scale, shift = self.time(F.silu(time))[:, :, None, None].chunk(2, dim=1)
            h = self.norm2(h) * (1 + scale) + shift
            return self.skip(x) + self.conv2(F.silu(h))

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)
            self.down, self.middle = Resnet(8, 16), Resnet(16, 16)
            self.up = Resnet(24, 8)
            self.less = nn.Conv2d(16, 16, 3, stride=2)
            self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

        def forward(self, x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
            powers = torch.exp(-math.log(10000) * torch.arange(4, dtype=torch.float32) / 4)
            angles = step[:, None].float() * powers[None, :]
            time = torch.cat([angles.sin(), angles.cos()], dim=-1)
            first = self.first(x)
            h = self.less(F.pad(self.down(first, time), (0, 1, 0, 1)))
            flat = h.flatten(2).transpose(1, 2)
            flat, _ = self.attention(flat, flat, flat, need_weights=False)
            h = h + flat.transpose(1, 2).reshape(h.shape)
            h = F.interpolate(self.middle(h, time), size=first.shape[-2:], mode="nearest")
            return self.last(self.up(torch.cat([h, first], 1), time))

    def arguments(b: int, _: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(b, 3, 8, 8), torch.randint(0, 1000, (b,))

    return Model(UNet(), arguments, (FIRST[0], FIRST[0]))


@model
def whole_transformer() -> Model:
    """Encoder and decoder of torch.nn with masks for padding and for the future."""

    class Translator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 8)
            self.net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True, norm_first=True)

        def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            n = target.shape[1]
            future = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
            padding = torch.zeros(source.shape).masked_fill(source == 0, float("-inf"))
            x, y = self.words(source), self.words(target)
            y = self.net(x, y, tgt_mask=future, src_key_padding_mask=padding,
                         memory_key_padding_mask=padding, tgt_is_causal=True)  # fmt: skip
            return y @ self.words.weight.t()

    def arguments(b: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        return (torch.randint(1, 50, (b, n)), torch.randint(0, 50, (b, n - 1)))

    return Model(Translator(), arguments, ({0: BATCH, 1: "source"}, {0: BATCH, 1: "target"}))


@model
def attention_weights() -> Model:
    layer = nn.MultiheadAttention(8, 2, kdim=6, vdim=4, bias=False, add_bias_kv=False)

    def arguments(b: int, n: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(n, b, 8), torch.randn(n + 1, b, 6), torch.randn(n + 1, b, 4)

    names = {0: "source", 1: BATCH}
    return Model(layer, arguments, ({0: "target", 1: BATCH}, names, names))


@model
def squeeze_and_excite() -> Model:
    """An inverted residual of MobileNet or EfficientNet."""

    class Block2(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wide = nn.Sequential(
                nn.Conv2d(3, 12, 1, bias=False), nn.BatchNorm2d(12), nn.SiLU()
            )
            self.depth = nn.Sequential(
                nn.Conv2d(12, 12, 5, 2, 2, groups=12, bias=False),
                nn.BatchNorm2d(12),
                nn.ReLU6(True),
            )
            self.gate = nn.Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(12, 3, 1), nn.ReLU(), nn.Conv2d(3, 12, 1),
                nn.Hardsigmoid(),
            )  # fmt: skip
            self.last = nn.Conv2d(12, 6, 1)

        def forward(self, x: torch.Tensor) -> Any:
            x = self.depth(self.wide(x))
            x = self.last(x * self.gate(x))
            shuffled = x.view(x.shape[0], 2, 3, *x.shape[2:]).transpose(1, 2).reshape(x.shape)
            pooled = F.max_pool2d(shuffled, 3, 2, 1, ceil_mode=True)
            return pooled, F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)

    return Model(Block2(), images, FIRST)
