"""What has happened in a session, and how roles name the things in it.

People who do not know the lab call all devices *machine*, all monitors *computer* and so on (Kind.fuzzy). Ids in their
view are made of these names, so that an id does not tell what a thing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal
from zlib import crc32

from housewise.worlds.lab.actions import ARGUMENTS, ActionOutcome, LabAction
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import Surroundings

Naming = Literal["full", "fuzzy"]
"""Names of those who know the lab, and of those who do not."""

OPENING = "How can I help you today?"
"""First line of the assistant; it counts as no turn."""
MAX_SPEECH = 2000
"""Characters of an utterance that anybody hears or reads."""


@dataclass(frozen=True)
class LabTurn:
    """An action of the person, and what the assistant said after it.

    Attributes:
        action: The action, with true ids. An id that the person made up stays as it is.
        outcome: What became of it.
        thing: The thing that it was aimed at, as it was before. None if there is none.
        seen: True ids of what was in view before the action.
        speech: What the assistant said after the action. None if it was silent.
    """

    action: LabAction
    outcome: ActionOutcome
    thing: Thing | None = None
    seen: frozenset[str] = frozenset()
    speech: str | None = None

    def with_speech(self, speech: str | None) -> LabTurn:
        """Return the turn with what the assistant said after it."""
        return replace(self, speech=speech)


def record_turn(state: LabState, surroundings: Surroundings, action: LabAction, outcome: ActionOutcome) -> LabTurn:
    """Return the turn of an action in a state, before the assistant has spoken."""
    aimed = ARGUMENTS[action.verb] == "thing"
    seen = frozenset(each.id for each in surroundings.glimpses(state))
    return LabTurn(action, outcome, state.by_id.get(action.argument) if aimed else None, seen)


def thing_name(thing: Thing, naming: Naming) -> str:
    """Return what a role calls a thing, such as ``"laser monitor"`` or ``"computer"``."""
    kind = KINDS[thing.kind]
    return (kind.fuzzy or kind.name) if naming == "fuzzy" else kind.name


def thing_id(thing: Thing, naming: Naming) -> str:
    """Return the id of a thing in the view of a role.

    A fuzzy id is made of the fuzzy name and a number that does not depend on anything but the true id.
    """
    if naming == "full":
        return thing.id
    return f"{thing_name(thing, naming).replace(' ', '_')}_{1000 + crc32(thing.id.encode()) % 9000}"


def resolve_user_action(state: LabState, action: LabAction, naming: Naming = "fuzzy") -> LabAction:
    """Return an action of a person with the true id in place of theirs; an unknown id stays as it is."""
    if ARGUMENTS[action.verb] != "thing":
        return action
    found = next((each.id for each in state.things if thing_id(each, naming) == action.argument), None)
    # A true id is not known to the person, so it names nothing.
    unknown = f"{action.argument}?" if action.argument in state.by_id else action.argument
    return replace(action, argument=found or unknown)


def describe_turn(turn: LabTurn, naming: Naming, ids: bool = True) -> str:
    """Return an action and its result in words, with or without the ids of a role, as in List 1 of the paper."""
    verb = turn.action.verb
    if verb == "Speak":
        return f'say: "{clip_speech(turn.action.argument)}"'
    phrase = re.sub(r"(?<!^)([A-Z])", r" \1", verb).lower()
    argument = turn.action.argument
    if turn.thing is not None:
        name = thing_name(turn.thing, naming)
        argument = f"{thing_id(turn.thing, naming)} ({name})" if ids else f"the {name}"
    elif ARGUMENTS[verb] in ("metres", "degrees"):
        argument += " m" if ARGUMENTS[verb] == "metres" else " degrees"
    text = f"{phrase} {clip_speech(argument)}".strip()
    message = turn.outcome.message if naming == "full" else replace_names(turn.outcome.message)
    if not turn.outcome.succeeded:
        return f"tried to {text}, but it FAILED: {message}"
    return f"{text}: {message}" if turn.outcome.events and message else text


def user_turn(turn: LabTurn, naming: Naming = "fuzzy") -> LabTurn:
    """Return a turn as the person knows it: ids and names of theirs, and neither states nor effects."""
    argument = turn.action.argument if turn.thing is None else thing_id(turn.thing, naming)
    message = turn.outcome.message if naming == "full" else replace_names(turn.outcome.message)
    outcome = replace(turn.outcome, message=message, reason="", events=())
    return LabTurn(replace(turn.action, argument=argument), outcome, speech=turn.speech)


def replace_names(text: str) -> str:
    """Return a text with the names of uncommon things replaced by fuzzy ones."""
    pattern, names = _uncommon_names()
    return pattern.sub(lambda match: _match_case(names[match[0].lower()], match[0]), text) if names else text


def clip_speech(text: str) -> str:
    """Return an utterance on one line, without the part that is too long to be heard and without markup of prompts."""
    line = " ".join(re.sub(r"[<>\[\]\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text[: 2 * MAX_SPEECH]).split())
    return line if len(line) <= MAX_SPEECH else line[:MAX_SPEECH].rstrip() + " ..."


@lru_cache(maxsize=1)
def _uncommon_names() -> tuple[re.Pattern[str], dict[str, str]]:
    names = {kind.name.lower(): kind.fuzzy for kind in KINDS.values() if kind.fuzzy}
    return name_pattern(names), names


def name_pattern(names: Iterable[str], with_plurals: bool = False) -> re.Pattern[str]:
    """Return a pattern that finds names in any case, the longest first: "laser monitor" before "laser".

    Args:
        names: The names.
        with_plurals: Whether a name is also found with an s at its end. The group of a match is the name without it.
    """
    longest_first = sorted(names, key=len, reverse=True)
    plural = "s?" if with_plurals else ""
    return re.compile(rf"\b({'|'.join(map(re.escape, longest_first))}){plural}\b", re.IGNORECASE)


def _match_case(word: str, like: str) -> str:
    return word.capitalize() if like[:1].isupper() else word
