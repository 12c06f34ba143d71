"""Goals of the 22 tasks, with their ordered subgoals. The paper only names the tasks; the rest is our choice."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from housewise.worlds.lab.kinds import CARTRIDGE_OF, KINDS, Property
from housewise.worlds.lab.situation import BOX, FLIPPER, LEVER, PANEL, find_thing, find_things, fuse_box_of, has_flag
from housewise.worlds.lab.state import LabState, Thing

TASKS = (
    "assemble_fusebox", "assemble_laser", "break", "change_color", "dart", "deembiggen", "disinfect_computer",
    "embiggen", "feed_dino", "fire_freezeray", "fire_freezeray_to_cool", "fire_laser", "fire_laser_to_heat",
    "infect_computer", "landing", "make_carrot", "power", "print", "remove_blocker", "repair_broken",
    "transform_carrot", "unmake_coffee",
)  # fmt: skip


@dataclass(frozen=True)
class Goal:
    """What the person wants.

    Attributes:
        task: One of the 22 tasks.
        kind: Kind of the thing that it is about, or of the cartridge's product.
        color: Wanted colour.
        room: Room that it is about.
    """

    task: str
    kind: str = ""
    color: str = ""
    room: str = ""

    def holds(self, state: LabState, events: Collection[str] = ()) -> bool:
        """Return whether the goal is reached.

        Args:
            state: State of the lab.
            events: Names of everything that has taken place.
        """
        return _GOALS[self.task](self, state, events)

    def subgoals(self, precondition: str = "simple", needed: str = "") -> tuple[Subgoal, ...]:
        """Return the ordered subgoals, those of the precondition first. A subgoal that was reached stays reached.

        Args:
            precondition: What stands in the way of the task.
            needed: Kind of the thing that the precondition is about.
        """
        first = () if precondition == "simple" else _PRECONDITIONS[precondition](self, needed)
        own = tuple(Subgoal(name, _named(name, self)) for name in _SUBGOALS[self.task])
        return (*first, *own, Subgoal("goal", self.holds))


Test = Callable[[LabState, Collection[str]], bool]


@dataclass(frozen=True)
class Subgoal:
    """A part of a goal.

    Attributes:
        name: Its name.
        holds: Whether it is reached, from the state and the names of what has taken place.
    """

    name: str
    holds: Test


def targets(goal: Goal, state: LabState) -> tuple[Thing, ...]:
    """Return the things that a goal may be about."""
    return tuple(find_things(state, (goal.kind,)))


def wanted_room(goal: Goal) -> str:
    """Return the room whose fuse box a goal is about."""
    return goal.room or "break room"


def _any(goal: Goal, state: LabState, holds: Callable[[Thing], bool]) -> bool:
    return any(holds(thing) for thing in targets(goal, state))


def _is_on(state: LabState, thing: Thing, kind: str) -> bool:
    return thing.container is not None and state[thing.container].kind == kind


def _lever_in(goal: Goal, state: LabState) -> bool:
    box = fuse_box_of(state, wanted_room(goal))
    return box is not None and any(each.kind == LEVER for each in state.contents.get(box.id, ()))


_GOALS: dict[str, Callable[[Goal, LabState, Collection[str]], bool]] = {
    "assemble_fusebox": lambda g, s, e: _lever_in(g, s),
    "assemble_laser": lambda g, s, e: any(_is_on(s, x, "laser_cannon") for x in find_things(s, (PANEL,))),
    "break": lambda g, s, e: _any(g, s, lambda x: "broken" in x.flags),
    "change_color": lambda g, s, e: _any(g, s, lambda x: x.color == g.color and x.kind == g.kind),
    "dart": lambda g, s, e: "dart hit" in e,
    "deembiggen": lambda g, s, e: _any(g, s, lambda x: "large" not in x.flags),
    "disinfect_computer": lambda g, s, e: _any(g, s, lambda x: "infected" not in x.flags),
    "embiggen": lambda g, s, e: _any(g, s, lambda x: "large" in x.flags and x.kind == g.kind),
    "feed_dino": lambda g, s, e: _any(g, s, lambda x: "eaten" in x.flags and _is_on(s, x, "portal_generator")),
    "fire_freezeray": lambda g, s, e: any("fired" in x.flags for x in find_things(s, ("freeze_ray",))),
    "fire_freezeray_to_cool": lambda g, s, e: _any(g, s, lambda x: "cold" in x.flags and x.kind == g.kind),
    "fire_laser": lambda g, s, e: any("fired" in x.flags for x in find_things(s, ("laser_cannon",))),
    "fire_laser_to_heat": lambda g, s, e: _any(g, s, lambda x: "hot" in x.flags and x.kind == g.kind),
    "infect_computer": lambda g, s, e: _any(g, s, lambda x: "infected" in x.flags),
    "landing": lambda g, s, e: _any(g, s, lambda x: "floating" not in x.flags),
    "make_carrot": lambda g, s, e: _any(g, s, lambda x: x.kind == "carrot"),
    "power": lambda g, s, e: s.has_power(wanted_room(g)),
    "print": lambda g, s, e: f"printed {g.kind}" in e,
    "remove_blocker": lambda g, s, e: not s.blocked,
    "repair_broken": lambda g, s, e: _any(g, s, lambda x: x.kind == g.kind and "broken" not in x.flags),
    "transform_carrot": lambda g, s, e: any(x.kind == g.kind for x in s.things),
    "unmake_coffee": lambda g, s, e: "beans" in e,
}  # fmt: skip

_SUBGOALS: dict[str, tuple[str, ...]] = {
    "assemble_fusebox": ("held lever", "box open"), "assemble_laser": ("held control_panel",),
    "break": ("held hammer",),
    "change_color": ("held", "on color_changer"), "dart": ("held",), "deembiggen": (), "disinfect_computer":
    ("held antivirus_floppy",), "embiggen": ("held", "on embiggenator"), "feed_dino": ("held", "portal on"),
    "fire_freezeray": (), "fire_freezeray_to_cool": ("held", "on blue_shelf"), "fire_laser": (),
    "fire_laser_to_heat": ("held", "on red_shelf"), "infect_computer": ("held virus_floppy",), "landing": (),
    "make_carrot": ("held", "on carrot_maker"), "power": (), "print": ("held cartridge", "cartridge in printer"),
    "remove_blocker": (), "repair_broken": ("held", "on time_machine"), "transform_carrot": ("held", "on time_machine"),
    "unmake_coffee": ("held", "poured"),
}  # fmt: skip
"""Subgoals before the goal itself. "held" and "on" are about the goal's thing."""


