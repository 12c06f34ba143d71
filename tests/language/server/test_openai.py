"""The server model against a real HTTP server with real faults."""

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from housewise.language import ChatModelError, ChatRequest, Message, open_model
from tests.language.conftest import ChatServer, Handler, Open, ask, completion, fails, fails_if, failure, says, sends


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


def test_seeds_fit_servers_that_read_signed_integers(server: ChatServer, open_server: Open) -> None:
    refusal = "Invalid value at 'generation_config.seed' (TYPE_INT32), 4294967294"
    server.play(fails_if(lambda body: body["seed"] >= 2**31, refusal, says="ok"))
    model = open_server(max_retries=0)
    model.complete([ask(seed=2**32 - 2)])
    model.complete([ask(seed=2**32 + 3)])
    assert [body["seed"] for body in server.requests] == [2**32 - 2, 2**31 - 2, 3]


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
    assert sum(reply.prompt_tokens for reply in replies) == 11, "the prompt is read once"
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


TOKEN = {"token": "a", "logprob": -0.5}
ODD_NUMBERS = (10**400, 5.0, float("nan"), float("inf"), "1e999", "x", [], None)


@pytest.mark.parametrize(
    "odd",
    [{"content": None}, "yes", [1], *({"content": [TOKEN, {**TOKEN, "logprob": odd}]} for odd in ODD_NUMBERS)],
)
def test_odd_log_probabilities_count_as_none(server: ChatServer, open_server: Open, odd: Any) -> None:
    body = completion("ab")
    body["choices"][0]["logprobs"] = odd
    server.play(sends(body))
    assert open_server().complete([ask(logprobs=True)])[0][0].token_logprobs is None


def test_stop_texts_are_cut_where_the_server_does_not(server: ChatServer, open_server: Open) -> None:
    server.play(says("one\ntwo\nthree", finish_reason="length"))
    reply = open_server().complete([ask(stop=("three", "\n"))])[0][0]
    assert (reply.text, reply.finish_reason) == ("one", "stop")


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


@pytest.mark.parametrize(
    ("name", "message", "error"),
    [
        *((name, f"Unsupported parameter: '{name}'", {"param": name}) for name in ("logprobs", "seed", "n", "stop")),
        ("seed", "Invalid value at 'generation_config.seed' (TYPE_INT32), 3812238859", {}),
    ],
)
def test_refinements_that_a_server_refuses_are_left_out(
    server: ChatServer, open_server: Open, name: str, message: str, error: dict[str, str]
) -> None:
    server.play(fails_if(lambda body: name in body, message, says="a\nb", **error))
    model = open_server(max_retries=0)
    request = ask(n=3, seed=1, logprobs=True, stop=("\n",))
    assert [reply.text for reply in model.complete([request])[0]] == ["a"] * 3
    asked = len(server.requests)
    model.complete([request])
    assert all(name not in body for body in server.requests[asked:])


def test_a_needed_temperature_is_not_left_out(server: ChatServer, open_server: Open) -> None:
    server.play(fails(400, "Unsupported value: 'temperature'", {"param": "temperature"}))
    assert "temperature" in failure(open_server(), ask(temperature=0.0))


def test_closing(open_server: Open) -> None:
    # Other tests of this process may have left a model open.
    before = {*threading.enumerate()}
    model = open_server()
    model.complete([ask()])
    model.close()
    model.close()
    assert "chat-model" not in {thread.name for thread in {*threading.enumerate()} - before}
    with pytest.raises(ChatModelError, match="closed"):
        model.complete([ask()])


def test_closing_ends_requests_of_other_threads(server: ChatServer, open_server: Open) -> None:
    server.play(lambda handler, body: handler.server.ending.wait(20), fails(500, Retry_After="20"))
    model, errors = open_server(timeout=30.0), list[str]()

    def complete() -> None:
        with pytest.raises(ChatModelError) as caught:
            model.complete([ask(), ask()])
        errors.append(str(caught.value))

    threads = [threading.Thread(target=complete, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    # One request waits for its answer, the others to be repeated.
    for _ in range(1000):
        if len(server.requests) == 4:
            break
        time.sleep(0.01)
    model.close()
    for thread in threads:
        thread.join(10)
    assert len(errors) == 2 and all(error.endswith("it has been closed; open it again") for error in errors)


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
