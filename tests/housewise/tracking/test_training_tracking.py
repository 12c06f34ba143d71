"""Self-training followed in TensorBoard, killed and gone on with."""

import csv
import json
import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
pytest.importorskip("tensorboardX", reason="the extra housewise[tensorboard] is not installed")

from tests.housewise.tracking.reading import event_files
from tests.selftrain.personalize.learner import Learner


@pytest.mark.slow
def test_a_self_training_that_goes_on_goes_on_with_its_curves(tmp_path: Path) -> None:
    learner, out = Learner(tmp_path), tmp_path / "out"
    more = ("--log-to", "tensorboard", "replay_fraction=0.5", "iterations=1")
    with learner.start(out, *more) as process:
        while process.poll() is None and not (out / "imitate" / "curve.csv").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not (out / "imitate" / "model.json").exists()
    assert "no longer logged" not in learner.run(out, *more).stdout
    points = event_files(out / "tensorboard")
    for name, curve in points.items():
        steps = [step for step, _ in curve]
        assert steps == sorted(set(steps)), name
    for phase in ("imitate", "iteration-1"):
        with (out / phase / "curve.csv").open() as stream:
            losses = {int(row["step"]): float(row["loss"]) for row in csv.DictReader(stream)}
        assert losses and dict(points[f"{phase}/training/loss"]) == pytest.approx(losses)
    phases = json.loads((out / "summary.json").read_text())["phases"]
    tasks, _ = next(iter(phases[0]["evaluation"].items()))
    success = [phase["evaluation"][tasks]["success_rate"] for phase in phases]
    assert dict(points[f"phases/{tasks}/success_rate"]) == pytest.approx(dict(enumerate(success)))
    assert [step for step, _ in points["phases/training/seconds"]] == [1, 2]
    tried = len(list((out / "iteration-1" / "grow" / "episodes").glob("*.jsonl")))
    assert [step for step, _ in points["iteration-1/grow/reward"]] == list(range(1, tried + 1))
