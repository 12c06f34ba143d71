"""Leaves out examples that nothing can be learned from, and reports how many and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from housewise.core.errors import UserError
from housewise.selftrain.trainers.tokenization import IGNORED, context_needed, row_length

T = TypeVar("T")


@dataclass(frozen=True)
class ExclusionReason:
    """A reason to leave examples out.

    Attributes:
        description: What is wrong with them, as in "left out as ...".
        remedy: What to do when it concerns too many.
        is_length: Whether it is about their length. Then fewer than half of all examples may be left out.
    """

    description: str
    remedy: str
    is_length: bool = False


class TooFewExamplesError(UserError):
    """Raised where too few examples remain to train a model.

    Args:
        problem: What is wrong.
        advice: What to do.

    Attributes:
        problem: What is wrong.
    """

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(f"{problem}; {advice}")
        self.problem = problem


SAME_REPLIES = ExclusionReason(
    "having the same reply twice", "there is nothing to prefer; give preferences whose two replies differ"
)
NOTHING_LEARNED = ExclusionReason(
    "having nothing that is to be learned", "choose another target, such as target=executed"
)
CUT = ExclusionReason(
    "cut at a limit, where the API would learn to end",
    "raise max_tokens for what is learned from, or train a local model",
)


def exclude(
    examples: Sequence[T], reason: Callable[[T], ExclusionReason | None], noun: str
) -> tuple[list[T], tuple[str, ...]]:
    """Leave out examples that nothing can be learned from.

    Args:
        examples: All examples.
        reason: Returns the reason to leave an example out, or None to keep it.
        noun: What one example is called.

    Returns:
        The examples that remain, and a sentence for each reason.

    Raises:
        TooFewExamplesError: No example remains, and none is left out for its length.
        UserError: More than half are left out for their length.
    """
    reasons = list(map(reason, examples))
    remaining = [example for example, why in zip(examples, reasons, strict=True) if why is None]
    counts = Counter(why for why in reasons if why is not None)
    sentences = tuple(
        f"{count} of {len(examples)} {noun}s left out as {why.description}" for why, count in counts.items()
    )
    too_long = sum(count for why, count in counts.items() if why.is_length)
    if counts and (not remaining or 2 * too_long > len(examples)):
        remedies = dict.fromkeys(why.remedy for why, _ in counts.most_common() if why.is_length or not remaining)
        problem, advice = f"too little to learn from: {'; '.join(sentences)}", "; ".join(remedies)
        raise UserError(f"{problem}; {advice}") if too_long else TooFewExamplesError(problem, advice)
    return remaining, sentences


def learnable_rows(
    rows: Sequence[dict[str, list[int]]], noun: str, model: str, context: int, setting: str, max_tokens: int
) -> tuple[list[dict[str, list[int]]], tuple[str, ...]]:
    """Leave out rows that are too long, or that teach nothing.

    Args:
        rows: Examples as tokens.
        noun: What one example is called.
        model: Name of the model.
        context: Number of tokens that the model can read.
        setting: Name of the setting that limits the number of tokens further.
        max_tokens: Value of that setting.

    Returns:
        The rows that remain, and a sentence for each reason to leave rows out.

    Raises:
        UserError: No row remains, or more than half of the rows are too long.
    """
    longest = max(map(context_needed, rows))
    beyond_model = ExclusionReason(
        f"longer than {context} tokens, all that {model} reads",
        f"the longest has {longest} tokens, and {setting} is {max_tokens}; train a model that reads more, or choose a "
        "shorter prompt",
        is_length=True,
    )
    beyond_setting = ExclusionReason(
        f"longer than {max_tokens} tokens ({setting}={max_tokens})",
        f"the longest has {max(map(row_length, rows))} tokens; raise {setting}",
        is_length=True,
    )

    def reason(row: dict[str, list[int]]) -> ExclusionReason | None:
        if context_needed(row) > context:
            return beyond_model
        if row_length(row) > max_tokens:
            return beyond_setting
        if "labels" in row:
            return None if any(label != IGNORED for label in row["labels"]) else NOTHING_LEARNED
        return SAME_REPLIES if row["chosen"] == row["rejected"] else None

    return exclude(rows, reason, noun)
