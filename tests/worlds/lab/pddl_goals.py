"""Goals of the lab in PDDL, and plans of PDDL as actions of the lab."""

from __future__ import annotations

from housewise.experiments.bench.lab_pddl_problems import Fact, products, room_name
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.goals import Goal
from housewise.worlds.lab.rule_table import RULES
from housewise.worlds.lab.situation import BOX, LEVER, PANEL
from housewise.worlds.lab.state import CIRCUITS, ROOMS, LabState

Literal = tuple[bool, Fact]


def goal_facts(goal: Goal, state: LabState) -> tuple[tuple[Literal, ...], ...]:
    """Return the goal: one of several conjunctions of literals, each of which is true or false."""
    things = [thing.id for thing in state.things if goal.kind in (thing.kind, thing.original)]
    fixed: dict[str, tuple[tuple[Literal, ...], ...]] = {
        "assemble_laser": tuple(((True, ("on", id, "laser_cannon_1")),) for id in _of(state, PANEL)),
        "assemble_fusebox": tuple(
            ((True, ("on", id, box)),) for id in (*_of(state, LEVER), *_made(state, LEVER))
            for box in _of(state, BOX) if state[box].room == _circuit(goal.room)
        ),
        "dart": (((True, ("dart_hit",)),),),
        "fire_freezeray": (((True, ("fired", "freeze_ray_1")),),),
        "fire_laser": (((True, ("fired", "laser_cannon_1")),),),
        "power": (((True, ("lit", room_name(goal.room or "break room"))),),),
        "print": tuple(((True, ("printed", id)),) for id in _made(state, goal.kind)),
        "remove_blocker": (tuple((False, ("blocked", room_name(room))) for room in ROOMS),),
        "unmake_coffee": (((True, ("beans",)),),),
    }  # fmt: skip
    if goal.task in fixed:
        return fixed[goal.task]
    return tuple(_goal_of_thing(goal, id) for id in things)


def _goal_of_thing(goal: Goal, id: str) -> tuple[Literal, ...]:
    whole = (False, ("carrot", id))
    return {
        "break": ((True, ("broken", id)),),
        "change_color": ((True, ("has_color", id, goal.color)), whole),
        "deembiggen": ((False, ("large", id)),),
        "disinfect_computer": ((False, ("infected", id)),),
        "embiggen": ((True, ("large", id)), whole),
        "feed_dino": ((True, ("eaten", id)), (True, ("on", id, "portal_generator_1"))),
        "fire_freezeray_to_cool": ((True, ("cold", id)), whole),
        "fire_laser_to_heat": ((True, ("hot", id)), whole),
        "infect_computer": ((True, ("infected", id)),),
        "landing": ((False, ("floating", id)),),
        "make_carrot": ((True, ("carrot", id)),),
        "repair_broken": ((False, ("broken", id)), whole),
        "transform_carrot": (whole,),
    }[goal.task]


def _of(state: LabState, kind: str) -> list[str]:
    return [thing.id for thing in state.things if thing.kind == kind]


def _made(state: LabState, kind: str) -> list[str]:
    return sorted({made for made in products(state).values() if made.rpartition("_")[0] == kind})


def _circuit(room: str) -> str:
    return next(circuit for circuit, rooms in CIRCUITS.items() if (room or "break room") in rooms)


def plan_of_pddl(actions: list[Fact]) -> list[LabAction]:
    """Return a plan of PDDL as actions of the lab."""
    rooms = {room_name(room): room for room in ROOMS}
    verbs = {rule.verb.lower(): rule.verb for rule in RULES}
    found = []
    for name, *arguments in actions:
        if name == "gotoroom":
            found.append(LabAction("GotoRoom", rooms[arguments[1]]))
        elif name.startswith("gotoobject"):
            found.append(LabAction("GotoObject", arguments[0]))
        else:
            found.append(LabAction(verbs[name.partition("_")[0]], arguments[0]))
    return found
