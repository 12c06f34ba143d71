"""The rules of the lab as one table: what each action on each kind of thing requires, and what it does.

The engine (rules.py), the planner and the messages of failures are made from it. Sources: section 4.1 and appendix A.1
of the paper, and public documents of Alexa Arena. What neither says is our choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from housewise.worlds.lab.actions import Status, Verb
from housewise.worlds.lab.effects import (
    cool_shelf,
    flip_gravity,
    flip_power,
    flip_size,
    flip_switch,
    free_furniture,
    free_way,
    heat_shelf,
    make_carrot,
    paint,
    pick_up,
    place,
    pour,
    print_thing,
    rewind,
    set_broken,
    set_closed,
    set_open,
    switch_portal,
    throw,
    unmake,
)  # fmt: skip
from housewise.worlds.lab.kinds import CARTRIDGES, KINDS
from housewise.worlds.lab.situation import (
    ARM,
    BOX,
    CRATE,
    FLIPPER,
    LEVER,
    LIQUIDS,
    PANEL,
    ActionSituation,
    has_flag,
    has_free_spot,
    is_mounted,
)  # fmt: skip
from housewise.worlds.lab.state import LabState

Effect = Callable[[ActionSituation], tuple[LabState, str, tuple[str, ...]]]
"""Returns the state after an action, a sentence about it, and names of what took place."""


@dataclass(frozen=True)
class Requirement:
    """What has to be so before an action.

    Attributes:
        name: Its name.
        status: Status of the failure.
        message: Reason of the failure, with the fields {thing}, {held} and {room}.
        holds: Whether it is so.
    """

    name: str
    status: Status
    message: str
    holds: Callable[[ActionSituation], bool]


@dataclass(frozen=True)
class LabRule:
    """A rule.

    Attributes:
        verb: The action.
        applies: Kinds that it is about. If empty, the kinds that have ``needs``.
        needs: Property that the kind has to have. If it is empty too, the rule is about all kinds.
        requires: Requirements in the order in which they are checked.
        effect: What the action does.
        text: What it does, as a sentence for the documentation.
    """

    verb: Verb
    applies: tuple[str, ...]
    needs: str
    requires: tuple[Requirement, ...]
    effect: Effect
    text: str

    def fits(self, situation: ActionSituation) -> bool:
        """Return whether the rule is about a situation."""
        if self.verb != situation.verb:
            return False
        if self.applies:
            return situation.thing.kind in self.applies
        return not self.needs or self.needs in situation.kind.properties


FREE_WAY = Requirement(
    "free way", "TargetInaccessible", "A big box in the {room} blocks the way to the {thing}.",
    lambda s: s.thing.room not in s.state.blocked or s.thing.kind in (ARM, CRATE),
)  # fmt: skip
POWER = Requirement(
    "power", "ObjectUnpowered", "There is no power in the {room}.", lambda s: s.state.has_power(s.thing.room),
)  # fmt: skip
FREE_HAND = Requirement("free hand", "AlreadyHoldingObject", "You already hold the {held}.", lambda s: s.held is None)
HELD = Requirement("something in hand", "ObjectNotPickedUp", "You hold nothing.", lambda s: s.held is not None)
HAMMER = Requirement(
    "hammer in hand", "ObjectNotPickedUp", "You need a hammer in your hand to break the {thing}.",
    lambda s: s.held is not None and s.held.kind == "hammer",
)  # fmt: skip
SMALL = Requirement("small", "UnsupportedAction", "The {thing} is too large.", lambda s: not has_flag(s.thing, "large"))
LANDED = Requirement(
    "landed", "TargetInaccessible", "The {thing} floats where you cannot reach it.",
    lambda s: not has_flag(s.thing, "floating"),
)  # fmt: skip
LOOSE = Requirement(
    "loose",
    "UnsupportedAction",
    "The {thing} is mounted and cannot be taken.",
    lambda s: not is_mounted(s.state, s.thing),
)
CLOSED = Requirement(
    "closed", "InvalidCommand", "The {thing} is already open.", lambda s: not has_flag(s.thing, "open")
)
OPEN = Requirement("open", "InvalidCommand", "The {thing} is already closed.", lambda s: has_flag(s.thing, "open"))
OPENED = Requirement(
    "opened", "ReceptacleIsClosed", "The {thing} is closed.",
    lambda s: "openable" not in s.kind.properties or has_flag(s.thing, "open"),
)  # fmt: skip
DOOR_SHUT = Requirement(
    "door shut", "InvalidCommand", "The {thing} does not start while its door is open.",
    lambda s: not has_flag(s.thing, "open"),
)  # fmt: skip
FITS = Requirement(
    "fits", "InvalidCommand", "The {held} does not belong there.",
    lambda s: s.held is not None and (not s.kind.accepts or s.held.kind in s.kind.accepts),
)  # fmt: skip
SPOT = Requirement(
    "free spot", "ReceptacleIsFull", "There is no space left on the {thing}.",
    lambda s: has_free_spot(s.state, s.thing),
)  # fmt: skip
FREE_SLOT = Requirement(
    "free slot", "ReceptacleIsFull", "There is a cartridge in the {thing} already.",
    lambda s: s.thing.kind != "printer" or all(x.kind not in CARTRIDGES for x in s.load),
)  # fmt: skip
BEANS_SPOT = Requirement(
    "free furniture", "ReceptacleIsFull", "There is no space in the {room} for what comes out of the {thing}.",
    lambda s: free_furniture(s.state, s.thing.room) is not None,
)  # fmt: skip
LOADED = Requirement("loaded", "InvalidCommand", "There is nothing in the {thing}.", lambda s: bool(s.load))
ON_MACHINE = Requirement("loaded", "InvalidCommand", "There is nothing on the machine.", lambda s: bool(s.load))
CARTRIDGE = Requirement(
    "loaded",
    "InvalidCommand",
    "There is no cartridge in the {thing}.",
    lambda s: any(x.kind in CARTRIDGES for x in s.load),
)
FREE_BED = Requirement(
    "free bed",
    "ReceptacleIsFull",
    "The bed of the {thing} is occupied.",
    lambda s: all(x.kind in CARTRIDGES for x in s.load),
)
CLEAN = Requirement(
    "not infected", "InvalidCommand", "The {thing} does not respond. It seems to have a virus.",
    lambda s: not has_flag(s.thing, "infected"),
)  # fmt: skip
ASSEMBLED = Requirement(
    "assembled", "InvalidCommand", "The laser does not fire. A part is missing on it.",
    lambda s: any(x.kind == PANEL for x in s.state.contents.get(s.machine.id, ())),
)  # fmt: skip
BY_MONITOR = Requirement(
    "its monitor", "UnsupportedAction", "The {thing} cannot be run by hand. It is run by its monitor.",
    lambda s: not s.kind.monitor,
)  # fmt: skip
BY_LEVER = Requirement(
    "its lever",
    "UnsupportedAction",
    "The {thing} itself has no switch. Use the lever in it.",
    lambda s: s.thing.kind != BOX,
)
IN_BOX = Requirement(
    "in a fuse box", "UnsupportedAction", "The {thing} moves nothing. It has to be in a fuse box.",
    lambda s: is_mounted(s.state, s.thing),
)  # fmt: skip
WHOLE = Requirement(
    "whole", "InvalidCommand", "The {thing} is already broken.", lambda s: not has_flag(s.thing, "broken")
)
FILLED = Requirement(
    "filled",
    "InvalidCommand",
    "There is nothing in the {held} that can be poured.",
    lambda s: s.held is not None and "fillable" in KINDS[s.held.kind].properties and has_flag(s.held, *LIQUIDS),
)
EMPTY = Requirement(
    "empty",
    "ReceptacleIsFull",
    "The {thing} is already filled.",
    lambda s: not has_flag(s.thing, *LIQUIDS),
)
COFFEE = Requirement(
    "loaded", "InvalidCommand", "There is no coffee in the {thing}.", lambda s: has_flag(s.thing, "coffee")
)
BLOCKED = Requirement(
    "a box in the way", "InvalidCommand", "There is nothing to take away.", lambda s: bool(s.state.blocked)
)
TARGET = Requirement(
    "a target", "UnsupportedAction", "Nothing can be thrown there.", lambda s: "receptacle" in s.kind.properties
)

_MONITOR = (POWER, CLEAN)
_BUTTONS = ("red_button", "green_button", "blue_button")
_RUN_BY_MONITOR = tuple(kind.key for kind in KINDS.values() if kind.monitor)

RULES: tuple[LabRule, ...] = (
    LabRule("Pickup", (), "pickupable", (LOOSE, SMALL, FREE_HAND), pick_up, "Takes it into the hand."),
    LabRule("Place", _BUTTONS, "", (POWER, ON_MACHINE), paint, "Presses it, as Toggle does."),
    LabRule("Place", (), "receptacle", (HELD, OPENED, FITS, FREE_SLOT, SPOT), place, "Puts down the held thing."),
    LabRule("Open", (), "openable", (CLOSED,), set_open, "Opens its door."),
    LabRule("Close", (), "openable", (OPEN,), set_closed, "Closes its door."),
    LabRule("Break", (), "breakable", (HAMMER, WHOLE), set_broken, "Breaks it."),
    LabRule("Pour", ("coffee_unmaker",), "", (HELD, FILLED, EMPTY), pour, "Fills it from the held cup."),
    LabRule("Pour", (), "fillable", (HELD, FILLED, EMPTY), pour, "Fills it from the held cup."),
    LabRule("Throw", (), "", (HELD, TARGET, OPENED, FITS, FREE_SLOT, SPOT), throw, "Throws the held thing at it."),
    LabRule("Toggle", ("printer",), "", (POWER, CARTRIDGE, FREE_BED), print_thing, "Prints what its cartridge is for."),
    LabRule("Toggle", ("time_machine",), "", (POWER, DOOR_SHUT, LOADED), rewind, "Mends its load, or undoes a carrot."),
    LabRule("Toggle", ("carrot_maker",), "", (POWER, LOADED), make_carrot, "Turns what is in it into a carrot."),
    LabRule("Toggle", ("coffee_unmaker",), "", (POWER, COFFEE, BEANS_SPOT), unmake, "Turns its coffee into beans."),
    LabRule("Toggle", ("robotic_arm",), "", (POWER, BLOCKED), free_way, "Takes the big box out of the way."),
    LabRule("Toggle", _BUTTONS, "", (POWER, ON_MACHINE), paint, "Gives its colour to what is on the color changer."),
    LabRule("Toggle", ("laser_monitor",), "", (*_MONITOR, ASSEMBLED), heat_shelf, "Heats what is on the red shelf."),
    LabRule("Toggle", ("freeze_ray_monitor",), "", _MONITOR, cool_shelf, "Cools what is on the blue shelf."),
    LabRule("Toggle", ("gravity_flipper_monitor",), "", _MONITOR, flip_gravity, "Switches the flipper on or off."),
    LabRule("Toggle", ("embiggenator_monitor",), "", (*_MONITOR, ON_MACHINE), flip_size, "Changes its load's size."),
    LabRule("Toggle", ("portal_generator_monitor",), "", _MONITOR, switch_portal, "Switches the portal on or off."),
    LabRule("Toggle", ("reception_computer",), "", _MONITOR, flip_switch, "Switches it on or off."),
    LabRule("Toggle", (LEVER,), "", (IN_BOX,), flip_power, "Switches the power of the rooms of its fuse box."),
    LabRule("Toggle", _RUN_BY_MONITOR, "", (BY_MONITOR,), flip_switch, "Fails: it is run by its monitor."),
    LabRule("Toggle", (BOX,), "", (BY_LEVER,), flip_switch, "Fails: it is run by the lever in it."),
    LabRule("Toggle", (), "toggleable", (POWER,), flip_switch, "Switches it on or off."),
)  # fmt: skip
"""All rules; the first that fits counts. An action without a rule is unsupported."""


def find_rule(situation: ActionSituation) -> LabRule | None:
    """Return the rule of an action, or None if it is unsupported."""
    return next((rule for rule in RULES if rule.fits(situation)), None)


def first_failure(situation: ActionSituation) -> Requirement | None:
    """Return the first requirement of an action that does not hold, spatial ones aside."""
    rule = find_rule(situation)
    required = (FREE_WAY, LANDED, *rule.requires) if rule is not None else (FREE_WAY,)
    return next((each for each in required if not each.holds(situation)), None)


def is_dangerous(state: LabState, id: str) -> bool:
    """Return whether going to a thing hurts: the active gravity flipper, or what floats over it."""
    thing = state[id]
    return (thing.kind == FLIPPER and has_flag(thing, "on")) or has_flag(thing, "floating")
