"""Trainings of experiments: models of phases are asked by runs, and the paper's tables use the paper's recipe."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.settings import merge_nested, nest_value
from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.experiment_file import TrainingTemplate
from housewise.experiments.grid import Grid, PlannedTraining
from housewise.experiments.published import published_value
from housewise.experiments.results_table import read_table
from housewise.experiments.runner import ExperimentRunner
from housewise.experiments.trainings import open_training
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.terminal.selftrain_progress import TrainingDisplay
from tests.commands import run_module
from tests.in_process import call_housewise


def test_models_of_phases_are_asked_and_nothing_is_trained_again(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    from tests.selftrain.tiny import save_learner, save_prompt

    model = f"local:{save_learner(tmp_path / 'tiny')}"
    asked = {"model": model, "prompt": str(save_prompt(tmp_path / "short.yaml")), "grounded": True}
    run = {**asked, "adapter": "none", "max_steps": 30, "max_plans": 1, "sampling": {"max_tokens": 64}}
    learned = {
        "demonstrations": {"houses": 1},
        "training_tasks": {"houses": 1},
        "iterations": 1,
        "imitation_epochs": 1,
        "grow": {"repeats": 1},
        "filter": {"name": "rising", "thresholds": [-1000]},
        "replay_fraction": 0,
        "evaluation": {"tasks": []},
        "training": {"epochs": 1, "rank": 2, "device": "cpu", "dtype": "float32", "max_example_tokens": 16384},
    }
    grown = {"folder": "iteration-1/grow", "at": {"row": "grown"}}
    test = {"test": {"model": {"training": "school", "episodes": grown}}}
    phases = {"IL": "imitate", "ST1": "iteration-1"}
    spec = {
        "title": "Phases",
        "shows": "Phases.",
        "system": "personalize",
        "settings": {**run, "houses": 1, "seed": 50},
        "axes": {
            "row": {
                "start": {"runs": {"test": {"model": None}}},
                **{name: {"runs": {"test": {"model": {"phase": phase}}}} for name, phase in phases.items()},
                "grown": {"settings": {"seed": 2000}, "runs": {"test": {"model": {"phase": "imitate"}}}},
            }
        },
        "trainings": {"school": {"settings": {"run": run, **learned}}},
        "runs": test,
        "measures": ["success_rate"],
    }
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    words = ["experiment", "mine.yaml", "--out", "out", "max_steps=20", "school.training.rank=4"]
    for _ in range(2):
        done = run_module("housewise", words, {**os.environ}, cwd=tmp_path, timeout=600, code=0)
        made = {
            path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if path.suffix == ".safetensors"
        }
    assert "4 episodes of 2 tasks" in done.stdout and "missing" not in done.stdout
    assert made == {path: path.stat().st_mtime_ns for path in made} and len(made) >= 2
    adapters = {
        row: json.loads((tmp_path / f"out/test/row={row}/config.json").read_text())["models"]["agent"]["adapter"]
        for row in ("start", *phases)
    }
    assert adapters["start"] is None
    assert all(str(adapters[row]).endswith(f"out/school/{phase}/adapter") for row, phase in phases.items())
    frame = read_table(tmp_path / "out/mine.csv").frame
    assert dict(zip(frame["row"], frame["task"], strict=True))["grown"] == "generated-2000-2000" and len(frame) == 4
    assert not (tmp_path / "out/test/row=grown").exists(), "the training's own episodes are measured"
    # Settings of every run hold in the training, and its own ones have its name.
    trained = json.loads((tmp_path / "out/school/config.json").read_text())
    assert (trained["run"]["world"]["max_steps"], trained["training"]["rank"]) == (20, 4)


@cache
def paper_recipe(config: Path | None) -> PersonalizeSettings:
    """Settings of the runs of a recipe of training."""
    return load_selftraining(config, {"run": {"adapter": "tidy"}}).run


@pytest.mark.parametrize("name", ["table_1", "table_2", "figure_6", "two_people"])
def test_tables_of_the_paper_play_as_their_recipe_does(name: str, tmp_path: Path) -> None:
    spec = load_experiment(bundled_experiments()[f"personalize/{name}"])
    runner = ExperimentRunner(spec, tmp_path, TrainingDisplay(Console()), inputs={"data": "data", "recovered": "data"})
    trained = [run for run in runner.grid.measured_runs if run.model is not None]
    assert trained
    for run in trained:
        assert run.model is not None
        recipe = paper_recipe(run.model[0].template.config)
        ours = runner.settings(run, {"models": {"agent": {"adapter": "tidy"}}})
        assert ours.world == recipe.world
        others = {"demonstrator": recipe.agent.demonstrator}
        if dict(run.cell).get("row") in ("SayCan", "SayPlan"):
            others["planner"] = recipe.agent.planner
        assert ours.agent.model_copy(update=others) == recipe.agent
        assert ours.models.agent.sampling == recipe.models.agent.sampling


def test_the_command_line_does_not_take_the_place_of_a_trained_model(tmp_path: Path) -> None:
    spec = load_experiment(bundled_experiments()["personalize/table_1"])
    inputs, overrides = {"data": "data", "recovered": "data"}, ["model=local", "adapter=none", "max_steps=7"]
    runner = ExperimentRunner(spec, tmp_path, TrainingDisplay(Console()), overrides, inputs=inputs)
    run = next(run for run in runner.grid.measured_runs if run.model is not None and run.model[1] == "imitate")
    asked = runner.settings(run, {"models": {"agent": {"model": "local:smollm2", "adapter": "tidy"}}})
    assert (asked.models.agent.model, asked.models.agent.adapter) == ("local:smollm2", "tidy")
    assert asked.world.max_steps == 7


@pytest.mark.parametrize(
    "name", [name for name, path in bundled_experiments().items() if load_experiment(path).trainings]
)
def test_settings_of_bundled_trainings_exist(name: str, tmp_path: Path) -> None:
    spec = load_experiment(bundled_experiments()[name])
    for experiment in (spec, spec.for_quick({})):
        models = [run.model for run in Grid(experiment).measured_runs if run.model is not None]
        for training in {model[0].name: model[0] for model in models}.values():
            settings: dict[str, Any] = {}
            for key, value in training.settings.items():
                settings = merge_nested(settings, nest_value(key, value))
            if spec.system == "stars":
                assert GoalTrainingConfig.load(training.template.config, settings).run.tasks.seed in (1, 2, 3)
            elif spec.system == "adapt":
                AdaptTrainingConfig.load(training.template.config, settings)
            elif spec.system == "basis":
                assert GuidanceTrainingConfig.load(training.template.config, settings).sessions.scenarios <= 6
            else:
                assert load_selftraining(training.template.config, settings).evaluation.tasks == []


@pytest.mark.parametrize(
    "system, settings, message",
    [
        ("personalize", {"rollouts.engine": "vllm", "rollouts.command": "no-such-program"}, "no-such-program"),
        ("personalize", {"run.model": "gpt-4o", "training.trainer": "openai"}, "OPENAI_API_KEY"),
        ("stars", {"run.model": "gpt-4o"}, "only local models are trained here"),
        ("adapt", {"rollouts.engine": "vllm", "rollouts.command": "no-such-program"}, "no-such-program"),
        ("adapt", {"run.person": ["joan"]}, "nobody is named 'joan'"),
    ],
)
def test_what_a_training_lacks_is_found_before_its_turn(
    system: str, settings: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    planned = PlannedTraining("mine", (), TrainingTemplate(), settings)
    phase = {"personalize": "imitate", "stars": "imitate", "adapt": "warm-up"}[system]
    training = open_training(system, planned, phase, {})
    with pytest.raises(UserError, match=message):
        training.check(tmp_path / "out", TrainingDisplay(Console()))
    assert not (tmp_path / "out").exists()


_SCHOOL = """\
title: Phases
shows: Phases.
system: personalize
axes: {row: {IL: {}}}
trainings: {school: {settings: {run: {model: "local:missing"}, max_steps: 30, grow.repeats: 1, rank: 2}}}
runs: {test: {model: {training: school, phase: imitate}}}
measures: [success_rate]
"""


@pytest.mark.parametrize(
    "word, message",
    [
        ("training.rank=4", "is a setting of a training; begin it with the training's name: 'school.training.rank=4'"),
        ("iterations=1", "begin it with the training's name: 'school.iterations=1'"),
        ("shcool.training.rank=4", "no training 'shcool'; did you mean school.training.rank?"),
        ("school.training.rnak=4", "the command line: unknown setting 'training.rnak'; did you mean training.rank?"),
        ("school.training", "'training': write settings as key=value"),
    ],
)
def test_misplaced_settings_of_a_training_are_explained(
    word: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text(_SCHOOL)
    monkeypatch.chdir(tmp_path)
    assert message in call_housewise("experiment", "mine.yaml", "--out", "out", word, code=2).stderr


def test_settings_of_a_training_that_is_left_out_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = "start: {runs: {test: {model: null}}}"
    (tmp_path / "mine.yaml").write_text(
        _SCHOOL.replace("IL: {}", f"IL: {{}}, {start}") + "quick: {axes: {row: [start]}}\n"
    )
    monkeypatch.chdir(tmp_path)
    for words in (["--quick"], ["--only", "row=start"]):
        told = call_housewise(
            "experiment", "mine.yaml", *words, "--out", "out", "school.training.rank=4", code=2
        ).stderr
        assert "school.training.rank=4: no run of the chosen levels (--quick, --only) asks a model of this" in told


@pytest.mark.parametrize(
    "words",
    [
        ["school.run.world.max_steps=20", "school.run.models.agent.model=local:other", "school.training.rank=4"],
        ["world.max_steps=20", "models.agent.model=local:other", "school.rank=4"],
        ["max_steps=20", "school.run.model=local:other", "school.training.rank=4"],
    ],
)
def test_the_command_line_wins_over_the_file_of_an_experiment_under_long_and_short_keys(
    words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(_SCHOOL)
    spec = load_experiment(tmp_path / "mine.yaml")
    runner = ExperimentRunner(spec, tmp_path / "out", TrainingDisplay(Console()), overrides=words)
    model = runner.grid.runs[0].model
    assert model is not None
    opened: Any = runner._open_training(*model)
    settings = opened.check.args[0]
    assert settings.run.world.max_steps == 20 and settings.run.models.agent.model == "local:other"
    assert (settings.training.rank, settings.grow.repeats) == (4, 1)


def test_published_values_stand_beside_their_cells() -> None:
    main, transfer = (
        load_experiment(bundled_experiments()[f"personalize/table_{number}"]).published for number in (1, 2)
    )
    assert main is not None and transfer is not None
    cell = {"scene": "Rs_int", "row": "LLM-Planner", "tasks": "test", "measure": "success_rate"}
    assert published_value(main, cell) == "-30.2 ± 4.8"
    assert published_value(main, {**cell, "scene": "generated"}) is None
    moved = {"trained in": "Rs_int", "scene": "Pomaria_2_int", "row": "ST2", "tasks": "test"}
    assert published_value(transfer, moved) == "42.4 ± 3.8"
    learned = {"trained in": "the same scene", "scene": "Rs_int", "row": "IL", "tasks": "train"}
    assert published_value(transfer, learned) == "10.9 ± 3.3"
    figure = load_experiment(bundled_experiments()["personalize/figure_6"]).published
    assert figure is not None
    shown = {"measure": "unique_placements", "scene": "Pomaria_2_int", "row": "ST1", "tasks": "test"}
    assert published_value(figure, shown) == "8.6 ± 0.7"


def test_the_papers_tables_share_their_runs_and_take_the_episodes_of_trainings() -> None:
    first, second, figure = (
        {run.folder: run for run in Grid(load_experiment(bundled_experiments()[f"personalize/{name}"])).measured_runs}
        for name in ("table_1", "table_2", "figure_6")
    )
    grown = {folder for folder in first if folder.name == "grow"}
    assert {tuple(dict(first[folder].cell)[axis] for axis in ("row", "tasks")) for folder in grown} == {
        ("IL", "train"),
        ("ST1", "train"),
    }
    assert Path("self-training/scene=Rs_int/iteration-2/grow") in grown
    assert figure.keys() < first.keys()
    moved = {dict(second[folder].cell)["trained in"] for folder in second.keys() - first.keys()}
    assert moved == {"Merom_1_int", "Rs_int", "Pomaria_2_int"}
    assert all(dict(run.cell)["row"] != "LLM-Planner" for folder, run in second.items() if folder not in first)
    value = load_experiment(bundled_experiments()["personalize/memory_value"]).published
    stage = {"scene": "Merom_1_int", "stage": "after demonstrations", "tasks": "test", "measure": "success_rate"}
    assert value is not None and published_value(value, {**stage, "row": "model, memory"}) == "12.6 ± 9.0"
    assert published_value(value, {**stage, "row": "lookup"}) is None
