"""Models of a training answer the runs of an experiment behind its rollout servers, the untrained one included."""

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

import yaml

from housewise.selftrain.rollouts.engine import CHECK_FILE
from housewise.systems.personalize.record import read_house_records
from tests.in_process import call_housewise
from tests.lora_server import LoraServer
from tests.selftrain.rollouts.scoring import score_in_this_process
from tests.selftrain.tiny import save_prompt, save_talker
from tests.servers import serving

RUNS = {"LLM-Planner": "untrained", "IL": "imitate"}


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """An experiment whose rows are the phases of a small self-training."""
    asked = {"model": f"local:{save_talker(tmp_path / 'talker')}", "prompt": str(save_prompt(tmp_path / "short.yaml"))}
    run = {
        **asked, "adapter": "none", "grounded": True, "dtype": "float32", "max_steps": 30, "max_plans": 1,
        "sampling": {"max_tokens": 64},
    }  # fmt: skip
    learned = {
        "demonstrations": {"houses": 1}, "iterations": 0, "imitation_epochs": 1, "replay_fraction": 0,
        "evaluation": {"tasks": []},
        "training": {"rank": 2, "device": "cpu", "dtype": "float32", "max_example_tokens": 16384},
    }  # fmt: skip
    rows = {row: {"runs": {"test": {"model": {"phase": phase}}}} for row, phase in RUNS.items()}
    spec = {
        "title": "Phases", "shows": "Phases.", "system": "personalize",
        "settings": {**run, "houses": 1, "seed": 50},
        "axes": {"row": rows},
        "trainings": {"school": {"settings": {"run": run, **learned}}},
        "runs": {"test": {"model": {"training": "school"}}},
        "measures": ["success_rate"],
    }  # fmt: skip
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return path


def play(experiment: Path, out: Path, *words: str) -> dict[str, list[str]]:
    """Play the experiment in a folder, and return the replies of each row."""
    call_housewise("experiment", experiment, "--out", out, *words, code=0)
    return {
        row: [plan.reply for record in read_house_records(out / f"test/row={row}/episodes") for plan in record.plans]
        for row in RUNS
    }


@pytest.mark.slow
def test_every_row_is_asked_behind_the_servers_of_the_training(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = play(experiment, tmp_path / "here")
    score_in_this_process(monkeypatch)
    out = tmp_path / "served"
    with serving(LoraServer(str(tmp_path / "talker"))) as server:
        served = ("school.rollouts.engine=vllm", f"school.rollouts.servers=[{server.url}]")
        assert play(experiment, out, *served) == here
        played = [body["model"] for path, body in server.requests if "completions" in path and "logprobs" not in body]
        for phase in RUNS.values():
            assert (out / "school" / phase / CHECK_FILE).exists(), "the server is compared with the trained model"
        names = [
            json.loads((out / f"test/row={row}/config.json").read_text())["models"]["agent"]["served_as"]
            for row in RUNS
        ]
        assert names[0] == "base" and names[1].startswith("imitate-") and set(names) <= set(played)
        made = json.loads((out / "mine.json").read_text())["settings"]
        assert server.url not in str(made)
        of_rows = [set(settings["models"]["agent"]) for label, settings in made.items() if label.startswith("test")]
        assert not set().union(*of_rows) & {"weights", "served_as", "servers", "extra_body", "continue_prefix"}
        server.requests.clear()
        assert play(experiment, out, *served) == here
        assert not [path for path, _ in server.requests if "completions" in path], "nothing is asked again"
