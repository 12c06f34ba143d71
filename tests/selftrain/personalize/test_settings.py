"""Settings, tasks and episodes that do not fit: what is refused beforehand, and what is left out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.configs import packaged_configs
from housewise.core.errors import UserError
from housewise.rollout.executor import RunCallback
from housewise.rollout.failures import FailedEpisodesError
from housewise.rollout.run import Run
from housewise.selftrain.personalize.planned_phases import remaining_phases, training_name
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import generated_house_tasks, load_selftraining
from housewise.selftrain.training_folder import play_run
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from tests.commands import run_module
from tests.selftrain.tiny import Unheard
from tests.worlds.house.housekeep_folder import EPISODES, episode, make_folder, write_episodes


@pytest.mark.parametrize("part", ["demonstrations", "training_tasks", "test"])
def test_tasks_that_do_not_exist_are_named_before_anything_is_played(
    housekeep: HousekeepData, tmp_path: Path, part: str
) -> None:
    tasks = "evaluation.tasks=[{name: test, episodes: [99999]}]" if part == "test" else f"{part}.episodes=[99999]"
    config = load_selftraining(overrides=[f"run.data={housekeep.root}", "run.scenes=[Merom_1_int]", tasks])
    with pytest.raises(UserError, match="no episode 99999"):
        SelfTraining(config, tmp_path / "out", Unheard())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("filtre.name=x", "did you mean filter"),
        ("run.modle=x", "did you mean run.model"),
        ("grow.temperature=0", "setting grow.temperature"),
        ("training.method=qlora", "setting training.method"),
        ("training=3", "has keys of its own"),
    ],
)
def test_what_does_not_fit_is_said(setting: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_selftraining(overrides=[setting])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["lessons=[{houses: 1, each: 1},{houses: 3, each: 1, seed: 3}]"], r"lessons\[1\]: house 3 .* test .*2 are"),
        (["lessons=[{houses: 9, each: 1, seed: 1996}]"], r"lessons\[0\]: house 2000 .* train .*5 are"),
        (["demonstrations.seed=4"], r"demonstrations: house 4 .* test .*1 are"),
        (["training_tasks.seed=2003"], r"training_tasks: house 2003 .* train .*2 are"),
        (["training_tasks.seed=2003", "iterations=0"], None),
        (["lessons=[{houses: 5, each: 1, seed: 5}]"], None),
    ],
)
def test_houses_that_test_teach_nothing(tmp_path: Path, settings: list[str], message: str | None) -> None:
    config = load_selftraining(overrides=["run.data=null", *settings])
    if message is None:
        config.check_houses()
        return
    with pytest.raises(UserError, match=message):
        SelfTraining(config, tmp_path / "out", Unheard())


@pytest.mark.parametrize(
    "name", [name for name, path in packaged_configs().items() if "evaluation:" in path.read_text()]
)
def test_no_recipe_that_comes_along_teaches_the_houses_that_test(name: str) -> None:
    load_selftraining(Path(name), overrides=["run.data=null"]).check_houses()


@pytest.mark.parametrize("name", [None, "person"])
def test_fewer_houses_are_among_those_of_the_configuration(name: str | None) -> None:
    """As with ``--houses 8``: what is evaluated as training tasks is trained on, with a configuration as without."""
    file = None if name is None else Path(name)
    whole = load_selftraining(file)
    few = load_selftraining(file, generated_house_tasks(8, file))
    assert (few.demonstrations.houses, few.training_tasks.houses) == (4, 8)
    assert few.training_tasks.seed == whole.training_tasks.seed
    assert few.evaluation.tasks == [tasks.model_copy(update={"houses": 2}) for tasks in whole.evaluation.tasks]


def test_trainings_that_are_not_over_may_read_longer_examples() -> None:
    before, now = (load_selftraining(overrides=[f"training.max_example_tokens={most}"]) for most in (300, 600))
    assert before.identity(imitated=True, improved=True) == now.identity(imitated=True, improved=True)
    assert before.training.identity != now.training.identity


@pytest.mark.parametrize(
    ("setting", "is_kept"),
    [
        *((setting, False) for setting in ("rollouts.options=[--dtype, float32]", "rollouts.max_difference=0.3",
                                           "training.micro_batch=1", "training.gradient_checkpointing=true")),
        *((setting, True) for setting in ("training.quantization=4bit", "training.rank=8",
                                          "training.targets=[q_proj]", "run.dtype=float32",
                                          "run.chat_template_kwargs={enable_thinking: false}")),
    ],
)  # fmt: skip
def test_messages_may_advise_what_a_folder_with_trained_models_accepts(setting: str, is_kept: bool) -> None:
    """Those about serving and memory advise the others in another folder."""
    engine = "rollouts.engine=vllm"
    before, now = (
        load_selftraining(overrides=[engine, *more]).identity(imitated=True, improved=False) for more in ([], [setting])
    )
    assert (before != now) == is_kept


def test_the_command_line_teaches() -> None:
    help_text = run_module("housewise", ["selftrain", "--help"]).stdout
    assert "housewise selftrain --houses 4" in help_text and "--person" in help_text


class Heard:
    """Takes what is told of the episodes of a phase."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    @contextmanager
    def watch_episodes(self, name: str, run: Run) -> Iterator[RunCallback]:
        heard = RunCallback()
        heard.on_episode_failure = lambda job, failure: self.failed.append(job.name)  # type: ignore[method-assign]
        yield heard


@pytest.mark.parametrize(("spoilt", "goes_on"), [(1, True), (2, False)])
def test_a_few_episodes_that_fail_are_left_out(tmp_path: Path, spoilt: int, goes_on: bool) -> None:
    data = make_folder(tmp_path / "data")
    damaged = {"start_matrix": [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]}
    episodes = [episode(number) | (damaged if number < spoilt else {}) for number in range(5)]
    write_episodes(data / EPISODES, {"episodes": episodes})
    config = house_settings(settings={"data": str(data), "planner": "demonstrator", "max_steps": 30})
    run, heard = Run(Personalize(config), tmp_path / "run"), cast(Any, Heard())
    if not goes_on:
        with pytest.raises(FailedEpisodesError, match="2 of 5 episodes failed"):
            play_run("demonstrate", run, heard, max_failed=0.25)
        return
    figures = play_run("demonstrate", run, heard, max_failed=0.25)
    assert (figures["overall"]["episodes"], figures["failed"]["episodes"]) == (4, 1) and len(heard.failed) == 1


def test_an_evaluation_that_an_iteration_plays_is_not_played_twice(tmp_path: Path) -> None:
    paper = load_selftraining(Path("paper"), {"run": {"tasks": {"data": None}}})
    train, test = paper.evaluation.tasks
    assert paper.is_grown(train) and not paper.is_grown(test)
    names = [phase.name for phase in remaining_phases(paper, tmp_path)]
    assert "iteration-1: grow" in names and training_name("imitate") in names and len(names) == len(set(names))
    played = [phase.name for phase in remaining_phases(paper, tmp_path) if phase.episodes]
    assert [name for name in played if name.endswith(": train")] == ["untrained: train", "iteration-2: train"]
    for changes in ("grow.temperature=0.5", "grow.replies=2", "evaluation.repeats=1", "run.memory.start=ada"):
        other = load_selftraining(Path("paper"), {"run": {"tasks": {"data": None}}}, [changes])
        assert not other.is_grown(other.evaluation.tasks[0]), changes
