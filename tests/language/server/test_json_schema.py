"""JSON schemas of replies: sent to servers that follow them, and left out for those that do not."""

import json

import pytest

from housewise.language.base import ChatRequest, Message
from tests.language.conftest import ChatServer, Open, fails_if, failure

SCHEMA = json.dumps({"type": "object", "properties": {"mug 1": {"enum": ["fine", "elsewhere"]}}, "required": ["mug 1"]})
REQUEST = ChatRequest((Message("user", "Where does the mug go?"),), json_schema=SCHEMA)


def test_a_schema_is_sent_in_the_form_of_openai(server: ChatServer, open_server: Open) -> None:
    assert open_server().complete([REQUEST])[0][0].text == "hello"
    sent = {"name": "reply", "schema": json.loads(SCHEMA), "strict": True}
    assert server.requests[0]["response_format"] == {"type": "json_schema", "json_schema": sent}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This response_format type is unavailable now"),
        (400, "'json_schema' is not supported by this model"),
        (422, "Invalid schema for response_format 'reply': too many enum values"),
        (400, "structured outputs need a guided decoding backend"),
    ],
)
def test_a_server_that_refuses_it_is_asked_without_it_from_then_on(
    server: ChatServer, open_server: Open, status: int, message: str
) -> None:
    server.play(fails_if(lambda body: "response_format" in body, message, status))
    model = open_server()
    assert [reply.text for (reply,) in model.complete([REQUEST]) + model.complete([REQUEST])] == ["ok", "ok"]
    assert ["response_format" in body for body in server.requests] == [True, False, False]


def test_another_refusal_is_still_one(server: ChatServer, open_server: Open) -> None:
    server.play(fails_if(lambda body: True, "the model is on holiday"))
    assert "on holiday" in failure(open_server(), REQUEST)
