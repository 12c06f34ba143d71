"""The grammar of plans: all that can be said about a house as the robot knows it, and nothing else.

A model held to it names only what the scene graph holds and only acts that the hand allows, as far as the steps before
tell; so every reply can be parsed and resolved. Which plan it is, and whether the body manages, stays open. Grounded
decoding (Huang et al. 2023, section 3) with affordances that are 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from housewise.agent.personalize.placement_judgement import judgement_line, judgement_rules
from housewise.agent.personalize.preference_knowledge import PlacementCandidates
from housewise.language.gbnf import REPLY, literal, one_of, rule
from housewise.worlds.house.actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph

COMPLETE = "mission complete"


def plan_grammar(
    graph: SceneGraph, most_steps: int, called: Mapping[str, str] | None = None, judging: bool = False
) -> str:
    """What a planner may reply, from behind ``step 1:`` on, or with judgements and ``step 1:`` before that.

    Things are picked up with an empty hand only, and placed only from the hand. With a full hand the robot goes to and
    looks at places alone.

    Args:
        graph: gives the names, and what is in the hand.
        most_steps: how many steps a plan may have.
        called: other words for things, by name.
        judging: whether replies begin with judgements; see housewise.agent.personalize.placement_judgement.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    return "\n".join(_Plans(graph, most_steps, called or {}).rules(judging)) + "\n"


def judgement_grammar(graph: SceneGraph, options: Mapping[str, PlacementCandidates], called: Mapping[str, str]) -> str:
    """What a planner may judge, and nothing behind it.

    Args:
        graph: tells where things are.
        options: what may be judged of each thing, in the order of their lines.
        called: other words for things, by name.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    lines = [
        judgement_line(thing, [*each.places, *([None] if each.elsewhere else [])], graph, called)
        for thing, each in options.items()
    ]
    return rule(REPLY, " ".join(lines)) + "\n"


def choice_grammar(choices: Iterable[str], lead: str = " ") -> str:
    """What a reply may be that is one of several texts.

    Args:
        choices: the texts, at least one.
        lead: text before each of them.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    return rule(REPLY, f"{literal(lead)} {_texts(choices)}") + "\n"


class _Plans:
    """Builds the rules: one for each step and each thing that the hand may hold then."""

    def __init__(self, graph: SceneGraph, most_steps: int, called: Mapping[str, str]) -> None:
        self._graph, self._most_steps = graph, most_steps
        self._called = called
        self._rooms, self._places, self._things = map(self._words, (graph.rooms, graph.receptacles, graph.objects))
        self._hands: dict[str | None, str] = {None: "free"}
        self._hands |= {name: f"holding-{number}" for number, name in enumerate(graph.objects)}

    def rules(self, judging: bool) -> Iterator[str]:
        """All rules."""
        start = self._graph.holding
        yield rule(REPLY, f"{'judged ' if judging else ''}{literal(' ')} {self._state(1, start)}")
        if judging:
            yield from judgement_rules(self._graph, self._called)
        yield from self._visits()
        for step in range(1, self._most_steps + 1):
            for held in [start] if step == 1 else self._hands:
                yield rule(self._state(step, held), " | ".join(self._choices(step, held)))

    def _visits(self) -> Iterator[str]:
        """Where the robot can go and what it can look at, with an empty and with a full hand."""
        rooms, places, things = self._rooms, self._places, self._things
        yield rule("visit", _moves([*rooms, *places, *things], [*places, *things]))
        yield rule("carry", _moves([*rooms, *places], places))
        if places:
            yield rule("place", _texts(places))

    def _choices(self, step: int, held: str | None) -> Iterator[str]:
        yield literal(COMPLETE)
        yield ("visit" if held is None else "carry") + self._then(step, held)
        if held is None:
            for thing in self._graph.objects:
                yield literal(f"{ActionKind.PICK_UP.value} {self._word(thing)}") + self._then(step, thing)
        elif self._places:
            yield f"{literal(f'{ActionKind.PLACE.value} {self._word(held)} on ')} place{self._then(step, None)}"

    def _words(self, names: Iterable[str]) -> list[str]:
        return [self._word(name) for name in names]

    def _word(self, name: str) -> str:
        return self._called.get(name, name)

    def _then(self, step: int, held: str | None) -> str:
        """What may follow a step."""
        if step == self._most_steps:
            return ""
        start = literal(f"\nstep {step + 1}: ")
        return f" ({start} {self._state(step + 1, held)})?"

    def _state(self, step: int, held: str | None) -> str:
        return f"step-{step}-{self._hands[held]}"


def _moves(goals: Sequence[str], sights: Sequence[str]) -> str:
    """Going to one of some things, or looking at one of others."""
    named = ((ActionKind.GO_TO, goals), (ActionKind.LOOK_AT, sights))
    return one_of(f"{literal(f'{kind.value} ')} {_texts(names)}" for kind, names in named if names)


def _texts(texts: Iterable[str]) -> str:
    return one_of(literal(text) for text in texts)
