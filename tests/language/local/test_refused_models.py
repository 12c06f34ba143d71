"""Folders that hold no model that runs here: one line says why, for those who run it and for those who train it."""

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

from housewise.language import ChatModelError
from housewise.language.local.devices import find_device
from housewise.language.local.model import LocalChatModel
from housewise.language.local.model_runner import check_architecture
from housewise.language.local.weights import load_outline
from tests.language.kinds import save_kind
from tests.language.tiny import save_tiny_model


def refusals(folder: Path) -> list[str]:
    """What is said when a model is opened, and when it is checked without its weights."""
    said = []
    for use in (LocalChatModel, lambda model: load_outline(model, None)):
        with pytest.raises(ChatModelError) as caught:
            use(str(folder))
        said.append(str(caught.value))
        assert "\n" not in said[-1]
    return said


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("smolvlm", "a smolvlm model reads images, and models with images are not run here"),
        ("qwen2_5_vl", "a qwen2_5_vl model reads images, and models with images are not run here"),
        ("t5", "a t5 model does not go on with texts"),
    ],
)
def test_a_model_of_another_kind(tmp_path: Path, kind: str, words: str) -> None:
    opened, checked = refusals(save_kind(tmp_path, kind))
    assert words in opened and checked == opened


def _remove_tokenizer(folder: Path) -> None:
    for path in folder.glob("token*"):
        path.unlink()


def _leave_sentencepiece(folder: Path) -> None:
    _remove_tokenizer(folder)
    (folder / "tokenizer.model").write_bytes(b"\n\x05piece")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_remove_tokenizer, "it has no tokenizer; copy the tokenizer's files"),
        pytest.param(
            _leave_sentencepiece,
            r"its tokenizer is tokenizer.model alone, .* run pip install sentencepiece",
            marks=pytest.mark.skipif(importlib.util.find_spec("sentencepiece") is not None, reason="has sentencepiece"),
        ),
    ],
)
def test_a_folder_without_a_tokenizer_that_can_be_read(
    tmp_path: Path, damage: Callable[[Path], None], words: str
) -> None:
    folder = save_tiny_model(tmp_path)
    damage(folder)
    for said in refusals(folder):
        assert re.search(words, said)


@pytest.mark.parametrize("kind", ["mamba", "falcon_h1", "granitemoehybrid"])
def test_a_model_with_a_recurrent_state(tmp_path: Path, kind: str) -> None:
    folder = save_kind(tmp_path, kind)
    with pytest.raises(ChatModelError, match="keeps a recurrent state"):
        LocalChatModel(str(folder))
    network, _ = load_outline(str(folder), None)
    assert network.device.type == "meta"
    with pytest.raises(ValueError, match="keeps a recurrent state"):
        check_architecture(network)


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("nonsense", "is not a device; use auto, cpu or cuda"),
        ("", "is not a device"),
        ("meta", "sees no META device; use auto or cpu"),
        ("cpu:3", "sees CPU devices up to cpu:0 alone"),
        ("cuda:99", r"sees (no CUDA device|CUDA devices up to cuda:\d+ alone); use auto or cpu"),
    ],
)
def test_a_device_that_is_not_there(device: str, words: str) -> None:
    with pytest.raises(ChatModelError, match=f"^setting: .*{words}"):
        find_device("setting", device)
    assert find_device("setting", "cpu").type == "cpu"
