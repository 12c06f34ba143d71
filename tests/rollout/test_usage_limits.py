"""Limits of a run: where one is reached the run ends between two requests, and a higher one plays the rest."""

import json
import os
import pickle
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.core.errors import UserError
from housewise.core.record_files import FINISHED, PARTIAL
from housewise.language.base import BlankReplyError, ChatRequest, Reply, Scorer, TokenScorer
from housewise.language.completion import GenerationLimits
from housewise.language.completion_by_chat import ChatCompletionModel
from housewise.language.replay import ReplayChatModel
from housewise.rollout.metered_models import meter_model
from housewise.rollout.run_meter import RunMeter
from housewise.rollout.run_usage import LimitReachedError, RunUsage
from housewise.rollout.settings import ExecutionSettings, Price
from housewise.systems.stars.lazy_models import LazyCompletionModel
from tests.commands import run_module
from tests.language.conftest import ChatServer, says

# What each request to the server takes; see tests.language.conftest.completion.
READ, WRITTEN = 11, 7
EACH = READ + WRITTEN
KITCHEN = "--system adapt person=juan task=[1,2,4]"
HOUSES = "--houses 3 max_steps=60 max_plans=3"
ROOMS = "--system stars repeats=3"
CHOICES = "--system clipr repeats=2 training=false max_questions=2"


@pytest.fixture
def server(server: ChatServer) -> ChatServer:
    server.play(says("Action: Search cabinet_0"))
    return server


def run(server: ChatServer | None, folder: Path, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("HOUSE", "OPENAI"))}
    env |= {"COLUMNS": "200"}
    asked = ["--model", "m", "--base-url", server.url] if server is not None else []
    result = run_module("housewise", ["run", *asked, *words, "--out", "run"], env, folder)
    assert result.returncode == code, result.stdout + result.stderr
    return result


def spent(folder: Path) -> Any:
    return json.loads((folder / "run" / "spending.json").read_text())["models"]


@pytest.mark.parametrize(("system", "workers"), [(KITCHEN, 1), (HOUSES, 3), (ROOMS, 1), (CHOICES, 3)])
def test_a_run_ends_between_requests_and_says_how_it_goes_on(
    server: ChatServer, tmp_path: Path, system: str, workers: int
) -> None:
    words = [*system.split(), "--workers", str(workers)]
    ended = run(server, tmp_path, *words, f"max_total_tokens={4 * EACH}", code=4)
    asked = len(server.requests)
    # What was under way is counted as well: of each worker one request, or several that are asked together.
    assert 4 <= asked <= 4 + 3 * workers
    assert spent(tmp_path) == {"m": {"prompt_tokens": READ * asked, "completion_tokens": WRITTEN * asked}}
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert f"max_total_tokens={4 * EACH} is reached with {EACH * asked} tokens" in line and "--out run" in line
    episodes = tmp_path / "run" / "episodes"
    assert not list(episodes.glob("*.failed")) and list(episodes.glob(f"*{PARTIAL}"))
    # The same limit is reached before anything is asked.
    again = run(server, tmp_path, *words, f"max_total_tokens={4 * EACH}", code=4)
    assert len(server.requests) == asked and line in again.stderr


def test_a_higher_limit_plays_the_rest_and_finished_episodes_are_kept(server: ChatServer, tmp_path: Path) -> None:
    words = (*KITCHEN.split(), "max_steps=3")
    first = run(server, tmp_path, *words, f"max_total_tokens={5 * EACH}", code=4)
    assert "1 of 3 episodes are played and 2 are left" in first.stderr and "satisfaction" in first.stdout
    episodes = tmp_path / "run" / "episodes"
    (kept,) = episodes.glob(f"*{FINISHED}")
    before = kept.read_bytes()
    run(server, tmp_path, *words, f"max_total_tokens={50 * EACH}")
    assert len(list(episodes.glob(f"*{FINISHED}"))) == 3 and kept.read_bytes() == before
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["overall"]["episodes"] == 3
    asked = len(server.requests)
    assert spent(tmp_path)["m"]["prompt_tokens"] == READ * asked


def test_what_was_played_without_a_limit_counts(server: ChatServer, tmp_path: Path) -> None:
    words = ("--system", "adapt", "person=juan", "max_steps=3")
    run(server, tmp_path, *words, "task=[1]")
    assert not (tmp_path / "run" / "spending.json").exists()
    run(server, tmp_path, *words, "task=[1,2]", f"max_total_tokens={4 * EACH}", code=4)
    assert spent(tmp_path)["m"] == {"prompt_tokens": 4 * READ, "completion_tokens": 4 * WRITTEN}


