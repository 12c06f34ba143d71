"""Preferences are learned, by adapters, behind a prompt that is read once; training goes on where it was stopped."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.language import ChatRequest, Sampling
from housewise.language.local.model import LocalChatModel
from housewise.selftrain.examples import Preference, read_examples, write_examples
from housewise.selftrain.trainers.local import LocalPreferenceTrainer, LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from tests.selftrain.tiny import PREFERENCES, pair, preference_training, training


def prefer(model: str, folder: Path, examples: Sequence[Preference] = PREFERENCES, **changes: object) -> TrainedModel:
    """Train a model on preferences, by an adapter."""
    trainer = LocalPreferenceTrainer(preference_training(**changes))
    return trainer.train(examples, ModelReference(model=model), folder)


def lead(start: ModelReference) -> float:
    """By how much the chosen reply is likelier than the rejected one."""
    opened = LocalChatModel(start.model.partition(":")[2], start.adapter, device="cpu", dtype="float32")
    each = PREFERENCES[0]
    request = ChatRequest(each.messages, Sampling(), each.prefix)
    chosen, rejected = opened.score(request, [each.chosen, each.rejected])
    opened.close()
    return chosen - rejected


def curve(folder: Path) -> list[dict[str, float]]:
    rows = csv.DictReader((folder / "curve.csv").open())
    return [{name: float(value) for name, value in row.items()} for row in rows]


def test_what_is_preferred_becomes_likelier(model: str, tmp_path: Path) -> None:
    better = prefer(model, tmp_path)
    assert lead(better) > lead(ModelReference(model=model)) + 0.5
    rows = curve(tmp_path)
    assert rows[0]["loss"] == pytest.approx(math.log(2), abs=1e-3), "at first it is its own reference"
    assert rows[-1]["loss"] < rows[0]["loss"] and rows[-1]["rewards/margins"] > 0
    assert rows[-1]["rewards/accuracies"] == 1
    assert better.metrics["pairs"] == 6 and better == TrainedModel.load(tmp_path)
    assert sorted(path.name for path in (tmp_path / "adapter").iterdir() if path.suffix != ".md") == [
        "adapter_config.json",
        "adapter_model.safetensors",
        "base_model.json",
    ]


def test_the_reference_is_the_adapter_that_training_starts_from(model: str, tmp_path: Path) -> None:
    first = LocalTrainer(training(epochs=4)).train(
        [pair(number) for number in range(4)], ModelReference(model=model), tmp_path / "a"
    )
    second = LocalPreferenceTrainer(preference_training()).train(PREFERENCES, first, tmp_path / "b")
    assert curve(tmp_path / "b")[0]["loss"] == pytest.approx(math.log(2), abs=1e-3)
    assert lead(second) > lead(first) + 0.5


def test_a_prompt_that_is_read_once_teaches_the_same(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = prefer(model, tmp_path / "once")
    monkeypatch.setattr("housewise.selftrain.trainers.dpo.shares_rows", lambda *args: False)
    apart = prefer(model, tmp_path / "twice")
    assert shared.metrics["last_loss"] == pytest.approx(apart.metrics["last_loss"], rel=1e-3)


def test_attention_branch_by_branch_teaches_the_same(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through an adapter, and with activations that are computed again."""
    branches = pytest.approx(prefer(model, tmp_path / "branches").metrics["last_loss"], rel=1e-3)
    assert prefer(model, tmp_path / "again", gradient_checkpointing=True).metrics["last_loss"] == branches
    monkeypatch.setattr("housewise.selftrain.trainers.trl_common.takes_branches", lambda network: False)
    assert prefer(model, tmp_path / "masked").metrics["last_loss"] == branches


def test_steps_of_one_breakfast_that_share_a_row_teach_the_same(model: str, tmp_path: Path) -> None:
    """Each prompt goes on from the one before; the batch is all of them in either way."""
    turns = [{"role": "user", "content": f"table {number} with many mugs and plates."} for number in range(4)]
    steps = [PREFERENCES[0].model_copy(update={"prompt": tuple(turns[: number + 1])}) for number in range(4)]
    alone = prefer(model, tmp_path / "alone", steps, batch=4)
    together = prefer(model, tmp_path / "together", steps, batch=1, max_packed_examples=4)
    assert together.metrics["steps"] == alone.metrics["steps"] == 4
    assert curve(tmp_path / "together")[0]["loss"] == pytest.approx(math.log(2), abs=1e-3)
    assert together.metrics["last_loss"] == pytest.approx(alone.metrics["last_loss"], rel=1e-3)
    assert lead(together) == pytest.approx(lead(alone), rel=1e-2)


def test_the_curve_is_of_preferences_and_not_of_rows(model: str, tmp_path: Path) -> None:
    """Three begin alike and share a row, one has its own: the first loss is ln 2, the mean that of all four."""
    other = Preference(prompt=({"role": "user", "content": "nothing else"},), prefix="Q:", chosen=" a", rejected=" b")
    mixed = [*PREFERENCES[:3], other]
    often = {"epochs": 2, "learning_rate": 0.02}
    together = prefer(model, tmp_path / "together", mixed, **often, batch=2, max_packed_examples=3)
    assert together.metrics["steps"] == 2
    prefer(model, tmp_path / "alone", mixed, **often, batch=4)
    first, last = curve(tmp_path / "together")
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-3)
    for name in ("loss", "rewards/accuracies", "rewards/margins"):
        assert last[name] == pytest.approx(curve(tmp_path / "alone")[1][name], rel=1e-2), name


class Stopped(Exception):
    """Training was stopped."""


def test_with_other_settings_it_begins_anew(model: str, tmp_path: Path) -> None:
    def stop(done: int, total: int, words: str) -> None:
        if done == 4:
            raise Stopped

    stopped = LocalPreferenceTrainer(preference_training(checkpoint_steps=1), progress=stop)
    with pytest.raises(Stopped):
        stopped.train(PREFERENCES, ModelReference(model=model), tmp_path / "stopped")
    steps: list[int] = []
    LocalPreferenceTrainer(preference_training(learning_rate=0.03), progress=lambda done, *_: steps.append(done)).train(
        PREFERENCES, ModelReference(model=model), tmp_path / "stopped"
    )
    assert min(steps) == 1


def test_nothing_to_learn_is_said(model: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no preference to learn from"):
        prefer(model, tmp_path, [])
    with pytest.raises(UserError, match="method=full"):
        LocalPreferenceTrainer(preference_training(method="full"))


def test_preferences_are_kept_and_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "preferences.jsonl"
    write_examples(path, PREFERENCES)
    assert read_examples(path, Preference) == PREFERENCES
    path.write_text(path.read_text() + '{"prompt": []}\n')
    with pytest.raises(UserError, match=r"line 7: not a preference"):
        read_examples(path, Preference)
    for turn in ('{"content": "x"}', '{"role": "nobody", "content": "x"}'):
        path.write_text(f'{{"prompt": [{turn}], "chosen": " a", "rejected": " b"}}\n')
        with pytest.raises(UserError, match=r"line 1: not a preference .*a message has a role"):
            read_examples(path, Preference)
