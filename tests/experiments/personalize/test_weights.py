"""Rows with trained weights: what sets them apart, and one of them from beginning to end beside a row without."""

import json
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.core.settings import flatten_settings
from housewise.experiments.personalize.households import Household, Setup
from housewise.experiments.personalize.remembering import EVERY, Remembering
from housewise.experiments.personalize.robots import DEMONSTRATIONS, GENERATED_HOUSES, REWARDS, ROUNDS, SHOWN, VERDICTS
from housewise.experiments.personalize.weights import ALONE, BOTH, PLAN_REWARDS, REVIEWS, RULE, WEIGHTS, Pupil
from housewise.people.memory import MemoryFolder
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.tasks import list_tasks
from tests.commands import run_module
from tests.experiments.records import SHELF, TABLE, make_record, save

HOUSE = Household("generated")
RECIPE = """
run: {prompt: judging, max_plans: 2, sampling: {max_tokens: 8}}
target: relabelled
memory_lessons: 2
imitation_memory_lessons: 2
imitation_epochs: 1
training: {rank: 2, epochs: 1, batch: 2, max_example_tokens: 16384, device: cpu, dtype: float32}
"""


def configs(tmp_path: Path, row: str, setup: Setup) -> dict[str, Any]:
    return flatten_settings(Pupil(row, HOUSE, 3, tmp_path).config(setup).model_dump())


def test_rows_differ_in_what_they_are_named_for_alone(tmp_path: Path) -> None:
    setup = Setup(given={"adapter": "tidy", "workers": 3})
    alone, both, rule = (configs(tmp_path, row, setup) for row in (ALONE, BOTH, RULE))
    assert {key for key in alone if both[key] != alone[key]} == {
        f"run.memory.{key}" for key in ("start", "folder", "new")
    }
    changed = {"filter.name", "target", "memory_lessons", "imitation_memory_lessons", "run.agent.wrappers"}
    assert {key for key in alone if rule[key] != alone[key]} == changed
    assert (rule["filter.name"], rule["target"], rule["memory_lessons"]) == ("positive", "raw", 0)
    assert (alone["target"], alone["run.models.agent.adapter"], alone["run.execution.workers"]) == (
        "relabelled",
        "tidy",
        3,
    )
    assert alone["run.tasks.seed"] == 3 and both["run.memory.start"] == "majority"


def test_each_test_is_played_once_and_all_learn_from_the_tables_own_tasks(tmp_path: Path) -> None:
    config = Pupil(ALONE, HOUSE, 1, tmp_path).config(Setup())
    (test,) = config.evaluation.tasks
    assert (
        config.evaluation_settings(test).tasks.repeats == 1
        and not config.evaluation.untrained
        and config.iterations == 2
    )
    for tasks, which in ((test, "test"), (config.demonstrations, "demo"), (config.training_tasks, "train")):
        chosen = config.run_settings(tasks).tasks
        wanted = HOUSE.tasks(which)
        assert [task.episode for task in list_tasks(chosen)] == [
            *range(wanted["seed"], wanted["seed"] + wanted["houses"])
        ]


def test_rows_say_what_they_are_given() -> None:
    setup = Setup(given={"adapter": "tidy"})
    told = {row: WEIGHTS[row].information(setup) for row in WEIGHTS}
    assert told[ALONE] == told[BOTH]
    twice = "2 attempts at each training task in every round"
    assert told[BOTH] == [DEMONSTRATIONS, VERDICTS, REWARDS, REVIEWS, twice, GENERATED_HOUSES]
    assert told[RULE] == [DEMONSTRATIONS, VERDICTS, PLAN_REWARDS, twice, GENERATED_HOUSES]


def test_rows_with_weights_are_compared_in_the_same_table(tmp_path: Path) -> None:
    merom = Household("Merom_1_int")
    for row, ends in ((BOTH, (SHELF, SHELF)), (ALONE, (SHELF, TABLE))):
        for number, end in enumerate(ends):
            folder = Pupil(row, merom, 1, tmp_path).tests(ROUNDS[1], "test").folder
            save(make_record({"mug 1": end}, episode=number), folder / "episodes")
    assert folder == tmp_path / "Merom_1_int" / "seed-1" / ALONE / "iteration-2" / "evaluation" / "test"
    experiment = Remembering([merom], list(EVERY), [1], Setup(given={"adapter": "tidy"}), tmp_path)
    results = experiment.results()[0]
    cells = {cell.row: cell for cell in results.cells if cell.column == "Merom_1_int test"}
    both = cells[f"{BOTH}, {ROUNDS[1]}"]
    assert both.ours and both.published and (both.ours.mean, both.published.mean, both.expected) == (100.0, 25.2, 5)
    assert both.marked and not cells[f"store, {SHOWN}"].marked
    assert f"Merom_1_int test, {ROUNDS[1]}: {BOTH} - {ALONE}: 50.0 ± 50.0 points, task by task" in results.notes


def test_weights_and_notes_from_beginning_to_end(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    from tests.selftrain.tiny import save_learner

    recipe, out = tmp_path / "recipe.yaml", tmp_path / "out"
    recipe.write_text(RECIPE)
    module, words = "housewise.experiments.personalize.remembering", ["--quick", "--seed", "2", "--out", out]
    learner = ["--model", f"local:{save_learner(tmp_path / 'tiny')}", "--recipe", recipe]
    run_module(module, [*words, *learner, "--row", BOTH], cwd=tmp_path, code=0)
    folder = out / "generated" / "seed-2" / BOTH
    shown = MemoryFolder(folder / "demonstrate" / "memory").load("majority")
    tested = list(read_house_records(folder / "imitate" / "evaluation" / "test" / "episodes"))
    assert len(shown) > 0 and [record.header.memory for record in tested] == [shown.digest]
    content = json.loads((out / "remembering.json").read_text())
    assert content["notes"]["generated"][BOTH][SHOWN] == {"2": len(shown)}
    assert content["figures"]["generated"][BOTH][ROUNDS[1]]["test"]["episodes"] == 1
    assert content["settings"][BOTH]["target"] == "relabelled" and list(content["told"]) == [BOTH]
    shown = run_module(module, [*words, *learner, "--show"], cwd=tmp_path)
    assert shown.returncode == 0 and BOTH in shown.stdout and RULE not in shown.stdout
    assert {"store", BOTH} < json.loads((out / "remembering.json").read_text())["figures"]["generated"].keys()


def test_what_cannot_be_taught_is_told_before_anything_is_played(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("filter: {name: positve}\n")
    setup = Setup(recipe=recipe, quick=False)
    experiment = Remembering([HOUSE], ["store", ALONE], [1], setup, tmp_path / "out")
    with pytest.raises(UserError, match="no filter 'positve'"):
        experiment.play(None)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()
