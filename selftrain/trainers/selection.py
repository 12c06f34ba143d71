"""Leaves out of a training what cannot be learned from, and says how much and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from housewise.core.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class LeftOut:
    """A reason to leave examples out.

    Attributes:
        what: What they are or have, as in "left out as ...".
        remedy: What to do when it concerns too many.
        too_long: Whether it concerns their length: then not even half of all examples should be left out.
    """

    what: str
    remedy: str
    too_long: bool = False


SAME_REPLIES = LeftOut(
    "having the same reply twice", "there is nothing to prefer; give preferences whose two replies differ"
)
NOTHING_LEARNED = LeftOut("having nothing that is to be learned", "choose another wording, such as wording=done")
CUT = LeftOut(
    "cut at a limit, where the API would learn to end",
    "raise max_tokens for what is learned from, or train a local model",
)


def select(
    examples: Sequence[T], reason: Callable[[T], LeftOut | None], called: str
) -> tuple[list[T], tuple[str, ...]]:
    """Leave out what cannot be learned from.

    Args:
        examples: All there is.
        reason: Gives the reason to leave an example out; None where there is none.
        called: What an example is called.

    Returns:
        The others, and a sentence for each reason.

    Raises:
        UserError: When none is left, or more than half are left out for their length.
    """
    reasons = list(map(reason, examples))
    kept = [example for example, why in zip(examples, reasons, strict=True) if why is None]
    counted = Counter(why for why in reasons if why is not None)
    sentences = tuple(f"{count} of {len(examples)} {called}s left out as {why.what}" for why, count in counted.items())
    too_long = sum(count for why, count in counted.items() if why.too_long)
    if counted and (not kept or 2 * too_long > len(examples)):
        [(commonest, _)] = counted.most_common(1)
        raise UserError(f"too little to learn from: {'; '.join(sentences)}; {commonest.remedy}")
    return kept, sentences
