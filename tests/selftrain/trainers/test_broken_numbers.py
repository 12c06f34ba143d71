"""Numbers that break end a training at that step, and what has learned nothing is no trained model."""

import csv
import math
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from safetensors.torch import load_file

from housewise.core.errors import UserError
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.trainers.local import LocalPreferenceTrainer, LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference
from tests.selftrain.tiny import PREFERENCES, pair, save_learner, training

PAIRS = [pair(number) for number in range(8)]
SMALL = {"device": "cpu", "dtype": "float32", "batch": 2, "rank": 2, "checkpoint_steps": 1}


def check_ended(folder: Path, message: str) -> None:
    """No model; the curve says where it broke, and the checkpoints are of the steps before."""
    assert not any((folder / name).exists() for name in ("model.json", "adapter", "model"))
    rows = list(csv.DictReader((folder / "curve.csv").open()))
    broken = len(rows)
    assert f"step {broken} of " in message
    assert all(math.isfinite(float(row["loss"])) and math.isfinite(float(row["grad_norm"])) for row in rows[:-1])
    checkpoints = sorted((folder / "checkpoints").glob("checkpoint-*"))
    assert max(int(path.name.partition("-")[2]) for path in checkpoints) == broken - 1
    for path in (path for checkpoint in checkpoints for path in checkpoint.glob("*.safetensors")):
        assert all(bool(weights.isfinite().all()) for weights in load_file(path).values())


@pytest.mark.parametrize(("method", "key"), [("lora", "training.learning_rate"), ("full", "imitation_learning_rate")])
def test_training_of_replies_ends_where_numbers_break(model: str, tmp_path: Path, method: str, key: str) -> None:
    rate: dict[str, Any] = {"imitation_learning_rate": 1e16} if key.startswith("imitation") else {}
    settings = load_selftraining(settings={"training": {**SMALL, "method": method, "learning_rate": 1e16}, **rate})
    config = settings.imitation_training.model_copy(update={"epochs": 8.0})
    with pytest.raises(UserError, match=rf"is not a finite number; lower {key}=1e\+16") as error:
        LocalTrainer(config).train(PAIRS, ModelReference(model=model), tmp_path)
    check_ended(tmp_path, str(error.value))


def test_training_of_preferences_ends_where_numbers_break(model: str, tmp_path: Path) -> None:
    overrides = [f"preference.{key}={value}" for key, value in {**SMALL, "epochs": 8, "learning_rate": 1e30}.items()]
    trainer = LocalPreferenceTrainer(AdaptTrainingConfig.load(overrides=overrides).preference)
    with pytest.raises(UserError, match=r"not a finite number; lower preference\.learning_rate=1e\+30") as error:
        trainer.train(PREFERENCES, ModelReference(model=model), tmp_path)
    check_ended(tmp_path, str(error.value))


@pytest.mark.slow
def test_several_processes_end_where_numbers_break(
    model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    launcher = f"{sys.executable} -m torch.distributed.run --standalone --nproc_per_node 2"
    settings = load_selftraining(
        settings={"training": {**SMALL, "launcher": launcher}, "imitation_learning_rate": 1e16}
    )
    with pytest.raises(UserError, match="its output above says why"):
        LocalTrainer(settings.imitation_training).train(PAIRS, ModelReference(model=model), tmp_path)
    told = [line for line in capfd.readouterr().err.splitlines() if "lower imitation_learning_rate=1e+16" in line]
    assert told
    check_ended(tmp_path, told[0])


def test_a_model_that_gives_no_numbers_is_not_the_learning_rates_fault(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    weights = save_learner(tmp_path / "broken") / "model.safetensors"
    save_file({name: torch.full_like(value, math.nan) for name, value in load_file(weights).items()}, weights)
    with pytest.raises(UserError, match=r"step 1 of 8: the loss is not a finite number; .*training\.dtype=float32"):
        LocalTrainer(training()).train(PAIRS, ModelReference(model=f"local:{tmp_path / 'broken'}"), tmp_path / "out")


@pytest.mark.parametrize("method", ["lora", "full"])
def test_one_step_learns(model: str, tmp_path: Path, method: str) -> None:
    trainer = LocalTrainer(training(epochs=1, batch=8, method=method))
    assert trainer.train(PAIRS, ModelReference(model=model), tmp_path).metrics["steps"] == 1
    [row] = csv.DictReader((tmp_path / "curve.csv").open())
    assert float(row["learning_rate"]) == 0.02


def test_many_steps_are_warmed_up_as_before(model: str, tmp_path: Path) -> None:
    LocalTrainer(training(epochs=6)).train(PAIRS, ModelReference(model=model), tmp_path)
    rates = [float(row["learning_rate"]) for row in csv.DictReader((tmp_path / "curve.csv").open())]
    assert len(rates) == 24 and rates[:3] == [0, 0.01, 0.02]


@pytest.mark.parametrize(("method", "rate"), [("lora", 1e-60), ("lora", 1e-12), ("full", 1e-30)])
def test_what_has_learned_nothing_is_no_result(model: str, tmp_path: Path, method: str, rate: float) -> None:
    config = training(method=method, learning_rate=rate)
    for _ in range(2):
        with pytest.raises(UserError, match=rf"changed nothing, .*raise training\.learning_rate={rate:g}"):
            LocalTrainer(config).train(PAIRS, ModelReference(model=model), tmp_path)
        assert not any((tmp_path / name).exists() for name in ("model.json", "adapter", "model"))
