"""Cards of knowledge for an assistant: task, object and environment knowledge, chosen by what was said or seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import RootModel, model_validator

from housewise.agent.basis.descriptions import DescriptionOf, usual_look
from housewise.agent.basis.goal_hearing import (
    HeardTask,
    TaskCard,
    hear_task,
    load_task_cards,
    named_kinds,
    spoken_words,
)
from housewise.core.configs import CONFIGS
from housewise.core.errors import suggest_names
from housewise.core.validation import StrictModel, read_model
from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.kinds import CARTRIDGES, KINDS, Property
from housewise.worlds.lab.situation import ARM, BOX, CRATE, LEVER, PANEL
from housewise.worlds.lab.state import ROOMS, Flag, LabState, Thing
from housewise.worlds.lab.surroundings import Surroundings
from housewise.worlds.lab.texts import brief_name, brief_place, place_of, power_state

# States that matter, with their opposites: by property; of devices that stay on; on devices that change things.
_OPPOSITES: Mapping[Property, tuple[Flag, str]] = {
    "openable": ("open", "closed"), "infectable": ("infected", "clean")
}  # fmt: skip
_SWITCHED = frozenset({"gravity_flipper", "portal_generator"})
_CHANGED_ON: Mapping[str, tuple[Flag, str]] = {
    "embiggenator": ("large", "small"), "gravity_flipper": ("floating", "at rest")
}  # fmt: skip
_REMEDIES: Mapping[Flag, str] = {
    "infected": "antivirus_floppy", "large": "embiggenator_monitor", "floating": "gravity_flipper_monitor"
}  # fmt: skip
"""What takes a state away."""
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


@dataclass(frozen=True)
class Knowledge:
    """Knowledge as text.

    Attributes:
        cards: Cards of tasks and devices, which stay the same.
        environment: Where things are and in which state.
    """

    cards: str = ""
    environment: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(filter(None, (self.cards, self.environment)))


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
    state: LabState,
    surroundings: Surroundings,
    turns: Sequence[LabTurn],
    switches: KnowledgeSwitches,
    is_brief: bool = False,
    describe: DescriptionOf = usual_look,
) -> Knowledge:
    """Return the knowledge that what was said or seen calls for. The goal plays no part.

    Args:
        state: State of the lab.
        surroundings: Its space.
        turns: Turns so far.
        switches: Which knowledge may be given.
        is_brief: Whether devices that were only seen are left out, and every card says only what is needed for advice.
        describe: Returns the description of a kind of thing.
    """
    if switches == NO_KNOWLEDGE:
        return Knowledge()
    cards, mentioned = _named_tasks(turns), told_kinds(state, turns, switches)
    parts = []
    if switches.task:
        parts += [_task_text(card, is_brief) for card in cards.values()]
    if switches.object:
        seen = [] if is_brief else _seen_kinds(state, surroundings, turns)
        kinds = [kind for kind in dict.fromkeys([*mentioned, *seen]) if kind in load_object_cards()]
        parts += [_object_text(kind, describe(kind), is_brief) for kind in kinds]
    lines: list[str] = []
    if switches.environment:
        in_view = {each.id for each in surroundings.glimpses(state)}
        for kind in mentioned:
            things = _things_of(state, kind)
            if is_brief:
                lines += [brief_line(state, each, each.id in in_view) for each in things]
            else:
                lines += [_whole_place(state, each) for each in things]
            if not things and "pickupable" in KINDS[kind].properties:
                lines.append(f"{KINDS[kind].name}: none" if is_brief else f"There is no {KINDS[kind].name}.")
    return Knowledge("\n".join(parts), "\n".join(dict.fromkeys(filter(None, lines))))


def told_kinds(state: LabState, turns: Sequence[LabTurn], switches: KnowledgeSwitches) -> tuple[str, ...]:
    """Return the kinds that an assistant is told about.

    They are those that were mentioned; and with environment knowledge what these need in this episode, such as the
    antivirus floppy of an infected computer and the fuse box of a device without power.
    """
    mentioned = mentioned_kinds(turns)
    if not switches.environment:
        return mentioned
    # "Print a mug" names two kinds of mugs, but only one of them is printed.
    to_print = [kind for task in _heard_tasks(turns) if task.task == "print" for kind in task.kinds]
    to_print += [kind for kind in mentioned if not _things_of(state, kind)]
    told = dict.fromkeys([*mentioned, *(cartridge for cartridge, made in CARTRIDGES.items() if made in to_print)])
    count = 0
    while len(told) > count:
        count = len(told)
        told |= dict.fromkeys([kind for each in told for kind in _needed_kinds(state, each)])
    return tuple(told)


def _needed_kinds(state: LabState, kind: str) -> Iterator[str]:
    """Yield what a kind of thing may need in this episode before anything can be done with it."""
    if kind == "laser_monitor":
        yield PANEL
    for thing in _things_of(state, kind):
        yield from (remedy for flag, remedy in _REMEDIES.items() if flag in thing.flags)
        if thing.original:
            yield "time_machine"
        if thing.room in state.blocked and kind != CRATE:
            yield ARM
        if "powerable" in KINDS[thing.kind].properties and not state.has_power(thing.room):
            yield from (BOX, LEVER)


def _things_of(state: LabState, kind: str) -> list[Thing]:
    """Return the things that are of a kind, or were before they became something else."""
    return [each for each in state.things if kind in (each.kind, each.original)]


def mentioned_kinds(turns: Sequence[LabTurn]) -> tuple[str, ...]:
    """Return the kinds of things that person and assistant have named, and those of the named tasks, in order."""
    said: list[str] = []
    for turn in turns:
        if turn.action.verb == "Speak":
            said.append(turn.action.argument)
            named = hear_task(turn.action.argument)
            said += load_task_cards()[named.task].steps if named is not None else []
        said += [turn.speech] if turn.speech else []
    return tuple(dict.fromkeys(kind for text in said for kind in _mentioned_kinds(text)))


def _named_tasks(turns: Sequence[LabTurn]) -> dict[str, TaskCard]:
    return {task.task: load_task_cards()[task.task] for task in _heard_tasks(turns)}


def _heard_tasks(turns: Sequence[LabTurn]) -> list[HeardTask]:
    heard = [hear_task(turn.action.argument) for turn in turns if turn.action.verb == "Speak"]
    return [task for task in heard if task is not None]


def _seen_kinds(state: LabState, surroundings: Surroundings, turns: Sequence[LabTurn]) -> list[str]:
    in_view = {each.id for each in surroundings.glimpses(state)}.union(*(turn.seen for turn in turns))
    return [state[id].kind for id in sorted(in_view) if id in state.by_id]


def _task_text(card: TaskCard, is_brief: bool) -> str:
    if is_brief:
        return f"To {card.title}: {' '.join(card.steps)}"
    return "\n".join([f"To {card.title}:", *(f"{i}. {step}" for i, step in enumerate(card.steps, 1))])


@lru_cache(maxsize=1 << 12)
def _mentioned_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds whose whole name is said."""
    words = spoken_words(text)
    return tuple(
        kind for kind in named_kinds(words) if spoken_words(KINDS[kind].name) <= words and _is_named(kind, text)
    )


