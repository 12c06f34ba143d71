"""Hears what a person wants to do out of their words: the kind of task, and the things, colours and rooms in it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, RootModel, model_validator

from housewise.core.configs import CONFIGS
from housewise.core.errors import suggest_names
from housewise.core.validation import StrictModel, read_model
from housewise.people.lab.verb_spotting import HERE, take_room
from housewise.people.lab.vocabulary import load_vocabulary, tokenize
from housewise.worlds.lab.goals import TASKS
from housewise.worlds.lab.history import clip_speech, name_pattern
from housewise.worlds.lab.kinds import KINDS

# Sentences about where a thing is or how it looks; they name things, but no task.
_QUESTION = re.compile(
    r"[^.?!;]*\b(where|which|what does|look like|looks? for|recogni[sz]e|see|find|describe"
    r"|is (?:this|that|it)|there (?:is|are))\b[^.?!;]*[.?!;]*",
    re.IGNORECASE,
)

TASK_CARDS_FILE = CONFIGS / "basis" / "knowledge" / "tasks.yaml"


class TaskCard(StrictModel):
    """Knowledge about a kind of task.

    Attributes:
        title: What the person wants.
        hear: Groups of words; one word of each group has to be said.
        unless: Words of other tasks.
        steps: General steps.
    """

    title: str
    hear: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)]
    unless: tuple[str, ...] = ()
    steps: Annotated[tuple[str, ...], Field(min_length=1)]

    def fit(self, words: Collection[str]) -> int:
        """Return the number of groups that were said; 0 if the words are not about this task."""
        key_of = load_vocabulary().key_of
        if any(key_of(word) in words for word in self.unless):
            return 0
        said = [any(key_of(word) in words for word in group) for group in self.hear]
        return len(said) if all(said) else 0


class _TaskCards(RootModel[dict[str, TaskCard]]):
    @model_validator(mode="after")
    def _check(self) -> _TaskCards:
        if unknown := sorted({*self.root} - {*TASKS}):
            raise ValueError(f"field {unknown[0]}: there is no such task; {suggest_names(unknown[0], TASKS)}")
        if missing := sorted({*TASKS} - {*self.root}):
            raise ValueError(f"field {missing[0]}: missing; every task needs a card")
        return self


@dataclass(frozen=True)
class HeardTask:
    """What a person wants to do, as far as their words tell.

    Attributes:
        task: Key of the kind of task.
        kinds: Keys of the kinds of things that were named, best first.
        names: Names of kinds that were said word for word.
        color: Colour that was named.
        room: Room that was named.
    """

    task: str
    kinds: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    color: str = ""
    room: str = ""


def hear_task(speech: str, advised: Collection[str] = ()) -> HeardTask | None:
    """Return the task that an utterance names. None if it names none.

    Args:
        speech: The utterance.
        advised: Names of things that the person was just advised about. Their words alone name no task: "I am at the
            fuse box" is about the advice, and does not ask for power.
    """
    statement = _QUESTION.sub(" ", clip_speech(speech))
    heard, words = _hear_task(statement), spoken_words(statement)
    names = [name for name in map(spoken_words, advised) if name <= words]
    if heard is None or not load_task_cards()[heard.task].fit(words.difference(*names)):
        return None
    return heard


@lru_cache(maxsize=1 << 12)
def _hear_task(speech: str) -> HeardTask | None:
    words = spoken_words(speech)
    _, room, _ = take_room(tokenize(speech), load_vocabulary())
    room = "" if room == HERE else room
    task = max(load_task_cards(), key=lambda name: load_task_cards()[name].fit(words))
    if not load_task_cards()[task].fit(words):
        return None
    color = next((color for color in ("red", "green", "blue") if color in words), "")
    return HeardTask(task, named_kinds(words), names_in(speech), color, room)


@lru_cache(maxsize=1 << 12)
def named_kinds(words: frozenset[str]) -> tuple[str, ...]:
    """Return the kinds whose whole name was said, those with most words first, then those of which a part was said."""
    vocabulary = load_vocabulary()
    whole: list[tuple[int, str]] = []
    parts: list[tuple[int, str]] = []
    for key, kind in KINDS.items():
        name = set(vocabulary.text_content(kind.name))
        said = len(name & set(words))
        if said:
            (whole if said == len(name) else parts).append((said, key))
    return tuple(key for _, key in [*sorted(whole, key=_most_first), *sorted(parts, key=_most_first)])


def names_in(speech: str) -> frozenset[str]:
    """Return the names of kinds of things that are said word for word.

    The longest ones count: whoever says gravity flipper monitor does not say gravity flipper.
    """
    pattern, names = _all_names()
    return frozenset(names[found.lower()] for found in pattern.findall(speech))


@lru_cache(maxsize=1)
def _all_names() -> tuple[re.Pattern[str], dict[str, str]]:
    names = {kind.name.lower(): kind.name for kind in KINDS.values()}
    return name_pattern(names), names


def spoken_words(speech: str) -> frozenset[str]:
    """Return the keys of all words of an utterance except rooms, function words too."""
    return _spoken_words(clip_speech(speech))


@lru_cache(maxsize=1 << 12)
def _spoken_words(speech: str) -> frozenset[str]:
    vocabulary = load_vocabulary()
    tokens, _, _ = take_room(tokenize(speech), vocabulary)
    return frozenset({*map(vocabulary.key_of, tokens), *vocabulary.content(tokens)})


@lru_cache(maxsize=4)
def load_task_cards(path: Path = TASK_CARDS_FILE) -> dict[str, TaskCard]:
    """Load task knowledge, by task.

    Args:
        path: The file; the bundled one by default.

    Raises:
        DataError: The file is malformed, names an unknown task, or lacks one.
    """
    return read_model(path, _TaskCards).root


def _most_first(entry: tuple[int, str]) -> tuple[int, str]:
    return -entry[0], entry[1]
