"""ADAPT's experiments as a user plays them: trainings of a tiny model, and memories."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from housewise.core.errors import UserError
from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.grid import Grid
from housewise.experiments.published import published_value
from housewise.language.embedder import has_minilm
from housewise.people.memory import MemoryFolder
from housewise.selftrain.examples import EpisodeDemonstration, Preference, read_examples
from tests.commands import run_module
from tests.people.kitchen.sixteen import ADAPT_PEOPLE
from tests.selftrain.tiny import save_talker

pytestmark = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")

EXPERIMENTS = {name: path for name, path in bundled_experiments().items() if name.startswith("adapt/")}
ZOE = """
name: zoe
preferences:
  - id: one
    text: My tea has oat milk in it, and the milk goes in first.
    category: order
    tasks: tea
    dishes: [tea]
    if: available(milk_1)
    wants: before(milk_1, tea)
  - id: two
    text: I eat at the desk.
    category: place
    tasks: all
    dishes: []
    wants: served_at(desk)
"""


def play(folder: Path, *words: object, code: int = 0) -> "subprocess.CompletedProcess[str]":
    return run_module("housewise", ["experiment", *words, "--out", "out"], ENVIRONMENT, cwd=folder, code=code)


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


def means(folder: Path, name: str, *by: str) -> Any:
    """Mean of each measure of a played experiment, by levels."""
    frame = pd.read_csv(folder / "out" / f"{name}.csv", dtype=str)
    frame["value"] = frame["value"].astype(float)
    return frame.groupby([*by, "measure"])["value"].mean()


def test_people_of_one_s_own_are_checked(tmp_path: Path) -> None:
    (tmp_path / "zoe.yaml").write_text(ZOE, encoding="utf-8")
    play(tmp_path, "verifiers", "people=zoe.yaml", "scenes=2")
    found = pd.read_csv(tmp_path / "out/verifiers.csv")
    assert set(found["task"]) == {f"zoe-{number}" for number in range(1, 9)} and set(found["repeat"]) == {0, 1}
    sums = found.groupby("measure")["value"].sum()
    assert sums["applicable"] >= sums["aimed_at"] == sums["satisfied"] >= 16
    done = play(tmp_path, "verifiers", "people=nobody.yaml", code=2)
    assert "measured with other settings (people)" in " ".join(done.stderr.split())
    (tmp_path / "out/values/cook=oracle/values.json").write_text("[]")
    done = play(tmp_path, "verifiers", "people=zoe.yaml", code=2)
    assert "not the values of an experiment" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_memory_saves_questions_and_another_persons_answers_do_not_help(tmp_path: Path) -> None:
    one = ("--only", "cook=scripted")
    play(tmp_path, "breakfast_memory", "--quick", "person=[mark,leila]")
    value = means(tmp_path, "breakfast_memory", "memory")
    with_memory, without = value["with a memory"], value["without"]
    assert with_memory["questions_1"] == without["questions_1"], "nothing is known at the first breakfast"
    assert with_memory["questions_later"] == with_memory["questions_2"] < without["questions_2"] / 2
    play(tmp_path, "breakfast_repeats", *one, "--only", "person=unseen in fold 0", "--only", "dish=3", "person=mark")
    again = means(tmp_path, "breakfast_repeats")
    assert again["questions_3"] < again["questions_1"] / 2
    play(tmp_path, "breakfast_swap", "--quick")
    swap = means(tmp_path, "breakfast_swap", "answers of")
    assert swap[:, "questions"].max() == 0
    assert swap["the person", "satisfaction"] > swap["nobody", "satisfaction"]
    assert swap["the person", "satisfaction"] > swap["the next person", "satisfaction"]
    mine, theirs = (
        tmp_path / f"out/test/person=leila/cook=scripted/answers of={whose} person/memory_at_start"
        for whose in ("the", "the next")
    )
    assert (MemoryFolder(mine).people(), MemoryFolder(theirs).people()) == (["leila"], ["lisa"])


def test_a_person_whose_answers_are_needed_cannot_be_left_out() -> None:
    few = load_experiment(EXPERIMENTS["adapt/breakfast_swap"]).with_levels({"person": ["lisa"], "cook": ["scripted"]})
    with pytest.raises(UserError, match="in turn is needed at person=samantha, and only lisa is played; give --only"):
        Grid(few).measured_runs  # noqa: B018


LEARNERS = ("STaR-GATE", "Reflection-DPO", "no DPO", "oracle questions")
PLAYED = ("Never Ask", *LEARNERS, "Reflection-DPO, paraphrased", "Teacher")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The agents with a tiny model and two people, in a folder."""
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    folder = tmp_path_factory.mktemp("trained")
    write_small(folder)
    play(folder, "agents.yaml", *(f"--only=agent={name}" for name in PLAYED))
    return folder


