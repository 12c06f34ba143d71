"""Tiny models of random weights, of kinds that the tests of refusals and of adapters need."""

import json
from pathlib import Path
from typing import Any

import transformers

from tests.language.tiny import save_tiny_model

_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 16384,
}
_IMAGES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
}
_MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8}


def save_kind(folder: Path, kind: str) -> Path:
    """Make a model of a kind, with the tokenizer of save_tiny_model.

    Args:
        folder: Where it goes.
        kind: Name of an architecture, with ``dense`` behind it where its layers are attention alone.
    """
    save_tiny_model(folder)
    kept = json.loads((folder / "config.json").read_text())
    sizes = {key: kept[key] for key in ("vocab_size", "eos_token_id", "bos_token_id")} | {"pad_token_id": 0}
    text = {**_TEXT, **sizes}
    _make(kind, text, sizes).save_pretrained(folder)
    return folder


def _make(kind: str, text: dict[str, Any], sizes: dict[str, Any]) -> Any:
    granite = {**text, **_MAMBA, "num_local_experts": 0, "num_experts_per_tok": 0, "shared_intermediate_size": 48}
    configs: dict[str, Any] = {
        "mamba": lambda: transformers.MambaConfig(hidden_size=32, num_hidden_layers=1, state_size=8, **sizes),
        "falcon_h1": lambda: transformers.FalconH1Config(**text, **_MAMBA, mamba_d_ssm=64),
        "granitemoehybrid": lambda: transformers.GraniteMoeHybridConfig(
            **granite, layer_types=["full_attention", "linear_attention"]
        ),
        "granitemoehybrid dense": lambda: transformers.GraniteMoeHybridConfig(
            **granite, layer_types=["full_attention"] * 2, position_embedding_type="rope"
        ),
        "gemma3": lambda: transformers.Gemma3Config(
            text_config={**text, "head_dim": 16, "sliding_window": 512},
            vision_config=_IMAGES,
            mm_tokens_per_image=4,
            image_token_index=5,
            boi_token_index=6,
            eoi_token_index=7,
            **{key: sizes[key] for key in ("eos_token_id", "bos_token_id", "pad_token_id")},
        ),
        "gpt2": lambda: transformers.GPT2Config(n_embd=32, n_layer=1, n_head=2, n_positions=2048, **sizes),
    }
    if kind in configs:
        return transformers.AutoModelForCausalLM.from_config(configs[kind]())
    if kind == "smolvlm":
        config = transformers.SmolVLMConfig(
            text_config={**text, "model_type": "llama"}, vision_config=_IMAGES, pad_token_id=0
        )
        return transformers.SmolVLMForConditionalGeneration(config)
    if kind == "qwen2_5_vl":
        images = {"hidden_size": 32, "intermediate_size": 48, "depth": 1, "num_heads": 2, "out_hidden_size": 32}
        return transformers.Qwen2_5_VLForConditionalGeneration(
            transformers.Qwen2_5_VLConfig(text_config=text, vision_config=images)
        )
    assert kind == "t5"
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            d_model=32, d_ff=48, d_kv=16, num_layers=1, num_heads=2, decoder_start_token_id=0, **sizes
        )
    )
