"""The command line as a user meets it: real processes, a real server on this machine, kill -9."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from housewise.systems.personalize.record import read_house_record, read_house_records
from tests.commands import housewise, one_line, started_module
from tests.language.conftest import ChatServer, Handler, says


@pytest.fixture
def server(server: ChatServer) -> ChatServer:
    """A server whose model explores the kitchen and takes that for all there is to do."""
    server.play(says(" go to kitchen 0\nmission complete"))
    return server


def test_a_scripted_run_leaves_records_and_figures(tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = housewise("run", "--houses", "2", "--planner", "scripted", "--workers", "2", "--out", out, "max_steps=120")
    assert result.returncode == 0, result.stderr
    records = list(read_house_records(out / "episodes"))
    assert [record.initial_state.scene for record in records] == ["generated-0", "generated-1"]
    figures = json.loads((out / "metrics.json").read_text())
    assert figures["overall"]["episodes"] == 2
    assert figures["overall"]["steps"] == pytest.approx(sum(r.result.scores["steps"] for r in records) / 2)
    assert set(figures["by_scene"]) == {"generated-0", "generated-1"}


def test_a_run_against_a_server(tmp_path: Path, server: ChatServer) -> None:
    out = tmp_path / "run"
    url = f"http://127.0.0.1:{server.server_port}/v1"
    result = housewise("run", "--houses", "1", "--model", "m", "--base-url", url, "--out", out, OPENAI_API_KEY="sk-top")
    assert result.returncode == 0, result.stderr
    record = read_house_record(out / "episodes" / "generated-0-0000-run0.jsonl")
    assert record.result.end_reason == "complete"
    assert "kitchen 0" in record.plans[0].reply
    assert record.actions[0].action == "go to kitchen 0"
    assert record.actions[0].status == "succeeded"
    assert record.result.usage.prompt_tokens == 11
    assert "sk-top" not in "".join(path.read_text() for path in out.rglob("*.json*"))


def test_kill_and_resume(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ["run", "--houses", "3", "--planner", "scripted", "max_steps=60", "--out", str(out)]
    first = out / "episodes" / "generated-0-0000-run0.jsonl"
    second = out / "episodes" / "generated-1-0001-run0.jsonl.partial"
    with started_module("housewise.cli", arguments) as program:
        while not (first.exists() and second.exists()) and program.poll() is None:
            time.sleep(0.02)
    kept = first.read_bytes()
    result = housewise(*arguments, code=0)
    assert "1 of 3 episodes are finished already" in result.stdout
    assert "nothing is left to play of 3 episodes" in housewise(*arguments).stdout
    assert first.read_bytes() == kept
    assert len(list(read_house_records(out / "episodes"))) == 3
    assert not list((out / "episodes").glob("*.partial"))
    whole = tmp_path / "whole"
    assert housewise(*arguments[:-1], whole).returncode == 0
    for resumed, undisturbed in zip(
        read_house_records(out / "episodes"), read_house_records(whole / "episodes"), strict=True
    ):
        assert resumed.final.placements == undisturbed.final.placements
        assert [a.low_level_actions for a in resumed.actions] == [a.low_level_actions for a in undisturbed.actions]


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    arguments = ("run", "--houses", "1", "--planner", "scripted", "--out", tmp_path, "max_steps=30")
    assert housewise(*arguments).returncode == 0
    message = one_line(housewise(*arguments, "--seed", "7"))
    assert "seed" in message
    assert "--out" in message


def test_a_folder_with_settings_of_another_system_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"system": "clipr", "world": {"max_steps": 30}}')
    said = one_line(housewise("run", "--houses", "1", "--planner", "scripted", "--out", tmp_path))
    assert said.startswith(f"error: {path}: not the settings of a run of clipr (unknown setting 'world'"), said
    assert said.count(str(path)) == 1


def test_a_file_of_settings_says_which_system_it_is_for(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.yaml", ("--out", tmp_path / "run")
    file.write_text("system: clipr\ninterval: 15\n")
    assert "multiple of the batch size (10)" in one_line(housewise("run", "--config", file, *out))
    for words in (("--system", "stars"), ("system=stars",)):
        said = one_line(housewise("run", "--config", file, *words, *out))
        assert said.endswith("setting system: these are settings of clipr, not of stars"), said
    file.write_text("system: nowhere\n")
    assert "no system 'nowhere' is installed" in one_line(housewise("run", "--config", file, *out))
    assert not (tmp_path / "run").exists()


def test_what_is_finished_survives_a_server_that_breaks(tmp_path: Path, server: ChatServer) -> None:
    def garbage(handler: Handler, _: dict[str, object]) -> None:
        handler.reply(200, b'{"choices": [{"mess')

    well = server.answers[0]
    server.answers = [well, garbage]
    url = f"http://127.0.0.1:{server.server_port}/v1"
    arguments = ("run", "--houses", "2", "--model", "m", "--base-url", url, "--out", tmp_path)
    one_line(housewise(*arguments))
    assert [record.initial_state.scene for record in read_house_records(tmp_path / "episodes")] == ["generated-0"]
    server.answers = [well]
    assert housewise(*arguments).returncode == 0
    assert len(list(read_house_records(tmp_path / "episodes"))) == 2


@pytest.mark.slow
def test_a_full_disk_leaves_what_is_finished(tmp_path: Path) -> None:
    """A limit on file size stands in for a disk that is full: the system refuses the write in the same way."""
    out = tmp_path / "run"
    assert housewise("run", "--houses", "1", "--planner", "scripted", "--out", out, "max_steps=30").returncode == 0
    kept = {path: path.read_bytes() for path in out.rglob("*.jsonl")}
    run = f"{sys.executable} -m housewise.cli run --houses 2 --planner scripted --out {out} max_steps=30"
    command = f"ulimit -f 4; exec {run}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert "cannot be written" in one_line(result)
    assert {path: path.read_bytes() for path in out.rglob("*.jsonl")} == kept
