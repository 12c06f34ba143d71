"""Goals as notes and back, counts of what was asked, and conditions by name."""

from collections import Counter

import pytest

from housewise.agent.stars.experiment_conditions import CONDITIONS, find_condition
from housewise.agent.stars.goal_memory import LearnedGoals
from housewise.agent.stars.goal_notes import goal_to_notes, goals_from_notes, note_to_goal
from housewise.agent.stars.lessons import LearnedGoal
from housewise.agent.stars.model_usage import SELECTION, ModelUsage
from housewise.agent.stars.planning import goal_state, plan_actions
from housewise.core.errors import UserError
from housewise.language.completion import Continuation
from housewise.people.memory import About, Memory, Note
from tests.agent.stars.analysers import load_task_and_analyser


def learned(task_name: str, name: str, goal: str, confirmed: bool = True) -> tuple[LearnedGoal, list[Note]]:
    task, analyser = load_task_and_analyser(task_name)
    about = task[name]
    used = analyser.analyse(f"the goal is that {goal}", task.situation.with_focus(about.thing))
    found = goal_state(used)
    path = plan_actions(task.start(), found) if found else None
    assert path is not None
    note = LearnedGoals(task, analyser).learn(about, used, path, confirmed)
    return note, list(goal_to_notes(note, task, about, used, "ann"))


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
    assert note_to_goal(first) == note and note_to_goal(second) is None
    assert second.text == place and second.value == 1.0 and second.derived_from == (first.id,)
    assert second.about.task is None and second.about.situation is None and second.about.room is not None
    unconfirmed, [alone] = learned(task, name, goal, confirmed=False)
    assert note_to_goal(alone) == unconfirmed and alone.text.startswith("Nobody confirmed: if the object is")


def test_what_depends_on_where_a_thing_is_found_is_no_place_of_its_kind() -> None:
    _, found = learned("tidy kitchen", "mug 2", "the mug is in the cupboard")
    assert [(note.about.subtask, note.about.situation) for note in found] == [("unload", "dish rack (vessel)")]
    # Two things at once, or none, are no place of a kind either.
    _, found = learned("organize office", "pen", "the pen is in the drawer and the file is in the drawer")
    assert len(found) == 1


def test_later_notes_win_and_others_tell_nothing_of_goals() -> None:
    _, (drawer, belongs) = learned("organize office", "pen", "the pen is in the drawer")
    _, (shelf, _) = learned("organize office", "pen", "the pen is in the bookshelf")
    about = About(things=("pen",), task="organize office", subtask="clear", situation="desk")
    others = [
        Note(person="ann", kind="reaction", text=drawer.text, about=about),
        Note(
            person="ann", kind="goal", text=drawer.text, about=About(things=("pen",), subtask="clear", situation="desk")
        ),
        Note(
            person="ann",
            kind="goal",
            text=drawer.text,
            about=About(task="organize office", subtask="clear", situation="desk"),
        ),
        Note(person="ann", kind="goal", text=drawer.text, about=About(things=("pen",), task="organize office")),
    ]
    [kept] = goals_from_notes([drawer, belongs, *others, shelf])
    assert "bookshelf" in kept.statement
    memory = Memory("ann", [drawer, shelf, belongs])
    memory.forget(shelf.id)
    assert "drawer" in goals_from_notes(memory.notes)[0].statement


@pytest.mark.parametrize("value", ["explode; put in on in; ;;", "x" * 2000, 7.0, None, "go to drawer"])
def test_a_policy_that_is_none_leaves_the_goal(value: object) -> None:
    task, analyser = load_task_and_analyser("organize office")
    _, (first, _) = learned("organize office", "pen", "the pen is in the drawer")
    note = Note.model_validate({**first.fields(), "value": value})
    found = LearnedGoals(task, analyser, goals_from_notes([note])).recall(task["pen"], task.start())
    assert found is not None and not found.by_policy and str(found.path[-1]) == "put pen in drawer"


def test_numbers_of_options_are_no_cut_replies() -> None:
    usage, cut = ModelUsage(), Continuation(finish_reason="length")
    usage.add("initial", [cut, Continuation()])
    usage.add(SELECTION, [cut, cut])
    assert usage.finish_reasons == {"length": 1, "stop": 1} and usage.calls == {"initial": 2, SELECTION: 2}


def test_usage_is_counted_between_two_moments() -> None:
    usage = ModelUsage(Counter(initial=2), Counter(initial=20), Counter(initial=5))
    before = usage.copy()
    assert usage.since(before) == ModelUsage()
    usage.merge(ModelUsage({"initial": 1, "repair": 3}, {"repair": 30}, {}))
    assert before.calls == {"initial": 2}
    assert usage.since(before) == ModelUsage({"initial": 1, "repair": 3}, {"repair": 30}, {})
    assert usage.total_tokens == 55


def test_conditions_are_found_with_and_without_a_user() -> None:
    assert find_condition("STARS+O") is CONDITIONS["STARS+O"]
    found = find_condition("STARS*+O")
    assert found.user and found.hints and found.name == "STARS*+O"
    for name in ("STARE", "STARS+O+O", "+O", "", "x" * 10_000):
        with pytest.raises(UserError, match="setting condition: no condition") as caught:
            find_condition(name)
        assert len(str(caught.value)) < 500
