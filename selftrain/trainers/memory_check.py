"""Chooses how many examples a training computes at once, and refuses one that does not fit into a GPU's memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from housewise.core.errors import UserError
from housewise.selftrain.trainers.memory_estimate import GIB, ModelShape, TrainingLoad, estimate_training_memory
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig

PASS_TOKENS = 8192
"""Most tokens that a pass has on a GPU, unless micro_batch says how many examples it has."""
CHECKPOINTED_PARAMETERS = 1_000_000_000
"""Number of weights from which activations are computed again on a GPU, unless gradient_checkpointing says."""
_SHORT_EXAMPLE = (256, 32)
"""Tokens of an example, and how many of them are learned, of which even the shortest trainings have more."""


@dataclass(frozen=True)
class Passes:
    """How a training computes a batch.

    Attributes:
        examples: Number of examples of a pass.
        is_checkpointed: Whether activations are computed again.
    """

    examples: int
    is_checkpointed: bool


def choose_passes(
    config: TrainingConfig,
    shape: ModelShape,
    lengths: Sequence[tuple[int, int]],
    share: int,
    memory: int,
    cards: int = 1,
) -> Passes:
    """Choose how a batch is computed on a GPU, so that its longest examples fit together.

    Args:
        config: Settings of the training.
        shape: The model.
        lengths: Tokens of each example, and how many of them are learned.
        share: Number of examples of a batch that this process computes.
        memory: Bytes that the training may take.
        cards: Number of GPUs of this machine.

    Raises:
        UserError: Even the longest example alone does not fit; the message says what to set.
    """
    longest = sorted(lengths, reverse=True)
    is_checkpointed = config.gradient_checkpointing
    if is_checkpointed is None:
        is_checkpointed = shape.parameters >= CHECKPOINTED_PARAMETERS

    def load(examples: int) -> TrainingLoad:
        tokens, learned = (sum(column) for column in zip(*longest[:examples], strict=True))
        return TrainingLoad(
            tokens,
            learned,
            weight_bytes=4 if config.dtype == "float32" else 2,
            is_quantized=config.quantization is not None,
            is_checkpointed=is_checkpointed,
            rank=config.rank if config.method == "lora" else 0,
            targets=config.targets,
            has_reference=isinstance(config, PreferenceConfig),
        )

    divisors = [number for number in range(share, 0, -1) if share % number == 0]
    if isinstance(config, PreferenceConfig):
        # Pairs of replies are computed one after another.
        examples = 1
    elif config.micro_batch is not None:
        [examples, *_] = (number for number in divisors if number <= config.micro_batch)
    else:
        fitting = (
            number
            for number in divisors
            if load(number).tokens <= PASS_TOKENS and _needed(shape, load(number)) <= memory
        )
        examples = next(fitting, 1)
    if _needed(shape, load(examples)) > memory:
        raise UserError(_refusal(config, shape, load(examples), load(1), memory, cards))
    return Passes(examples, is_checkpointed)


def _refusal(
    config: TrainingConfig, shape: ModelShape, wanted: TrainingLoad, smallest: TrainingLoad, memory: int, cards: int
) -> str:
    """Return why a training does not fit, and the first settings with which it does."""
    key, needed = config.key, estimate_training_memory(shape, wanted)
    parts = {
        "weights": needed.weights,
        "what is trained": needed.trained,
        f"{wanted.tokens} tokens": needed.activations + needed.logits,
        "reserve": needed.reserve,
    }
    listed = ", ".join(f"{name} {size / GIB:.1f}" for name, size in parts.items())
    problem = (
        f"training needs about {needed.total / GIB:.1f} GiB of GPU memory ({listed}), and {memory / GIB:.1f} GiB are "
        "free"
    )

    def steps() -> Iterator[tuple[str, TrainingLoad, int]]:
        load, room = wanted, memory
        if not load.is_checkpointed:
            load = replace(load, is_checkpointed=True)
            yield f"{key('gradient_checkpointing')}=true", load, room
        if load.tokens > smallest.tokens:
            load = replace(load, tokens=smallest.tokens, learned_tokens=smallest.learned_tokens)
            yield f"{key('micro_batch')}=1", load, room
        if not load.is_quantized and load.rank:
            load = replace(load, is_quantized=True, weight_bytes=2)
            yield f"{key('quantization')}=4bit", load, room
        if cards > 1 and config.device_map is None:
            yield f"{key('device_map')}=auto", load, room * cards

    settings: list[str] = []
    fixed = ""
    for setting, load, room in steps():
        settings.append(setting)
        if load.is_quantized and not wanted.is_quantized:
            fixed = f" (in another folder if this one has trained models, which keep their {key('quantization')})"
        if _needed(shape, load) <= room:
            return f"{problem}; set {' '.join(settings)}{fixed}"
    also = f"set {' '.join(settings)}{fixed}, and " if settings else ""
    return (
        f"{problem}; {also}lower {key('max_example_tokens')}, use a larger GPU (or several, with "
        f"{key('device_map')}=auto), or train a smaller model"
    )


def _needed(shape: ModelShape, load: TrainingLoad) -> float:
    return estimate_training_memory(shape, load).total


def check_gpu_memory(config: TrainingConfig, network: Any) -> None:
    """Check whether a short example fits into the memory of a free GPU, before weights are loaded.

    Args:
        config: Settings of the training.
        network: The model on the meta device.

    Raises:
        UserError: It does not.
    """
    memory = gpu_memory(config, is_loaded=False)
    if memory is not None:
        smallest = config.model_copy(update={"micro_batch": None})
        choose_passes(smallest, model_shape(network), [_SHORT_EXAMPLE], 1, memory, _cards())


def choose_gpu_passes(
    config: TrainingConfig, network: Any, lengths: Sequence[tuple[int, int]], share: int
) -> Passes | None:
    """Return the passes of a training whose model is loaded; None without a GPU. See choose_passes."""
    memory = gpu_memory(config, is_loaded=True)
    if memory is None:
        return None
    return choose_passes(config, model_shape(network), lengths, share, memory, _cards())


def model_shape(network: Any) -> ModelShape:
    """Return the shape of a model, which may be on the meta device or have an adapter."""
    return ModelShape.from_config(network.config.get_text_config(), network.num_parameters())


def gpu_memory(config: TrainingConfig, is_loaded: bool) -> int | None:
    """Return how many bytes of GPUs a training may take; None if it uses none.

    Args:
        config: Settings of the training.
        is_loaded: Whether the model is loaded in this process. Else all of the memory counts, because asking for the
            free part would take some.
    """
    import torch

    if config.device.partition(":")[0] not in ("auto", "cuda") or not torch.cuda.is_available():
        return None
    index = torch.device(config.device).index if config.device != "auto" else None
    own = index if index is not None else torch.cuda.current_device() if is_loaded else 0
    devices = range(_cards()) if config.device_map is not None else (own,)
    if not is_loaded:
        return sum(int(torch.cuda.get_device_properties(device).total_memory) for device in devices)
    return sum(int(torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device)) for device in devices)


def _cards() -> int:
    import torch

    return int(torch.cuda.device_count())
