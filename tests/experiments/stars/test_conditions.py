"""The table of conditions as a user makes it: with a chat server, with a tiny model, killed in between, looked at."""

import json
import time
from collections import Counter
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

pytest.importorskip("openai")
pytest.importorskip("matplotlib")

from housewise.core.files import write_json
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.tables import TABLES
from housewise.language.embedder import has_minilm
from housewise.rollout.record_reader import read_record
from housewise.selftrain.stars.held_out_objects import held_out_nouns
from housewise.selftrain.stars.settings import load_goal_training
from housewise.systems.stars.record import RepairEvent, RetrievedEvent, SelectionEvent
from tests.commands import run_module, started_module
from tests.language.conftest import ChatServer, fails
from tests.systems.command_runs import ATTIC, environment
from tests.systems.stars.housekeeper_server import housekeeper

MODULE = "housewise.experiments.stars.conditions"
OFFICE = ("--task", "organize office")


def conditions(*words: object, code: int = 0) -> str:
    """Run the command; what it prints, or what it complains of."""
    done = run_module(MODULE, words, environment())
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def chosen(*names: str) -> list[str]:
    return [word for name in names for word in ("--condition", name)]


def record_of(out: Path, condition: str, arm: str = "as-it-comes", seed: int = 1) -> Any:
    return read_record(out / "runs" / arm / f"seed-{seed}" / condition / "episodes" / "organize-office-run0.jsonl")


def figures(out: Path) -> Any:
    return json.loads((out / "conditions.json").read_text())


def test_rows_are_runs_that_share_what_the_model_says(server: ChatServer, tmp_path: Path) -> None:
    server.play(housekeeper(also="bookshelf"))
    asking = ("--model", "m", "--base-url", server.url, *OFFICE, "--out", tmp_path)
    words = (*asking, *chosen("STARS", "STARS+O", "STAR", "ST", "Trial 2"), "--json", tmp_path / "copy.json")
    told = conditions(*words)
    # Conditions have trees, repairs and choices in common: nothing is asked twice, and each counts as if it had asked.
    prompts = Counter(body["messages"][-1]["content"] for body in server.requests)
    assert set(prompts.values()) == {1}
    asked = {name: record_of(tmp_path, name).result.scores["calls"] for name in ("ST", "STAR", "STARS", "STARS+O")}
    assert 0 < asked["ST"] < asked["STAR"] < asked["STARS"] <= asked["STARS+O"] <= len(server.requests)
    texts = [
        [line.text for event in record_of(tmp_path, name).of_type(RetrievedEvent) for line in event.responses]
        for name in asked
    ]
    assert texts[0] and texts == [texts[0]] * 4
    assert record_of(tmp_path, "STAR").of_type(RepairEvent) and not record_of(tmp_path, "ST").of_type(RepairEvent)
    content = figures(tmp_path)
    office = content["figures"]["organize office"]
    second = {
        name: office["Trial 2"][name]["mean"] for name in ("completion_percent", "total_tokens", "proposed", "words")
    }
    assert second == {"completion_percent": 100, "total_tokens": 0, "proposed": 0, "words": 2}
    # The office has four objects of which no adapter learns.
    assert office["STARS+O"]["held_out_percent"]["mean"] == 100 != office["STARS"]["held_out_percent"]["mean"]
    assert office["STARS+O"]["completion_percent"] == {"mean": 100, "sd": None, "by_seed": {"1": 100}}
    assert content["floor"] == {"organize office": pytest.approx(100 / 7)}
    # The frame of a file of results.
    assert content == json.loads((tmp_path / "copy.json").read_text())
    assert (content["n"], content["seeds"], content["adapters"]) == (5, [1], [])
    assert content["settings"]["agent"]["tree"]["min_branch_mean"] == 0.5 and "housewise" in content["software"]
    assert {"commit", "changed", "command", "date", "machine"} <= set(content)
    settings = content["settings"]
    assert settings["tasks"]["task"] == ["organize office"] and server.url not in json.dumps(settings)
    rows = {cell["row"]: cell for cell in content["tables"][0]["cells"]}
    assert rows["doing nothing"]["ours"]["mean"] == pytest.approx(100 / 7)
    assert rows["STARS"]["published"]["mean"] == 92.9 and "doing nothing" in told
    # With all of it there nobody is asked, nor is anything played for looking at it.
    server.play(fails(500, "nobody was to ask"))
    conditions(*words)
    assert "task completion, %" in conditions(*words, "--show")
    assert figures(tmp_path)["figures"] == content["figures"]


