"""Episodes that cannot be played, among others that can: wherever they are played, these are finished."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import DataError, UserError
from housewise.core.record import Failure, Result
from housewise.rollout.executor import MAX_SAME_FAILURES, RunCallback
from housewise.rollout.failures import FailedEpisodesError, failure_from_error, read_failures
from housewise.rollout.run import Run
from housewise.rollout.system import Job
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from tests.commands import run_module
from tests.language.conftest import Body, ChatServer, Handler, completion
from tests.servers import serving
from tests.worlds.house.housekeep_folder import EPISODES, SCENE, episode, make_folder, write_episodes

SHORT = ("--planner", "scripted", "max_steps=40")


def spoilt(number: int) -> dict[str, Any]:
    """An episode whose mug stands nowhere."""
    return {**episode(number), "start_matrix": [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A Housekeep folder with four episodes, of which the second and the last are damaged."""
    folder = make_folder(tmp_path / "data")
    write_episodes(folder / EPISODES, {"episodes": [episode(3), spoilt(7), episode(12), spoilt(15)]})
    return folder


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.slow), "ray"])
def place(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Where episodes are played."""
    if request.param == "ray":
        return ("--workers", "2", "--ray", request.getfixturevalue("cluster"))
    return ("--workers", "2" if request.param == "processes" else "1")


def run(out: Path, *arguments: str | Path) -> tuple[int, str, list[str]]:
    """Exit code, output and lines of errors of a run."""
    done = run_module("housewise", ["run", "--out", out, *arguments], timeout=180)
    return done.returncode, done.stdout, done.stderr.strip().splitlines()


def test_the_others_are_played(data: Path, tmp_path: Path, place: tuple[str, ...]) -> None:
    out, arguments = tmp_path / "run", ("--data", data, *SHORT, *place)
    code, told, errors = run(out, *arguments)
    assert code == 3 and len(errors) == 1, "\n".join(errors[-6:])
    assert errors[0].startswith("error: 2 of 4 episodes failed: 1 x ") and "*.jsonl.failed" in errors[0]
    assert f"{SCENE}-0007-run0: failed: " in told and "not in the table: 2 episodes that failed" in told
    assert [record.initial_state.episode for record in read_house_records(out / "episodes")] == [3, 12]
    failures = read_failures(out / "episodes")
    assert [failed.name for failed in failures] == [f"{SCENE}-0007-run0", f"{SCENE}-0015-run0"]
    assert all("mug_1" in failed.reason and not failed.failure.traceback for failed in failures)
    figures = json.loads((out / "metrics.json").read_text())
    assert figures["overall"]["episodes"] == 2
    assert figures["failed"]["episodes"] == 2 and set(figures["failed"]["reasons"]) == {f.reason for f in failures}
    assert not list(out.rglob("*.partial"))
    kept = {path: path.read_bytes() for path in (out / "episodes").glob("*.jsonl")}
    # What was mended is played, what is finished is not touched, and what still fails is still told of.
    write_episodes(data / EPISODES, {"episodes": [episode(3), episode(7), episode(12), spoilt(15)]})
    code, _, errors = run(out, *arguments)
    assert code == 3 and "1 of 4 episodes failed" in errors[0]
    assert [failed.name for failed in read_failures(out / "episodes")] == [f"{SCENE}-0015-run0"]
    write_episodes(data / EPISODES, {"episodes": [episode(number) for number in (3, 7, 12, 15)]})
    code, told, errors = run(out, *arguments)
    assert code == 0 and not errors and "failed" not in told
    assert {path: path.read_bytes() for path in kept} == kept
    assert len(list(read_house_records(out / "episodes"))) == 4 and read_failures(out / "episodes") == []


def test_where_all_fail_alike_the_others_are_not_tried(tmp_path: Path, place: tuple[str, ...]) -> None:
    """Of a house without doors' file, every episode fails for one reason."""
    data, out = make_folder(tmp_path / "data"), tmp_path / "run"
    write_episodes(data / EPISODES, {"episodes": [episode(number) for number in range(60)]})
    for path in data.rglob("*.navmesh"):
        path.write_bytes(b"spoilt")
    code, _, errors = run(out, "--data", data, *SHORT, *place)
    assert code == 2 and len(errors) == 1 and "navmesh" in errors[0] and "in a row" in errors[0], errors
    assert MAX_SAME_FAILURES <= len(read_failures(out / "episodes")) < 20


class Server(ChatServer):
    """A server that refuses some prompts, by the house's number in the order in which houses come."""

    def __init__(self, *refused: int) -> None:
        super().__init__()
        self.refused, self.asked = set(refused), 0
        self.play(self._answer)

    def _answer(self, handler: Handler, _: Body) -> None:
        with self.lock:
            number, self.asked = self.asked, self.asked + 1
        if number in self.refused:
            handler.reply(400, {"error": {"message": "This model's maximum context length is 4096 tokens"}})
        else:
            handler.reply(200, completion(" mission complete"))


def ask(out: Path, server: Server, *more: str) -> tuple[int, str, list[str]]:
    with serving(server):
        return run(out, "--model", "m", "--base-url", server.url, "--workers", "1", "max_steps=5", *more)


def test_a_prompt_that_is_refused_ends_its_episode_alone(tmp_path: Path) -> None:
    server = Server(1, 2)
    code, _, errors = ask(tmp_path, server, "--houses", "4")
    assert code == 3 and f"2 of 4 episodes failed: 2 x {server.url}: it answered 400" in errors[0]
    assert len(list(read_house_records(tmp_path / "episodes"))) == 2
    failed = read_failures(tmp_path / "episodes")[0]
    assert failed.header is not None and failed.header.group == "generated-1"
    assert "4096" in failed.failure.error and failed.failure.traceback == ""


def test_a_server_that_refuses_everything_is_given_up(tmp_path: Path) -> None:
    server = Server(*range(100))
    code, _, errors = ask(tmp_path, server, "--houses", "40")
    assert server.asked == MAX_SAME_FAILURES
    assert code == 2 and len(errors) == 1 and "4096" in errors[0]


class Defect(RunCallback):
    """A defect that shows in the second house, and what is told of it."""

    def __init__(self) -> None:
        self.told: dict[str, Result | Failure] = {}

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None:
        if job.task.group == "generated-1" and done == 10:
            {}["a key"]

    def on_episode_end(self, job: Job, result: Result) -> None:
        self.told[job.name] = result

    def on_episode_failure(self, job: Job, failure: Failure) -> None:
        self.told[job.name] = failure


def test_a_defect_ends_its_episode_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-is-secret")
    session = Run(Personalize(house_settings(settings={"planner": "scripted", "houses": 3, "max_steps": 40})), tmp_path)
    callback = Defect()
    with pytest.raises(FailedEpisodesError) as caught:
        session.play(callback)
    assert caught.value.figures["overall"]["episodes"] == 2 and caught.value.share == pytest.approx(1 / 3)
    (failed,) = read_failures(session.episodes)
    # The test's own line, though Housewise called it.
    line = Defect.on_episode_progress.__code__.co_firstlineno + 2
    place = f'in tests/rollout/test_failed_episodes.py:{line} (on_episode_progress): {{}}["a key"]'
    assert failed.reason == f"KeyError {place}"
    assert failed.failure.error == f"KeyError: 'a key', {place}" and "Traceback" in failed.failure.traceback
    assert json.loads((tmp_path / "metrics.json").read_text())["failed"]["errors"] == {
        failed.name: failed.failure.error
    }
    assert failed.header is not None and failed.header.group == "generated-1"
    assert [type(line) for line in callback.told.values()] == [Result, Failure, Result]
    # How far it came is kept.
    assert len(failed.path.read_text().splitlines()) > 2
    assert session.play()["overall"]["episodes"] == 3


@pytest.mark.parametrize("error", [UserError("the server is gone"), MemoryError(), OSError(28, "No space left")])
def test_what_concerns_all_is_no_failure_of_one(error: Exception) -> None:
    with pytest.raises(UserError) as caught:
        failure_from_error(error)
    assert str(caught.value) and "\n" not in str(caught.value)


def test_no_secret_is_kept_of_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-is-secret")
    words = "http://somebody:pass-word@host and a-key-that-is-secret\nand \x1b[31m"
    for error in (DataError(words), ValueError(words)):
        line = failure_from_error(error)
        assert not any(secret in line.model_dump_json() for secret in ("somebody", "pass-word", "is-secret"))
        assert "\n" not in line.error and "\n" not in line.reason


@pytest.mark.parametrize(
    "content", [b"", b"\xff\x00", b"[" * 100_000, b'{"type": "failure"}', gzip.compress(b"x", mtime=0)]
)
def test_a_damaged_mark_is_still_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "toy-0001-run0.jsonl.failed").write_bytes(content)
    (failed,) = read_failures(tmp_path)
    assert (failed.name, failed.reason, failed.header) == ("toy-0001-run0", "its record is damaged", None)
    assert list(read_house_records(tmp_path)) == []
