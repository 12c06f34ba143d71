"""Checkpoints in a folder of somebody else's are pickles: none of them runs anything, and each is told of in a line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.selftrain.trainers.base import Start
from housewise.selftrain.trainers.local import LocalTrainer
from tests.selftrain.tiny import pair, save_learner, training

PAIRS = [pair(number) for number in range(6)]


class Touch:
    """What makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self._path,)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"local:{save_learner(tmp_path_factory.mktemp('learner') / 'tiny')}"


def stopped(model: str, folder: Path) -> Path:
    """The last checkpoint of a training that was stopped in its middle."""

    def stop(done: int, total: int, words: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocalTrainer(training(epochs=3, checkpoint_steps=1), progress=stop).train(PAIRS, Start(model=model), folder)
    return max((folder / "checkpoints").glob("checkpoint-*"))


@pytest.mark.parametrize(
    "name", ["optimizer.pt", "scheduler.pt", "rng_state.pth", "adapter_model.bin", "training_args.bin"]
)
def test_a_pickle_in_a_checkpoint_runs_nothing(model: str, tmp_path: Path, name: str) -> None:
    checkpoint = stopped(model, tmp_path / "training")
    trap = tmp_path / "it-ran"
    (checkpoint / name).write_bytes(pickle.dumps(Touch(trap)))
    if name == "adapter_model.bin":
        (checkpoint / "adapter_model.safetensors").unlink()
    try:
        LocalTrainer(training(epochs=3, checkpoint_steps=1)).train(PAIRS, Start(model=model), tmp_path / "training")
    except UserError as error:
        assert str(checkpoint) in str(error) and "delete it" in str(error)
    else:
        # Nobody reads it.
        assert name == "training_args.bin"
    assert not trap.exists()
