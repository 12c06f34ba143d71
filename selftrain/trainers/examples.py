"""What is learned, as tokens: the same ones that the model is asked with and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from housewise.core.errors import UserError
from housewise.language.local.encoding import token_spans
from housewise.language.local.tokens import prompt_tokens, reply_tokens
from housewise.selftrain.personalize.pairs import Pair
from housewise.selftrain.trainers.selection import NOTHING_LEARNED, SAME_REPLIES, ExclusionReason, exclude

IGNORED = -100
"""Label of a token that is read and not learned; that of torch's cross entropy."""


def tokenize_demonstration(tokenizer: Any, pair: Pair, name: str) -> dict[str, list[int]]:
    """A pair as tokens: the prompt as the model will be given it, the reply as it will write it."""
    prompt = prompt_tokens(tokenizer, pair.messages, pair.prefix, name)
    reply = reply_tokens(tokenizer, pair.reply, pair.cut)
    before = _labels_of_earlier_turns(tokenizer, pair, prompt, name) if pair.turns else [IGNORED] * len(prompt)
    return {"input_ids": prompt + reply, "labels": before + _reply_labels(tokenizer, pair, reply)}


def _labels_of_earlier_turns(tokenizer: Any, pair: Pair, prompt: list[int], name: str) -> list[int]:
    """Labels of a prompt in which every turn of the assistant is learned as a reply to what stands before it.

    Raises:
        UserError: when the model reads earlier turns otherwise than it writes them.
    """
    labels = [IGNORED] * len(prompt)
    for index, message in enumerate(pair.messages):
        if message.role == "assistant":
            before = prompt_tokens(tokenizer, pair.messages[:index], pair.prefix, name)
            said = reply_tokens(tokenizer, message.content.removeprefix(pair.prefix))
            end = len(before) + len(said)
            if prompt[:end] != before + said:
                raise UserError(
                    f"model {name}: its chat template changes what was said in earlier turns, so that a whole "
                    "conversation cannot be learned at once; choose a model with another template"
                )
            labels[len(before) : end] = said
    return labels


def _reply_labels(tokenizer: Any, pair: Pair, reply: list[int]) -> list[int]:
    """A reply's tokens, with -100 for those that are given."""
    if not pair.given:
        return reply
    spans = token_spans(tokenizer, pair.reply)
    given = [any(start <= first and last <= end for start, end in pair.given) for first, last in spans]
    ends = [False] * (len(reply) - len(given))
    return [IGNORED if known else token for token, known in zip(reply, [*given, *ends], strict=True)]


def row_length(row: dict[str, list[int]]) -> int:
    """How many tokens a training reads of an example."""
    return sum(len(tokens) for name, tokens in row.items() if name != "labels")


def context_needed(row: dict[str, list[int]]) -> int:
    """Count the tokens that a model has to read at once: of two replies to a prompt, those of the longer one."""
    if "input_ids" in row:
        return len(row["input_ids"])
    return len(row["prompt"]) + max(len(row["chosen"]), len(row["rejected"]))


def learnable_rows(
    rows: Sequence[dict[str, list[int]]], noun: str, model: str, context: int, setting: str, most_tokens: int
) -> tuple[list[dict[str, list[int]]], tuple[str, ...]]:
    """Leave out rows that are too long, or that teach nothing.

    Args:
        rows: Examples as tokens.
        called: What an example is called.
        model: Name of the model.
        context: How many tokens it reads.
        setting: Name of the setting that limits them further.
        most_tokens: Its value.

    Returns:
        The others, and a sentence for each reason to leave rows out.

    Raises:
        UserError: When there is none or none is left, or more than half of them are too long.
    """
    if not rows:
        raise UserError(f"there is no {noun} to learn from")
    longest = max(map(context_needed, rows))
    beyond_model = ExclusionReason(
        f"longer than {context} tokens, all that {model} reads",
        f"the longest has {longest} tokens, and {setting} is {most_tokens}; train a model that reads more, or choose a "
        "shorter prompt",
        too_long=True,
    )
    beyond_setting = ExclusionReason(
        f"longer than {most_tokens} tokens ({setting}={most_tokens})",
        f"the longest has {max(map(row_length, rows))} tokens; raise {setting}",
        too_long=True,
    )

    def reason(row: dict[str, list[int]]) -> ExclusionReason | None:
        if context_needed(row) > context:
            return beyond_model
        if row_length(row) > most_tokens:
            return beyond_setting
        if "labels" in row:
            return None if any(label != IGNORED for label in row["labels"]) else NOTHING_LEARNED
        return SAME_REPLIES if row["chosen"] == row["rejected"] else None

    return exclude(rows, reason, noun)
