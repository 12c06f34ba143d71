"""Labs for tests of layout, space and pictures."""

from dataclasses import replace
from functools import lru_cache

from housewise.worlds.lab.geometry import LabSpace
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.layout import draw_lab_layout
from housewise.worlds.lab.scenarios import LabScenario, Split, draw_scenario, find_variant
from housewise.worlds.lab.state import LabState, Thing

FIRE = "fire_laser__none__simple"
BLOCKED = "remove_blocker__robotics-lab__simple"


def scenario(name: str = FIRE, seed: int = 1, split: Split = "training") -> LabScenario:
    """A scenario of a variant."""
    return draw_scenario(find_variant(name), seed, split)


@lru_cache(maxsize=8)
def space(name: str = FIRE, seed: int = 1, split: Split = "training") -> LabSpace:
    """The space of a scenario."""
    return LabSpace(draw_lab_layout(scenario(name, seed, split).fixtures, seed, split))


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
