"""The folder that all trainings share."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.core.folder_locks import exclusive_lock
from housewise.selftrain.adapt.adapt_training import AdaptTraining
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.basis.guidance_training import GuidanceTraining
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.selftrain.stars.goal_training import GoalTraining
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.selftrain.training_folder import TrainingFolder
from housewise.terminal.selftrain_progress import TrainingDisplay
from tests.selftrain.tiny import pair


def test_a_phase_is_trained_by_one_program_at_a_time(tmp_path: Path) -> None:
    """As when two commands for ADAPT, which share the folder, reach its warm-up together."""
    start = ModelReference(model=f"local:{tmp_path / 'model'}")
    training = TrainingFolder(tmp_path, start, TrainingDisplay(Console(quiet=True)))
    with exclusive_lock(tmp_path / "warm-up"), pytest.raises(UserError, match="another program is writing there"):
        training.train("warm-up: train", "warm-up", [pair(0)], TrainingConfig())
    assert not (tmp_path / "warm-up" / "pairs.jsonl").exists()


def test_an_address_that_no_training_asks_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    start = ModelReference(model="local:no-such-model")
    training = TrainingFolder(tmp_path, start, TrainingDisplay(Console(quiet=True)), base_url="http://localhost:1/v1")
    with pytest.raises(UserError, match=r"base_url: training on this machine asks no server; leave it out, .*openai$"):
        training.check_trainer(TrainingConfig())
    with pytest.raises(UserError, match=r"to train here and play behind .* --model local:\S+ --rollouts vllm=URL$"):
        training.check_trainer(TrainingConfig(), has_rollouts=True)


def test_models_without_their_settings_are_not_gone_on_from(tmp_path: Path) -> None:
    training = TrainingFolder(tmp_path, ModelReference(model="local"), TrainingDisplay(Console(quiet=True)))
    assert not training.has_begun("iteration-*")
    (tmp_path / "iteration-1").mkdir()
    (tmp_path / "iteration-1" / "model.json").write_text("{}")
    with pytest.raises(UserError, match=r"has trained models, but no config\.json; restore that file"):
        training.has_begun("imitate", "iteration-*")
    assert not training.has_begun("imitate")
    (tmp_path / "config.json").write_text("{}")
    assert training.has_begun("imitate", "iteration-*")


@pytest.mark.parametrize(
    ("training", "config"),
    [
        (GuidanceTraining, GuidanceTrainingConfig),
        (GoalTraining, GoalTrainingConfig),
        (AdaptTraining, AdaptTrainingConfig),
    ],
)
def test_an_adapter_of_another_system_is_not_trained_on(training: Any, config: Any, tmp_path: Path) -> None:
    settings = config.load(overrides=["run.models.agent.adapter=tidy"])
    with pytest.raises(
        UserError, match="adapter tidy: was trained in another system; use it with --system personalize"
    ):
        training(settings, tmp_path, TrainingDisplay(Console(quiet=True)))
    assert not any(tmp_path.iterdir())
