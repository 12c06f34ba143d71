import io
from pathlib import Path

import pytest

from housewise.core.console import Console
from housewise.rollout.record_reader import read_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.terminal.run_progress import play_run
from tests.housewise.tracking.reading import config, event_files, history, offline


def run(folder: Path, tracker: str, houses: int) -> str:
    """Play some houses, or those that are left, without a tracker where it has no name; what was told."""
    settings = {"planner": "scripted", "person": "ada", "houses": houses, "seed": 1, "max_steps": 60}
    stream = io.StringIO()
    trackers = [tracker] if tracker else []
    play_run(Personalize(house_settings(settings=settings)), folder, Console(file=stream, width=500), trackers)
    return stream.getvalue()


def test_a_runs_episodes_are_curves_of_tensorboard_and_go_on(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="the extra housewise[tensorboard] is not installed")
    # What is played without a tracker is what a program that was killed had no time to log.
    for houses, tracker in ((2, "tensorboard"), (3, ""), (3, "tensorboard"), (4, ""), (5, "tensorboard")):
        assert "no longer logged" not in run(tmp_path / "run", tracker, houses)
    points = event_files(tmp_path / "run" / "tensorboard")
    results = [record.result for record in read_records(tmp_path / "run" / "episodes")]
    assert [step for step, _ in points["episodes/success_rate"]] == [1, 2, 3, 4, 5]
    success = sorted(result.scores["success_rate"] for result in results)
    assert sorted(value for _, value in points["episodes/success_rate"]) == pytest.approx(success)
    gained = [result.scores["correct_end"] - result.scores["correct_start"] for result in results]
    assert sorted(value for _, value in points["episodes/reward"]) == pytest.approx(sorted(gained))


def test_a_runs_episodes_go_to_wandbs_files_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the extra housewise[wandb] is not installed")
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for houses, tracker in ((2, "wandb"), (3, ""), (4, "wandb")):
        assert "no longer logged" not in run(tmp_path / "run", tracker, houses)
    files = sorted((tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb"), key=lambda path: path.stat().st_mtime)
    assert len(files) == 2 and len({path.name for path in files}) == 1
    rows = offline(tmp_path / "run", 4)
    assert [row["episodes/step"] for row in rows] == [1, 2, 3, 4]
    assert [row["_step"] for row in rows] == [0, 1, 2, 3]
    results = [record.result for record in read_records(tmp_path / "run" / "episodes")]
    success = sorted(result.scores["success_rate"] for result in results)
    assert sorted(row["episodes/success_rate"] for row in rows) == pytest.approx(success)


def test_points_that_wandb_had_not_written_are_logged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the extra housewise[wandb] is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    run(tmp_path / "run", "wandb", 3)
    (path,) = (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")
    assert len(offline(tmp_path / "run", 3)) == 3
    assert config(path)["tasks"]["houses"] == 3
    # Cut off within the last point, as a process that is killed leaves it.
    path.write_bytes(path.read_bytes()[: path.read_bytes().rindex(b"episodes/step")])
    assert [row["episodes/step"] for row in history(path)] == [1, 2]
    assert "no longer logged" not in run(tmp_path / "run", "wandb", 3)
    rows = offline(tmp_path / "run", 3)
    assert [(row["_step"], row["episodes/step"]) for row in rows] == [(0, 1), (1, 2), (2, 3)]


def test_wandb_does_as_its_own_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the extra housewise[wandb] is not installed")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert "no longer logged" not in run(tmp_path / "run", "wandb", 1)
    assert not list((tmp_path / "run" / "wandb").glob("*run-*"))


def test_what_somebody_else_left_there_ends_no_run(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="the extra housewise[wandb] is not installed")
    (tmp_path / "run" / "wandb").mkdir(parents=True)
    (tmp_path / "run" / "wandb" / "housewise.json").write_text("[]")
    assert run(tmp_path / "run", "wandb", 2).count("no longer logged to wandb (") == 1
    assert len(list(read_records(tmp_path / "run" / "episodes"))) == 2
