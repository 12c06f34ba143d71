"""Outcomes of actions in the lab, written by hand, and random actions that leave no contradiction."""

import random
from dataclasses import replace

import pytest

from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, ActionOutcome, LabAction
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import draw_scenario
from housewise.worlds.lab.state import CIRCUITS, ROOMS, LabState
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import BY_NAME, VARIANTS

SPACE = OpenSpace()


def play(variant: str, *actions: str) -> tuple[LabState, ActionOutcome]:
    """Carry out actions ``VERB KIND`` from the beginning, going to each thing first; return the last outcome."""
    state, outcome = draw_scenario(BY_NAME[variant], 1).state, ActionOutcome("ActionSuccessful", "")
    for action in actions:
        verb, _, kind = action.partition(" ")
        thing = next(each for each in state.things if kind in (each.kind, each.original, each.id))
        if verb != "GotoObject":
            state, _ = step(replace(state, room=thing.room), LabAction("GotoObject", thing.id), SPACE)
        state, outcome = step(replace(state, room=thing.room), LabAction(verb, thing.id), SPACE)  # type: ignore[arg-type]
    return state, outcome


LASER = "fire_laser_to_heat__yellow_mug__simple"
OUTCOMES = [
    (LASER, ("Toggle laser_monitor",), "ActionSuccessful"),
    ("fire_laser__none__assemble_laser", ("Toggle laser_monitor",), "InvalidCommand"),
    ("fire_laser__none__disinfect_computer", ("Toggle laser_monitor",), "InvalidCommand"),
    ("fire_laser__none__power", ("Toggle laser_monitor",), "ObjectUnpowered"),
    ("fire_laser__none__remove_blocker", ("Toggle laser_monitor",), "TargetInaccessible"),
    ("fire_laser__none__remove_blocker", ("Toggle robotic_arm", "Toggle laser_monitor"), "ActionSuccessful"),
    (LASER, ("Toggle laser_cannon",), "UnsupportedAction"),
    (LASER, ("Toggle freeze_ray",), "UnsupportedAction"),
    (LASER, ("Toggle gravity_flipper",), "UnsupportedAction"),
    (LASER, ("Toggle embiggenator",), "UnsupportedAction"),
    (LASER, ("Toggle portal_generator",), "UnsupportedAction"),
    (LASER, ("Toggle embiggenator_monitor",), "InvalidCommand"),
    (LASER, ("Toggle carrot_maker",), "InvalidCommand"),
    (LASER, ("Toggle time_machine",), "InvalidCommand"),
    (LASER, ("Open time_machine", "Toggle time_machine"), "InvalidCommand"),
    (LASER, ("Toggle printer",), "InvalidCommand"),
    (LASER, ("Toggle red_button",), "InvalidCommand"),
    (LASER, ("Toggle fuse_box",), "UnsupportedAction"),
    (LASER, ("Toggle lever",), "TargetInaccessible"),
    (LASER, ("Open fuse_box", "Toggle lever"), "ActionSuccessful"),
    (LASER, ("Open fuse_box", "Pickup lever"), "UnsupportedAction"),
    (LASER, ("Open fuse_box", "Open fuse_box"), "InvalidCommand"),
    (LASER, ("Close fuse_box",), "InvalidCommand"),
    (LASER, ("Open yellow_mug",), "UnsupportedAction"),
    (LASER, ("Pickup hammer", "Pickup yellow_mug"), "AlreadyHoldingObject"),
    (LASER, ("Pickup hammer", "Break yellow_mug"), "ActionSuccessful"),
    (LASER, ("Pickup dart", "Break yellow_mug"), "ObjectNotPickedUp"),
    (LASER, ("Pickup hammer", "Break hammer"), "InvalidCommand"),
    (LASER, ("Pickup hammer", "Place time_machine"), "ReceptacleIsClosed"),
    (LASER, ("Pickup hammer", "Place printer"), "InvalidCommand"),
    (LASER, ("Place table",), "ObjectNotPickedUp"),
    (LASER, ("Pickup dart", "Throw dart_board"), "ActionSuccessful"),
    (LASER, ("Pickup dart", "Throw robotic_arm"), "UnsupportedAction"),
    (LASER, ("Pickup laser_cannon",), "UnsupportedAction"),
    (LASER, ("Pickup yellow_mug", "Pour coffee_unmaker"), "InvalidCommand"),
    ("unmake_coffee__yellow_mug__simple", ("Pickup yellow_mug", "Pour coffee_unmaker"), "ActionSuccessful"),
    ("unmake_coffee__yellow_mug__simple", ("Toggle coffee_unmaker",), "InvalidCommand"),
    ("deembiggen__new_fan__simple", ("Pickup new_fan",), "UnsupportedAction"),
    ("deembiggen__new_fan__simple", ("Toggle embiggenator_monitor", "Pickup new_fan"), "ActionSuccessful"),
    ("landing__laser_tip__simple", ("GotoObject laser_tip",), "KilledByHazard"),
    ("landing__laser_tip__simple", ("GotoObject gravity_flipper",), "KilledByHazard"),
    ("landing__laser_tip__simple", ("Toggle gravity_flipper_monitor", "Pickup laser_tip"), "ActionSuccessful"),
    ("print__lever__transform_carrot", ("Pickup lever_cartridge", "Place printer"), "InvalidCommand"),
    (
        "print__action_figure__simple",
        ("Pickup figure_cartridge", "Place printer", "Toggle printer"),
        "ActionSuccessful",
    ),
    (
        "print__action_figure__simple",
        ("Pickup figure_cartridge", "Place printer", "Toggle printer", "Toggle printer"),
        "ReceptacleIsFull",
    ),
]