def test_what_goals_are_is_counted_by_row(server: ChatServer, tmp_path: Path) -> None:
    conditions("--model", "m", "--base-url", server.url, *OFFICE, "--out", tmp_path, *chosen("STAR"))
    [office] = figures(tmp_path)["breakdown"]
    shares = {cell["column"]: cell["ours"]["mean"] for cell in office["cells"]}
    # Closet is no word; of twelve right or wrong places seven are where the person wants things.
    assert sum(shares.values()) == pytest.approx(100) and shares["unknown-word"] == 50
    assert shares["situationally relevant"] == pytest.approx(50 * 7 / 12)


def test_where_goals_are_drawn_each_seed_counts(server: ChatServer, tmp_path: Path) -> None:
    server.play(housekeeper(logprobs=False))
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    words = ("--model", "m", "--base-url", server.url, "--task", path, "--out", tmp_path / "out")
    conditions(*words, "--seed", "4", "--seed", "7", *chosen("TBP", "TBP+O", "ST"))
    attic = figures(tmp_path / "out")["figures"]["tidy attic"]
    assert {name: list(row["retrieved"]["by_seed"]) for name, row in attic.items()} == {
        "TBP": ["4", "7"], "TBP+O": ["4", "7"], "ST": ["4"],
    }  # fmt: skip
    assert attic["TBP"]["completion_percent"]["sd"] == 0


@pytest.mark.skipif(not has_minilm(), reason="sentence embeddings are not installed")
def test_the_control_asks_no_model_and_stands_in_the_same_table(tmp_path: Path) -> None:
    conditions(*OFFICE, "--out", tmp_path, *chosen("nearest", "nearest+O"), "--model", f"local:{tmp_path / 'none'}")
    rows = {cell["row"]: cell["ours"]["mean"] for cell in figures(tmp_path)["tables"][0]["cells"]}
    assert list(rows) == ["doing nothing", "nearest", "nearest+O"]
    # Books are close to bookshelves.
    assert rows["doing nothing"] < rows["nearest"] < rows["nearest+O"] == 100
    record = record_of(tmp_path, "nearest", "no-model")
    assert (record.result.scores["calls"], record.result.scores["viable_percent"]) == (0, 100)
    assert record.result.final["places"]["book"] == "bookshelf" and record.result.final["open"] == []
    (tmp_path / "results" / "stars").mkdir(parents=True)
    copy(tmp_path / "conditions.json", tmp_path / "results" / "stars")
    drawn = TABLES["stars completion"](FigureFiles(tmp_path / "results")).splitlines()
    assert drawn[0] == "| condition | organize office, as it comes |"
    assert [line.split(" | ")[0] for line in drawn[2:]] == ["| doing nothing", "| nearest", "| nearest+O"]
    assert drawn[-1] == "| nearest+O | 100.0 |"
    words = f"{record_of(tmp_path, 'nearest+O', 'no-model').result.scores['words']:.0f}"
    [_, _, asked] = TABLES["stars oversight"](FigureFiles(tmp_path / "results")).splitlines()
    assert asked.startswith("| nearest+O | ") and asked.endswith(f", {words} |")


@pytest.mark.skipif(not has_minilm(), reason="sentence embeddings are not installed")
def test_what_an_adapter_was_taught_is_compared_in_meaning_as_well(tmp_path: Path) -> None:
    taught = load_goal_training(Path("goals"), {}, ["lessons.rooms=9", "lessons.task_object_repeats=0", "run.seed=3"])
    adapter = tmp_path / "goals-3" / "imitate" / "adapter"
    adapter.mkdir(parents=True)
    write_json(tmp_path / "goals-3" / "config.json", taught.model_dump(mode="json"))
    arms = ("--adapter", "none", "--adapter", tmp_path / "goals-{seed}" / "imitate" / "adapter", "--seed", "3")
    conditions("--task", "store groceries", "--out", tmp_path / "out", *chosen("nearest"), *arms)
    content = figures(tmp_path / "out")
    rows = {cell["row"]: cell["ours"]["mean"] for cell in content["tables"][0]["cells"]}
    # Not one of the groceries is among the things of the lessons; others like them are.
    assert list(rows) == ["doing nothing", "nearest", "nearest, goals"]
    assert rows["nearest, goals"] > rows["nearest"] > rows["doing nothing"]
    known = json.loads((tmp_path / "out" / "runs" / "goals" / "seed-3" / "examples.json").read_text())["seen"]
    assert known and not {seen.split()[0] for seen in known} & held_out_nouns()
    episodes = tmp_path / "out" / "runs" / "goals" / "seed-3" / "nearest" / "episodes"
    record = read_record(episodes / "store-groceries-run0.jsonl")
    assert record.result.scores["calls"] == 0


