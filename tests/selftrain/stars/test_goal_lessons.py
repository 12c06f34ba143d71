"""What goals are learned from: only what the robot can do and the person wants, and never the held-out objects."""

import re
from collections import Counter
from pathlib import Path

import pytest

from housewise.agent.stars.data_files import TASKS, load_task
from housewise.agent.stars.planning import goal_state, plan_actions, simulate_actions
from housewise.agent.stars.situation import PerceivedScene
from housewise.core.errors import DataError, UserError
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.stars.goal_lessons import GoalCase, GoalLessons
from housewise.selftrain.stars.held_out_objects import held_out_nouns, learnable_nouns
from housewise.selftrain.stars.room_generator import load_room_parts
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.worlds.kitchen.manipulation import OPEN_TAG

SMALL = ("lessons.rooms=6", "lessons.goals=24", "lessons.choices=12", "lessons.task_object_repeats=1")


def config(*more: str, seed: int = 1) -> GoalTrainingConfig:
    return GoalTrainingConfig.load(Path("goals"), {}, [*SMALL, f"run.seed={seed}", *more])


def lessons(*more: str, seed: int = 1) -> GoalLessons:
    made = config(*more, seed=seed)
    return GoalLessons(made.run, made.lessons)


@pytest.fixture(scope="module")
def made() -> GoalLessons:
    return lessons()


@pytest.fixture(scope="module")
def pairs(made: GoalLessons) -> list[EpisodeDemonstration]:
    return list(made.demonstrations())


@pytest.fixture(scope="module")
def cases(made: GoalLessons) -> list[GoalCase]:
    return made.cases


def written(pairs: list[EpisodeDemonstration]) -> list[EpisodeDemonstration]:
    return [pair for pair in pairs if not pair.reply.strip().isdigit()]


def asked(pairs: list[EpisodeDemonstration]) -> list[EpisodeDemonstration]:
    return [pair for pair in pairs if pair.reply.strip().isdigit()]


def seen_in(pair: EpisodeDemonstration) -> str:
    """What a prompt asks about, with its place."""
    return re.findall(r"^Seen: (.+)\.$", pair.prefix, re.MULTILINE)[-1]  # type: ignore[no-any-return]


def case_of(pair: EpisodeDemonstration, cases: list[GoalCase]) -> GoalCase:
    """A case of which the lesson may be."""
    goal = next(iter(options_of(pair)), pair.prefix.rpartition("Goal: ")[2] + pair.reply)
    return next(
        case
        for case in cases
        if case.task.name == pair.scene and case.about.description == seen_in(pair) and goal in case.confirmations
    )


def options_of(pair: EpisodeDemonstration) -> list[str]:
    """The options of a question, as goals are written."""
    shown = re.findall(r"^\d+\. The (.+)\.$", pair.prefix.rpartition("Which goal")[2], re.MULTILINE)
    return [f"the {option}" for option in shown]


def test_most_names_of_each_task_may_be_learned_from_and_the_rest_never() -> None:
    counts = {name: (len(learnable_nouns(task)), len({each.thing.noun for each in task.objects}))
              for name, task in ((name, load_task(name)[0]) for name in TASKS)}  # fmt: skip
    assert counts == {"tidy kitchen": (19, 31), "store groceries": (9, 15), "organize office": (8, 12)}
    assert {"mug", "milk", "stapler", "eggs"}.isdisjoint(held_out_nouns()) and len(held_out_nouns()) == 22
    assert {"ketchup", "yogurt", "pencil", "steak-knife"} <= held_out_nouns()


def test_nothing_is_learned_of_what_is_held_out(pairs: list[EpisodeDemonstration], cases: list[GoalCase]) -> None:
    nouns = {case.about.thing.noun for case in cases}
    assert nouns.isdisjoint(held_out_nouns())
    assert {seen_in(pair).split()[0] for pair in pairs} <= nouns
    packaged = {case.about.thing.noun for case in cases if case.task.name in TASKS}
    assert packaged == {noun for name in TASKS for noun in learnable_nouns(load_task(name)[0])}
    assert not {case.task.name for case in lessons("lessons.task_object_repeats=0").cases} & set(TASKS)


def test_a_goal_that_is_to_be_written_brings_about_what_the_person_wants(
    pairs: list[EpisodeDemonstration], cases: list[GoalCase]
) -> None:
    goals = written(pairs)
    assert len(goals) == 24
    for pair in goals:
        case, start = case_of(pair, cases), pair.prefix.rpartition("Goal: ")[2]
        assert start == f"the goal is that the {case.about.thing.noun} {'are' if case.about.plural else 'is'}"
        situation: PerceivedScene = case.task.situation.with_focus(case.about.thing)
        analysis = case.analyser.analyse(start + pair.reply, situation)
        goal = goal_state(analysis)
        path = plan_actions(case.task.start(), goal) if goal else None
        assert analysis.viable and path is not None
        ended = simulate_actions(case.task.start(), path)
        assert ended.holder(case.about.thing.name) in case.about.wanted
        assert not any(ended.has_tag(fixture.name, OPEN_TAG) for fixture in case.task.fixtures)


