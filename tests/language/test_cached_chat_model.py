"""Replies that are kept: nothing is asked twice, and what was stopped goes on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.language.base import ChatRequest, Message, Reply, Sampling
from housewise.language.cached_chat_model import CachedChatModel


class Counting:
    """Replies with how many requests it has been asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        replies = []
        for request in requests:
            self.asked += 1
            replies.append([Reply(f"{request.messages[0].content} {self.asked}", "stop", 3, 2, 0.5, (-0.5, -0.25))])
        return replies

    def close(self) -> None:
        """Nothing to release."""


def request(text: str, temperature: float = 0.0, alternatives: int = 0) -> ChatRequest:
    return ChatRequest((Message("user", text),), Sampling(temperature, alternatives=alternatives))


def texts(model: CachedChatModel, *requests: ChatRequest) -> list[str]:
    return [reply.text for [reply] in model.complete(requests)]


def test_the_same_is_asked_once_and_goes_on_from_the_file(tmp_path: Path) -> None:
    path, model = tmp_path / "out" / "replies.jsonl", Counting()
    kept = CachedChatModel(model, path=path)
    assert texts(kept, request("a"), request("b"), request("a")) == ["a 1", "b 2", "a 1"]
    assert texts(kept, request("b"), request("c")) == ["b 2", "c 3"] and model.asked == 3
    [[reply]] = CachedChatModel(Counting(), path=path).complete([request("a")])
    assert reply == Reply("a 1", "stop", 3, 2, 0.0, (-0.5, -0.25))
    path.write_text(path.read_text()[:-10])
    again = CachedChatModel(Counting(), path=path)
    assert texts(again, request("b"), request("c"), request("d")) == ["b 2", "c 1", "d 2"], "the last line was cut"
    assert texts(CachedChatModel(Counting(), path=path), request("c"), request("d")) == ["c 1", "d 2"]


def test_another_model_and_what_is_drawn_by_chance_are_asked_anew(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    assert texts(CachedChatModel(Counting(), "one", path), request("a")) == ["a 1"]
    other = Counting()
    assert texts(CachedChatModel(other, "other", path), request("a")) == ["a 1"] and other.asked == 1
    chance = CachedChatModel(Counting(), path=path)
    assert texts(chance, request("a", 1.0), request("a", 1.0)) == ["a 1", "a 2"]
    # The file holds no alternatives.
    assert texts(chance, request("a", alternatives=2), request("a", alternatives=2)) == ["a 3", "a 4"]


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    for content in ("[1]\n", '[{"a": [{}]}\n', '{"a": [{}]}\n', '{"key": "a", "replies": [{"words": "x"}]}\n'):
        (tmp_path / "replies.jsonl").write_text(content)
        with pytest.raises(UserError, match=r"replies\.jsonl: not a file of kept replies"):
            CachedChatModel(Counting(), path=tmp_path / "replies.jsonl")
