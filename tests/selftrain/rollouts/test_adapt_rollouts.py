"""ADAPT's rollouts behind a server are those in process: the warm-up's adapter is loaded there."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from rich.console import Console

from housewise.selftrain.adapt.adapt_training import AdaptTraining
from housewise.selftrain.adapt.fold_training import FoldTraining
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.terminal.selftrain_progress import TrainingDisplay
from tests.lora_server import LoraServer
from tests.selftrain.tiny import save_talker
from tests.servers import serving

SETTINGS = [
    "run.person=maya", "run.task=1", "run.max_steps=3", "run.workers=1", "run.sampling.max_tokens=40",
    "warm_up.people=1", "warm_up.each=1", "warm_up.questions=[0]",
    *(f"{section}.{key}" for section in ("warm_up.training", "imitation", "preference")
      for key in ("device=cpu", "dtype=float32", "max_example_tokens=16384")),
]  # fmt: skip


def rollouts(model: Path, folder: Path, *settings: str) -> list[list[dict[str, Any]]]:
    """The events of the student's breakfasts after a small warm-up, without how long they took."""
    config = AdaptTrainingConfig.load(overrides=[f"run.model=local:{model}", *SETTINGS, *settings])
    fold = FoldTraining(AdaptTraining(config, folder, TrainingDisplay(Console(quiet=True))), ["maya"])
    events = [[event.model_dump(mode="json") for event in record.events] for record in fold.rollouts]
    return [[{key: each[key] for key in each if "second" not in key} for each in said] for said in events]


@pytest.mark.slow
def test_a_student_behind_a_server_does_what_it_does_in_process(tmp_path: Path) -> None:
    model = save_talker(tmp_path / "talker", context=16384)
    local = rollouts(model, tmp_path / "local")
    with serving(LoraServer(str(model), max_rank=32)) as server:
        served = rollouts(model, tmp_path / "served", "rollouts.engine=vllm", f"rollouts.servers=[{server.url}]")
        [name] = server.adapters
    assert name.startswith("warm-up-")
    assert (tmp_path / "served" / "fold" / "warm-up" / "server_check.json").exists()
    assert len(local) == 1 and local[0] and served == local
