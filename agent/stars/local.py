"""A language model on this machine that goes on with texts, for the search tree: what prompts share is read once."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from housewise.agent.stars.continuing import Bounds, Continuation, Rating, Step, Token
from housewise.language.local.weights import SMOLLM2, load

if TYPE_CHECKING:
    from housewise.language.local.generation import Reader

_NUMBERS = 20  # alternatives of an answer that is a number
Pick = Callable[[Any], int]


class LocalContinuer:
    """Goes on with plain texts (no chat template) on the CPU or CUDA.

    Branches are on token ids, so that what has been written stands as it was. All branches of a call are written side
    by side; prompt and branches are read only where they differ from what has been read before.

    Args:
        model: as LocalChatModel takes it.
        adapter: folder of a PEFT adapter.
        device: any torch device, or ``"auto"``.
        dtype: ``"auto"``, ``"float32"``, ``"bfloat16"`` or ``"float16"``.
        batch_size: branches written at once.
        reuse_prefix: read what texts share once.
        seed: of what is drawn at a temperature.

    Raises:
        ChatModelError: when the model cannot be loaded; the message says what to install or change.
    """

    def __init__(
        self,
        model: str = SMOLLM2,
        adapter: str | Path | None = None,
        *,
        device: str = "auto",
        dtype: str = "auto",
        batch_size: int = 16,
        reuse_prefix: bool = True,
        seed: int = 0,
    ) -> None:
        self.name = f"local:{model}" + (f"+{Path(adapter).name}" if adapter else "")
        network, self._tokenizer = load(model, adapter, device, dtype)
        from housewise.language.local.generation import Reader

        self._reader: Reader = Reader(network, reuse_prefix)
        self._batch_size = batch_size
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self._ends = frozenset(
            token for token in (self._tokenizer.eos_token_id, network.generation_config.eos_token_id) if token
        )
        # Where digits are tokens of their own, the space before a number is one too and belongs to the question.
        self._spaced = len(self._ids(" 1")) > 1

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: Bounds) -> list[Continuation]:
        """See Continuer."""
        starts = [[token for each in branch for token in self._branch_ids(each)] for branch in branches]
        return self._write(prompt, starts, bounds, _argmax)

    def sample(self, prompt: str, count: int, temperature: float, bounds: Bounds) -> list[Continuation]:
        """See Continuer."""

        def pick(logits: Any) -> int:
            weights = (logits.double() / temperature).softmax(-1)
            return int(
                (weights.cumsum(-1) < self._chance.random() * float(weights.sum())).sum().clamp(max=len(weights) - 1)
            )

        return self._write(prompt, [[] for _ in range(count)], bounds, pick)

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See Continuer."""
        starts = [self._ids(f"{question}{' ' if self._spaced else ''}") for question in questions]
        return self._write(f"{system}\n", starts, Bounds(1, (), _NUMBERS), _argmax)

    def rate(self, prompt: str, texts: Sequence[str]) -> list[Rating]:
        """See Rater; what texts share is read once."""
        import torch

        shared = self._ids(prompt)
        found: list[Rating] = []
        continued = [self._ids(text) for text in texts]
        with self._lock, torch.inference_mode():
            for first in range(0, len(continued), self._batch_size):
                part = continued[first : first + self._batch_size]
                scores = self._reader.score(shared, part)
                found += [
                    Rating(math.exp(score / len(ids)), len(shared) + len(ids))
                    for score, ids in zip(scores, part, strict=True)
                ]
        return found

    def forget(self) -> None:
        """Drop what has been read."""
        with self._lock:
            self._reader.forget()

    def _write(self, prompt: str, starts: Sequence[list[int]], bounds: Bounds, pick: Pick) -> list[Continuation]:
        import torch

        shared = self._ids(prompt)
        written: list[Continuation] = []
        with self._lock, torch.inference_mode():
            for first in range(0, len(starts), self._batch_size):
                whole = [[*shared, *start] for start in starts[first : first + self._batch_size]]
                written += self._rows(whole, bounds, pick)
        return written

    def _rows(self, prompts: Sequence[list[int]], bounds: Bounds, pick: Pick) -> list[Continuation]:
        """Go on with several texts side by side; rows that end make room."""
        steps: list[list[Step]] = [[] for _ in prompts]
        ids = [list(prompt) for prompt in prompts]
        try:
            rows, logits = self._reader.admit(prompts)
            while rows:
                probabilities = logits.float().softmax(-1)
                for place, index in enumerate(rows):
                    token = pick(logits[place])
                    steps[index].append(self._step(ids[index], token, probabilities[place], bounds.alternatives))
                    ids[index].append(token)
                for place in reversed(range(len(rows))):
                    if self._ended(steps[rows[place]], ids[rows[place]][-1], bounds):
                        self._reader.drop(place)
                        rows[place] = rows[-1]
                        rows.pop()
                if rows:
                    logits = self._reader.step([ids[index][-1:] for index in rows])
        except BaseException:
            self._reader.forget()
            raise
        return [Continuation(tuple(said), len(prompt), len(said)) for prompt, said in zip(prompts, steps, strict=True)]

    def _step(self, before: list[int], token: int, probabilities: Any, count: int) -> Step:
        likely = probabilities.topk(min(count, len(probabilities)))
        pairs = dict(zip(likely.indices.tolist(), likely.values.tolist(), strict=True))
        others = [each for each in pairs if each != token][: count - 1]
        return Step(
            self._token(before, token, float(probabilities[token])),
            tuple(self._token(before, other, pairs[other]) for other in others),
        )

    def _token(self, before: list[int], token: int, probability: float) -> Token:
        """A token with its text behind what stands before it; the end of all text is a line's end."""
        if token in self._ends:
            return Token("\n", probability, token)
        anchor = before[-1:]
        return Token(self._decoded([*anchor, token])[len(self._decoded(anchor)) :], probability, token)

    def _ended(self, steps: list[Step], token: int, bounds: Bounds) -> bool:
        if token in self._ends or len(steps) >= bounds.most_tokens:
            return True
        said = "".join(step.token.text for step in steps)
        return any(stop in said for stop in bounds.stop)

    def _branch_ids(self, token: Token) -> list[int]:
        return self._ids(token.text) if token.id is None else [token.id]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False).input_ids
        return ids

    def _decoded(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text


def _argmax(logits: Any) -> int:
    return int(logits.argmax())
