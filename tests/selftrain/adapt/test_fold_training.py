"""What the learners of a fold learn from, and which model they start from, without training any."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from housewise.core.record import Record
from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.grid import Grid
from housewise.selftrain.adapt import reflection_files
from housewise.selftrain.adapt.fold_training import (
    DPO_ON_OWN_ASKING,
    FEWER_REPLIES,
    LEARNERS,
    OWN_ASKING,
    REFLECTION_DPO,
    SKIP_ASKED,
    FoldTraining,
    draw_replies,
)
from housewise.selftrain.adapt.reflection_files import ReflectionFiles
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.examples import EpisodeDemonstration

NEW = (SKIP_ASKED, FEWER_REPLIES, DPO_ON_OWN_ASKING)


def breakfast(replies: int, task: int = 0) -> EpisodeDemonstration:
    turns = [{"role": role, "content": "x"} for _ in range(replies - 1) for role in ("user", "assistant")]
    prompt = ({"role": "user", "content": "x"}, *turns)
    return EpisodeDemonstration(prompt=prompt, reply=" Declare Done", turns=True, episode=task)


def test_breakfasts_are_drawn_up_to_a_number_of_replies() -> None:
    breakfasts = [breakfast(replies=30, task=task) for task in range(10)] + [breakfast(replies=7, task=10)]
    drawn = draw_replies(breakfasts, 100, seed=0)
    assert [each.episode for each in drawn] == sorted(each.episode for each in drawn)
    assert len(drawn) == 4 and breakfasts[10] in drawn, "three of 30 replies and the one of 7"
    assert draw_replies(breakfasts, 100, seed=0) == drawn != draw_replies(breakfasts, 100, seed=1)
    assert draw_replies(breakfasts, 1000, seed=0) == breakfasts and not draw_replies(breakfasts, 6, seed=0)


class Training(SimpleNamespace):
    """Notes what is trained, from which model on."""

    def train(self, folder: Path, examples: Any, config: Any, start: Any) -> Any:
        self.trained.append((folder.name, len(examples), type(config).__name__, start))
        return f"model of {folder.name}"

    def finished_model(self, folder: Path) -> None:
        return None

    def cook_demonstrations(self, folder: Path, people: Any, config: Any) -> list[EpisodeDemonstration]:
        assert folder.name == "own-asking", "breakfasts are made once"
        return [breakfast(10)] * 20


@pytest.fixture
def training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Training:
    config = AdaptTrainingConfig.load()

    def preferences(files: ReflectionFiles) -> list[str]:
        return ["pair"] * (25 if files._skip_asked else 40)

    monkeypatch.setattr(reflection_files.ReflectionFiles, "preferences", preferences)
    people = {"maya": object()}
    return Training(config=config, folder=tmp_path, trained=[], people=people, seed=0, warm_up_model="warm-up")


def test_controls_of_reflection_dpo_start_and_learn_as_they_say(training: Training) -> None:
    fold = FoldTraining(training, ["maya"])  # type: ignore[arg-type]
    for learner in (REFLECTION_DPO, *NEW):
        fold.train(learner)
    by_preference, by_imitation = type(training.config.preference).__name__, type(training.config.imitation).__name__
    assert training.trained == [
        ("Reflection-DPO", 40, by_preference, "warm-up"),
        ("Reflection-DPO,-asked-steps-skipped", 25, by_preference, "warm-up"),
        ("own-asking,-fewer-replies", 4, by_imitation, "warm-up"),
        ("own-asking", 20, by_imitation, "warm-up"),
        ("own-asking,-then-DPO", 40, by_preference, "model of own-asking"),
    ]
    assert by_preference != by_imitation


def test_steps_at_which_the_student_asks_are_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = AdaptTrainingConfig.load()
    records: list[Record] = []
    files = [
        ReflectionFiles(Training(config=config), tmp_path, lambda: records, skip_asked=skip)  # type: ignore[arg-type]
        for skip in (None, True)
    ]
    said = [SimpleNamespace(student=text) for text in ('Ask "Any milk?"', "Open fridge")]
    reflected = SimpleNamespace(data=tuple(said), model_copy=lambda update: SimpleNamespace(**update))
    monkeypatch.setattr(ReflectionFiles, "_all_reflections", [reflected])
    counted = [[step.student for each in one._counted_reflections for step in each.data] for one in files]
    assert counted == [['Ask "Any milk?"', "Open fridge"], ["Open fridge"]]
    assert files[0]._counts_file != files[1]._counts_file, "neither writes over the counts of the other"


def test_the_controls_are_rows_that_share_runs_with_the_agents() -> None:
    controls, agents = (
        load_experiment(bundled_experiments()[f"adapt/{name}"]) for name in ("agents_controls", "agents")
    )
    assert {*NEW, REFLECTION_DPO, OWN_ASKING} <= set(controls.axes["agent"]) and set(NEW) <= set(LEARNERS)
    assert controls.folder == agents.folder == "adapt/agents"
    runs = {run.folder for run in Grid(agents).runs}
    others = {dict(run.cell)["agent"] for run in Grid(controls).runs if run.folder not in runs}
    assert others == set(NEW)
    phases = {dict(run.cell)["agent"]: run.model[1] for run in Grid(controls).runs if run.model is not None}
    assert all(phases[name] == name for name in NEW)
