"""Replies that say nothing, models that think, and what is sent to servers of different habits."""

import json
from dataclasses import replace
from typing import Any

import pytest

from housewise.language import ChatModelError, ChatRequest, Message
from housewise.language.base import RequestError
from housewise.language.replies import NEXT_SEED
from tests.language.conftest import (
    Answer,
    Body,
    ChatServer,
    Handler,
    Open,
    ask,
    completion,
    fails,
    fails_if,
    failure,
    says,
    sends,
)
from tests.servers import serving


def thinks(text: str | None, thoughts: str = "hm", **choice: Any) -> Answer:
    """Answers as a server does that takes thoughts apart."""
    message = {"role": "assistant", "content": text, "reasoning_content": thoughts}
    return says(None, message=message, **choice)


@pytest.mark.parametrize(
    ("nothing", "words"),
    [
        (says(""), "without a text"),
        (says(" \n"), "without a text"),
        (says(None), "without a text"),
        (says("", finish_reason="length"), "ended at max_tokens=256 before it said anything"),
        (says("", finish_reason="content_filter"), "content_filter"),
        (says("Sorry", finish_reason="content_filter"), "content_filter"),
        (says(None, finish_reason="error", error={"code": 502, "message": "upstream is down"}), "upstream is down"),
        (says(None, message={"content": None, "refusal": "That I will not plan."}), "That I will not plan."),
    ],
)
def test_a_reply_that_is_none_is_asked_for_again_with_another_seed(
    server: ChatServer, open_server: Open, nothing: Answer, words: str
) -> None:
    server.play(nothing, says("go to hall"))
    [reply] = open_server().complete([ask(seed=5)])[0]
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("go to hall", 2 * 11, 2 * 7)
    first, second = server.requests
    assert first["seed"] == 5 and second["seed"] not in (5, 6)
    server.requests.clear()
    server.play(nothing)
    with pytest.raises(RequestError) as caught:
        open_server().complete([ask(seed=5)])
    assert words in str(caught.value) and "; " in str(caught.value) and words in caught.value.reason
    assert len(server.requests) == 2
    assert (caught.value.prompt_tokens, caught.value.completion_tokens) == (2 * 11, 2 * 7)


def test_what_is_always_the_same_is_asked_once(server: ChatServer, open_server: Open) -> None:
    server.play(says(""))
    assert "without a text" in failure(open_server(), ask(temperature=0.0))
    assert len(server.requests) == 1


def test_of_several_replies_those_that_say_nothing_are_asked_for_again(server: ChatServer, open_server: Open) -> None:
    server.play(says("one", "", "three"), says("two"))
    replies = open_server().complete([ask(n=3)])[0]
    assert sorted(reply.text for reply in replies) == ["one", "three", "two"]
    assert sum(reply.prompt_tokens for reply in replies) == 2 * 11, "blank replies are paid for"
    assert sum(reply.completion_tokens for reply in replies) == 2 * 7


def test_a_missing_reply_is_drawn_with_a_seed_that_none_had(server: ChatServer, open_server: Open) -> None:
    def draw(handler: Handler, body: Body) -> None:
        # As vLLM does: the seed of each of n replies is one higher.
        seeds = range(body["seed"], body["seed"] + body.get("n", 1))
        handler.reply(200, completion(*["" if seed in (6, 9) else f"plan {seed}" for seed in seeds]))

    server.play(draw)
    texts = [reply.text for reply in open_server().complete([ask(n=4, seed=5)])[0]]
    assert texts == ["plan 5", "plan 7", "plan 8", f"plan {9 + NEXT_SEED}"]


@pytest.mark.parametrize("cut", [thinks("", finish_reason="length"), says("<think>\nhm", finish_reason="length")])
def test_a_model_that_thinks_gets_more_tokens(server: ChatServer, open_server: Open, cut: Answer) -> None:
    server.play(cut, thinks("go to hall"))
    model = open_server(thinking_tokens=1000)
    [reply] = model.complete([ask(temperature=0.0, stop=("\n",))])[0]
    assert (reply.text, reply.thoughts) == ("go to hall", "hm")
    # A stop text would end the thoughts.
    assert [(each["max_tokens"], "stop" in each) for each in server.requests] == [(256, True), (1256, False)]
    server.play(cut)
    line = failure(model)
    assert "max_tokens=256 and thinking_tokens=1000" in line and "raise max_tokens or thinking_tokens" in line


CUT = says("I could go to attic 0\nstep 1: go to attic 0\nno, wait", finish_reason="length")


