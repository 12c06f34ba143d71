"""The doctor asks a chat server: one that can everything, ones that can little, and ones that are none."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from housewise.doctor.chat_server import ServerChoice, check_chat_server
from housewise.doctor.check_list import list_checks
from housewise.doctor.findings import SERVER, Check, Finding, run_check
from housewise.doctor.model_memory import MEMORY, estimate_findings
from housewise.language.gbnf import GrammarDialect
from housewise.language.server.request_parameters import GRAMMAR_FIELDS
from housewise.selftrain.personalize.settings import load_selftraining
from tests.housewise.doctor.asking import KEY, doctor
from tests.language.conftest import Answer, Body, ChatServer, Handler, completion, fails, sends
from tests.selftrain.tiny import save_talker

LIKELY = {"content": [{"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "b", "logprob": -1.0}]}]}


@pytest.fixture
def server(server: ChatServer) -> ChatServer:
    server.models = ["m"]
    return server


def able(field: str | None = None, sees: bool = False, logprobs: Any = None) -> Answer:
    """A server that holds replies to what it finds in one field of a request."""

    def answer(handler: Handler, body: Body) -> None:
        content = body["messages"][0]["content"]
        if isinstance(content, list):
            url = content[1]["image_url"]["url"]
            assert base64.b64decode(url.partition(",")[2]).startswith(b"\x89PNG")
            handler.reply(200, completion("It is Red." if sees else "I cannot see pictures."))
        else:
            text = "green-8" if field and field in body else "Hello! How can I help?"
            whole = completion(text)
            whole["choices"][0]["logprobs"] = logprobs if body.get("logprobs") else None
            handler.reply(200, whole)

    return answer


def examine(server: ChatServer, model: str | None = "m", seconds: float = 20.0) -> dict[str, Finding]:
    """What the doctor finds of a server, by what was looked at."""
    check = Check(SERVER, "server", lambda: check_chat_server(ServerChoice(server.url, model, seconds)))
    return {finding.what: finding for finding in run_check(check)}


@pytest.mark.parametrize("dialect", list(GRAMMAR_FIELDS))
def test_the_grammar_dialect_is_found_out(server: ChatServer, dialect: GrammarDialect) -> None:
    server.play(able(GRAMMAR_FIELDS[dialect], sees=True, logprobs=LIKELY))
    found = examine(server)
    assert {finding.state for finding in found.values()} == {"ok"}, found
    assert found["grammars"].details == f"followed: grounded=true grammar_dialect={dialect}"
    assert found["models"].details == "m is one of 1: m"
    assert "tokens a second (7 in " in found["replies"].details
    assert found["log-probabilities"].details == "of every token, and of what else was likely"


def test_a_server_that_can_little_says_what_to_leave_out(server: ChatServer) -> None:
    server.models = ["n", "o"]
    server.play(able("response_format"))
    found = examine(server)
    assert (found["models"].state, found["replies"].state) == ("missing", "ok")
    assert "JSON schemas are" in found["grammars"].details and "grounded=false" in found["grammars"].details
    assert "judging.as_json=true with prompt=notes uses them" in found["grammars"].details
    assert "score_placements=true" in found["log-probabilities"].details
    assert "it said 'I cannot see pictures.'" in found["pictures"].details
    server.play(able())
    assert "not followed in any dialect (vllm, vllm-guided, llama.cpp, sglang)" in examine(server)["grammars"].details


def test_without_a_model_the_only_one_is_asked(server: ChatServer) -> None:
    server.play(able())
    assert examine(server, None)["replies"].state == "ok" and server.requests[-1]["model"] == "m"
    server.models = ["m", "n"]
    assert examine(server, None) == {
        "models": Finding(SERVER, "models", "broken", "name one of them with --model: m, n")
    }


def test_a_local_model_is_estimated_and_the_server_that_serves_it_is_tested(server: ChatServer, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra housewise[train] is not installed")
    folder = save_talker(tmp_path / "talker")
    server.play(able())

    def found(url: str | None) -> dict[str, str]:
        """States of what is found of the model and its server."""
        checks = list_checks(None, server=ServerChoice(url, f"local:{folder}", 20.0))
        named = [run_check(check) for check in checks if check.topic in (MEMORY, SERVER)]
        return {finding.what: finding.state for findings in named for finding in findings}

    for names, name in ((["n", str(folder)], str(folder)), (["base"], "base")):
        server.models = names
        states = found(server.url)
        assert states["weights"] == states["models"] == states["replies"] == "ok"
        assert server.requests[-1]["model"] == name
    assert "weights" in found(None) and "replies" not in found(None)


def test_a_training_is_estimated_with_the_longest_examples_of_the_recipe(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra housewise[train] is not installed")
    found = estimate_findings(f"local:{save_talker(tmp_path / 'talker')}", [])
    tokens = load_selftraining(Path("paper")).training.max_example_tokens
    details = [finding.details for finding in found if finding.what.startswith("training")]
    assert tokens == 4096 and len(details) == 2
    assert all(f"for an example of {tokens} tokens, the longest with --config paper" in each for each in details)


def _hangs(handler: Handler, body: Body) -> None:
    handler.server.ending.wait(30)
    handler.drop()


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (fails(401, "bad key"), 401, "it answered 401 (no)"),
        (fails(401, "bad key"), None, "it answered 401 (bad key)"),
        (fails(404, "no such model"), 404, "it answered 404 (no such model)"),
        (fails(500, "out of memory"), None, "it answered 500 (out of memory)"),
        (fails(503, "the model is loading"), 503, "it answered 503 (the model is loading)"),
        (sends(b"<html>sign in</html>", Content_Type="text/html"), None, "no chat completion: <html>sign in</html>"),
        (sends(b"\x00\xff\x1b[31m{{"), None, "no chat completion"),
        (sends(b'{"choices": [{"message": {"content": 3}}]}'), None, "no chat completion"),
        (sends(b""), None, "an empty body"),
        (lambda handler, body: handler.reply(200, completion("")), None, "it answered without a text"),
        (_hangs, None, "no answer within"),
    ],
)
def test_a_server_that_cannot_be_used_is_told_in_a_line(
    server: ChatServer, answer: Answer, status: int | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.play(answer)
    server.get_status = status
    found = examine(server, seconds=1.5 if answer is _hangs else 4.0)
    (broken,) = (each for each in found.values() if each.state == "broken")
    assert said in broken.details and broken.remedy and KEY not in repr(found)


@pytest.mark.slow
def test_an_address_where_nobody_answers(tmp_path: Path) -> None:
    file = tmp_path / "doctor.json"
    words = ("--base-url", "http://me:hunter2@127.0.0.1:9/v1", "--model", "m", "--json", file)
    result = doctor(*words, OPENAI_API_KEY=KEY)
    assert result.returncode == 1 and not result.stderr and "the connection failed" in result.stdout
    found = [each for each in json.loads(file.read_text())["findings"] if each["topic"] == SERVER]
    (broken,) = (each for each in found if each["state"] == "broken")
    assert broken["remedy"] and broken["remedy"] in result.stdout
    assert not any(secret in result.stdout + file.read_text() for secret in (KEY, "hunter2"))


def test_a_model_without_an_address_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (check,) = (each for each in list_checks(None, server=ServerChoice(None, "gpt-4o", 20.0)) if each.topic == SERVER)
    (found,) = run_check(check)
    assert "there is no API key" in found.details
