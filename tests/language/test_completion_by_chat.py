"""Going on with a text by way of a chat server: with what else was likely, without it, and with what is said again."""

import json
import math
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.language.completion import GenerationLimits, Token
from housewise.language.completion_by_chat import ChatCompletionModel
from tests.language.conftest import Body, ChatServer, Handler, Open, completion, sends

BOUNDS = GenerationLimits(6, ("\n",), 3)
PROMPT = "Goal: put it away.\nGoal: the goal is that"


def replying(*tokens: tuple[str, float] | tuple[str, float, dict[str, float]]) -> Body:
    """A reply of tokens, each with its probability and what else was likely."""
    body = completion("".join(token[0] for token in tokens))
    body["choices"][0]["logprobs"] = {
        "content": [
            {
                "token": text,
                "logprob": math.log(probability),
                "top_logprobs": [
                    {"token": other, "logprob": math.log(p)}
                    for other, p in {text: probability, **(more[0] if more else {"?": 0.001})}.items()
                ],
            }
            for text, probability, *more in tokens
        ]
    }
    return body


def test_tokens_come_with_what_else_was_likely(server: ChatServer, open_server: Open) -> None:
    server.play(sends(replying((" the", 0.9), (" mug", 0.5, {" cup": 0.25}))))
    model = ChatCompletionModel(open_server(), "Go on.", continues=False)
    [found] = model.extend(PROMPT, [()], BOUNDS)
    assert found.text == " the mug" and model.can_branch
    assert found.steps[1].token.probability == pytest.approx(0.5)
    assert [(other.text, round(other.probability, 4)) for other in found.steps[1].alternatives] == [(" cup", 0.25)]
    [sent] = server.requests
    assert [message["content"] for message in sent["messages"]] == ["Go on.", PROMPT]
    assert (sent["temperature"], sent["top_logprobs"], sent["max_tokens"], sent["stop"]) == (0.0, 3, 6, ["\n"])


def test_the_end_of_the_text_is_a_line_feed(server: ChatServer, open_server: Open) -> None:
    written = replying((" the", 0.9), (" mug", 0.5, {"<|im_end|>": 0.25}), ("<|im_end|>", 0.6, {" is": 0.3}))
    written["choices"][0]["message"]["content"] = " the mug"
    server.play(sends(written))
    [found] = ChatCompletionModel(open_server(), "", continues=False).extend(PROMPT, [()], BOUNDS)
    assert found.text == " the mug\n"
    assert [[other.text for other in step.alternatives] for step in found.steps] == [["?"], ["\n"], [" is"]]


def test_a_branch_begins_the_turn_of_a_server_that_goes_on_with_it(server: ChatServer, open_server: Open) -> None:
    server.play(sends(replying((" is", 0.9), (" clean", 0.8))))
    model = ChatCompletionModel(open_server(continue_prefix=True), "", continues=True)
    [found] = model.extend(PROMPT, [(Token(" the", 0.9), Token(" cup", 0.25))], BOUNDS)
    assert found.text == " is clean"
    assert [message["role"] for message in server.requests[0]["messages"]] == ["user", "assistant"]
    assert server.requests[0]["messages"][1]["content"] == " the cup"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ([(" is", 0.9), (" clean", 0.8)], " is clean"),
        ([("the", 0.9), (" cup", 0.9), (" is", 0.9), (" clean", 0.8)], " is clean"),
        ([("The goal is", 0.9), (" that the cup", 0.9), (" is", 0.9)], " is"),
        ([("Goal: the goal is that the cu", 0.9), ("p is", 0.7)], " is"),
        ([("\n", 0.9), ("the", 0.9), (" cup", 0.9)], ""),
        ([(" the", 0.9), (" rest", 0.9)], "the rest"),
    ],
)
def test_what_another_server_says_again_is_left_out(
    server: ChatServer, open_server: Open, said: list[tuple[str, float]], left: str
) -> None:
    server.play(sends(replying(*said)))
    model = ChatCompletionModel(open_server(), "", continues=False)
    [found] = model.extend(PROMPT, [(Token(" the", 0.9), Token(" cup", 0.25))], BOUNDS)
    assert found.text.strip() == left.strip()
    assert server.requests[0]["messages"][0]["content"] == f"{PROMPT} the cup"


def test_without_alternatives_a_reply_is_one_piece_and_bounded(server: ChatServer, open_server: Open) -> None:
    server.play(sends(completion("the mug " * 100_000)))
    model = ChatCompletionModel(open_server(), "", continues=False)
    [found] = model.extend(PROMPT, [()], BOUNDS)
    assert not model.can_branch and len(found.steps) == 1 and len(found.text) == 6 * 20


def test_more_tokens_than_were_asked_for_are_cut(server: ChatServer, open_server: Open) -> None:
    server.play(sends(replying(*[(" on", 0.9)] * 5000)))
    [found] = ChatCompletionModel(open_server(), "", continues=False).extend(PROMPT, [()], BOUNDS)
    assert len(found.steps) == 6


def test_draws_are_asked_for_together_and_repeat_with_their_seed(server: ChatServer, open_server: Open) -> None:
    def answer(handler: Handler, body: dict[str, Any]) -> None:
        handler.reply(200, completion(*[f"{number}" for number in range(body.get("n", 1))]))

    server.play(answer, answer)
    for _ in range(2):
        found = ChatCompletionModel(open_server(), "", continues=False, seed=3).sample("p", 4, 0.9, BOUNDS)
        assert [each.text for each in found] == ["0", "1", "2", "3"]
    one, two = server.requests
    assert one == two and (one["n"], one["temperature"]) == (4, 0.9)


def test_a_number_is_read_behind_blanks(server: ChatServer, open_server: Open) -> None:
    server.play(sends(replying((" ", 0.9), ("2", 0.6, {"1": 0.3}), (".", 0.9))))
    [found] = ChatCompletionModel(open_server(), "", continues=False).answer("Say a number.", ["1 or 2?"])
    assert {(token.text, round(token.probability, 3)) for token in found.first} == {("2", 0.6), ("1", 0.3)}
    assert json.dumps(server.requests[0]["messages"][0]) == '{"role": "system", "content": "Say a number."}'
