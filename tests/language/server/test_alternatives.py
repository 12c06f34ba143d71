"""Alternatives of tokens from servers: as they come, and none where anything else comes."""

import math
from typing import Any

import pytest

pytest.importorskip("openai")

from hypothesis import given
from hypothesis import strategies as st

from housewise.language.base import TokenLogprob
from housewise.language.server.responses import token_alternatives
from tests.language.conftest import KEY, Body, ChatServer, Open, ask, completion, fails_if, says, sends


def place(token: Any, logprob: Any, *others: tuple[Any, Any]) -> Body:
    top = [{"token": text, "logprob": value} for text, value in others]
    return {"token": token, "logprob": logprob, "top_logprobs": top}


def choice(*places: Any) -> Body:
    body = completion("ab")
    body["choices"][0]["logprobs"] = {"content": list(places)}
    return body


def test_they_are_asked_for_and_come_with_the_chosen_token_first(server: ChatServer, open_server: Open) -> None:
    server.play(sends(choice(place("a", -1.5, ("x", -0.5), ("a", -1.5), ("y", -3.0)), place("b", -9.0, ("c", -0.1)))))
    reply = open_server().complete([ask(alternatives=2)])[0][0]
    assert reply.alternatives == ((("a", -1.5), ("x", -0.5)), (("b", -9.0), ("c", -0.1)))
    assert isinstance(reply.alternatives[0][0], TokenLogprob) and reply.token_logprobs is None
    [sent] = server.requests
    assert sent["logprobs"] is True and sent["top_logprobs"] == 2


def test_no_server_is_asked_for_more_than_it_gives(server: ChatServer, open_server: Open) -> None:
    others = [(f"{index}", -1.0 - index) for index in range(30)]
    server.play(sends(choice(place("a", -0.5, *others))))
    [reply] = open_server().complete([ask(alternatives=50)])[0]
    assert server.requests[0]["top_logprobs"] == 20
    assert reply.alternatives is not None and len(reply.alternatives[0]) == 20


def test_who_does_not_ask_gets_none(server: ChatServer, open_server: Open) -> None:
    server.play(sends(choice(place("a", -0.5, ("x", -1.0)))))
    assert open_server().complete([ask(logprobs=True)])[0][0].alternatives is None
    assert "top_logprobs" not in server.requests[0]


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "a",
        {"token": "a", "logprob": -1.0},
        place("a", -1.0),
        place("a", -1.0, ("a", -1.0)),
        place("a", float("nan"), ("x", -1.0)),
        place("a", -1.0, ("x", float("inf"))),
        place("a", -1.0, ("x", 3.0)),
        place("a", -1.0, (7, -1.0)),
        place("a" * 5000, -1.0, ("x", -1.0)),
        {**place("a", -1.0), "top_logprobs": {"x": -1.0}},
        {**place("a", -1.0), "top_logprobs": 7},
    ],
)
def test_anything_else_counts_as_none(server: ChatServer, open_server: Open, odd: Any) -> None:
    server.play(sends(choice(place("b", -1.0, ("x", -2.0)), odd)))
    reply = open_server(max_retries=0).complete([ask(alternatives=3)])[0][0]
    assert reply.text == "ab" and reply.alternatives is None


def test_one_odd_answer_does_not_spoil_the_next(server: ChatServer, open_server: Open) -> None:
    server.play(says("ab"), sends(choice(place("a", -1.0, ("x", -2.0)))))
    model = open_server()
    first, second = (model.complete([ask(alternatives=2)])[0][0] for _ in range(2))
    assert first.alternatives is None and second.alternatives == ((("a", -1.0), ("x", -2.0)),)


@pytest.mark.parametrize("name", ["logprobs", "top_logprobs"])
def test_a_server_that_refuses_still_answers(server: ChatServer, open_server: Open, name: str) -> None:
    server.play(
        fails_if(
            lambda body: name in body or ("top_logprobs" in body and "logprobs" not in body),
            f"Unsupported parameter: '{name}'",
            says="ab",
            param=name,
        )
    )
    reply = open_server(max_retries=0).complete([ask(alternatives=2)])[0][0]
    assert reply.text == "ab" and reply.alternatives is None


@pytest.mark.parametrize(
    ("others", "left"), [([("x", None), ("y", -3.0)], ["a", "y"]), ([("a", -1.0), ("x", None)], ["a"])]
)
def test_null_among_alternatives_is_impossible(
    server: ChatServer, open_server: Open, others: list[Any], left: list[str]
) -> None:
    server.play(sends(choice(place("a", -1.0, *others))))
    [places] = open_server().complete([ask(alternatives=3)])[0][0].alternatives or ()
    assert [text for text, _ in places] == left


def test_a_token_that_was_written_though_impossible(server: ChatServer, open_server: Open) -> None:
    server.play(sends(choice(place("a", None, ("x", -3.0)))))
    [places] = open_server().complete([ask(alternatives=3)])[0][0].alternatives or ()
    assert [(text, logprob) for text, logprob in places] == [("a", -math.inf), ("x", -3.0)]


def test_a_key_in_a_token_is_hidden(server: ChatServer, open_server: Open) -> None:
    server.play(sends(choice(place(KEY, -1.0, (f"x{KEY}", -2.0)))))
    reply = open_server(api_key=KEY).complete([ask(alternatives=2)])[0][0]
    assert reply.alternatives is not None and KEY not in str(reply)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "token", "logprob", "top_logprobs"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(offered=anything, most=st.integers(1, 5))
def test_whatever_comes_is_tokens_or_none(offered: Any, most: int) -> None:
    for found in token_alternatives(offered, most) or ():
        assert 1 <= len(found) <= most
        for text, logprob in found:
            assert isinstance(text, str) and not math.isnan(logprob) and logprob <= 0.01
