"""Draws scenarios: a variant in a lab with clutter, from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from housewise.core.errors import UserError, suggest_names
from housewise.worlds.lab.goals import Goal, Subgoal, check_goal
from housewise.worlds.lab.kinds import CARTRIDGES, FURNITURE, KINDS
from housewise.worlds.lab.state import CIRCUIT_OF, CIRCUITS, ROOMS, Flag, LabState, Thing, first_free
from housewise.worlds.lab.variant_checks import check_solvable, check_variant
from housewise.worlds.lab.variants import BY_NAME, Precondition, Variant

Split = Literal["training", "test"]
MAX_ACTIONS = 50
"""Actions of a person in a session (section 5.1)."""

_FURNITURE: dict[str, tuple[str, ...]] = {
    "break room": ("counter", "table"), "main office": ("desk", "table", "shelf"),
    "manager's office": ("desk", "shelf"), "warehouse": ("shelf", "shelf", "table"), "reception": ("desk", "table"),
    "robotics lab": ("table",), "quantum lab": ("table",),
}  # fmt: skip
_CLUTTER = (
    "book", "record", "trophy", "stapler", "orange", "apple", "banana", "bowl", "plate", "cake", "candy_bar",
    "soda_can", "donut", "pie_slice", "jam_jar", "new_fan", "coffee_pot", "yellow_mug", "boss_mug",
)  # fmt: skip
_ON_DEVICES: dict[Precondition, tuple[str, Flag]] = {
    "deembiggen": ("embiggenator", "large"), "landing": ("gravity_flipper", "floating"),
}  # fmt: skip


@dataclass(frozen=True)
class LabScenario:
    """A variant in a lab.

    Attributes:
        variant: The variant.
        seed: Seed that it was drawn from.
        split: Whether it is for training or for tests.
        state: State at the beginning.
    """

    variant: Variant
    seed: int
    split: Split
    state: LabState

    @property
    def goal(self) -> Goal:
        """What the person wants."""
        return self.variant.goal

    @property
    def mission(self) -> str:
        """The goal as the person reads it."""
        return self.variant.mission

    @property
    def subgoals(self) -> tuple[Subgoal, ...]:
        """The ordered subgoals, those of the precondition first."""
        return self.goal.subgoals(self.variant.precondition, self.variant.needed)

    @property
    def fixtures(self) -> tuple[Thing, ...]:
        """Devices and furniture that stand on the floor or hang at a wall."""
        return tuple(thing for thing in self.state.things if thing.container is None)


def draw_scenario(variant: Variant, seed: int, split: Split = "training") -> LabScenario:
    """Draw a scenario. The same arguments give the same scenario, and no seed of one split gives one of the other.

    Args:
        variant: The variant.
        seed: Seed of the random number generator, 0 or more.
        split: Whether it is for training or for tests.

    Raises:
        UserError: The variant contradicts the rules, or nobody can reach its goal.
    """
    is_bundled = BY_NAME.get(variant.name) == variant
    if not is_bundled:
        check_variant(variant)
    draft = _Draft(random.Random(f"{split}:{seed}:{variant.name}"), variant.name)
    draft.furnish()
    draft.add_supplies(variant)
    _prepare_task(draft, variant)
    _prepare_precondition(draft, variant)
    draft.add_clutter(variant)
    state = draft.state()
    if problem := check_goal(variant.goal, state):
        raise UserError(f"variant {variant.name}: {problem}")
    if not is_bundled:
        check_solvable(variant, state)
    return LabScenario(variant, seed, split, state)


def find_variant(name: str) -> Variant:
    """Return a variant by name.

    Raises:
        UserError: There is none.
    """
    if name not in BY_NAME:
        raise UserError(f"there is no variant {name!r}; {suggest_names(name, BY_NAME, 'housewise list variants')}")
    return BY_NAME[name]


class _Draft:
    """A scenario in the making."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng, self.name = rng, name
        self.things: dict[str, Thing] = {}
        self.unpowered: set[str] = set()
        self.blocked: frozenset[str] = frozenset()

    def add(
        self,
        kind: str,
        room: str,
        on: str | None = None,
        flags: Iterable[Flag] = (),
        color: str = "",
    ) -> str:
        """Add a thing, and return its id."""
        number = next(n for n in range(1, 100) if f"{kind}_{n}" not in self.things)
        id = f"{kind}_{number}"
        usual = KINDS[kind].colors if color == "" else (color,)
        drawn = self.rng.choice(usual)
        self.things[id] = Thing(id, kind, drawn, frozenset(flags), room, on, self.free_spot(on))
        return id

    def furnish(self) -> None:
        """Add devices, furniture, fuse boxes with levers, and a control panel on the laser."""
        for kind in KINDS.values():
            if kind.room and kind.key not in ("crate", "counter") and not kind.key.endswith("_button"):
                self.add(kind.key, kind.room)
        for room, pieces in _FURNITURE.items():
            for piece in pieces:
                # One table of the main office is green, as in the paper; others are not, so that it can be told.
                colors = KINDS[piece].colors[:2]
                self.add(
                    piece, room, color="green" if (room, piece) == ("main office", "table") else self.rng.choice(colors)
                )
        for circuit in CIRCUITS:
            self.add("lever", circuit, self.add("fuse_box", circuit))
        for color in ("red", "green", "blue"):
            self.add(f"{color}_button", "quantum lab", "color_changer_1")
        self.add("control_panel", "robotics lab", "laser_cannon_1")

    def put_anywhere(self, kind: str, flags: Iterable[Flag] = ()) -> str:
        """Add a thing on furniture with space, in a room that is drawn."""
        room, piece = self.draw_place()
        return self.add(kind, room, piece, flags)

    def draw_place(self, without: Iterable[str] = ()) -> tuple[str, str]:
        """Return a room and the id of a piece of furniture with space for two more things."""
        rooms = [room for room in ROOMS if room not in {*without, *self.blocked}]
        while True:
            room = self.rng.choice(rooms)
            pieces = [each for each in self.things.values() if each.room == room and each.kind in FURNITURE]
            free = [each for each in pieces if self.count_on(each.id) + 2 <= KINDS[each.kind].spots]
            if free:
                return room, self.rng.choice(sorted(each.id for each in free))

    def free_spot(self, on: str | None) -> int:
        """Return the first number of a free place on a thing; 0 for what lies on nothing."""
        return first_free({each.spot for each in self.things.values() if on is not None and each.container == on})

    def count_on(self, id: str) -> int:
        """Return the number of things on another."""
        return sum(each.container == id for each in self.things.values())

    def find(self, kind: str) -> Thing | None:
        """Return the first thing of a kind."""
        return next((each for each in self.things.values() if each.kind == kind), None)

    def require(self, kind: str) -> Thing:
        """Return the first thing of a kind that has to be there.

        Raises:
            UserError: There is none.
        """
        thing = self.find(kind)
        if thing is None:
            raise UserError(
                f"variant {self.name}: needed: no {KINDS[kind].name} is in its lab; name a tool or the goal's thing"
            )
        return thing

    def change(self, id: str, **fields: object) -> None:
        """Change a thing."""
        self.things[id] = replace(self.things[id], **fields)  # type: ignore[arg-type]

    def add_supplies(self, variant: Variant) -> None:
        """Add tools and things that every lab has, without those that the precondition takes away."""
        without = {"hammer"} if variant.precondition == "print" else set()
        goal = variant.goal
        if variant.precondition == "remove_blocker" or goal.task == "remove_blocker":
            self.blocked = frozenset({"robotics lab"})
            self.add("crate", "robotics lab")
        if goal.task == "print":
            without |= {goal.kind}
        for kind in ("hammer", "virus_floppy", "antivirus_floppy", "dart", *CARTRIDGES):
            if kind not in without and not (kind == "dart" and goal.kind == "dart"):
                self.put_anywhere(kind)

    def add_clutter(self, variant: Variant) -> None:
        """Add things that the task does not need. None is of the kind that it is about, so that the goal is clear."""
        kinds = [kind for kind in _CLUTTER if kind not in (variant.goal.kind, variant.needed)]
        for kind in self.rng.sample(kinds, self.rng.randint(6, 10)):
            self.put_anywhere(kind)

    def state(self) -> LabState:
        """Return the state at the beginning."""
        things = tuple(sorted(self.things.values(), key=lambda thing: thing.id))
        rooms = [room for room in ROOMS if room not in self.blocked and room != "quantum lab"]
        powered = frozenset(CIRCUITS) - self.unpowered
        return LabState(things, powered, self.rng.choice(rooms), blocked=self.blocked)