def test_thoughts_without_an_opening_mark_that_were_cut_are_no_reply(server: ChatServer, open_server: Open) -> None:
    server.play(CUT, says("hm</think>go to hall"), says("go to hall"))
    model = open_server(thinking=True)
    [reply] = model.complete([ask()])[0]
    assert (reply.text, reply.thoughts) == ("go to hall", "hm")
    # A complete reply without a mark has no thoughts.
    assert model.complete([ask()])[0][0].text == "go to hall"
    assert len(server.requests) == 3


def test_a_reply_that_quotes_a_mark_does_not_spoil_the_following(server: ChatServer, open_server: Open) -> None:
    server.play(says("You wrote 'a </think> b'."), says("go to hall"))
    model = open_server(max_retries=0)
    model.complete([ask()])
    assert [model.complete([ask()])[0][0].text for _ in range(2)] == ["go to hall"] * 2


@pytest.mark.parametrize(
    "request_", [ask(prefix="step 1:"), replace(ask(), json_schema='{"type": "object"}')], ids=["continued", "schema"]
)
def test_replies_that_begin_without_thoughts_may_be_cut(
    server: ChatServer, open_server: Open, request_: ChatRequest
) -> None:
    server.play(CUT)
    [reply] = open_server(thinking=True, continue_prefix=True).complete([request_])[0]
    assert reply.is_cut and reply.text.endswith("no, wait")


def test_a_user_may_say_that_a_model_thinks(server: ChatServer, open_server: Open) -> None:
    open_server(thinking=True, thinking_tokens=50).complete([ask(max_tokens=10)])
    assert server.requests[0]["max_tokens"] == 60


def test_a_model_without_room_to_think_thinks_less(server: ChatServer, open_server: Open) -> None:
    message = "'max_tokens' is too large: 4352. The model's maximum context length is 2048 tokens"
    server.play(fails_if(lambda body: body["max_tokens"] > 1000, message, param="max_tokens"))
    assert open_server(thinking=True).complete([ask()])[0][0].text == "ok"
    assert [each["max_tokens"] for each in server.requests] == [4352, 2304, 1280, 768]


def test_options_of_the_user_are_sent(server: ChatServer, open_server: Open) -> None:
    options = {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low"}
    open_server(
        extra_body={"top_k": 20}, chat_template_kwargs={"enable_thinking": False}, reasoning_effort="low"
    ).complete([ask()])
    assert {name: server.requests[0][name] for name in options} == options


def test_a_refused_option_is_named(server: ChatServer, open_server: Open) -> None:
    server.play(fails(400, "unknown field top_k"))
    assert "extra_body.top_k" in failure(open_server(extra_body={"top_k": 20}))


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("Requested sample logprobs of 20, which is greater than max allowed: 5", 5),
        ("Invalid value for 'top_logprobs': must be in the range [0, 8]", 8),
        ("top_logprobs must be less than or equal to 11", 11),
    ],
)
def test_a_limit_that_a_server_names_is_obeyed(server: ChatServer, open_server: Open, message: str, limit: int) -> None:
    server.play(fails(400, message), says("ok"))
    model = open_server()
    model.complete([ask(alternatives=20)])
    model.complete([ask(alternatives=20)])
    assert [each["top_logprobs"] for each in server.requests] == [20, limit, limit]


TALK = ChatRequest((Message("system", "You tidy."), Message("user", "Plan."), Message("user", "Now.")))


@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Only user and assistant roles are supported!",
        "messages[0].role 'system' is not allowed",
    ],
)
def test_without_a_system_role_its_text_goes_into_the_users_turn(
    server: ChatServer, open_server: Open, message: str
) -> None:
    server.play(fails_if(lambda body: body["messages"][0]["role"] == "system", message))
    model = open_server()
    assert [model.complete([TALK])[0][0].text for _ in range(2)] == ["ok", "ok"]
    assert [len(each["messages"]) for each in server.requests] == [3, 1, 1]
    assert server.requests[1]["messages"] == [{"role": "user", "content": "You tidy.\n\nPlan.\n\nNow."}]


def test_where_both_ways_are_refused_the_first_refusal_is_told(server: ChatServer, open_server: Open) -> None:
    server.play(fails(400, "system role not supported"), fails(400, "no user role either"))
    model = open_server()
    with pytest.raises(ChatModelError, match="system role not supported"):
        model.complete([TALK])
    server.play(says("ok"))
    model.complete([TALK])
    assert server.requests[-1]["messages"][0]["role"] == "system"


