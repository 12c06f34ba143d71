"""Leaves out of a training what cannot be learned from, and says how much and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from housewise.core.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class ExclusionReason:
    """A reason to leave examples out.

    Attributes:
        what: What they are or have, as in "left out as ...".
        remedy: What to do when it concerns too many.
        too_long: Whether it concerns their length: then not even half of all examples should be left out.
    """

    what: str
    remedy: str
    too_long: bool = False


SAME_REPLIES = ExclusionReason(
    "having the same reply twice", "there is nothing to prefer; give preferences whose two replies differ"
)
NOTHING_LEARNED = ExclusionReason("having nothing that is to be learned", "choose another wording, such as wording=done")
CUT = ExclusionReason(
    "cut at a limit, where the API would learn to end",
    "raise max_tokens for what is learned from, or train a local model",
)


def exclude(
    examples: Sequence[T], reason: Callable[[T], ExclusionReason | None], noun: str
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
    sentences = tuple(f"{count} of {len(examples)} {noun}s left out as {why.what}" for why, count in counted.items())
    too_long = sum(count for why, count in counted.items() if why.too_long)
    if counted and (not kept or 2 * too_long > len(examples)):
        [(commonest, _)] = counted.most_common(1)
        raise UserError(f"too little to learn from: {'; '.join(sentences)}; {commonest.remedy}")
    return kept, sentences
