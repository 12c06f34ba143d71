"""Tables of the memory and the time that models of several sizes need on a GPU, computed from their shapes."""

from __future__ import annotations

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import Drawn, markdown
from housewise.selftrain.trainers.memory_estimate import (
    GIB,
    SERVER_SHARE,
    ModelShape,
    TrainingLoad,
    estimate_serving_memory,
    estimate_training_memory,
    training_flops,
)

_SHAPES = {
    "1.5B (Qwen2.5)": ModelShape(1_543_714_304, 28, 1536, 8960, 1536, 256, 151936, is_tied=True),
    "7B (Qwen2.5)": ModelShape(7_615_616_512, 28, 3584, 18944, 3584, 512, 152064),
    "14B (Qwen2.5)": ModelShape(14_770_033_664, 48, 5120, 13824, 5120, 1024, 152064),
    "32B (Qwen2.5)": ModelShape(32_763_876_352, 64, 5120, 27648, 5120, 1024, 152064),
    "70B (Llama 3.1)": ModelShape(70_553_706_496, 80, 8192, 28672, 8192, 1024, 128256),
}
_CARDS = {"24 GB": 24, "48 GB": 48, "80 GB": 80}
_USABLE = 0.98
"""Share of its nominal memory that a card gives to programs."""
_SPEEDS = {"RTX 4090": 165e12, "L40S": 362e12, "A100": 312e12, "H100": 989e12}
"""Operations a second in bfloat16 with dense matrices, from the makers' data sheets."""
UTILISATION = 0.4
"""Share of them that a training is supposed to reach."""
_TOKENS, _LEARNED, _SERVED, _EXAMPLES = 4096, 256, 8192, 1000
_MAX_CARDS = (1, 2, 4, 8)


def _draw_memory(files: FigureFiles) -> str:
    rows = []
    for name, shape in _SHAPES.items():
        training = [_training(shape, is_quantized) for is_quantized in (False, True)]
        serving = [estimate_serving_memory(shape, _SERVED, is_quantized=quantized).total for quantized in (False, True)]
        cards = [_cell(shape, size, *training) for size in _CARDS.values()]
        rows.append([name, *(f"{size / GIB:.0f}" for size in (*training, *serving)), *cards])
    heads = ("model", "training", "training, 4 bits", "vLLM", "vLLM, 4 bits", *_CARDS)
    return markdown(heads, rows)


def _training(shape: ModelShape, is_quantized: bool) -> float:
    load = TrainingLoad(_TOKENS, _LEARNED, is_quantized=is_quantized, is_checkpointed=True)
    return estimate_training_memory(shape, load).total


def _cell(shape: ModelShape, size: int, whole: float, quantized: float) -> str:
    """Return how a model is trained on one card, and on how many cards it is served."""
    room = size * _USABLE * GIB
    trained = "16 bits" if whole <= room else "4 bits" if quantized <= room else "several cards"
    served = (
        str(cards)
        for cards in _MAX_CARDS
        if estimate_serving_memory(shape, _SERVED, cards=cards).total <= SERVER_SHARE * room
    )
    return f"{trained}; vLLM on {next(served, 'more than 8')}"


def _draw_time(files: FigureFiles) -> str:
    rows = []
    for name, shape in _SHAPES.items():
        again, once = (training_flops(shape, _EXAMPLES * _TOKENS, checkpointed) for checkpointed in (True, False))
        minutes = [[flops / speed / UTILISATION / 60 for flops in (again, once)] for speed in _SPEEDS.values()]
        rows.append([name, *(f"{slow:.0f} ({fast:.0f})" for slow, fast in minutes)])
    return markdown(("model", *(f"{card}, minutes" for card in _SPEEDS)), rows)


MEMORY_TABLES: dict[str, Drawn] = {"memory of models": _draw_memory, "time of trainings": _draw_time}
"""How each table is drawn, by the name that a mark says."""
