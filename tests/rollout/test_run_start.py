"""Runs that cannot start: one line, and nothing is left of them."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.commands import housewise, one_line
from tests.language.conftest import ChatServer, fails

NO_KEY = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
SHORT = ("--houses", "1", "max_steps=5")


@pytest.fixture
def server(server: ChatServer) -> ChatServer:
    server.models = ["mistral", "qwen"]
    return server


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ("run", "--simulator", "habitat", *SHORT),
            "habitat-sim is not installed",
            marks=pytest.mark.skipif(find_spec("habitat_sim") is not None, reason="habitat-sim is installed"),
        ),
        (("run", "--model", "gpt-4o", *SHORT), "there is no API key; set OPENAI_API_KEY"),
        (("run", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", *SHORT), "check base_url and that the server"),
        (("run", "--model", "m", "--base-url", "http://no.such.host.invalid/v1", *SHORT), "no.such.host.invalid"),
        (("run", "--model", "local:no-such-model", *SHORT), "no-such-model"),
        (("run", "--adapter", "tiddy", *SHORT), "did you mean tidy?"),
        (
            ("run", "--memory", "nobody", "memory.folder=nowhere", "--planner", "memory_lookup", *SHORT),
            "no memory of nobody",
        ),
        (("run", "--data", "/nowhere"), "HOUSEKEEP_DATA"),
        (("run", "--system", "clipr", "--adapter", "tiddy"), "did you mean tidy?"),
        (("run", "--system", "adapt", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"), "the connection failed"),
        (("selftrain", "--model", "local:no-such-model", "--houses", "4"), "no-such-model"),
    ],
    ids=lambda part: " ".join(part[:5]) if isinstance(part, tuple) else "",
)
def test_what_is_missing_leaves_nothing_behind(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = housewise(*words, "--out", tmp_path / "run", **NO_KEY, HF_HUB_OFFLINE="1")
    assert said in one_line(result) and result.stdout == "", "a run that cannot start is not announced"
    assert list(tmp_path.iterdir()) == []


def _refuses_key(server: ChatServer) -> None:
    server.get_status = 401


def _has_not_the_model(server: ChatServer) -> None:
    server.play(fails(404, "The model does not exist"))


def _is_elsewhere(server: ChatServer) -> None:
    server.models = None
    server.get_status = 404
    server.play(fails(404, "Not Found"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_refuses_key, "it answered 401"),
        (_has_not_the_model, "correct the model's name or base_url (it usually ends in /v1); it has mistral, qwen"),
        (_is_elsewhere, "it answered 404"),
    ],
)
def test_a_server_that_cannot_answer_is_told_first(
    spoil: Callable[[ChatServer], None], said: str, server: ChatServer, tmp_path: Path
) -> None:
    spoil(server)
    words = ("run", "--model", "mistrall", "--base-url", server.url, *SHORT, "--out", tmp_path / "run")
    assert said in one_line(housewise(*words, OPENAI_API_KEY="a-key-that-is-secret"))
    assert not (tmp_path / "run").exists()


def test_a_model_that_a_server_does_not_list_may_still_answer(server: ChatServer, tmp_path: Path) -> None:
    words = ("run", "--model", "mistral:latest", "--base-url", server.url, *SHORT, "--out", tmp_path / "run")
    housewise(*words, code=0)
    # The first request was to find out.
    assert server.requests[0]["max_tokens"] == 1 and server.requests[1]["max_tokens"] > 1


def test_a_finished_run_needs_nothing(server: ChatServer, tmp_path: Path) -> None:
    words = ("run", "--model", "qwen", *SHORT, "--out", tmp_path / "run", "--base-url")
    assert housewise(*words, server.url).returncode == 0
    assert housewise(*words, "http://127.0.0.1:9/v1").returncode == 0
