"""Folders of runs as a user meets them: a new one for each, the newest one found, slips corrected."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.systems.personalize.record import read_house_records
from housewise.terminal.run_folders import newest_run, run_folder
from tests.commands import one_line, run_module
from tests.language.conftest import ChatServer, fails
from tests.servers import serving

QUICK = ("run", "--houses", "1", "--planner", "scripted", "max_steps=30")
PART = ("run", "--houses", "2", "--planner", "scripted", "max_steps=30", "max_episodes=1")
ROOT = Path(__file__).parents[3]


def housewise(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder that is not this project's."""
    return run_module("housewise.cli", arguments, cwd=folder, timeout=120)


def played(folder: Path) -> list[str]:
    return sorted(path.parent.parent.name for path in folder.glob("runs/*/episodes/*.jsonl"))


def test_every_run_has_a_new_folder_and_the_newest_is_played_again(tmp_path: Path) -> None:
    first, second = housewise(tmp_path, *QUICK), housewise(tmp_path, *PART, "--seed", "7")
    names = []
    for result in (first, second):
        assert result.returncode == 0, result.stderr
        lines = result.stdout.splitlines()
        began = lines[0].removeprefix("run: runs/")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{4}-scripted(-2)?", began)
        assert lines[-1] == f"look at it: housewise report runs/{began}"
        names.append(began)
    assert played(tmp_path) == sorted(names)
    assert len(set(names)) == 2
    for _ in range(2):
        replayed = housewise(tmp_path, "replay")
        assert replayed.returncode == 0, replayed.stderr
        assert "same final placements: 1 of 1" in replayed.stdout and "--quick" not in replayed.stdout
    assert played(tmp_path) == sorted([*names, f"{names[1]}-replay", f"{names[1]}-replay-2"])


def test_a_run_with_more_episodes_than_it_began_with_is_replayed_whole(tmp_path: Path) -> None:
    for words in (PART, PART[:-1]):
        assert housewise(tmp_path, *words, "--out", "runs/more").returncode == 0
    replayed = housewise(tmp_path, "replay")
    assert replayed.returncode == 0 and "same final placements: 2 of 2 episodes" in replayed.stdout, replayed.stderr


@pytest.mark.slow
def test_the_command_at_the_end_makes_the_report_and_so_does_none(tmp_path: Path) -> None:
    last = housewise(tmp_path, *QUICK, "--out", "odd [b] name").stdout.splitlines()[-1]
    command = shlex.split(last.removeprefix("look at it: "))
    assert command == ["housewise", "report", "odd [b] name"]
    assert housewise(tmp_path, *command[1:], "--no-film").returncode == 0
    assert (tmp_path / "odd [b] name" / "report.html").exists()
    assert housewise(tmp_path, *QUICK, "--out", "runs/mine").returncode == 0
    result = housewise(tmp_path, "report", "--no-film")
    assert result.stdout.splitlines()[-1] == "report: runs/mine/report.html"


def test_without_runs_the_newest_is_none(tmp_path: Path) -> None:
    for command in ("report", "replay"):
        assert "no run with finished episodes" in one_line(housewise(tmp_path, command))
    assert "no finished episodes" in one_line(housewise(tmp_path, "replay", tmp_path / "nowhere" / "run"))
    assert not list(tmp_path.iterdir())


def test_a_run_that_cannot_begin_leaves_no_folder(tmp_path: Path) -> None:
    one_line(housewise(tmp_path, "run", "prompt=nowhere"))
    assert not list(tmp_path.glob("runs/*"))


