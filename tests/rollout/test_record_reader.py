import json
import os
import re
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.core.files import write_bytes, write_json, write_text
from housewise.core.folder_locks import exclusive_lock
from housewise.core.record import Event, Failure, Header, Result, Usage
from housewise.core.record_files import RecordLine, RecordWriter, assemble_record
from housewise.language import adapters
from housewise.rollout.failures import read_failures
from housewise.rollout.run import Run
from housewise.rollout.scores import compute_metrics
from housewise.systems.personalize.record import (
    ActionEvent,
    PlanEvent,
    read_house_record,
    read_house_records,
)
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.env import RearrangementTask
from tests.houses import header

TIDY = Path(adapters.__file__).parent / "tidy"

# Anything that a model or a server may send, lone surrogates included.
TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
ACTION = ActionEvent(
    plan=0, raw="go to bed", status="succeeded", start=0, end=3, low_level_actions="ffl", path=[(0.5, 1.5, 0.1)]
)


def result(**changes: Any) -> Result:
    fields: dict[str, Any] = {
        "end_reason": "complete",
        "scores": {"success_rate": 0.5, "steps": 1, "plans": 1},
        "usage": Usage(prompt_tokens=1, completion_tokens=1, model_seconds=0.1, seconds=2.5),
        "final": {"placements": {}},
    }
    return Result(**{**fields, **changes})


def written(folder: Path, first: Header, *lines: PlanEvent | ActionEvent | Result) -> Path:
    writer = RecordWriter(folder, first.name)
    for line in (first, *lines):
        writer.write(line)
    writer.close()
    return folder / f"{first.name}.jsonl"


