"""Settings and files that cannot be are one line; those that can travel."""

import pickle
from pathlib import Path

import pytest

pytest.importorskip("openai")

from housewise.agent.stars.data_files import KNOWN_PLACES
from housewise.core.files import write_json
from housewise.language.embedder import has_minilm
from housewise.systems.stars.system import Stars
from tests.language.conftest import ChatServer
from tests.systems.command_runs import ATTIC, NEVER, asking, record_of, refusal, stars


def test_a_system_travels_to_other_machines_with_the_files_of_the_user(tmp_path: Path, attic: Path) -> None:
    system = Stars(Stars.load(overrides=[f"task={attic}"]))
    [job] = system.jobs()
    attic.unlink()
    there = pickle.loads(pickle.dumps(system))
    assert [task.name for task in there.tasks()] == ["tidy attic"] and pickle.loads(pickle.dumps(job)) == job


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["condition=STARE"], "no condition STARE; did you mean"),
        (["max_questions=-1"], "setting max_questions"),
        (["branch_below=1.5"], "setting tree.branch_below"),
        (["min_branch_mean=nan"], "setting tree.min_branch_mean"),
        (["max_goal_tokens=100000"], "setting max_goal_tokens"),
        (["goal_prefix={thing}"], "setting goal_prefix"),
        (["goal_prefix={name.__class__.nope}"], "setting goal_prefix"),
        (["max_kind_levels=1e9"], "setting generalisation.max_kind_levels"),
        (["selection=dice"], "setting selection"),
        (["task=tidy attic"], "setting task: tidy attic: no such task"),
        (["task=[]"], "setting task"),
        (["task=[tidy kitchen,tidy kitchen]"], "each task at most once"),
        (["grammar=nope"], "nope: no such goal grammar"),
        (["examples=nope", "condition=nearest"], "nope: file not found"),
        (
            ["adapter=nope/adapter", "condition=nearest"],
            "nope/known_places.json is missing; name FOLDER",
        ),
        (["--person", "nobody"], "setting person"),
        (["--person", "terminal", "--workers", "2"], "one person answers one episode at a time"),
        (["--person", "terminal", "condition=STARS"], "STARS asks nobody; choose STARS+O"),
        (["condition=grounded", "--model", "m", "--base-url", NEVER], "rates texts"),
    ],
)
def test_settings_that_cannot_be_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    assert said in refusal("stars", *words, "--out", tmp_path / "run")


def test_files_of_the_user_that_cannot_be_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    for change, said in (
        (("place: desk", "place: ''"), "field places.0.place"),
        (("place: desk", "place: sofa"), "object pen names sofa, which is not a fixture of the task"),
        (("wanted: [drawer]", "wanted: []"), "object pen has no wanted"),
        (("kind: book", "kind: dragon"), "dragon is not a known kind"),
        (("name: tidy attic", f"name: {'a' * 99}"), "field name"),
    ):
        path.write_text(ATTIC.replace(*change))
        assert said in refusal("stars", f"task={path}", "--out", tmp_path / "run")
    words = tmp_path / "words.yaml"
    words.write_text("name: mine\nwords: {}\nkinds: {mug: {}}\nsynonyms: {cup: beaker, beaker: cup}\n")
    complaint = refusal("stars", f"vocabulary={words}", "--out", tmp_path / "run")
    assert "field synonyms: cup -> beaker -> cup is a cycle" in complaint
    path.write_text(ATTIC)
    other = tmp_path / "other.yaml"
    other.write_text(ATTIC)
    assert "two tasks have the same name" in refusal("stars", f"task=[{path},{other}]", "--out", tmp_path / "run")


def test_a_task_that_has_changed_is_not_gone_on_with(server: ChatServer, tmp_path: Path, attic: Path) -> None:
    words = asking(server, f"task={attic}", "repeats=2", "--out", tmp_path / "run")
    stars(*words)
    attic.write_text(ATTIC.replace("novel", "book"))
    assert "has changed since" in stars(*words, "repeats=3", code=2)


@pytest.mark.skipif(not has_minilm(), reason="sentence embeddings are not installed")
def test_nearest_compares_with_what_the_adapter_learned_from_and_asks_no_model(tmp_path: Path, attic: Path) -> None:
    adapter = tmp_path / "imitate" / "adapter"
    adapter.mkdir(parents=True)
    write_json(adapter.parent / KNOWN_PLACES, {"name": "mine", "seen": {"pencil on desk": ["bookshelf"]}})
    model = f"models.agent.model=local:{tmp_path / 'none'}"
    for name, options in (("names", []), ("learned", [f"adapter={adapter}"])):
        stars(f"task={attic}", "condition=nearest", model, *options, "--out", tmp_path / name)
    places = {
        name: record_of(tmp_path / name, "tidy-attic-run0").result.final["places"] for name in ("names", "learned")
    }
    assert places["names"] == {"pen": "drawer", "novel": "bookshelf"}
    assert places["learned"] == {"pen": "bookshelf", "novel": "bookshelf"}