def test_a_run_that_was_killed_is_gone_on_with_and_asks_nothing_twice(server: ChatServer, tmp_path: Path) -> None:
    server.play(housekeeper(also="bookshelf"))
    words = ("--model", "m", "--base-url", server.url, *OFFICE, "--out", tmp_path, *chosen("STARS+O", "STARS", "ST"))
    with started_module(MODULE, words, environment()) as program:
        while len(server.requests) < 40 and program.poll() is None:
            time.sleep(0.005)
    conditions(*words)
    asked = [body["messages"][-1]["content"].rpartition("Seen: ") for body in server.requests]
    again = {seen.split()[0] for (_, _, seen), count in Counter(asked).items() if count > 1}
    # What was being asked when it was killed, and nothing else.
    assert len(again) <= 1
    assert record_of(tmp_path, "STARS+O").of_type(SelectionEvent)
    assert figures(tmp_path)["n"] == 3


@pytest.mark.slow
def test_all_conditions_with_a_local_model_and_its_adapters(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    from housewise.selftrain.trainers.local import LocalTrainer
    from housewise.selftrain.trainers.trained_model import ModelReference
    from tests.selftrain.tiny import pair, save_learner, training

    model = save_learner(tmp_path / "model")
    for seed in (1, 2):
        folder = tmp_path / f"taught-{seed}"
        LocalTrainer(training(epochs=1), seed).train([pair(0), pair(1)], ModelReference(model=f"local:{model}"), folder)
    arms = ("--adapter", "none", "--adapter", tmp_path / "taught-{seed}" / "adapter", "--seed", "1", "--seed", "2")
    out = tmp_path / "out"
    conditions(*OFFICE, "--out", out, "--model", f"local:{model}", *arms, "max_goal_tokens=4", "max_calls=20")
    content = figures(out)
    office = content["figures"]["organize office"]
    names = [
        "TBP", "TBP+O", "ST", "STS", "STAR", "STARS", "STARS+O", "STARS*", "STARS-rated", "STARS-rated+O",
        "grounded", "grounded+S", "grounded+S+O", "Trial 2",
    ]  # fmt: skip
    assert set(office) == {"nearest", "nearest+O", *names, *(f"{name}, taught" for name in names)}
    for name in ("TBP+O", "STARS+O", "grounded+S+O", "Trial 2", "STARS+O, taught", "Trial 2, taught"):
        assert office[name]["completion_percent"]["mean"] == 100
    assert office["grounded, taught"]["viable_percent"]["mean"] == 100
    assert len(office["STARS, taught"]["words"]["by_seed"]) == 2 and len(office["STARS"]["words"]["by_seed"]) == 1
    # Where each seed has an adapter, it is told how STARS varies (table 3).
    told = {cell["column"]: cell["published"]["mean"] for cell in content["variation"][0]["cells"]}
    assert told == {"organize office, mean": 92.14, "organize office, sd": 2.26}
    assert {cell["row"] for cell in content["variation"][0]["cells"]} == {"STARS, taught"}
    assert [adapter["name"] for adapter in content["adapters"]] == ["adapter", "adapter"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--condition", "STARE"), "STARE"),
        (("selection=dice",), "setting selection"),
        (("--adapter", "a/goals", "--adapter", "b/goals"), "two of them end alike"),
        (("--condition", "grounded", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"), "rates texts"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    complaint = conditions(*OFFICE, "--out", tmp_path / "out", *words, code=2)
    assert said in complaint and complaint.count("\n") == 1
    assert not (tmp_path / "out" / "runs").exists()
