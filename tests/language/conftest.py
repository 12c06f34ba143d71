"""A chat server on this machine that behaves, or misbehaves, as a test tells it to."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from housewise.language import ChatModelError, ChatRequest, Message, Sampling
from housewise.language.server.openai import OpenAIChatModel
from tests.servers import JsonHandler, LocalServer

Body = dict[str, Any]
Answer = Callable[["Handler", Body], None]


def completion(*texts: str | None, logprobs: bool = False, usage: bool = True, **choice: Any) -> Body:
    """A well-formed chat completion."""
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.5}]}
            if logprobs
            else None,
            **choice,
        }
        for index, text in enumerate(texts)
    ]
    counts = {"usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}} if usage else {}
    return {"id": "chat-1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, **counts}


class Handler(JsonHandler):
    """Answers a request with the server's next answer; the last one stays."""

    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.read_body())
        with self.server.lock:
            self.server.requests.append(body)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.server.under_way += 1
            self.server.most_under_way = max(self.server.most_under_way, self.server.under_way)
            answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        try:
            answer(self, body)
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def do_GET(self) -> None:
        if self.server.get_status is not None:
            self.reply(self.server.get_status, {"error": {"message": "no"}})
        elif self.server.raw_models is not None:
            self.reply(200, self.server.raw_models)
        elif self.server.models is None:
            self.reply(501, {"error": {"message": "models are not listed"}})
        else:
            self.reply(
                200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.models]}
            )

    def drop(self) -> None:
        """Close the connection as a crashed server does."""
        self.close_connection = True


class ChatServer(LocalServer):
    """Collects what it is asked and plays answers in turn."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.lock = threading.Lock()
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Answer] = [says("hello")]
        self.models: list[str] | None = None
        self.raw_models: bytes | None = None
        self.get_status: int | None = None
        self.under_way = self.most_under_way = 0
        self.ending = threading.Event()

    def play(self, *answers: Answer) -> None:
        self.answers = list(answers)


def says(*texts: str | None, **options: Any) -> Answer:
    """Answers with these texts."""
    return sends(completion(*texts, **options))


def fails(status: int, message: str = "no", error: Body | None = None, **headers: str) -> Answer:
    """Answers with an error."""
    return lambda handler, body: handler.reply(status, {"error": {"message": message, **(error or {})}}, **headers)


def fails_if(when: Callable[[Body], Any], message: str, status: int = 400, says: str = "ok", **error: str) -> Answer:
    """Answers with an error the requests that a condition holds for, and the others with a text."""

    def answer(handler: Handler, body: Body) -> None:
        if when(body):
            handler.reply(status, {"error": {"message": message, **error}})
        else:
            handler.reply(200, completion(says))

    return answer


def sends(answer: bytes | Body, **headers: str) -> Answer:
    """Answers 200 with these bytes, or with this body."""
    return lambda handler, body: handler.reply(200, answer, **headers)


KEY = "sk-very-secret-0123456789"
Open = Callable[..., OpenAIChatModel]


def ask(text: str = "Where does the mug go?", prefix: str = "", **sampling: Any) -> ChatRequest:
    return ChatRequest((Message("system", "You tidy."), Message("user", text)), Sampling(**sampling), prefix)


@pytest.fixture
def open_server(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    opened: list[OpenAIChatModel] = []

    def opener(**options: Any) -> OpenAIChatModel:
        defaults = {"model": "m", "base_url": server.url, "timeout": 5.0, "max_retries": 2, "backoff": 0.01}
        opened.append(OpenAIChatModel(**{**defaults, **options}))
        return opened[-1]

    yield opener
    for model in opened:
        model.close()


def failure(model: OpenAIChatModel, request: ChatRequest | None = None, name: str = "m") -> str:
    """The line that a failing request ends with."""
    with pytest.raises(ChatModelError) as caught:
        model.complete([request or ask()])
    line = str(caught.value)
    assert "\n" not in line and len(line) < 600
    assert line.startswith(f"model {name} at {model.endpoint.address}: ")
    assert ";" in line
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    return line
