"""What a training needs of a GPU's memory is foretold, chosen by, and refused in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.weights import load_outline
from housewise.selftrain.trainers.local import LocalPreferenceTrainer, LocalTrainer
from housewise.selftrain.trainers.memory_check import choose_passes, model_shape
from housewise.selftrain.trainers.memory_estimate import (
    GIB,
    ModelShape,
    TrainingLoad,
    adapter_parameters,
    estimate_training_memory,
)
from housewise.selftrain.trainers.trained_model import ModelReference
from tests.selftrain.tiny import PREFERENCES, pair, preference_training, save_learner, training

SEVEN = ModelShape(7_615_616_512, 28, 3584, 18944, 3584, 512, 152064)
"""Qwen2.5 7B."""
NEEDED = r"training needs about 1\.0 GiB of GPU memory"
TOKENS = 320
MEASURE = """
import sys, threading, time
import psutil
from torch.nn import functional
from housewise.language.local.weights import load_model
from housewise.selftrain.trainers.lora import add_adapter
from housewise.selftrain.trainers.packing import shared_row
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.selftrain.trainers.trl_common import predict_labels

tokens, process, most = int(sys.argv[1]), psutil.Process(), [0]
network = add_adapter(load_model("smollm2", None, "cpu", "float32")[0], TrainingConfig(), 0).train()
def watch():
    while True:
        most[0] = max(most[0], process.memory_info().rss)
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
row = shared_row([{"input_ids": [*range(9, 9 + tokens)], "labels": [-100] * (tokens - 16) + [*range(16)]}])
def measure():
    network.zero_grad()
    start = most[0] = process.memory_info().rss
    _, logits, targets = predict_labels(network, row, network.dtype)
    functional.cross_entropy(logits, targets).backward()
    return most[0] - start
