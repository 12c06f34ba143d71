"""Runs, memories, self-trainings, adapters and settings of earlier versions are still read.

The files are in ``files``; its README says how they were made. None may be made again with a later version.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.core.errors import UserError
from housewise.core.record import VERSION, Event
from housewise.rollout.record_reader import read_record
from housewise.rollout.system import find_system
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.systems.personalize.record import read_house_record
from tests.commands import run_module

FILES = Path(__file__).parent / "files"
VERSION_2 = Path(__file__).parent / "version2"

# Arguments with which each run was started.
SCRIPTED = ("--houses", "2", "--planner", "scripted", "max_steps=250", "objects=[4,5]", "misplaced=[2,3]")
RUNS = {
    "scripted": SCRIPTED,
    "version1": SCRIPTED,
    "half": SCRIPTED,
    "bundled": (
        "--houses", "1", "--person", "ada", "--memory", "ada", "--adapter", "tidy", "seed=5", "max_steps=600",
        "objects=[4,4]", "misplaced=[3,3]", "most_plans=16",
    ),
    # The default of the feedback interval was 20 then.
    "clipr": ("--system", "clipr", "budget=2", "feedback_interval=20", "--memory", "chiyo", "memory.new=true"),
    "stars": (
        "--system", "stars", "task=attic.yaml", "condition=STARS+O", "tree.most_calls=20", "--memory", "esi",
        "memory.new=true",
    ),
    "adapt": (
        "--system", "adapt", "person=nalini", "task=1", "--adapter", "breakfast", "most_steps=6", "--memory", "nalini",
        "memory.new=true",
    ),
}  # fmt: skip
LOOP = (
    "--houses", "1", "--iterations", "1", "--runs", "1", "--model", "local:tiny", "run.prompt=short.yaml",
    "run.max_steps=40", "run.most_plans=2", "run.sampling.max_tokens=8", "lessons=[{houses: 1, each: 2}]",
    "filter.name=tests.selftrain.tiny:everything", "imitation_epochs=1", "training.epochs=1", "training.rank=2",
    "training.batch=2", "training.most_tokens=16384", "training.checkpoint_steps=1", "training.device=cpu",
    "training.dtype=float32", "run.objects=[4,4]", "run.misplaced=[2,2]",
    "evaluation.tasks=[{name: test, houses: 1, seed: 0}]",
)  # fmt: skip

RUNS_OF_VERSION_2 = {
    "scripted": ("--houses", "2", "--planner", "scripted", "max_steps=120", "objects=[4,4]", "misplaced=[2,2]"),
    "sampled": (
        "--houses", "1", "--person", "ada", "--adapter", "tidy", "seed=3", "max_steps=250", "objects=[4,4]",
        "misplaced=[3,3]", "sampling.n=3", "most_plans=8",
    ),
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of all files, in which commands run."""
    return Path(shutil.copytree(FILES, tmp_path / "home"))


def run_housewise(home: Path, *arguments: str) -> str:
    """Run a command that has to succeed, and return its output.

    Args:
        home: its working directory; memories are in ``memories``.
        *arguments: of the command.
    """
    env = {**os.environ, "HOUSEWISE_MEMORY": "memories", "COLUMNS": "200"}
    done = run_module("housewise", arguments, env, cwd=home, code=0)
    return done.stdout


def read_lines(record: Path) -> list[dict[str, Any]]:
    """Read the lines of a record."""
    return [json.loads(line) for line in record.read_text().splitlines()]


def final_placements(run: Path) -> dict[str, dict[str, str]]:
    """Return where things are at the end of each episode; records may be of any version."""
    results = {path.stem: read_lines(path)[-1] for path in run.glob("episodes/*.jsonl")}
    return {name: line.get("data", {}).get("final", line)["placements"] for name, line in results.items()}


# Runs


@pytest.mark.parametrize("name", [name for name in RUNS if name != "half"])
def test_a_finished_run_is_not_played_again(home: Path, name: str) -> None:
    run = home / "played" / name
    records = {path.name: path.read_bytes() for path in run.glob("episodes/*")}
    run_housewise(home, "run", *RUNS[name], "--out", f"played/{name}")
    assert {path.name: path.read_bytes() for path in run.glob("episodes/*")} == records


def test_other_settings_are_refused_in_the_folder_of_a_run(home: Path) -> None:
    with pytest.raises(AssertionError, match="max_steps"):
        run_housewise(home, "run", *SCRIPTED, "max_steps=249", "--out", "played/scripted")


