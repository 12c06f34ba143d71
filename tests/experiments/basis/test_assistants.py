"""The experiment with assistants that learned to guide: its rows can be compared."""

from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")

from housewise.core.console import Console
from housewise.experiments.catalogue import load_experiment
from housewise.experiments.experiment_file import Experiment
from housewise.experiments.runner import ExperimentRunner
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.systems.basis.settings import BasisSettings
from housewise.terminal.selftrain_progress import TrainingDisplay

FILE = Path(__file__).parents[3] / "experiments" / "basis" / "assistants.yaml"
BASE, UNKNOWING = "words, 150 sessions", "150 sessions, without knowledge"


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return load_experiment(FILE)


def test_an_ablation_is_compared_with_its_own_base_and_all_with_the_oracle(experiment: Experiment) -> None:
    assert any(row.startswith(f"{BASE}, ") for row in experiment.axes["assistant"])
    assert {BASE, "oracle"} <= {*experiment.compare["assistant"]}


def test_the_untrained_model_is_asked_as_the_trained_ones_are(experiment: Experiment, tmp_path: Path) -> None:
    runner = ExperimentRunner(experiment, tmp_path, TrainingDisplay(Console()))
    planned = next(each for each in runner.grid.runs if dict(each.cell)["assistant"] == "untrained")
    settings, trained = runner.settings(planned), GuidanceTrainingConfig().run
    assert isinstance(settings, BasisSettings) and settings.agent.compact
    assert settings.models.agent.sampling == trained.models.agent.sampling


def test_perception_is_compared_where_knowledge_tells_no_states(experiment: Experiment) -> None:
    words, truth = (experiment.trainings[name].settings for name in ("unknowing", "unknowing truth"))
    assert {key for key in words if words[key] != truth[key]} == {"run.perception"}
    assert {f"{perception}, {UNKNOWING}" for perception in ("words", "truth")} <= {*experiment.axes["assistant"]}


def test_sentences_are_counted_in_the_sessions_of_one_training_each(experiment: Experiment, tmp_path: Path) -> None:
    played = {str(run.folder) for run in ExperimentRunner(experiment, tmp_path, TrainingDisplay(Console())).grid.runs}
    levels = load_experiment(FILE.with_name("sentences.yaml")).axes["assistant"].values()
    patterns = [f"test/{level.settings['pattern']}" for level in levels if "pattern" in level.settings]
    assert len(patterns) == 4 and {*patterns} <= {each.replace("=oracle/", "=oracle*/") for each in played}