@pytest.mark.parametrize("name", ["top_p", "temperature"])
def test_sampling_that_the_user_set_is_theirs_to_change(server: ChatServer, open_server: Open, name: str) -> None:
    server.play(fails_if(lambda body: name in body, f"Unsupported parameter: '{name}'", param=name))
    assert open_server().complete([ask(**{name: 0.5})])[0][0].text == "ok"
    chosen = open_server(chosen_sampling={name: 0.5})
    assert f"set {name}=1" in failure(chosen, ask(**{name: 0.5}))
    # Another value is not the user's, and 1 means the same.
    assert chosen.complete([ask(**{name: 0.25})])[0][0].text == "ok"
    assert chosen.complete([ask(**{name: 1.0})])[0][0].text == "ok"


def test_an_address_keeps_its_parameters(server: ChatServer, open_server: Open) -> None:
    paths: list[str] = []

    def answer(handler: Handler, body: Body) -> None:
        paths.append(handler.path)
        handler.reply(200, completion("ok"))

    server.play(answer)
    open_server(base_url=f"{server.url}?api-version=2024-10-21&api-key=very-secret-key").complete([ask()])
    assert paths == ["/v1/chat/completions?api-version=2024-10-21&api-key=very-secret-key"]
    server.play(fails(400, "wrong key very-secret-key"))
    assert "very-secret-key" not in failure(open_server(base_url=f"{server.url}?api-version=1&api-key=very-secret-key"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_prompts_go_to_no_host_that_nobody_named(server: ChatServer, open_server: Open, status: int) -> None:
    with serving(ChatServer()) as other:
        server.play(lambda handler, body: handler.reply(status, b"", Location=f"{other.url}/chat/completions?key=x"))
        line = failure(open_server())
        assert f"{other.url}/chat/completions" in line and "key=x" not in line and "base_url" in line
        assert not other.requests and len(server.requests) == 1


def test_within_a_host_redirects_are_followed(server: ChatServer, open_server: Open) -> None:
    def answer(handler: Handler, body: Body) -> None:
        if handler.path == "/v1/chat/completions":
            handler.reply(308, b"", Location="/v2/chat/completions")
        else:
            handler.reply(200, completion("ok"))

    server.play(answer)
    assert open_server().complete([ask()])[0][0].text == "ok"
    server.play(lambda handler, body: handler.reply(307, b"", Location=handler.path))
    assert "again and again" in failure(open_server())


def test_a_model_that_is_being_loaded_is_waited_for(
    server: ChatServer, open_server: Open, capfd: pytest.CaptureFixture[str]
) -> None:
    server.play(*[fails(503, "Loading model", Retry_After="0.2")] * 4, says("ok"))
    # They are waited for longer than the timeout.
    assert open_server(timeout=0.6, max_retries=0).complete([ask()])[0][0].text == "ok"
    notes = capfd.readouterr().err
    assert notes.count("Loading model") == 1 and "waiting up to 6 minutes" in notes


def test_a_model_that_was_just_fine_tuned_is_waited_for(
    server: ChatServer, open_server: Open, capfd: pytest.CaptureFixture[str]
) -> None:
    missing = fails(404, "The model `ft:m:house` does not exist", {"code": "model_not_found"}, Retry_After="0.01")
    server.play(*[missing] * 4, says("ok"))
    assert open_server(model="ft:m:house", max_retries=0).complete([ask()])[0][0].text == "ok"
    assert "waiting up to 2 minutes" in capfd.readouterr().err
    server.play(*[missing] * 4, says("ok"))
    assert "does not exist" in failure(open_server(max_retries=0)), "other names are corrected at once"


def test_a_model_that_stays_missing_is_not_waited_for_any_longer(server: ChatServer, open_server: Open) -> None:
    server.play(fails(404, "The model `ft:m:house` does not exist", Retry_After="130"))
    assert "does not exist" in failure(open_server(model="ft:m:house", timeout=600), name="ft:m:house")
    assert len(server.requests) == 1


def test_content_in_parts(server: ChatServer, open_server: Open) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "go to hall"},
        {"type": "image_url", "image_url": {}},
    ]
    server.play(says(None, message={"content": parts}))
    [reply] = open_server().complete([ask()])[0]
    assert (reply.text, reply.thoughts) == ("go to hall", "hm")


def test_a_mark_at_the_end_is_no_breach_of_a_grammar(server: ChatServer, open_server: Open) -> None:
    server.play(says("<think>hm</think>step 1: go<|im_end|>\n<|im_start|>user\nno"))
    request = ChatRequest((Message("user", "plan"),), prefix="step 1:", grammar='reply ::= " go" | " stop"')
    assert open_server().complete([request])[0][0].text == " go"
    assert json.dumps(server.requests[0]).count("root ::=") == 1


