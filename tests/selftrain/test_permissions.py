"""Weights can be read by whom the umask lets read, as the files beside them."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.selftrain.publish_adapter import publish_adapter
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference
from tests.selftrain.tiny import pair, save_learner, training


@pytest.fixture(params=[0o022, 0o007, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_weights_have_the_permissions_of_new_files(umask: int, tmp_path: Path) -> None:
    model = f"local:{save_learner(tmp_path / 'tiny')}"
    for method in ("lora", "full"):
        trainer = LocalTrainer(training(epochs=1, method=method))
        trainer.train([pair(0), pair(1)], ModelReference(model=model), tmp_path / method)
    publish_adapter(tmp_path / "lora" / "adapter", tmp_path / "shipped")
    folders = ["lora/adapter", "full/model", "shipped"]
    written = [path for folder in folders for path in (tmp_path / folder).iterdir()]
    assert len([path for path in written if path.suffix == ".safetensors"]) == 3
    assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in written} == {
        path.name: oct(0o666 & ~umask) for path in written
    }
