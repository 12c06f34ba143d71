"""Judgements of placements as text: format, parse and restrict them by grammar rules.

A judgement says whether an object is in its place, and if not, where it belongs.

A planner writes its judgements before its plan. Without them, a small model that names one object to move has to judge
all objects in a single word. Each written judgement is a short question by itself, and each one is a training target
(chain of thought, Wei et al. 2022).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from housewise.language.gbnf import literal, one_of, rule
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import kind_from_name

FINE = "fine"
"""Judgement that an object is in its place."""
ELSEWHERE = "elsewhere"
"""Judgement that an object belongs on a receptacle that has not been seen."""
_STEPS = "step 1:"
_LINE = re.compile(r"^(.+?) (?:on [^:\n]+|in hand): \S", re.MULTILINE)

Judgements = Mapping[str, str | None]
"""Correct receptacle by object: the present one, another one, or None for a receptacle that has not been seen."""


def objects_to_judge(graph: SceneGraph) -> tuple[str, ...]:
    """Return the object in the hand, or else all objects in the order of prompts."""
    return graph.placed_objects if graph.holding is None else (graph.holding,)


def format_judgements(judgements: Judgements, graph: SceneGraph, names: Mapping[str, str] = {}) -> str:
    """Format judgements as the beginning of a reply, one per line.

    The receptacle of an object stands right before its judgement, so that a small model does not have to look it up.

    Args:
        judgements: Judgements of the objects.
        graph: Scene graph of the robot.
        names: Names used in the prompt, by full name; see HouseTemplate.prompt_names.
    """
    return "".join(
        f"{judgement_opening(thing, graph, names)}{judgement_verdict(thing, place, graph, names)}"
        for thing, place in judgements.items()
    )


def split_judgements(reply: str) -> tuple[str, str]:
    """Split a reply before its first step. Without a first step, the whole reply counts as judgements."""
    text, start, steps = reply.partition(_STEPS)
    return text, start + steps


def parse_judgements(text: str, graph: SceneGraph, names: Mapping[str, str] = {}) -> dict[str, str | None]:
    """Parse the judgements in a reply, ignoring lines that cannot be read; the inverse of format_judgements.

    Args:
        text: First part of split_judgements.
        graph: Scene graph of the robot.
        names: Names used in the prompt, by full name; see HouseTemplate.prompt_names.
    """
    known = {names.get(place, place): place for place in graph.receptacles}
    found: dict[str, str | None] = {}
    for thing in objects_to_judge(graph):
        opening = judgement_opening(thing, graph, names)
        verdict = f"\n{text.strip()}\n".partition(opening)[2].partition("\n")[0].strip()
        if verdict == ELSEWHERE:
            found[thing] = None
        elif verdict == FINE or verdict in known:
            found[thing] = known.get(verdict, graph.container_of(thing))
    return found


def find_judged_kinds(reply: str) -> set[str]:
    """Return the kinds of objects that a reply judges."""
    return {kind_from_name(found[1]) for found in _LINE.finditer(split_judgements(reply)[0])}


def judgement_rules(graph: SceneGraph, names: Mapping[str, str] = {}) -> Iterator[str]:
    """Yield GBNF rules for judgements followed by ``step 1:``; the rule ``judged`` starts them.

    Args:
        graph: Scene graph of the robot.
        names: Names used in the prompt, by full name.
    """
    places = [names.get(place, place) for place in graph.receptacles]
    yield rule("verdict", one_of(map(literal, (FINE, ELSEWHERE, *places))))
    lines = [literal(judgement_opening(thing, graph, names)) + " verdict" for thing in objects_to_judge(graph)]
    yield rule("judged", " ".join([*lines, literal(f"\n{_STEPS}")]))


def judgement_line(thing: str, places: Iterable[str | None], graph: SceneGraph, names: Mapping[str, str]) -> str:
    """Return the GBNF expression of one object's line, which allows the given judgements."""
    verdicts = dict.fromkeys(judgement_verdict(thing, place, graph, names) for place in places)
    return f"{literal(judgement_opening(thing, graph, names))} {one_of(map(literal, verdicts))}"


def judgement_opening(thing: str, graph: SceneGraph, names: Mapping[str, str]) -> str:
    """Return the line of an object up to its judgement. One that the robot has not seen counts as in its hand."""
    place = graph.container_of(thing)
    where = "in hand" if place is None or thing == graph.holding else f"on {names.get(place, place)}"
    return f"\n{names.get(thing, thing)} {where}: "


def judgement_verdict(thing: str, place: str | None, graph: SceneGraph, names: Mapping[str, str]) -> str:
    """Return the judgement of an object that belongs on a receptacle, or elsewhere (None)."""
    if place is None:
        return ELSEWHERE
    return FINE if place == graph.container_of(thing) else names.get(place, place)