def fill_up(writer: RecordWriter) -> None:
    """Put a device under a writer on which every write fails for want of space."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    os.dup2(descriptor, writer._stream.fileno())
    os.close(descriptor)


@pytest.fixture
def first(toy: RearrangementTask) -> Header:
    return header(toy)


def test_two_programs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    run = Run(Personalize(house_settings(settings={"houses": 1, "planner": "scripted", "max_steps": 20})), tmp_path)
    with exclusive_lock(tmp_path), pytest.raises(UserError, match="another program is writing there"):
        run.play()
    assert run.play()["overall"]


def test_an_adapter_is_the_same_however_its_folder_is_named(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TIDY, tmp_path / "here" / "adapters" / "tidy"))
    other = Path(shutil.copytree(TIDY, tmp_path / "there" / "adapters" / "tidy"))
    (tmp_path / "config.json").write_text(house_settings(settings={"adapter": str(folder)}).model_dump_json())
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / "generated-0-0000-run0.jsonl").touch()
    Run(Personalize(house_settings(settings={"adapter": os.path.relpath(folder)})), tmp_path)
    # A copy is the same adapter, and another one of that name is not.
    Run(Personalize(house_settings(settings={"adapter": str(other)})), tmp_path)
    weights = other / "adapter_model.safetensors"
    learned = bytearray(weights.read_bytes())
    learned[-4096:] = bytes(4096)
    weights.write_bytes(learned)
    with pytest.raises(UserError, match="other settings \\(adapter\\)"):
        Run(Personalize(house_settings(settings={"adapter": str(other)})), tmp_path)
    folder.rename(tmp_path / "gone")
    Run(Personalize(house_settings(settings={"adapter": str(other)})), tmp_path)


def test_what_is_written_is_read(tmp_path: Path, first: Header) -> None:
    plan = PlanEvent(
        plan=0, step=0, reply="go to bed", prompt=[{"role": "user", "content": "?"}], scene_graph={"a 0": {"b": []}}
    )
    action = ACTION.model_copy(update={"moves": {"mug 1": ("bed", "robot")}, "reward": -1.0, "aim_targets": ["mug_1"]})
    path = written(tmp_path / "new" / "folder", first, plan, action, result())
    assert path.name == "toy-0007-run0.jsonl"
    record = read_house_record(path)
    assert (record.header, record.plans, record.actions, record.result) == (first, [plan], [action], result())
    assert record.name == "toy-0007-run0"
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()] == [
        "header",
        "plan",
        "action",
        "result",
    ]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, st.text(max_size=40))
def test_any_words_survive(tmp_path: Path, first: Header, reply: str, words: str) -> None:
    plan = PlanEvent(plan=0, step=0, reply=reply, prompt=[{"role": "user", "content": words}])
    action = ActionEvent(plan=0, raw=reply, status="skipped", reason=words, start=0, end=0, discovered=[words])
    record = read_house_record(written(tmp_path, first, plan, action, result()))
    assert record.plans == [plan] and record.actions == [action]
    clean = reply.encode("utf-8", "replace").decode()
    assert record.plans[0].reply == clean


@pytest.mark.parametrize("letter", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\r", "\n", "\x00"])
def test_letters_that_break_lines_elsewhere_do_not_here(tmp_path: Path, first: Header, letter: str) -> None:
    plan = PlanEvent(plan=0, step=0, reply=f"go to{letter}bed")
    assert read_house_record(written(tmp_path, first, plan, result())).plans == [plan]


def test_an_unfinished_record_is_left_aside(tmp_path: Path, first: Header) -> None:
    writer = RecordWriter(tmp_path, "toy-0007-run0")
    writer.write(first)
    writer.write(ACTION)
    assert [path.name for path in tmp_path.iterdir()] == ["toy-0007-run0.jsonl.partial"]
    # What happened so far is on disk, for whoever watches or looks after a crash.
    assert len((tmp_path / "toy-0007-run0.jsonl.partial").read_text().splitlines()) == 2
    writer.close()
    assert list(read_house_records(tmp_path)) == []
    done = written(tmp_path, first, result())
    assert [path.name for path in tmp_path.iterdir()] == [done.name]
    assert [record.name for record in read_house_records(tmp_path)] == ["toy-0007-run0"]


def test_records_come_by_name(tmp_path: Path, first: Header) -> None:
    for episode, run in ((3, 1), (3, 0), (1, 0)):
        written(tmp_path, first.model_copy(update={"task": f"toy-{episode:04d}", "repetition": run}), result())
    names = [record.name for record in read_house_records(tmp_path)]
    assert names == ["toy-0001-run0", "toy-0003-run0", "toy-0003-run1"]


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "null",
        "[]",
        '{"type": 3}',
        '{"type": "action", "data": {}}',
        "garbage",
        '{"type": "plan", "data": {"plan": "x"}}',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, first: Header, damage: str) -> None:
    path = written(tmp_path, first, ACTION, ACTION, result())
    lines = path.read_text().splitlines()
    lines[2] = damage
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError) as refused:
        read_house_record(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: line 3 is not a record's")
    assert "\n" not in message and "delete the file" in message


def test_an_event_whose_class_has_changed_names_the_class(tmp_path: Path, first: Header) -> None:
    class Moved(Event):
        thing: str
        must: int

    lines = [RecordLine(event.type, event.model_dump()) for event in (first, first, result())]
    lines[1] = RecordLine("moved", {"thing": "mug 1"})
    with pytest.raises(UserError) as refused:
        assemble_record(tmp_path / "a.jsonl", lines, {"moved": Moved})
    assert "line 2: event moved does not fit its class tests.rollout.test_record_reader." in str(refused.value)
    assert "(field must: Field required); if the class has changed since" in str(refused.value)
    lines[1] = RecordLine("moved", {"thing": 3, "must": 1})
    with pytest.raises(UserError, match=r"\(field thing: expected a text\)") as refused:
        assemble_record(tmp_path / "a.jsonl", lines, {"moved": Moved})
    assert "delete" not in str(refused.value)


def test_a_record_cut_short_is_named(tmp_path: Path, first: Header) -> None:
    path = written(tmp_path, first, ACTION, result())
    content = path.read_bytes()
    for length in (0, 10, content.index(b"\n") + 1, len(content) - 20):
        path.write_bytes(content[:length])
        with pytest.raises(UserError, match="delete the file") as refused:
            read_house_record(path)
        assert str(refused.value).startswith(f"{path}: ")
    path.write_bytes(content * 2)
    with pytest.raises(UserError, match="no beginning or no end"):
        read_house_record(path)


def test_a_record_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\xff\xfe\x00\x01")
    for wrong in (path, tmp_path / "nowhere.jsonl", tmp_path):
        with pytest.raises(UserError) as refused:
            read_house_record(wrong)
        assert str(refused.value).startswith(f"{wrong}: ")
        assert ("delete the file" in str(refused.value)) == (wrong == path)


def test_fields_of_later_versions_do_no_harm(tmp_path: Path, first: Header) -> None:
    path = written(tmp_path, first, result())
    path.write_text(path.read_text().replace('"version":3', '"version":3,"mood":"bright"'))
    assert read_house_record(path).header == first


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_and_leaves_finished_records(tmp_path: Path, first: Header) -> None:
    done = written(tmp_path, first, result())
    writer = RecordWriter(tmp_path, "toy-0008-run0")
    fill_up(writer)
    with pytest.raises(UserError) as refused:
        writer.write(first)
    assert str(refused.value) == (
        f"{tmp_path}/toy-0008-run0.jsonl.partial: cannot be written (No space left on device); make room and run the "
        "same command again: finished episodes are kept"
    )
    writer.close()
    assert [record.name for record in read_house_records(tmp_path)] == ["toy-0007-run0"]
    assert read_house_record(done).result == result()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError) as refused:
            RecordWriter(folder, "x")
        assert str(refused.value).startswith(f"{folder}")


def test_a_json_file_is_the_old_one_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "metrics.json"
    write_json(path, {"one": 1})
    assert json.loads(path.read_text()) == {"one": 1}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        write_json(path, {"two": 2})
    monkeypatch.undo()
    assert json.loads(path.read_text()) == {"one": 1}
    write_json(path, {"two": 2})
    assert json.loads(path.read_text()) == {"two": 2}
    assert [file.name for file in path.parent.iterdir()] == ["metrics.json"]


@pytest.mark.parametrize("odd", ["1" + "0" * 400, "-1", "-1e300", "1e300", "-" + "9" * 400])
def test_counts_that_no_model_has_do_no_harm(tmp_path: Path, first: Header, odd: str) -> None:
    """An earlier version wrote down whatever a server had said."""
    path = written(tmp_path / "episodes", first, PlanEvent(plan=0, step=0, reply=""), result())
    text = path.read_text()
    for name, count in (("prompt_tokens", 1), ("completion_tokens", 1)):
        text = text.replace(f'"{name}":{count},', f'"{name}":{odd},').replace(f'"{name}":0,', f'"{name}":{odd},')
    assert odd in text
    path.write_text(text)
    record = read_house_record(path)
    assert record.result.usage.prompt_tokens == record.plans[0].completion_tokens == 0
    assert json.dumps(compute_metrics([(record.header, record.result)], Personalize.scores))


@pytest.mark.parametrize("name", ["steps", "plans", "success_rate", "seconds", "model_seconds"])
@pytest.mark.parametrize("odd", ["1" + "0" * 400, "-1e13", "1e400", "NaN", "Infinity", '"many"', "null"])
def test_other_numbers_that_are_none_are_named(tmp_path: Path, first: Header, name: str, odd: str) -> None:
    path = written(tmp_path, first, result())
    path.write_text(re.sub(rf'"{name}":[\d.]+', f'"{name}":{odd}', path.read_text()))
    assert odd in path.read_text()
    with pytest.raises(UserError, match="line 2 is not a record's"):
        read_house_record(path)


def test_a_record_that_fails_keeps_its_lines_and_the_next_one_replaces_it(tmp_path: Path, first: Header) -> None:
    writer = RecordWriter(tmp_path, "toy-0007-run0")
    writer.write(first)
    writer.write(ACTION)
    writer.write(Failure(reason="a \ud800 reason", error="an error", traceback="a\nb"))
    writer.close()
    assert [path.name for path in tmp_path.iterdir()] == ["toy-0007-run0.jsonl.failed"]
    (failed,) = read_failures(tmp_path)
    assert (failed.header, failed.reason, failed.failure.traceback) == (first, "a ? reason", "a\nb")
    assert list(read_house_records(tmp_path)) == []
    written(tmp_path, first, result())
    assert [path.name for path in tmp_path.iterdir()] == ["toy-0007-run0.jsonl"]


NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "1e300"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("field", ['"path":[[0.5', '"reward":0.0', '"success_rate":0.5', '"seconds":2.5'])
def test_a_record_holds_finite_numbers(tmp_path: Path, first: Header, field: str, number: str) -> None:
    path = written(tmp_path, first, ACTION, result())
    text = path.read_text()
    assert field in text
    kept = number == "1e300" and "reward" in field
    path.write_text(text.replace(field, re.sub(r"[0-9.]+$", number, field)))
    if kept:
        assert read_house_record(path)
    else:
        with pytest.raises(UserError, match=r"line \d is not a record's") as refused:
            read_house_record(path)
        assert "\n" not in str(refused.value)


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_text(path, "what was there")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal that goes with it, so that a write over the limit fails as one to a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(UserError, match=r"report\.html: cannot be written \(File too large\); make room"):
            write_bytes(path, bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["report.html", "report.html.partial"])
def test_nothing_is_written_through_links(tmp_path: Path, name: str) -> None:
    precious, folder = tmp_path / "precious", tmp_path / "received"
    precious.write_text("mine")
    folder.mkdir()
    (folder / name).symlink_to(precious)
    write_text(folder / "report.html", "new")
    assert precious.read_text() == "mine"
    assert (folder / "report.html").read_text() == "new"
    assert not (folder / "report.html").is_symlink()


def test_no_record_is_written_through_links(tmp_path: Path, first: Header) -> None:
    precious, folder = tmp_path / "precious", tmp_path / "received"
    precious.write_text("mine")
    folder.mkdir()
    for name in ("toy-0007-run0.jsonl", "toy-0007-run0.jsonl.partial"):
        (folder / name).symlink_to(precious)
    path = written(folder, first, result())
    assert precious.read_text() == "mine"
    assert read_house_record(path).result == result()
    assert not path.is_symlink()


def test_files_are_for_whom_the_user_lets_read_them(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "page.html", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o640
