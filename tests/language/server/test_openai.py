"""The server model against a real HTTP server with real faults."""

from __future__ import annotations

import gzip
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from housewise.language import ChatModelError, ChatRequest, Message, open_model
from housewise.language.server.openai import OpenAIChatModel
from tests.language.conftest import KEY, ChatServer, Handler, Open, ask, completion, fails, failure, says, sends


def test_answers_come_in_order_with_counts(server: ChatServer, open_server: Open) -> None:
    server.play(lambda handler, body: handler.reply(200, completion("re: " + body["messages"][-1]["content"])))
    replies = open_server().complete([ask(f"q{index}") for index in range(20)])
    assert [reply.text for (reply,) in replies] == [f"re: q{index}" for index in range(20)]
    first = replies[0][0]
    assert (first.finish_reason, first.prompt_tokens, first.completion_tokens) == ("stop", 11, 7)
    assert first.seconds > 0 and first.token_logprobs is None


def test_the_request_says_how_to_sample(server: ChatServer, open_server: Open) -> None:
    open_server().complete([ask(temperature=0.3, top_p=0.8, max_tokens=9, stop=tuple("abcdef"), seed=4, logprobs=True)])
    sent = server.requests[0]
    assert sent["messages"][0] == {"role": "system", "content": "You tidy."}
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"], sent["seed"]) == (0.3, 0.8, 9, 4)
    assert sent["stop"] == list("abcd") and sent["logprobs"] is True and "n" not in sent