def test_a_question_has_one_right_option_and_its_number_is_the_answer(
    pairs: list[EpisodeDemonstration], cases: list[GoalCase]
) -> None:
    questions = asked(pairs)
    for pair in questions:
        case, options = case_of(pair, cases), options_of(pair)
        assert 2 <= len(options) <= 8 and len(set(options)) == len(options)
        said = [case.confirmations[option] for option in options]
        assert said.count(True) == 1 and said[int(pair.reply) - 1]
    # Small models lean to places: the right one may be anywhere, and each question is turned.
    assert len(Counter(pair.reply for pair in questions)) >= 4
    turned: dict[int, list[EpisodeDemonstration]] = {}
    for pair in questions:
        turned.setdefault(pair.episode, []).append(pair)
    assert len(turned) == 12
    for one, other in turned.values():
        assert set(options_of(one)) == set(options_of(other)) and one.reply != other.reply


def test_the_same_seed_makes_the_same_lessons() -> None:
    few = ("lessons.rooms=1", "lessons.things=[3,3]", "lessons.task_object_repeats=0")
    first, second, other = (list(lessons(*few, seed=seed).demonstrations()) for seed in (1, 1, 2))
    assert first == second != other


def test_each_case_is_taken_once_before_any_comes_again() -> None:
    few = lessons("lessons.rooms=1", "lessons.things=[3,3]", "lessons.task_object_repeats=0", "lessons.goals=7")
    assert sorted(Counter(seen_in(pair) for pair in written(list(few.demonstrations()))).values()) == [2, 2, 3]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("lessons.rooms=0", "setting lessons.rooms"),
        ("lessons.things=[5,2]", "things: give the fewest"),
        ("lessons.options=[1,4]", "options: give the fewest, 2 or more"),
        ("lessons.goals=-1", "setting lessons.goals"),
        ("lessons.colour=red", "unknown setting 'lessons.colour'"),
    ],
)
def test_lessons_that_cannot_be_are_one_line(setting: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)) as caught:
        config(setting)
    assert "\n" not in str(caught.value)


def test_nothing_to_learn_and_words_that_no_goal_begins_with_are_told() -> None:
    with pytest.raises(UserError, match="nothing is learned"):
        config("lessons.goals=0", "lessons.choices=0")
    with pytest.raises(UserError, match=r"setting run\.goal_prefix"):
        list(lessons("run.goal_prefix=put the {name} away").demonstrations())
    # Without words that begin it, the whole goal is written.
    pair = next(lessons("run.goal_prefix=''").demonstrations())
    assert pair.prefix.endswith("Goal:") and pair.reply.startswith(" the goal is that the ")


HOUSEHOLD = """
name: mine
rooms:
  - room: office
    tasks: [tidy attic]
    always: [desk, drawer]
    often: []
    places: [{place: desk, relation: "on", subtask: clear}]
things:
  - {kind: stationery, found: [desk], wanted: [[drawer]], names: [stamp, KIND]}
"""


def test_households_of_the_users_own_may_not_have_what_is_held_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HOUSEHOLD.replace("KIND", "quill"))
    found = lessons(f"lessons.room_parts={path}", "lessons.task_object_repeats=0").cases
    assert {case.about.thing.noun for case in found} == {"stamp", "quill"}
    path.write_text(HOUSEHOLD.replace("KIND", "pencil"))
    with pytest.raises(DataError, match=r"mine.yaml: pencil is held out for evaluation; remove it"):
        load_room_parts(str(path))
    path.write_text(HOUSEHOLD.replace("KIND", "quill").replace("kind: stationery", "kind: dragon"))
    with pytest.raises(DataError, match="dragon is not a known kind"):
        assert lessons(f"lessons.room_parts={path}").cases


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("tasks: [", "tasks: [] #", "mine.yaml: field rooms.0.tasks: "),
        ("wanted: [[drawer]]", "wanted: [[shelf]]", ": field things: none is found in places of "),
        ("places: [", "places: [] #", ": field things: none is found in places of "),
    ],
)
def test_rooms_with_nothing_to_tidy_are_told(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    assert before in HOUSEHOLD
    path.write_text(HOUSEHOLD.replace(before, after).replace("KIND", "quill"))
    with pytest.raises(DataError, match=re.escape(message)):
        assert lessons(f"lessons.room_parts={path}").cases
