"""Runs whose model is cut, thinks or moves to another address."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import housewise
from tests.language.conftest import ChatServer, says
from tests.servers import serving

PLAN = "go to living room 0\nstep 2: go to bedroom 0\nstep 3: go to kitchen"


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    lines = [line for path in sorted((run / "episodes").glob("*.jsonl")) for line in path.read_text().splitlines()]
    return [found["data"] for found in map(json.loads, lines) if found["type"] == kind]


@pytest.mark.slow
def test_cut_replies_are_counted_and_a_run_goes_on_where_its_server_has_moved(tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = ["--model", "m", "--out", run, "max_plans=2"]
    for houses in (1, 2):
        with serving(ChatServer()) as server:
            server.play(says(f"<think>step 1: go to kitchen 0</think>{PLAN}", finish_reason="length"))
            ended = housewise("run", "--houses", houses, "--base-url", server.url, *settings, code=0)
            assert f"{2 * houses} of {2 * houses} replies were cut at max_tokens=160" in ended.stdout
            assert [each["max_tokens"] for each in server.requests] == [160, 160 + 4096]
    plans = events(run, "plan")
    assert [(plan["finish_reason"], plan["thoughts"]) for plan in plans] == [("length", "step 1: go to kitchen 0")] * 4
    assert {action["action"] for action in events(run, "action")} == {"go to living room 0", "go to bedroom 0"}
    assert [result["usage"]["finish_reasons"] for result in events(run, "result")] == [{"length": 2}] * 2
    assert housewise("report", run, "--no-film").returncode == 0
    assert "4 of 4 replies were cut at max_tokens" in (run / "report.html").read_text()


def test_a_run_in_which_nothing_was_said_has_failed(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        server.play(says("", finish_reason="length"))
        ended = housewise("run", "--houses", 2, "--model", "m", "--base-url", server.url, "--out", tmp_path / "run")
    assert ended.returncode == 3
    told = "2 x " + server.url + ": its reply ended at max_tokens=160 before it said anything; raise max_tokens"
    assert told in ended.stderr
