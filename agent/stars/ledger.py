"""Remembers what models and people were asked, so that a run that was killed goes on without asking again.

All else about a run follows from the answers: it is played again from the ledger up to where it was, and goes on.
Conditions of one task have their first trees in common; with one ledger they are grown once.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from housewise.core.errors import DataError, UserError
from housewise.language.continuing import Bounds, Continuation, Continuer, Rater, Rating, Step, Token


class Ledger:
    """Answers by question, one JSON object a line, written as they come.

    Args:
        path: the file; None to keep answers in memory only.

    Raises:
        DataError: when a line in the middle is damaged; the last one may have been cut by a kill and is asked again.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._answers: dict[str, Any] = {}
        if path is not None and path.exists():
            self._read(path)

    def ask(self, question: object, answer: Callable[[], Any]) -> Any:
        """The answer that is remembered, else the one that is given now, which is remembered.

        Args:
            question: anything that JSON holds.
            answer: asks; what it brings is what JSON holds.
        """
        key = _key(question)
        if key not in self._answers:
            self._answers[key] = answer()
            self._write({"key": key, "answer": self._answers[key]})
        return self._answers[key]

    def knows(self, question: object) -> bool:
        """Whether an answer is remembered."""
        return _key(question) in self._answers

    def _write(self, line: dict[str, Any]) -> None:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def _read(self, path: Path) -> None:
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: not readable ({error}); restore the file, or remove it to ask anew") from error
        whole = content[: content.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                found = json.loads(line)
                self._answers[found["key"]] = found["answer"]
            except (ValueError, TypeError, KeyError) as error:
                raise DataError(f"{path} line {number}: damaged ({error}); take the line out to ask again") from error
        if whole != content:
            path.write_text(whole, encoding="utf-8")


class RememberedModel:
    """A model that is asked for everything once.

    Args:
        model: goes on with texts; None for one that must not be asked.
        ledger: remembers what it said.
        seed: tells draws of one run from those of another.
        name: of the model, where there is none.
    """

    def __init__(self, model: Continuer | None, ledger: Ledger, seed: int = 0, name: str = "") -> None:
        self._model, self._ledger, self._seed = model, ledger, seed
        self.name = model.name if model is not None else name
        self._drawn: Counter[str] = Counter()

    @property
    def branches(self) -> bool:
        """See Continuer."""
        return self._model is None or self._model.branches

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: Bounds) -> list[Continuation]:
        """See Continuer; branches that are remembered are not asked for with the others."""
        texts = [[token.text for token in branch] for branch in branches]
        keys = [self._question("extend", prompt, bounds, text) for text in texts]
        return self._fresh(
            keys, lambda places: self._open().extend(prompt, [branches[place] for place in places], bounds)
        )

    def sample(self, prompt: str, count: int, temperature: float, bounds: Bounds) -> list[Continuation]:
        """See Continuer; the same prompt drawn from again is another draw."""
        self._drawn[prompt] += 1
        question = self._question("sample", prompt, bounds, [count, temperature, self._seed, self._drawn[prompt]])
        found = self._ledger.ask(
            question, lambda: [_plain(reply) for reply in self._open().sample(prompt, count, temperature, bounds)]
        )
        return [_continuation(reply) for reply in found]

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See Continuer; questions that are remembered are not asked with the others."""
        keys = [["answer", self.name, system, question] for question in questions]
        return self._fresh(keys, lambda places: self._open().answer(system, [questions[place] for place in places]))

    def _fresh(self, keys: Sequence[object], ask: Callable[[list[int]], list[Continuation]]) -> list[Continuation]:
        """Ask for what is not remembered, all at once, and remember it."""
        places = [place for place, key in enumerate(keys) if not self._ledger.knows(key)]
        for place, reply in zip(places, ask(places) if places else [], strict=True):
            self._ledger.ask(keys[place], partial(_plain, reply))
        return [_continuation(self._ledger.ask(key, _unasked)) for key in keys]

    def rate(self, prompt: str, texts: Sequence[str]) -> list[Rating]:
        """See Rater; the model has to be one."""

        def rated() -> list[Any]:
            model = self._open()
            if not isinstance(model, Rater):
                raise UserError(f"model {model.name}: it does not rate texts; use a local one")
            return [asdict(rating) for rating in model.rate(prompt, texts)]

        return [Rating(**found) for found in self._ledger.ask(["rate", self.name, prompt, list(texts)], rated)]

    def _question(self, what: str, prompt: str, bounds: Bounds, more: list[Any]) -> list[Any]:
        return [what, self.name, prompt, asdict(bounds), more]

    def _open(self) -> Continuer:
        if self._model is None:
            raise DataError(f"the ledger does not have what {self.name or 'the model'} says; give the model")
        return self._model


def _unasked() -> Any:
    raise AssertionError("the ledger has just been given this answer")


def _key(question: object) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()


def _plain(reply: Continuation) -> Any:
    return asdict(reply)


def _continuation(found: Any) -> Continuation:
    steps = tuple(
        Step(Token(**step["token"]), tuple(Token(**other) for other in step["alternatives"])) for step in found["steps"]
    )
    return Continuation(steps, found["prompt_tokens"], found["completion_tokens"])