def _prepare_task(draft: _Draft, variant: Variant) -> None:
    """Add what the task is about, in its state at the beginning."""
    goal = variant.goal
    kind = goal.kind
    if goal.task == "assemble_fusebox":
        _loosen_lever(draft, goal.room)
    elif goal.task == "assemble_laser":
        _loosen_panel(draft)
    elif goal.task == "power" and variant.precondition == "simple":
        draft.unpowered.add(CIRCUIT_OF[goal.room])
    elif goal.task == "disinfect_computer":
        _set_flag(draft, kind, "infected")
    elif goal.task == "deembiggen":
        draft.add(kind, "quantum lab", "embiggenator_1", ("large",))
    elif goal.task == "landing":
        draft.add(kind, "quantum lab", "gravity_flipper_1", ("floating",))
        _set_flag(draft, "gravity_flipper", "on")
    elif goal.task == "transform_carrot":
        draft.change(draft.put_anywhere(kind), kind="carrot", original=kind, color="orange")
    elif goal.task == "repair_broken":
        draft.put_anywhere(kind, ("broken",))
    elif goal.task == "unmake_coffee":
        draft.put_anywhere(kind, ("coffee",))
    elif kind and goal.task not in ("print", "infect_computer") and draft.find(kind) is None:
        draft.put_anywhere(kind)


