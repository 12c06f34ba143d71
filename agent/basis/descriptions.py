"""Remembers by which descriptions a person found uncommon things, and by which they did not (ours, not the paper's)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from pydantic import RootModel, model_validator

from housewise.agent.basis.goal_hearing import names_in, spoken_words
from housewise.core.configs import CONFIGS
from housewise.core.errors import suggest_names
from housewise.core.validation import read_model
from housewise.people.memory import About, Note
from housewise.worlds.lab.actions import MANIPULATIONS
from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.kinds import KINDS

DESCRIPTIONS_FILE = CONFIGS / "basis" / "descriptions.yaml"
TASK, SUBTASK = "lab", "how a thing is described"
"""Task and subtask of the notes."""

DescriptionOf = Callable[[str], str]
"""Returns the description of a kind of thing, by key; empty for a common one."""


def check_describable(kind: str, called: str) -> None:
    """Check that a kind of thing exists and is uncommon.

    Args:
        kind: Its key.
        called: How the error calls it.

    Raises:
        ValueError: There is no such kind, or everybody knows it.
    """
    if kind not in KINDS:
        raise ValueError(f"{called}: there is no such kind of thing; {suggest_names(kind, KINDS)}")
    if KINDS[kind].is_common:
        raise ValueError(f"{called}: is known to everybody; describe uncommon things only")


def shuffled_kinds(seed: int) -> dict[str, str]:
    """Return another kind for each uncommon kind with a look, whose look stands for its own: a control."""
    kinds = sorted(kind.key for kind in KINDS.values() if kind.look and kind.fuzzy)
    random.Random(seed).shuffle(kinds)
    # Each shows the next one's, so that none keeps its own.
    return dict(zip(kinds, [*kinds[1:], kinds[0]], strict=True))


class _Descriptions(RootModel[dict[str, tuple[str, ...]]]):
    @model_validator(mode="after")
    def _check(self) -> _Descriptions:
        for key, texts in self.root.items():
            check_describable(key, f"field {key}")
            if not all(text.strip() for text in texts):
                raise ValueError(f"field {key}: a description is empty")
        return self


@lru_cache(maxsize=4)
def load_descriptions(path: Path = DESCRIPTIONS_FILE) -> dict[str, tuple[str, ...]]:
    """Load further descriptions of uncommon things, by kind.

    Args:
        path: The file; the bundled one by default.

    Raises:
        DataError: The file is malformed, or names a kind that is unknown or common.
    """
    return read_model(path, _Descriptions).root


def usual_look(kind: str) -> str:
    """Return the usual description of a kind of thing."""
    return KINDS[kind].look


def all_descriptions(kind: str, usual: DescriptionOf = usual_look) -> tuple[str, ...]:
    """Return the descriptions of an uncommon kind of thing, the usual one first."""
    return tuple(dict.fromkeys([usual(kind), *load_descriptions().get(kind, ())]))


class DescriptionMemory:
    """What is known of how one person understands descriptions; the newest note about a description counts.

    A description has worked if the person then does something with the thing. It has not if they go to another thing of
    the same category, do something with it, or ask about the thing.

    Args:
        person: Name of the person.
        notes: Notes about them, oldest first; those about other subjects are ignored.
        usual: Returns the description by which a thing is described first.
    """

    def __init__(self, person: str, notes: Iterable[Note] = (), usual: DescriptionOf = usual_look) -> None:
        self._person, self._usual = person, usual
        self._texts = {kind: all_descriptions(kind, usual) for kind in load_descriptions()}
        self._works: dict[tuple[str, str], bool] = {}
        self._pending: dict[str, str] = {}
        kinds = {KINDS[key].name.lower(): key for key in self._texts}
        for note in notes:
            about = note.about
            if (about.task, about.subtask) == (TASK, SUBTASK) and about.situation and isinstance(note.value, float):
                for name in about.things:
                    self._works[kinds.get(name, name), about.situation] = note.value > 0

    def describe(self, kind: str) -> str:
        """Return the first description that works, else the first that was not tried, else the usual one."""
        texts = self._texts.get(kind) or (self._usual(kind),)
        works = [text for text in texts if self._works.get((kind, text))]
        untried = [text for text in texts if (kind, text) not in self._works]
        return [*works, *untried, texts[0]][0]

    def begin(self) -> None:
        """Forget which descriptions were said last, at the beginning of an attempt."""
        self._pending = {}

    def listen(self, speech: str) -> None:
        """Notice which things the assistant describes, word for word."""
        said = speech.casefold()
        described = ((kind, text) for kind, texts in self._texts.items() for text in texts)
        self._pending |= {kind: text for kind, text in described if text.casefold() in said}

    def learn(self, turn: LabTurn) -> list[Note]:
        """Return what an action of the person tells of the descriptions that were said."""
        action, thing = turn.action, turn.thing
        if action.verb == "Speak":
            verdicts = dict.fromkeys(self._asked_about(action.argument), False)
        elif action.verb not in (*MANIPULATIONS, "GotoObject") or thing is None:
            verdicts = {}
        elif thing.kind in self._pending:
            is_used = action.verb in MANIPULATIONS and turn.outcome.succeeded
            verdicts = {thing.kind: True} if is_used else {}
        else:
            verdicts = dict.fromkeys(self._alike(KINDS[thing.kind].fuzzy), False)
        return [self._note(kind, self._pending.pop(kind), works) for kind, works in verdicts.items()]

    def _alike(self, category: str | None) -> list[str]:
        return [kind for kind in self._pending if category and KINDS[kind].fuzzy == category]

    def _asked_about(self, text: str) -> list[str]:
        """Return the described things that a question is about: by name, else by category, else by part of a name."""
        if "?" not in text:
            return []
        words = spoken_words(text)
        # Things that share a word with the named one are not meant.
        if (named := _named_uncommon(words)) or names_in(text):
            return [kind for kind in self._pending if kind in named]
        alike = [kind for kind in self._pending if spoken_words(KINDS[kind].fuzzy or "") <= words]
        return alike or [kind for kind in self._pending if words & spoken_words(KINDS[kind].name)]

    def _note(self, kind: str, text: str, works: bool) -> Note:
        self._works[kind, text] = works
        name = KINDS[kind].name
        return Note(
            person=self._person,
            kind="reaction",
            text=f'{"Found" if works else "Did not find"} the {name} by "{text}".',
            value=1.0 if works else -1.0,
            about=About(things=(name,), task=TASK, subtask=SUBTASK, situation=text),
        )


def _named_uncommon(words: frozenset[str]) -> set[str]:
    """Return the uncommon kinds that are named whole; whoever says "embiggenator computer" means its monitor alone."""
    said = {
        kind: name
        for kind, names in _uncommon_names().items()
        for name in sorted(names, key=len)
        if name and name <= words
    }
    return {kind for kind, name in said.items() if not any(name < other for other in said.values())}


@lru_cache(maxsize=1)
def _uncommon_names() -> dict[str, list[frozenset[str]]]:
    """Return the words of the names of uncommon kinds, also with the category in place of the last word."""
    return {
        key: [spoken_words(kind.name)]
        + ([spoken_words(f"{first} {kind.fuzzy}")] if (first := kind.name.rpartition(" ")[0]) else [])
        for key, kind in KINDS.items()
        if kind.fuzzy
    }
