"""Servers that refuse, fail, hang or answer something else: what is tried again, and what is told."""

import gzip
import json
import time
from contextlib import closing
from typing import Any

import pytest

from housewise.language import ChatModelError
from housewise.language.base import Message, PromptTooLongError, RequestError
from housewise.language.server.lora_server import LoraServer
from tests.language.conftest import KEY, Answer, ChatServer, Handler, Open, ask, completion, fails, failure, says, sends


def test_rate_limits_are_waited_out(server: ChatServer, open_server: Open) -> None:
    server.play(fails(429, Retry_After="0.3"), says("ok"))
    start = time.perf_counter()
    reply = open_server().complete([ask()])[0][0]
    assert reply.text == "ok" and time.perf_counter() - start >= 0.3 and reply.seconds >= 0.3


@pytest.mark.parametrize("wait", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_server_that_asks_to_come_back_at_once_is_not_hurried(
    server: ChatServer, open_server: Open, monkeypatch: pytest.MonkeyPatch, wait: str
) -> None:
    attempts: list[int] = []

    def pause(backoff: float, attempt: int) -> float:
        attempts.append(attempt)
        return 0.0

    monkeypatch.setattr("housewise.language.server.openai.retry_pause", pause)
    server.play(fails(503, Retry_After=wait), fails(503, Retry_After=wait), says("ok"))
    open_server().complete([ask()])
    assert attempts == [1, 2]


def test_a_wait_beyond_the_deadline_is_not_begun(server: ChatServer, open_server: Open) -> None:
    server.play(fails(429, "slow down", Retry_After="3600"))
    start = time.perf_counter()
    line = failure(open_server())
    assert "429" in line and "slow down" in line and "concurrency" in line
    assert time.perf_counter() - start < 3


def test_spent_credit_is_not_retried(server: ChatServer, open_server: Open) -> None:
    server.play(fails(429, "You exceeded your quota", {"code": "insufficient_quota"}))
    assert "credit" in failure(open_server())
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504])
def test_server_errors_are_retried(server: ChatServer, open_server: Open, status: int) -> None:
    server.play(fails(status), fails(status), says("ok"))
    assert open_server().complete([ask()])[0][0].text == "ok"
    assert len(server.requests) == 3


def test_lasting_server_errors_end(server: ChatServer, open_server: Open) -> None:
    server.play(fails(500, "model crashed"))
    line = failure(open_server())
    assert "500" in line and "model crashed" in line and "3 attempts" in line
    assert len(server.requests) == 3


def test_no_server(open_server: Open) -> None:
    line = failure(open_server(base_url="http://127.0.0.1:9/v1"))
    assert "http://127.0.0.1:9/v1" in line and "connection failed" in line


def test_never_answering_ends(server: ChatServer, open_server: Open) -> None:
    server.play(hangs)
    start = time.perf_counter()
    line = failure(open_server(timeout=0.3, max_retries=1))
    assert "no answer within" in line and time.perf_counter() - start < 3


def test_a_server_of_adapters_that_never_answers_ends(server: ChatServer) -> None:
    server.play(hangs)
    with (
        closing(LoraServer(server.url, timeout=0.3)) as opened,
        pytest.raises(ChatModelError, match=r"no answer within 0\.3 s"),
    ):
        opened.score("m", [Message("user", "?")], "yes", {})


@pytest.mark.parametrize("head", [False, True])
def test_a_trickling_server_ends(server: ChatServer, open_server: Open, head: bool) -> None:
    def trickle(handler: Handler, body: dict[str, Any]) -> None:
        if not head:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for byte in b"HTTP/1.1 200 OK\r\nX: " + b" " * 10000:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if handler.server.ending.wait(0.02):
                return

    server.play(trickle)
    start = time.perf_counter()
    assert "no answer within" in failure(open_server(timeout=0.4, max_retries=1))
    assert time.perf_counter() - start < 3


def hangs(handler: Handler, body: dict[str, Any]) -> None:
    handler.server.ending.wait()


