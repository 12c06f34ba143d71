import csv
import json
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

import torch
from trl import SFTConfig

from housewise.core.errors import UserError
from housewise.language import ChatModelError, ChatRequest, Sampling
from housewise.language.local.model import LocalChatModel
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.trainers.launcher_environment import choose_own_gpu
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from housewise.selftrain.trainers.trl_common import share_smallest_passes, training_arguments
from tests.commands import started_module, wait_until
from tests.selftrain.tiny import adapter_weights, pair, save_learner, training

PAIRS = [pair(number) for number in range(6)]


def trained(model: str, folder: Path, pairs: list[EpisodeDemonstration] | None = None, **changes: Any) -> TrainedModel:
    return LocalTrainer(training(**changes)).train(
        PAIRS if pairs is None else pairs, ModelReference(model=model), folder
    )


def likelihood(start: ModelReference, pairs: list[EpisodeDemonstration]) -> float:
    """Mean log-likelihood that a model gives to replies when it is asked the way the planner asks."""
    opened = LocalChatModel(start.model.partition(":")[2], start.adapter, device="cpu", dtype="float32")
    scores = [opened.score(ChatRequest(pair.messages, Sampling(), pair.prefix), [pair.reply])[0] for pair in pairs]
    opened.close()
    return sum(scores) / len(scores)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_what_is_trained_becomes_likelier_where_the_planner_asks(model: str, tmp_path: Path, method: str) -> None:
    before = likelihood(ModelReference(model=model), PAIRS)
    better = trained(model, tmp_path, method=method, epochs=8)
    assert likelihood(better, PAIRS) > before + 1
    assert better.metrics["pairs"] == 6 and better.metrics["last_loss"] < better.metrics["first_loss"]
    assert better == TrainedModel.load(tmp_path)
    rows = list(csv.DictReader((tmp_path / "curve.csv").open()))
    assert [int(row["step"]) for row in rows] == list(range(1, 25))
    assert not (tmp_path / "checkpoints").exists()


def test_the_adapter_is_pefts_and_comes_with_a_card(model: str, tmp_path: Path) -> None:
    trained(model, tmp_path, epochs=1)
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert config["r"] == 4 and config["base_model_name_or_path"] == model.partition(":")[2]
    card = (tmp_path / "adapter" / "README.md").read_text()
    assert "| pairs | 6 |" in card and "| seed | 0 |" in card and '"learning_rate": 0.02' in card


def test_training_goes_on_from_an_adapter(model: str, tmp_path: Path) -> None:
    first = trained(model, tmp_path / "first", epochs=4)
    second = LocalTrainer(training(epochs=4)).train(PAIRS, first, tmp_path / "second")
    assert second.metrics["first_loss"] < first.metrics["first_loss"] - 0.1
    assert likelihood(second, PAIRS) > likelihood(first, PAIRS)


def test_a_finished_training_is_not_done_again(model: str, tmp_path: Path) -> None:
    better = trained(model, tmp_path, epochs=1)
    before = adapter_weights(tmp_path)
    assert trained(model, tmp_path, epochs=1) == better
    assert adapter_weights(tmp_path) == before


def test_pairs_of_one_pass_share_it(model: str, tmp_path: Path) -> None:
    """Two pairs read at once teach what they teach one after the other."""
    alone = trained(model, tmp_path / "alone", epochs=2, micro_batch=1)
    together = trained(model, tmp_path / "together", epochs=2, micro_batch=2)
    assert together.metrics["last_loss"] == pytest.approx(alone.metrics["last_loss"], rel=1e-3)


def test_memory_that_does_not_suffice_is_said_and_training_goes_on_with_less(model: str, tmp_path: Path) -> None:
    import torch

    def greedy(done: int, total: int, words: str) -> None:
        if done == 2:
            torch.empty(1 << 50)

    start = ModelReference(model=model)
    with pytest.raises(UserError, match=r"out of memory.*training\.micro_batch"):
        LocalTrainer(training(epochs=2, micro_batch=2, checkpoint_steps=1), progress=greedy).train(
            PAIRS, start, tmp_path
        )
    steps: list[int] = []
    less = LocalTrainer(
        training(epochs=2, micro_batch=1, checkpoint_steps=1), progress=lambda done, *_: steps.append(done)
    )
    assert less.train(PAIRS, start, tmp_path).metrics["steps"] == max(steps)
    assert min(steps) > 1


@pytest.mark.parametrize("change", [{"learning_rate": 0.01}, {"pairs": PAIRS[:4]}])
def test_checkpoints_of_another_training_are_not_gone_on_from(
    model: str, tmp_path: Path, change: dict[str, Any]
) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int, words: str) -> None:
        if done == 3:
            raise Stopped

    begun = LocalTrainer(training(epochs=3, checkpoint_steps=1), progress=stop)
    with pytest.raises(Stopped):
        begun.train(PAIRS, ModelReference(model=model), tmp_path / "begun")
    assert list((tmp_path / "begun" / "checkpoints").iterdir())
    for folder in ("begun", "fresh"):
        trained(model, tmp_path / folder, epochs=3, checkpoint_steps=1, **change)
    assert adapter_weights(tmp_path / "begun") == adapter_weights(tmp_path / "fresh")


