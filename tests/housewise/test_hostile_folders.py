"""Run folders that somebody else made: pipes, links, and records that hold anything. One line, or it works."""

import copy
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from housewise.cli.compare import compare_runs
from housewise.cli.replay import records_by_name, replay_run
from housewise.core.errors import UserError
from housewise.export.episode_playback import find_player
from housewise.report import ReportOptions, write_report
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import load_run
from tests.commands import housewise, one_line
from tests.housewise.report.conftest import play

NAME = "generated-1-0001-run0.jsonl"
DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]
ODD: list[Any] = [
    *(None, True, -1, 1.5, 10**30, 10**400, 1e308, float("nan"), float("inf")),
    *("", "x", "../x", "\x1b[31m<script>alert(1)</script>", "\ud800", "\x00", "a" * 5000),
    *([], [None], [[]], ["x"], {}, {"x": None}, {"x": ["y"]}, DEEP),
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("hostile") / "run", max_steps=40)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in nested values, of long lists only the beginning."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, each in list(inner):
        yield from places(each, (*path, key))


def with_changes(value: Any, path: tuple[Any, ...], odd: Any) -> None:
    """Put something odd in a place, or take out what is there."""
    *outer, last = path
    for key in outer:
        value = value[key]
    if odd is ...:
        del value[last]
    else:
        value[last] = copy.deepcopy(odd)


def everything(run: Path, played: Path, place: Path) -> None:
    """What commands do with a run; nothing but errors of users' comes of it."""
    record, out = run / "episodes" / NAME, Console(file=io.StringIO())

    def replay() -> None:
        replay_run(run, records_by_name(run), {}, place / "again", out)

    def export() -> None:
        player = find_player("personalize", "raycast")
        assert player is not None
        player.play(read_record(record), record)

    for use in (
        lambda: write_report(run, options=ReportOptions(film=False)),
        lambda: compare_runs(played, run, None, out),
        lambda: load_run(run).play(),
        replay,
        export,
    ):
        try:
            use()
        except UserError as error:
            assert "\n" not in str(error)


@settings(max_examples=10, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data())
def test_records_that_hold_anything(
    played: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    place = tmp_path_factory.mktemp("changed")
    run = shutil.copytree(played, place / "run")
    path = run / data.draw(st.sampled_from(["config.json", f"episodes/{NAME}", f"episodes/{NAME}"]))
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.suffix == ".jsonl" else None
    whole = json.loads(path.read_text()) if lines is None else lines
    # First and last lines hold the most that anything goes by.
    part = whole if lines is None else data.draw(st.sampled_from([lines[0], lines[-1], *lines[1:4]]))
    with_changes(part, data.draw(st.sampled_from(list(places(part)))), data.draw(st.sampled_from([..., *ODD])))
    path.write_text(json.dumps(whole) if lines is None else "".join(f"{json.dumps(line)}\n" for line in lines))
    everything(run, played, place)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x1f\x8b\x08\xff", b"[" * 100_000, b'{"type":"header","data":{}}\n'],
)
def test_records_that_are_none(played: Path, tmp_path: Path, content: bytes) -> None:
    run = shutil.copytree(played, tmp_path / "run")
    (run / "episodes" / NAME).write_bytes(content)
    everything(run, played, tmp_path)
    assert "delete the file" in one_line(housewise("replay", run, "--out", tmp_path / "again"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (f"episodes/{NAME}", "pipe"),
        pytest.param(f"episodes/{NAME}.failed", "pipe", marks=pytest.mark.slow),
        pytest.param("config.json", "device", marks=pytest.mark.slow),
        pytest.param("metrics.json", "pipe", marks=pytest.mark.slow),
    ],
)
def test_nobody_waits_for_a_pipe_or_reads_a_device(played: Path, tmp_path: Path, name: str, kind: str) -> None:
    run = shutil.copytree(played, tmp_path / "run")
    (run / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(run / name)
    else:
        (run / name).symlink_to("/dev/zero")
    for command in (("report", run, "--no-film"), ("compare", run, played), ("replay", run, "--out", tmp_path / "b")):
        result = housewise(*command, timeout=300)
        assert result.returncode in (0, 2) and "Traceback" not in result.stderr
    resumed = housewise("run", "--houses", "1", "--planner", "scripted", "--out", run, timeout=300)
    assert "Traceback" not in resumed.stderr and resumed.returncode == 2


@pytest.mark.parametrize("name", ["episodes", "tensorboard", "memory", ".lock", "report"])
def test_a_run_is_not_written_through_links(tmp_path: Path, name: str) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside"
    run.mkdir()
    outside.mkdir()
    (run / name).symlink_to(outside)
    line = one_line(housewise("run", "--houses", "1", "--planner", "scripted", "max_steps=5", "--out", run))
    assert f"{run / name}: is a link that leads out" in line and not list(outside.iterdir())
