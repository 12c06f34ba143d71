"""Scenarios of the lab as problems of PDDL without goals, and our plans as plans of PDDL."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from housewise.experiments.bench.lab_pddl import (
    FLAG_PREDICATES,
    KIND_PREDICATES,
    PROPERTY_PREDICATES,
    domain_text,
    rule_number,
)
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.kinds import CARTRIDGES, FURNITURE, KINDS
from housewise.worlds.lab.planner import LabPlanStep
from housewise.worlds.lab.rule_table import RULES
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.situation import ARM, BOX, CRATE, LEVER, PANEL
from housewise.worlds.lab.state import CIRCUITS, ROOMS, LabState, Thing
from housewise.worlds.lab.surroundings import OpenSpace

Fact = tuple[str, ...]


def room_name(room: str) -> str:
    """A room in PDDL."""
    return "room_" + room.replace(" ", "_").replace("'", "")


def spot_name(holder: str, number: int) -> str:
    """A spot in PDDL. The printer's are its slot, 0, and its bed, 1."""
    return f"spot_{holder}_{number}"


def spots_of(state: LabState, thing: Thing) -> list[int]:
    """Numbers of the spots of a thing. Of furniture, the taken ones and two more: so the search stays small."""
    numbers = range(KINDS[thing.kind].spots)
    if thing.kind not in FURNITURE:
        return [*numbers]
    taken = {each.spot for each in state.contents.get(thing.id, ())}
    return sorted({*taken, *[number for number in numbers if number not in taken][:2]})


def spot_of(state: LabState, thing: Thing) -> str:
    """The spot of a thing in PDDL."""
    holder = thing.container or ""
    bed = state[holder].kind == "printer" and thing.kind not in CARTRIDGES
    return spot_name(holder, thing.spot if state[holder].kind != "printer" else int(bed))


def products(state: LabState) -> dict[str, str]:
    """The thing that each cartridge would print next, by the cartridge's id."""
    found, taken = {}, {thing.id for thing in state.things}
    for thing in state.things:
        made = CARTRIDGES.get(thing.original or thing.kind)
        if made is not None:
            found[thing.id] = next(f"{made}_{number}" for number in range(1, 99) if f"{made}_{number}" not in taken)
    return found


def objects(state: LabState) -> dict[str, tuple[str, ...]]:
    """The objects of the problem of a state, by type."""
    spots = (spot_name(thing.id, number) for thing in state.things for number in spots_of(state, thing))
    things = sorted({*state.by_id, *products(state).values()})
    return {"thing": tuple(things), "room": tuple(map(room_name, ROOMS)), "spot": tuple(spots)}


def facts(state: LabState) -> Iterator[Fact]:
    """Yield what holds in a state."""
    yield ("at", room_name(state.room))
    yield ("hand_free",) if state.held is None else ("held", state.held)
    for circuit, rooms in CIRCUITS.items():
        for room in rooms:
            yield "circuit", room_name(room), room_name(circuit)
            if circuit in state.powered:
                yield "lit", room_name(room)
    yield from (("blocked", room_name(room)) for room in state.blocked)
    yield "near", _near(state)
    for thing in state.things:
        yield from _facts_of_kind(thing.id, thing.original or thing.kind, state)
        yield from _facts_of_thing(thing, state)
    for cartridge, made in products(state).items():
        yield "prints", cartridge, made
        if made not in state.by_id:
            yield "absent", made
            yield from _facts_of_kind(made, made.rpartition("_")[0], state)


def open_problem(state: LabState) -> Any:
    """Return the problem of a state, without a goal, for unified-planning."""
    from unified_planning.shortcuts import Object

    problem = _domain().clone()
    types = {each.name: each for each in problem.user_types}
    for kind, names in objects(state).items():
        problem.add_objects([Object(name, types[kind]) for name in names])
    for fact in facts(state):
        problem.set_initial_value(expression(problem, fact), True)
    return problem


def expression(problem: Any, fact: Fact) -> Any:
    """Return a fact as unified-planning writes it."""
    return problem.fluent(fact[0])(*map(problem.object, fact[1:]))


@lru_cache(maxsize=1)
def _domain() -> Any:
    from unified_planning.io import PDDLReader

    return PDDLReader().parse_problem_string(domain_text())


