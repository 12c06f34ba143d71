"""Housekeep's single decisions: which of four places of a house does this person want a thing in?

Of every kind of thing there is one scenario in a generated house: a place where the person wants it and three where
they do not, those first where somebody else does, so that what is usual does not decide. All four do what the request
says. The people are those who come along, or the annotators of a user's Housekeep folder. CLIPR (arXiv 2605.12682,
section 5) has one decision for each placement, with several receptacles of which one is right; how many, whose and
split how it does not say.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from housewise.worlds.choices.scenario import ChoiceSet, Scenario, Situation, sample_scenarios
from housewise.worlds.house.generator import generate_house
from housewise.worlds.house.housekeep.annotations import read_annotations
from housewise.worlds.house.names import spoken
from housewise.worlds.house.preferences import Person, base_groups, load_person, people

NAME = "housekeep"
HOUSE_COUNT, FIRST_SEED = 10, 9650
"""How many houses, and the seed of the first of them: nothing else is played in these."""
_ELSEWHERE = 3
"""Places of a scenario where the thing is not wanted."""

_Place = tuple[str, str]
"""Kinds of room and of receptacle."""


def make_house_choices(count: int, seed: int, folder: Path | None = None, who: str | None = None) -> ChoiceSet:
    """The choices of one person; ``person`` of the set says whose.

    Args:
        count: examples to draw, of different groups of things.
        seed: of the draw.
        folder: of Housekeep, whose annotators are asked in place of the people who come along.
        who: a person who comes along, or the path of a person's file; by default another one with the next seed.

    Raises:
        DataError: there is no such person, or the folder has no annotations, or they are damaged.
    """
    everybody = _everybody(folder)
    person = load_person(who) if who else everybody[seed % len(everybody)]
    return make_person_choices(person, [other for other in everybody if other.name != person.name], count, seed)


def make_person_choices(person: Person, others: Sequence[Person], count: int, seed: int) -> ChoiceSet:
    """The choices of a person: of each kind of thing one, which is an example or a test.

    Args:
        person: what they want is right.
        others: where they want things tempts.
        count: examples to draw, of different groups of things.
        seed: of the draw.

    Raises:
        DataError: there are too few scenarios.
    """
    groups = {thing: name for name, group in base_groups().items() for thing in group.things}
    left_out: Counter[str] = Counter()
    scenarios = []
    for number, thing in enumerate(sorted(person.categories)):
        rng = random.Random(f"{seed}/{thing}")
        places = _places(FIRST_SEED + number % HOUSE_COUNT)
        wanted = [place for place in places if person.wants(thing, *place)]
        tempting = {place: sum(other.wants(thing, *place) for other in others) for place in places}
        unwanted = [place for place in places if place not in wanted]
        if not wanted:
            left_out["the house has no place where it is wanted"] += 1
        elif len(unwanted) < _ELSEWHERE:
            left_out["the house has too few places where it is not wanted"] += 1
        else:
            rng.shuffle(unwanted)
            wrong = sorted(unwanted, key=lambda place: -bool(tempting[place]))[:_ELSEWHERE]
            scenarios.append(_scenario(thing, rng.choice(wanted), wrong, places, groups.get(thing, thing)))
    examples = tuple(replace(example, tier="training") for example in sample_scenarios(scenarios, count, seed))
    shown, known = {example.id for example in examples}, {example.about for example in examples}
    test = tuple(
        replace(scenario, tier="in distribution" if scenario.about in known else "out of distribution")
        for scenario in scenarios
        if scenario.id not in shown
    )
    return ChoiceSet(NAME, examples, test, left_out=tuple(left_out.items()), person=person)


def _scenario(thing: str, right: _Place, wrong: Sequence[_Place], places: Sequence[_Place], about: str) -> Scenario:
    name, put = spoken(thing), f"put the {spoken(thing)}"
    # In alphabetical order, so that the place of an action says nothing about its label.
    actions = tuple(sorted(f"{put} on the {_phrase(place)}" for place in (right, *wrong)))
    situation = Situation(f"{NAME}-{thing}", tuple(map(_phrase, places)), f"Put the {name} where it belongs.", actions)
    preferred = actions.index(f"{put} on the {_phrase(right)}")
    return Scenario(situation, frozenset(range(len(actions))), preferred, about=about)


@lru_cache(maxsize=HOUSE_COUNT)
def _places(house: int) -> tuple[_Place, ...]:
    scene = generate_house(house)
    rooms: Mapping[str, str] = {room.name: room.kind for room in scene.rooms}
    return tuple(sorted({(rooms[each.room], each.kind) for each in scene.receptacles if each.usable and each.room}))


def _everybody(folder: Path | None) -> list[Person]:
    if folder is None:
        return [load_person(name) for name in people()]
    annotations = read_annotations(folder)
    return [annotations.person(number) for number in range(annotations.people)]


def _phrase(place: _Place) -> str:
    room, receptacle = place
    return f"{receptacle} in the {room}"
