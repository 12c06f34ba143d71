"""Learning to guide as a user does: commands, a tiny model, a training that is stopped, and what comes of it."""

import json
import shutil
import signal
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.language.local.token_tree import common_prefix_length
from housewise.rollout.record_reader import read_records
from housewise.selftrain.basis.guidance_training import SESSIONS
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.selftrain.examples import SessionDemonstration, read_examples
from housewise.systems.basis.record import GuidanceEvent
from tests.commands import run_module
from tests.selftrain.tiny import adapter_weights, save_learner
from tests.systems.basis.sessions import SIMPLE, turns
from tests.systems.command_runs import environment, run_housewise

SETTINGS = (
    f"run.variant={SIMPLE}", "sessions.scenarios=2", "training.rank=4", "training.learning_rate=0.02",
    "training.device=cpu", "training.dtype=float32", "training.checkpoint_steps=1", "run.wording=held_out",
)  # fmt: skip


def teach(model: Path, out: Path, *more: object, code: int = 0) -> str:
    words = ["selftrain", "--system", "basis", "--model", f"local:{model}", "--out", out, *SETTINGS, *more]
    return run_housewise(*words, code=code)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_learner(tmp_path_factory.mktemp("learner") / "tiny")


@pytest.fixture(scope="module")
def taught(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("taught") / "guide"
    assert "housewise run --system basis" in teach(model, out)
    return out


def examples(out: Path, phase: str = "imitate") -> list[SessionDemonstration]:
    return read_examples(out / phase / "pairs.jsonl", SessionDemonstration)


def test_sessions_and_corrections_share_no_scenario() -> None:
    GuidanceTrainingConfig.load(overrides=["sessions.scenarios=1000", "corrections.rounds=1"])
    GuidanceTrainingConfig.load(overrides=["sessions.scenarios=1001"])
    with pytest.raises(UserError, match=r"sessions\.scenarios=1001: corrections begin at scenario 1000; set 1000 or"):
        GuidanceTrainingConfig.load(overrides=["sessions.scenarios=1001", "corrections.rounds=1"])


def test_a_stopped_training_goes_on_from_its_sessions_and_ends_the_same(
    model: Path, taught: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    shutil.copytree(taught, again)
    for path in (again / "imitate", next((again / SESSIONS / "episodes").glob("*.jsonl"))):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    kept = {path: path.stat().st_mtime_ns for path in (again / SESSIONS / "episodes").glob("*.jsonl")}
    teach(model, again)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept and kept
    assert adapter_weights(again / "imitate") == adapter_weights(taught / "imitate")


def test_turns_of_a_session_have_a_long_common_beginning(taught: Path) -> None:
    prompts = ["\n".join(turn.content for turn in each.messages) for each in examples(taught)]
    assert len(prompts) > 6
    # A new scenario has another beginning; knowledge is added when something is named.
    shared = [common_prefix_length(one.encode(), other.encode()) / len(one) for one, other in pairwise(prompts)]
    assert sum(share > 0.5 for share in shared) >= 0.6 * len(shared)


def test_a_run_asks_the_model_as_it_was_trained(model: Path, taught: Path, tmp_path: Path) -> None:
    adapter = taught / "imitate" / "adapter"
    told = ["run", "--system", "basis", "--model", f"local:{model}", "--adapter", adapter, f"variant={SIMPLE}"]
    run_housewise(*told, "max_actions=3", "sampling.max_tokens=4", "--out", tmp_path / "run")
    [record] = read_records(tmp_path / "run" / "episodes")
    assert record.header.agent == "llm" and record.result.scores["unread"] == 1
    saved = json.loads((tmp_path / "run" / "config.json").read_text())["agent"]
    assert saved["compact"] and saved["perception"] == "truth" and saved["wording"] == "held_out"


@pytest.mark.slow
def test_an_evaluation_that_is_killed_and_resumed_ends_the_same(model: Path, taught: Path, tmp_path: Path) -> None:
    adapter = taught / "imitate" / "adapter"
    told = ["run", "--system", "basis", "--model", f"local:{model}", "--adapter", adapter, f"variant={SIMPLE}"]
    told += ["scenarios=2", "max_actions=4", "dtype=float32", "sampling.max_tokens=8", "--out"]
    run_housewise(*told, tmp_path / "whole")
    for events in (3, 10):
        killed = run_module("tests.systems.mortal", [events, *told, tmp_path / "killed"], environment())
        assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    run_housewise(*told, tmp_path / "killed")
    whole, again = (read_records(tmp_path / name / "episodes") for name in ("whole", "killed"))
    assert [turns(record.events) for record in whole] == [turns(record.events) for record in again]
    assert [record.result.scores for record in whole] == [record.result.scores for record in again]


def test_the_nearest_turn_repeats_what_was_learned(model: Path, taught: Path, tmp_path: Path) -> None:
    adapter = taught / "imitate" / "adapter"
    words = ["run", "--system", "basis", "--adapter", adapter, "planner=nearest", f"variant={SIMPLE}", "max_actions=8"]
    run_housewise(*words, "wording=training", "--out", tmp_path / "run")
    assert json.loads((tmp_path / "run" / "config.json").read_text())["agent"]["wording"] == "training"
    [record] = read_records(tmp_path / "run" / "episodes")
    learned = {each.reply.partition("<Speak>")[2].partition("</Speak>")[0].strip('"') for each in examples(taught)}
    said = {getattr(event, "speech", "") for event in record.events} - {""}
    assert said and said <= learned


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sessions.scenarios=3",), "holds a training with other settings (sessions.scenarios)"),
        (("run.perception=words",), "holds a training with other settings (run.perception)"),
        (("run.planner=oracle",), "only llm learns"),
        (("--houses", "3"), "--houses: does not concern the training of basis"),
    ],
)
def test_what_cannot_be_is_one_line(model: Path, taught: Path, words: tuple[str, ...], said: str) -> None:
    complaint = teach(model, taught, *words, code=2)
    assert said in complaint and complaint.count("\n") == 1