def test_no_more_requests_than_allowed_are_under_way(server: ChatServer, open_server: Open) -> None:
    def slowly(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(0.05)
        handler.reply(200, completion("ok"))

    server.play(slowly)
    open_server(concurrency=3).complete([ask()] * 12)
    assert server.most_under_way == 3


def test_calls_work_where_an_event_loop_runs(open_server: Open) -> None:
    import asyncio

    async def notebook() -> str:
        return open_server().complete([ask()])[0][0].text

    assert asyncio.run(notebook()) == "hello"


def test_calls_from_several_threads(open_server: Open) -> None:
    model, texts = open_server(), []
    threads = [threading.Thread(target=lambda: texts.append(model.complete([ask()])[0][0].text)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["hello"] * 5


def test_n_replies(server: ChatServer, open_server: Open) -> None:
    server.play(says("a", "b", "c"))
    replies = open_server().complete([ask(n=3)])[0]
    assert [reply.text for reply in replies] == ["a", "b", "c"]
    assert [reply.completion_tokens for reply in replies] == [2, 2, 3]
    assert server.requests[0]["n"] == 3


def test_a_server_that_ignores_n_is_asked_again_with_other_seeds(server: ChatServer, open_server: Open) -> None:
    server.play(says("a"))
    assert len(open_server().complete([ask(n=4, seed=7)])[0]) == 4
    assert sorted(body["seed"] for body in server.requests) == [7, 8, 9, 10]


def test_more_choices_than_n_are_cut(server: ChatServer, open_server: Open) -> None:
    server.play(says("a", "b", "c"))
    assert len(open_server().complete([ask(n=2)])[0]) == 2


@pytest.mark.parametrize("offered", [True, False])
def test_log_probabilities_where_offered(server: ChatServer, open_server: Open, offered: bool) -> None:
    server.play(says("ab", logprobs=offered))
    reply = open_server().complete([ask(logprobs=True)])[0][0]
    assert reply.token_logprobs == ((-0.5, -1.5) if offered else None)


@pytest.mark.parametrize("odd", [{"content": None}, {"content": [{"logprob": "x"}]}, "yes", [1]])
def test_odd_log_probabilities_count_as_none(server: ChatServer, open_server: Open, odd: Any) -> None:
    body = completion("ab")
    body["choices"][0]["logprobs"] = odd
    server.play(sends(json.dumps(body).encode()))
    assert open_server().complete([ask(logprobs=True)])[0][0].token_logprobs is None


def test_missing_counts_are_zero(server: ChatServer, open_server: Open) -> None:
    server.play(says("ab", usage=False))
    reply = open_server().complete([ask()])[0][0]
    assert (reply.prompt_tokens, reply.completion_tokens) == (0, 0)


def test_stop_texts_are_cut_where_the_server_does_not(server: ChatServer, open_server: Open) -> None:
    server.play(says("one\ntwo\nthree", finish_reason="length"))
    reply = open_server().complete([ask(stop=("three", "\n"))])[0][0]
    assert (reply.text, reply.finish_reason) == ("one", "stop")


def test_a_cut_reply_says_so(server: ChatServer, open_server: Open) -> None:
    server.play(says("one", finish_reason="length"))
    assert open_server().complete([ask()])[0][0].finish_reason == "length"


@pytest.mark.parametrize(
    ("said", "text"), [("Step 1: go", " go"), ("\n step 1: go", " go"), ("go", "go"), (" go", " go")]
)
def test_a_repeated_prefix_is_removed(server: ChatServer, open_server: Open, said: str, text: str) -> None:
    server.play(says(said))
    assert open_server().complete([ask(prefix="step 1:")])[0][0].text == text
    assert server.requests[0]["messages"][-1]["role"] == "user"


def test_a_prefix_is_continued_where_the_server_can(server: ChatServer, open_server: Open) -> None:
    open_server(continue_prefix=True).complete([ask(prefix="step 1:")])
    sent = server.requests[0]
    assert sent["messages"][-1] == {"role": "assistant", "content": "step 1:"}
    assert sent["continue_final_message"] is True and sent["add_generation_prompt"] is False


def test_rate_limits_are_waited_out(server: ChatServer, open_server: Open) -> None:
    server.play(fails(429, Retry_After="0.3"), says("ok"))
    start = time.perf_counter()
    reply = open_server().complete([ask()])[0][0]
    assert reply.text == "ok" and time.perf_counter() - start >= 0.3 and reply.seconds >= 0.3


def test_a_date_to_come_back_is_understood(server: ChatServer, open_server: Open) -> None:
    server.play(fails(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), says("ok"))
    assert open_server().complete([ask()])[0][0].text == "ok"


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


def test_lost_connections_are_retried(server: ChatServer, open_server: Open) -> None:
    server.play(lambda handler, body: handler.drop(), says("ok"))
    assert open_server().complete([ask()])[0][0].text == "ok"


def test_no_server(open_server: Open) -> None:
    line = failure(open_server(base_url="http://127.0.0.1:9/v1"))
    assert "http://127.0.0.1:9/v1" in line and "connection failed" in line


def test_never_answering_ends(server: ChatServer, open_server: Open) -> None:
    server.play(hangs)
    start = time.perf_counter()
    line = failure(open_server(timeout=0.3, max_retries=1))
    assert "no answer within" in line and time.perf_counter() - start < 3


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


def test_a_completion_under_a_wrong_content_type_is_read(server: ChatServer, open_server: Open) -> None:
    server.play(sends(json.dumps(completion("ok")).encode(), Content_Type="text/plain"))
    assert open_server().complete([ask()])[0][0].text == "ok"


def test_a_compressed_completion_is_read(server: ChatServer, open_server: Open) -> None:
    server.play(sends(gzip.compress(json.dumps(completion("ok")).encode()), Content_Encoding="gzip"))
    assert open_server().complete([ask()])[0][0].text == "ok"


def test_a_reply_without_text(server: ChatServer, open_server: Open) -> None:
    server.play(says(None, finish_reason="length"))
    line = failure(open_server())
    assert "without a text" in line and "max_tokens" in line
    assert len(server.requests) == 1


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


def test_an_unknown_model_lists_the_known(server: ChatServer, open_server: Open) -> None:
    server.play(fails(404, "model m not found"))
    assert "base_url" in failure(open_server())
    server.models = [f"model-{index}" for index in range(12)]
    line = failure(open_server())
    assert "model-0, model-1" in line and "and 4 more" in line


@pytest.mark.parametrize("name", ["logprobs", "seed", "n", "stop"])
def test_refinements_that_a_server_refuses_are_left_out(server: ChatServer, open_server: Open, name: str) -> None:
    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if name in body:
            handler.reply(400, {"error": {"message": f"Unsupported parameter: '{name}'", "param": name}})
        else:
            handler.reply(200, completion("a\nb"))

    server.play(answer)
    model = open_server(max_retries=0)
    request = ask(n=3, seed=1, logprobs=True, stop=("\n",))
    assert [reply.text for reply in model.complete([request])[0]] == ["a"] * 3
    asked = len(server.requests)
    model.complete([request])
    assert all(name not in body for body in server.requests[asked:])


def test_the_newer_name_of_max_tokens(server: ChatServer, open_server: Open) -> None:
    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if "max_tokens" in body:
            message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
            handler.reply(400, {"error": {"message": message, "param": "max_tokens"}})
        else:
            handler.reply(200, completion("ok"))

    server.play(answer)
    assert open_server().complete([ask(max_tokens=5)])[0][0].text == "ok"
    assert server.requests[-1]["max_completion_tokens"] == 5


def test_a_needed_temperature_is_not_left_out(server: ChatServer, open_server: Open) -> None:
    server.play(fails(400, "Unsupported value: 'temperature'", {"param": "temperature"}))
    assert "temperature" in failure(open_server(), ask(temperature=0.0))


def test_the_key_is_sent_and_never_shown(
    server: ChatServer, open_server: Open, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    model = open_server(api_key=f" {KEY}\n")
    server.play(fails(400, f"bad key {KEY} in {{'Authorization': 'Bearer {KEY}'}}"))
    assert failure(model).count("[secret]") == 2
    server.play(fails(400, "x" * 190 + KEY))
    assert KEY[:5] not in failure(model)
    server.play(sends(f"oops {KEY}".encode()))
    assert "[secret]" in failure(model)
    server.play(says(f"your key is {KEY}"))
    assert model.complete([ask()])[0][0].text == "your key is [secret]"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    captured = capfd.readouterr()
    assert KEY not in repr(model) + str(vars(model)["name"]) + caplog.text + captured.out + captured.err


def test_a_key_that_is_no_secret_stays_in_what_is_said(server: ChatServer, open_server: Open) -> None:
    server.play(says("go to box 3"))
    assert open_server(api_key="x").complete([ask()])[0][0].text == "go to box 3"


def test_the_key_comes_from_the_environment(
    server: ChatServer, open_server: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    open_server().complete([ask()])
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ChatModelError, match="set OPENAI_API_KEY"):
        OpenAIChatModel("gpt-4o")


def test_a_missing_key_that_is_wanted(server: ChatServer, open_server: Open) -> None:
    server.play(fails(401))
    assert "set OPENAI_API_KEY" in failure(open_server())


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_a_key_that_cannot_be_sent(key: str) -> None:
    with pytest.raises(ChatModelError, match="characters") as caught:
        OpenAIChatModel("m", "http://127.0.0.1:1/v1", key)
    assert key not in str(caught.value)


def test_credentials_in_the_address_are_not_shown(server: ChatServer, open_server: Open) -> None:
    address = server.url.replace("http://", "http://user:pass-word@") + "?token=abc"
    server.play(fails(400, "pass-word is wrong"))
    line = failure(open_server(base_url=address))
    assert "user" not in line and "pass-word" not in line and "abc" not in line


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "http://[::1", "http://h:x/v1"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ChatModelError, match="http://host:port/v1"):
        OpenAIChatModel("m", address)


@pytest.mark.parametrize("options", [{"timeout": 0}, {"max_retries": -1}, {"concurrency": 0}])
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ChatModelError, match="correct them"):
        OpenAIChatModel("m", "http://127.0.0.1:1/v1", **options)


def test_a_proxy_is_not_used_for_this_machine(open_server: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert open_server().complete([ask()])[0][0].text == "hello"


def test_closing(open_server: Open) -> None:
    model = open_server()
    model.complete([ask()])
    model.close()
    model.close()
    assert "chat-model" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(ChatModelError, match="closed"):
        model.complete([ask()])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_can_go_on_asking(open_server: Open) -> None:
    model = open_server()
    model.complete([ask()])
    child = os.fork()
    if not child:
        os._exit(0 if model.complete([ask()])[0][0].text == "hello" else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_open_model_uses_the_address_from_the_environment(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    model = open_model("qwen3:8b", timeout=5.0)
    assert model.name == "qwen3:8b" and model.complete([ask()])[0][0].text == "hello"
    model.close()


GRAMMAR = 'reply ::= " " ("go to hall 1" | "mission complete")\n'
GROUNDED = ChatRequest((Message("user", "Where to?"),), prefix="step 1:", grammar=GRAMMAR)


@pytest.mark.parametrize(
    ("dialect", "read"),
    [
        ("vllm", lambda body: body["structured_outputs"]["grammar"]),
        ("vllm-guided", lambda body: body["guided_grammar"]),
        ("llama.cpp", lambda body: body["grammar"]),
        ("sglang", lambda body: body["ebnf"]),
    ],
)
def test_a_grammar_goes_where_the_server_reads_it(
    server: ChatServer, open_server: Open, dialect: str, read: Callable[[Any], str]
) -> None:
    pytest.importorskip("llguidance")
    server.play(says("step 1: go to hall 1"))
    assert open_server(grammar_dialect=dialect).complete([GROUNDED])[0][0].text == " go to hall 1"
    assert read(server.requests[0]) == 'root ::= "step 1:" reply\n' + GRAMMAR


def test_a_server_that_continues_the_prefix_does_not_write_it(server: ChatServer, open_server: Open) -> None:
    pytest.importorskip("llguidance")
    server.play(says(" go to hall 1"))
    assert open_server(continue_prefix=True).complete([GROUNDED])[0][0].text == " go to hall 1"
    assert server.requests[0]["structured_outputs"]["grammar"] == "root ::= reply\n" + GRAMMAR
    assert server.requests[0]["continue_final_message"] is True


def test_a_server_that_ignores_or_refuses_the_grammar_is_noticed(server: ChatServer, open_server: Open) -> None:
    pytest.importorskip("llguidance")
    server.play(says("Sure! step 1: go to hall 1"))
    assert "did not keep to the grammar" in (told := failure(open_server(), GROUNDED)) and "grammar_dialect" in told
    server.play(fails(400, "extra fields not permitted: structured_outputs"))
    assert "structured_outputs" in (told := failure(open_server(), GROUNDED)) and "grammar_dialect" in told
    server.play(fails(400, "This model's maximum context length is 4096 tokens"))
    assert "4096" in (told := failure(open_server(), GROUNDED)) and "grammar_dialect" not in told
    server.play(says("step 1: go to h", finish_reason="length"))
    assert open_server().complete([GROUNDED])[0][0].text == " go to h"
