"""Measures how fast the local model reads and writes, next to transformers' own ``generate`` in the same run.

Run ``python -m housewise.experiments.bench.model_speed``. Both sides answer the same prompts, which share a beginning
as the prompts of a planner do. They take turns, so that whatever else the machine does slows both, and the best round
of each counts.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from housewise.core.files import write_json
from housewise.core.provenance import provenance
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.weights import load_model

CONVERSATIONS = (1, 4, 8, 16)


@dataclass(frozen=True)
class Load:
    """What both sides have to do.

    Attributes:
        shared: tokens that all prompts begin with.
        own: further tokens of each prompt.
        written: tokens of each reply.
    """

    shared: int = 600
    own: int = 200
    written: int = 32


@dataclass(frozen=True)
class Speed:
    """Tokens per second, all conversations together, and how many times that is what ``generate`` reaches.

    Attributes:
        conversations: number of conversations at once.
        reading: prompt tokens, when nothing has been read before.
        reading_ratio: against ``generate``.
        next_reading: prompt tokens, when an earlier call has read the shared beginning.
        next_reading_ratio: against ``generate``.
        writing: reply tokens.
        writing_ratio: against ``generate``.
    """

    conversations: int
    reading: float
    reading_ratio: float
    next_reading: float
    next_reading_ratio: float
    writing: float
    writing_ratio: float


def measure(network: Any, plain: Any, conversations: int, work: Load, rounds: int) -> Speed:
    """Time both sides with some conversations at once.

    Args:
        network: the model as the local model runs it.
        plain: the same model as transformers runs it.
        conversations: number of conversations.
        work: sizes of prompts and replies.
        rounds: how often each side is timed.

    Returns:
        The speeds of the best rounds.
    """
    first, second = _prompts(conversations, work)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_reader_seconds(network, first, second, work.written))
        theirs.append(_generate_seconds(plain, first, work.written))
    read, read_next, write = (min(times) for times in zip(*ours, strict=True))
    plain_read, plain_write = (min(times) for times in zip(*theirs, strict=True))
    prompt_tokens, reply_tokens = conversations * (work.shared + work.own), conversations * work.written
    return Speed(
        conversations=conversations,
        reading=prompt_tokens / read,
        reading_ratio=plain_read / read,
        next_reading=prompt_tokens / read_next,
        next_reading_ratio=plain_read / read_next,
        writing=reply_tokens / write,
        writing_ratio=plain_write / write,
    )


def _prompts(conversations: int, work: Load) -> tuple[list[list[int]], list[list[int]]]:
    """Prompts of two calls in a row, which share their beginning."""
    chance = random.Random(0)
    shared, *own = (
        [chance.randrange(1000, 40000) for _ in range(count)]
        for count in [work.shared, *[work.own] * (2 * conversations)]
    )
    prompts = [shared + part for part in own]
    return prompts[:conversations], prompts[conversations:]


def _reader_seconds(
    network: Any, first: Sequence[Sequence[int]], second: Sequence[Sequence[int]], written: int
) -> tuple[float, float, float]:
    """Seconds to read a first call's prompts, to read a second call's, and to write its replies."""
    from housewise.language.local.model_runner import ModelRunner
    from housewise.language.local.token_sampling import sample_tokens

    reader, count = ModelRunner(network), len(first)

    def write(logits: Any) -> None:
        for _ in range(written):
            tokens, _ = sample_tokens(logits, [1.0] * count, [1.0] * count, [0.5] * count)
            logits = reader.append_tokens([[token] for token in tokens])

    read, _ = _time_call(lambda: reader.add_rows(first))
    while reader.rows:
        reader.remove_row(reader.rows - 1)
    read_next, (_, begun) = _time_call(lambda: reader.add_rows(second))
    return read, read_next, _time_call(lambda: write(begun))[0]


def _generate_seconds(plain: Any, prompts: Sequence[Sequence[int]], written: int) -> tuple[float, float]:
    """Seconds that ``generate`` takes to read the prompts, and to write the replies."""
    import torch

    ids = torch.tensor(prompts, device=plain.device)
    options = {"attention_mask": torch.ones_like(ids), "do_sample": True, "pad_token_id": 0}

    def generate(tokens: int) -> None:
        plain.generate(ids, min_new_tokens=tokens, max_new_tokens=tokens, **options)

    read, _ = _time_call(lambda: generate(1))
    whole, _ = _time_call(lambda: generate(1 + written))
    return read, whole - read


def _time_call(action: Callable[[], Any]) -> tuple[float, Any]:
    import torch

    with torch.inference_mode():
        start = time.perf_counter()
        result = action()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter() - start, result


def main() -> None:
    """Measure and print."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", default=SMOLLM2, help="smollm2, a folder or a Hugging Face name")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--rounds", type=int, default=3, help="times that each side is measured")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments, made = parser.parse_args(), provenance()
    network, plain = (load_model(arguments.model, None, arguments.device, arguments.dtype)[0] for _ in range(2))
    work = Load()
    setting = f"{arguments.model}, {network.dtype}".replace("torch.", "") + f", {network.device}"
    print(f"{setting}, {torch.get_num_threads()} threads; prompts of {work.shared} shared and {work.own} own tokens")
    print("tokens/s (times plain generate)")
    print(f"{'conversations':>13} {'reading':>16} {'reading next':>16} {'writing':>16}")
    speeds = []
    for conversations in CONVERSATIONS:
        speed = measure(network, plain, conversations, work, arguments.rounds)
        speeds.append(speed)
        cells = (
            (speed.reading, speed.reading_ratio),
            (speed.next_reading, speed.next_reading_ratio),
            (speed.writing, speed.writing_ratio),
        )
        row = " ".join(f"{value:8.0f} ({ratio:4.1f}x)" for value, ratio in cells)
        print(f"{conversations:13d} {row}", flush=True)
    if arguments.json:
        figures = {"setting": setting, "load": asdict(work), "speeds": [asdict(speed) for speed in speeds]}
        write_json(arguments.json, {**figures, **made})
    most = speeds[-1]
    print(
        f"writing {most.conversations} conversations at once: {most.writing:.0f} tokens/s, "
        f"{most.writing_ratio:.1f} times plain generate"
    )


if __name__ == "__main__":
    main()
