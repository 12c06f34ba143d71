"""A training's folder is that of one training: what is given anything else is refused, also when it is finished."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.language.local.model import LocalChatModel
from housewise.selftrain.examples import EpisodeDemonstration, write_examples
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from housewise.selftrain.trainers.training_job import examples_digest
from tests.commands import run_module
from tests.selftrain.tiny import PREFERENCES, pair, save_learner, training

PAIRS = [pair(number) for number in range(4)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models of one name and of other weights, and a finished training of the first."""
    place = tmp_path_factory.mktemp("place")
    for seed, name in enumerate(("a", "b")):
        save_learner(place / name / "tiny", seed=seed)
    LocalTrainer(training(epochs=1)).train(PAIRS, ModelReference(model=local(place / "a")), place / "finished")
    return place


def local(folder: Path) -> str:
    return f"local:{folder / 'tiny'}"


def again(
    place: Path,
    folder: Path,
    pairs: Sequence[EpisodeDemonstration] = PAIRS,
    model: str = "a",
    adapter: str | None = None,
    **more: Any,
) -> TrainedModel:
    """What a finished training answers that is given this."""
    seed = more.pop("seed", 0)
    start = ModelReference(model=local(place / model), adapter=adapter and str(place / adapter))
    return LocalTrainer(training(**{"epochs": 1, **more}), seed).train(pairs, start, folder)


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"pairs": PAIRS[:3]}, "examples"),
    ({"pairs": [*PAIRS[:3], pair(3, cut=True)]}, "examples"),
    ({"model": "b"}, r"model \(local:.*a/tiny\)"),
    ({"adapter": "finished/adapter"}, r"adapter \(None\)"),
    ({"learning_rate": 0.01, "alpha": 4}, r"settings \((alpha, learning_rate|learning_rate, alpha)\)"),
    ({"seed": 1}, "seed"),
]


@pytest.mark.parametrize(("others", "what"), OTHERS, ids=[what for _, what in OTHERS])
def test_a_finished_training_that_is_given_anything_else_is_refused(
    place: Path, others: dict[str, Any], what: str
) -> None:
    with pytest.raises(
        UserError, match=f"finished: holds a finished training with other {what}; choose another folder"
    ):
        again(place, place / "finished", **others)


def test_of_earlier_versions_as_much_is_known_as_they_wrote_down(place: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(place / "finished", tmp_path / "finished")
    for name, added in (("model.json", ("within", "notes")), ("job.json", ("weights",))):
        kept = json.loads((folder / name).read_text())
        write_json(folder / name, {key: value for key, value in kept.items() if key not in added})
    (folder / "adapter" / "base_model.json").unlink()
    assert again(place, folder).adapter == str(folder / "adapter")
    for others, what in OTHERS[:-1]:
        with pytest.raises(UserError, match=what):
            again(place, folder, **others)
    (folder / "job.json").unlink()
    assert again(place, folder, seed=1).adapter == str(folder / "adapter")


def test_what_earlier_versions_called_the_same_is_the_same() -> None:
    """The digest of this pair as they computed it, who did not know whether replies were cut."""
    assert examples_digest(PAIRS[:1]) == "d2494c97c7021559017d9755d967524da694eda38b8869495924d89d45827bab"


def test_a_base_that_was_moved_is_the_same_one(place: Path, tmp_path: Path) -> None:
    model = shutil.copytree(place / "a" / "tiny", tmp_path / "a" / "tiny")
    first = again(tmp_path, tmp_path / "finished")
    renamed = model.rename(tmp_path / "renamed")
    start = ModelReference(model=f"local:{renamed}")
    found = LocalTrainer(training(epochs=1)).train(PAIRS, start, tmp_path / "finished")
    assert (found.model, found.adapter) == (start.model, first.adapter)
    LocalChatModel(str(renamed), found.adapter, device="cpu", dtype="float32").close()


@pytest.mark.parametrize("leave", [shutil.copytree, shutil.move], ids=["copied", "moved"])
def test_a_study_finds_its_own_parts_where_it_is_now(
    place: Path, tmp_path: Path, leave: Callable[[Path, Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in ADAPT: adapters in study/fold/learner, on weights in study/warm-up/merged; named as seen from elsewhere."""
    monkeypatch.chdir(tmp_path)
    here, there = Path("here"), Path("there")
    shutil.copytree(place / "a" / "tiny", here / "warm-up" / "merged")
    write_json(here / "config.json", {})
    learner = Path("fold", "learner")
    start = ModelReference(model=f"local:{here / 'warm-up' / 'merged'}")
    LocalTrainer(training(epochs=1)).train(PAIRS, start, here / learner)
    older = shutil.copytree(here / learner, here / "fold" / "older")
    kept = json.loads((older / "model.json").read_text())
    write_json(
        older / "model.json", {"model": start.model, "adapter": str(older / "adapter"), "metrics": kept["metrics"]}
    )
    leave(here, there)
    for name in ("learner", "older"):
        found = TrainedModel.load(there / "fold" / name)
        assert found is not None and found.adapter is not None
        assert Path(found.adapter).samefile(there / "fold" / name / "adapter")
        assert Path(found.model.removeprefix("local:")).samefile(there / "warm-up" / "merged")


def test_what_is_beside_a_study_stays_where_it_is(place: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    moved = shutil.copytree(place / "finished", tmp_path / "finished")
    found = TrainedModel.load(moved)
    assert found is not None and (found.model, found.adapter) == (local(place / "a"), str(moved / "adapter"))


def test_a_command_with_another_beta_is_refused(place: Path, tmp_path: Path) -> None:
    write_examples(tmp_path / "p.jsonl", PREFERENCES)
    settings = ["preference.device=cpu", "preference.dtype=float32", "preference.rank=2"]

    def prefer(*more: str) -> tuple[int, str]:
        command = [tmp_path / "p.jsonl", "--model", local(place / "a"), "--out", tmp_path / "out", *settings, *more]
        done = run_module("housewise.selftrain.train_on_preferences", command, cwd=tmp_path)
        return done.returncode, done.stderr.strip().split("\n")[-1]

    assert prefer()[0] == 0 and prefer()[0] == 0
    status, line = prefer("preference.beta=0.7")
    assert status == 2 and "holds a finished training with other settings (beta)" in line


@pytest.mark.parametrize("setting", [{"rank": 2}, {"alpha": 3}, {"targets": ["q_proj"]}, {"targets": "q_proj"}])
def test_settings_that_the_adapter_has_settled_are_refused(
    place: Path, tmp_path: Path, setting: dict[str, Any]
) -> None:
    ((key, _),) = setting.items()
    with pytest.raises(UserError, match=rf"training\.{key}=.*adapter .*finished/adapter, whose {key} is"):
        again(place, tmp_path, adapter="finished/adapter", **setting)


def test_the_card_has_what_the_adapter_has(place: Path, tmp_path: Path) -> None:
    nobodys = training(epochs=1).model_copy(update={"rank": 32, "alpha": 64})
    nobodys._set_by_user = frozenset()
    start = ModelReference(model=local(place / "a"), adapter=str(place / "finished" / "adapter"))
    LocalTrainer(nobodys).train(PAIRS, start, tmp_path)
    card = json.loads((tmp_path / "adapter" / "README.md").read_text().split("```json")[1].split("```")[0])
    written = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert (card["rank"], card["alpha"]) == (written["r"], written["lora_alpha"]) == (4, 8)
    assert sorted(card["targets"]) == sorted(written["target_modules"])
