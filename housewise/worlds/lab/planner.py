"""Plans in the lab by backward chaining over the rule table.

From what the goal needs, the first requirement that does not hold gives the action that makes it hold, and so on, until
an action can be carried out. The requirement on the way is the reason, which the assistant can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from housewise.worlds.lab.actions import LabAction, Verb
from housewise.worlds.lab.goals import Goal, targets, wanted_room
from housewise.worlds.lab.kinds import CARTRIDGE_OF, CARTRIDGES, FURNITURE, KINDS
from housewise.worlds.lab.rule_table import FREE_SLOT, SPOT, Requirement, first_failure
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.situation import (
    ARM,
    LEVER,
    PANEL,
    ActionSituation,
    find_thing,
    find_things,
    fuse_box_of,
    has_flag,
    has_free_spot,
    is_mounted,
    load_of,
)  # fmt: skip
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import Surroundings, closed_holders

_DEPTH = 30
_MAX_STEPS = 50


@dataclass(frozen=True)
class Wish:
    """An action that is wanted.

    Attributes:
        verb: What to do.
        thing: The thing to do it with.
        reason: Why, as a clause; empty if it follows from the goal itself.
        needs_power: Whether it is of no use without power, although it can be done.
    """

    verb: Verb
    thing: Thing
    reason: str = ""
    needs_power: bool = False


@dataclass(frozen=True)
class LabPlanStep:
    """A step towards a goal.

    Attributes:
        action: What to do.
        wishes: What led to it: the action that the goal needs, the one that this needs first, and so on. The last one
            can be carried out, after a walk.
    """

    action: LabAction
    wishes: tuple[Wish, ...]


def next_step(state: LabState, goal: Goal, surroundings: Surroundings) -> LabPlanStep | None:
    """Return the next action towards a goal. None if the goal is reached or no way to it is known."""
    wish, wishes = _goal_wish(state, goal), []
    for _ in range(_DEPTH):
        if wish is None:
            return None
        wishes.append(wish)
        missing = _find_missing(state, wish)
        if missing is None:
            return LabPlanStep(_walk(state, wish, surroundings), tuple(wishes))
        wish = missing()
    return None


def make_plan(state: LabState, goal: Goal, surroundings: Surroundings) -> list[LabPlanStep]:
    """Return a whole plan of up to 50 steps, as it is carried out by the rules.

    Args:
        state: State at the beginning.
        goal: The goal.
        surroundings: Space of the lab.
    """
    steps: list[LabPlanStep] = []
    events: set[str] = set()
    while len(steps) < _MAX_STEPS and not goal.holds(state, events):
        found = next_step(state, goal, surroundings)
        if found is None:
            break
        steps.append(found)
        state, outcome = step(state, found.action, surroundings)
        events |= set(outcome.events)
        if not outcome.succeeded:
            break
    return steps


def _walk(state: LabState, wish: Wish, surroundings: Surroundings) -> LabAction:
    """Return the action itself if its thing is in reach, or a step on the way to it."""
    if wish.thing.room != state.room:
        return LabAction("GotoRoom", wish.thing.room)
    if wish.verb != "Throw" and not surroundings.in_reach(state, wish.thing.id):
        return LabAction("GotoObject", wish.thing.id)
    return LabAction(wish.verb, wish.thing.id)


def _find_missing(state: LabState, wish: Wish) -> Callable[[], Wish | None] | None:
    """Return what gives the action that makes the first missing requirement hold, if one does. None if none misses."""
    for holder in closed_holders(state, wish.thing.id):
        return partial(Wish, "Open", holder, wish.reason or f"the {_name(holder)} is closed")
    if wish.needs_power and not state.has_power(wish.thing.room):
        return partial(_power, state, wish.thing.room)
    situation = ActionSituation(state, wish.verb, wish.thing)
    failed = first_failure(situation)
    if failed is None:
        return None
    return partial(_REMEDIES.get(failed.name, _give_up), situation, failed, wish.reason)


def _give_up(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    """Return nothing: no action makes the requirement hold."""
    return None


def _name(thing: Thing) -> str:
    return KINDS[thing.kind].name


def _bring(state: LabState, thing: Thing, holder: Thing, reason: str) -> Wish | None:
    """Return what brings a thing onto another. None if it is there."""
    if thing.container == holder.id:
        return None
    if state.held != thing.id:
        # Room is made before the thing is taken: one hand cannot do both.
        wish = ActionSituation(state, "Place", holder)
        full = next((each for each in (FREE_SLOT, SPOT) if not each.holds(wish)), None)
        if full is not None:
            return _make_room(wish, full, reason)
        return Wish("Pickup", thing, reason)
    return Wish("Place", holder, reason)


def _put_away(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    """Return what frees the hand: to put the held thing on furniture, in this room if there is any."""
    spots = [each for each in s.state.things if each.kind in FURNITURE and has_free_spot(s.state, each)]
    spots.sort(key=lambda each: (each.room != s.state.room, each.room in s.state.blocked, each.id))
    return Wish("Place", spots[0], reason or "your hand has to be free") if spots else None


def _power(state: LabState, room: str) -> Wish | None:
    """Return what gives power to a room."""
    box = fuse_box_of(state, room)
    if box is None:
        return None
    reason = f"there is no power in the {room}"
    lever = next((each for each in state.contents.get(box.id, ()) if each.kind == LEVER), None)
    return Wish("Toggle", lever, reason) if lever is not None else _fill_box(state, box, reason)


def _fill_box(state: LabState, box: Thing, reason: str) -> Wish | None:
    lever = _find_loose(state, LEVER)
    if lever is None:
        return None
    return _bring(state, lever, box, reason)


def _find_loose(state: LabState, *kinds: str) -> Thing | None:
    """Return a thing of kinds that is not mounted: the held one first, then one of this room."""
    loose = [each for each in find_things(state, kinds) if not is_mounted(state, each)]
    loose.sort(key=lambda each: (each.id != state.held, has_flag(each, "broken"), each.kind == "carrot",
                                 each.room != state.room, each.id))  # fmt: skip
    return loose[0] if loose else None


def _run(state: LabState, kind: str, reason: str) -> Wish | None:
    device = find_thing(state, kind)
    return None if device is None else Wish("Toggle", device, reason)


def _clean(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    disk = next((each for each in s.state.contents.get(s.thing.id, ())), None)
    why = f"the {_name(s.thing)} is infected"
    if disk is not None:
        return Wish("Pickup", disk, why)
    antivirus = _usable(s.state, "antivirus_floppy", why)
    return antivirus if antivirus is None or isinstance(antivirus, Wish) else _bring(s.state, antivirus, s.thing, why)


def _usable(state: LabState, kind: str, reason: str) -> Thing | Wish | None:
    """Return a thing of a kind, or what turns a carrot back into one, or prints one."""
    thing = _find_loose(state, kind)
    if thing is not None and thing.kind == kind:
        return thing
    if thing is not None:
        return _rewind(state, thing, f"the {KINDS[kind].name} is a carrot")
    return _print(state, kind, f"there is no {KINDS[kind].name}")


def _rewind(state: LabState, thing: Thing, reason: str) -> Wish | None:
    """Return what runs the time machine with a thing in it."""
    machine = find_thing(state, "time_machine")
    if machine is None:
        return None
    brought = _bring(state, thing, machine, reason)
    if brought is not None:
        return brought
    return Wish("Close" if has_flag(machine, "open") else "Toggle", machine, reason)


def _print(state: LabState, kind: str, reason: str) -> Wish | None:
    """Return what prints a thing of a kind. None if there is no cartridge for it."""
    needed = CARTRIDGE_OF.get(kind, "")
    printer, cartridge = find_thing(state, "printer"), _find_loose(state, needed)
    if printer is None or cartridge is None:
        return None
    if cartridge.kind != needed:
        return _rewind(state, cartridge, f"the {KINDS[needed].name} is a carrot")
    return _bring(state, cartridge, printer, reason) or Wish("Toggle", printer, reason)


def _make_room(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    """Return what frees a place: to take something from a device; furniture is replaced by other furniture."""
    if s.thing.kind in FURNITURE:
        return _put_away(s, failed, reason)
    load = [each for each in load_of(s.state, s.thing)
            if s.thing.kind != "printer" or (each.kind in CARTRIDGES) == (failed.name == "free slot")]  # fmt: skip
    return Wish("Pickup", load[0], reason or f"something is on the {_name(s.thing)}") if load else None


def _clear_furniture(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    """Return what frees a place on the furniture of a room."""
    full = [thing for each in s.state.things if each.kind in FURNITURE and each.room == s.thing.room
            for thing in s.state.contents.get(each.id, ())]  # fmt: skip
    return Wish("Pickup", full[0], reason or f"the furniture of the {s.thing.room} is full") if full else None


def _fetch_hammer(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    found = _usable(s.state, "hammer", reason)
    return found if found is None or isinstance(found, Wish) else Wish("Pickup", found, reason)


def _assemble(s: ActionSituation, failed: Requirement, reason: str) -> Wish | None:
    panel = _find_loose(s.state, PANEL)
    return None if panel is None else _bring(s.state, panel, s.machine, "the control panel is missing on the laser")


_REMEDIES: dict[str, Callable[[ActionSituation, Requirement, str], Wish | None]] = {
    "free way": lambda s, r, why: _run(s.state, ARM, "a big box blocks the way"),
    "power": lambda s, r, why: _power(s.state, s.thing.room),
    "free hand": _put_away,
    "small": lambda s, r, why: _run(s.state, "embiggenator_monitor", f"the {_name(s.thing)} is too large"),
    "landed": lambda s, r, why: _run(s.state, "gravity_flipper_monitor", f"the {_name(s.thing)} floats"),
    "opened": lambda s, r, why: Wish("Open", s.thing, why or f"the {_name(s.thing)} is closed"),
    "door shut": lambda s, r, why: Wish("Close", s.thing, why),
    "free spot": _make_room,
    "free slot": _make_room,
    "free furniture": _clear_furniture,
    "free bed": _make_room,
    "not infected": _clean,
    "assembled": _assemble,
    "hammer in hand": _fetch_hammer,
}
"""What makes a requirement hold, by its name."""


def _on(device: str, then: str) -> Callable[[LabState, Goal], Wish | None]:
    """Return the plan of a task that puts its thing on a device and toggles something."""

    def wish(state: LabState, goal: Goal) -> Wish | None:
        thing, holder = _target(state, goal), find_thing(state, device)
        if thing is None or holder is None:
            return None
        if thing.kind != goal.kind:
            return _rewind(state, thing, f"the {KINDS[goal.kind].name} is a carrot")
        return _bring(state, thing, holder, "") or _run(state, then.format(color=goal.color), "")

    return wish


def _target(state: LabState, goal: Goal) -> Thing | None:
    found = sorted(targets(goal, state), key=lambda each: (each.id != state.held, "broken" not in each.flags, each.id))
    return found[0] if found else None


def _insert(disk: str) -> Callable[[LabState, Goal], Wish | None]:
    def wish(state: LabState, goal: Goal) -> Wish | None:
        computer, found = find_thing(state, goal.kind), _usable(state, disk, "")
        if computer is None or found is None or isinstance(found, Wish):
            return found if isinstance(found, Wish) else None
        if not state.has_power(computer.room):
            return Wish("Place", computer, needs_power=True)
        if found.container == computer.id:
            return Wish("Pickup", found)
        return _bring(state, found, computer, "")

    return wish


def _break(state: LabState, goal: Goal) -> Wish | None:
    whole = [each for each in targets(goal, state) if "broken" not in each.flags]
    return Wish("Break", whole[0]) if whole else None


def _feed(state: LabState, goal: Goal) -> Wish | None:
    portal, food = find_thing(state, "portal_generator"), _target(state, goal)
    if portal is None or food is None:
        return None
    if food.kind != goal.kind:
        return _rewind(state, food, f"the {KINDS[goal.kind].name} is a carrot")
    if food.container == portal.id or (state.held == food.id and not has_flag(portal, "on")):
        return _run(state, "portal_generator_monitor", "")
    return _bring(state, food, portal, "")


def _unmake(state: LabState, goal: Goal) -> Wish | None:
    machine, mug = find_thing(state, "coffee_unmaker"), _target(state, goal)
    if machine is None:
        return None
    if has_flag(machine, "coffee"):
        return Wish("Toggle", machine)
    if mug is None:
        return None
    return Wish("Pickup", mug) if state.held != mug.id else Wish("Pour", machine)


def _throw_dart(state: LabState, goal: Goal) -> Wish | None:
    board, dart = find_thing(state, "dart_board"), _usable(state, "dart", "")
    if board is None or dart is None or isinstance(dart, Wish):
        return dart if isinstance(dart, Wish) else None
    return Wish("Pickup", dart) if state.held != dart.id else Wish("Throw", board)


def _repair(state: LabState, goal: Goal) -> Wish | None:
    thing = _target(state, goal)
    return None if thing is None else _rewind(state, thing, "")


def _assemble_goal(state: LabState, goal: Goal) -> Wish | None:
    cannon, panel = find_thing(state, "laser_cannon"), _find_loose(state, PANEL)
    return None if cannon is None or panel is None else _bring(state, panel, cannon, "")


def _assemble_box(state: LabState, goal: Goal) -> Wish | None:
    box = fuse_box_of(state, wanted_room(goal))
    return None if box is None else _fill_box(state, box, "")


_TASKS: dict[str, Callable[[LabState, Goal], Wish | None]] = {
    "assemble_fusebox": _assemble_box,
    "assemble_laser": _assemble_goal,
    "break": _break,
    "change_color": _on("color_changer", "{color}_button"),
    "dart": _throw_dart,
    "deembiggen": lambda s, g: _run(s, "embiggenator_monitor", ""),
    "disinfect_computer": _insert("antivirus_floppy"),
    "embiggen": _on("embiggenator", "embiggenator_monitor"),
    "feed_dino": _feed,
    "fire_freezeray": lambda s, g: _run(s, "freeze_ray_monitor", ""),
    "fire_freezeray_to_cool": _on("blue_shelf", "freeze_ray_monitor"),
    "fire_laser": lambda s, g: _run(s, "laser_monitor", ""),
    "fire_laser_to_heat": _on("red_shelf", "laser_monitor"),
    "infect_computer": _insert("virus_floppy"),
    "landing": lambda s, g: _run(s, "gravity_flipper_monitor", ""),
    "make_carrot": _on("carrot_maker", "carrot_maker"),
    "power": lambda s, g: _power(s, wanted_room(g)),
    "print": lambda s, g: _print(s, g.kind, ""),
    "remove_blocker": lambda s, g: _run(s, ARM, ""),
    "repair_broken": _repair,
    "transform_carrot": _repair,
    "unmake_coffee": _unmake,
}


def _goal_wish(state: LabState, goal: Goal) -> Wish | None:
    return None if goal.holds(state) else _TASKS[goal.task](state, goal)
