"""Texts of what is in view and of what has happened, by role.

- Oracle assistant: full metadata, with true ids, positions and states.
- Person: partial metadata, with fuzzy names and ids, without positions and states.
- Trained assistant: ``words`` (what a picture shows: kinds, colours, rough bearings and distances, visible states) or
  ``truth`` (the oracle's metadata of what is in view).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from housewise.worlds.lab.history import OPENING, LabTurn, Naming, clip_speech, describe_turn, thing_id, thing_name
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import Flag, LabState, Thing
from housewise.worlds.lab.surroundings import Glimpse, Surroundings

VISIBLE_FLAGS: tuple[Flag, ...] = ("open", "broken", "large", "floating", "on", "water", "milk", "coffee")
"""States that a picture shows: shapes, lit screens, what is in a cup."""
FRONT_DEGREES, NEAR_METRES = 15.0, 2.0
"""A thing within this bearing is in front; within this distance it is near."""

Side = Literal["left", "right", "front"]
"""Where a thing may be in the view."""
_DIRECTIONS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")


def relative_position(glimpse: Glimpse) -> str:
    """Return where a thing is, seen from the person: ``"near left"``, ``"far front"`` and so on."""
    return f"{'near' if glimpse.distance <= NEAR_METRES else 'far'} {side_of(glimpse.bearing)}"


def side_of(bearing: float) -> Side:
    """Return the side of the view on which a thing at a bearing is, degrees to the right."""
    return "front" if abs(bearing) <= FRONT_DEGREES else "right" if bearing > 0 else "left"


def full_metadata(state: LabState, surroundings: Surroundings) -> str:
    """Return what is in view, with true ids, kinds, positions and states, one thing a line."""
    lines = []
    for index, glimpse in enumerate(surroundings.glimpses(state), 1):
        thing = state[glimpse.id]
        states = ", ".join([*sorted(thing.flags), *power_state(state, thing), *_places(state, thing)]) or "-"
        where = f"{glimpse.distance:.1f} m ({relative_position(glimpse)})"
        lines.append(f"[{index}] {thing.id} ({thing_name(thing, 'full')}): {where} | {thing.color or '-'} | {states}")
    return "\n".join(lines) or "(nothing)"


def partial_metadata(state: LabState, surroundings: Surroundings, naming: Naming = "fuzzy") -> str:
    """Return what is in view, with a person's ids and kinds, without positions and states, one thing a line."""
    return (
        "\n".join(
            f"[{index}] {thing_id(thing, naming)} ({thing_name(thing, naming)}): {glimpse.distance:.1f} m | "
            f"{thing.color or '-'}"
            for index, glimpse in enumerate(surroundings.glimpses(state), 1)
            for thing in [state[glimpse.id]]
        )
        or "(nothing)"
    )


def view_words(state: LabState, surroundings: Surroundings, has_hidden: bool = False, is_brief: bool = False) -> str:
    """Return what is in view, in words without ids: a line for each thing, with its states.

    Args:
        state: State of the lab.
        surroundings: Its space.
        has_hidden: Whether states are told that a picture does not show, and where things lie.
        is_brief: Whether things are named as in ``brief_place``; the colour of an uncommon one then follows its name.
    """
    lines = []
    for glimpse in surroundings.glimpses(state):
        thing = state[glimpse.id]
        states: list[str] = [flag for flag in VISIBLE_FLAGS if flag in thing.flags]
        if has_hidden:
            hidden = sorted(thing.flags.difference(VISIBLE_FLAGS))
            states += [*hidden, *power_state(state, thing), *_support(state, thing)]
        name = brief_name(thing) if is_brief else name_with_color(thing)
        color = [thing.color] if thing.color and is_brief and not KINDS[thing.kind].is_common else []
        lines.append(", ".join([f"{name}: {relative_position(glimpse)}", *color, *states]))
    return "\n".join(lines) or "(nothing)"


def state_line(state: LabState, naming: Naming, ids: bool = True) -> str:
    """Return where the person is and what they hold.

    Args:
        state: State of the lab.
        naming: How things are named.
        ids: Whether the held thing is named by its id.
    """
    body = state.body
    held = "nothing"
    if state.held is not None:
        thing = state[state.held]
        held = thing_id(thing, naming) if ids else thing_name(thing, naming)
    light = "" if state.has_power(state.room) else " | the lights are out"
    return f"In {state.room} at ({body.x:.1f}, {body.z:.1f}) facing {facing(state)} | holding: {held}{light}"


