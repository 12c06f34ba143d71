"""ADAPT as a user plays it: scripted cooks, a person who answers by meaning, and what is remembered of them."""

from pathlib import Path

import pytest

from housewise.language.embedder import has_minilm
from housewise.people.memory import MemoryFolder
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.rollout.system import Job
from housewise.systems.adapt.record import CookingActionEvent, KitchenAnswerEvent
from housewise.systems.adapt.system import Adapt
from tests.systems.command_runs import adapt, record_of, refusal, scores

MINE = """
name: zoe
about: Likes it sour.
preferences:
  - {id: "1", text: A squeeze of lemon is what tea needs., category: addition, tasks: tea, dishes: [tea],
     if: available(lemon), wants: "together(lemon, tea)"}
  - {id: "2", text: "I sit at the desk, always.", category: place, tasks: all, dishes: [], wants: served_at(desk)}
"""

needs_minilm = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")


def test_a_cook_who_knows_the_person_satisfies_them_and_one_who_knows_nothing_does_not(tmp_path: Path) -> None:
    for planner in ("cook", "never"):
        adapt("--planner", planner, "person=nalini", "task=[1,6]", "--out", tmp_path / planner)
    for task in (1, 6):
        known, unknown = (scores(tmp_path / planner, f"nalini-{task}") for planner in ("cook", "never"))
        assert known["satisfaction"] == 1 > unknown["satisfaction"]
        assert known["questions"] == unknown["questions"] == known["failed"] == 0
    settings = [record_of(tmp_path / planner, "nalini-1-run0").header.initial_state for planner in ("cook", "never")]
    assert settings[0] == settings[1], "all are given the same scene"


@pytest.mark.slow
@needs_minilm
def test_asking_pays_and_answers_are_remembered(tmp_path: Path) -> None:
    out = tmp_path / "always"
    adapt("person=miranda", "task=[6,1,2]", "--out", out)
    record = record_of(out, "miranda-6-run0")
    answers = record.of_type(KitchenAnswerEvent)
    first, second = scores(out, "miranda-6"), scores(out, "miranda-1")
    assert first["satisfaction"] == 1 and first["questions"] == len(answers) > 5
    assert any(event.text == "Squeeze some lemon into my tea." for event in answers)
    # The second breakfast, another one in another scene, takes at most half of the questions.
    assert second["questions"] <= first["questions"] / 2 and second["satisfaction"] >= first["satisfaction"]
    assert scores(out, "miranda-2")["questions"] <= second["questions"]
    notes = MemoryFolder(out / "memory").load("miranda").notes
    assert {note.kind for note in notes} == {"answer"} and {note.about.task for note in notes} == {"breakfast"}
    assert answers[0].question in {note.about.question for note in notes}
    adapt("person=miranda", "task=[6,1]", "memory.learn=never", "--out", tmp_path / "forgetful")
    assert scores(tmp_path / "forgetful", "miranda-1")["questions"] > second["questions"]


@needs_minilm
def test_a_memory_serves_without_questions_and_another_person_s_does_not(tmp_path: Path) -> None:
    kept = f"memory.folder={tmp_path / 'kept'}"
    for person in ("miranda", "mark"):
        adapt(f"person={person}", "task=[1,6]", "--memory", person, "memory.new=true", kept, "--out", tmp_path / person)
    shares = {}
    for person in ("miranda", "mark"):
        out = tmp_path / f"by-{person}"
        adapt("--planner", "never", "person=miranda", "task=[2]", "--memory", person, kept, "--out", out)
        assert scores(out, "miranda-2")["questions"] == 0
        shares[person] = scores(out, "miranda-2")["satisfaction"]
    assert shares["miranda"] > shares["mark"]


@needs_minilm
def test_fewer_questions_may_be_asked_and_workers_play_the_same(tmp_path: Path) -> None:
    words = ("person=[sarah,ethan]", "task=[3]", "max_questions=3")
    adapt(*words, "--out", tmp_path / "one")
    adapt(*words, "--workers", "2", "--out", tmp_path / "two")
    for name in ("sarah-3", "ethan-3"):
        one, two = scores(tmp_path / "one", name), scores(tmp_path / "two", name)
        assert one == two and one["questions"] == 3