def test_cost_is_what_the_prices_say_and_is_shown(server: ChatServer, tmp_path: Path) -> None:
    prices = {"m": {"prompt": 1e6, "reply": 2e6}}
    (tmp_path / "prices.yaml").write_text(yaml.safe_dump({"prices": prices}))
    words = (*KITCHEN.split(), "max_steps=3", "--config", "prices.yaml")
    # Three requests of an episode cost 3 * (11 + 14); a fourth one reaches 100.
    ended = run(server, tmp_path, *words, "max_cost=100", code=4)
    assert "54 tokens, cost 75 so far" in ended.stdout
    assert "max_cost=100 is reached with 100: 1 of 3 episodes" in ended.stderr and len(server.requests) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("max_cost=1", "max_cost=1: model m has no price; give it per million tokens, as in 'prices={m: "),
        ("max_cost=1 prices.n.prompt=1 prices.n.reply=1", "model m has no price"),
        ("max_cost=1 speech=chat models.person.model=other prices.m.prompt=1 prices.m.reply=1", "other has no price"),
        ("prices.m.prompt=-1 prices.m.reply=1", "setting prices.m.prompt"),
        ("prices.m.prompt=1", "setting prices.m.reply"),
        ("max_total_tokens=0", "setting max_total_tokens"),
        ("max_minutes=soon", "setting max_minutes"),
    ],
)
def test_what_cannot_be_kept_is_said_before_anything_is_asked(
    server: ChatServer, tmp_path: Path, words: str, said: str
) -> None:
    system = CHOICES if "speech" in words else KITCHEN
    assert said in run(server, tmp_path, *system.split(), *words.split(), code=2).stderr
    assert not server.requests and not list((tmp_path / "run").glob("*"))


@pytest.mark.parametrize("workers", [1, 2])
def test_minutes_end_episodes_that_ask_no_model(tmp_path: Path, workers: int) -> None:
    words = ("--houses", "2", "--planner", "scripted", "--workers", workers, "max_steps=30")
    ended = run(None, tmp_path, *words, "max_minutes=0.0001", code=4)
    assert "max_minutes=0.0001 is reached: 0 of 2 episodes are played and 2 are left" in ended.stderr
    run(None, tmp_path, *words, "max_minutes=60")
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["overall"]["episodes"] == 2


def test_a_damaged_account_is_named(server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "spending.json").write_text('{"models": 3}')
    ended = run(server, tmp_path, *KITCHEN.split(), code=2)
    assert (
        "spending.json: not what a run has spent (field models: expected keys and their values); delete the file"
        in " ".join(ended.stderr.split())
    )


def test_what_is_spent_is_kept_with_the_run_wherever_it_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    meter = pickle.dumps(RunMeter(ExecutionSettings(max_total_tokens=10), Path("run"), RunUsage()))
    monkeypatch.chdir("elsewhere")
    pickle.loads(meter).count("m", READ, WRITTEN)
    assert spent(tmp_path) == {"m": {"prompt_tokens": READ, "completion_tokens": WRITTEN}}


def test_a_counted_model_can_do_what_it_can_and_no_more(tmp_path: Path) -> None:
    class Judge(ReplayChatModel):
        def score(self, *args: object) -> list[float]:
            return [-1.0]

    limits = ExecutionSettings(max_total_tokens=10, prices={"a": Price(prompt=1, reply=1)})
    meter = RunMeter(limits, tmp_path, RunUsage())
    plain, judge = (meter_model(model, "a", meter) for model in (ReplayChatModel([]), Judge([])))
    assert isinstance(judge, Scorer) and not isinstance(plain, Scorer) and not isinstance(judge, TokenScorer)
    assert meter_model(plain, "a", None) is plain
    meter.count("a", 9, 1)
    with pytest.raises(LimitReachedError, match="max_total_tokens=10 is reached with 10 tokens"):
        judge.score(None, [])  # type: ignore[arg-type]
    with pytest.raises(UserError):
        plain.complete([])
    assert meter.cost == pytest.approx(10e-6)
    meter.count("b", 1, 1)
    assert meter.cost == pytest.approx(10e-6), "b has no price, and what a costs still counts"


def test_blank_replies_of_requests_that_fail_are_counted(tmp_path: Path) -> None:
    class Blank(ReplayChatModel):
        def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
            error = BlankReplyError("it answered without a text", "it answered without a text")
            error.prompt_tokens, error.completion_tokens = 2 * READ, 2 * WRITTEN
            raise error

    meter = RunMeter(ExecutionSettings(max_total_tokens=4 * EACH), tmp_path, RunUsage())
    model = meter_model(Blank([]), "a", meter)
    texts = LazyCompletionModel(model, lambda: ChatCompletionModel(Blank([]), "", continues=False))
    with pytest.raises(BlankReplyError):
        model.complete([])
    with pytest.raises(BlankReplyError):
        texts.extend("", [()], GenerationLimits())
    with pytest.raises(LimitReachedError, match=f"reached with {4 * EACH} tokens"):
        model.complete([])