def write_small(folder: Path, **changes: Any) -> None:
    """Write the experiment of the agents for a tiny model, two people, one task and few steps."""
    model = f"local:{save_talker(folder / 'tiny')}"
    tiny = {
        f"{section}.{key}": value
        for section in ("warm_up.training", "imitation", "preference")
        for key, value in (("max_example_tokens", 100_000), ("device", "cpu"), ("checkpoint_steps", 1))
    }
    spec = yaml.safe_load(EXPERIMENTS["adapt/agents"].read_text(encoding="utf-8"))
    few = {"task": [3], "max_steps": 6}
    spec["settings"] |= few
    # Those compare with the wishes of the whole default warm-up, whose people take seconds to invent.
    slow = {"satisfied_shared", "satisfied_new"}
    spec["measures"] = [each for each in spec["measures"] if isinstance(each, str) or not slow & each.keys()]
    spec["axes"]["fold"] = {
        "0": {
            "runs": {"seen": {"settings": {"person": ["juan"]}}, "unseen": {"settings": {"person": ["mark"]}}},
            "trainings": {"fold": {"run.person": ["juan"]}},
        }
    }
    warm_up = {"warm_up.people": 2, "warm_up.each": 1, "run.model": model, "run.adapter": "none"}
    spec["trainings"]["fold"]["settings"] = warm_up | tiny | {f"run.{key}": few[key] for key in few} | changes
    (folder / "agents.yaml").write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")


@pytest.mark.slow
def test_every_agent_is_trained_and_played_for_seen_and_unseen_people(trained: Path) -> None:
    frame = pd.read_csv(trained / "out/agents.csv")
    played = frame[frame["measure"] == "satisfaction"]
    assert set(zip(played["agent"], played["people"], strict=True)) == {
        (name, side) for name in PLAYED for side in ("seen", "unseen")
    }
    assert set(frame[frame["people"] == "unseen"]["task"]) == {"mark-3"}
    found = means(trained, "agents", "agent")
    assert found["Never Ask", "questions"] == 0 and found["Teacher", "satisfaction"] > 0
    models = {
        name: json.loads((trained / f"out/unseen/agent={name}/fold=0/people=unseen/config.json").read_text())["models"]
        for name in PLAYED
    }
    adapters = {name: models[name]["agent"]["adapter"] for name in PLAYED}
    assert all(adapters[name].endswith(f"fold=0/fold/{name.replace(' ', '-')}/adapter") for name in LEARNERS)
    assert adapters["Reflection-DPO, paraphrased"] == adapters["Reflection-DPO"]
    assert adapters["Never Ask"].endswith("warm-up/adapter")