@needs_minilm
def test_people_of_one_s_own_are_cooked_for(tmp_path: Path) -> None:
    (tmp_path / "zoe.yaml").write_text(MINE, encoding="utf-8")
    told = adapt(f"people={tmp_path / 'zoe.yaml'}", "task=[8]", "repeats=2", "--out", tmp_path / "run")
    assert "satisfaction" in told
    for run in (0, 1):
        result = record_of(tmp_path / "run", f"zoe-8-run{run}").result
        assert result.scores["satisfaction"] == 1
        verdicts = {line["id"]: line for line in result.final["verdicts"]}
        assert verdicts["2"]["decision"] == "satisfied" and verdicts["2"]["step"] > 0
    again = adapt(f"people={tmp_path / 'zoe.yaml'}", "task=[8]", "repeats=3", "--out", tmp_path / "run")
    assert "zoe" in again or "3" in again
    assert len(list((tmp_path / "run" / "episodes").glob("zoe-8-run?.jsonl"))) == 3


def test_a_folder_of_people_is_not_changed_under_a_run(tmp_path: Path) -> None:
    file = tmp_path / "people" / "zoe.yaml"
    file.parent.mkdir()
    file.write_text(MINE, encoding="utf-8")
    words = [f"people={file.parent}", "--planner", "cook", "--out", tmp_path / "run"]
    adapt(*words, "task=[8]")
    file.write_text(MINE.replace("served_at(desk)", "served_at(patio_table)"), encoding="utf-8")
    assert "has changed since" in " ".join(adapt(*words, "task=[8,6]", code=2).split())
    file.write_text(MINE, encoding="utf-8")
    adapt(*words, "task=[8,6]")


def test_who_has_no_other_words_cannot_answer_in_them(tmp_path: Path) -> None:
    (tmp_path / "zoe.yaml").write_text(MINE, encoding="utf-8")
    words = ["answering=paraphrase", "--planner", "llm", f"people={tmp_path / 'zoe.yaml'}", "--out", tmp_path / "run"]
    assert "zoe, preference 1: has no paraphrase to answer with" in refusal("adapt", *words)


def test_what_has_been_made_is_recorded_as_it_changes(tmp_path: Path) -> None:
    adapt("--planner", "cook", "person=maya", "task=[1]", "--out", tmp_path)
    record = record_of(tmp_path, "maya-1-run0")
    actions = record.of_type(CookingActionEvent)
    assert [event.text for event in actions][-1] == "Declare Done" and record.result.end_reason == "complete"
    shown = [event.prepared_food for event in actions if event.prepared_food]
    assert shown and shown[-1] == record.result.final["prepared_food"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["person=nobody"], "setting person: nobody is named 'nobody'; available: juan"),
        (["task=[9]"], "setting task: there is no task 9 in the kitchen; use one of [1, 2"),
        (["person=[juan,juan]"], "each person at most once"),
        (["people=nowhere.yaml"], "nowhere.yaml: no such file or folder of people"),
        (["prompt=nowhere.yaml", "--planner", "llm"], "nowhere.yaml: cannot be read"),
        (["answering=terminal"], "answering=terminal: the scripted cook only understands"),
        (["answering=terminal", "--planner", "llm", "--workers", "2"], "one person answers one episode at a time"),
        (["asking=always", "grounded=false", "--planner", "llm"], "asking=always: only the grammar can force"),
        (["answering=paraphrase"], "answering=paraphrase: the scripted cook only understands"),
        (["--planner", "chef"], "planner"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(tmp_path: Path, words: list[str], complaint: str) -> None:
    assert complaint in refusal("adapt", *words, "--out", tmp_path / "run")
    assert not (tmp_path / "run" / "episodes").exists()


def test_progress_is_counted_against_what_is_known_to_come(tmp_path: Path) -> None:
    class Counting(RunCallback):
        """Keeps out of how many each part of an episode is."""

        def __init__(self) -> None:
            self.totals: list[tuple[int, int]] = []

        def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None:
            self.totals.append((done, of))

    counting = Counting()
    settings = {"person": ["juan"], "task": [4], "planner": "never"}
    Run(Adapt(Adapt.load(settings=settings)), tmp_path).play(counting)
    assert counting.totals and all(of == done + 1 for done, of in counting.totals)


def test_a_name_that_no_memory_can_have_is_refused_with_its_file_and_field(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.replace("name: zoe", "name: zoé"), "utf-8")
    told = refusal("adapt", "--planner", "cook", "--person", file, "--out", tmp_path / "run")
    assert f"{file}: name: 'zoé' cannot be a person's name: use letters a to z" in told
