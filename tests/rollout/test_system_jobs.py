"""Names of tasks that would share a record, and files that nobody made."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.record import Event, record_name
from housewise.core.record_files import FAILED, file_key
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.rollout.failures import read_failures
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import has_episodes
from housewise.rollout.scores import Score
from housewise.rollout.system import Task
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from tests.commands import housewise, one_line
from tests.systems.command_runs import ATTIC


class Named(Personalize):
    """Plays tasks of any names."""

    names: Sequence[str] = ()

    def tasks(self) -> Sequence[Task]:  # type: ignore[override]
        return [Task(name) for name in self.names]


def named(*names: str) -> Named:
    system = Named(house_settings(settings={"planner": "scripted", "runs": 2}))
    system.names = names
    return system


class Move(Event):
    thing: str


class Put(Move):
    place: str


class Moved(Event):
    type = "move"


class NotARecordsEnd(Event):
    type = "result"


def test_an_event_is_called_as_its_class_even_if_it_extends_another() -> None:
    assert [Move.type, Put.type] == ["move", "put"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"events": (NotARecordsEnd,)}, "events Result and NotARecordsEnd have the same type, 'result'; rename one"),
        ({"events": (Move, Moved)}, "events Move and Moved have the same type, 'move'"),
        ({"scores": (Score("seconds", "time"),)}, "score 'seconds' is measured of every system; give it another name"),
    ],
)
def test_names_that_records_could_not_tell_apart_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^system Odd: {message}"):
        type("Odd", (Personalize,), parts)


@pytest.mark.parametrize(
    "names",
    [
        ("tidy attic", "tidy-attic"),
        ("attic", "attic"),
        ("Attic", "attic"),
        ("caf\u00e9", "CAFÉ"),
        ("a/b", "a\0b"),
        ("..", "."),
        ("x" * 200, "x" * 300),
        ("é" * 140, "é" * 141),
        ("straße", "STRASSE"),
    ],
)
def test_tasks_that_would_share_a_record_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(UserError, match="would share the record") as refused:
        named("another", *names).jobs()
    assert "\n" not in str(refused.value)


def test_tasks_of_different_names_are_played() -> None:
    names = ["attic", "attic 2", "CON", "..loft", "a\u0301", "漢字" * 40]
    assert len({file_key(job.name) for job in named(*names).jobs()}) == 2 * len(names)


@given(st.text(max_size=400))
def test_a_record_has_a_name_that_disks_take(task: str) -> None:
    name = f"{record_name(task, 7)}{FAILED}"
    assert len(name.encode()) < 256 and not set(name) & set('/\\\0:*?"<>|\n') and not name.startswith(".")


def test_two_files_of_tasks_with_one_name_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(ATTIC)
    (tmp_path / "two.yaml").write_text(ATTIC.replace("tidy attic", "tidy-attic"))
    tasks = f"task=[{tmp_path / 'one.yaml'},{tmp_path / 'two.yaml'}]"
    done = housewise("run", "--system", "stars", tasks, "--out", tmp_path / "run")
    assert "'tidy attic' and 'tidy-attic' would share the record tidy-attic-run0" in one_line(done)
    assert not (tmp_path / "run" / "episodes").exists()


def test_people_whose_names_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    text = next(iter(sorted(ADAPT_PROFILES.glob("*.yaml")))).read_text(encoding="utf-8")
    name = next(line for line in text.splitlines() if line.startswith("name:"))
    for file, called in (("a.yaml", "Ada"), ("b.yaml", "ada")):
        (tmp_path / file).write_text(text.replace(name, f"name: {called}"), encoding="utf-8")
    done = housewise("run", "--system", "adapt", f"people={tmp_path}", "task=[1]", "--out", tmp_path / "run")
    assert "'Ada-1' and 'ada-1' would share the record" in one_line(done)


@pytest.mark.slow
def test_files_that_begin_with_a_dot_are_nobodys(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = housewise("run", "houses=1", "planner=scripted", "max_steps=60", "--out", out, code=0)
    people = tmp_path / "people"
    people.mkdir()
    (people / "juan.yaml").write_bytes(next(iter(sorted(ADAPT_PROFILES.glob("*.yaml")))).read_bytes())
    memories = MemoryFolder(tmp_path / "memories")
    memories.save(Memory("ada", [Note(person="ada", kind="rule", text="Mugs belong in the cupboard.")]))
    for folder, name in (
        (out / "episodes", "._generated-0-0000-run0.jsonl"),
        (out / "episodes", ".x.jsonl.failed"),
        (out / ".ipynb_checkpoints" / "episodes", "copy-run0.jsonl"),
        (people, "._juan.yaml"),
        (tmp_path / "memories" / ".ipynb_checkpoints", "notes.jsonl"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"\x00\x05\x16\x07\x00\xff")
        (folder / ".DS_Store").write_bytes(b"\x00\x00\x00\x01Bud1\xff")
    assert len(list(read_records(out))) == 1 and read_failures(out / "episodes") == []
    assert len(load_profiles(people)) == 1 and memories.people() == ["ada"]
    assert find_paths(out, "**/episodes/*.jsonl") == [out / "episodes" / "generated-0-0000-run0.jsonl"]
    assert not has_episodes(out / ".ipynb_checkpoints")
    for words in (("report", out, "--no-film"), ("memory", "show", "ada", "--memories", tmp_path / "memories")):
        done = housewise(*words)
        assert done.returncode == 0 and "Left out" not in done.stdout, done.stdout + done.stderr
    housewise("run", "houses=1", "planner=scripted", "max_steps=60", "--out", out, code=0)
