"""Questions whose options have letters: the log-probabilities of the first token say how likely each option is.

A server scores no given texts, but reports the likeliest tokens of a reply. One question about an object compares all
its places, and the questions about all objects are asked at once.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling

MAX_OPTIONS = 20
"""Largest number of options in a question: servers report so many tokens."""
_SAMPLING = Sampling(temperature=0.0, max_tokens=1, alternatives=MAX_OPTIONS)
# What models write around a letter.
_MARKS = string.whitespace + string.punctuation + "▁Ġ"


@dataclass(frozen=True)
class LetteredQuestion:
    """A question with options.

    Attributes:
        text: The question.
        options: Its options. The last one is in every part of a question that has too many, so that scores of all parts
            can be compared.
    """

    text: str
    options: Sequence[str]


def score_options(
    model: ChatModel, messages: tuple[Message, ...], questions: Sequence[LetteredQuestion]
) -> list[list[float]]:
    """Return the natural log-probability of each option of several questions, which are asked at once.

    Args:
        model: Model that returns log-probabilities.
        messages: What the model reads before each question.
        questions: The questions.

    Raises:
        UserError: The model returns no log-probabilities.
    """
    parts = [_split(question.options) for question in questions]
    requests = [
        ChatRequest(_ask(messages, question.text, options), _SAMPLING, may_be_empty=True)
        for question, split in zip(questions, parts, strict=True)
        for options in split
    ]
    replies = iter(model.complete(requests))
    found = []
    for split in parts:
        scores = [
            _letter_scores(model.name, reply, len(options))
            for options, [reply] in zip(split, islice(replies, len(split)), strict=True)
        ]
        first = scores[0][-1]
        # Only the first part has log-probabilities of its own; the last option of the others is its last one.
        compared = [[score - part[-1] + first for score in part[:-1]] for part in scores]
        found.append([*(score for part in compared for score in part), first])
    return found


def _split(options: Sequence[str]) -> list[list[str]]:
    *others, last = options
    size = MAX_OPTIONS - 1
    return [[*others[start : start + size], last] for start in range(0, max(len(others), 1), size)]


def _ask(messages: tuple[Message, ...], text: str, options: Sequence[str]) -> tuple[Message, ...]:
    """Return messages that end with a question; templates may refuse two turns of the user."""
    lines = [f"{letter}: {option}" for letter, option in zip(string.ascii_uppercase, options, strict=False)]
    question = "\n".join([text, *lines, "Answer with one letter."])
    *earlier, last = messages
    if last.role != "user":
        return (*messages, Message("user", question))
    return (*earlier, replace(last, content=f"{last.content}\n\n{question}"))


def _letter_scores(name: str, reply: Reply, count: int) -> list[float]:
    """Return the log-probability of each letter: of all tokens that write it, or else of the least likely token.

    A note says once that no token writes a letter: all options then have the same score.
    """
    if not reply.alternatives:
        raise UserError(
            f"model {name}: returns no log-probabilities of its tokens, which placements are scored by; set "
            "score_placements=false, or use a server that returns them"
        )
    tokens = reply.alternatives[0]
    written: dict[str, float] = {}
    for token in tokens:
        letter = token.text.strip(_MARKS)
        written[letter] = written.get(letter, 0.0) + math.exp(token.logprob)
    letters = string.ascii_uppercase[:count]
    if not any(letter in written for letter in letters):
        print_note(
            f"model {name}: none of its likeliest first tokens is a letter of the question about an object's place, so "
            "that all places have the same score; for a model that thinks, set chat_template_kwargs={enable_thinking: "
            "false}, or else score_placements=false"
        )
    least = math.exp(min(token.logprob for token in tokens))
    return [math.log(max(written.get(letter, least), 1e-300)) for letter in letters]