@pytest.mark.slow
def test_what_was_learned_from_is_kept(trained: Path) -> None:
    fold = trained / "out/fold/fold=0/fold"
    [reflections] = [json.loads(path.read_text()) for path in (fold / "reflections").glob("*.json")]
    assert reflections["data"] and all("delta_t" in step and "delta_q" in step for step in reflections["data"])
    found, oracle = (json.loads((fold / f"{name}.json").read_text()) for name in ("reflections", "oracle-reflections"))
    assert found["compared"] == oracle["compared"] == len(reflections["data"])
    assert found["steps"] >= found["compared"] == found["questions"] + found["actions"] + found["dropped"]
    preferences = read_examples(fold / "Reflection-DPO/preferences.jsonl", Preference)
    pairs = read_examples(fold / "no-DPO/pairs.jsonl", EpisodeDemonstration)
    assert [each.chosen for each in preferences] == [pair.reply for pair in pairs]
    [best] = read_examples(fold / "STaR-GATE/pairs.jsonl", EpisodeDemonstration)
    assert best.turns and best.prefix == "Action:"
    config = json.loads((fold / "Reflection-DPO/adapter/adapter_config.json").read_text())
    told = json.loads((fold.parent / "warm-up/adapter/adapter_settings.json").read_text())
    assert told == {"system": "adapt", "prompt": "short"}, "whoever uses the adapter asks it as it was taught"
    warm_up = json.loads((fold.parent / "warm-up/adapter/adapter_config.json").read_text())
    assert config["r"] == warm_up["r"] and set(config["target_modules"]) == set(warm_up["target_modules"])
    lessons = [f"--only=learner={name}" for name in LEARNERS]
    play(trained, "lessons", f"--input=training={fold.parent}", *lessons)
    counts = means(trained, "lessons", "learner")
    assert counts["Reflection-DPO", "replies"] == len(preferences) == counts["no DPO", "replies"]
    assert counts["Reflection-DPO", "asked"] == counts["no DPO", "asked"] <= found["questions"]
    assert counts["oracle questions", "compared"] == oracle["compared"]


@pytest.mark.slow
def test_what_is_there_is_not_done_again_and_what_is_missing_is(trained: Path) -> None:
    fold = trained / "out/fold/fold=0/fold"

    def learned() -> dict[str, int]:
        return {path.parent.name: path.stat().st_mtime_ns for path in (trained / "out").rglob("model.json")}

    before, table = learned(), (trained / "out/agents.csv").read_bytes()
    (fold / "no-DPO/model.json").unlink()
    next((fold / "reflections").glob("*.json")).unlink()
    play(trained, "agents.yaml", *(f"--only=agent={name}" for name in PLAYED))
    after = learned()
    assert {name for name in after if after[name] != before[name]} == {"no-DPO"}
    assert (trained / "out/agents.csv").read_bytes() == table


@pytest.mark.slow
@pytest.mark.parametrize(("key", "value"), [("warm_up.each", 2), ("preference.beta", 0.5)])
def test_other_settings_of_a_training_are_refused_in_one_line(trained: Path, key: str, value: float) -> None:
    write_small(trained, **{key: value})
    done = play(trained, "agents.yaml", "--only=agent=Never Ask", code=2)
    said = " ".join(done.stderr.split())
    assert f"holds a training with other settings ({key})" in said and "Traceback" not in said


def test_folds_are_those_of_the_paper_and_published_values_stand_beside() -> None:
    spec = load_experiment(EXPERIMENTS["adapt/agents"])
    runs = [run for run in Grid(spec).measured_runs if dict(run.cell)["agent"] == "Baseline"]
    people: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        cell = dict(run.cell)
        people[cell["fold"], cell["people"]] = set([layer["person"] for layer in run.settings if "person" in layer][-1])
        assert run.model is not None
        assert {*run.model[0].settings["run.person"]} == people.get((cell["fold"], "seen")), (
            "it trains on the seen ones"
        )
    unseen = [people[fold, "unseen"] for fold in "0123"]
    assert unseen[0] == {"lisa", "samantha", "mark", "leila"} and set.union(*unseen) == set(ADAPT_PEOPLE)
    assert all(people[fold, "seen"] == set(ADAPT_PEOPLE) - people[fold, "unseen"] for fold in "0123")
    assert spec.published is not None
    cell = {"agent": "Reflection-DPO", "people": "unseen", "measure": "satisfaction"}
    assert published_value(spec.published, cell) == "42.9 ± 1.6"
    assert published_value(spec.published, {**cell, "measure": "satisfied_at_40"}) == "11.5"
    assert published_value(spec.published, {**cell, "agent": "own asking"}) is None
