"""Labs for tests."""

from dataclasses import replace
from functools import lru_cache

from housewise.worlds.lab.actions import ActionOutcome, LabAction
from housewise.worlds.lab.geometry import LabSpace, open_lab_space
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import LabScenario, Split, draw_scenario, find_variant
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import BY_NAME

FIRE = "fire_laser__none__simple"
BLOCKED = "remove_blocker__robotics-lab__simple"
LASER = "fire_laser_to_heat__yellow_mug__simple"
FUSE_BOX = "assemble_fusebox__break-room__simple"
PANEL_MISSING = "fire_laser__none__assemble_laser"
APPLE = "change_color__apple+green__simple"
COFFEE = "unmake_coffee__yellow_mug__simple"
SPACE = OpenSpace()


def scenario(name: str = FIRE, seed: int = 1, split: Split = "training") -> LabScenario:
    """A scenario of a variant."""
    return draw_scenario(find_variant(name), seed, split)


@lru_cache(maxsize=8)
def space(name: str = FIRE, seed: int = 1, split: Split = "training") -> LabSpace:
    """The space of a scenario."""
    return open_lab_space(scenario(name, seed, split))


def with_new(state: LabState, kind: str, on: str, *flags: str, color: str = "", spot: int = 0) -> LabState:
    """The state with one more thing, ``<kind>_9``, on another."""
    thing = Thing(f"{kind}_9", kind, color or KINDS[kind].colors[0], frozenset(flags), state[on].room, on, spot)  # type: ignore[arg-type]
    return replace(state, things=tuple(sorted((*state.things, thing), key=lambda each: each.id)))


def with_flag(state: LabState, id: str, flag: str) -> LabState:
    """The state in which something is, for example, open."""
    return state.with_thing(state[id].with_flags(flag))  # type: ignore[arg-type]


def before(lab: LabSpace, state: LabState, id: str) -> LabState:
    """The state in front of a thing."""
    there = lab.go_to_thing(lab.go_to_room(state, state[id].room), id)
    assert there is not None
    return there


def play(variant: str, *actions: str) -> tuple[LabState, ActionOutcome]:
    """Carry out actions ``VERB KIND_OR_ID`` from the beginning, and return the last outcome.

    The person goes to each thing first, but for an action that begins with ``far``.
    """
    state, outcome = draw_scenario(BY_NAME[variant], 1).state, ActionOutcome("ActionSuccessful", "")
    for action in actions:
        verb, kind = action.removeprefix("far ").split()
        thing = next(each for each in state.things if kind in (each.kind, each.original, each.id))
        if verb != "GotoObject" and not action.startswith("far "):
            state, _ = step(replace(state, room=thing.room), LabAction("GotoObject", thing.id), SPACE)
        state, outcome = step(replace(state, room=thing.room), LabAction(verb, thing.id), SPACE)  # type: ignore[arg-type]
    return state, outcome
