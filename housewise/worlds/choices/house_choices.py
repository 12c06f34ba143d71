"""Choices in houses: in which of four places does a person want an object?

Each kind of thing has one scenario in a generated house, with one place where the person wants it and three where they
do not. Places where somebody else wants it are used first, so that common sense does not decide. All four satisfy the
request. The people are the bundled ones, or the annotators of a user's Housekeep folder.

CLIPR (arXiv 2605.12682, section 5) has one decision per placement with several receptacles, of which one is right. It
does not say how many receptacles, whose preferences, or how the decisions are split.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from housewise.worlds.choices.scenario import ChoiceSet, Scenario, Situation, sample_scenarios, select_test
from housewise.worlds.house.generator import generate_house
from housewise.worlds.house.housekeep.annotations import read_annotations
from housewise.worlds.house.place_kinds import PlaceKind, is_wanted
from housewise.worlds.house.preferences import HousePreferences, bundled_people, default_groups, load_preferences
from housewise.worlds.house.spoken_names import spoken_name

NAME = "housekeep"
HOUSE_COUNT, FIRST_SEED = 10, 9650
"""Number of houses and seed of the first. No other experiment uses these houses."""
_WRONG_PLACES = 3
"""Places of a scenario where the thing is not wanted."""


def make_house_choices(count: int, seed: int, folder: Path | None = None, person_name: str | None = None) -> ChoiceSet:
    """Build the choices of one person. The attribute ``person`` of the set is that person.

    Args:
        count: Number of examples to draw, about different groups of things.
        seed: Seed of the draw.
        folder: Folder of Housekeep, whose annotators replace the bundled people.
        person_name: Name of a bundled person, or path of a person's file. By default the seed selects the person.

    Raises:
        DataError: There is no such person, or the annotations are missing or damaged.
    """
    people = _list_people(folder)
    person = load_preferences(person_name) if person_name else people[seed % len(people)]
    return make_person_choices(person, [other for other in people if other.name != person.name], count, seed)


def make_person_choices(
    person: HousePreferences, others: Sequence[HousePreferences], count: int, seed: int
) -> ChoiceSet:
    """Build one scenario per kind of thing, and split them into examples and test.

    Args:
        person: Person whose preferences decide which action is correct.
        others: People whose preferred places are used first as wrong places.
        count: Number of examples to draw, about different groups of things.
        seed: Seed of the draw.

    Raises:
        DataError: There are too few scenarios.
    """
    groups = {thing: name for name, group in default_groups().items() for thing in group.things}
    left_out: Counter[str] = Counter()
    scenarios = []
    for number, thing in enumerate(sorted(person.categories)):
        rng = random.Random(f"{seed}/{thing}")
        places = _places(FIRST_SEED + number % HOUSE_COUNT)
        wanted = [place for place in places if is_wanted(person, thing, place)]
        wanted_by_others = {place for place in places if any(is_wanted(other, thing, place) for other in others)}
        unwanted = [place for place in places if place not in wanted]
        if not wanted:
            left_out["the house has no place where it is wanted"] += 1
        elif len(unwanted) < _WRONG_PLACES:
            left_out["the house has too few places where it is not wanted"] += 1
        else:
            rng.shuffle(unwanted)
            wrong = sorted(unwanted, key=lambda place: place not in wanted_by_others)[:_WRONG_PLACES]
            scenarios.append(_scenario(thing, rng.choice(wanted), wrong, places, groups.get(thing, thing)))
    examples = tuple(replace(example, tier="training") for example in sample_scenarios(scenarios, count, seed))
    return ChoiceSet(NAME, examples, select_test(scenarios, examples), left_out=tuple(left_out.items()), person=person)


def _scenario(
    thing: str, right: PlaceKind, wrong: Sequence[PlaceKind], places: Sequence[PlaceKind], about: str
) -> Scenario:
    name, put = spoken_name(thing), f"put the {spoken_name(thing)}"
    # Sorted, so that the position of an action says nothing about its label.
    actions = tuple(sorted(f"{put} on the {place.phrase}" for place in (right, *wrong)))
    environment = tuple(place.phrase for place in places)
    situation = Situation(f"{NAME}-{thing}", environment, f"Put the {name} where it belongs.", actions)
    preferred = actions.index(f"{put} on the {right.phrase}")
    return Scenario(situation, frozenset(range(len(actions))), preferred, about=about)


@lru_cache(maxsize=HOUSE_COUNT)
def _places(house: int) -> tuple[PlaceKind, ...]:
    """Return the places of a generated house, each pair of kinds once."""
    scene = generate_house(house)
    rooms: Mapping[str, str] = {room.name: room.kind for room in scene.rooms}
    kinds = {(rooms[each.room], each.kind) for each in scene.receptacles if each.usable and each.room}
    return tuple(PlaceKind(receptacle, room) for room, receptacle in sorted(kinds))


def _list_people(folder: Path | None) -> list[HousePreferences]:
    if folder is None:
        return [load_preferences(name) for name in bundled_people()]
    annotations = read_annotations(folder)
    return [annotations.annotator(number) for number in range(annotations.people)]
