"""A completion model on this machine; what prompts and branches share is read once."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from housewise.language.base import Sampling
from housewise.language.completion import (
    MAX_TOKENS_OF_A_NUMBER,
    NUMBER_ALTERNATIVES,
    Continuation,
    DecodingStep,
    GenerationLimits,
    TextScore,
    Token,
)
from housewise.language.local.model import LocalChatModel

if TYPE_CHECKING:
    from housewise.language.local.batch_generator import PendingReply


class LocalCompletionModel:
    """Continues plain texts, without a chat template, with a model that may answer conversations at the same time.

    Branches are lists of token ids, so that a written text is continued exactly. All branches of a call are written in
    one batch; prompts and branches are read only where they differ from what has been read before.

    Args:
        model: An open model; the caller closes it.
        seed: Seed of the random number generator, or the generator.
    """

    can_branch = True

    def __init__(self, model: LocalChatModel, seed: int | random.Random = 0) -> None:
        self.name = model.name
        self._model = model
        self._chance = seed if isinstance(seed, random.Random) else random.Random(seed)
        # If digits are separate tokens, so is the space before a number, which then belongs to the question.
        self._spaced = len(model.tokens(" 1")) > 1

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See ``CompletionModel.extend``."""
        starts = [
            [id for token in branch for id in (self._model.tokens(token.text) if token.id is None else [token.id])]
            for branch in branches
        ]
        return self._write(prompt, starts, bounds, 0.0)

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See ``CompletionModel.sample``."""
        return self._write(prompt, [[] for _ in range(count)], bounds, temperature)

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See ``CompletionModel.answer``."""
        starts = [self._model.tokens(f"{question}{' ' if self._spaced else ''}") for question in questions]
        # Many tokenizers have a token for each digit.
        limits = GenerationLimits(MAX_TOKENS_OF_A_NUMBER, ("\n",), NUMBER_ALTERNATIVES)
        return self._write(f"{system}\n", starts, limits, 0.0)

    def score_texts(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """See ``TextScorer.score_texts``. Their common beginning is read once; an empty text has probability 1."""
        shared, continued = self._model.tokens(prompt, begins=True), [self._model.tokens(text) for text in texts]
        return [
            TextScore(math.exp(sum(scores) / max(1, len(scores))), len(shared) + len(scores))
            for scores in self._model.token_logprobs(shared, continued)
        ]

    def _write(
        self, prompt: str, starts: Sequence[list[int]], bounds: GenerationLimits, temperature: float
    ) -> list[Continuation]:
        """Continue several texts in one batch."""
        from housewise.language.local.batch_generator import PendingReply

        sampling = Sampling(
            temperature, max_tokens=bounds.max_tokens, stop=bounds.stop, alternatives=max(1, bounds.alternatives)
        )
        shared = self._model.tokens(prompt, begins=True)
        rows = []
        for start in starts:
            ids = [*shared, *start]
            chance = random.Random(self._chance.getrandbits(64))
            rows.append(PendingReply(ids, sampling, self._model.limit(ids, bounds.max_tokens), chance))
        self._model.write(rows)
        return [self._continuation(row) for row in rows]

    def _continuation(self, row: PendingReply) -> Continuation:
        before, steps = row.prompt, []
        for token, pairs in zip(row.tokens, row.alternatives, strict=True):
            texts = self._model.texts(before, [other for other, _ in pairs])
            chosen, *others = (
                Token("\n" if other in self._model.ends else text, math.exp(logprob), other)
                for text, (other, logprob) in zip(texts, pairs, strict=True)
            )
            steps.append(DecodingStep(chosen, tuple(others)))
            before = [token]
        return Continuation(tuple(steps), len(row.prompt), len(row.tokens), row.finish_reason)
