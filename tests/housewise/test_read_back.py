"""Two runs of the same houses, one of them killed and gone on with, as the libraries of other tools read them."""

import importlib.util
import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from housewise.core.record import Record
from housewise.export import export_run
from housewise.rollout.record_reader import read_records
from tests.commands import run_module, started_module
from tests.housewise.tracking.reading import event_files, offline

HOUSES = 5
TRACKERS = [name for name, library in (("tensorboard", "tensorboardX"), ("wandb", "wandb")) if
            importlib.util.find_spec(library)]  # fmt: skip


def command(out: Path) -> list[str]:
    settings = [f"--houses={HOUSES}", "--person=ada", "seed=1", "max_steps=40"]
    trackers = [word for name in TRACKERS for word in ("--log-to", name)]
    return ["run", "--planner", "scripted", "--out", str(out), *settings, *trackers]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of both runs, which have one name."""
    folder = tmp_path_factory.mktemp("runs")
    found = {name: folder / name / "run" for name in ("whole", "killed")}
    with started_module("housewise.cli", command(found["killed"])) as program:
        while program.poll() is None and len(list(found["killed"].glob("episodes/*.jsonl"))) < 2:
            time.sleep(0.002)
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL
    for out in found.values():
        done = run_module("housewise.cli", command(out))
        assert done.returncode == 0 and "no longer logged" not in done.stdout, done.stderr
    return found


def records(run: Path) -> list[Record]:
    """The records of a run in the order of their points."""
    order = json.loads((run / "tracking.json").read_text())
    found = {record.name: record for record in read_records(run)}
    assert sorted(order) == sorted(found) and len(found) == HOUSES
    return [found[name] for name in order]


def rates(run: Path) -> list[float]:
    return [record.result.scores["success_rate"] for record in records(run)]


@pytest.mark.parametrize("name", ["whole", "killed"])
def test_tensorboard_has_every_episode_once_in_the_units_of_records(runs: dict[str, Path], name: str) -> None:
    pytest.importorskip("tensorboardX", reason="the extra housewise[tensorboard] is not installed")
    points = event_files(runs[name] / "tensorboard")
    expected = rates(runs[name])
    assert points["episodes/success_rate"] == [(step, pytest.approx(rate)) for step, rate in enumerate(expected, 1)]
    metrics = json.loads((runs[name] / "metrics.json").read_text())
    assert metrics["overall"]["success_rate"] == pytest.approx(np.mean(expected)) != 0


@pytest.mark.parametrize("name", ["whole", "killed"])
def test_wandb_has_every_episode_once_in_the_units_of_records(runs: dict[str, Path], name: str) -> None:
    pytest.importorskip("wandb", reason="the extra housewise[wandb] is not installed")
    rows = offline(runs[name], HOUSES)
    assert [row["episodes/step"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["episodes/success_rate"] for row in rows] == pytest.approx(rates(runs[name]))


def test_rerun_has_a_recording_of_each_episode_of_each_run(runs: dict[str, Path], tmp_path: Path) -> None:
    chunk = pytest.importorskip("rerun.chunk", reason="no rerun-sdk is installed that reads recordings: 0.40 or later")
    ids = []
    for name, run in runs.items():
        assert export_run(run, "rerun", tmp_path / name) == HOUSES
        for path in (tmp_path / name).glob("*.rrd"):
            ids += [entry.recording_id for entry in chunk.RrdReader(path).recordings()]
    assert len(ids) == len(set(ids)) == 2 * HOUSES


def test_lerobot_has_a_data_set_of_each_run(runs: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("lerobot", reason="lerobot is not installed: pip install 'housewise[lerobot]'")
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    for name, run in runs.items():
        assert export_run(run, "lerobot", tmp_path / name) == HOUSES
        dataset = LeRobotDataset("housewise/run", root=tmp_path / name, video_backend="pyav")
        told = json.loads((tmp_path / name / "meta" / "housewise.json").read_text())["episodes"]
        assert dataset.num_episodes == HOUSES and dataset[0]["observation.images.front"].shape == (3, 128, 128)
        lengths = np.bincount(np.array(dataset.hf_dataset["episode_index"]).ravel())
        assert {each["record"]: lengths[each["episode_index"]] for each in told} == {
            record.name: record.result.scores["steps"] for record in read_records(run)
        }
