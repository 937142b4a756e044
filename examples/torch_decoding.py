"""Text from a language model with random weights, token by token, with a cache of keys and values.

One model does the first step, on all of the prompt, and the later ones, on one token: the length of
the cache is a dimension. `python torch_decoding.py` needs PyTorch; both give the same tokens.
"""

from __future__ import annotations

import numpy as np


def main() -> list[int]:
    import sardonyx.torch
    import torch
    from torch import nn

    class Decoder(nn.Module):
        """One layer of attention over the cache and what is new."""

        def __init__(self, words: int = 40, width: int = 16) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(64, width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.head = nn.Linear(width, words)

        def forward(
            self, ids: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
        ) -> dict[str, torch.Tensor]:
            old, new = keys.shape[1], ids.shape[1]
            places = torch.arange(old, old + new)
            x = self.words(ids) + self.places(places)
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            keys, values = torch.cat([keys, k], 1), torch.cat([values, v], 1)
            seen = torch.arange(old + new)[None, :] <= places[:, None]
            y = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
            return {"logits": self.head(x + self.out(y)), "new_keys": keys, "new_values": values}

    torch.manual_seed(0)
    module = Decoder().eval()
    example = (torch.zeros(1, 3, dtype=torch.int64), torch.zeros(1, 4, 16), torch.zeros(1, 4, 16))
    shapes = ({1: "new"}, {1: "old"}, {1: "old"})
    model = sardonyx.torch.export(module, example, dynamic_shapes=shapes).compile()

    prompt = [7, 3, 11]
    ours, theirs = list(prompt), list(prompt)
    cache = [np.zeros((1, 0, 16), np.float32)] * 2
    state = [torch.zeros(1, 0, 16)] * 2
    given = prompt
    with torch.no_grad():
        for _ in range(12):
            logits, *cache = model(np.array([given]), *cache)
            wanted = module(torch.tensor([given]), *state)
            state = [wanted["new_keys"], wanted["new_values"]]
            ours.append(int(np.asarray(logits)[0, -1].argmax()))
            theirs.append(int(wanted["logits"][0, -1].argmax()))
            given = ours[-1:]
    assert ours == theirs
    print("tokens", ours)
    return ours


if __name__ == "__main__":
    main()
