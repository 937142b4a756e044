"""Architectures of the transformers library, small and with random weights: converted as they are
and from a file, checked, and run at other sizes than they were exported with."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import sardonyx.torch  # noqa: E402
from opinfo import bfloat16  # noqa: E402
from sardonyx.torch._export import _torch_shapes  # noqa: E402
from test_models import runtime_of  # noqa: E402
from test_pt2 import check_same  # noqa: E402
from torch.utils import _pytree  # noqa: E402

from sampling import some  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SAMPLED = 5
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 48, "vocab_size": 60}  # fmt: skip
BOS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
GROUPS = {"num_key_value_heads": 2}
HEADS = {"num_key_value_heads": 2, "head_dim": 8}
CODERS = {"vocab_size": 60, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
          "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
          "decoder_ffn_dim": 48}  # fmt: skip
CONVOLUTIONS = {"conv_dim": (8, 8), "conv_stride": (5, 2), "conv_kernel": (10, 3),
                "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8,
                "num_conv_pos_embedding_groups": 2}  # fmt: skip
PATCHES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
           "intermediate_size": 48, "image_size": 32, "patch_size": 8}  # fmt: skip
WINDOWS = {"image_size": 32, "patch_size": 2, "embed_dim": 8, "depths": [1, 1],
           "num_heads": [2, 2], "window_size": 4}  # fmt: skip
STAGES = {"hidden_sizes": [8, 16], "depths": [1, 1]}

# What the models get for a batch of b and a length of n, and the names of the dimensions.
Inputs = tuple[Callable[[int, int], dict[str, Any]], dict[str, Any]]
BOTH, FIRST = {0: "batch", 1: "length"}, {0: "batch"}


def ids(b: int, n: int) -> Any:
    return torch.randint(3, 50, (b, n))


def image(b: int) -> Any:
    return torch.randn(b, 3, 32, 32)


TEXT: Inputs = (lambda b, n: {"input_ids": ids(b, n)}, {"input_ids": BOTH})
PAIR: Inputs = (
    lambda b, n: {"input_ids": ids(b, n), "decoder_input_ids": ids(b, n + 2)},
    {"input_ids": BOTH, "decoder_input_ids": {0: "batch", 1: "target"}},
)
MASKED: Inputs = (
    lambda b, n: {"input_ids": ids(b, n), "attention_mask": (torch.arange(n) < n - 2).repeat(b, 1)},
    {"input_ids": BOTH, "attention_mask": BOTH},
)
IMAGE: Inputs = (lambda b, _: {"pixel_values": image(b)}, {"pixel_values": FIRST})
BOTH_KINDS: Inputs = (
    lambda b, n: {"input_ids": ids(b, n), "pixel_values": image(b + 1)},
    {"input_ids": BOTH, "pixel_values": {0: "images"}},
)
SOUND: Inputs = (lambda b, n: {"input_values": torch.randn(b, 100 * n)}, {"input_values": BOTH})
SPECTRUM: Inputs = (
    lambda b, n: {"input_features": torch.randn(b, 8, 40), "decoder_input_ids": ids(b, n)},
    {"input_features": FIRST, "decoder_input_ids": BOTH},
)
SERIES: Inputs = (lambda b, _: {"past_values": torch.randn(b, 32, 3)}, {"past_values": FIRST})

# The class, the configuration's differences from the default, and the inputs.
MODELS: dict[str, tuple[dict[str, Any], Inputs]] = {
    "AlbertModel": ({**SMALL, "embedding_size": 16}, TEXT),
    "BartModel": ({**CODERS, "max_position_embeddings": 64}, PAIR),
    "BeitModel": (PATCHES, IMAGE),
    "BertForSequenceClassification": ({**SMALL, "max_position_embeddings": 64}, TEXT),
    "BertModel": ({**SMALL, "max_position_embeddings": 64}, MASKED),
    "BloomForCausalLM": ({**SMALL, **BOS, "n_layer": 2, "n_head": 4}, TEXT),
    "CLIPModel": (
        {
            "text_config": {**SMALL, **BOS, "max_position_embeddings": 32, "projection_dim": 16},
            "vision_config": {**PATCHES, "projection_dim": 16},
            "projection_dim": 16,
        },
        BOTH_KINDS,
    ),
    "ConvNextModel": ({**STAGES, "num_stages": 2, "patch_size": 4}, IMAGE),
    "DebertaModel": ({**SMALL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}, TEXT),
    "DebertaV2Model": (
        {
            **SMALL,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "position_buckets": 8,
        },
        TEXT,
    ),
    "DeiTModel": (PATCHES, IMAGE),
    "Dinov2Model": (PATCHES, IMAGE),
    "DistilBertModel": (
        {"vocab_size": 60, "dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4},
        MASKED,
    ),
    "ElectraModel": ({**SMALL, "embedding_size": 16}, TEXT),
    "FalconForCausalLM": ({**SMALL, **BOS}, TEXT),
    "GPT2LMHeadModel": (
        {**BOS, "vocab_size": 60, "n_embd": 32, "n_layer": 2, "n_head": 4},
        MASKED,
    ),
    "GPTJForCausalLM": (
        {**BOS, "vocab_size": 60, "n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 8},
        TEXT,
    ),
    "GPTNeoXForCausalLM": ({**SMALL, **BOS}, TEXT),
    "Gemma2ForCausalLM": ({**SMALL, **HEADS}, TEXT),
    "GemmaForCausalLM": ({**SMALL, **HEADS}, TEXT),
    "HubertModel": ({**SMALL, **CONVOLUTIONS}, SOUND),
    "LlamaForCausalLM": ({**SMALL, **GROUPS}, MASKED),
    "MambaForCausalLM": ({**SMALL, **BOS, "state_size": 8}, TEXT),
    "MistralForCausalLM": ({**SMALL, **GROUPS}, TEXT),
    "MixtralForCausalLM": ({**SMALL, **GROUPS, "num_local_experts": 4}, TEXT),
    "MobileBertModel": ({**SMALL, "embedding_size": 16}, TEXT),
    "MobileNetV2Model": ({"image_size": 32, "depth_multiplier": 0.35}, IMAGE),
    "ModernBertModel": ({**SMALL, **BOS, "global_attn_every_n_layers": 2}, TEXT),
    "OPTForCausalLM": ({**SMALL, **BOS, "ffn_dim": 48, "word_embed_proj_dim": 32}, TEXT),
    "OlmoForCausalLM": ({**SMALL, **BOS, **GROUPS}, TEXT),
    "PatchTSTModel": (
        {
            "num_input_channels": 3,
            "context_length": 32,
            "patch_length": 8,
            "patch_stride": 8,
            "d_model": 16,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "ffn_dim": 24,
        },
        SERIES,
    ),
    "Phi3ForCausalLM": ({**SMALL, **BOS, **GROUPS}, TEXT),
    "PhiForCausalLM": (SMALL, TEXT),
    "Qwen2ForCausalLM": ({**SMALL, **GROUPS}, TEXT),
    "Qwen3ForCausalLM": ({**SMALL, **HEADS}, TEXT),
    "RegNetModel": ({**STAGES, "embedding_size": 8, "groups_width": 4}, IMAGE),
    "ResNetModel": ({**STAGES, "embedding_size": 8}, IMAGE),
    "RobertaModel": ({**SMALL, "max_position_embeddings": 66}, TEXT),
    "SEWModel": ({**SMALL, **CONVOLUTIONS, "squeeze_factor": 2}, SOUND),
    "SegformerForSemanticSegmentation": (
        {
            **STAGES,
            "num_encoder_blocks": 2,
            "num_attention_heads": [1, 2],
            "sr_ratios": [2, 1],
            "patch_sizes": [7, 3],
            "strides": [4, 2],
            "mlp_ratios": [2, 2],
            "decoder_hidden_size": 16,
        },
        IMAGE,
    ),
    "SwinModel": (WINDOWS, IMAGE),
    "Swinv2Model": (WINDOWS, IMAGE),
    "T5Model": (
        {"vocab_size": 60, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4},
        PAIR,
    ),
    "ViTModel": (PATCHES, IMAGE),
    "Wav2Vec2Model": ({**SMALL, **CONVOLUTIONS}, SOUND),
    "WhisperModel": (
        {
            **CODERS,
            **BOS,
            "num_mel_bins": 8,
            "max_source_positions": 20,
            "max_target_positions": 32,
            "decoder_start_token_id": 1,
        },
        SPECTRUM,
    ),
    "XLNetModel": (
        {"vocab_size": 60, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48},
        TEXT,
    ),
    "YolosModel": ({**PATCHES, "image_size": [32, 32], "num_detection_tokens": 5}, IMAGE),
}
# torch.export makes one length of it.
ONE_LENGTH = {"MambaForCausalLM"}


def chosen() -> list[str]:
    return some(MODELS, SAMPLED)


def as_array(value: Any) -> Any:
    return bfloat16(value) if value.dtype == torch.bfloat16 else value.numpy()


def without_cache(module: Any) -> Any:
    for part in module.modules():
        if hasattr(getattr(part, "config", None), "use_cache"):
            part.config.use_cache = False
    return module.eval()


# Convolutions, experts, and what else BFLOAT16 has no operators for before opset 22.
HALVES = ("MixtralForCausalLM", "WhisperModel", "DebertaV2Model", "ModernBertModel")


@pytest.mark.parametrize("name", list(MODELS) if len(chosen()) == len(MODELS) else HALVES)
def test_architecture_of_bfloat16(name: str) -> None:
    """By our evaluator alone: ONNX Runtime has few kernels for the type."""
    differences, (arguments, shapes) = MODELS[name]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    kind = getattr(transformers, name)
    module = without_cache(kind(kind.config_class(**differences))).to(torch.bfloat16)
    given = {
        key: value.to(torch.bfloat16) if value.is_floating_point() else value
        for key, value in arguments(2, 7).items()
    }
    native = sardonyx.torch.export(module, (), given, dynamic_shapes=shapes).compile()
    with torch.no_grad():
        wanted = _pytree.tree_leaves(module(**given))
    results = native.run({key: as_array(value) for key, value in given.items()})
    for result, want in zip(results, wanted, strict=True):
        assert str(np.asarray(result).dtype) == str(want.dtype).removeprefix("torch.")
        assert np.abs(np.asarray(result).astype(np.float32) - want.float().numpy()).max() < (
            0.05 * want.abs().max().item()
        )


@pytest.mark.parametrize("name", chosen())
def test_architecture(name: str, tmp_path: pathlib.Path) -> None:
    differences, (arguments, shapes) = MODELS[name]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    kind = getattr(transformers, name)
    module = without_cache(kind(kind.config_class(**differences)))
    program = torch.export.export(module, (), arguments(2, 7), dynamic_shapes=_torch_shapes(shapes))
    check_same(program, tmp_path / "model.pt2")
    exported = sardonyx.torch.convert(program, dynamic_shapes=shapes)
    data = exported.to_model_bytes()
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    native, session = exported.compile(), runtime_of(data)
    for b, n in ((2, 7), (3, 7 if name in ONE_LENGTH else 12)):
        given = arguments(b, n)
        with torch.no_grad():
            wanted = _pytree.tree_leaves(module(**given))
        arrays = {key: value.numpy() for key, value in given.items()}
        assert [one.name for one in session.get_inputs()] == list(arrays)
        for results in (native.run(arrays), session.run(None, arrays)):
            assert len(results) == len(wanted)
            for result, want in zip(results, wanted, strict=True):
                np.testing.assert_allclose(np.asarray(result), want.numpy(), rtol=1e-3, atol=1e-4)
