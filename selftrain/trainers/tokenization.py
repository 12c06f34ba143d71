"""Converts training examples to tokens: the same tokens that the model reads and writes when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from housewise.core.errors import UserError
from housewise.language.local.encoding import token_spans
from housewise.language.local.tokens import prompt_tokens, reply_tokens
from housewise.selftrain.examples import Demonstration, Preference

IGNORED = -100
"""Label of a token that is read but not learned, as in torch's cross entropy."""


def tokenize_demonstration(
    tokenizer: Any, example: Demonstration, model: str, template: Mapping[str, Any] | None = None
) -> dict[str, list[int]]:
    """Return ``input_ids`` (the prompt as the model reads it, the reply as it writes it) and ``labels``.

    Args:
        tokenizer: Tokenizer of the model.
        example: What is learned.
        model: Name of the model, for errors.
        template: Arguments of the chat template.
    """
    prompt = prompt_tokens(tokenizer, example.messages, example.prefix, model, template)
    reply = reply_tokens(tokenizer, example.reply, example.cut)
    earlier = [IGNORED] * len(prompt)
    if example.turns:
        earlier = _labels_of_earlier_turns(tokenizer, example, prompt, model, template)
    return {"input_ids": prompt + reply, "labels": earlier + _reply_labels(tokenizer, example, reply)}


def tokenize_preference(
    tokenizer: Any, example: Preference, model: str, template: Mapping[str, Any] | None = None
) -> dict[str, list[int]]:
    """Return the tokens of ``prompt``, ``chosen`` and ``rejected``; see tokenize_demonstration."""
    return {
        "prompt": prompt_tokens(tokenizer, example.messages, example.prefix, model, template),
        "chosen": reply_tokens(tokenizer, example.chosen),
        "rejected": reply_tokens(tokenizer, example.rejected),
    }


def _labels_of_earlier_turns(
    tokenizer: Any, example: Demonstration, prompt: list[int], model: str, template: Mapping[str, Any] | None
) -> list[int]:
    """Return labels of a prompt in which every message of the assistant is learned as a reply to those before it.

    Raises:
        UserError: The model reads earlier turns in other tokens than it writes.
    """
    labels = [IGNORED] * len(prompt)
    for index, message in enumerate(example.messages):
        if message.role == "assistant":
            before = prompt_tokens(tokenizer, example.messages[:index], example.prefix, model, template)
            reply = reply_tokens(tokenizer, message.content.removeprefix(example.prefix))
            end = len(before) + len(reply)
            if prompt[:end] != before + reply:
                raise UserError(
                    f"model {model}: its chat template changes what was said in earlier turns, so that a whole "
                    "conversation cannot be learned at once; choose a model with another template"
                )
            labels[len(before) : end] = reply
    return labels


def _reply_labels(tokenizer: Any, example: Demonstration, reply: list[int]) -> list[int]:
    """Return the labels of a reply: its tokens, or IGNORED for those that are given."""
    if not example.given:
        return reply
    spans = token_spans(tokenizer, example.reply)
    is_given = [any(start <= first and last <= end for start, end in example.given) for first, last in spans]
    ends = [False] * (len(reply) - len(is_given))
    return [IGNORED if given else token for token, given in zip(reply, [*is_given, *ends], strict=True)]


def row_length(row: dict[str, list[int]]) -> int:
    """Count the tokens that a training reads of an example."""
    return sum(len(tokens) for name, tokens in row.items() if name != "labels")


def learned_length(row: dict[str, list[int]]) -> int:
    """Count the tokens of an example that are learned: of a preference, those of both replies."""
    if "labels" in row:
        return sum(label != IGNORED for label in row["labels"])
    return len(row["chosen"]) + len(row["rejected"])


def context_needed(row: dict[str, list[int]]) -> int:
    """Count the tokens that a model reads at once: of a preference, the prompt with the longer reply."""
    if "input_ids" in row:
        return len(row["input_ids"])
    return len(row["prompt"]) + max(len(row["chosen"]), len(row["rejected"]))
