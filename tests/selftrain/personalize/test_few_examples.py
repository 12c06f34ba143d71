"""A fine-tuning API asks for ten examples, which a weak model does not always make."""

from pathlib import Path

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.terminal.selftrain_progress import TrainingDisplay
from tests.selftrain.tiny import pair
from tests.selftrain.trainers.fine_tuning_server import FineTuning
from tests.servers import serving


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def self_training(folder: Path, url: str, *more: str) -> SelfTraining:
    given = ["run.data=null", "run.model=base", f"run.base_url={url}", "training.trainer=openai", *more]
    return SelfTraining(load_selftraining(Path("paper"), overrides=given), folder, TrainingDisplay(Console()))


@pytest.mark.parametrize("examples", [[pair(0)] * 3, [pair(0, cut=True)] * 12])
def test_an_iteration_with_too_few_examples_leaves_the_model_as_it_is(
    examples: list[EpisodeDemonstration],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(FineTuning()) as server:
        training = self_training(tmp_path, server.url)
        monkeypatch.setattr(training, "_grow_and_filter", lambda *_: examples)
        stays = training._train_iteration(0, ModelReference(model="tuned"))
        assert not server.jobs
    assert (stays.model, stays.metrics) == ("tuned", {"pairs": 0})
    assert stays == TrainedModel.load(tmp_path / "iteration-1") and "the model stays as it is" in stays.notes[0]
    assert not (tmp_path / "iteration-1/pairs.jsonl").exists()
    assert f"{len(examples)} " in capsys.readouterr().err


def test_too_few_demonstrations_are_refused_with_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(FineTuning()) as server:
        training = self_training(tmp_path / "out", server.url)
        training.__dict__["_demonstrations_and_lessons"] = [pair(0)] * 3
        with pytest.raises(UserError, match=r"3 pairs are too few.*--out and more.*demonstrations\.repeats=10"):
            training._train_imitation()
        few = ("demonstrations.houses=1", "demonstrations.repeats=1", "run.max_plans=3")
        with pytest.raises(UserError, match="at most 3 plans are imitated, and a fine-tuning API asks for 10"):
            self_training(tmp_path / "few", server.url, *few)
        assert not (tmp_path / "few").exists()
