"""What cannot be trained is said in one line, before anything is played."""

import os
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

import torch
from safetensors import safe_open

from housewise.core.errors import UserError
from housewise.language.local.model import LocalChatModel
from housewise.language.messages import fold_system
from housewise.selftrain.examples import write_examples
from housewise.selftrain.trainers import trainability
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.tokenization import tokenize_demonstration
from housewise.selftrain.trainers.trained_model import ModelReference
from housewise.selftrain.trainers.training_job import exit_with_parent
from tests.commands import run_module
from tests.language.kinds import save_kind
from tests.language.tiny import change_json
from tests.selftrain.tiny import (
    PREFERENCES,
    REFUSING,
    TEMPLATE,
    adapter_weights,
    pair,
    save_learner,
    save_talker,
    training,
)

CPU = ("preference.device=cpu", "preference.dtype=float32", "preference.rank=2", "preference.batch=2")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_learner(tmp_path_factory.mktemp("learner") / "tiny")


@pytest.fixture
def preferences(tmp_path: Path) -> Path:
    write_examples(tmp_path / "preferences.jsonl", PREFERENCES[:4])
    return tmp_path / "preferences.jsonl"


def prefer(preferences: Path, model: Path, out: Path, *settings: str, **env: str) -> tuple[int, str, str]:
    words = [preferences, "--model", f"local:{model}", "--out", out, *CPU, *settings]
    done = run_module("housewise.selftrain.train_on_preferences", words, {**os.environ, **env}, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("training.device=nonsense", "is not a device"),
        ("training.device=cuda:99", "sees"),
        ("training.targets=[q_proj,qproj]", "it has no layer qproj); use all-linear, or some of [down_proj, gate_proj"),
        ("training.targets=self_attn", "a llama model cannot have such an adapter"),
        ("training.targets=[self_attn]", "a llama model cannot have such an adapter"),
    ],
)
def test_a_setting_is_refused_before_anything_is_played(model: Path, tmp_path: Path, setting: str, words: str) -> None:
    options = ["--houses", "1", "--iterations", "0", "--model", f"local:{model}", "--out", tmp_path / "out", setting]
    done = run_module("housewise", ["selftrain", *options], timeout=120)
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 2 and line.startswith(f"error: {setting.replace(',', ', ')}: ") and words in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "words"), [("preference.device=nonsense", "is not a device"), ("preference.targets=[x]", "no layer x")]
)
def test_preferences_name_their_own_settings(
    model: Path, preferences: Path, tmp_path: Path, setting: str, words: str
) -> None:
    status, _, errors = prefer(preferences, model, tmp_path / "out", setting)
    assert status == 2 and errors.startswith(f"error: {setting}: ") and words in errors
    assert not list((tmp_path / "out").glob("[!.]*"))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("mamba", "a mamba model keeps a recurrent state between tokens, which cannot be trained or run here"),
        ("falcon_h1", "a falcon_h1 model keeps a recurrent state"),
        ("smolvlm", "models with images are not run here"),
    ],
)
def test_an_architecture_that_cannot_be_trained(tmp_path: Path, kind: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        LocalTrainer(training()).check(ModelReference(model=f"local:{save_kind(tmp_path, kind)}"))


@pytest.mark.parametrize("kind", ["gpt2", "gemma3", "granitemoehybrid dense"])
def test_other_architectures_can(tmp_path: Path, kind: str) -> None:
    LocalTrainer(training()).check(ModelReference(model=f"local:{save_kind(tmp_path, kind)}"))


def test_a_tokenizer_without_an_end(tmp_path: Path) -> None:
    folder = save_learner(tmp_path)
    change_json(folder / "tokenizer_config.json", eos_token=None)
    with pytest.raises(UserError, match=r"no token that ends a text.* set eos_token in its tokenizer_config\.json"):
        LocalTrainer(training()).check(ModelReference(model=f"local:{folder}"))


def test_checking_draws_nothing(model: Path) -> None:
    """What is drawn afterwards is drawn as without the check."""
    import torch

    before = torch.get_rng_state()
    LocalTrainer(training()).check(ModelReference(model=f"local:{model}"))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("targets", ["all-linear", ("q_proj", "fc1"), r".*\.(q_proj|fc1)"])
def test_of_a_model_with_images_the_part_for_text_is_trained(tmp_path: Path, targets: str | tuple[str, ...]) -> None:
    folder = save_kind(tmp_path / "gemma3", "gemma3")
    trained = LocalTrainer(training(targets=targets, epochs=1)).train(
        [pair(number) for number in range(2)], ModelReference(model=f"local:{folder}"), tmp_path / "out"
    )
    with safe_open(str(tmp_path / "out" / "adapter" / "adapter_model.safetensors"), "pt") as weights:
        names = list(weights.keys())
    assert names and all(".language_model." in name for name in names)
    LocalChatModel(str(folder), trained.adapter, device="cpu").close()


def test_without_a_system_role_what_is_learned_is_what_is_asked(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = save_talker(tmp_path, template=REFUSING)
    refusing, taking = AutoTokenizer.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    taking.chat_template = TEMPLATE
    (message,) = fold_system(pair().messages)
    folded = pair(prompt=({"role": message.role, "content": message.content},))
    assert tokenize_demonstration(refusing, pair(), "tiny") == tokenize_demonstration(taking, folded, "tiny")


def test_another_gpu_than_the_first_is_chosen_by_the_environment(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainability, "find_device", lambda setting, device: torch.device(device))
    with pytest.raises(UserError, match=r"^training\.device=cuda:1: .*CUDA_VISIBLE_DEVICES=1$"):
        trainability.check_trainable(str(model), None, training(device="cuda:1"))


def test_a_parent_on_another_machine_is_not_watched() -> None:
    threads = threading.active_count()
    exit_with_parent("another-machine:1")
    assert threading.active_count() == threads


@pytest.mark.slow
def test_processes_that_nobody_started_are_not_waited_for(model: Path, preferences: Path, tmp_path: Path) -> None:
    cluster = {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533"}
    assert prefer(preferences, model, tmp_path / "alone")[0] == 0
    alone = adapter_weights(tmp_path / "alone")
    for name, launcher in (("out", ()), ("launched", (f"preference.launcher={sys.executable}",))):
        status, _, errors = prefer(preferences, model, tmp_path / name, *launcher, **cluster)
        assert status == 0, errors
        assert ("WORLD_SIZE=2 is ignored" in errors and "preference.launcher" in errors) == (not launcher)
        assert adapter_weights(tmp_path / name) == alone