@pytest.mark.parametrize(("variant", "actions", "status"), OUTCOMES, ids=[" ".join(each[1]) for each in OUTCOMES])
def test_the_outcome_is_that_of_the_rules(variant: str, actions: tuple[str, ...], status: str) -> None:
    assert play(variant, *actions)[1].status == status


def test_what_machines_do() -> None:
    heated, _ = play(LASER, "Pickup yellow_mug", "Place red_shelf", "Toggle laser_monitor")
    assert any(each.kind == "yellow_mug" and "hot" in each.flags for each in heated.things)
    carrot, _ = play("make_carrot__banana__simple", "Pickup banana", "Place carrot_maker", "Toggle carrot_maker")
    assert any((each.kind, each.original) == ("carrot", "banana") for each in carrot.things)
    fed, _ = play(
        "feed_dino__apple__simple", "Toggle portal_generator_monitor", "Pickup apple", "Place portal_generator"
    )
    assert any(each.kind == "portal_generator" and "fed" in each.flags for each in fed.things)
    red, _ = play("change_color__apple+green__simple", "Pickup apple", "Place color_changer", "Toggle green_button")
    assert any((each.kind, each.color) == ("apple", "green") for each in red.things)
    sick, _ = play("infect_computer__reception_computer__simple", "Pickup virus_floppy", "Place reception_computer")
    assert any(each.kind == "reception_computer" and "infected" in each.flags for each in sick.things)


def check(state: LabState) -> None:
    """Check that a state does not contradict itself."""
    ids = [thing.id for thing in state.things]
    assert len(set(ids)) == len(ids) and state.powered <= set(CIRCUITS) and state.room in ROOMS
    for thing in state.things:
        if thing.id == state.held:
            assert (thing.container, thing.room) == (None, "") and "large" not in thing.flags
        elif thing.container is not None:
            assert thing.room == state[thing.container].room
        assert not {"hot", "cold"} <= thing.flags
        assert (thing.kind == "carrot") == (thing.original is not None)
    for id, contents in state.contents.items():
        assert len(contents) <= max(KINDS[state[id].kind].spots, 1)
        assert len({each.spot for each in contents}) == len(contents)


@pytest.mark.parametrize("seed", range(20))
def test_random_actions_leave_a_consistent_state(seed: int) -> None:
    rng = random.Random(seed)
    state = draw_scenario(VARIANTS[seed * 3], seed).state
    for _ in range(250):
        verb = rng.choice([verb for verb in ARGUMENTS if verb != "Speak"])
        here = [each.id for each in state.things if each.room == state.room] or [state.things[0].id]
        argument = {
            "metres": "1", "degrees": str(AMOUNTS.get(verb, (0,))[0]), "room": rng.choice(ROOMS),
            "thing": rng.choice(here),
        }[ARGUMENTS[verb]]  # fmt: skip
        if ARGUMENTS[verb] == "thing" and rng.random() < 0.7:
            state, _ = step(state, LabAction("GotoObject", argument), SPACE)
        after, outcome = step(state, LabAction(verb, argument), SPACE)
        assert outcome.succeeded == (not outcome.reason)
        if not outcome.succeeded:
            assert after == state or outcome.status == "KilledByHazard"
        check(after)
        state = state if after.ended else after
