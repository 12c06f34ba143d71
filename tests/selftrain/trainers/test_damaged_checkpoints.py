"""Checkpoints that were damaged, or are somebody else's pickles, are passed over and said; nothing in them is run."""

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference
from tests.selftrain.tiny import adapter_weights, pair, training

PAIRS = [pair(number) for number in range(6)]
CONFIG = training(epochs=3, checkpoint_steps=1)
PICKLES = ["optimizer.pt", "scheduler.pt", "rng_state.pth"]
FILES = [*PICKLES, "adapter_model.safetensors", "adapter_config.json", "trainer_state.json"]


class Touch:
    """What makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self._path,)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def whole(model: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The weights of a training that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    LocalTrainer(CONFIG).train(PAIRS, ModelReference(model=model), folder)
    return adapter_weights(folder)


@pytest.fixture(scope="module")
def begun(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was stopped behind its second checkpoint."""
    folder = tmp_path_factory.mktemp("begun")

    def stop(done: int, total: int, words: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LocalTrainer(CONFIG, progress=stop).train(PAIRS, ModelReference(model=model), folder)
    return folder


def go_on(model: str, begun: Path, folder: Path, damage: Callable[[Path], None]) -> tuple[bytes, int]:
    """Go on with a copy of a training whose checkpoints are damaged first; the weights, and the first step."""
    shutil.copytree(begun, folder)
    damage(folder / "checkpoints")
    steps: list[int] = []
    LocalTrainer(CONFIG, progress=lambda done, *_: steps.append(done)).train(PAIRS, ModelReference(model=model), folder)
    return adapter_weights(folder), min(steps)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeroed(path: Path) -> None:
    """As a machine that lost power leaves it: of the right length, and nothing in it."""
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize(
    ("damage", "name"),
    [*((truncated, name) for name in FILES), (zeroed, "adapter_model.safetensors"), (Path.unlink, "optimizer.pt")],
)
def test_the_checkpoint_before_a_damaged_one_is_taken(
    model: str,
    whole: bytes,
    begun: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    name: str,
) -> None:
    found = go_on(model, begun, tmp_path / "r", lambda folder: damage(folder / "checkpoint-2" / name))
    assert found == (whole, 2)
    [line] = [line for line in capfd.readouterr().err.splitlines() if line.startswith("note: ")]
    assert "checkpoint-2: damaged" in line and "goes on from checkpoint-1" in line


def test_training_begins_anew_where_every_checkpoint_is_damaged(
    model: str, whole: bytes, begun: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def damage(folder: Path) -> None:
        truncated(folder / "checkpoint-1" / "adapter_model.safetensors")
        truncated(folder / "checkpoint-2" / "optimizer.pt")

    assert go_on(model, begun, tmp_path / "r", damage) == (whole, 1)
    assert "checkpoint-1: damaged, or cut off while it was written, and removed; training begins anew" in (
        capfd.readouterr().err
    )


@pytest.mark.parametrize("has_digests", [True, False])
@pytest.mark.parametrize("name", [*PICKLES, "adapter_model.bin"])
def test_a_pickle_in_a_checkpoint_runs_nothing(
    model: str,
    whole: bytes,
    begun: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    name: str,
    has_digests: bool,
) -> None:
    trap = tmp_path / "it-ran"

    def damage(folder: Path) -> None:
        (folder / "checkpoint-2" / name).write_bytes(pickle.dumps(Touch(trap)))
        if name == "adapter_model.bin":
            (folder / "checkpoint-2" / "adapter_model.safetensors").unlink()
        if not has_digests:
            for path in folder.glob("*/digests.json"):
                path.unlink()

    assert go_on(model, begun, tmp_path / "r", damage) == (whole, 2)
    assert "training goes on from checkpoint-1" in capfd.readouterr().err
    assert not trap.exists()


def test_checkpoints_of_earlier_versions_are_gone_on_from(
    model: str, whole: bytes, begun: Path, tmp_path: Path
) -> None:
    def damage(folder: Path) -> None:
        for path in folder.glob("*/digests.json"):
            path.unlink()

    assert go_on(model, begun, tmp_path / "r", damage) == (whole, 3)
