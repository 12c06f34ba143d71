"""Grammars of plans: only actions that are possible in the house as the robot knows it.

A model under such a grammar names only objects, receptacles and rooms of the scene graph, and only actions that the
hand allows after the steps before. Every reply can be parsed. The choice of the plan remains with the model. This is
grounded decoding (Huang et al. 2023, section 3) with affordances of 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from housewise.agent.personalize.judgement_text import judgement_line, judgement_rules
from housewise.agent.personalize.placement_candidates import PlacementCandidates
from housewise.language.gbnf import REPLY, literal, one_of, rule
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph

COMPLETE = "mission complete"
"""The step that ends a task."""


def plan_grammar(
    graph: SceneGraph, max_steps: int, names: Mapping[str, str] = {}, with_judgements: bool = False
) -> str:
    """Return the grammar of a plan from behind ``step 1:``, or of judgements and a plan.

    Objects are picked up only with an empty hand and placed only from the hand. With a full hand the robot goes to and
    looks at rooms and receptacles only.

    Args:
        graph: Scene graph of the robot.
        max_steps: Maximum number of steps.
        names: Names used in the prompt, by full name.
        with_judgements: Whether replies begin with judgements; see judgement_text.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    return "\n".join(_PlanRules(graph, max_steps, names).rules(with_judgements)) + "\n"


def judgement_grammar(graph: SceneGraph, options: Mapping[str, PlacementCandidates], names: Mapping[str, str]) -> str:
    """Return the grammar of judgements without a plan.

    Args:
        graph: Scene graph of the robot.
        options: Placement candidates by object, in the order of their lines.
        names: Names used in the prompt, by full name.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    lines = [
        judgement_line(thing, [*each.places, *([None] if each.elsewhere else [])], graph, names)
        for thing, each in options.items()
    ]
    return rule(REPLY, " ".join(lines)) + "\n"


def choice_grammar(choices: Iterable[str], lead: str = " ") -> str:
    """Return the grammar of a reply that is one of several texts.

    Args:
        choices: The texts, at least one.
        lead: Text before each of them.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    return rule(REPLY, f"{literal(lead)} {_any_of(choices)}") + "\n"


class _PlanRules:
    """Builds one rule for each step and each object that the hand may hold at that step."""

    def __init__(self, graph: SceneGraph, max_steps: int, names: Mapping[str, str]) -> None:
        self._graph, self._max_steps = graph, max_steps
        self._names = names
        self._rooms, self._places, self._things = map(self._all_names, (graph.rooms, graph.receptacles, graph.objects))
        self._hands: dict[str | None, str] = {None: "free"}
        self._hands |= {name: f"holding-{number}" for number, name in enumerate(graph.objects)}

    def rules(self, with_judgements: bool) -> Iterator[str]:
        """Yield all rules."""
        start = self._graph.holding
        yield rule(REPLY, f"{'judged ' if with_judgements else ''}{literal(' ')} {self._state(1, start)}")
        if with_judgements:
            yield from judgement_rules(self._graph, self._names)
        yield from self._visit_rules()
        for step in range(1, self._max_steps + 1):
            for held in [start] if step == 1 else self._hands:
                yield rule(self._state(step, held), " | ".join(self._choices(step, held)))

    def _visit_rules(self) -> Iterator[str]:
        """Yield the rules of what the robot can go to and look at, with an empty and with a full hand."""
        rooms, places, things = self._rooms, self._places, self._things
        yield rule("visit", _visit_actions([*rooms, *places, *things], [*places, *things]))
        yield rule("carry", _visit_actions([*rooms, *places], places))
        if places:
            yield rule("place", _any_of(places))

    def _choices(self, step: int, held: str | None) -> Iterator[str]:
        yield literal(COMPLETE)
        yield ("visit" if held is None else "carry") + self._next_step(step, held)
        if held is None:
            for thing in self._graph.objects:
                yield literal(f"{ActionKind.PICK_UP.value} {self._name(thing)}") + self._next_step(step, thing)
        elif self._places:
            yield f"{literal(f'{ActionKind.PLACE.value} {self._name(held)} on ')} place{self._next_step(step, None)}"

    def _all_names(self, names: Iterable[str]) -> list[str]:
        return [self._name(name) for name in names]

    def _name(self, name: str) -> str:
        return self._names.get(name, name)

    def _next_step(self, step: int, held: str | None) -> str:
        """Return the expression of everything that may follow a step."""
        if step == self._max_steps:
            return ""
        start = literal(f"\nstep {step + 1}: ")
        return f" ({start} {self._state(step + 1, held)})?"

    def _state(self, step: int, held: str | None) -> str:
        return f"step-{step}-{self._hands[held]}"


def _visit_actions(targets: Sequence[str], visible: Sequence[str]) -> str:
    """Return the expression of going to a target or looking at something visible."""
    named = ((ActionKind.GO_TO, targets), (ActionKind.LOOK_AT, visible))
    return one_of(f"{literal(f'{kind.value} ')} {_any_of(names)}" for kind, names in named if names)


def _any_of(texts: Iterable[str]) -> str:
    return one_of(literal(text) for text in texts)