def _facts_of_kind(id: str, kind: str, state: LabState) -> Iterator[Fact]:
    """Yield what never changes of a thing."""
    found = KINDS[kind]
    rules = {rule_number(rule.verb, kind) for rule in RULES}
    if "pickupable" in found.properties:
        rules |= {rule_number(rule.verb, "carrot") for rule in RULES}
    yield from ((f"rule_{number}", id) for number in sorted(each for each in rules if each is not None))
    yield from ((name, id) for name in KIND_PREDICATES if name == kind)
    yield from ((name, id) for name in PROPERTY_PREDICATES if name in found.properties)
    yield from (("beside_box", id) for _ in range(kind in (ARM, CRATE)))
    yield from (("furniture", id) for _ in range(kind in FURNITURE))
    yield from (("cartridge", id) for _ in range(kind in CARTRIDGES))
    yield from (("takes_all", id) for _ in range("receptacle" in found.properties and not found.accepts))
    yield "usual", id, found.colors[0]
    for holder in state.things:
        if kind in KINDS[holder.kind].accepts:
            yield "fits", id, holder.id
        if holder.kind == kind and kind.endswith("_button"):
            yield "runs", id, "color_changer_1"
            yield "paints", id, found.colors[0]
        if KINDS[holder.kind].monitor == kind:
            yield "runs", id, holder.id


def _facts_of_thing(thing: Thing, state: LabState) -> Iterator[Fact]:
    """Yield what may change of a thing."""
    if thing.color:
        yield "has_color", thing.id, thing.color
    yield from ((flag, thing.id) for flag in thing.flags if flag in FLAG_PREDICATES)
    assert not thing.flags - {*FLAG_PREDICATES, "on"}, thing
    yield from (("active", thing.id) for _ in range("on" in thing.flags))
    yield from (("carrot", thing.id) for _ in range(thing.original is not None))
    if thing.room:
        yield "in", thing.id, room_name(thing.room)
    if thing.container is None:
        yield from (("fixture", thing.id) for _ in range("pickupable" not in KINDS[thing.kind].properties))
    else:
        holder = state[thing.container]
        yield "on", thing.id, holder.id
        yield "at_spot", thing.id, spot_of(state, thing)
        if (thing.kind, holder.kind) in ((LEVER, BOX), (PANEL, "laser_cannon")) or thing.kind.endswith("_button"):
            yield "mounted", thing.id
        if "openable" in KINDS[holder.kind].properties and "open" not in holder.flags:
            yield "enclosed", thing.id
    taken = {spot_of(state, each) for each in state.contents.get(thing.id, ())}
    for number in spots_of(state, thing):
        spot = spot_name(thing.id, number)
        yield "spot_of", spot, thing.id
        part = (thing.kind, number) == ("printer", 1) or (thing.kind == "color_changer" and number < 3)
        yield from (("placeable", spot) for _ in range(not part))
        yield from (("free", spot) for _ in range(spot not in taken))


def plan_in_pddl(state: LabState, plan: list[LabPlanStep]) -> list[Fact]:
    """Return a plan of ours as actions of PDDL, the parameters of which are read from the states on the way."""
    found: list[Fact] = []
    for each in plan:
        after, _ = step(state, each.action, OpenSpace())
        found.append(_action_in_pddl(state, each.action, after))
        state = after
    return found


def _action_in_pddl(state: LabState, action: LabAction, after: LabState) -> Fact:
    if action.verb == "GotoRoom":
        return "gotoroom", room_name(state.room), room_name(action.argument), _near(state)
    thing, room = state[action.argument], room_name(state.room)
    if action.verb == "GotoObject":
        if thing.container is None:
            return "gotoobject_fixture", thing.id, room, _near(state)
        return "gotoobject_on", thing.id, room, thing.container, _near(state)
    number = rule_number(action.verb, thing.kind)
    assert number is not None
    more = _parameters(RULES[number].effect.__name__, thing, state, after)
    return f"{action.verb.lower()}_{number}", thing.id, room, *more


def _near(state: LabState) -> str:
    """The fixture at which the person stands."""
    return next((id for id in state.near if id in state.by_id and state[id].container is None), "nowhere")


def _parameters(effect: str, thing: Thing, state: LabState, after: LabState) -> tuple[str, ...]:
    held = state.held or ""
    machine = next((each.id for each in state.things if KINDS[each.kind].monitor == thing.kind), "")
    made = next((each for each in after.things if each.id not in state.by_id), thing)
    if effect == "pick_up":
        return thing.container or "", spot_of(state, thing)
    if effect in ("place", "throw"):
        return held, spot_of(after, after[held])
    if effect == "pour":
        return (held,)
    if effect == "print_thing":
        cartridge = next(each.id for each in state.contents[thing.id] if each.kind in CARTRIDGES)
        return cartridge, made.id, spot_of(after, made)
    if effect == "unmake":
        return made.container or "", spot_of(after, made)
    if effect == "paint":
        return "color_changer_1", thing.color
    return (machine,) if machine else ()
