"""What a person in the lab knows, and what they do. A view holds nothing that a person may not know."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.core.record import Usage
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.history import LabTurn, Naming, thing_id, thing_name, user_turn
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import Surroundings
from housewise.worlds.lab.texts import NEAR_METRES, VISIBLE_FLAGS, facing, partial_metadata, state_line


@dataclass(frozen=True)
class SeenThing:
    """A thing as a person sees it.

    Attributes:
        id: Its id, by the person's names.
        name: Its name, by the person's names.
        color: Its colour.
        look: How it looks, as the picture shows it: shape, parts, label, visible states.
        distance: Metres from the person.
        bearing: Degrees to the right of the direction of view.
        holder: Id of the thing on or in which it is seen to lie; empty if there is none.
    """

    id: str
    name: str
    color: str
    look: str = ""
    distance: float = 0.0
    bearing: float = 0.0
    holder: str = ""


@dataclass(frozen=True)
class UserView:
    """What a person knows at a turn.

    Attributes:
        goal: The task, as the person reads it.
        room: Name of the room.
        is_lit: Whether the room has light.
        held: What they hold.
        things: What is in view, nearest first.
        history: Earlier turns, with the person's ids; see ``user_turn``.
        state_text: State line; see ``texts.state_line``.
        metadata: Text of what is in view; see ``texts.partial_metadata``.
        picture: PNG of the view. None without pictures.
        facing: Direction of view, such as ``"northeast"``.
        naming: Whether the person has fuzzy names for uncommon things ("a machine"), or knows what they are called.
    """

    goal: str
    room: str
    is_lit: bool
    held: SeenThing | None
    things: tuple[SeenThing, ...]
    history: tuple[LabTurn, ...]
    state_text: str
    metadata: str
    picture: bytes | None = None
    facing: str = ""
    naming: Naming = "fuzzy"

    @property
    def speech(self) -> str | None:
        """What the assistant said after the last action."""
        return self.history[-1].speech if self.history else None

    def is_at(self, thing: SeenThing) -> bool:
        """Return whether the person stands before a thing: it is in view and near, or they have just gone to it."""
        last = self.history[-1] if self.history else None
        if last is not None and last.action.argument == thing.id and last.outcome.status == "TargetOutOfRange":
            return False  # a little too far
        came = last is not None and last.action == LabAction("GotoObject", thing.id)
        return came or (thing.distance <= NEAR_METRES and any(each.id == thing.id for each in self.things))


@dataclass(frozen=True)
class UserTurn:
    """What a person thinks and does.

    Attributes:
        thought: Why.
        action: The action, with the person's id of a thing; see ``history.resolve_user_action``.
        is_parsed: False if a model's reply could not be read, so that the action stands for it.
        usage: Tokens of a model.
    """

    thought: str
    action: LabAction
    is_parsed: bool = True
    usage: Usage = field(default_factory=Usage)


class LabUser(Protocol):
    """A person who acts in the lab. One object plays one session; equal views give equal actions.

    Attributes:
        name: Name in records.
    """

    name: str

    def act(self, view: UserView) -> UserTurn:
        """Choose the next action.

        Raises:
            ChatModelError: If a model cannot be asked.
        """
        ...


def build_user_view(
    state: LabState,
    surroundings: Surroundings,
    goal: str,
    history: Sequence[LabTurn],
    picture: bytes | None = None,
    naming: Naming = "fuzzy",
) -> UserView:
    """Return what a person knows.

    Args:
        state: State of the lab.
        surroundings: Its space.
        goal: The task, as the person reads it.
        history: Turns so far, as recorded by ``record_turn``.
        picture: PNG of the view. None without pictures.
        naming: What the person calls uncommon things.
    """
    glimpses = surroundings.glimpses(state)
    in_view = {each.id for each in glimpses}
    seen = tuple(_see(state[each.id], state, naming, each.distance, each.bearing, in_view) for each in glimpses)
    return UserView(
        goal=goal,
        room=state.room,
        is_lit=state.has_power(state.room),
        held=None if state.held is None else _see(state[state.held], state, naming),
        things=seen,
        history=tuple(user_turn(turn, naming) for turn in history),
        state_text=state_line(state, naming),
        metadata=partial_metadata(state, surroundings, naming),
        picture=picture,
        facing=facing(state),
        naming=naming,
    )


def _see(
    thing: Thing,
    state: LabState,
    naming: Naming,
    distance: float = 0.0,
    bearing: float = 0.0,
    in_view: Collection[str] = (),
) -> SeenThing:
    states = [flag for flag in VISIBLE_FLAGS if flag in thing.flags]
    look = " ".join([KINDS[thing.kind].look, *states]).strip()
    holder = thing_id(state[thing.container], naming) if thing.container in in_view and thing.container else ""
    return SeenThing(thing_id(thing, naming), thing_name(thing, naming), thing.color, look, distance, bearing, holder)