@pytest.mark.parametrize("name", ["half", "version1"])
def test_a_stopped_run_is_resumed(home: Path, name: str) -> None:
    run = home / "played" / name
    finished = run / "episodes" / "generated-0-0000-run0.jsonl"
    before = finished.read_bytes()
    (run / "episodes" / "generated-1-0001-run0.jsonl").unlink(missing_ok=True)
    run_housewise(home, "run", *RUNS[name], "--out", f"played/{name}")
    assert finished.read_bytes() == before
    whole = final_placements(FILES / "played" / "scripted")
    assert len(whole) == 2 and final_placements(run) == whole


@pytest.mark.parametrize("name", ["version1", pytest.param("bundled", marks=pytest.mark.slow)])
def test_replies_of_a_run_are_played_again(home: Path, name: str) -> None:
    run_housewise(home, "replay", f"played/{name}", "--out", "again")
    assert final_placements(home / "again") == final_placements(home / "played" / name)


@pytest.mark.parametrize("name", ["version1", "bundled", "clipr", "stars", "adapt"])
def test_a_run_is_reported(home: Path, name: str) -> None:
    run = home / "played" / name
    run_housewise(home, "report", f"played/{name}", "--films", "0")
    index = (run / "report.html").read_text()
    for record in run.glob("episodes/*.jsonl"):
        assert record.stem in index and (run / "report" / f"{record.stem}.html").stat().st_size > 2000


def test_runs_of_two_versions_are_compared(home: Path) -> None:
    output = run_housewise(home, "compare", "played/version1", "played/scripted")
    assert re.search(r"success.* 16\.7 +16\.7 +\+0\.0", output)


# Runs whose records have version 2, with every field that an episode in a house had then


@pytest.mark.parametrize("name", ["scripted", pytest.param("sampled", marks=pytest.mark.slow)])
def test_a_run_of_version_2_is_left_as_it_is_reported_and_played_again(tmp_path: Path, name: str) -> None:
    home = Path(shutil.copytree(VERSION_2, tmp_path / "home"))
    run = home / "played" / name
    records = {path.name: path.read_bytes() for path in run.glob("episodes/*")}
    run_housewise(home, "run", *RUNS_OF_VERSION_2[name], "--out", f"played/{name}")
    assert {path.name: path.read_bytes() for path in run.glob("episodes/*")} == records
    run_housewise(home, "report", f"played/{name}", "--films", "0")
    for record in run.glob("episodes/*.jsonl"):
        assert (run / "report" / f"{record.stem}.html").stat().st_size > 2000
    run_housewise(home, "replay", f"played/{name}", "--out", "again")
    assert final_placements(home / "again") == final_placements(run)


def test_a_run_of_version_2_is_resumed_with_records_of_today(tmp_path: Path) -> None:
    home = Path(shutil.copytree(VERSION_2, tmp_path / "home"))
    run = home / "played" / "scripted"
    (run / "episodes" / "generated-1-0001-run0.jsonl").unlink()
    run_housewise(home, "run", *RUNS_OF_VERSION_2["scripted"], "--out", "played/scripted")
    assert final_placements(run) == final_placements(VERSION_2 / "played" / "scripted")
    old, new = (read_record(run / "episodes" / f"generated-{number}-000{number}-run0.jsonl") for number in (0, 1))
    assert read_lines(run / "episodes" / f"{new.name}.jsonl")[0]["data"]["version"] == VERSION == old.header.version
    whole = read_record(VERSION_2 / "played" / "scripted" / "episodes" / f"{new.name}.jsonl")
    assert (new.header.initial_state, new.result.end_reason) == (whole.header.initial_state, whole.result.end_reason)
    assert [drop_times(event) for event in new.events] == [drop_times(event) for event in whole.events]


def drop_times(event: Event) -> dict[str, Any]:
    """Return the fields of an event without those that differ from one computer to another."""
    return event.model_dump(exclude={"seconds", "model_seconds"})


def test_every_field_of_version_2_is_read_under_its_current_name() -> None:
    path = VERSION_2 / "played" / "sampled" / "episodes" / "generated-3-0003-run0.jsonl"
    record = read_house_record(path)
    lines = [line["data"] for line in read_lines(path)]
    assert (record.header.repetition, record.header.initial_state) == (0, lines[0]["setting"])
    assert record.result.end_reason == lines[-1]["ended"]
    plans = [line for line in lines if "tried" in line]
    assert [len(plan.alternatives) for plan in record.plans] == [len(line["tried"]) for line in plans]
    tried = [reply for line in plans for reply in line["tried"]]
    replies = [reply for plan in record.plans for reply in plan.alternatives]
    assert [reply.succeeded_steps for reply in replies] == [reply["done"] for reply in tried] != []
    assert [reply.moved_objects for reply in replies] == [reply["moved"] for reply in tried]
    assert [reply.discovered_count for reply in replies] == [reply["discovered"] for reply in tried]
    assert [plan.choice_count for plan in record.plans] == [line["choices"] for line in plans]
    assert [len(plan.prior_calls) for plan in record.plans] == [len(line["earlier"]) for line in plans]
    assert [set(plan.scene_graph) for plan in record.plans] == [set(line["known"]) for line in plans]
    actions = [line for line in lines if "aimed" in line]
    assert [action.aim_targets for action in record.actions] == [line["aimed"] for line in actions]
    assert [action.low_level_actions for action in record.actions] == [line["low_level"] for line in actions]
    assert [{thing: [*pair] for thing, pair in action.moves.items()} for action in record.actions] == [
        line["moved"] for line in actions
    ]
    assert any(action.moves for action in record.actions) and any(action.aim_targets for action in record.actions)


