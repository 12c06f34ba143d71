"""What is printed of a training."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from housewise.selftrain.trainers import TrainedModel
from housewise.terminal.selftrain_progress import run_training


@pytest.mark.parametrize(
    ("metrics", "learned"),
    [
        ({}, ""),
        ({"pairs": 12.0, "tokens": 900.0}, "learned: 12 lessons\n"),
        (
            {"pairs": 12.0, "steps": 3.0, "first_loss": 2.0, "last_loss": 0.5, "seconds": 4.0},
            "learned: 12 lessons in 3 steps, loss 2.00 to 0.50, 4 s\n",
        ),
    ],
    ids=["a trainer of one's own", "a fine-tuning API", "local"],
)
def test_a_training_prints_what_its_trainer_reports(metrics: dict[str, float], learned: str, tmp_path: Path) -> None:
    printed = io.StringIO()
    trained = TrainedModel(model="local", adapter="runs/a b/adapter", metrics=metrics)
    run_training(lambda seen: trained, "goals", "stars", tmp_path, Console(file=printed, width=200))
    begun, _, ended = printed.getvalue().partition("\n")
    assert begun == f"training in goals: {tmp_path}"
    assert ended == f"{learned}use it:  housewise run --system stars --model local --adapter 'runs/a b/adapter'\n"


def test_a_model_without_an_adapter_is_played_with_the_settings_of_its_training(tmp_path: Path) -> None:
    printed, out = io.StringIO(), tmp_path / "a b"
    trained = TrainedModel(model="ft:base:x", adapter=None)
    run_training(lambda seen: trained, "guidance", "basis", out, Console(file=printed, width=900))
    settings = f"--config '{out}/config.json'"
    assert f"use it:  housewise run --system basis {settings} --model ft:base:x\n" in printed.getvalue()
    full = TrainedModel(model="local:full", adapter=None)
    run_training(lambda seen: full, "guidance", "basis", out, Console(file=printed, width=900))
    assert f"{settings} --model local:full --adapter none\n" in printed.getvalue()
