"""What is learned, as tokens: the same ones that the model is asked with and writes."""

from __future__ import annotations

from typing import Any

from housewise.core.errors import UserError
from housewise.language.local.encoding import token_spans
from housewise.language.local.tokens import prompt_tokens, reply_tokens
from housewise.selftrain.personalize.pairs import Pair


def pair_tokens(tokenizer: Any, pair: Pair, name: str) -> dict[str, list[int]]:
    """A pair as tokens: the prompt as the model will be given it, the reply as it will write it."""
    prompt = prompt_tokens(tokenizer, pair.messages, pair.prefix, name)
    reply = reply_tokens(tokenizer, pair.reply)
    before = _earlier(tokenizer, pair, prompt, name) if pair.turns else [-100] * len(prompt)
    return {"input_ids": prompt + reply, "labels": before + _learned(tokenizer, pair, reply)}


def _earlier(tokenizer: Any, pair: Pair, prompt: list[int], name: str) -> list[int]:
    """Labels of a prompt in which every turn of the assistant is learned as a reply to what stands before it.

    Raises:
        UserError: when the model reads earlier turns otherwise than it writes them.
    """
    labels = [-100] * len(prompt)
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


def _learned(tokenizer: Any, pair: Pair, reply: list[int]) -> list[int]:
    """A reply's tokens, with -100 for those that are given."""
    if not pair.given:
        return reply
    spans = token_spans(tokenizer, pair.reply)
    given = [any(start <= first and last <= end for start, end in pair.given) for first, last in spans]
    return [-100 if known else token for token, known in zip(reply, [*given, False], strict=True)]


def row_length(row: dict[str, list[int]]) -> int:
    """How many tokens a training reads of an example."""
    return sum(len(tokens) for name, tokens in row.items() if name != "labels")