def test_sessions_of_another_run_can_be_learned(model: Path, taught: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    teach(model, out, f"sessions.folders=[{taught / SESSIONS}]", "sessions.max_sessions=1", "run.agent.reasoning=false")
    assert not (out / SESSIONS).exists()
    learned = examples(out)
    assert {each.seed for each in learned} == {0} and not any("<Think>" in each.reply for each in learned)
    complaint = teach(model, tmp_path / "other", f"sessions.folders=[{tmp_path}]", code=2)
    assert "name the folder of a run" in complaint


@pytest.mark.slow
def test_rounds_of_corrections_go_on_from_each_other_and_can_be_added(
    model: Path, taught: Path, tmp_path: Path
) -> None:
    given = [f"sessions.folders=[{taught / SESSIONS}]", "sessions.routine_share=1", "run.max_actions=4"]
    given += ["run.sampling.max_tokens=8"]
    out = tmp_path / "out"
    teach(model, out, *given, "corrections.rounds=1")
    finished = out / "correct-1" / "model.json"
    kept = finished.stat().st_mtime_ns
    teach(model, out, *given, "corrections.rounds=2")
    assert finished.stat().st_mtime_ns == kept
    for phase, before, seed in (("correct-1", "imitate", 1000), ("correct-2", "correct-1", 2000)):
        corrected, adapter = examples(out, phase), str(out / before / "adapter")
        assert {(each.variant, each.seed) for each in corrected} == {(SIMPLE, seed)} and len(corrected) == 3
        # The model of the phase before guided and goes on learning. It knows gibberish; the oracle's words are learned.
        [record] = read_records(out / phase / SESSIONS / "episodes")
        assert record.header.settings["models"]["agent"]["adapter"] == adapter
        assert record.result.scores["unread"] == 1
        assert json.loads((out / phase / "job.json").read_text())["start"]["adapter"] == adapter
        assert all("<Speak>" in each.reply for each in corrected)
        assert any("Next: " in each.reply for each in corrected)
    nearest = ["run", "--system", "basis", "planner=nearest", f"variant={SIMPLE}", "max_actions=8", "--adapter"]
    run_housewise(*nearest, out / "correct-1" / "adapter", "--out", tmp_path / "run")
    [record] = read_records(tmp_path / "run" / "episodes")
    said = {event.speech for event in record.events if isinstance(event, GuidanceEvent)} - {""}
    learned = {phase: "".join(each.reply for each in examples(out, phase)) for phase in ("imitate", "correct-1")}
    assert said and all(any(speech in replies for replies in learned.values()) for speech in said)
    shutil.rmtree(out / "imitate")
    assert "imitate/pairs.jsonl is missing" in run_housewise(
        *nearest, out / "correct-1" / "adapter", "--out", tmp_path / "other", code=2
    )


def test_an_adapter_without_its_turns_has_no_nearest_one(taught: Path, tmp_path: Path) -> None:
    shutil.copytree(taught / "imitate" / "adapter", tmp_path / "adapter")
    words = ["run", "--system", "basis", "planner=nearest", "--out", tmp_path / "run"]
    assert "pairs.jsonl is missing" in run_housewise(*words, "--adapter", tmp_path / "adapter", code=2)
    assert "needs an adapter" in run_housewise(*words, code=2)
