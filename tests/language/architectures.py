"""Tiny models of many architectures, with random weights that react to what they read."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers

VOCABULARY = 300
WINDOW, LONGROPE_SWITCH = 24, 128

_GENERIC = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_TOKENS = {"vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 128,
}
_LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": [1.0 + 0.02 * place for place in range(6)],
    "long_factor": [1.0 + 1.5 * place for place in range(6)],
    "original_max_position_embeddings": LONGROPE_SWITCH,
}
_MLA = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8}
_EVERY_OTHER = ["full_attention", "sliding_attention", "full_attention"]


def _config(name: str, **settings: Any) -> Callable[[], Any]:
    return lambda: getattr(transformers, f"{name}Config")(**{**_GENERIC, **settings})


def _own(name: str, **settings: Any) -> Callable[[], Any]:
    return lambda: getattr(transformers, f"{name}Config")(**{**_TOKENS, **settings})


ARCHITECTURES: dict[str, Callable[[], Any]] = {
    "llama": _config("Llama"),
    "mistral with a window": _config("Mistral", sliding_window=WINDOW),
    "phi3 with longrope": _config(
        "Phi3", rope_parameters=_LONGROPE, original_max_position_embeddings=LONGROPE_SWITCH, sliding_window=None
    ),
    "gpt neo": _own(
        "GPTNeo", hidden_size=48, num_layers=4, num_heads=4, attention_types=[[["global", "local"], 2]], window_size=64
    ),
    "llama with the rope of llama 3": _config("Llama", rope_parameters=_LLAMA3),
    "llama with yarn": _config("Llama", rope_parameters={"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}),
    "qwen2": _config("Qwen2"),
    "qwen2 with some windows": _config(
        "Qwen2", use_sliding_window=True, sliding_window=WINDOW, layer_types=_EVERY_OTHER
    ),
    "qwen3": _config("Qwen3", head_dim=12),
    "qwen3 with some windows": _config(
        "Qwen3", head_dim=12, use_sliding_window=True, sliding_window=WINDOW, layer_types=_EVERY_OTHER
    ),
    "qwen3 moe": _config("Qwen3Moe", head_dim=12, **_EXPERTS),
    "mistral": _config("Mistral", sliding_window=None),
    "mixtral": _config("Mixtral", num_local_experts=4, num_experts_per_tok=2),
    "phi3": _config("Phi3", sliding_window=None),
    "phi3 with a window": _config("Phi3", sliding_window=WINDOW),
    "phi": _config("Phi"),
    "gemma": _config("Gemma", head_dim=12),
    "gemma 2": _config("Gemma2", head_dim=12, sliding_window=WINDOW),
    "gemma 3": _config("Gemma3Text", head_dim=12, sliding_window=WINDOW),
    "olmo2": _config("Olmo2"),
    "olmo3": _config("Olmo3", sliding_window=WINDOW),
    "granite": _config("Granite"),
    "granitemoehybrid without a recurrent state": _config(
        "GraniteMoeHybrid",
        layer_types=["full_attention"] * 3,
        num_local_experts=0,
        num_experts_per_tok=0,
        mamba_n_heads=12,
        mamba_d_head=8,
        shared_intermediate_size=64,
        position_embedding_type="rope",
    ),
    "smollm3": _config("SmolLM3"),
    "stablelm": _config("StableLm", partial_rotary_factor=0.5),
    "starcoder2": _config("Starcoder2", sliding_window=WINDOW),
    "cohere": _config("Cohere"),
    "gpt neox": _config("GPTNeoX"),
    "gpt2": _own("GPT2", n_embd=48, n_layer=3, n_head=4, n_positions=1024),
    "opt": _config("OPT", ffn_dim=64, word_embed_proj_dim=48),
    "gpt-oss": _config("GptOss", head_dim=12, num_local_experts=4, num_experts_per_tok=2, sliding_window=WINDOW),
    "deepseek v3": _config(
        "DeepseekV3", num_key_value_heads=4, n_routed_experts=4, n_group=1, topk_group=1, num_experts_per_tok=2, **_MLA
    ),
    "mpt": _own("Mpt", d_model=48, n_layers=3, n_heads=4),
    "bloom": _own("Bloom", hidden_size=48, n_layer=3, n_head=4),
    "falcon with alibi": _config("Falcon", alibi=True, new_decoder_architecture=False),
    "falcon": _config("Falcon", alibi=False),
}
STATEFUL: dict[str, Callable[[], Any]] = {
    "mamba": _own("Mamba", hidden_size=48, num_hidden_layers=2, state_size=8),
    "mamba 2": _own("Mamba2", hidden_size=48, num_hidden_layers=2, num_heads=6, head_dim=16, state_size=8, n_groups=2),
}
_FAST = list(ARCHITECTURES)[:4]
"""One of those that share all, one with windows, one with two ropes, and one that counts distances by column."""

EACH = [name if name in _FAST else pytest.param(name, marks=pytest.mark.slow) for name in ARCHITECTURES]


def network(name: str) -> Any:
    """A model in which exchanging two tokens changes what follows by a lot."""
    torch.manual_seed(0)
    made = transformers.AutoModelForCausalLM.from_config({**ARCHITECTURES, **STATEFUL}[name]()).eval()
    with torch.no_grad():
        for weights in made.parameters():
            if weights.dim() >= 2:
                weights.mul_(6.0)
    return made


def tokens(count: int, seed: int) -> list[int]:
    """Random tokens of their vocabulary."""
    return random.Random(seed).choices(range(3, VOCABULARY), k=count)
