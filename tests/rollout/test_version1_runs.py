"""Runs that version 1 left: their records are read, reported and played again, and the runs are gone on with."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.core.setting_keys import short_key
from housewise.core.settings import flatten_settings
from housewise.rollout.run import load_run
from housewise.systems.personalize.record import read_house_record
from tests.commands import run_module
from tests.record_lines import read_lines, write_lines

# Scores of houses, which no record tells afterwards.
UNTOLD = ("shortest_steps", "efficiency")
WORDS = ("--houses", "2", "--planner", "scripted", "max_steps=60")


def housewise(*words: str | Path) -> str:
    done = run_module("housewise", words, code=0)
    return done.stdout


def unsectioned(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as version 1 had them: flat, but for groups."""
    known = flatten_settings({key: value for key, value in settings.items() if key not in ("system", "memory")})
    found: dict[str, Any] = {}
    for key, value in known.items():
        group, _, name = short_key(key).rpartition(".")
        (found.setdefault(group, {}) if group else found)[name] = value
    return found


def first_version(line: dict[str, Any]) -> dict[str, Any]:
    """A line as version 1 wrote it."""
    kind, data = line["type"], line["data"]
    if kind == "header":
        kept = {key: data[key] for key in ("seed", "software", "started")} | {"run": data["repetition"]}
        return {
            "type": "episode", "version": 1, "planner": data["agent"], "model": None,
            "config": unsectioned(data["settings"]), **kept, **data["initial_state"],
        }  # fmt: skip
    if kind == "result":
        later = ("executability", "complete", "last_correct_step", *UNTOLD)
        scores = {key: value for key, value in data["scores"].items() if key not in later}
        counted = {key: value if key == "success_rate" else int(value) for key, value in scores.items()}
        return {"type": kind, "ended": data["end_reason"], **counted, **data["usage"], **data["final"]}
    return {"type": kind, **data}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    housewise("run", *WORDS, "--out", folder)
    return folder


@pytest.fixture
def old(whole: Path, tmp_path: Path) -> Path:
    """The same run as version 1 left it, with one of its two episodes still to be played."""
    folder = tmp_path / "old"
    shutil.copytree(whole, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(unsectioned(config)))
    for path in sorted(folder.glob("episodes/*.jsonl")):
        write_lines(path, [first_version(line) for line in read_lines(path)])
    path.unlink()
    return folder


def test_a_record_is_read_as_what_it_is_today(whole: Path, old: Path) -> None:
    (path,) = old.glob("episodes/*.jsonl")
    then, now = read_house_record(path), read_house_record(whole / "episodes" / path.name)
    assert read_lines(path)[0]["type"] == "episode"
    assert (then.initial_state, then.final, then.plans, then.actions) == (
        now.initial_state,
        now.final,
        now.plans,
        now.actions,
    )
    told = {key: score for key, score in now.result.scores.items() if key not in UNTOLD}
    assert then.result == now.result.model_copy(update={"scores": told}) and then.name == now.name
    assert {**vars(then.header), "settings": {}, "memory": None} == {**vars(now.header), "settings": {}, "memory": None}
    assert load_run(old).settings == load_run(whole).settings


def test_a_run_is_gone_on_with_reported_and_played_again(whole: Path, old: Path, tmp_path: Path) -> None:
    assert "1 of 2 episodes are finished already" in housewise("run", *WORDS, "--out", old)
    for path in whole.glob("episodes/*.jsonl"):
        assert read_house_record(old / "episodes" / path.name).final == read_house_record(path).final
    then, now = (json.loads((folder / "metrics.json").read_text())["overall"] for folder in (old, whole))
    assert {key: then[key] for key in then if "seconds" not in key} == {
        key: now[key] for key in now if "seconds" not in key
    }
    housewise("report", old, "--no-film")
    assert "success rate" in (old / "report.html").read_text()
    assert "same final placements: 2 of 2" in housewise("replay", old, "--out", tmp_path / "again")


def test_a_damaged_one_is_named(old: Path) -> None:
    (path,) = old.glob("episodes/*.jsonl")
    lines = path.read_text().splitlines()
    for number, damage in ((0, lines[0].replace('"scene"', '"sene"')), (1, "{}"), (len(lines) - 1, lines[0])):
        path.write_text("\n".join([*lines[:number], damage, *lines[number + 1 :]]) + "\n")
        with pytest.raises(UserError) as refused:
            read_house_record(path)
        assert str(refused.value).startswith(f"{path}: ") and "delete the file" in str(refused.value)
    (old / "config.json").write_text('{"houses": 2, "magic": 3}')
    with pytest.raises(UserError, match=r"config\.json: not the settings of a run"):
        load_run(old)