def test_the_newest_is_where_an_episode_was_finished_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    taught = "imitate/evaluation/test/episodes"
    made = {"old": "episodes", "taught": taught, "again": "episodes", "empty": "episodes"}
    for number, (name, episodes) in enumerate(made.items()):
        folder = tmp_path / "runs" / name / episodes
        folder.mkdir(parents=True)
        if name != "empty":
            (folder / "house-0000-run0.jsonl").touch()
            os.utime(folder / "house-0000-run0.jsonl", (number, number))
        planner = "replay" if name == "again" else "scripted"
        (tmp_path / "runs" / name / "config.json").write_text(json.dumps({"agent": {"planner": planner}}))
    (tmp_path / "runs" / "taught" / "summary.json").touch()
    assert newest_run(nested=True) == Path("runs/again")
    assert newest_run(nested=True, replays=False) == Path("runs/taught")
    assert newest_run(nested=False, replays=False) == Path("runs/old")
    cell = tmp_path / "runs" / "experiments" / "mine" / "seed=1"
    (cell / "episodes").mkdir(parents=True)
    (cell / "episodes" / "house-0000-run0.jsonl").touch()
    assert newest_run(nested=True) == Path("runs/experiments/mine/seed=1")
    assert newest_run(nested=False) == Path("runs/again")


def test_a_new_folder_never_holds_what_was_there(tmp_path: Path) -> None:
    for name in ("run", "run-2"):
        with run_folder(None, "run", tmp_path) as folder:
            assert folder == tmp_path / name
            (folder / "x.jsonl.partial").touch()
    with run_folder(None, "run", tmp_path) as folder:
        (folder / "config.json").touch()
    assert not folder.exists()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="--out"), run_folder(None, "run", tmp_path / "file"):
        pass
    with run_folder(tmp_path / "mine", "run", tmp_path) as folder:
        assert folder == tmp_path / "mine"


def test_a_slip_before_anything_was_played_can_be_corrected(tmp_path: Path) -> None:
    mine = tmp_path / "me.yaml"
    mine.write_text("name: me\nabout: As usual.\nwants: {}\n")
    arguments = ("run", "--houses", "1", "--out", "run", "max_steps=30")
    with serving(ChatServer()) as server:
        server.play(fails(401))
        wrong = ("--model", "m", "--base-url", server.url, "--person", mine)
        assert server.url in one_line(housewise(tmp_path, *arguments, *wrong))
    assert (tmp_path / "run" / "config.json").exists()
    mine.write_text("name: me\nabout: As I said.\nwants: {}\n")
    right = (*arguments, "--planner", "scripted", "--person", mine)
    assert housewise(tmp_path, *right).returncode == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["agent"]["planner"] == "scripted"
    assert (tmp_path / "run" / "person.yaml").read_bytes() == mine.read_bytes()
    assert len(list(read_house_records(tmp_path / "run" / "episodes"))) == 1
    assert "seed" in one_line(housewise(tmp_path, *right, "--seed", "1"))


def test_a_file_of_somebody_elses_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"mine": 1}')
    assert "not the settings of a run" in one_line(housewise(tmp_path, *QUICK, "--out", "."))
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
    assert (tmp_path / "config.json").read_text() == '{"mine": 1}'


def test_a_folder_in_which_all_failed_is_not_begun_anew(tmp_path: Path) -> None:
    assert housewise(tmp_path, *QUICK, "--out", "run").returncode == 0
    (record,) = (tmp_path / "run" / "episodes").glob("*.jsonl")
    record.rename(record.with_name(record.name + ".failed"))
    assert "seed" in one_line(housewise(tmp_path, *QUICK, "--out", "run", "--seed", "7"))


def test_configurations_are_found_by_name_and_a_file_wins(tmp_path: Path) -> None:
    (tmp_path / "person").mkdir()
    for name in ("person", "person.yaml"):
        message = one_line(housewise(tmp_path, "selftrain", "--config", name, "--person", "nobody"))
        assert "no person 'nobody'" in message
    (tmp_path / "person.yaml").write_text("iteratoins: 1\n")
    assert "did you mean iterations?" in one_line(housewise(tmp_path, "selftrain", "--config", "person.yaml"))
    message = one_line(housewise(tmp_path, "selftrain", "--config", "persons"))
    assert "did you mean person? available: attentive, brain, " in message
