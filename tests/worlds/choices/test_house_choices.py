"""Single decisions in houses: labels, places and the split into examples and test."""

import pytest

from housewise.worlds.choices.choice_sets import HOUSE_SET, load_choices
from housewise.worlds.choices.house_choices import make_house_choices
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import bundled_people, default_groups


def _place(action: str) -> tuple[str, str]:
    receptacle, room = action.split(" on the ")[1].split(" in the ")
    return room, receptacle


def test_each_thing_has_one_scenario_with_one_wanted_place_of_four() -> None:
    choices = load_choices(HOUSE_SET, 10, 3)
    person = choices.person
    assert person is not None and person.name.lower() == bundled_people()[3]
    every = [*choices.examples, *choices.test]
    things = [scenario.id.removeprefix("housekeep-") for scenario in every]
    assert len(set(things)) == len(things) == len(person.categories) - sum(count for _, count in choices.left_out)
    for thing, scenario in zip(things, every, strict=True):
        wanted = [person.wants(thing, *_place(action)) for action in scenario.situation.actions]
        assert wanted.count(True) == 1 == len(wanted) - 3 and wanted[scenario.preferred]
        assert len(scenario.satisfying) == 4
        phrases = {f"{receptacle} in the {room}" for room, receptacle in map(_place, scenario.situation.actions)}
        assert phrases <= set(scenario.situation.environment), "in one house"
    groups = {thing: name for name, group in default_groups().items() for thing in group.things}
    known = {groups[thing] for thing in things[:10]}
    assert len(known) == 10
    for thing, scenario in zip(things[10:], choices.test, strict=True):
        assert (scenario.tier == "in distribution") == (groups[thing] in known)


def test_the_seed_selects_the_person() -> None:
    one, other = make_house_choices(10, 0), make_house_choices(10, 1)
    assert one == make_house_choices(10, 0) != other
    assert one.person and other.person and one.person.name != other.person.name


@pytest.mark.housekeep
def test_annotators_of_a_housekeep_folder_can_be_used(housekeep: HousekeepData) -> None:
    choices = make_house_choices(10, 4, housekeep.root)
    assert choices.person is not None and choices.person.name == "annotator-4"
    assert len(choices.test) > 100
    for scenario in choices.test:
        thing = scenario.id.removeprefix("housekeep-")
        wanted = [choices.person.wants(thing, *_place(action)) for action in scenario.situation.actions]
        assert wanted.count(True) == 1 and wanted[scenario.preferred]
