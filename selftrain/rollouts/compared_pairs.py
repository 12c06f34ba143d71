"""Chooses the prompts with replies whose log-probabilities trainer and server compare."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from housewise.selftrain.examples import Demonstration, EpisodeDemonstration, read_examples


def choose_pairs(examples: Path, count: int, prefix: str, fits: Callable[[Demonstration], bool]) -> list[Demonstration]:
    """Return pairs that were learned, evenly chosen, and invented ones where these are too few.

    Args:
        examples: File with the examples that a model has learned; it may be missing.
        count: Number of pairs.
        prefix: Beginning of the replies of invented pairs.
        fits: Whether a pair is short enough for trainer and servers.
    """
    learned = read_examples(examples, EpisodeDemonstration) if examples.exists() else []
    usable = [pair for pair in learned if pair.prompt and pair.reply.strip()]
    step = max(len(usable) // count, 1)
    in_order = [*usable[::step], *(pair for number, pair in enumerate(usable) if number % step)]
    # Servers may drop blanks at the end of a turn.
    pairs = (Demonstration(prompt=pair.prompt, prefix=pair.prefix, reply=pair.reply.rstrip()) for pair in in_order)
    chosen = list(islice(filter(fits, pairs), count))
    return chosen + [_invent_pair(number, prefix) for number in range(len(chosen), count)]


def _invent_pair(number: int, prefix: str) -> Demonstration:
    prompt = (
        {"role": "system", "content": "You tidy a house."},
        {"role": "user", "content": f"kitchen {number}: counter {number} with mug {number}, shelf {number + 1} empty."},
    )
    reply = f" pick up mug {number}\nstep 2: place on shelf {number + 1}"
    return Demonstration(prompt=prompt, prefix=prefix, reply=reply)
