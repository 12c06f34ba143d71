"""The fine-tuning API, against a server on this machine that speaks its protocol."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.selftrain.trainers.base import Start, TrainedModel
from housewise.selftrain.trainers.openai_api import OpenAITrainer, training_lines
from tests.selftrain.tiny import pair, training

Body = dict[str, Any]
PAIRS = [pair(number) for number in range(12)]
START = Start(model="gpt-4o-mini-2024-07-18")


class FineTuning(ThreadingHTTPServer):
    """Keeps files and jobs; a job goes through the given states, one each time it is looked at."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.states = ["validating_files", "queued", "running", "succeeded"]
        self.error: Body | None = None
        self.refusal: tuple[int, str] | None = None
        self.files: list[bytes] = []
        self.jobs: list[Body] = []
        self.keys: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def look(self, name: str) -> Body:
        job = next(job for job in self.jobs if job["id"] == name)
        job["status"] = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if job["status"] == "succeeded":
            job |= {"fine_tuned_model": "ft:gpt-4o-mini:house", "trained_tokens": 4321}
        return {**job, "error": self.error if job["status"] == "failed" else None}


class _Handler(BaseHTTPRequestHandler):
    server: FineTuning
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.keys.add(self.headers["authorization"])
        if self.server.refusal is not None:
            status, message = self.server.refusal
            self._reply({"error": {"message": message}}, status)
        elif self.path == "/v1/files":
            assert b'name="purpose"\r\n\r\nfine-tune' in body
            self.server.files.append(body)
            self._reply({"id": f"file-{len(self.server.files)}", "object": "file", "bytes": len(body)})
        else:
            number = len(self.server.jobs) + 1
            job = {**json.loads(body), "id": f"ftjob-{number}", "object": "fine_tuning.job", "status": "queued"}
            self.server.jobs.append(job)
            self._reply(job)

    def do_GET(self) -> None:
        if self.path.split("?")[0] == "/v1/fine_tuning/jobs":
            self._reply({"object": "list", "data": self.server.jobs, "has_more": False})
        elif "/events" in self.path:
            events = [
                {"id": f"e{step}", "object": "fine_tuning.job.event", "created_at": step, "level": "info",
                 "message": "step", "type": "metrics", "data": {"step": step, "train_loss": 1 / step}}
                for step in (2, 1)
            ]  # fmt: skip
            self._reply({"object": "list", "data": events, "has_more": False})
        else:
            self._reply(self.server.look(self.path.rpartition("/")[2]))

    def _reply(self, body: Body, status: int = 200) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FineTuning]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
    with FineTuning() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def trainer(server: FineTuning, told: list[str] | None = None, wait: Any = lambda seconds: None) -> OpenAITrainer:
    said = [] if told is None else told
    return OpenAITrainer(training(trainer="openai", epochs=3), 5, server.url, lambda *now: said.append(now[2]), wait)


def test_pairs_become_a_fine_tuned_model(server: FineTuning, tmp_path: Path) -> None:
    told: list[str] = []
    better = trainer(server, told).train(PAIRS, START, tmp_path)
    assert better == TrainedModel.load(tmp_path)
    assert (better.model, better.adapter) == ("ft:gpt-4o-mini:house", None)
    assert better.metrics == {"pairs": 12.0, "tokens": 4321.0}
    (job,) = server.jobs
    assert (job["model"], job["training_file"], job["seed"]) == (START.model, "file-1", 5)
    assert job["method"]["supervised"]["hyperparameters"] == {"n_epochs": 3}
    assert [words.split()[1] for words in told] == ["validating_files", "queued", "running", "succeeded"]
    assert (tmp_path / "curve.csv").read_text() == "step,loss\n1,1.0\n2,0.5\n"
    assert server.keys == {"Bearer sk-test-secret"}


def test_a_proxy_does_not_stand_before_this_machine(
    server: FineTuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert trainer(server).train(PAIRS, START, tmp_path).model == "ft:gpt-4o-mini:house"


def test_what_is_uploaded_is_what_the_api_asks_for(server: FineTuning, tmp_path: Path) -> None:
    trainer(server).train(PAIRS, START, tmp_path)
    lines = (tmp_path / "training.jsonl").read_bytes()
    assert lines in server.files[0]
    first = json.loads(lines.splitlines()[0])
    assert [turn["role"] for turn in first["messages"]] == ["system", "user", "assistant"]
    assert first["messages"][2]["content"] == "step 1: go to counter 0"


def test_a_restart_follows_the_same_job(server: FineTuning, tmp_path: Path) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer(server, wait=stop).train(PAIRS, START, tmp_path)
    assert json.loads((tmp_path / "job.json").read_text())["job"] == "ftjob-1"
    assert trainer(server).train(PAIRS, START, tmp_path).model == "ft:gpt-4o-mini:house"
    assert len(server.jobs) == len(server.files) == 1


def test_a_job_whose_name_was_lost_is_found_again(server: FineTuning, tmp_path: Path) -> None:
    """Killed between the start of the job and writing its name."""
    trainer(server).train(PAIRS, START, tmp_path)
    (tmp_path / "job.json").unlink()
    (tmp_path / "model.json").unlink()
    trainer(server).train(PAIRS, START, tmp_path)
    assert len(server.jobs) == 1


@pytest.mark.parametrize(("state", "said"), [("failed", "the file is odd"), ("cancelled", "no reason given")])
def test_a_job_that_comes_to_nothing(server: FineTuning, tmp_path: Path, state: str, said: str) -> None:
    server.states = ["running", state]
    server.error = {"code": "bad", "message": "the file\nis odd", "param": None}
    with pytest.raises(UserError, match=f"ftjob-1 has {state} \\({said}\\).*{re.escape(str(tmp_path / 'job.json'))}"):
        trainer(server).train(PAIRS, START, tmp_path)
    assert TrainedModel.load(tmp_path) is None
    # Deleting job.json starts another, as the message says.
    (tmp_path / "job.json").unlink()
    server.states = ["succeeded"]
    server.jobs[0]["status"] = state
    assert trainer(server).train(PAIRS, START, tmp_path).model
    assert len(server.jobs) == 2


def test_other_pairs_are_not_taken_for_the_job_that_runs(server: FineTuning, tmp_path: Path) -> None:
    trainer(server).train(PAIRS, START, tmp_path)
    (tmp_path / "model.json").unlink()
    with pytest.raises(UserError, match="other pairs"):
        trainer(server).train(PAIRS[:11], START, tmp_path)


def test_a_refusal_is_told_of_without_the_key(server: FineTuning, tmp_path: Path) -> None:
    server.refusal = (400, "no such model")
    with pytest.raises(UserError, match="answered 400 \\(no such model\\)") as caught:
        trainer(server).train(PAIRS, START, tmp_path)
    assert "secret" not in str(caught.value)
    server.refusal = (401, "sk-test-secret is wrong")
    with pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
        trainer(server).train(PAIRS, START, tmp_path)
    assert "secret" not in str(caught.value)


def test_data_that_the_api_would_refuse() -> None:
    with pytest.raises(UserError, match="9 pairs are too few"):
        training_lines(PAIRS[:9])
    with pytest.raises(UserError, match="pair 13 has an empty"):
        training_lines([*PAIRS, pair(reply=" ", prefix="")])


def test_a_local_model_is_not_trained_there(server: FineTuning, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"training\.trainer"):
        trainer(server).train(PAIRS, Start(model="local"), tmp_path)


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UserError, match="set OPENAI_API_KEY"):
        OpenAITrainer(training(trainer="openai")).check(Start(model="gpt-4o"))