def _prepare_precondition(draft: _Draft, variant: Variant) -> None:
    """Bring about what stands in the way of the task."""
    precondition, needed = variant.precondition, variant.needed
    if precondition == "power":
        draft.unpowered.add(CIRCUIT_OF[needed[1:]])
    elif precondition in _ON_DEVICES:
        device, flag = _ON_DEVICES[precondition]
        thing = draft.require(needed)
        draft.change(thing.id, container=f"{device}_1", room="quantum lab", spot=0, flags=thing.flags | {flag})
        if precondition == "landing":
            _set_flag(draft, device, "on")
    elif precondition == "disinfect_computer":
        _set_flag(draft, needed, "infected")
    elif precondition == "transform_carrot":
        draft.change(draft.require(needed).id, kind="carrot", original=needed, color="orange")
    elif precondition == "assemble_laser":
        _loosen_panel(draft)
    elif precondition == "assemble_fusebox":
        _loosen_lever(draft, needed[1:])


def _set_flag(draft: _Draft, kind: str, flag: Flag) -> None:
    thing = draft.require(kind)
    draft.change(thing.id, flags=thing.flags | {flag})


def _loosen_panel(draft: _Draft) -> None:
    room, piece = draft.draw_place(without=("robotics lab",))
    draft.change("control_panel_1", room=room, container=piece, spot=draft.free_spot(piece))


def _loosen_lever(draft: _Draft, room: str) -> None:
    """Take the lever out of the fuse box of a room, which leaves its circuit without power."""
    circuit = CIRCUIT_OF[room]
    box = next(each for each in draft.things.values() if each.kind == "fuse_box" and each.room == circuit)
    lever = next(each for each in draft.things.values() if each.container == box.id)
    place, piece = draft.draw_place()
    draft.change(lever.id, room=place, container=piece, spot=draft.free_spot(piece))
    draft.unpowered.add(circuit)
