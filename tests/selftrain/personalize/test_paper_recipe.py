"""The recipe of LLM-Personalize: what each iteration plays, keeps and learns, with a scripted server."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from housewise.rollout.run import Run
from housewise.selftrain.examples import EpisodeDemonstration, read_examples
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from tests.commands import run_module
from tests.language.conftest import completion
from tests.selftrain.trainers.fine_tuning_server import FineTuning
from tests.servers import serving

HOUSE = {"houses": 1, "seed": 2000, "objects": [5, 10], "misplaced": [3, 7], "controller": {"kind": "published"}}
"""The house of the training tasks."""


class ScriptedServer(FineTuning):
    """Replies to prompts that it knows as the demonstrator does, once it is good, and can be fine-tuned.

    Args:
        replies: Replies by the user's message.
        good: A file from which on it knows replies.
    """

    def __init__(self, replies: dict[str, str], good: Path) -> None:
        super().__init__()
        self.states = ["succeeded"]
        self.replies, self.good = replies, good
        self.asked: list[dict[str, Any]] = []

    def answer(self, request: str, query: dict[str, list[str]], raw: bytes) -> dict[str, Any]:
        if request == "POST /v1/chat/completions":
            asked = json.loads(raw)
            self.asked.append(asked)
            known = self.replies if self.good.exists() else {}
            user = next(turn["content"] for turn in asked["messages"] if turn["role"] == "user")
            return completion(known.get(user, "go to the moon\nstep 2: mission complete"))
        return super().answer(request, query, raw)

    def _look(self, name: str) -> dict[str, Any]:
        job = super()._look(name)
        return job | {"fine_tuned_model": f"tuned-{name}"} if job.get("fine_tuned_model") else job


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Replies of the demonstrator in the house of the training tasks, by prompt."""
    settings = {**HOUSE, "planner": "demonstrator", "prompt": "paper", "demonstrator": {"thorough": False}}
    run = Run(Personalize(house_settings(settings=settings)), tmp_path_factory.mktemp("demonstrator"))
    run.play()
    return {
        plan.prompt[-1]["content"]: plan.reply for record in read_house_records(run.episodes) for plan in record.plans
    }


@pytest.fixture
def server(replies: dict[str, str], tmp_path: Path) -> Iterator[ScriptedServer]:
    """A server that is good from the second iteration on."""
    with serving(ScriptedServer(replies, tmp_path / "out/iteration-1/model.json")) as running:
        yield running


def test_each_iteration_learns_its_good_plans_alone_on_top_of_the_model_before(
    server: ScriptedServer, tmp_path: Path
) -> None:
    recipe = load_selftraining(Path("paper"))
    assert recipe.demonstrations.repeats == recipe.grow.repeats == 5
    tasks = ["demonstrations.houses=1", "training_tasks.houses=1", "evaluation.tasks=[]"]
    tasks += ["demonstrations.repeats=2", "grow.repeats=4", "run.max_steps=700"]
    words = ["selftrain", "--config", "paper", "--model", "base", "--base-url", server.url, "--out", "out"]
    words += [*tasks, "run.data=null", "training.trainer=openai", "training.poll_seconds=0.01"]
    done = run_module("housewise", words, {**os.environ, "OPENAI_API_KEY": "sk-test"}, cwd=tmp_path, code=0)
    out, said = tmp_path / "out", " ".join(done.stderr.split())

    # The first iteration has no good plan: the model stays, and the second one plays with it again.
    models = {phase["phase"]: phase["model"] for phase in json.loads((out / "summary.json").read_text())["phases"]}
    assert [job["model"] for job in server.jobs] == ["base", "tuned-ftjob-1"]
    assert list(models) == ["untrained", "imitate", "iteration-1", "iteration-2"]
    assert list(models.values()) == ["base", "tuned-ftjob-1", "tuned-ftjob-1", "tuned-ftjob-2"]
    assert re.search(r"iteration-1: \|D\| = 0 of \d+ plans \(filter positive\); nothing to learn", said)

    shown = read_examples(out / "imitate" / "pairs.jsonl", EpisodeDemonstration)
    assert {pair.run for pair in shown} == {0, 1} and {pair.scene for pair in shown} == {"generated-1000"}
    phase = out / "iteration-2"
    records = list(read_house_records(phase / "grow" / "episodes"))
    assert [record.header.repetition for record in records] == [0, 1, 2, 3]
    rewards = {
        (record.header.repetition, plan.plan): sum(action.reward for action in record.actions_of(plan))
        for record in records
        for plan in record.plans
    }
    learned = read_examples(phase / "pairs.jsonl", EpisodeDemonstration)
    assert {(pair.run, pair.plan) for pair in learned} == {plan for plan, reward in rewards.items() if reward > 0}
    assert learned and {pair.scene for pair in learned} == {"generated-2000"}
    assert f"iteration-2: |D| = {len(learned)} of {len(rewards)} plans (filter positive)" in said
    assert len(server.files[1].split(b'{"messages"')) - 1 == len(learned)

    assert {(body["temperature"], body["top_p"]) for body in server.asked} == {(1.0, 1.0)}
    assert not any("grammar" in key or "guided" in key for body in server.asked for key in body)
