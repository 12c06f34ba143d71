"""Random actions in the lab, and the outcomes that the rule table lets expect.

Half of the actions are drawn among those that the table accepts. They belong to errands, some of which bring
about states that are rare otherwise: a full shelf, a large hammer, a floating dart. The other half fails, those first
whose outcome has not occurred yet.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, LabAction, Status, Verb
from housewise.worlds.lab.goals import Goal
from housewise.worlds.lab.kinds import COMPUTERS, FURNITURE, KINDS, Kind
from housewise.worlds.lab.planner import next_step
from housewise.worlds.lab.rule_table import LabRule, Requirement, find_rule, first_failure
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import draw_scenario
from housewise.worlds.lab.situation import ARM, BOX, CRATE, FLIPPER, LEVER, LIQUIDS, PANEL, ActionSituation
from housewise.worlds.lab.state import ROOMS, LabState, Thing
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import VARIANTS, Variant

SPACE = OpenSpace()
VERBS: tuple[Verb, ...] = tuple(verb for verb, argument in ARGUMENTS.items() if argument == "thing")
Triple = tuple[Verb, str, Status]


@cache
def group_of(kind: str) -> str:
    """The kind of a device, fixture or part. No rule tells common things apart but by what can be done with them."""
    found = KINDS[kind]
    if not found.is_common or "pickupable" not in found.properties:
        return kind
    return "things: " + ", ".join(sorted(found.properties))


# Why a requirement can never fail for a kind, by its name, or why it is never reached.
_NEVER_FAILS: dict[str, tuple[Callable[[Kind], bool], str]] = {
    "opened": (lambda kind: "openable" not in kind.properties, "it has no door"),
    "fits": (lambda kind: not kind.accepts, "everything fits"),
    "free slot": (lambda kind: kind.key != "printer", "only the printer has a slot"),
    "a target": (lambda kind: "receptacle" in kind.properties, "things can be thrown there"),
    "empty": (lambda kind: True, "no lab begins with two filled cups"),
    "free spot": (lambda kind: kind.key in ("laser_cannon", "printer"), "no more things fit than it has places"),
    "loose": (lambda kind: kind.key not in (PANEL, LEVER), "it is no part of a device that can be taken"),
}
_NEVER_HOLDS: dict[str, tuple[Callable[[Kind], bool], str]] = {
    "a target": (lambda kind: "receptacle" not in kind.properties, "nothing can be thrown there"),
    "its monitor": (lambda kind: bool(kind.monitor), "it is run by its monitor"),
    "its lever": (lambda kind: kind.key == BOX, "it is run by its lever"),
}


def expected_triples() -> tuple[set[Triple], dict[Triple, str]]:
    """Return the (verb, kind, status) that can occur by the rule table, and those that cannot, with the reason."""
    expected: set[Triple] = set()
    never: dict[Triple, str] = {}
    for kind in KINDS.values():
        for verb in VERBS:
            possible, impossible = _statuses(verb, kind)
            expected |= {(verb, group_of(kind.key), status) for status in possible}
            never |= {(verb, group_of(kind.key), status): reason for status, reason in impossible.items()}
    return expected, {triple: reason for triple, reason in never.items() if triple not in expected}


def _statuses(verb: Verb, kind: Kind) -> tuple[set[Status], dict[Status, str]]:
    # From another room a thing is out of sight, and what is in the hand is not dealt with as a thing in the room.
    possible: set[Status] = {"TargetInaccessible"}
    impossible: dict[Status, str] = {}
    takeable = "pickupable" in kind.properties
    possible |= {"InvalidCommand"} if takeable else set()
    if verb == "GotoObject":
        possible |= {"ActionSuccessful"}
        possible |= {"KilledByHazard"} if takeable or kind.key == FLIPPER else set()
        return possible, {"UnsupportedNavigation": "without a geometry there is a way to everything"}
    rule = find_rule(ActionSituation(LabState(()), verb, Thing("", kind.key, "")))
    if rule is None:
        return possible | {"UnsupportedAction"}, impossible
    possible |= set() if verb == "Throw" else {"TargetOutOfRange"}
    for requirement in rule.requires:
        fails, reason = _NEVER_FAILS.get(requirement.name, (lambda kind: False, ""))
        if fails(kind):
            impossible[requirement.status] = reason
        else:
            possible.add(requirement.status)
        holds, reason = _NEVER_HOLDS.get(requirement.name, (lambda kind: False, ""))
        if holds(kind):
            impossible |= dict.fromkeys((each.status for each in after(rule, requirement.name)), reason)
            impossible["ActionSuccessful"] = reason
            return possible, impossible
    return possible | {"ActionSuccessful"}, impossible


def after(rule: LabRule, name: str) -> Iterator[Requirement]:
    """Yield the requirements of a rule after one of them."""
    names = [each.name for each in rule.requires]
    yield from rule.requires[names.index(name) + 1 :]


class RandomPerson:
    """Carries out random actions, and counts what becomes of them.

    Args:
        check: Is called with the state before and after every action.
        seed: Seed of the random number generator.
    """

    def __init__(self, check: Callable[[LabState, LabState], None], seed: int) -> None:
        self._check, self._rng = check, random.Random(seed)
        self.missing, _ = expected_triples()
        self.triples: set[Triple] = set()
        self.accepted = self.actions = 0
        self.state = LabState(())

    def visit_labs(self, actions: int, limit: int) -> None:
        """Carry out at least some actions, and more until no outcome is missing.

        Args:
            actions: Number of actions at least.
            limit: Number of actions after which none follow, whatever is missing.
        """
        number = 0
        while self.actions < actions or (self.missing and self.actions < limit):
            rare = [each for each in VARIANTS if self._may_show_missing(each)]
            drawn = VARIANTS[number] if number < len(VARIANTS) else self._rng.choice(rare or VARIANTS)
            self._visit(drawn, number, 150)
            number += 1

    def _may_show_missing(self, variant: Variant) -> bool:
        """Return whether an outcome is missing with what the labs of a variant have and others may not."""
        kinds = [kind for kind in (variant.goal.kind, variant.needed) if kind in KINDS]
        groups = {group_of(kind) for kind in kinds} | _RARE.get(variant.goal.task, set())
        return any(group in groups or (verb, variant.goal.task) == ("Pour", "unmake_coffee")
                   for verb, group, _ in self.missing)  # fmt: skip

    def _visit(self, variant: Variant, seed: int, actions: int) -> None:
        self.state = draw_scenario(variant, seed).state
        self._goal = variant.goal
        limit = self.actions + actions
        if self._rng.random() < 0.3:
            for verb, argument in self._reach_goal():
                self._do(verb, argument)
        while self.actions < limit:
            for verb, id in self._draw_errand():
                self._do(verb, id)
            self._move_at_random()

    def _act(self, verb: Verb, argument: str) -> None:
        state = self.state
        new, outcome = step(state, LabAction(verb, argument), SPACE)
        assert outcome.succeeded == (not outcome.reason)
        assert outcome.succeeded or new == state or outcome.status == "KilledByHazard"
        if new is not state:
            self._check(state, new)
        self.actions += 1
        if ARGUMENTS[verb] == "thing":
            triple = verb, group_of(state[argument].kind), outcome.status
            self.triples.add(triple)
            self.missing.discard(triple)
        self.state = state if new.ended else new

    def _accepts(self, verb: Verb, id: str) -> bool:
        situation = ActionSituation(self.state, verb, self.state[id])
        known = verb == "GotoObject" or find_rule(situation) is not None
        return known and id != self.state.held and first_failure(situation) is None

    def _do(self, verb: Verb, argument: str) -> None:
        """Carry out a step of an errand after going there. What the table does not accept is tried all the same."""
        if verb == "GotoRoom":
            return self._do_accepted(verb, argument)
        if argument not in self.state.by_id or argument == self.state.held:
            return None
        if self.state.room != self.state[argument].room:
            self._do_accepted("GotoRoom", self.state[argument].room)
        if verb not in ("GotoObject", "Throw") and not SPACE.in_reach(self.state, argument):
            self._do_accepted("GotoObject", argument)
        if self._accepts(verb, argument):
            return self._do_accepted(verb, argument)
        return self._act(verb, argument)

    def _do_accepted(self, verb: Verb, argument: str) -> None:
        if ARGUMENTS[verb] == "room" or self._accepts(verb, argument):
            self._act(verb, argument)
            self.accepted += 1
        if self._rng.random() < 0.66:
            self._act(*self._draw_failure())

    def _draw_failure(self) -> tuple[Verb, str]:
        """Return an action that will fail: one with a missing outcome, or any."""
        pairs = {(verb, group) for verb, group, status in self.missing if status != "ActionSuccessful"}
        near = [each for each in self.state.things
                if each.room in (self.state.room, "") or self._rng.random() < 0.1]  # fmt: skip
        wanted = [(verb, thing.id) for thing in near for verb in VERBS if (verb, group_of(thing.kind)) in pairs]
        for each in self._rng.sample(wanted, min(10, len(wanted))):
            triple = self._triple(*each)
            if triple in self.missing and triple[2] != "ActionSuccessful":
                return each
        while True:
            drawn = self._rng.choice(VERBS), self._rng.choice(near).id
            if self._triple(*drawn)[2] != "ActionSuccessful":
                return drawn

    def _triple(self, verb: Verb, id: str) -> Triple:
        return verb, group_of(self.state[id].kind), step(self.state, LabAction(verb, id), SPACE)[1].status

    def _move_at_random(self) -> None:
        verb = self._rng.choice([verb for verb in ARGUMENTS if verb in AMOUNTS or verb == "GotoRoom"])
        self._act(verb, self._rng.choice(ROOMS if verb == "GotoRoom" else [str(each) for each in AMOUNTS[verb]]))

    def _find(self, *kinds: str) -> list[str]:
        return [thing.id for thing in self.state.things if thing.kind in kinds]

    def _draw_errand(self) -> Iterator[tuple[Verb, str]]:
        """Yield an errand: one action, or several that bring about a rare state."""
        errand = self._rng.choice(self._errands)
        yield from errand()

    def _anything(self) -> Iterator[tuple[Verb, str]]:
        """Yield an action that has not succeeded yet with such a thing, or any."""
        verbs = {(verb, group) for verb, group, status in self.missing if status == "ActionSuccessful"}
        pairs = [(verb, thing.id) for thing in self.state.things for verb in VERBS]
        new = [(verb, id) for verb, id in pairs if (verb, group_of(self.state[id].kind)) in verbs]
        for drawn in (new, self._rng.sample(pairs, 40)):
            accepted = [(verb, id) for verb, id in drawn if id in self.state.by_id and self._accepts(verb, id)]
            yield from self._rng.sample(accepted, min(1, len(accepted)))

    def _use_tool(self) -> Iterator[tuple[Verb, str]]:
        """Yield an errand with a hammer, a filled cup or anything else in the hand."""
        loose = self._wanted(self._loose())
        filled = [id for id in self._loose() if self.state[id].flags & set(LIQUIDS)]
        for tool in (*self._find("hammer")[:1], *filled[:1], *loose[:1]):
            yield from self._fetch(tool)
            yield from self._anything()

    def _wanted(self, ids: list[str]) -> list[str]:
        """Return ids in random order, those first with which an outcome is missing."""
        wanted = {group for _, group, _ in self.missing}
        drawn = self._rng.sample(ids, len(ids))
        return sorted(drawn, key=lambda id: group_of(self.state[id].kind) not in wanted)

    def _fetch(self, thing: str) -> Iterator[tuple[Verb, str]]:
        """Put down what is held, and take a thing."""
        if self.state.held == thing:
            return
        free = [id for id in self._find(*FURNITURE) if self._accepts("Place", id)]
        if self.state.held is not None and free:
            yield "Place", self._rng.choice(free)
        holder = self.state[thing].container
        if holder is not None:
            yield "Open", holder
        yield "Pickup", thing

    def _loose(self) -> list[str]:
        return [thing.id for thing in self.state.things if self._takeable(thing)]

    def _takeable(self, thing: Thing) -> bool:
        free = replace(self.state, held=None)
        situation = ActionSituation(free, "Pickup", thing)
        return find_rule(situation) is not None and first_failure(situation) is None and bool(thing.room)

    def _use_device(self) -> Iterator[tuple[Verb, str]]:
        """Yield an errand that puts something on a device and runs it."""
        statuses = {status for verb, _, status in self.missing if verb in ("GotoObject", "Pickup")}
        rare = [device for device, status in ((FLIPPER, "KilledByHazard"), ("embiggenator", "UnsupportedAction"))
                if status in statuses]  # fmt: skip
        device = self._rng.choice([*_DEVICES, *rare * 7])
        (found,) = self._find(device)
        yield from self._pursue(Goal("power", room=self.state[found].room))
        monitor = KINDS[device].monitor
        yield from self._pursue(Goal("disinfect_computer", monitor)) if monitor else ()
        for load in self.state.contents.get(found, ()):
            yield from self._fetch(load.id)
        accepts = KINDS[device].accepts
        fitting = self._wanted([id for id in self._loose() if not accepts or self.state[id].kind in accepts])
        if not fitting:
            return
        yield from self._fetch(fitting[0])
        if device == "time_machine":
            yield "Open", found
        yield "Place", found
        if device == "time_machine":
            yield "Close", found
        yield from (("Toggle", id) for id in self._find(KINDS[device].monitor or device))
        if device == "color_changer":
            yield "Toggle", self._rng.choice(self._find("red_button", "green_button", "blue_button"))
        if fitting[0] in self.state.by_id:
            yield self._rng.choice(("Pickup", "GotoObject")), fitting[0]

    def _reach_goal(self) -> Iterator[tuple[Verb, str]]:
        """Yield the steps to the goal of the scenario."""
        yield from self._pursue(self._goal)

    def _pursue(self, goal: Goal) -> Iterator[tuple[Verb, str]]:
        """Yield the steps of the planner towards a goal."""
        for _ in range(30):
            found = next_step(self.state, goal, SPACE)
            if found is None:
                return
            yield found.action.verb, found.action.argument

    def _fill(self) -> Iterator[tuple[Verb, str]]:
        """Yield an errand that fills a receptacle which has not been full, and tries to put one more thing there."""
        full = {kind for verb, kind, status in self.missing if status == "ReceptacleIsFull" or verb == "Throw"}
        targets = [id for id in self._find(*full) if "receptacle" in KINDS[self.state[id].kind].properties]
        if not targets:
            return
        target = self._rng.choice(targets)
        kind = KINDS[self.state[target].kind]
        yield from self._pursue(Goal("remove_blocker")) if self.state[target].room in self.state.blocked else ()
        if "openable" in kind.properties:
            yield "Open", target
        for _ in range(kind.spots + 1):
            fitting = [id for id in self._loose() if self.state[id].container != target
                       and (not kind.accepts or self.state[id].kind in kind.accepts)]  # fmt: skip
            if fitting:
                yield from self._fetch(self._rng.choice(fitting))
                yield "Throw", target
                yield "Place", target

    def _switch_power(self) -> Iterator[tuple[Verb, str]]:
        """Yield an errand that switches a lever."""
        lever = self._rng.choice(self._find(LEVER))
        holder = self.state[lever].container
        if holder is not None:
            yield "Open", holder
            yield "Toggle", lever
            dark = sorted((verb, kind) for verb, kind, status in self.missing if status == "ObjectUnpowered")
            yield from [
                (verb, each.id) for verb, group in dark for each in self.state.things if group_of(each.kind) == group
            ]
            yield "Toggle", lever

    def _use_coffee(self) -> Iterator[tuple[Verb, str]]:
        """Yield an errand that pours coffee, and fills the furniture on which its beans would fall."""
        yield from self._pursue(Goal("print", "printed_mug")) if not self._find("printed_mug") else ()
        machine, *_ = self._find("coffee_unmaker")
        mug = next((id for id in self._loose() if self.state[id].flags & set(LIQUIDS)), None)
        if mug is None:
            return
        yield from self._fetch(mug)
        cups = [thing.id for thing in self.state.things if "fillable" in KINDS[thing.kind].properties]
        pours = {group for verb, group, _ in self.missing if verb == "Pour"}
        cup = next((id for id in cups if group_of(self.state[id].kind) in pours), self._rng.choice(cups))
        yield "Pour", cup
        yield from self._fetch(cup)
        yield "Pour", machine
        for target in (id for id in self._find(*FURNITURE) if self.state[id].room == "break room"):
            for _ in range(KINDS[self.state[target].kind].spots):
                away = [id for id in self._loose() if self.state[id].room != "break room"]
                yield from self._fetch(self._rng.choice(away)) if away else ()
                yield "Place", target
        yield "Toggle", machine

    @property
    def _errands(self) -> tuple[Callable[[], Iterator[tuple[Verb, str]]], ...]:
        return (self._anything, self._use_tool, self._use_device, self._use_device, self._fill, self._switch_power,
                self._reach_goal, self._use_coffee)  # fmt: skip


_RARE = {"unmake_coffee": {"coffee_unmaker"}, "assemble_fusebox": {LEVER, BOX}, "assemble_laser": {"laser_cannon"},
         "remove_blocker": {CRATE, ARM}}  # fmt: skip
"""Kinds of which some outcomes occur in the labs of a task only."""
_DEVICES = ("printer", "time_machine", "carrot_maker", "embiggenator", "portal_generator", "color_changer", FLIPPER,
            "laser_cannon", *COMPUTERS)  # fmt: skip
