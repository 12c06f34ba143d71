"""Goals as notes and back, counts of what was asked, and conditions by name."""

from __future__ import annotations

import pytest

from housewise.agent.stars.analysis import Analyser
from housewise.agent.stars.conditions import CONDITIONS, find_condition
from housewise.agent.stars.language import Language
from housewise.agent.stars.learning import GoalNote, note_of, recall
from housewise.agent.stars.notes import goal_of_note, goals_in, notes_of_goal
from housewise.agent.stars.planning import goal_of, plan
from housewise.agent.stars.settings import load_robot, load_task
from housewise.agent.stars.usage import Usage
from housewise.core.errors import UserError
from housewise.people.memory import About, Memory, Note


def learned(task_name: str, name: str, goal: str, confirmed: bool = True) -> tuple[GoalNote, list[Note]]:
    task, vocabulary = load_task(task_name)
    analyser, about = Analyser(Language(vocabulary), load_robot()), task[name]
    used = analyser.analyse(f"the goal is that {goal}", task.situation.asked_about(about.thing))
    found = goal_of(used)
    path = plan(task.start(), found) if found else None
    assert path is not None
    note = note_of(task, about, used, path, confirmed, vocabulary)
    return note, list(notes_of_goal(note, task, about, used, "ann"))


@pytest.mark.parametrize(
    ("task", "name", "goal", "place"),
    [
        ("organize office", "plastic-water-bottle", "the plastic-water-bottle is in the recycling bin",
         "The plastic water bottle belongs in the recycling bin in the office."),
        ("tidy kitchen", "cereal-box", "the cereal-box is in the pantry and the pantry is closed",
         "The cereal box belongs in the pantry in the kitchen."),
        ("organize office", "pen", "the pen is on the desk", "The pen belongs on the desk in the office."),
        ("store groceries", "eggs", "the eggs are in the fridge",
         "The eggs belong in the fridge in the kitchen."),
    ],
)  # fmt: skip
def test_a_goal_comes_back_as_it_was_learned(task: str, name: str, goal: str, place: str) -> None:
    note, (first, second) = learned(task, name, goal)
    assert goal_of_note(first) == note and goal_of_note(second) is None
    assert second.text == place and second.value == 1.0 and second.derived_from == (first.id,)
    assert second.about.task is None and second.about.situation is None and second.about.room is not None
    unconfirmed, [alone] = learned(task, name, goal, confirmed=False)
    assert goal_of_note(alone) == unconfirmed and alone.text.startswith("Nobody confirmed: if the object is")


def test_what_depends_on_where_a_thing_is_found_is_no_place_of_its_kind() -> None:
    _, found = learned("tidy kitchen", "mug 2", "the mug is in the cupboard")
    assert [note.about.situation for note in found] == ["unload: dish rack (vessel)"]
    # Two things at once, or none, are no place of a kind either.
    _, found = learned("organize office", "pen", "the pen is in the drawer and the file is in the drawer")
    assert len(found) == 1


def test_later_notes_win_and_others_tell_nothing_of_goals() -> None:
    _, (drawer, belongs) = learned("organize office", "pen", "the pen is in the drawer")
    _, (shelf, _) = learned("organize office", "pen", "the pen is in the bookshelf")
    about = About(things=("pen",), task="organize office", situation="clear: desk")
    others = [
        Note(person="ann", kind="reaction", text=drawer.text, about=about),
        Note(person="ann", kind="goal", text=drawer.text, about=About(things=("pen",), situation="clear: desk")),
        Note(person="ann", kind="goal", text=drawer.text, about=About(task="organize office", situation="clear: desk")),
        Note(person="ann", kind="goal", text=drawer.text, about=About(things=("pen",), task="organize office")),
    ]
    [kept] = goals_in([drawer, belongs, *others, shelf])
    assert "bookshelf" in kept.statement
    memory = Memory("ann", [drawer, shelf, belongs])
    memory.forget(shelf.id)
    assert "drawer" in goals_in(memory.notes)[0].statement


@pytest.mark.parametrize("value", ["explode; put in on in; ;;", "x" * 2000, 7.0, None, "go to drawer"])
def test_a_policy_that_is_none_leaves_the_goal(value: object) -> None:
    task, vocabulary = load_task("organize office")
    _, (first, _) = learned("organize office", "pen", "the pen is in the drawer")
    note = Note.model_validate({**first.fields(), "value": value})
    analyser = Analyser(Language(vocabulary), load_robot())
    found = recall(goals_in([note]), task, task["pen"], task.start(), analyser)
    assert found is not None and not found.by_policy and str(found.path[-1]) == "put pen in drawer"


def test_usage_is_counted_between_two_moments() -> None:
    usage = Usage({"initial": 2}, {"initial": 20}, {"initial": 5})
    before = usage.copy()
    assert usage.since(before) == Usage()
    usage.include(Usage({"initial": 1, "repair": 3}, {"repair": 30}, {}))
    assert before.calls == {"initial": 2}
    assert usage.since(before) == Usage({"initial": 1, "repair": 3}, {"repair": 30}, {})
    assert usage.total_tokens == 55


def test_conditions_are_found_with_and_without_a_user() -> None:
    assert find_condition("STARS+O") is CONDITIONS["STARS+O"]
    found = find_condition("STARS*+O")
    assert found.user and found.hints and found.name == "STARS*+O"
    for name in ("STARE", "STARS+O+O", "+O", "", "x" * 10_000):
        with pytest.raises(UserError, match="setting condition: no condition") as caught:
            find_condition(name)
        assert len(str(caught.value)) < 500
