"""Estimate how much memory training and serving a local model need, and whether the GPUs here have it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from housewise.core.errors import UserError
from housewise.doctor.findings import Finding
from housewise.language.local.smollm2 import SMOLLM2

MEMORY = "memory of the model"
_SERVED_TOKENS = 8192
_LEARNED_TOKENS = 256
_RECIPE = Path("paper")
"""Configuration whose longest example is estimated; its examples are longer than those of the default."""


def is_local(model: str) -> bool:
    """Whether a model is loaded in this program."""
    return model.partition(":")[0] == "local"


def check_model_memory(model: str) -> list[Finding]:
    """Estimate the memory that a model needs to be trained and served.

    Args:
        model: ``local:FOLDER_OR_HUB_NAME``.

    Raises:
        UserError: There is no such model, or the packages that open it are not installed.
    """
    if find_spec("torch") is None:
        raise UserError("torch is not installed; run pip install 'housewise[train]'")
    import torch

    cards = [torch.cuda.get_device_properties(number).total_memory for number in range(torch.cuda.device_count())]
    return estimate_findings(model, cards)


def estimate_findings(model: str, cards: Sequence[int]) -> list[Finding]:
    """Return how much memory a model needs, and whether GPUs with so many bytes have it."""
    from housewise.language.local.architecture import context_length
    from housewise.language.local.weights import load_outline
    from housewise.selftrain.personalize.settings import load_selftraining
    from housewise.selftrain.trainers.memory_check import CHECKPOINTED_PARAMETERS, model_shape
    from housewise.selftrain.trainers.memory_estimate import (
        SERVER_SHARE,
        TrainingLoad,
        estimate_serving_memory,
        estimate_training_memory,
    )

    network, _ = load_outline(model.partition(":")[2] or SMOLLM2, None)
    shape, tokens = model_shape(network), load_selftraining(_RECIPE).training.max_example_tokens
    served = min(_SERVED_TOKENS, context_length(network.config))
    found = []
    for is_quantized in (False, True):
        load = TrainingLoad(
            tokens,
            _LEARNED_TOKENS,
            is_quantized=is_quantized,
            is_checkpointed=shape.parameters >= CHECKPOINTED_PARAMETERS,
        )
        bits = ", 4 bits" if is_quantized else ""
        needed = estimate_training_memory(shape, load).total
        remedy = "" if is_quantized else "training.quantization=4bit"
        what = f"for an example of {tokens} tokens, the longest with --config {_RECIPE}"
        found.append(_finding(f"training{bits}", what, needed, 1.0, cards, remedy))
        needed = estimate_serving_memory(shape, served, is_quantized=is_quantized).total
        remedy = "" if is_quantized else "rollouts.options=[--quantization, bitsandbytes]"
        what = f"for a prompt with its reply of {served} tokens"
        found.append(_finding(f"vLLM{bits}", what, needed, SERVER_SHARE, cards, remedy))
    return [Finding(MEMORY, "weights", "ok", f"{shape.parameters / 1e9:.2f} billion, {shape.layers} layers"), *found]


def _finding(what: str, per: str, needed: float, share: float, cards: Sequence[int], remedy: str) -> Finding:
    from housewise.selftrain.trainers.memory_estimate import GIB

    details = f"about {needed / GIB:.1f} GiB of a GPU's memory {per} (computed)"
    if not cards:
        return Finding(MEMORY, what, "ok", f"{details}; no GPU is here")
    largest = max(cards)
    if needed <= share * largest:
        return Finding(MEMORY, what, "ok", f"{details}; a GPU here has {largest / GIB:.1f} GiB")
    several = "" if needed > share * sum(cards) else ", all together have enough (see docs/gpu.md)"
    return Finding(MEMORY, what, "missing", f"{details}; the largest GPU has {largest / GIB:.1f} GiB{several}", remedy)
