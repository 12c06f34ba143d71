"""Cards of knowledge for an assistant: task, object and environment knowledge, chosen by what was said or seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import RootModel, model_validator

from housewise.agent.basis.goal_hearing import hear_task, load_task_cards, named_kinds, spoken_words
from housewise.core.configs import CONFIGS
from housewise.core.errors import suggest_names
from housewise.core.validation import StrictModel, read_model
from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import ROOMS, LabState
from housewise.worlds.lab.surroundings import Surroundings
from housewise.worlds.lab.texts import place_of

OBJECT_CARDS_FILE = CONFIGS / "basis" / "knowledge" / "objects.yaml"


@dataclass(frozen=True)
class KnowledgeSwitches:
    """Which knowledge an assistant is given.

    Attributes:
        task: General steps of the tasks that the person's words resemble.
        object: Function, use, place and look of the devices that were mentioned or seen.
        environment: Where the things are that were mentioned, and in which state, in this episode.
    """

    task: bool = True
    object: bool = True
    environment: bool = True


ALL_KNOWLEDGE, NO_KNOWLEDGE = KnowledgeSwitches(), KnowledgeSwitches(False, False, False)


class ObjectCard(StrictModel):
    """Knowledge about an uncommon kind of thing."""

    function: str
    usage: str
    where: str


class _ObjectCards(RootModel[dict[str, ObjectCard]]):
    @model_validator(mode="after")
    def _check(self) -> _ObjectCards:
        for key, card in self.root.items():
            if key not in KINDS:
                raise ValueError(f"field {key}: there is no such kind of thing; {suggest_names(key, KINDS)}")
            room, where = KINDS[key].room, card.where.lower()
            if room and (room not in where or any(other in where for other in {*ROOMS} - {room})):
                raise ValueError(f"field {key}.where: the {KINDS[key].name} stands in the {room}; name this room only")
        return self


@lru_cache(maxsize=4)
def load_object_cards(path: Path = OBJECT_CARDS_FILE) -> dict[str, ObjectCard]:
    """Load object knowledge, by kind.

    Args:
        path: The file; the bundled one by default.

    Raises:
        DataError: The file is malformed, names an unknown kind, or a room in which the device does not stand.
    """
    return read_model(path, _ObjectCards).root


def select_knowledge(
    state: LabState, surroundings: Surroundings, turns: Sequence[LabTurn], switches: KnowledgeSwitches
) -> str:
    """Return the cards that what was said or seen calls for, as text. The goal plays no part.

    Args:
        state: State of the lab.
        surroundings: Its space.
        turns: Turns so far.
        switches: Which cards may be given.
    """
    if switches == NO_KNOWLEDGE:
        return ""
    requests = [turn.action.argument for turn in turns if turn.action.verb == "Speak"]
    tasks = [task.task for task in map(hear_task, requests) if task is not None]
    cards = {name: load_task_cards()[name] for name in dict.fromkeys(tasks)}
    said = [
        *requests,
        *(turn.speech for turn in turns if turn.speech),
        *(step for c in cards.values() for step in c.steps),
    ]
    mentioned = list(dict.fromkeys(kind for text in said for kind in _mentioned_kinds(text)))
    in_view = {each.id for each in surroundings.glimpses(state)}.union(*(turn.seen for turn in turns))
    seen = [state[id].kind for id in sorted(in_view) if id in state.by_id]
    parts = []
    if switches.task:
        for card in cards.values():
            parts.append("\n".join([f"To {card.title}:", *(f"{i}. {step}" for i, step in enumerate(card.steps, 1))]))
    if switches.object:
        kinds = [kind for kind in dict.fromkeys([*mentioned, *seen]) if kind in load_object_cards()]
        parts += [_object_text(kind) for kind in kinds]
    if switches.environment:
        lines = [line for kind in mentioned for line in _environment_lines(state, kind)]
        parts += ["\n".join(dict.fromkeys(lines))] if lines else []
    return "\n".join(parts)


@lru_cache(maxsize=1 << 12)
def _mentioned_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds whose whole name is said."""
    words = spoken_words(text)
    return tuple(kind for kind in named_kinds(words) if spoken_words(KINDS[kind].name) <= words)


def _object_text(kind: str) -> str:
    card, name = load_object_cards()[kind], KINDS[kind].name
    return f"{name}: {card.function} {card.usage} Where: {card.where} Look: {KINDS[kind].look}."


def _environment_lines(state: LabState, kind: str) -> list[str]:
    """Return where the things of a kind are now, and their states."""
    lines = []
    for thing in state.things:
        if kind not in (thing.kind, thing.original):
            continue
        states = [*sorted(thing.flags), *([] if state.has_power(thing.room) else ["no power"])]
        name = KINDS[kind].name if thing.kind == kind else f"{KINDS[kind].name} (now a {KINDS[thing.kind].name})"
        lines.append(f"The {name} is {place_of(state, thing)}{f'; {chr(44).join(states)}' if states else ''}.")
    return lines
