"""The commands for recorded responses, as a user runs them: on a small recording made here, and on the real share."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from housewise.core.files import write_json
from housewise.language.embedder import has_minilm
from housewise.selftrain.stars.settings import load_goal_training
from tests.commands import run_module
from tests.experiments.stars import crafted
from tests.record_lines import changed_lines
from tests.systems.command_runs import environment

RECORDED = os.environ.get("STARS_DATA")


def run(command: str, data: Path, out: Path, *words: object) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    done = run_module(f"housewise.experiments.stars.{command}", ["--data", data, "--json", out, *words], environment())
    return (json.loads(out.read_text()) if out.exists() else {}), done


def test_agreement_on_a_small_recording(tmp_path: Path) -> None:
    figures, done = run("analyser", crafted.write(tmp_path / "data"), tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert (figures["viable_agreement"], figures["kind_agreement"], figures["set_agreement"]) == (1, 1, 1)
    assert figures["n"] == 14 and figures["disagreements"] == []


def test_disagreement_is_counted_and_told(tmp_path: Path) -> None:
    folder = crafted.write(tmp_path / "data")
    with changed_lines(folder / "tidy_nook.jsonl") as found:
        found[0].update(viable=False, kind="ungrounded-object")
        found[2].update(kind="affordance-mismatch")
    figures, _ = run("analyser", folder, tmp_path / "out.json")
    assert figures["viable_agreement"] == pytest.approx(13 / 14)
    assert figures["kind_agreement"] == pytest.approx(12 / 14)
    assert {each["recorded"] for each in figures["disagreements"]} == {"ungrounded-object", "affordance-mismatch"}


def test_replay_of_a_small_recording_is_exact(tmp_path: Path) -> None:
    figures, done = run("replay", crafted.write(tmp_path / "data"), tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert figures["exact"] is True and figures["differences"] == []
    with_user = figures["figures"]["tidy nook"]["STARS+O"]
    assert (with_user["words"], with_user["sourced"]) == (2 + 3 + 3 + 22, 2)
    assert with_user["categories"]["situationally relevant"] == 2


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        # The cup is stated for the recycling bin: neither what the user wants nor where it belongs.
        (lambda found: found[-1].update(text=found[-1]["text"].split(" in the ")[0] + " in the bin."), "in_place is 2"),
        (lambda found: found[-1].update(text="Put it away."), "not understood"),
        (lambda found: found[10]["offered"].update(answer="yes"), "answers otherwise"),
        (lambda found: found[0].update(rank=2) or found[1].update(rank=1), "recorded was"),
        (lambda found: found[3].update(total_tokens=112), "total_tokens is 334, expected 333"),
        (lambda found: found[0].update(text="the goal is that the milk is in the bag"), "in_place"),
        (lambda found: found.pop(2), "responses is 6, expected 7"),
    ],
)
def test_every_difference_is_found(tmp_path: Path, edit: Callable[[list[dict[str, Any]]], None], said: str) -> None:
    folder = crafted.write(tmp_path / "data")
    with changed_lines(folder / "tidy_nook.jsonl") as found:
        edit(found)
    figures, _ = run("replay", folder, tmp_path / "out.json")
    assert figures["exact"] is False and said in "\n".join(figures["differences"])


def test_bad_recordings_are_one_line(tmp_path: Path) -> None:
    _, done = run("replay", tmp_path / "nowhere", tmp_path / "out.json")
    assert done.returncode == 2 and "worlds.json: cannot be read" in done.stderr and "Traceback" not in done.stderr
    folder = crafted.write(tmp_path / "data")
    with changed_lines(folder / "tidy_nook.jsonl") as found:
        del found[1]["text"]
    _, done = run("analyser", folder, tmp_path / "out.json")
    assert "tidy_nook.jsonl line 2: field response.text" in done.stderr and "Traceback" not in done.stderr
    crafted.write(folder)
    with changed_lines(folder / "tidy_nook.jsonl") as found:
        found[0]["object"] = "ghost_9"
    _, done = run("replay", folder, tmp_path / "out.json")
    assert "no object ghost_9" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(not has_minilm(), reason="sentence embeddings are not installed")
def test_goals_are_selected_beside_controls_that_ask_no_model(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    from housewise.selftrain.trainers.local import LocalTrainer
    from housewise.selftrain.trainers.trained_model import ModelReference
    from tests.selftrain.tiny import pair, save_learner, training

    data, model = crafted.write(tmp_path / "data"), save_learner(tmp_path / "model")
    with changed_lines(data / "tidy_nook.jsonl") as found:
        shown = [{**line, "condition": "STARS"} for line in found if line["condition"] == "ST"]
        shown[0]["used"], shown[1]["used"] = False, True
        found += shown
    # Only what it was taught matters here, and that is told by the folder.
    folder = tmp_path / "goals-3"
    LocalTrainer(training(epochs=1), 3).train(
        [pair(0), pair(1)], ModelReference(model=f"local:{model}"), folder / "imitate"
    )
    taught = load_goal_training(Path("goals"), {}, ["lessons.rooms=3", "lessons.goals=99", "run.seed=3"])
    write_json(folder / "config.json", taught.model_dump(mode="json"))
    arms = ("--adapter", "none", "--adapter", tmp_path / "goals-{seed}" / "imitate" / "adapter", "--seed", "3")
    figures, done = run("selecting", data, tmp_path / "out.json", "--model", model, *arms)
    assert done.returncode == 0, done.stderr
    nook = figures["tasks"]["tidy nook"]
    # The cup has no viable goal; the milk has two, of which the person wants the one that closes the fridge.
    assert (nook["objects"], nook["recorded"]["completion_percent"]) == (2, 80)
    assert (nook["best"]["relevant"], nook["nearest"]["relevant"]) == (1, 2)
    plain, told = nook["models"]["as it comes"]["3"], nook["models"]["goals"]["3"]
    assert "nearest" not in plain and told["nearest"]["relevant"] == 2
    # Milk may be learned from, news is in no lesson.
    assert (plain["learned_from"], told["learned_from"]) == (0, 1)
    for asked in (plain["numbered"], told["numbered"]):
        assert len(asked["completion_percent"]) == 3 and asked["moved"] in (0, 1)
    assert [adapter["name"] for adapter in figures["adapters"]] == ["adapter"]
    _, done = run("selecting", data, tmp_path / "none.json", "--model", model, "--adapter", tmp_path / "none")
    assert done.returncode == 2 and "no such adapter" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(not RECORDED, reason="STARS_DATA names no folder of recorded responses")
def test_the_real_share_is_met(tmp_path: Path) -> None:
    data = Path(RECORDED or "")
    figures, _ = run("analyser", data, tmp_path / "analysed.json")
    assert figures["viable_agreement"] >= 0.98 and figures["kind_agreement"] >= 0.95 and figures["n"] > 1000
    figures, _ = run("replay", data, tmp_path / "replayed.json")
    assert figures["exact"], figures["differences"]
