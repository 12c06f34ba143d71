"""What a planner thinks of every object before it plans: whether it is in its place, and if not, where it belongs.

A small model that has to name an object to move at once has to judge all of them in one word. Written out, each
judgement is a short question of its own, and each is something to learn from (chain of thought, Wei et al. 2022).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from housewise.language.gbnf import literal, one_of, rule
from housewise.worlds.house.names import kind_of
from housewise.worlds.house.scene_graph import SceneGraph

FINE = "fine"
ELSEWHERE = "elsewhere"
_STEPS = "step 1:"
_LINE = re.compile(r"^(.+?) (?:on [^:\n]+|in hand): \S", re.MULTILINE)

Judgements = Mapping[str, str | None]
"""By object, where it belongs: the receptacle that it is on, a better one, or None for none of those known."""


def objects_to_judge(graph: SceneGraph) -> tuple[str, ...]:
    """The objects to judge: the one in the hand, or else all, in the order in which prompts list them."""
    return graph.listed if graph.holding is None else (graph.holding,)


def format_judgements(judgements: Judgements, graph: SceneGraph, called: Mapping[str, str] | None = None) -> str:
    """Judgements as the beginning of a reply, one on each line.

    Where an object is stands right before what is thought of it, so that a small model need not look it up.

    Args:
        judgements: of every subject.
        graph: tells where things are.
        called: other words for things, by name.
    """
    words = called or {}
    return "".join(
        f"{judgement_opening(thing, graph, words)}{judgement_verdict(thing, place, graph, words)}"
        for thing, place in judgements.items()
    )


def split_judgements(reply: str) -> tuple[str, str]:
    """The judgements of a reply, and the steps that follow them; without a first step all of it is the former."""
    thoughts, start, steps = reply.partition(_STEPS)
    return thoughts, start + steps


def parse_judgements(
    thoughts: str, graph: SceneGraph, called: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """The judgements in a reply, of the subjects whose lines can be read; the inverse of ``written``.

    Args:
        thoughts: what ``apart`` gives.
        graph: gives the subjects and the places.
        called: other words for things, by name.
    """
    words = called or {}
    known = {words.get(place, place): place for place in graph.receptacles}
    found: dict[str, str | None] = {}
    for thing in objects_to_judge(graph):
        opening = judgement_opening(thing, graph, words)
        verdict = f"\n{thoughts.strip()}\n".partition(opening)[2].partition("\n")[0].strip()
        if verdict == ELSEWHERE:
            found[thing] = None
        elif verdict == FINE or verdict in known:
            found[thing] = known.get(verdict, graph.place_of(thing))
    return found


def find_judged_kinds(reply: str) -> set[str]:
    """The kinds of things that a reply judges."""
    return {kind_of(found[1]) for found in _LINE.finditer(split_judgements(reply)[0])}


def judgement_rules(graph: SceneGraph, called: Mapping[str, str] | None = None) -> Iterator[str]:
    """GBNF rules, with one for ``judged``: a line for each subject, and ``step 1:`` behind them.

    Args:
        graph: gives the subjects and the places.
        called: other words for things, by name.
    """
    words = called or {}
    places = [words.get(place, place) for place in graph.receptacles]
    yield rule("verdict", one_of(map(literal, (FINE, ELSEWHERE, *places))))
    lines = [literal(judgement_opening(thing, graph, words)) + " verdict" for thing in objects_to_judge(graph)]
    yield rule("judged", " ".join([*lines, literal(f"\n{_STEPS}")]))


def judgement_line(thing: str, places: Iterable[str | None], graph: SceneGraph, called: Mapping[str, str]) -> str:
    """An expression in GBNF: the line of one subject, with one of some judgements."""
    verdicts = dict.fromkeys(judgement_verdict(thing, place, graph, called) for place in places)
    return f"{literal(judgement_opening(thing, graph, called))} {one_of(map(literal, verdicts))}"


def judgement_opening(thing: str, graph: SceneGraph, called: Mapping[str, str]) -> str:
    """How the line of a judgement begins, up to the judgement."""
    place = graph.place_of(thing) or ""
    where = "in hand" if thing == graph.holding else f"on {called.get(place, place)}"
    return f"\n{called.get(thing, thing)} {where}: "


def judgement_verdict(thing: str, place: str | None, graph: SceneGraph, called: Mapping[str, str]) -> str:
    """What is said of a thing that belongs on a receptacle, or on none of those known (None)."""
    if place is None:
        return ELSEWHERE
    return FINE if place == graph.place_of(thing) else called.get(place, place)