def half(handler: Handler, body: dict[str, Any]) -> None:
    whole = json.dumps(completion("hello")).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(whole)))
    handler.end_headers()
    handler.wfile.write(whole[: len(whole) // 2])
    handler.drop()


def greets(handler: Handler, body: dict[str, Any]) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    handler.drop()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(sends(b""), "empty body", id="empty"),
        pytest.param(sends(b" \n"), "empty body", id="blank"),
        pytest.param(sends(b"{]" * 50), "no chat completion: {]{]", id="garbage"),
        pytest.param(sends(b"\xff\x00" * 2_500_000), "5000000 bytes", id="5 MB of garbage"),
        pytest.param(sends(b"x" * 17_000_000), "more than 16 MB", id="17 MB of garbage"),
        pytest.param(
            sends(gzip.compress(b"x" * 200_000_000), Content_Encoding="gzip"), "more than 16 MB", id="gzip bomb"
        ),
        pytest.param(sends(b"x" * 99, Content_Encoding="gzip"), "connection failed", id="not gzip"),
        pytest.param(half, "connection failed", id="half"),
        pytest.param(sends(json.dumps(completion("hello")).encode()[:50]), "no chat completion", id="cut"),
        pytest.param(sends(b"<html>Welcome</html>", Content_Type="text/html"), "<html>Welcome", id="web page"),
        pytest.param(sends(b"[1, 2]"), "no chat completion", id="a list"),
        pytest.param(sends(b"{}"), "without any choice", id="an empty object"),
        pytest.param(sends(b'{"choices": []}'), "without any choice", id="no choices"),
        pytest.param(sends(b'{"choices": null}'), "without any choice", id="null choices"),
        pytest.param(sends(b'{"choices": [{"message": {"content": 3}}]}'), "no chat completion", id="number for text"),
        pytest.param(sends(b'{"choices": [{}]}'), "no chat completion", id="no message"),
        pytest.param(sends(b'{"error": {"message": "overloaded"}}'), "overloaded", id="error with 200"),
        pytest.param(greets, "connection failed", id="not HTTP"),
    ],
)
def test_answers_that_are_none(server: ChatServer, open_server: Open, answer: Any, said: str) -> None:
    server.play(answer)
    line = failure(open_server(max_retries=1))
    assert said in line and "2 attempts" in line
    server.play(answer, says("ok"))
    assert open_server(max_retries=1).complete([ask()])[0][0].text == "ok"


OK = json.dumps(completion("ok")).encode()


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([sends(OK, Content_Type="text/plain")], id="wrong content type"),
        pytest.param([sends(gzip.compress(OK), Content_Encoding="gzip")], id="compressed"),
        pytest.param([lambda handler, body: handler.drop(), says("ok")], id="lost connection"),
        pytest.param([fails(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), says("ok")], id="a date to come back"),
    ],
)
def test_answers_that_are_read_in_the_end(server: ChatServer, open_server: Open, answers: list[Answer]) -> None:
    server.play(*answers)
    assert open_server().complete([ask()])[0][0].text == "ok"


def test_a_reply_without_end(server: ChatServer, open_server: Open) -> None:
    server.play(says("x" * 1_000_001))
    assert "1000001 characters" in failure(open_server())


def test_one_failing_request_ends_the_call(server: ChatServer, open_server: Open) -> None:
    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if body["messages"][-1]["content"] == "bad":
            handler.reply(400, {"error": {"message": "bad request"}})
        else:
            handler.server.ending.wait()

    server.play(answer)
    start = time.perf_counter()
    with pytest.raises(ChatModelError, match="bad request"):
        open_server(timeout=60).complete([ask(), ask("bad"), ask()])
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "OPENAI_API_KEY"), (403, "may use this model"), (400, "as it says"), (418, "/v1")]
)
def test_refusals_are_final(server: ChatServer, open_server: Open, status: int, remedy: str) -> None:
    server.play(fails(status, "not you"))
    line = failure(open_server(api_key=KEY))
    assert str(status) in line and "not you" in line and remedy in line
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (400, "Your messages resulted in 8227 tokens.", {"code": "context_length_exceeded"}),
        (400, "the request exceeds the available size", {"type": "exceed_context_size_error"}),
        (400, "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens.", None),
        (413, "too large", None),
        *((status, "prompt is too long: 9000 tokens > 8000 maximum", None) for status in (400, 500)),
        *((status, "The input token count (9000) exceeds the maximum", None) for status in (400, 500)),
        *((status, "too many tokens", None) for status in (400, 500)),
    ],
)
def test_what_is_too_long_is_known_as_that(
    server: ChatServer, open_server: Open, status: int, message: str, error: dict[str, Any] | None
) -> None:
    server.play(fails(status, message, error))
    with pytest.raises(PromptTooLongError, match="shorten the prompt"):
        open_server().complete([ask()])
    assert len(server.requests) == 1


def test_other_refusals_are_not_about_length(server: ChatServer, open_server: Open) -> None:
    server.play(fails(400, "the context of this request is odd"))
    with pytest.raises(RequestError) as caught:
        open_server().complete([ask()])
    assert not isinstance(caught.value, PromptTooLongError)


def test_an_unknown_model_lists_the_known(server: ChatServer, open_server: Open) -> None:
    server.play(fails(404, "model m not found"))
    assert "base_url" in failure(open_server())
    server.models = [f"model-{index}" for index in range(12)]
    line = failure(open_server())
    assert "model-0, model-1" in line and "and 4 more" in line
