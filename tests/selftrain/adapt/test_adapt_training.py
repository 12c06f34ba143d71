"""Learning rates of a training for ADAPT: they may change until something is learned with them."""

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.selftrain.adapt.adapt_training import AdaptTraining
from housewise.selftrain.adapt.settings import load_adapt_training
from housewise.selftrain.training_folder import TrainingObserver
from tests.selftrain.tiny import save_learner

Unheard: type[TrainingObserver] = type("Unheard", (), {})
"""Nothing is to be told where nothing begins."""


@pytest.mark.parametrize(
    ("section", "learned"),
    [
        ("warm_up.training", "warm-up/model.json"),
        ("imitation", "fold-0/STaR-GATE/pairs.jsonl"),
        ("preference", "fold-0/Reflection-DPO/preferences.jsonl"),
    ],
)
def test_a_rate_may_change_until_something_is_learned_with_it(tmp_path: Path, section: str, learned: str) -> None:
    model, out = save_learner(tmp_path / "tiny"), tmp_path / "out"

    def begin(*settings: str) -> None:
        AdaptTraining(load_adapt_training(overrides=[f"run.model=local:{model}", *settings]), out, Unheard())

    begin()
    begin(f"{section}.learning_rate=1e-6")
    with pytest.raises(UserError, match=r"other settings .*rank"):
        begin(f"{section}.learning_rate=1e-6", f"{section}.rank=3")
    path = out / learned
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    (path.parent / "model.json").write_text(f'{{"model": "local:{model}"}}')
    begin(f"{section}.learning_rate=1e-6")
    with pytest.raises(UserError, match=r"other settings .*learning_rate"):
        begin(f"{section}.learning_rate=1e-7")