def test_a_record_with_a_field_under_two_names_is_refused_in_a_line(tmp_path: Path) -> None:
    source = VERSION_2 / "played" / "scripted" / "episodes" / "generated-0-0000-run0.jsonl"
    lines = source.read_text().splitlines()
    lines[1] = lines[1].replace('"known":', '"scene_graph":{},"known":')
    path = tmp_path / source.name
    path.write_text("\n".join(lines) + "\n")
    message = f"{path}: line 2: plan: known is the former name of scene_graph, and both are given; remove known"
    with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
        read_record(path)


# Memories


def test_notes_of_every_kind_are_shown(home: Path) -> None:
    output = run_housewise(home, "memory", "show", "ada")
    for line in (
        r"rule +1 +mug, kitchen, shelf +Mugs belong on the shelf in the kitchen\.",
        r"rule +-1 +boots, shoe, kitchen +no shoes in the kitchen, never",
        r"reaction +-1 +book, sink",
        r"answer +green tea +tea, when it is late +the second one",
        r"goal +pen, office, drawer, organize office +The pen belongs in the drawer in the office\.",
    ):
        assert re.search(line, output), line
    assert "Plates belong" not in output and "7 notes" in output
    output = run_housewise(home, "memory", "show", "esi")
    assert "If the object is a novel then the goal is that the object is in the bookshelf." in output
    assert "Mugs belong on the shelf" in run_housewise(home, "rules", "show", "ada")


@pytest.mark.parametrize(
    ("file", "count"),
    [("exported/older.jsonl", 6), ("exported/ada.yaml", 5), ("played/bundled/memory_at_start/ada/notes.jsonl", 5)],
)
def test_notes_are_merged_and_forgotten_ones_do_not_come_back(home: Path, file: str, count: int) -> None:
    memory = home / "memories" / "ada" / "notes.jsonl"
    before = memory.read_text()
    run_housewise(home, "memory", "import", "ada", file)
    assert memory.read_text() == before
    run_housewise(home, "memory", "import", "ada", file, "--memories", "others")
    assert len(read_lines(home / "others" / "ada" / "notes.jsonl")) >= 1 + count
    assert f"{count} notes" in run_housewise(home, "memory", "show", "ada", "--memories", "others")


def test_a_run_uses_a_memory_and_adds_to_it(home: Path) -> None:
    memory = home / "memories" / "ada" / "notes.jsonl"
    before = memory.read_text()
    run_housewise(
        home, "run", "--houses", "1", "--planner", "store", "--memory", "ada", "seed=5", "max_steps=600",
        "objects=[4,4]", "misplaced=[3,3]", "--out", "again",
    )  # fmt: skip
    assert final_placements(home / "again")["generated-5-0005-run0"]["toilet roll 1"].startswith("bathroom")
    assert set(before.splitlines()) < set(memory.read_text().splitlines())


# Self-trainings and adapters


def test_a_self_training_is_resumed(home: Path) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    shutil.rmtree(home / "loop" / "iteration-1" / "evaluation")
    weights = {path: path.read_bytes() for path in home.glob("loop/*/adapter/*.safetensors")}
    run_housewise(home, "selftrain", *LOOP, "--out", "loop")
    assert {path: path.read_bytes() for path in weights} == weights
    assert summarize_phases(home / "loop") == summarize_phases(FILES / "loop")
    run_housewise(home, "report", "loop", "--films", "0")
    assert "iteration-1" in (home / "loop" / "report.html").read_text()


def summarize_phases(loop: Path) -> list[Any]:
    """Return what each phase of a self-training came to. Former versions had 0 for scores that no episode has."""
    phases = json.loads((loop / "summary.json").read_text())["phases"]
    scores = ("episodes", "success_rate", "executability", "plans", "steps", "prompt_tokens", "completion_tokens")
    return [
        (phase["phase"], phase["metrics"]["last_loss"], [phase["evaluation"]["test"].get(score, 0) for score in scores])
        for phase in phases
    ]


