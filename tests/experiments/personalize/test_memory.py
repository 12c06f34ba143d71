"""Experiments with a memory, in generated houses: which memory each run starts from."""

import os
from pathlib import Path

import pytest

from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.grid import Grid
from housewise.experiments.results_table import read_table
from housewise.people.memory import MemoryFolder
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_records
from housewise.systems.personalize.record import HouseRecord, read_house_records
from tests.commands import run_module

FEW = ("--quick", "--only", "scene=generated", "max_steps=50")


def experiment(folder: Path, name: str, *words: str) -> Path:
    """Play a part of an experiment, and return the folder of its runs."""
    done = run_module("housewise", ["experiment", name, *FEW, "--out", "out", *words], {**os.environ}, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def episode(run: Path) -> HouseRecord:
    (record,) = read_house_records(run / "episodes")
    return record


def digest(run: Path, person: str = "majority") -> str:
    """Digest of the memory that a run leaves."""
    return MemoryFolder(run / "memory").load(person).digest


@pytest.fixture(scope="module")
def value(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows of memory_value, with seed 3."""
    rows = ("--only", "row=lookup", "--only", "row=lookup without verdicts")
    return experiment(
        tmp_path_factory.mktemp("value"), "memory_value", *rows, "--only", "tasks=test", "--only", "seed=3"
    )


def test_each_stage_starts_from_the_memory_of_the_one_before(value: Path) -> None:
    shown = value / "demonstrations/scene=generated/seed=3"
    rounds = [value / f"round {number}/scene=generated/row=lookup/seed=3" for number in (1, 2)]
    assert len(MemoryFolder(shown / "memory").load("majority")) > 0
    assert [episode(run).header.memory for run in rounds] == [digest(shown), digest(rounds[0])]
    tested = {stage: value / f"test/scene=generated/stage={stage}/row=lookup/tasks=test/seed=3" for stage in STAGES}
    assert [episode(run).header.memory for run in tested.values()] == [digest(run) for run in (shown, *rounds)]
    settings = [episode(run).header.settings["agent"]["place_at_random"] for run in (rounds[0], *tested.values())]
    assert settings == [True, False, False, False], "only attempts place at random"
    streams = [episode(run).header.settings["tasks"]["rng_stream"] for run in (shown, *rounds)]
    assert len(set(streams)) == 3, "attempts draw anew in each round"


STAGES = ("after demonstrations", "after round 1", "after round 2")


def test_demonstrations_without_verdicts_leave_fewer_notes(value: Path) -> None:
    folders = (
        value / "demonstrations/scene=generated" / part for part in ("seed=3", "row=lookup without verdicts/seed=3")
    )
    more, less = (len(MemoryFolder(folder / "memory").load("majority")) for folder in folders)
    assert more > less


@pytest.mark.slow
def test_the_first_notes_that_came_are_taken(tmp_path: Path) -> None:
    folder = experiment(
        tmp_path,
        "memory_size",
        "--only",
        "row=lookup",
        "--only",
        "tasks=test",
        "--only",
        "size=0,10",
        "--only",
        "seed=1",
        "max_steps=300",
    )
    cell = "scene=generated/row=lookup"
    runs = (folder / "demonstrations/scene=generated/seed=1", folder / f"round 1/{cell}/seed=1")
    came = [note for run in runs for record in read_records(run / "episodes") for note in learned_notes(record)]
    start = MemoryFolder(folder / f"sized/{cell}/tasks=test/size=10/seed=1/memory_at_start").load("majority")
    assert len(start) == 10 and {note.id for note in start.notes} <= {note.id for note in came}
    assert episode(folder / f"sized/{cell}/tasks=test/size=10/seed=1").header.memory == start.digest
    assert len(read_table(folder / "memory_size.csv").frame) == 2


@pytest.mark.slow
def test_a_memory_that_is_swapped_in_is_the_other_persons(tmp_path: Path) -> None:
    folder = experiment(
        tmp_path,
        "memory_swap",
        "--only",
        "row=lookup",
        "--only",
        "person=dmitri",
        "--only",
        "person=majority",
        "--only",
        "person=farid",
    )
    shown = {
        who: folder / f"demonstrations/scene=generated/person={who}/seed=1" for who in ("dmitri", "farid", "majority")
    }
    digests = {who: digest(run, who) for who, run in shown.items()}
    assert len(set(digests.values())) == 3
    for person, other in (("dmitri", "farid"), ("farid", "dmitri")):
        for whose, expected in (("the person", person), ("the majority", "majority"), ("another person", other)):
            played = episode(folder / f"swapped/scene=generated/person={person}/memory of={whose}/row=lookup/seed=1")
            assert played.header.memory == digests[expected] and played.header.person == person


def test_transfers_start_from_what_was_remembered_and_are_measured(tmp_path: Path) -> None:
    folder = experiment(
        tmp_path, "memory_transfer", "--only", "from=the same scene", "--only", "row=lookup", "--only", "seed=3"
    )
    cell = "scene=generated/from=the same scene/stage=after round 1/row=lookup/seed=3"
    assert episode(folder / "transfer" / cell).header.memory == digest(
        folder / "round 1/scene=generated/row=lookup/seed=3"
    )
    frame = read_table(folder / "memory_transfer.csv").frame
    found = {measure: group["value"].mean() for measure, group in frame.groupby("measure")}
    assert found["out_of_place"] >= found["place_named"] >= found["named_placed"] and found["out_of_place"] > 0


ONE_FOLDER = (
    "memory_value",
    "memory_size",
    "memory_transfer",
    "kernel_value",
    "kernel_size",
    "kernel_transfer",
    "weighing",
    "weighing_rounds",
    "weighing_transfer",
    "explorer_swap",
)


def grid_of(name: str) -> Grid:
    experiment = load_experiment(bundled_experiments()[f"personalize/{name}"])
    assert experiment.folder == "personalize/memory_value"
    return Grid(experiment)


def test_rows_with_a_model_and_without_share_their_runs() -> None:
    found: dict[Path, tuple[object, ...]] = {}
    for name in ONE_FOLDER:
        for run in grid_of(name).runs:
            settings = {key: value for layer in run.settings for key, value in layer.items()}
            memory = run.memory and (run.memory[0].folder, run.memory[1])
            made = (settings, memory, run.learns)
            assert found.setdefault(run.folder, made) == made, f"{name}: {run.label}"
    all_of = {run.folder for name in ("memory_value", "memory_size") for run in grid_of(name).runs}
    for name in ("kernel_value", "kernel_size", "weighing", "weighing_rounds"):
        assert {run.folder for run in grid_of(name).runs} <= all_of
    with_a_model = {run.folder for run in grid_of("weighing_transfer").runs}
    assert {run.folder for run in grid_of("kernel_transfer").runs} <= with_a_model
    same_scene = [run for run in grid_of("explorer_swap").measured_runs if run.folder in all_of]
    assert {(dict(run.cell)["row"], dict(run.cell)["memory of"]) for run in same_scene} == {
        ("kernel", "kernel"),
        ("model, memory", "model"),
    }


def test_carried_memories_are_paired_with_the_empty_one_over_tests_and_others() -> None:
    grid = grid_of("weighing_transfer")
    assert "model, empty memory" in grid.experiment.compare["row"]
    cells = [dict(run.cell) for run in grid.measured_runs]
    tasks = {(cell["from"], cell["scene"]): set[str]() for cell in cells}
    for cell in cells:
        tasks[cell["from"], cell["scene"]].add(cell["tasks"])
    assert tasks["Merom_1_int", "Pomaria_2_int"] == tasks["Pomaria_2_int", "Merom_1_int"] == {"test", "other"}
    assert ("Merom_1_int", "Pomaria_1_int") in tasks and ("Merom_1_int", "Rs_int") in tasks
    assert "tasks" not in (*grid.experiment.table.rows, *grid.experiment.table.columns), "they are averaged"
    empty = {run.folder for run in grid.measured_runs if dict(run.cell)["row"] == "model, empty memory"}
    assert all("tasks=" in str(folder) for folder in empty), "both kinds of tasks are played"
    houses = {run.folder for run in grid.measured_runs if dict(run.cell)["scene"] == "generated"}
    assert houses <= {run.folder for run in grid_of("memory_value").runs}


def test_every_number_of_notes_is_paired_with_none_over_three_seeds() -> None:
    for name in ("memory_size", "kernel_size"):
        experiment = grid_of(name).experiment
        assert experiment.compare["size"] == ("0",) and list(experiment.axes["seed"]) == ["1", "2", "3"]


def test_simulators_play_with_the_same_memory(tmp_path: Path) -> None:
    folder = experiment(tmp_path, "simulators", "--only", "row=lookup", "--only", "simulator=raycast")
    assert episode(folder / "simulated/scene=generated/row=lookup/simulator=raycast/seed=1").header.memory == digest(
        folder / "round 2/scene=generated/row=lookup/seed=1"
    )