def brief_state(state: LabState) -> str:
    """Return in which room the person is, what they hold, and whether it is dark."""
    held = "nothing" if state.held is None else f"the {brief_name(state[state.held])}"
    light = "" if state.has_power(state.room) else " The lights are out."
    return f"In the {state.room}, holding {held}.{light}"


def facing(state: LabState) -> str:
    """Return the direction in which the person looks, such as ``"northeast"``."""
    return _DIRECTIONS[round(state.body.heading / 45) % 8]


def history_text(
    turns: Sequence[LabTurn], naming: Naming, me: str = "You", assistant: str = "Assistant", ids: bool = True
) -> str:
    """Return what has happened, oldest first, as in List 1 of the paper.

    Args:
        turns: Turns of the session; for the person, those of ``user_turn``.
        naming: How things are named.
        me: What the person is called.
        assistant: What the assistant is called.
        ids: Whether things are named by their ids.
    """
    lines = [f'{assistant}: "{OPENING}"']
    for number, turn in enumerate(turns, 1):
        lines.append(f"[{me} Action {number}] {describe_turn(turn, naming, ids)}")
        if turn.speech is not None:
            lines.append(f'{assistant}: "{clip_speech(turn.speech)}"')
    return "\n".join(lines)


def brief_history(turns: Sequence[LabTurn]) -> str:
    """Return what has happened as the assistant knows it, oldest first, without ids and numbers."""
    lines = [f'You: "{OPENING}"']
    for turn in turns:
        if turn.action.verb == "Speak":
            lines.append(f'User: "{clip_speech(turn.action.argument)}"')
        else:
            lines.append(f"User: {describe_turn(turn, 'full', ids=False)}")
        if turn.speech is not None:
            lines.append(f'You: "{clip_speech(turn.speech)}"')
    return "\n".join(lines)


def place_of(state: LabState, thing: Thing) -> str:
    """Return where a thing is, such as ``"on the green table in the main office"``."""
    room = f"in the {thing.room}" if thing.room else ""
    if thing.id == state.held:
        return "in the person's hand"
    return " ".join(filter(None, (*_support(state, thing), room)))


def brief_place(state: LabState, thing: Thing) -> str:
    """Return where a thing is, the room first, such as ``"here, on the green table"``."""
    if thing.id == state.held:
        return "in the person's hand"
    room = "here" if thing.room == state.room else f"in the {thing.room}" if thing.room else ""
    return ", ".join(filter(None, (room, *_support(state, thing))))


def brief_name(thing: Thing) -> str:
    """Return the name of a thing by which a small model finds it: common things have their colour."""
    return name_with_color(thing) if KINDS[thing.kind].is_common else thing_name(thing, "full")


def name_with_color(thing: Thing) -> str:
    """Return the full name of a thing with its colour, unless the name holds it."""
    name = thing_name(thing, "full")
    return name if not thing.color or thing.color in name.split() else f"{thing.color} {name}"


def preposition_of(holder: Thing) -> str:
    """Return whether things lie "in" or "on" a thing."""
    return "in" if "openable" in KINDS[holder.kind].properties else "on"


def _support(state: LabState, thing: Thing) -> list[str]:
    """Return on or in what a thing is."""
    if thing.container is None:
        return []
    holder = state[thing.container]
    return [f"{preposition_of(holder)} the {name_with_color(holder)}"]


def power_state(state: LabState, thing: Thing) -> list[str]:
    """Return whether a thing has power, as a list of one text; empty if it needs none."""
    if "powerable" not in KINDS[thing.kind].properties:
        return []
    return ["powered" if state.has_power(thing.room) else "no power"]


def _places(state: LabState, thing: Thing) -> list[str]:
    """Return what lies on or in a thing, and where it lies."""
    inside = [f"holds {each.id}" for each in state.contents.get(thing.id, ())]
    return [*inside, *([f"in or on {thing.container}"] if thing.container else [])]
