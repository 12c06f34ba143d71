"""Every reason of failure is produced: those of the rule table, and those of the engine that no rule is about."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from housewise.worlds.lab.actions import ActionOutcome, LabAction
from housewise.worlds.lab.geometry import LabSpace
from housewise.worlds.lab.kinds import FURNITURE, KINDS
from housewise.worlds.lab.layout import draw_lab_layout
from housewise.worlds.lab.rule_table import FREE_WAY, LANDED, RULES, Requirement
from housewise.worlds.lab.rules import FAILURES, step
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import Surroundings
from tests.worlds.lab.labs import (
    APPLE,
    BLOCKED,
    COFFEE,
    FUSE_BOX,
    LASER,
    PANEL_MISSING,
    SPACE,
    before,
    play,
    scenario,
    space,
    with_flag,
    with_new,
)

FLOATING = "change_color__new_fan+blue__landing"
FIGURE = ("Pickup figure_cartridge", "Place printer", "Toggle printer", "Toggle printer")
BY_RULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "A big box in the {room} blocks the way to the {thing}.": (BLOCKED, ("far Pickup control_panel",)),
    "The {thing} floats where you cannot reach it.": (FLOATING, ("far Pickup new_fan",)),
    "The {thing} is mounted and cannot be taken.": (LASER, ("Pickup control_panel",)),
    "You already hold the {held}.": (LASER, ("Pickup dart", "Pickup hammer")),
    "The {thing} is too large.": ("break__plate__deembiggen", ("Pickup hammer",)),
    "There is no power in the {room}.": ("remove_blocker__robotics-lab__power", ("Toggle robotic_arm",)),
    "There is nothing on the machine.": (APPLE, ("Toggle red_button",)),
    "You hold nothing.": (LASER, ("Place table",)),
    "The {thing} is closed.": (LASER, ("Pickup dart", "Place time_machine")),
    "The {held} does not belong there.": (LASER, ("Pickup dart", "Place printer")),
    "There is a cartridge in the {thing} already.":
        (LASER, ("Pickup mug_cartridge", "Place printer", "Pickup hammer_cartridge", "Place printer")),
    "There is no space left on the {thing}.":
        (LASER, ("Pickup dart", "Place carrot_maker", "Pickup hammer", "Place carrot_maker")),
    "The {thing} is already open.": (LASER, ("Open time_machine", "Open time_machine")),
    "The {thing} is already closed.": (LASER, ("Close time_machine",)),
    "You need a hammer in your hand to break the {thing}.": (LASER, ("Break yellow_mug",)),
    "The {thing} is already broken.": (LASER, ("Pickup hammer", "Break yellow_mug", "Break yellow_mug")),
    "There is nothing in the {held} that can be poured.": (LASER, ("Pickup yellow_mug", "Pour coffee_unmaker")),
    "Nothing can be thrown there.": (LASER, ("Pickup dart", "Throw robotic_arm")),
    "There is no cartridge in the {thing}.": (LASER, ("Toggle printer",)),
    "The bed of the {thing} is occupied.": (LASER, FIGURE),
    "The {thing} does not start while its door is open.": (LASER, ("Open time_machine", "Toggle time_machine")),
    "There is nothing in the {thing}.": (LASER, ("Toggle carrot_maker",)),
    "There is no coffee in the {thing}.": (COFFEE, ("Toggle coffee_unmaker",)),
    "There is nothing to take away.": (LASER, ("Toggle robotic_arm",)),
    "The {thing} does not respond. It seems to have a virus.":
        ("fire_laser__none__disinfect_computer", ("Toggle laser_monitor",)),
    "The laser does not fire. A part is missing on it.": (PANEL_MISSING, ("Toggle laser_monitor",)),
    "The {thing} moves nothing. It has to be in a fuse box.": (FUSE_BOX, ("Toggle lever_1",)),
    "The {thing} cannot be run by hand. It is run by its monitor.": (LASER, ("Toggle laser_cannon",)),
    "The {thing} itself has no switch. Use the lever in it.": (LASER, ("Toggle fuse_box",)),
}  # fmt: skip
"""Variant and actions, the last of which fails, by message of the requirement."""


def fill_cups(state: LabState) -> tuple[LabState, LabAction]:
    """Coffee in the hand is poured into a cup with coffee."""
    mug = next(thing.id for thing in state.things if thing.kind == "yellow_mug")
    held = state[mug].with_flags("coffee")
    state = with_new(state, "bowl", "table_1", "coffee").with_thing(replace(held, container=None, room=""))
    return replace(state, held=mug, room=state["table_1"].room, near=frozenset({"bowl_9"})), LabAction("Pour", "bowl_9")


def crowd_break_room(state: LabState) -> tuple[LabState, LabAction]:
    """Coffee is to become beans where all furniture is full."""
    books = [
        Thing(f"book_{id}_{spot}", "book", "red", frozenset(), "break room", id, spot)
        for id, thing in state.by_id.items() if thing.room == "break room" and thing.kind in FURNITURE
        for spot in set(range(KINDS[thing.kind].spots)) - {each.spot for each in state.contents.get(id, ())}
    ]  # fmt: skip
    state = replace(state, things=tuple(sorted((*state.things, *books), key=lambda thing: thing.id)), room="break room")
    state = replace(with_flag(state, "coffee_unmaker_1", "coffee"), near=frozenset({"coffee_unmaker_1"}))
    return state, LabAction("Toggle", "coffee_unmaker_1")


BY_STATE: dict[str, Callable[[LabState], tuple[LabState, LabAction]]] = {
    "The {thing} is already filled.": fill_cups,
    "There is no space in the {room} for what comes out of the {thing}.": crowd_break_room,
}
"""What makes a state and the action that fails in it, for states that are rare in scenarios."""


@pytest.mark.parametrize(
    "requirement",
    {each.message: each for each in (FREE_WAY, LANDED, *(each for rule in RULES for each in rule.requires))}.values(),
    ids=lambda requirement: requirement.message,
)
def test_every_requirement_of_a_rule_can_fail(requirement: Requirement) -> None:
    if requirement.message in BY_STATE:
        state, action = BY_STATE[requirement.message](scenario(LASER).state)
        _, outcome = step(state, action, SPACE)
    else:
        variant, actions = BY_RULES[requirement.message]
        _, outcome = play(variant, *actions)
    _check(outcome, requirement.name, requirement.status, requirement.message)


def test_no_message_of_a_requirement_is_expected_in_vain() -> None:
    messages = {each.message for each in (FREE_WAY, LANDED, *(each for rule in RULES for each in rule.requires))}
    assert {*BY_RULES, *BY_STATE} == messages


def walled_in(state: LabState) -> tuple[LabSpace, LabState]:
    """A lab in which a table stands where nobody can go."""
    layout = draw_lab_layout(scenario().fixtures, 1, "training")
    table = next(id for id in layout.fixtures if id.startswith("table"))
    away = replace(layout.fixtures[table], x=99.0, z=99.0)
    return LabSpace(replace(layout, fixtures={**layout.fixtures, table: away})), replace(state, room=state[table].room)


def test_every_reason_of_the_engine_can_occur() -> None:
    state, lab = scenario().state, space()
    floppy = next(thing for thing in state.things if thing.kind == "virus_floppy")
    there = replace(state, room=floppy.room)
    held, _ = step(replace(there, near=frozenset({floppy.id})), LabAction("Pickup", floppy.id), SPACE)
    shut_in, walled = walled_in(state)
    table = next(id for id in shut_in.layout.fixtures if id.startswith("table"))
    flipper = replace(with_flag(state, "gravity_flipper_1", "on"), room="quantum lab")
    hurt, _ = step(flipper, LabAction("GotoObject", "gravity_flipper_1"), SPACE)
    cases: dict[str, tuple[LabState, LabAction, Surroundings]] = {
        "running": (hurt, LabAction("MoveForward", "1"), SPACE),
        "amount": (state, LabAction("RotateLeft", "30"), SPACE),
        "free floor": (before(lab, state, "printer_1"), LabAction("MoveForward", "2"), lab),
        "known room": (state, LabAction("GotoRoom", "cellar"), SPACE),
        "safe distance": (flipper, LabAction("GotoObject", "gravity_flipper_1"), SPACE),
        "known thing": (state, LabAction("Pickup", "unicorn_1"), SPACE),
        "not in hand": (held, LabAction("Break", floppy.id), SPACE),
        "in sight": (replace(state, room="reception"), LabAction("GotoObject", "printer_1"), SPACE),
        "a way": (walled, LabAction("GotoObject", table), shut_in),
        "possible": (replace(state, room="robotics lab"), LabAction("Pour", "printer_1"), SPACE),
        "in reach": (there, LabAction("Pickup", floppy.id), SPACE),
    }
    assert set(cases) == set(FAILURES)
    for reason, (start, action, surroundings) in cases.items():
        after, outcome = step(start, action, surroundings)
        assert after == start or outcome.status == "KilledByHazard"
        _check(outcome, reason, *FAILURES[reason])


def _check(outcome: ActionOutcome, reason: str, status: str, message: str) -> None:
    assert (outcome.reason, outcome.status) == (reason, status)
    pattern = "".join(".+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{\w+\})", message))
    assert re.fullmatch(pattern, outcome.message)
    assert "{" not in outcome.message and not re.search(r"_\d", outcome.message), "people see no ids"
