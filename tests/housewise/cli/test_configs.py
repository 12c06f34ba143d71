"""Configurations of systems: ``--config NAME`` of run, selftrain, settings, list and copy."""

import json
from pathlib import Path

import pytest

from housewise.core.configs import packaged_configs
from housewise.core.settings_loading import configured_systems
from housewise.rollout.system import find_system
from housewise.selftrain.personalize.settings import load_selftraining, read_selftraining
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.terminal import run_progress, selftrain_progress
from tests.commands import housewise, one_line, output
from tests.in_process import call_housewise

RUN = ("run", "--planner", "scripted", "--houses", "1", "repeats=1", "max_steps=5")


def settings_of(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "config.json").read_text())
    return found


@pytest.mark.parametrize("name", [name for name in packaged_configs() if "/" in name])
def test_each_system_loads_its_configurations_by_their_short_names(name: str) -> None:
    system, _, short = name.partition("/")
    loaded = find_system(system).load(Path(short))
    assert loaded == find_system(system).load(packaged_configs()[name]) != find_system(system).load()
    assert configured_systems(Path(name), [], "personalize")[0] == system
    assert name in json.loads(output(call_housewise("list", "configs", "--json")))["configs"]
    assert f"with {short})" in output(call_housewise("settings", system, "--config", short, COLUMNS="500"))


def test_a_run_takes_the_papers_settings_without_the_training(tmp_path: Path) -> None:
    done = housewise(*RUN, "--config", "paper", "--out", tmp_path, code=0)
    assert done.stderr.strip() == "note: paper holds a recipe of training; its section run is played"
    played = PersonalizeSettings.model_validate(settings_of(tmp_path))
    paper = load_selftraining(Path("paper"))
    assert played.agent == paper.run.agent.model_copy(update={"planner": "scripted"})
    assert played.models == paper.run.models and played.world.controller.kind == "published"
    assert (paper.target, paper.filter.name, paper.replay_fraction) == ("raw", "positive", 0.0)
    # The paper has no help for small models.
    agent = paper.run.agent
    assert not (agent.wrappers or agent.grounded or agent.normalize_steps or agent.judging.constrain_to_judgements)
    assert agent.prompt == "paper"


def test_a_training_takes_settings_of_a_run(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("agent: {planner: llm, max_plans: 7}\nseed: 4\n")
    words = ["--houses", "1", "iterations=0", "training.trainer=openai", "run.max_steps=5", "filter.name=positive"]
    told = housewise("selftrain", "--config", mine, *words, "--model", "m", "--out", tmp_path / "out")
    assert f"note: {mine} holds settings of a run; they become the section run of the training" in told.stderr
    assert load_selftraining(mine).run.agent.max_plans == 7 and load_selftraining(mine).run.tasks.seed == 4
    mine.write_text("iterations: 0\nrun: {agent: {max_plans: 7}}\n")
    assert load_selftraining(mine).iterations == 0
    told = housewise(*RUN, "--config", mine, "--out", tmp_path / "run", code=0)
    assert "its section run is played" in told.stderr
    assert PersonalizeSettings.model_validate(settings_of(tmp_path / "run")).agent.max_plans == 7


def test_a_recipe_keeps_its_settings_when_it_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "selftrain.json").write_text(load_selftraining(Path("paper")).model_dump_json())
    assert read_selftraining(tmp_path / "selftrain.json") == load_selftraining(Path("paper"))


def test_a_copy_of_a_systems_configuration_is_accepted_where_the_name_is(tmp_path: Path) -> None:
    output(call_housewise("copy", "config", "personalize/paper", tmp_path))
    assert load_selftraining(tmp_path / "paper.yaml") == load_selftraining(Path("personalize/paper"))


@pytest.mark.parametrize("content", ["run: [1]", "run:", "run: 5"])
def test_a_recipe_without_settings_of_a_run_is_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(content)
    assert "setting run: has keys of its own" in one_line(call_housewise("run", "--config", tmp_path / "mine.yaml"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--config", "papre"), "papre: no such configuration file, and none of that name; did you mean paper?"),
        (("run", "--system", "stars", "--config", "planner"), "planner: no such configuration file"),
        (
            ("run", "--system", "stars", "--config", "personalize/paper"),
            "these are settings of personalize, not of stars",
        ),
        (("run", "--config", "clipr/paper", "--system", "stars"), "these are settings of clipr, not of stars"),
        (("run", "--config", "goals", "--system", "clipr"), "these are settings of stars, not of clipr"),
        (("settings", "llm", "--config", "small"), "none of that name; did you mean small_model?"),
        (("copy", "config", "paper"), "paper: name the system, too; available: "),
    ],
)
def test_what_names_no_configuration_is_one_line(words: tuple[str, ...], message: str) -> None:
    assert message in one_line(call_housewise(*words))


@pytest.mark.parametrize(
    ("config", "folder"), [("seed: 3\n", "here"), ("data: null\n", None), ("tasks: {data: there}\n", "there")]
)
@pytest.mark.parametrize("command", ["run", "selftrain"])
def test_a_configuration_wins_over_the_environment_and_an_option_over_both(
    command: str, config: str, folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str | None] = []
    monkeypatch.setattr(run_progress, "play_run", lambda system, *_: found.append(system.settings.tasks.data))
    monkeypatch.setattr(
        selftrain_progress, "run_selftraining", lambda settings, *_: found.append(settings.run.tasks.data)
    )
    (tmp_path / "mine.yaml").write_text(config if command == "run" else f"run: {{{config.strip()}}}\n")
    words = (command, "--config", tmp_path / "mine.yaml", "--out", tmp_path / "out")
    for more in ((), ("--data", "elsewhere")):
        call_housewise(*words, *more, HOUSEKEEP_DATA="here/", code=0)
    assert found == [folder, "elsewhere"]


@pytest.mark.parametrize("command", ["run", "selftrain"])
def test_generated_houses_beside_a_configuration_that_names_data_are_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(f"data: {tmp_path / 'there'}\n")
    words = (command, "--config", tmp_path / "mine.yaml", "--houses", 1, "--out", tmp_path / "out")
    # A training says first which part of the file it takes.
    told = call_housewise(*words, code=2).stderr.strip().splitlines()[-1]
    assert "--houses plays generated houses, and the settings name the Housekeep data" in told and "data=null" in told
    assert not (tmp_path / "out").exists()


def test_lessons_are_about_generated_houses_whatever_the_environment_says(tmp_path: Path) -> None:
    tasks = "evaluation.tasks=[{name: test, seed: 30000}]"
    twice = ("selftrain", "--config", "brain", tasks, "--out", tmp_path / "out")
    told = one_line(call_housewise(*twice, HOUSEKEEP_DATA=str(tmp_path)))
    assert "house 30000 is learned from and is among evaluation.tasks" in told
    assert f"{tmp_path}: no data/" in one_line(call_housewise(*twice, "--data", tmp_path))
