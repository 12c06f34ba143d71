"""Evaluation as the authors' published functions decide."""

import pytest

from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from housewise.people.kitchen.published_judge import PublishedJudge
from tests.people.kitchen.breakfasts import (
    COFFEE,
    EGGS,
    FLAKES,
    FRUIT,
    GRANOLA,
    NUTS,
    TEA,
    TOAST,
    YOGHURT,
    cook_breakfast,
)
from tests.people.kitchen.sixteen import ADAPT_PEOPLE

WISHES = {preference.id: preference for person in ADAPT_PEOPLE.values() for preference in person.preferences}


def test_131_functions_deviate_from_their_text():
    assert sum(preference.published is not None for preference in WISHES.values()) == 131


@pytest.mark.parametrize(
    ("id", "task", "actions", "text", "published"),
    [
        ("1.2", 1, (*EGGS, "Pour oat_milk from milk_1 to eggs"), "violated", "satisfied"),
        ("1.12", 1, (*EGGS, "Serve the object plate_0 at table_1"), "satisfied", "violated"),
        ("2.4", 3, (*FLAKES, FRUIT), "violated", "satisfied"),
        ("2.4", 3, (*FLAKES, NUTS), "satisfied", "violated"),
        ("4.2", 1, (*EGGS, "Move tomato_0 to plate_0", "Move tomato_1 to plate_0"), "violated", "satisfied"),
        ("6.16", 7, (*FLAKES, *COFFEE, "Serve the object mug_0 at table_0"), "violated", "inapplicable"),
        ("6.16", 3, FLAKES, "inapplicable", "violated"),
        ("8.6", 5, (*YOGHURT, FRUIT, NUTS, GRANOLA), "satisfied", "violated"),
        ("8.7", 5, (*YOGHURT, GRANOLA, NUTS), "violated", "satisfied"),
        ("13.1", 1, (*EGGS, "Stir the object eggs to get scrambled_eggs"), "satisfied", "violated"),
        ("13.1", 1, (*EGGS, "Scramble the object eggs to get breakfast"), "satisfied", "satisfied"),
        ("13.15", 1, (*EGGS, "Serve the object plate_0 at table_1"), "satisfied", "violated"),
        ("14.2", 3, (*FLAKES, "Pour honey from honey_0 to bowl_0"), "satisfied", "violated"),
        ("15.4", 3, FLAKES, "inapplicable", "violated"),
        (
            "10.17",
            1,
            (*EGGS, "Serve the object plate_0 at table_1", "Move honey from honey_0 to cup_2"),
            "violated",
            "satisfied",
        ),
        ("3.1", 1, ("Pour vegan_egg from liquid_egg_0 to pan_1",), "violated", "satisfied"),
        (
            "16.16",
            8,
            (*TEA, *TOAST, "Serve the object mug_0 at table_1", "Serve the object plate_0 at table_1"),
            "satisfied",
            "violated",
        ),
    ],
)
def test_published_and_textual_decisions_differ(id, task, actions, text, published):
    trace = cook_breakfast(task, *actions)
    assert PreferenceJudge(task).verdict(WISHES[id], trace).decision == text
    assert PublishedJudge(task).verdict(WISHES[id], trace).decision == published


def test_the_published_evaluation_is_not_the_default():
    person = list(ADAPT_PEOPLE.values())[3]
    nothing = cook_breakfast(1, "Open fridge_0")
    assert satisfaction_rate(PreferenceJudge(1).verdicts(person, nothing)) == 0
    trace = cook_breakfast(6, *EGGS, "Pour butter from butter_0 to eggs")
    assert PublishedJudge(6).satisfaction(person, trace) < satisfaction_rate(PublishedJudge(6).verdicts(person, trace))


def test_the_number_of_applicable_preferences_is_as_published():
    """Running the published functions on empty trajectories gave 5.38 applicable wishes a task, at most 12."""
    counts = []
    for task in range(1, 9):
        judge = PublishedJudge(task)
        empty = cook_breakfast(task)
        for person in ADAPT_PEOPLE.values():
            counts.append(sum(verdict.decision != "inapplicable" for verdict in judge.verdicts(person, empty)))
    assert sum(counts) / len(counts) == pytest.approx(5.38, abs=0.006)
    assert max(counts) == 12