def _named(name: str, goal: Goal) -> Test:
    """Return the test of a subgoal of _SUBGOALS."""
    verb, _, rest = name.partition(" ")
    if name in ("portal on", "poured"):
        return lambda state, events: name in events
    if name == "box open":
        return lambda state, events: (
            (box := fuse_box_of(state, wanted_room(goal))) is not None and has_flag(box, "open")
        )
    if name == "cartridge in printer":
        return lambda state, events: any(
            _is_on(state, each, "printer") for each in find_things(state, (CARTRIDGE_OF.get(goal.kind, ""),))
        )
    if verb == "on":
        return lambda state, events: any(_is_on(state, each, rest) for each in targets(goal, state))
    kind = CARTRIDGE_OF.get(goal.kind, "") if rest == "cartridge" else rest or goal.kind
    return lambda state, events: state.held is not None and kind in (state[state.held].kind, state[state.held].original)


def _event(*names: str) -> Callable[[Goal, str], tuple[Subgoal, ...]]:
    return lambda goal, needed: tuple(Subgoal(name, lambda state, events, name=name: name in events) for name in names)  # type: ignore[misc]


def _original_back(goal: Goal, needed: str) -> tuple[Subgoal, ...]:
    def holds_carrot(state: LabState, events: Collection[str]) -> bool:
        return state.held is not None and state[state.held].original == needed

    return (
        Subgoal("held carrot", holds_carrot),
        Subgoal("original back", lambda state, events: any(each.kind == needed for each in state.things)),
    )


def _printed(goal: Goal, needed: str) -> tuple[Subgoal, ...]:
    made = Goal("print", needed)
    return (*(Subgoal(name, _named(name, made)) for name in _SUBGOALS["print"]), Subgoal("printed", made.holds))


_PRECONDITIONS: dict[str, Callable[[Goal, str], tuple[Subgoal, ...]]] = {
    "assemble_fusebox": lambda g, n: (
        Goal("assemble_fusebox", room=g.room).subgoals()[:-1] + (Subgoal("lever in box", lambda s, e: _lever_in(g, s)),)
    ),
    "assemble_laser": lambda g, n: (
        Goal("assemble_laser").subgoals()[:-1] + (Subgoal("laser assembled", Goal("assemble_laser").holds),)
    ),
    "deembiggen": _event("shrunk"),
    "disinfect_computer": lambda g, n: (
        Goal("disinfect_computer", n).subgoals()[:-1]
        + (Subgoal("computer clean", Goal("disinfect_computer", n).holds),)
    ),
    "landing": _event("gravity off"),
    # The event would be that of any fuse box.
    "power": lambda g, n: (Subgoal("power on", lambda s, e: s.has_power(n.removeprefix("@"))),),
    "print": _printed,
    "remove_blocker": _event("way freed"),
    "transform_carrot": _original_back,
}


_NEEDED: dict[str, Property] = {
    "break": "breakable", "unmake_coffee": "fillable", "feed_dino": "eatable", "fire_laser_to_heat": "heatable",
    "fire_freezeray_to_cool": "chillable",
}  # fmt: skip


def may_be_about(task: str, kind: str, state: LabState) -> bool:
    """Return whether a task may be about things of a kind, by what can be done with them.

    Args:
        task: One of the 22 tasks.
        kind: Key of a kind.
        state: State of the lab.
    """
    properties = KINDS[kind].properties
    if task == "print":
        return kind in CARTRIDGE_OF
    if task == "transform_carrot":
        return any(thing.original == kind for thing in state.things)
    if task in ("infect_computer", "disinfect_computer"):
        return "infectable" in properties
    if not any(True for _ in find_things(state, (kind,))):
        return False
    needed = _NEEDED.get(task, "pickupable")
    return needed in properties


def check_goal(goal: Goal, state: LabState) -> str:
    """Return why a goal cannot be about a lab, in words; an empty text if it can.

    Args:
        goal: The goal.
        state: Initial state of the lab.
    """
    if goal.task not in TASKS:
        return f"there is no task {goal.task!r}; tasks: {', '.join(TASKS)}"
    if goal.kind and goal.kind not in KINDS:
        return f"there is no kind {goal.kind!r}"
    if goal.task in ("landing",) and find_thing(state, FLIPPER) is None:
        return "nothing can land without a gravity flipper"
    if goal.task in ("power", "assemble_fusebox") and find_thing(state, BOX) is None:
        return "there is no fuse box"
    return ""