@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_a_server_that_refuses_and_then_hangs_is_given_up(
    server: ChatServer, open_server: Open, seconds: float
) -> None:
    def answer(handler: Handler, body: Body) -> None:
        if "seed" in body:
            handler.server.ending.wait(seconds * 0.5)
            handler.reply(400, {"error": {"message": "'seed' is unsupported", "param": "seed"}})
        else:
            handler.server.ending.wait(5)

    server.play(answer)
    assert "no answer within" in failure(open_server(timeout=seconds, max_retries=0), ask(seed=1))
    assert len(server.requests) <= 3


def test_the_newer_name_of_max_tokens(server: ChatServer, open_server: Open) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'"
    server.play(fails_if(lambda body: "max_tokens" in body, message, param="max_tokens"))
    assert open_server().complete([ask(max_tokens=5)])[0][0].text == "ok"
    assert server.requests[-1]["max_completion_tokens"] == 5
    open_server(thinking=True).complete([ask()])
    assert server.requests[-1]["max_completion_tokens"] == 256 + 4096


def test_requests_together_shrink_the_budget_once(server: ChatServer, open_server: Open) -> None:
    message = "maximum context length is 4096 tokens, you requested 5252 (900 + 4352 in the completion)"
    server.play(fails_if(lambda body: body["max_tokens"] > 3000, message, code="context_length_exceeded"))
    open_server(thinking=True).complete([ask() for _ in range(6)])
    assert {each["max_tokens"] for each in server.requests} == {4352, 2304}


def test_what_the_user_set_is_sent_though_another_value_was_refused(server: ChatServer, open_server: Open) -> None:
    server.play(fails_if(lambda body: body.get("temperature") == 0.0, "`temperature` must be strictly positive", 422))
    model = open_server(chosen_sampling={"temperature": 0.7})
    model.complete([ask(temperature=0.0)])
    model.complete([ask(temperature=0.7)])
    assert [each.get("temperature") for each in server.requests] == [0.0, None, 0.7]


@pytest.mark.parametrize(
    "message",
    [
        "To stop seeing this error, add a payment method.",
        "wrong key in 'plant the seed packet'; n of your temperature reading",
    ],
)
def test_words_of_an_error_name_no_parameter(server: ChatServer, open_server: Open, message: str) -> None:
    server.play(fails(400, message))
    failure(open_server(), ask(seed=1, stop=("x",)))
    assert len(server.requests) == 1


def test_the_words_of_fastapi_are_read_without_the_request(server: ChatServer, open_server: Open) -> None:
    detail = [
        {"type": "missing", "loc": ["body", "tools"], "msg": "Field required", "input": {"seed": 1, "stop": ["x"]}}
    ]
    server.play(lambda handler, body: handler.reply(422, {"detail": detail}))
    assert "body.tools: Field required" in failure(open_server(), ask(seed=1, stop=("x",)))
    assert len(server.requests) == 1


@pytest.mark.parametrize("message", ["n must be 1 when using greedy, got 3.", "Only one completion choice is allowed"])
def test_servers_that_take_one_reply_at_a_time(server: ChatServer, open_server: Open, message: str) -> None:
    server.play(fails_if(lambda body: "n" in body, message))
    assert len(open_server().complete([ask(n=3)])[0]) == 3


def test_of_several_replies_a_filtered_one_is_asked_for_again(server: ChatServer, open_server: Open) -> None:
    mixed = completion("one", "two")
    mixed["choices"][1]["finish_reason"] = "content_filter"
    server.play(sends(mixed), says("three"))
    assert [reply.text for reply in open_server().complete([ask(n=2)])[0]] == ["one", "three"]


@pytest.mark.parametrize(("grammar", "comes"), [('reply ::= " go"', False), ('reply ::= " go" | ""', True)])
@pytest.mark.parametrize("continues", [False, True])
def test_a_grammar_says_whether_nothing_is_a_reply(
    server: ChatServer, open_server: Open, grammar: str, comes: bool, continues: bool
) -> None:
    server.play(says("" if continues else "step 1:"))
    request = ChatRequest((Message("user", "plan"),), prefix="step 1:", grammar=grammar)
    model = open_server(continue_prefix=continues)
    if comes:
        assert model.complete([request])[0][0].text == ""
    else:
        assert "without a text" in failure(model, request)
