"""Tasks, words and abilities as data: the packaged ones against the paper's figures, and bad files."""

from pathlib import Path

import pytest
import yaml

from housewise.agent.stars.data_files import load_robot, load_task, load_vocabulary
from housewise.agent.stars.lessons import GoalQuestion
from housewise.agent.stars.oversight import SimulatedUser
from housewise.agent.stars.planning import goal_state, plan_actions, simulate_actions
from housewise.agent.stars.prompts import load_prompts
from housewise.core.errors import DataError, UserError
from tests.agent.stars.analysers import load_task_and_analyser

TASKS = {
    # objects, names, fixtures, closed ones, completion of doing nothing, instructions and words (STARS, tables 2 to 8)
    "tidy kitchen": (35, 31, 11, 5, 12.5, 14, 76),
    "store groceries": (15, 15, 14, 3, 100 / 6, 6, 28),
    "organize office": (12, 12, 7, 2, 100 / 7, 6, 28),
}


@pytest.mark.parametrize("name", TASKS)
def test_tasks_are_the_papers(name: str) -> None:
    task, _ = load_task(name)
    words = sum(len(sentence.split()) for sentence in task.instructions)
    assert (
        len(task.objects), len({found.thing.noun for found in task.objects}), len(task.fixtures), len(task.closed),
        pytest.approx(task.completion(task.start()).percent), len(task.instructions), words,
    ) == TASKS[name]  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_every_goal_that_the_user_states_is_viable_confirmed_and_completes_the_task(name: str) -> None:
    task, analyser = load_task_and_analyser(name)
    user, state = SimulatedUser(task), task.start()
    for about in task.objects:
        sentence = user.states(about).sentence
        statement = analyser.language.statement(sentence)
        assert statement is not None and statement.name == about.thing.noun
        analysis = analyser.check(statement.clauses, task.situation.with_focus(about.thing))
        assert analysis.viable and user.confirms(GoalQuestion(about, sentence, analysis))
        goal = goal_state(analysis)
        assert goal is not None
        state = simulate_actions(state, plan_actions(state, goal) or ())
    assert task.completion(state).percent == 100


def test_58_names_of_objects() -> None:
    assert len({found.thing.noun for name in TASKS for found in load_task(name)[0].objects}) == 58


def with_changes(tmp_path: Path, packaged: str, change: dict[str, object]) -> str:
    from importlib import resources

    content = yaml.safe_load(
        (resources.files("housewise.housekeep_configs") / "stars" / f"{packaged}.yaml").read_text()
    )
    path = tmp_path / f"{packaged}.yaml"
    path.write_text(yaml.safe_dump(content | change))
    return str(path)


def test_circles_of_synonyms_and_kinds_are_refused(tmp_path: Path) -> None:
    path = with_changes(tmp_path, "vocabulary", {"synonyms": {"bin": "trash", "trash": "garbage", "garbage": "bin"}})
    with pytest.raises(DataError, match=r"vocabulary.yaml: field synonyms: bin -> trash -> garbage -> bin is a cycle"):
        load_vocabulary(path)
    path = with_changes(tmp_path, "vocabulary", {"kinds": {"mug": {"is_a": "cup"}, "cup": {"is_a": "mug"}}})
    with pytest.raises(DataError, match=r"field kinds: cup -> mug -> cup is a cycle"):
        load_vocabulary(path)


OBJECTS = [{"name": "pen", "kind": "stationery", "wanted": ["drawer"]}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"places": [{"place": "attic", "relation": "on", "subtask": "clear", "objects": OBJECTS}]}, "pen names attic"),
        ({"places": [{"place": "", "relation": "on", "subtask": "clear", "objects": OBJECTS}]}, "places.0.place"),
        ({"places": [{"relation": "on", "subtask": "clear", "objects": OBJECTS}]}, "places.0.place"),
        ({"places": [{"place": "desk", "relation": "near", "subtask": "x", "objects": OBJECTS}]}, "places.0.relation"),
        (
            {
                "places": [
                    {"place": "desk", "relation": "on", "subtask": "clear", "objects": [OBJECTS[0] | {"wanted": []}]}
                ]
            },
            "pen has no wanted",
        ),
        (
            {
                "places": [
                    {"place": "desk", "relation": "on", "subtask": "c", "objects": [OBJECTS[0] | {"kind": "blob"}]}
                ]
            },
            "blob is not a known kind",
        ),
        ({"fixtures": ["desk", "desk", "drawer"]}, "desk appears twice"),
        ({"fixtures": ["desk", "time machine"]}, "machine is not a known kind"),
        ({"closed": ["window"]}, "window"),
        ({"colour": "red"}, "field colour"),
    ],
)
def test_a_bad_task_is_one_line_that_names_file_and_field(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = with_changes(tmp_path, "organize_office", change)
    with pytest.raises(UserError, match=r"organize_office\.yaml") as caught:
        load_task(path)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tidy attic: no such task"):
        load_task("tidy attic")
    broken = tmp_path / "robot.yaml"
    broken.write_text("moves: [")
    with pytest.raises(DataError, match=r"robot.yaml: not readable as YAML"):
        load_robot(str(broken))


def test_prompts_name_what_is_missing_or_cannot_be_filled_in(tmp_path: Path) -> None:
    path = with_changes(tmp_path, "prompts", {"job": "Job: {work}"})
    with pytest.raises(UserError, match=r"prompts.yaml: field job: .*cannot be filled in"):
        load_prompts(path)
    path = with_changes(tmp_path, "prompts", {"reasons": {"grabbable": "no"}})
    with pytest.raises(UserError, match=r"field reasons: .*unknown-word is missing"):
        load_prompts(path)
