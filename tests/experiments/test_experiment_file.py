"""Experiment files: what is refused, and how the bundled ones expand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.experiments.catalogue import bundled_experiments, find_experiment, load_experiment
from housewise.experiments.grid import Grid
from housewise.experiments.runner import ExperimentRunner
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.tasks import list_tasks
from housewise.terminal.selftrain_progress import TrainingDisplay

VALID: dict[str, Any] = {
    "title": "Planners",
    "shows": "How planners tidy.",
    "system": "personalize",
    "axes": {
        "row": {"scripted": {"planner": "scripted"}, "memory": {"settings": {"planner": "lookup", "goal_radius": 0.3}}},
        "scene": {"one": {"seed": 1}, "two": {"seed": 2}},
        "seed": [1, 2],
    },
    "runs": {
        "shown": {"settings": {"planner": "demonstrator"}, "axes": ["scene"], "learns": True},
        "test": {"memory": "shown"},
    },
    "measures": ["success_rate"],
}  # fmt: skip


def load(tmp_path: Path, **changes: Any) -> Any:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**VALID, **changes}, sort_keys=False))
    return load_experiment(path)


def test_runs_share_what_does_not_depend_on_an_axis(tmp_path: Path) -> None:
    runs = Grid(load(tmp_path)).runs
    assert [run.name for run in runs].count("shown") == 2
    tested = [run for run in runs if run.name == "test"]
    assert len(tested) == 8 and [run.name for run in runs].index("shown") == 0
    for run in tested:
        assert run.memory is not None and dict(run.memory[0].cell) == {"scene": dict(run.cell)["scene"]}
    assert str(tested[0].folder) == "test/row=scripted/scene=one/seed=1"


def test_a_memory_can_come_from_other_levels(tmp_path: Path) -> None:
    axes = {**VALID["axes"], "from": {"one": {}, "two": {}}}
    runs = {**VALID["runs"], "test": {"memory": {"run": "shown", "at": {"scene": "{from}"}, "notes": 3}}}
    spec = load(
        tmp_path, axes=axes, runs=runs, exclude=[{"scene": "one", "from": "one"}, {"scene": "two", "from": "two"}]
    )
    measured = Grid(spec).measured_runs
    assert {(dict(run.cell)["scene"], dict(run.cell)["from"]) for run in measured} == {("one", "two"), ("two", "one")}
    for run in measured:
        assert run.memory is not None and run.memory[1] == 3
        assert dict(run.memory[0].cell) == {"scene": dict(run.cell)["from"]}


def test_a_level_can_change_or_skip_a_run(tmp_path: Path) -> None:
    level = {"settings": {"planner": "scripted"}, "runs": {"test": {"memory": None, "settings": {"max_steps": 7}}}}
    spec = load(
        tmp_path, axes={"row": {"none": level, "gone": {"runs": {"test": {"skip": True}}}}, **{"scene": {"one": {}}}}
    )
    (run,) = Grid(spec).runs
    assert run.memory is None and {"max_steps": 7} in run.settings


def test_what_a_level_makes_no_difference_to_is_played_once(tmp_path: Path) -> None:
    level = {"settings": {"planner": "llm"}, "runs": {"test": {"memory": None, "axes": ["row", "seed"]}}}
    spec = load(tmp_path, axes={**VALID["axes"], "row": {"scripted": {"planner": "scripted"}, "alone": level}})
    grid = Grid(spec)
    alone = [run for run in grid.measured_runs if dict(run.cell)["row"] == "alone"]
    assert len(alone) == 4 and len({run.folder for run in alone}) == 2
    assert all(run.memory is None and {"seed": 1} not in run.settings for run in alone)
    assert len([run for run in grid.runs if run.name == "test"]) == 4 + 2


def test_a_run_that_a_level_does_not_change_is_that_of_experiments_without_its_axis(tmp_path: Path) -> None:
    rows = {"scripted": {"planner": "scripted"}, "llm": {"planner": "llm"}}
    runs = {
        "shown": {"settings": {"planner": "demonstrator"}, "axes": ["row"], "learns": True},
        "test": {"memory": "shown"},
    }
    swapped = {"memory": {"at": {"row": "llm"}}, "unchanged_at": {"row": "llm"}}
    plain = Grid(load(tmp_path, axes={"row": rows}, runs=runs)).measured_runs
    axes = {"row": rows, "memory of": {"llm": {"runs": {"test": swapped}}}}
    other, own = Grid(load(tmp_path, axes=axes, runs=runs)).measured_runs
    assert (own.folder, own.memory, own.settings) == (plain[1].folder, plain[1].memory, plain[1].settings)
    assert dict(own.cell) == {"row": "llm", "memory of": "llm"}
    assert other.folder == Path("test/row=scripted/memory of=llm")
    assert other.memory is not None and dict(other.memory[0].cell) == {"row": "llm"}


def test_levels_give_parts_of_a_source(tmp_path: Path) -> None:
    axes = {
        "scene": {"one": {"seed": 1}, "two": {"seed": 2}},
        "from": {"here": {}, "there": {"runs": {"test": {"memory": {"at": {"scene": {"one": "two", "two": "one"}}}}}}},
        "size": {"few": {"runs": {"test": {"memory": {"notes": 3}}}}, "all": {}},
        "row": {"memory": {}, "empty": {"runs": {"test": {"memory": None}}}},
    }
    grid = Grid(load(tmp_path, axes=axes))
    found = {tuple(dict(run.cell).values()): run.memory for run in grid.measured_runs}
    memory = found["one", "there", "few", "memory"]
    assert memory is not None and (dict(memory[0].cell), memory[1]) == ({"scene": "two"}, 3)
    memory = found["one", "here", "all", "memory"]
    assert memory is not None and (dict(memory[0].cell), memory[1]) == ({"scene": "one"}, None)
    assert found["one", "there", "few", "empty"] is None


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"measure": ["success_rate"]}, "field measure: there is no such field"),
        ({"system": "robots"}, "field system: no 'robots'; available: "),
        ({"axes": {}}, "field axes: "),
        ({"axes": {"row": {}}}, "field axes.row: "),
        ({"axes": {"a/b": {"x": {}}}}, "field axes.a/b"),
        ({"axes": {"task": {"x": {}}}}, "'task' is a column of every results table"),
        ({"axes": {**VALID["axes"], "row": {"x": {"planner": "a"}, "y": {"planner": "a"}}}},
         "axes.row: x and y are the same"),
        ({"table": {"rows": ["rows"]}}, "table.rows: no 'rows'; did you mean"),
        ({"compare": {"row": "scriptd"}}, "compare: axis row: no 'scriptd'; did you mean"),
        ({"exclude": [{"scene": "three"}]}, "exclude.0: axis scene: no 'three'"),
        ({"axes": {**VALID["axes"], "row": {"a": {"runs": {"test": {"unchanged_at": {"row": "b"}}}}}}},
         "axes.row.a.runs.test.unchanged_at: axis row: no 'b'"),
        ({"quick": {"axes": {"seed": ["9"]}}}, "quick.axes: axis seed: no '9'"),
        (
            {"axes": {"row": {"a": {"task_pattern": "a-*", "settings": {"seed": 1}}}}},
            "a level with task_pattern shares its run with others; it can change nothing else",
        ),
        ({"table": {"rows": ["row", "measure"], "total": "all"}}, "total: needs rows of axes, without 'measure'"),
        ({"runs": {"test": {"memory": "shown"}}}, "runs.test.memory: no 'shown'"),
        ({"runs": {"test": {"memory": "later"}, "later": {"learns": True}}},
         "runs.test.memory: later has to stand before"),
        ({"runs": {"shown": {}, "test": {"memory": "shown"}}}, "runs.test.memory: shown leaves no memory"),
        ({"runs": {"test": {"model": {"training": "t", "phase": "imitate"}}}}, "runs.test.model.training: no 't'"),
        ({"measures": [{"mine": {"function": "os.system"}}]}, "field measures.0"),
        ({"runs": {"test": {"axes": ["rwo"]}}}, "runs.test.axes: no 'rwo'; did you mean row"),
        ({"runs": {"shown": {"learns": True}, "test": {"memory": {"run": "shown", "at": {"scene": {"one": "six"}}}}}},
         "runs.test: axis scene: no 'six'"),
        ({"published": {"file": "f", "address": "a", "beside": {"row": "x"}}}, "published.beside: axis row: no 'x'"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        load(tmp_path, **changes)
    told = str(error.value)
    assert message in told and str(tmp_path / "mine.yaml") in told and "\n" not in told


def test_an_experiment_extends_another_one(tmp_path: Path) -> None:
    load(tmp_path)
    (tmp_path / "more").mkdir()
    extending = tmp_path / "more" / "more.yaml"
    changes = {
        "extends": "../mine.yaml",
        "axes": {
            "row": {"scripted": None, "memory": {"settings": {"goal_radius": 0.5}}},
            "seed": [3],
            "size": {"few": {}, "none": {"runs": {"test": {"memory": None}}}},
        },
        "quick": {"axes": {"seed": ["3"]}},
    }
    extending.write_text(yaml.safe_dump(changes, sort_keys=False))
    memory = {"settings": {"planner": "lookup", "goal_radius": 0.5}}
    axes = {"row": {"memory": memory}, "scene": VALID["axes"]["scene"], "seed": [3], "size": changes["axes"]["size"]}
    spec = load_experiment(extending)
    assert spec == load(tmp_path, axes=axes, quick=changes["quick"])
    assert [run.folder for run in Grid(spec).runs] == [run.folder for run in Grid(load(tmp_path, axes=axes)).runs]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"extends": "personalize/tabel_1"}, "mine.yaml: field extends: no experiment 'personalize/tabel_1'; did you"),
        ({"extends": "other.yaml"}, "mine.yaml: field extends: no file "),
        ({"extends": ["table_1"]}, "mine.yaml: field extends: expected the name of an experiment, or the path of a"),
        ({"extends": "mine.yaml"}, "mine.yaml: field extends: mine.yaml extends this experiment in turn"),
        ({"extends": "circle.yaml"}, "circle.yaml: field extends: mine.yaml extends this experiment in turn"),
        ({"extends": "adapt/agents"}, "agents is an experiment of adapt, and this one of personalize; extend one of"),
        ({"extends": "table_1", "measures": None}, "mine.yaml: not an experiment (field measures: Field required)"),
        ({"extends": "broken.yaml"}, "broken.yaml: not an experiment (field title: Field required)"),
    ],
)  # fmt: skip
def test_what_cannot_be_extended_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    (tmp_path / "circle.yaml").write_text("extends: mine.yaml\n")
    (tmp_path / "broken.yaml").write_text("shows: Nothing.\n")
    with pytest.raises(UserError) as error:
        load(tmp_path, **changes)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_sources_have_to_be_complete(tmp_path: Path) -> None:
    runs = {"shown": {"learns": True}, "test": {"memory": {"notes": 3}}}
    with pytest.raises(UserError, match=r"runs\.test\.memory: names no run at scripted, one, 1"):
        Grid(load(tmp_path, runs=runs)).runs  # noqa: B018
    trained = {"trainings": {"all": {}}, "runs": {"test": {"model": {"training": "all"}}}}
    with pytest.raises(UserError, match=r"runs\.test\.model: needs a training and a phase"):
        Grid(load(tmp_path, **trained)).runs  # noqa: B018


def test_levels_of_a_source_have_to_be_known(tmp_path: Path) -> None:
    axes = {"row": {"scripted": {"planner": "scripted"}}, "scene": {"one": {}, "two": {"seed": 2}}}
    runs = {"shown": {"axes": ["scene"], "learns": True}, "test": {"axes": ["row"], "memory": "shown"}}
    with pytest.raises(UserError, match="shown depends on axis 'scene', which has no level here"):
        Grid(load(tmp_path, axes=axes, runs=runs)).runs  # noqa: B018


@pytest.mark.parametrize("name", bundled_experiments())
def test_bundled_experiments_expand(name: str) -> None:
    spec = load_experiment(bundled_experiments()[name])
    assert spec.shows.endswith(".") and "\n" not in spec.shows and spec.duration
    whole, quick = Grid(spec), Grid(spec.for_quick({}), quick=True)
    for grid in (whole, quick):
        if spec.function is None:
            folders = [run.folder for run in grid.runs]
            assert folders and len(set(folders)) == len(folders)
    cells = [*(run.cell for run in whole.measured_runs), *(cell for cell, _ in whole.function_cells)]
    assert len(cells) == len(set(cells)) > 0
    assert 0 < len(quick.runs) + len(quick.function_cells) <= len(cells)


def tasks_of(settings: PersonalizeSettings) -> set[tuple[str, int]]:
    return {(task.scene, task.episode) for task in list_tasks(settings.tasks)}


@pytest.mark.parametrize("name", [name for name in bundled_experiments() if name.startswith("personalize/")])
def test_houses_that_are_tested_are_never_learned_from(name: str, tmp_path: Path) -> None:
    spec = load_experiment(bundled_experiments()[name])
    if spec.function or "generated" not in spec.axes.get("scene", {}):
        return
    part = {"scene": ["generated"], **({"seed": ["1"]} if "seed" in spec.axes else {})}
    runner = ExperimentRunner(spec.with_levels(part), tmp_path, TrainingDisplay(Console()))
    learned: set[tuple[str, int]] = set()
    tested: set[tuple[str, int]] = set()
    for run in runner.grid.runs:
        if run.learns:
            learned |= tasks_of(runner.settings(run))
        if run.model is not None:
            recipe = load_selftraining(run.model[0].template.config)
            for tasks in (recipe.demonstrations, recipe.training_tasks):
                learned |= tasks_of(recipe.run_settings(tasks))
        if run.name in spec.measured_runs and dict(run.cell).get("tasks") != "train":
            tested |= tasks_of(runner.settings(run))
    assert learned and tested and not learned & tested


def test_experiments_are_found_by_name() -> None:
    assert find_experiment("new_houses")[0] == "personalize/new_houses" == find_experiment("personalize/new_houses")[0]
    with pytest.raises(UserError, match="no experiment 'personalize/new_house'; did you mean"):
        find_experiment("personalize/new_house")
