"""Experiments as users play them: a file of their own, killed and resumed, and what the command prints."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from housewise.core.errors import UserError
from housewise.core.record import Record
from housewise.experiments.catalogue import load_experiment
from housewise.experiments.measured_values import find_measures
from housewise.experiments.results_table import read_table
from housewise.experiments.runner import ExperimentRunner
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory, MemoryFolder
from housewise.rollout.note_events import NoteEvent
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.worlds.house.spoken_names import SpokenPlace
from tests.commands import one_line, run_module, started_module, wait_until
from tests.experiments.records import make_record
from tests.in_process import call_housewise

THREE_PLANNERS = """\
title: Three planners in generated houses
shows: How three planners tidy generated houses.
system: personalize
settings: {houses: 2, seed: 9700, max_steps: 60, objects: [4, 4], misplaced: [2, 2], memory.meaning: false}
axes:
  planner:
    scripted: {planner: scripted}
    demonstrator: {planner: demonstrator}
    lookup: {planner: memory_lookup}
  seed: [1, 2, 3]
measures: [success_rate, executability, steps]
compare: {planner: scripted}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(THREE_PLANNERS)
    return path


def experiment(folder: Path, *words: str) -> str:
    done = run_module("housewise", ["experiment", *words], {**os.environ, "COLUMNS": "200"}, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def count_episodes(folder: Path) -> int:
    return len(list(folder.rglob("episodes/*.jsonl")))


def test_killed_twice_it_gives_the_same_table(file: Path, tmp_path: Path) -> None:
    words = ("mine.yaml", "--only", "seed=1")
    told = experiment(tmp_path, *words, "--out", "whole")
    assert "more than scripted" in " ".join(told.split()) and count_episodes(tmp_path / "whole") == 6
    assert " 1 of 3: test, scripted, 1 (2 episodes) " in told
    assert re.search(r" 3 of 3, \d+ s left: test, lookup, 1 \(2 episodes\) ", told)
    for wanted in (1, 3):
        with started_module("housewise", ["experiment", *words, "--out", "killed"], cwd=tmp_path) as program:
            wait_until(lambda wanted=wanted: count_episodes(tmp_path / "killed") >= wanted, program)
            program.send_signal(signal.SIGKILL)
            program.wait()
    experiment(tmp_path, *words, "--out", "killed")
    assert (tmp_path / "whole/mine.csv").read_bytes() == (tmp_path / "killed/mine.csv").read_bytes()


def test_a_part_is_played_and_the_table_says_what_is_missing(file: Path, tmp_path: Path) -> None:
    told = experiment(tmp_path, "mine.yaml", "--only", "planner=scripted", "--only", "seed=1", "--results", "results")
    assert "2 episodes of 2 tasks" in told and (tmp_path / "results/mine.csv").is_file()
    told = experiment(tmp_path, "mine.yaml", "--show")
    assert "2 episodes of 2 tasks; 16 are missing" in told and "--quick" not in told
    whole = (tmp_path / "runs/experiments/mine/mine.json").read_bytes()
    assert "mine.csv" not in experiment(tmp_path, "mine.yaml", "--show", "--only", "seed=1")
    assert (tmp_path / "runs/experiments/mine/mine.json").read_bytes() == whole


def test_the_table_of_a_small_part_says_so(file: Path, tmp_path: Path) -> None:
    file.write_text(f"{THREE_PLANNERS}quick: {{axes: {{planner: [scripted], seed: ['1']}}, settings: {{houses: 1}}}}\n")
    assert "These results are of a small part (--quick)." in experiment(tmp_path, "mine.yaml", "--quick")


def test_the_table_says_with_which_commits_its_episodes_were_played(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment(tmp_path, "mine.yaml", "--only", "planner=scripted", "--only", "seed=1", "--out", "out")
    header = read_table(tmp_path / "out" / "mine.csv").header
    assert header.episodes.commits == (header.made["commit"],)
    assert header.episodes.software["housewise"] == (header.made["software"]["housewise"],)
    record = next((tmp_path / "out").rglob("episodes/*.jsonl"))
    head, *lines = record.read_text().splitlines()
    played = json.loads(head)
    played["data"] |= {"commit": "f" * 40, "changed": True, "started": "2026-01-02T03:04:05+00:00"}
    record.write_text("\n".join([json.dumps(played), *lines, ""]))
    opened: list[Path] = []

    def open_counted(path: str | Path, *flags: int, **folder: int) -> int:
        opened.append(Path(path))
        return open_file(path, *flags, **folder)

    open_file = os.open
    monkeypatch.setattr(os, "open", open_counted)
    monkeypatch.chdir(tmp_path)
    call_housewise("experiment", "mine.yaml", "--out", "out", "--show", code=0)
    monkeypatch.undo()
    assert [path.name for path in opened].count(record.name) == 1, "each record is read once"
    again = read_table(tmp_path / "out" / "mine.csv").header
    assert again.episodes.commits == ("f" * 40, header.made["commit"])
    assert again.episodes.changed and again.episodes.first.startswith("2026-01-02")


def test_all_are_listed_with_what_they_show(tmp_path: Path) -> None:
    told = " ".join(experiment(tmp_path).split())
    assert "personalize/new_houses" in told and "How well models tidy generated houses" in told


_TRAINED = "trainings: {t: T}\nruns: {test: {model: {training: t, phase: PHASE}}}\nmeasures: ["


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("success_rate", "success_rat", "mine.yaml: measures: no score 'success_rat'; did you mean success_rate?"),
        ("[success_rate", "[steps", "measures: steps is named twice; name it once"),
        ("[success_rate", '[{mine: {function: "os:nope"}}', "measures.mine.function: no function os:nope (module 'os'"),
        ("[success_rate", '[{mine: {function: "os:sep"}}', "measures.mine.function: os:sep is not a function"),
        ("seed: 9700", "sead: 9700", "mine.yaml: test, scripted, 1: settings: unknown setting 'sead'; did"),
        ("planner: scripted}", "planner: scriptde}", "setting planner: no 'scriptde'; did you mean scripted?"),
        ("[1, 2, 3]", "[1, 2, 1]", "axes.seed: 1 is listed twice; list it once"),
        ("lookup: {", "scripted: {", "mine.yaml: not readable as YAML ('scripted' stands twice, again in line 9)"),
        ("planner: memory_lookup}", "planner: llm, wrappers: [loop_recovery, loop_recovery]}",
         "setting wrappers: loop_recovery is named twice; name it once"),
        ("planner: memory_lookup}", 'planner: llm, wrappers: ["m:f", loop_recovery]}',
         "setting wrappers: loop_recovery changes how the model is asked and cannot stand behind m:f; write"),
        ("planner: memory_lookup}", 'function: "os:nope"}', "function: no function os:nope"),
        ("measures:", 'function: "os.path:split"\nmeasures:', "its arguments (missing a required argument: 'p')"),
        ("measures:", 'runs: {test: {memory: {function: "os:nope"}}}\nmeasures:', "runs.test.memory.function: no"),
        ("houses: 2", 'data: "${data}"', "${data}: no such input; describe it in the section inputs"),
        ("compare:", "published: {file: nope, address: x}\ncompare:", "mine.yaml: published.file: no 'nope'; "),
        ("compare:", 'published: {file: adapt, address: "{row}/x"}\ncompare:', "published.address: no 'row'; "),
        ("measures: [", _TRAINED.replace("T}", "{}}").replace("PHASE", "imitat"),
         "mine.yaml: trainings.t: no phase 'imitat'; did you mean imitate? available: untrained, imitate, "),
        ("measures: [", _TRAINED.replace("T}", "{settings: {itrations: 1}}}").replace("PHASE", "imitate"),
         "trainings.t: settings: unknown setting 'itrations'; did you mean iterations?"),
        ("measures: [", _TRAINED.replace("T}", "{settings: {run.model: local:no}}}").replace("PHASE", "imitate"),
         "mine.yaml: trainings.t: model no: "),
        ("measures: [", _TRAINED.replace("T}", "{config: nope}}").replace("PHASE", "imitate"), "trainings.t: "),
    ],
)  # fmt: skip
def test_mistakes_in_the_file_are_told_before_anything_is_played(
    file: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    file.write_text(THREE_PLANNERS.replace(old, new, 1))
    assert message in refuse(tmp_path)


@pytest.mark.parametrize(
    "words, message",
    [
        (("--only", "planner=sage"), "axis planner: no level 'sage'; available: scripted"),
        (("--only", "planner"), "'planner': write NAME=VALUE"),
        (("--input", "data=x"), "--input data: no such input; none available"),
        (("goal_radius=far",), "setting controller.goal_radius"),
        (("hosues=3",), "the command line: unknown setting 'hosues'; did you mean houses?"),
    ],
)
def test_mistakes_in_the_command_are_told_before_anything_is_played(
    file: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in refuse(tmp_path, *words)


@pytest.mark.parametrize("content", ["title: [", "", "- a\n", "hello", "\0", None])
def test_what_is_no_experiment_is_refused(file: Path, tmp_path: Path, content: str | None) -> None:
    file.unlink() if content is None else file.write_text(content)
    assert refuse(tmp_path).startswith("error: mine.yaml: ")


@pytest.mark.parametrize("content", ['{"settings": {"sides"', "[]", '{"settings": {"sides": 2}, "values": [{"a": 1}]}'])
def test_half_written_values_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "mine.yaml").write_text(
        "title: Dice\nshows: Points.\nsystem: personalize\naxes: {die: {coin: {sides: 2}}}\n"
        f"function: {__name__}:draws\nmeasures: [{{points: {{}}}}]\n"
    )
    values = tmp_path / "out/values/die=coin/values.json"
    values.parent.mkdir(parents=True)
    values.write_text(content)
    assert str(values.relative_to(tmp_path)) in refuse(tmp_path, "--out", "out")


def undefined(record: Record | None = None, sides: int = 0) -> list[tuple[str, int, str, float]] | tuple[float, float]:
    """Both an experiment's function and a measure: neither knows a value."""
    return [("throw 0", 0, "points", math.nan)] if record is None else (0.5, math.inf)


def unmeasured(record: Record) -> None:
    """A measure that no episode has."""


def test_numbers_that_no_table_can_hold_are_refused(file: Path, tmp_path: Path) -> None:
    measures = f"[{{mine: {{function: '{__name__}:undefined'}}}}, {{none: {{function: '{__name__}:unmeasured'}}}}]"
    file.write_text(THREE_PLANNERS.replace("[success_rate, executability, steps]", measures))
    found = find_measures(load_experiment(file), has_functions=False)
    record = make_record({"mug": "kitchen 0 shelf 1"}).record
    assert list(found["none"]("none", record, None)) == []
    with pytest.raises(UserError, match="undefined: weight inf of mine in Merom_1_int-0001 is not a finite number; "):
        list(found["mine"]("mine", record, None))
    file.write_text(
        "title: Dice\nshows: Points.\nsystem: personalize\naxes: {die: {coin: {sides: 2}}}\n"
        f"function: {__name__}:undefined\nmeasures: [{{points: {{}}}}]\n"
    )
    assert refuse(tmp_path, "--out", "out").endswith(
        "undefined: value nan of points in throw 0 is not a finite number; leave it out"
    )
    assert not list(tmp_path.rglob("values.json"))


def refuse(folder: Path, *words: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        line = one_line(call_housewise("experiment", "mine.yaml", *words))
    assert not count_episodes(folder)
    return line


def test_a_function_whose_file_has_changed_is_refused(file: Path, tmp_path: Path) -> None:
    code = tmp_path / "mine_too.py"
    code.write_text(
        "from tests.experiments.test_runner import remembering\n\n\n"
        "def control(**settings):\n    yield 't', 0, 'steps', 1\n"
    )
    memory = "{test: {memory: {function: 'mine_too:remembering', settings: {text: mug}}}}"
    file.write_text(
        THREE_PLANNERS.replace("{planner: scripted}\n", "{function: 'mine_too:control', settings: {}}\n", 1).replace(
            "{planner: memory_lookup}", f"{{settings: {{planner: memory_lookup}}, runs: {memory}}}"
        )
    )
    words = ["experiment", "mine.yaml", "--only", "seed=1", "--out", "out", "--only"]
    for level in ("scripted", "lookup"):
        experiment(tmp_path, *words[1:], f"planner={level}")
    experiment(tmp_path, *words[1:], "planner=scripted,lookup")
    code.write_text(f"{code.read_text()}\n")
    for level in ("scripted", "lookup"):
        done = run_module("housewise", [*words, f"planner={level}"], cwd=tmp_path)
        assert done.returncode and "mine_too.py: has changed since out/" in done.stderr


def test_needed_files_are_named(file: Path, tmp_path: Path) -> None:
    needed = "inputs:\n  data: {description: the folder of the data, environment: HOUSE_FOLDER}\n"
    text = THREE_PLANNERS.replace("settings: {", 'settings: {data: "${data}", ')
    file.write_text(text.replace("axes:", f"{needed}axes:", 1))
    assert "needs the folder of the data; give --input data=PATH or set HOUSE_FOLDER, or leave" in refuse(tmp_path)
    assert str(tmp_path / "none") in refuse(tmp_path, "--input", f"data={tmp_path / 'none'}")


def test_results_do_not_tell_where_files_are_kept(file: Path, tmp_path: Path) -> None:
    run_module("housewise", ["copy", "person", "ada"], cwd=tmp_path, code=0)
    file.write_text(THREE_PLANNERS.replace("settings: {", f"settings: {{person: {tmp_path / 'ada.yaml'}, ", 1))
    experiment(tmp_path, "mine.yaml", "--only", "planner=scripted", "--only", "seed=1", "--out", "out")
    assert "ada.yaml" in (tmp_path / "out/mine.json").read_text()
    assert str(tmp_path) not in (tmp_path / "out/mine.json").read_text()


def draws(sides: int, throws: int = 4, adapter: str | None = None) -> list[tuple[str, int, str, float]]:
    """An experiment's function: values without runs."""
    return [(f"throw {number}", 0, "points", float(number % sides)) for number in range(throws)]


def control(planner: str, rng_stream: int, **settings: object) -> list[tuple[str, int, str, float]]:
    """A control without a robot, as a level's function: it is given the settings of a run."""
    return [(f"{planner} {settings['seed']}", rng_stream, "success_rate", 0.5)]


def remembering(settings: PersonalizeSettings, text: str) -> Memory:
    """A memory that a function makes, with a note for the person of the run."""
    memory = Memory(settings.tasks.person)
    memory.add(reaction_note(memory.person, text, SpokenPlace("table", "kitchen"), False))
    return memory


def test_a_level_can_be_a_function_and_a_memory_can_be_made_by_one(file: Path, tmp_path: Path) -> None:
    memory = "{function: MADE, settings: {text: mug}}"
    levels = f"    lookup: {{settings: {{planner: memory_lookup}}, runs: {{test: {{memory: {memory}}}}}}}\n"
    levels += "    control: {function: CONTROL, settings: {planner: none}}\n"
    text = THREE_PLANNERS.replace("    lookup: {planner: memory_lookup}\n", levels).replace("[1, 2, 3]", "[1, 2]")
    text = text.replace("MADE", f'"{__name__}:remembering"').replace("CONTROL", f'"{__name__}:control"')
    file.write_text(f"{text}table: {{rows: [planner], columns: [measure], errors: episodes}}\n")
    told = experiment(tmp_path, "mine.yaml", "--only", "planner=lookup,control", "--out", "out")
    assert "control  50.0 ± 0.0" in told and "standard errors over episodes" in told
    frame = read_table(tmp_path / "out" / "mine.csv").frame
    controls = frame[frame["planner"] == "control"]
    assert list(controls["task"]) == ["none 9700"] * 2 and list(controls["repeat"]) == [1, 2]
    people = MemoryFolder(tmp_path / "out" / "test" / "planner=lookup" / "seed=1" / "memory_at_start")
    (person,) = people.people()
    assert [note.about.things for note in people.load(person).notes] == [("mug",)]


def test_a_function_measures_without_runs(tmp_path: Path) -> None:
    (tmp_path / "dice.yaml").write_text(
        "title: Dice\nshows: Points of dice.\nsystem: personalize\nsettings: {adapter: tidy}\n"
        "axes:\n  die:\n    coin: {sides: 2}\n    cube: {sides: 6}\n"
        "    loaded: {settings: {sides: 1}, needs: [no_such_module, no_such_module.part]}\n"
        "function: tests.experiments.test_runner:draws\nmeasures: [{points: {decimals: 2}}]\n"
    )
    told = run_module("housewise", ["experiment", "dice.yaml", "--out", "out"], cwd=tmp_path, code=0)
    assert "coin  0.50 ± 0.29" in told.stdout and "cube  1.50 ± 0.65" in told.stdout
    assert told.stderr == "note: die loaded is left out: no_such_module, no_such_module.part is not installed\n"
    header = read_table(tmp_path / "out" / "dice.csv").header
    assert header.settings["coin"] == {"adapter": "tidy", "sides": 2} and header.adapters.keys() == {"tidy"}
    assert header.episodes.commits == (header.made["commit"],) and header.episodes.first
    assert header.changed_adapters == [] and "replaced" not in told.stdout


def count_notes(record: Record, memory: Memory | None) -> tuple[float, float]:
    """A measure of the memory that a run starts from, with a weight."""
    return float(len(memory)) if memory else 0.0, 2.0


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """An experiment whose run ``test`` starts from two notes of the run ``shown``, or from none."""
    path = tmp_path / "notes.yaml"
    path.write_text(
        "title: Notes\nshows: Notes.\nsystem: personalize\n"
        "settings: {houses: 1, max_steps: 200, memory.meaning: false}\n"
        "axes:\n  row: {two: {runs: {test: {memory: {notes: 2}}}}, none: {runs: {test: {memory: null}}}}\n"
        "runs:\n  shown: {settings: {planner: demonstrator, max_steps: 600}, axes: [], learns: true}\n"
        "  test: {settings: {planner: memory_lookup}, memory: shown}\n"
        "measures: [{notes: {function: 'tests.experiments.test_runner:count_notes'}}]\n"
    )
    return path


@pytest.mark.slow
def test_measures_see_the_memory_at_the_start(notes: Path, tmp_path: Path) -> None:
    told = experiment(tmp_path, "notes.yaml", "--out", "out")
    assert "two     2.0" in told and "none    0.0" in told
    assert ",notes,2,2" in (tmp_path / "out/notes.csv").read_text(), "value and weight"


def test_the_first_notes_are_those_of_the_first_episodes(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, older, newer = (
        reaction_note("ada", thing, SpokenPlace("table", "kitchen"), False) for thing in ("jug", "mug", "cup")
    )
    MemoryFolder(tmp_path / "shown" / "memory").save(Memory("ada", [begun, older, newer]))
    # Two workers: the first episode was slower than the second.
    shown = SimpleNamespace(
        memory_changes_of_finished_jobs=lambda: iter([[NoteEvent(note=newer)], [NoteEvent(note=older)]])
    )
    monkeypatch.setattr(ExperimentRunner, "find_run", lambda runner, planned: shown)
    runner = ExperimentRunner(load_experiment(notes), tmp_path, cast(TrainingObserver, None))
    (test,) = [run for run in runner.grid.runs if run.memory is not None]
    runner._copy_memory(test)
    copied = MemoryFolder(tmp_path / test.folder / "memory_at_start").load("ada")
    assert {*copied.notes} == {begun, newer}


@pytest.mark.slow
def test_a_memory_is_copied_whole_or_not_at_all(notes: Path, tmp_path: Path) -> None:
    words = ("notes.yaml", "--only", "row=two", "--out", "out")
    experiment(tmp_path, *words)
    shutil.rmtree(tmp_path / "out" / "test")
    memories = MemoryFolder(tmp_path / "out" / "shown" / "memory")
    (first,) = memories.people()
    second = memories.root / "zzz" / "notes.jsonl"
    second.parent.mkdir()
    second.write_text("damaged")
    refused = run_module("housewise", ["experiment", *words], cwd=tmp_path, code=2)
    assert "zzz/notes.jsonl" in refused.stderr and not list((tmp_path / "out" / "test").rglob("memory_at_start"))
    second.unlink()
    memories.save(Memory("zzz", [reaction_note("zzz", "mug", SpokenPlace("table", "kitchen"), False)]))
    experiment(tmp_path, *words)
    copied = next((tmp_path / "out" / "test").rglob("memory_at_start"))
    assert [len(MemoryFolder(copied).load(person)) for person in (first, "zzz")] == [2, 1]
    assert [path.name for path in copied.parent.iterdir() if "partial" in path.name] == []
