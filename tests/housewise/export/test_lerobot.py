import json
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.core.errors import UserError
from housewise.export import export_run
from housewise.export.episode_playback import Playback
from housewise.systems.personalize.record import HouseRecord
from tests.commands import run_module
from tests.housewise.export.conftest import STEPS

pytest.importorskip("lerobot", reason="lerobot is not installed: pip install 'housewise[lerobot]'")


def _no_network(*_: Any) -> None:
    raise AssertionError("something reached for the network")


@pytest.fixture(scope="module")
def dataset(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("lerobot") / "dataset"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _no_network)
        patch.setattr(socket, "getaddrinfo", _no_network)
        assert export_run(run, "lerobot", out) == 2
        from lerobot.datasets.lerobot_dataset import LeRobotDataset

        # The other decoder takes libraries of the system's.
        return LeRobotDataset("housewise/run", root=out, video_backend="pyav")


def test_there_is_a_frame_for_every_step(dataset: Any, played: list[Playback], records: list[HouseRecord]) -> None:
    assert (dataset.num_episodes, len(dataset), dataset.fps) == (2, 2 * STEPS, 10)
    features = dataset.features
    assert features["observation.images.front"]["dtype"] == "video"
    assert list(features["action"]["names"]) == list(played[0].actions)
    assert list(features["observation.state"]["names"]) == list(played[0].state)
    steps = [frame for playback in played for frame in playback.steps]
    rows = dataset.hf_dataset
    assert np.allclose(np.array(rows["observation.state"]), [frame.state for frame in steps])
    assert np.array(rows["action"]).argmax(axis=1).tolist() == [frame.action for frame in steps]
    assert np.array(rows["action"]).sum(axis=1).tolist() == [1.0] * len(steps)
    assert np.array(rows["next.reward"]).ravel().tolist() == [frame.reward for frame in steps]
    assert np.flatnonzero(np.array(rows["next.done"])).tolist() == [STEPS - 1, 2 * STEPS - 1]


def test_pictures_are_those_that_were_seen(dataset: Any, played: list[Playback]) -> None:
    for number in (0, 1, STEPS - 1, STEPS, 2 * STEPS - 1):
        item = dataset[number]
        shown = item["observation.images.front"].numpy().transpose(1, 2, 0) * 255
        episode, step = divmod(number, STEPS)
        seen, other = (played[at].frames[step].picture.astype(float) for at in (episode, 1 - episode))
        assert np.abs(shown - seen).mean() < 6 < np.abs(shown - other).mean()
        assert item["task"] == played[0].job and "ada" in item["task"]


def test_where_it_comes_from_is_told(dataset: Any, records: list[HouseRecord]) -> None:
    told = json.loads((dataset.root / "meta" / "housewise.json").read_text())
    mapping = [(each["episode_index"], each["run"], each["record"]) for each in told["episodes"]]
    assert mapping == [(number, "run", record.name) for number, record in enumerate(records)]
    assert told["episodes"][0]["scores"]["success_rate"] == records[0].success_rate
    assert "nominal" in told["fps"]


def test_the_command_says_what_it_wrote_and_no_codec_does(run: Path, tmp_path: Path) -> None:
    done = run_module("housewise.cli", ["export", run, "--to", "lerobot", "--out", tmp_path / "o"])
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", ["lerobot:", str(tmp_path / "o")])
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in (tmp_path / "o").rglob("*"))


def test_episodes_without_a_step_are_left_out(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "episodes", tmp_path / "run" / "episodes")
    first, second = sorted((tmp_path / "run" / "episodes").iterdir())
    lines = [line for line in first.read_text().splitlines() if not line.startswith('{"type":"action"')]
    first.write_text("\n".join(lines) + "\n")
    told: list[str] = []
    export_run(tmp_path / "run", "lerobot", tmp_path / "out", tell=told.append)
    assert told[-1] == f"left out, the robot took no step: 1 ({first.stem})"
    assert json.loads((tmp_path / "out" / "meta" / "info.json").read_text())["total_episodes"] == 1
    second.unlink()
    with pytest.raises(UserError, match="no step in any episode"):
        export_run(tmp_path / "run", "lerobot", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_an_interrupted_export_leaves_nothing(run: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_run(run, "lerobot", tmp_path / "out", progress=interrupt)
    assert not list(tmp_path.iterdir())