print(measure())
network.gradient_checkpointing_enable()
print(measure())
"""
"""The growth of a process in one pass over an example, without checkpointing and with it."""


@pytest.fixture(scope="module")
def measured() -> dict[bool, int]:
    """Growth in bytes by whether activations are computed again."""
    # Memory is given back to the system as soon as it is free.
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(TOKENS)],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(zip((False, True), map(int, done.stdout.split()), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_pass_of_the_bundled_model_takes_what_was_estimated(measured: dict[bool, int], checkpointed: bool) -> None:
    """Within a quarter without checkpointing; with it, a few tensors of a layer decide."""
    network, _ = load_outline(SMOLLM2, None)
    load = TrainingLoad(TOKENS, 16, weight_bytes=4, is_checkpointed=checkpointed)
    estimate = estimate_training_memory(model_shape(network), load)
    gradients = 4 * adapter_parameters(model_shape(network), 32)
    expected = estimate.activations + estimate.logits + gradients
    assert measured[checkpointed] == pytest.approx(expected, rel=0.25 if not checkpointed else 0.6)


def test_a_shape_says_how_many_weights_there_are() -> None:
    network, _ = load_outline(SMOLLM2, None)
    assert ModelShape.from_config(network.config) == model_shape(network)
    assert abs(SEVEN.counted_parameters / SEVEN.parameters - 1) < 1e-3


def passes(memory: float, tokens: int = 2000, cards: int = 1, **settings: object) -> tuple[int, bool]:
    config = training(**{"batch": 8, "rank": 32, "dtype": "auto", "device": "auto"} | settings)
    found = choose_passes(config, SEVEN, [(tokens, 100)] * 16, 8, int(memory * GIB), cards)
    return found.examples, found.is_checkpointed


def test_a_pass_has_as_many_tokens_as_fit() -> None:
    assert passes(80) == (4, True), "8192 tokens, and activations computed again from a billion weights on"
    assert passes(80, tokens=200) == (8, True)
    assert passes(20) == (2, True) and passes(20, quantization="4bit") == (4, True)
    assert passes(80, micro_batch=3) == (2, True), "a divisor of the batch"
    assert passes(80, micro_batch=1, gradient_checkpointing=False) == (1, False)
    pairs = preference_training(batch=8, rank=32, micro_batch=4, dtype="auto")
    assert choose_passes(pairs, SEVEN, [(2000, 100)] * 16, 8, 24 * GIB).examples == 1, "one after another"


@pytest.mark.parametrize(
    ("memory", "settings", "words"),
    [
        (40, {"gradient_checkpointing": False, "micro_batch": 4}, "set training.gradient_checkpointing=true"),
        (12, {}, "set training.quantization=4bit (in another folder if this one has trained models"),
        (12, {"quantization": "4bit", "micro_batch": 8}, "set training.micro_batch=1"),
        (15, {"micro_batch": 1, "cards": 2, "quantization": None, "tokens": 60000}, "training.device_map=auto"),
        (4, {"quantization": "4bit"}, "lower training.max_example_tokens, use a larger GPU"),
    ],
)
def test_too_little_memory_is_one_line_with_what_to_set(memory: float, settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError) as error:
        passes(memory, **settings)  # type: ignore[arg-type]
    told = str(error.value)
    assert told.startswith("training needs about ") and "\n" not in told
    assert f"and {memory:.1f} GiB are free" in told and words in told


def test_it_is_told_before_weights_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelReference(model=f"local:{save_learner(tmp_path / 'tiny')}")
    memory = "housewise.selftrain.trainers.memory_check.gpu_memory"
    monkeypatch.setattr(memory, lambda config, is_loaded: GIB // 2)
    with pytest.raises(UserError, match=NEEDED):
        LocalTrainer(training()).check(model)
    monkeypatch.setattr(memory, lambda config, is_loaded: GIB // 2 if is_loaded else 2 * GIB)
    with pytest.raises(UserError, match=NEEDED):
        LocalTrainer(training()).train([pair(0)], model, tmp_path / "out")
    assert not list((tmp_path / "out").glob("checkpoints/*"))


def test_layers_are_not_spread_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    trainer = LocalTrainer(training(device_map="auto"))
    with pytest.raises(UserError, match="leave one of the two settings out"):
        trainer.train_in_process([pair()], ModelReference(model=f"local:{tmp_path}"), tmp_path / "out")


def test_weights_of_4_bits_need_a_package_and_an_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelReference(model=f"local:{save_learner(tmp_path / 'tiny')}")
    with pytest.raises(UserError, match=r"training\.method=full: weights of 4 bits are not trained"):
        LocalTrainer(training(quantization="4bit", method="full")).check(model)
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "bitsandbytes" else name)
    with pytest.raises(UserError, match=r"bitsandbytes is not installed; run pip install 'housewise\[quantized\]'"):
        LocalTrainer(training(quantization="4bit")).check(model)


def test_an_adapter_is_trained_beside_weights_of_4_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("bitsandbytes", reason="the extra housewise[quantized] is not installed")
    import transformers

    folder = save_learner(tmp_path / "tiny")
    config = transformers.LlamaConfig.from_pretrained(folder)
    # bitsandbytes takes matrices of a multiple of 64.
    for name, width in {"hidden_size": 64, "intermediate_size": 128, "head_dim": 32, "num_key_value_heads": 2}.items():
        setattr(config, name, width)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    start, pairs = ModelReference(model=f"local:{folder}"), [pair(number) for number in range(6)]
    better = LocalTrainer(training(quantization="4bit", epochs=6)).train(pairs, start, tmp_path / "first")
    whole = LocalTrainer(training(epochs=6)).train(pairs, start, tmp_path / "whole")
    assert better.metrics["last_loss"] == pytest.approx(whole.metrics["last_loss"], rel=0.05)
    assert "trained beside weights of 4 bits" in capsys.readouterr().err
    assert json.loads((tmp_path / "first" / "adapter" / "adapter_config.json").read_text())["r"] == 4
    further = LocalPreferenceTrainer(preference_training(quantization="4bit")).train(
        PREFERENCES, better, tmp_path / "b"
    )
    assert further.metrics["last_loss"] < further.metrics["first_loss"]
