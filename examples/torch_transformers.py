"""Text from a Llama of the transformers library with random weights, token by token.

One model does the first step, on all of the prompt, and the later ones: its cache of keys and
values, a `DynamicCache`, is an input and an output. `python torch_transformers.py` needs PyTorch
and transformers, and downloads nothing; both give the same tokens.
"""

from __future__ import annotations

import numpy as np


def main() -> list[int]:
    import sardonyx.torch
    import torch
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=60, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    module = LlamaForCausalLM(config).eval()

    class Step(torch.nn.Module):
        """Logits of the last token, and the cache as the tensors that it is made of."""

        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(
            self, ids: torch.Tensor, cache: list[tuple[torch.Tensor, torch.Tensor]]
        ) -> tuple[torch.Tensor, list[torch.Tensor]]:
            given = DynamicCache(cache)
            out = self.module(input_ids=ids, past_key_values=given, use_cache=True)
            kept = out.past_key_values.layers
            return out.logits[:, -1], [one for layer in kept for one in (layer.keys, layer.values)]

    def empty(length: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(torch.zeros(1, 2, length, 8), torch.zeros(1, 2, length, 8)) for _ in range(2)]

    shapes = ({1: "new"}, [({2: "old"}, {2: "old"}) for _ in range(2)])
    example = (torch.zeros(1, 3, dtype=torch.int64), empty(4))
    model = sardonyx.torch.export(Step(), example, dynamic_shapes=shapes).compile()

    prompt = [7, 3, 11]
    tokens, given = list(prompt), prompt
    cache = [one.numpy() for pair in empty(0) for one in pair]
    for _ in range(12):
        logits, *cache = model(np.array([given]), *cache)
        given = [int(np.asarray(logits)[0].argmax())]
        tokens += given
    wanted = module.generate(
        torch.tensor([prompt]),
        max_new_tokens=12,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    assert tokens == wanted[0].tolist(), (tokens, wanted)
    print("tokens", tokens)
    return tokens


if __name__ == "__main__":
    main()