def _is_named(kind: str, text: str) -> bool:
    """Return whether a name of several words is meant that only one word stands for.

    "Can you help?" does not name the soda can, and not every computer is the one in the reception.
    """
    name = KINDS[kind].name
    return " " not in name or len(spoken_words(name)) > 1 or name.lower() in text.lower()


def _object_text(kind: str, look: str, is_brief: bool) -> str:
    card, name = load_object_cards()[kind], KINDS[kind].name
    if is_brief:
        return f"{name} ({KINDS[kind].room or 'anywhere'}): {look}. {card.usage}"
    return f"{name}: {card.function} {card.usage} Where: {card.where} Look: {look}."


def _whole_place(state: LabState, thing: Thing) -> str:
    """Return where a thing is now, and its states, as a sentence."""
    states = _states(state, thing)
    return f"The {_original_name(thing)} is {place_of(state, thing)}{f'; {chr(44).join(states)}' if states else ''}."


def brief_line(state: LabState, thing: Thing, is_in_view: bool) -> str:
    """Return where a thing is now, and its states, as a short line, without the place of furniture.

    A small model does not notice what is not said, so opposites are said that matter. They have words of their own,
    since a "not" was overlooked.
    """
    kind = KINDS[thing.kind]
    is_furniture = kind.is_common and "pickupable" not in kind.properties and not kind.room
    place = [] if is_furniture else [brief_place(state, thing)]
    if is_in_view and place:
        place = [place[0].replace("here", "in view", 1)]
    states = [*place, *_told_states(state, thing)]
    return f"{_original_name(thing)}: {', '.join(states)}" if states else ""


def _told_states(state: LabState, thing: Thing) -> list[str]:
    """Return the states of a thing, and the opposites of those that matter and that it does not have."""
    kind, holder = KINDS[thing.kind], state.by_id.get(thing.container or "")
    pairs = [pair for property, pair in _OPPOSITES.items() if property in kind.properties]
    pairs += [("on", "off")] if thing.kind in _SWITCHED else []
    pairs += [_CHANGED_ON[holder.kind]] if holder is not None and holder.kind in _CHANGED_ON else []
    opposites = [opposite for flag, opposite in pairs if flag not in thing.flags]
    return [*sorted(thing.flags), *opposites, *_obstacle(state, thing, True), *power_state(state, thing)]


def _states(state: LabState, thing: Thing) -> list[str]:
    power = [] if state.has_power(thing.room) else ["no power"]
    return [*sorted(thing.flags), *_obstacle(state, thing, False), *power]


def _obstacle(state: LabState, thing: Thing, with_opposite: bool) -> list[str]:
    """Return whether a big box stands before a thing, as a list of one text; empty if there is nothing to say."""
    if thing.kind in (ARM, CRATE):
        return []
    if thing.room in state.blocked:
        return ["blocked by a big box"]
    # The box can only stand where the arm is that takes it away.
    is_before_arm = KINDS[thing.kind].room == KINDS[ARM].room and not KINDS[thing.kind].is_common
    return ["within reach"] if with_opposite and is_before_arm else []


def _original_name(thing: Thing) -> str:
    """Return the name and colour of a thing, and what it was before it became something else."""
    name = brief_name(thing)
    return f"{KINDS[thing.original].name} (now a {name})" if thing.original else name