def test_an_adapter_gets_the_prompt_that_its_file_names(home: Path) -> None:
    pytest.importorskip("peft", reason="the extra housewise[local] is not installed")
    run_housewise(
        home, "run", "--houses", "1", "--model", "local:tiny", "--adapter", "loop/imitate/adapter", "max_steps=40",
        "most_plans=2", "objects=[4,4]", "misplaced=[2,2]", "--out", "again",
    )  # fmt: skip
    prompts = []
    for run in ("again", "loop/imitate/evaluation/test"):
        (record,) = home.glob(f"{run}/episodes/*.jsonl")
        prompts.append(next(line["data"]["prompt"] for line in read_lines(record) if line["type"] == "plan"))
    assert prompts[0] == prompts[1]


@pytest.mark.parametrize(("adapter", "system"), [("house", "personalize"), ("kitchen", "adapt")])
def test_every_setting_of_an_adapter_counts_under_its_old_name(tmp_path: Path, adapter: str, system: str) -> None:
    folder = Path(shutil.copytree(FILES / "adapters" / adapter, tmp_path / adapter))
    content = json.loads((folder / "housewise.json").read_text())
    fixed = {"system": content.pop("system"), "prompt": content.pop("prompt")}

    def load(name: str | Path) -> Any:
        return find_system(system).load(settings={"planner": "llm", "adapter": str(name)})

    def load_alone(part: Mapping[str, Any]) -> Any:
        (folder / "housewise.json").write_text(json.dumps({**fixed, **part}))
        return load(folder)

    whole, plain = load(folder), load("none")
    assert fixed["prompt"] in whole.model_dump_json() and fixed["prompt"] not in plain.model_dump_json()
    check_each_counts(content, load_alone, whole)


# Settings


LOADERS: dict[str, Callable[..., Any]] = {
    "personalize": find_system("personalize").load,
    "without_sections": find_system("personalize").load,
    "clipr": find_system("clipr").load,
    "stars": find_system("stars").load,
    "adapt": find_system("adapt").load,
    "selftrain": load_selftraining,
    "goals": GoalTrainingConfig.load,
    "adapt_training": AdaptTrainingConfig.load,
}


@pytest.mark.parametrize("name", LOADERS)
def test_every_setting_of_a_file_counts_under_its_old_name(tmp_path: Path, name: str) -> None:
    path, load = FILES / "settings" / f"{name}.yaml", LOADERS[name]
    content = yaml.safe_load(path.read_text())
    content.pop("system", None)
    file = tmp_path / "alone.yaml"

    def load_alone(part: Mapping[str, Any]) -> Any:
        # Without it the bundled adapter brings settings of its own, which files of that version could not expect.
        adapter = {"selftrain": ["run.adapter=none"], "personalize": ["adapter=none"]}
        adapter["without_sections"] = adapter["personalize"]
        file.write_text(yaml.safe_dump(dict(part)))
        return load(file, overrides=[] if "adapter" in file.read_text() else adapter.get(name, []))

    check_each_counts(content, load_alone, load(path))


RENAMED_VALUES = {"wording": {"corrected": "relabelled"}}
"""Current by former value, by the former name of the setting."""


def check_each_counts(content: Mapping[str, Any], load_alone: Callable[[Mapping[str, Any]], Any], whole: Any) -> None:
    """Check that each of some settings changes something, and that its value is there, whatever it is called.

    Args:
        content: settings under their old names, none of them as it is by default.
        load_alone: loads settings of which one is given.
        whole: settings of which all are given.
    """
    usual = load_alone({})
    for part in split(content):
        changed = load_alone(part)
        assert changed.model_dump(mode="json") != usual.model_dump(mode="json"), part
        (key,) = part
        values = {RENAMED_VALUES.get(key, {}).get(value, value) for value in list_values(part)}
        assert values <= set(list_values(changed.model_dump(mode="json"))), part
        assert values <= set(list_values(whole.model_dump(mode="json"))), part


def split(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each of nested settings alone, in its sections."""
    for key, value in content.items():
        for part in split(value) if isinstance(value, Mapping) else [value]:
            yield {key: part}


def list_values(content: Any) -> Iterator[str]:
    """Yield all values of nested settings but yes and no."""
    if isinstance(content, Mapping | list):
        for value in content.values() if isinstance(content, Mapping) else content:
            yield from list_values(value)
    elif content is not None and not isinstance(content, bool):
        yield f"{content:g}" if isinstance(content, int | float) else content
