"""A chat model used as a completion model."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling, TokenLogprob
from housewise.language.completion import (
    MAX_TOKENS_OF_A_NUMBER,
    NUMBER_ALTERNATIVES,
    Continuation,
    DecodingStep,
    GenerationLimits,
    Token,
)
from housewise.language.thoughts import is_turn_mark

_LONGEST_TOKEN = 20  # characters per token, for a reply without token texts
_FEWEST_REPEATED = 2  # words; a single repeated word may be intended
_WORD = re.compile(r"\S+")


class ChatCompletionModel:
    """Continues texts by conversations with a chat model.

    If the model can continue its own turn, a branch is the beginning of that turn. Otherwise the branch is appended to
    the text in the prompt, and the reply loses what it repeats of that text.

    A model that returns no alternatives cannot branch: each of its replies is one step of probability 1.

    Args:
        model: An open model; the caller closes it.
        instruction: System message that asks the model to continue the text.
        continues: Whether the model can continue its own turn.
        seed: Seed of the random number generator.
    """

    def __init__(self, model: ChatModel, instruction: str, continues: bool, seed: int = 0) -> None:
        self.name = model.name
        self.can_branch = True
        self._model, self._instruction, self._continues = model, instruction, continues
        self._chance = random.Random(seed)

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See ``CompletionModel.extend``."""
        sampling = _sampling(bounds, 0.0, bounds.alternatives)
        starts = ["".join(token.text for token in branch) for branch in branches]
        replies = self._model.complete([self._request(prompt, sampling, start) for start in starts])
        return [
            self._continuation(reply, bounds.max_tokens, prompt, start)
            for start, [reply] in zip(starts, replies, strict=True)
        ]

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See ``CompletionModel.sample``."""
        sampling = _sampling(bounds, temperature, bounds.alternatives, count, self._chance.getrandbits(31))
        [replies] = self._model.complete([self._request(prompt, sampling)])
        return [self._continuation(reply, bounds.max_tokens, prompt) for reply in replies]

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See ``CompletionModel.answer``; blanks before the number are left out."""
        sampling = _sampling(GenerationLimits(MAX_TOKENS_OF_A_NUMBER), 0.0, NUMBER_ALTERNATIVES)
        turns = [Message("system", system)] if system else []
        requests = [
            ChatRequest((*turns, Message("user", question)), sampling, may_be_empty=True) for question in questions
        ]
        return [self._continuation(reply, MAX_TOKENS_OF_A_NUMBER) for [reply] in self._model.complete(requests)]

    def _request(self, prompt: str, sampling: Sampling, start: str = "") -> ChatRequest:
        turns = [Message("system", self._instruction)] if self._instruction else []
        text, prefix = (prompt, start) if self._continues else (prompt + start, "")
        return ChatRequest((*turns, Message("user", text)), sampling, prefix, may_be_empty=True)

    def _continuation(self, reply: Reply, most: int, prompt: str = "", start: str = "") -> Continuation:
        if reply.alternatives is None:
            self.can_branch = False
            steps = [DecodingStep(Token(reply.text[: most * _LONGEST_TOKEN], 1.0))]
        else:
            steps = [_decoding_step(place) for place in reply.alternatives[: most + len(start)]]
        if not (self._continues and start):
            # Drop leading blanks, and what repeats the text.
            while steps and not steps[0].token.text.strip():
                del steps[0]
            steps = _drop_characters(steps, _repeated_length(Continuation(tuple(steps)).text, prompt + start))
        return Continuation(tuple(steps[:most]), reply.prompt_tokens, reply.completion_tokens, reply.finish_reason)


def _sampling(
    bounds: GenerationLimits, temperature: float, alternatives: int, count: int = 1, seed: int | None = None
) -> Sampling:
    return Sampling(
        temperature, max_tokens=bounds.max_tokens, n=count, stop=bounds.stop, seed=seed, alternatives=alternatives
    )


def _decoding_step(place: Sequence[TokenLogprob]) -> DecodingStep:
    # Servers such as vLLM list the token that ends the turn with its own text.
    chosen, *others = (
        Token("\n" if is_turn_mark(text) else text, min(1.0, math.exp(logprob))) for text, logprob in place
    )
    return DecodingStep(chosen, tuple(others))


def _repeated_length(reply: str, text: str) -> int:
    """Return how many characters of a reply repeat the end of a text's last line, ignoring case."""
    line = text.rpartition("\n")[2]
    words = [match.start() for match in _WORD.finditer(line)]
    for first in words[: max(0, len(words) - _FEWEST_REPEATED + 1)]:
        if reply.lower().startswith(line[first:].lower()):
            return len(line) - first
    return 0


def _drop_characters(steps: Sequence[DecodingStep], characters: int) -> list[DecodingStep]:
    """Return the steps without the given number of leading characters."""
    left = list(steps)
    while characters and left:
        text = left[0].token.text
        if len(text) <= characters:
            del left[0]
        else:
            # The alternatives to a part of a token are unknown.
            left[0] = DecodingStep(Token(text[characters:], left[0].token.probability))
        characters -= min(characters, len(text))
    return left
