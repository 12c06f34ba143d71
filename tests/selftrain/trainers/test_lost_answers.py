"""Fine-tuning behind a server whose answers are lost, late or refused: one file, one job, whatever happens."""

import json
import multiprocessing
import re
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.selftrain.trainers.openai_trainers import OpenAITrainer
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from tests.selftrain.tiny import pair, training
from tests.selftrain.trainers.fine_tuning_server import FineTuning, Trouble

PAIRS = [pair(number) for number in range(12)]
START = ModelReference(model="gpt-4o-mini-2024-07-18")
FILES, JOBS = "POST /v1/files", "POST /v1/fine_tuning/jobs"


def train(url: str, folder: Path, start: ModelReference = START, lines: list[str] | None = None) -> TrainedModel:
    """Train without pauses, as a process of its own does too."""
    said = [] if lines is None else lines
    config = training(trainer="openai", epochs=3)
    return OpenAITrainer(config, 5, url, lambda *now: said.append(now[2]), lambda seconds: None).train(
        PAIRS, start, folder
    )


def refusal(server: FineTuning, folder: Path, start: ModelReference = START) -> str:
    with pytest.raises(UserError) as caught:
        train(server.url, folder, start)
    assert TrainedModel.load(folder) is None and "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("returns_metadata", [True, False])
@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("status", [0, 502, 503])
@pytest.mark.parametrize("request_", [FILES, JOBS])
def test_what_was_made_though_the_answer_was_lost_is_not_made_again(
    server: FineTuning, tmp_path: Path, request_: str, status: int, is_done: bool, returns_metadata: bool
) -> None:
    server.troubles = {request_: [Trouble(status, is_done=is_done), Trouble(status)]}
    server.returns_metadata = returns_metadata
    assert train(server.url, tmp_path).model == "ft:gpt-4o-mini:house"
    assert (len(server.files), len(server.jobs)) == (1, 1)
    assert server.requests.count(request_) == (1 if is_done else 3)


@pytest.mark.parametrize("request_", [FILES, JOBS])
def test_an_answer_that_names_nothing_is_a_lost_one(server: FineTuning, tmp_path: Path, request_: str) -> None:
    server.troubles = {request_: [Trouble(200, is_done=True)]}
    train(server.url, tmp_path)
    assert (len(server.files), len(server.jobs)) == (1, 1)


def test_an_answer_that_names_nothing_is_told_of(server: FineTuning, tmp_path: Path) -> None:
    server.troubles = {"GET /v1/fine_tuning/jobs/ftjob-1": [Trouble(200)]}
    assert "names no file or job" in refusal(server, tmp_path)


def test_a_job_that_is_never_found_is_not_asked_for_without_end(server: FineTuning, tmp_path: Path) -> None:
    server.troubles = {JOBS: [Trouble(502)] * 100}
    assert "answered 502 (Bad gateway)" in refusal(server, tmp_path)
    assert server.requests.count(JOBS) < 10 < server.requests.count("GET /v1/fine_tuning/jobs")


