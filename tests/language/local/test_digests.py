"""Digests of weights: the same wherever they are, others for any other weights; adapters know their base by them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the extra housewise[local] is not installed")

import torch
from safetensors.torch import load_file, save_file

from housewise.language import ChatModelError
from housewise.language.adapters import bundled_adapters
from housewise.language.local.adapters import BASE_MODEL, check_adapter, save_base_weights
from housewise.language.local.digests import weights_digest
from tests.language.tiny import save_tiny_adapter, save_tiny_model

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


def resave(folder: Path, size: str) -> None:
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    network.save_pretrained(folder, max_shard_size=size)


def pickle_weights(folder: Path) -> None:
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()


def test_the_same_weights_have_one_digest_in_any_folder_and_in_any_parts(model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(model, tmp_path / "copy")
    assert weights_digest(copy) == weights_digest(str(model))
    resave(copy, "20KB")
    assert len(list(copy.glob("*.safetensors"))) > 1
    assert weights_digest(copy) == weights_digest(model)


@pytest.mark.parametrize("number", range(11))
def test_every_tensor_counts(model: Path, tmp_path: Path, number: int) -> None:
    copy = shutil.copytree(model, tmp_path / "copy")
    tensors = load_file(copy / WEIGHTS)
    name = sorted(tensors)[number % len(tensors)]
    tensors[name] += 1e-3
    save_file(tensors, copy / WEIGHTS, metadata={"format": "pt"})
    assert weights_digest(copy) != weights_digest(model)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_small_adapter_that_was_merged_counts_in_large_tensors(tmp_path: Path, dtype: torch.dtype) -> None:
    """Most weights of a large tensor are not read, and in half precision most of them stay as they were."""
    torch.manual_seed(0)
    weight = torch.randn(512, 512) / 20
    change = torch.randn(512, 1) @ torch.randn(1, 512) * 1e-5
    digests = []
    for number, tensor in enumerate((weight, weight + change)):
        folder = tmp_path / str(number)
        folder.mkdir()
        save_file({"weight": tensor.to(dtype)}, folder / WEIGHTS)
        digests.append(weights_digest(folder))
    assert None not in digests and digests[0] != digests[1]


def test_pickled_weights_are_told_apart(tmp_path: Path) -> None:
    folders = [save_tiny_model(tmp_path / str(number), seed=number // 2) for number in range(3)]
    for folder in folders:
        pickle_weights(folder)
    first, same, other = map(weights_digest, folders)
    assert first is not None and first == same and first != other


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 64, b"\x08" + b"\0" * 7 + b"[1, 2, 3]", b"\x02" + b"\0" * 7 + b"{}"]
)
def test_damaged_weights_have_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / WEIGHTS).write_bytes(content)
    assert weights_digest(tmp_path) is None
    assert weights_digest(tmp_path / "nothing") is None


def trained_on(model: Path, folder: Path) -> Path:
    adapter = save_tiny_adapter(model, folder)
    save_base_weights(adapter, str(model))
    return adapter


def change(model: Path) -> None:
    tensors = load_file(model / WEIGHTS)
    save_file({name: tensor * 1.01 for name, tensor in tensors.items()}, model / WEIGHTS, metadata={"format": "pt"})


def nothing(model: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("name", "alter", "fits"),
    [("elsewhere/tiny", nothing, True), ("renamed", nothing, True), ("elsewhere/tiny", change, False)],
)
def test_an_adapter_goes_by_the_weights_and_not_by_the_name(
    model: Path, tmp_path: Path, name: str, alter: Callable[[Path], None], fits: bool
) -> None:
    adapter, other = trained_on(model, tmp_path / "adapter"), shutil.copytree(model, tmp_path / name)
    alter(other)
    if fits:
        assert check_adapter(str(other), adapter) == adapter
        return
    with pytest.raises(ChatModelError) as refused:
        check_adapter(str(other), adapter)
    line = str(refused.value)
    assert str(model) in line and str(other) in line and BASE_MODEL in line and "\n" not in line


def test_without_a_digest_an_adapter_goes_by_the_name(model: Path, tmp_path: Path) -> None:
    adapter, other = save_tiny_adapter(model, tmp_path / "adapter"), shutil.copytree(model, tmp_path / "other")
    with pytest.raises(ChatModelError, match="it was trained on"):
        check_adapter(str(other), adapter)
    change(model_of_that_name := shutil.copytree(model, tmp_path / "elsewhere" / "tiny"))
    assert check_adapter(str(model_of_that_name), adapter) == adapter


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"name": "tiny"}), json.dumps({"name": "a", "digest": 3})])
def test_a_damaged_file_about_the_base_is_named(model: Path, tmp_path: Path, content: str) -> None:
    adapter = trained_on(model, tmp_path / "adapter")
    (adapter / BASE_MODEL).write_text(content)
    with pytest.raises(ChatModelError, match=rf"{BASE_MODEL}: not the name of the weights.*delete it"):
        check_adapter(str(model), adapter)


@pytest.mark.parametrize("adapter", bundled_adapters())
@pytest.mark.parametrize("name", ["smollm2", "elsewhere/SmolLM2-135M-Instruct"])
def test_bundled_adapters_fit_their_base_under_all_its_names(adapter: str, name: str) -> None:
    assert check_adapter(name, adapter).is_dir()