@pytest.mark.slow
def test_what_was_launched_tells_its_progress_and_ends_with_the_one_that_launched_it(
    model: str, tmp_path: Path
) -> None:
    with started_module("tests.selftrain.trainers.launched", [model, tmp_path]) as parent:
        wait_until(lambda: any(tmp_path.glob("checkpoints/checkpoint-*")) and " 6000 loss " in parent.out, parent)
        (child,) = psutil.Process(parent.pid).children()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    child.wait(timeout=60)
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize("shared", [(12, 8, 6), (20, 8, 5), (8, 3, 2), (7, 4, 1), (4, 8, 4)])
def test_a_pass_takes_what_the_batch_can_be_divided_into(tmp_path: Path, shared: tuple[int, int, int]) -> None:
    batch, most, per_pass = shared
    settings = training_arguments(training(batch=batch, micro_batch=most), tmp_path, 0, SFTConfig)
    assert settings.per_device_train_batch_size == per_pass
    assert per_pass * settings.gradient_accumulation_steps == batch


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_a_cpu_has_the_recipe_of_cpus_beside_a_gpu(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    settings = training_arguments(training(device=device, batch=8, micro_batch=None), tmp_path, 0, SFTConfig)
    assert (settings.per_device_train_batch_size, settings.device.type) == (1, "cpu")


def test_a_batch_that_processes_cannot_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(UserError, match=r"training\.batch=8 .* 3 processes"):
        training_arguments(training(batch=8), tmp_path, 0, SFTConfig)


def test_each_process_of_a_launcher_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    choose_own_gpu("auto")
    assert not chosen, "without a launcher"
    monkeypatch.setenv("LOCAL_RANK", "6")
    for device in ("cpu", "auto", "cuda"):
        choose_own_gpu(device)
    assert chosen == [2, 2]


def test_processes_of_a_launcher_compute_in_equal_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def reduce(values: torch.Tensor, operation: object) -> None:
        torch.minimum(values, torch.tensor([2, -1]), out=values)

    monkeypatch.setattr(torch.distributed, "all_reduce", reduce)
    settings = training_arguments(training(batch=8, micro_batch=4, device="cpu"), tmp_path, 0, SFTConfig)
    assert (settings.per_device_train_batch_size, settings.gradient_accumulation_steps) == (4, 2)
    share_smallest_passes(settings, torch.device("cpu"), 8)
    assert (settings.per_device_train_batch_size, settings.gradient_accumulation_steps) == (2, 4)
    assert settings.gradient_checkpointing


@pytest.mark.slow
def test_several_processes_train_together_what_one_trains(model: str, tmp_path: Path) -> None:
    # Where there is one GPU, two processes cannot have one each.
    alone = trained(model, tmp_path / "alone", epochs=4, device="cpu")
    launcher = f"{sys.executable} -m torch.distributed.run --standalone --nproc_per_node 2"
    together = trained(model, tmp_path / "together", epochs=4, device="cpu", launcher=launcher)
    assert together.adapter == str(tmp_path / "together" / "adapter")
    assert together.metrics["last_loss"] == pytest.approx(alone.metrics["last_loss"], rel=1e-4)
    assert together.metrics["steps"] == alone.metrics["steps"]


def test_checkpointing_gradients_changes_nothing_but_memory(model: str, tmp_path: Path) -> None:
    plain = trained(model, tmp_path / "plain", epochs=2)
    sparing = trained(model, tmp_path / "sparing", epochs=2, gradient_checkpointing=True)
    assert sparing.metrics["last_loss"] == pytest.approx(plain.metrics["last_loss"], rel=1e-4)


def test_a_launcher_that_fails_is_told_of(model: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no-such-launcher"):
        trained(model, tmp_path, launcher="no-such-launcher")


def test_an_adapter_for_another_model(model: str, tmp_path: Path) -> None:
    first = trained(model, tmp_path / "first", epochs=1)
    other = save_learner(tmp_path / "tiny", seed=1)
    with pytest.raises(ChatModelError, match="it was trained on other weights"):
        LocalTrainer(training()).train(
            PAIRS, ModelReference(model=f"local:{other}", adapter=first.adapter), tmp_path / "second"
        )
    assert not (tmp_path / "second" / "model.json").exists()


def test_a_servers_model_is_not_trained_here(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"training\.trainer"):
        trained("gpt-4o", tmp_path)


def test_what_is_given_of_a_reply_is_not_learned(model: str, tmp_path: Path) -> None:
    """What is given becomes less likely than where it is learned, what follows it does not stay as it was."""
    reply = " go to counter 1\nstep 2: go to mug 7"
    start, end = reply.index(" counter"), reply.index("\n")
    given = [pair(number, reply=reply, given=((start, end),)) for number in range(4)]
    learned = trained(model, tmp_path / "given", given, epochs=4)
    whole = trained(model, tmp_path / "whole", [pair(number, reply=reply) for number in range(4)], epochs=4)
    asked = [pair(number, reply=reply[:end], prefix="step 1:") for number in range(4)]
    before = likelihood(ModelReference(model=model), asked)
    assert likelihood(whole, asked) > likelihood(learned, asked)
    assert likelihood(learned, [pair(0, reply=reply)]) > likelihood(ModelReference(model=model), [pair(0, reply=reply)])
    assert before < likelihood(whole, asked)
