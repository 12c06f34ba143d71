"""An action in a state, as rules look at it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.kinds import KINDS, Kind
from housewise.worlds.lab.state import CIRCUIT_OF, Flag, LabState, Thing

PANEL, LEVER, BOX, FLIPPER, ARM, CRATE = "control_panel", "lever", "fuse_box", "gravity_flipper", "robotic_arm", "crate"

LIQUIDS: tuple[Flag, ...] = ("coffee", "water", "milk")
"""What a cup may be filled with."""


@dataclass(frozen=True)
class ActionSituation:
    """An action that is aimed at a thing.

    Attributes:
        state: State before the action.
        verb: What is done.
        thing: The thing that the action is aimed at.
    """

    state: LabState
    verb: Verb
    thing: Thing

    @property
    def kind(self) -> Kind:
        """Kind of the thing."""
        return KINDS[self.thing.kind]

    @property
    def held(self) -> Thing | None:
        """The thing in the hand."""
        return None if self.state.held is None else self.state[self.state.held]

    @property
    def machine(self) -> Thing:
        """The device that a monitor or a button runs, or the thing itself."""
        run = next((kind.key for kind in KINDS.values() if kind.monitor == self.thing.kind), None)
        if run is not None and (found := find_thing(self.state, run)) is not None:
            return found
        holder = self.thing.container
        return self.state[holder] if is_mounted(self.state, self.thing) and holder is not None else self.thing

    @property
    def load(self) -> tuple[Thing, ...]:
        """What has been put on or in the device, without its own parts."""
        return load_of(self.state, self.machine)


def load_of(state: LabState, device: Thing) -> tuple[Thing, ...]:
    """Return what has been put on or in a device, without its own parts."""
    return tuple(each for each in state.contents.get(device.id, ()) if not is_mounted(state, each))


def has_free_spot(state: LabState, thing: Thing) -> bool:
    """Return whether there is space for one more thing on or in a thing."""
    return len(state.contents.get(thing.id, ())) < KINDS[thing.kind].spots


def is_mounted(state: LabState, thing: Thing) -> bool:
    """Return whether a thing is a part in its place: a button, a lever or a control panel."""
    if thing.container is None:
        return False
    holder = state[thing.container].kind
    return (thing.kind, holder) in ((LEVER, BOX), (PANEL, "laser_cannon")) or thing.kind.endswith("_button")


def find_thing(state: LabState, *kinds: str) -> Thing | None:
    """Return the first thing of kinds."""
    return next((thing for kind in kinds for thing in state.things if thing.kind == kind), None)


def find_things(state: LabState, kinds: Collection[str]) -> Iterator[Thing]:
    """Yield the things of kinds, and those that were of them before they became carrots."""
    return (thing for thing in state.things if thing.kind in kinds or thing.original in kinds)


def fuse_box_of(state: LabState, room: str) -> Thing | None:
    """Return the fuse box on whose circuit a room is."""
    return next((each for each in state.things if each.kind == BOX and each.room == CIRCUIT_OF.get(room)), None)


def has_flag(thing: Thing, *flags: Flag) -> bool:
    """Return whether any of some states holds for a thing."""
    return bool(thing.flags & set(flags))