@pytest.mark.parametrize("returns_metadata", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kills_after", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_killed_at_any_request(server: FineTuning, tmp_path: Path, kills_after: bool, returns_metadata: bool) -> None:
    """Each command is killed one request later than the one before it, before or after what it asks for is done."""
    server.returns_metadata = returns_metadata
    for number in range(1, 30):
        server.requests = []
        child = multiprocessing.get_context("forkserver").Process(target=train, args=(server.url, tmp_path))

        def interrupt(
            count: int,
            is_done: bool,
            number: int = number,
            child: multiprocessing.process.BaseProcess = child,
        ) -> None:
            if (count, is_done) == (number, kills_after):
                child.kill()
                child.join()

        server.interrupt = interrupt
        child.start()
        child.join(120)
        if child.exitcode == 0:
            break
        assert len(server.requests) == number
    found = TrainedModel.load(tmp_path)
    assert found is not None and found.model == "ft:gpt-4o-mini:house" and number > 3
    assert (len(server.files), len(server.jobs)) == (1, 1)


def test_a_file_that_is_not_processed_is_waited_for(server: FineTuning, tmp_path: Path) -> None:
    server.file_states = ["uploaded"]
    line = refusal(server, tmp_path)
    assert "file-1 is not processed yet; run the same command again" in line and not server.jobs
    assert json.loads((tmp_path / "job.json").read_text())["file"] == "file-1"
    server.file_states = ["uploaded", "uploaded", "processed"]
    said: list[str] = []
    train(server.url, tmp_path, lines=said)
    assert said[:2] == ["file-1 uploaded", "file-1 uploaded"]
    assert (len(server.files), len(server.jobs)) == (1, 1)


def test_a_job_that_is_refused_while_the_file_is_processed(server: FineTuning, tmp_path: Path) -> None:
    server.file_states = [None]
    server.troubles = {JOBS: [Trouble(400, "File file-1 is still being processed.")] * 4}
    train(server.url, tmp_path)
    assert (len(server.files), len(server.jobs)) == (1, 1)


def test_a_file_that_is_broken_is_told_of(server: FineTuning, tmp_path: Path) -> None:
    server.file_states = ["error"]
    assert re.search(r"file-1: .* error .*delete .*job\.json", refusal(server, tmp_path))


def test_a_model_that_has_no_name_yet_is_waited_for(server: FineTuning, tmp_path: Path) -> None:
    server.states, server.nameless = ["succeeded"], 1000
    assert "ftjob-1 has succeeded, but its model has no name yet; run the same command" in refusal(server, tmp_path)
    server.nameless = 4
    assert train(server.url, tmp_path).model == "ft:gpt-4o-mini:house"
    assert len(server.jobs) == 1


@pytest.mark.parametrize("trouble", [Trouble(503), Trouble(404, "no such job"), Trouble(429), Trouble(0)])
def test_a_job_is_followed_through_an_outage(server: FineTuning, tmp_path: Path, trouble: Trouble) -> None:
    server.troubles = {"GET /v1/fine_tuning/jobs/ftjob-1": [trouble] * 8}
    said: list[str] = []
    train(server.url, tmp_path, lines=said)
    assert len(server.jobs) == 1
    assert sum(line.endswith("; waiting") for line in said) == 8


@pytest.mark.parametrize(("model", "tries"), [("ft:gpt-4o-mini:first", 4), ("gpt-4o-minni", 1)])
def test_a_model_that_was_made_a_minute_ago_is_waited_for(
    server: FineTuning, tmp_path: Path, model: str, tries: int
) -> None:
    server.troubles = {JOBS: [Trouble(404, f"The model {model} does not exist")] * 3}
    if tries == 1:
        assert "does not exist" in refusal(server, tmp_path, ModelReference(model=model))
        server.troubles = {}
        # The name is corrected; nothing was started for the wrong one.
        train(server.url, tmp_path)
    else:
        train(server.url, tmp_path, ModelReference(model=model))
    assert len(server.jobs) == 1


@pytest.mark.parametrize("request_", [FILES, JOBS])
def test_what_is_too_large_is_told(server: FineTuning, tmp_path: Path, request_: str) -> None:
    server.troubles = {request_: [Trouble(413, "Request Entity Too Large")]}
    line = refusal(server, tmp_path)
    size = (tmp_path / "training.jsonl").stat().st_size
    assert "answered 413" in line and f"{size:,} bytes" in line and "12 pairs" in line
    assert server.requests.count(request_) == 1


def test_jobs_of_others_may_be_described_in_any_way(server: FineTuning, tmp_path: Path) -> None:
    server.jobs = [{"id": "ftjob-0", "status": "succeeded", "training_file": "", "metadata": "theirs"}]
    assert train(server.url, tmp_path).model == "ft:gpt-4o-mini:house"
    assert len(server.jobs) == 2


@pytest.mark.parametrize(("error", "said"), [("out of\nluck", "out of luck"), ({}, "no reason given")])
def test_a_failure_may_be_told_in_any_way(server: FineTuning, tmp_path: Path, error: Any, said: str) -> None:
    server.states, server.error = ["failed"], error
    assert f"ftjob-1 has failed ({said})" in refusal(server, tmp_path)


def test_a_job_is_found_behind_many_others(server: FineTuning, tmp_path: Path) -> None:
    train(server.url, tmp_path)
    for name in ("job.json", "model.json"):
        (tmp_path / name).unlink()
    server.jobs += [{**server.jobs[0], "id": f"other-{number}", "metadata": {}} for number in range(45)]
    train(server.url, tmp_path)
    assert len(server.jobs) == 46 and len(server.files) == 1


def test_a_job_of_an_older_version_is_followed(server: FineTuning, tmp_path: Path) -> None:
    train(server.url, tmp_path)
    (tmp_path / "model.json").unlink()
    kept = json.loads((tmp_path / "job.json").read_text())
    (tmp_path / "job.json").write_text(json.dumps({"job": kept["job"], "digest": kept["digest"]}))
    train(server.url, tmp_path)
    assert (len(server.files), len(server.jobs)) == (1, 1)


def test_a_server_that_tells_no_losses_loses_no_model(server: FineTuning, tmp_path: Path) -> None:
    server.troubles = {"GET /v1/fine_tuning/jobs/ftjob-1/events": [Trouble(404)]}
    assert train(server.url, tmp_path).model
    assert (tmp_path / "curve.csv").read_text() == "step,loss\n"
