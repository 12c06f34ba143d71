"""Table 1 of BASIS with chat models of a server as people."""

from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")

from tests.in_process import call_housewise
from tests.language.conftest import Body, ChatServer, Handler, completion

SMALL = ("variant=[make_carrot__banana__simple]", "max_actions=2", "attempts=1", "workers=1")


def looks_around(handler: Handler, body: Body) -> None:
    """A person who turns, and an assistant who is silent."""
    is_person = body["model"] == "person"
    handler.reply(200, completion("<Action>RotateLeft 90</Action>" if is_person else "<Speak>N/A</Speak>"))


def test_a_users_server_fills_the_rows(server: ChatServer, tmp_path: Path) -> None:
    server.play(looks_around)
    models = (
        *("models.person.model=person", f"models.person.base_url={server.url}"),
        *("models.agent.model=guide", f"models.agent.base_url={server.url}"),
    )
    out = call_housewise("experiment", "people_models", *SMALL, *models, "--out", tmp_path, code=0).stdout
    rows = ("Bob, exact names", "Alice", "Bob, guided by a model", "Bob, without guidance")
    assert all(f"\n{row}  " in out for row in rows) and "[81.4]" in out
    asked = [request["messages"] for request in server.requests if request["model"] == "person"]
    systems = [messages[0]["content"] for messages in asked]
    assert len(asked) == 2 * 5 and sum(text.startswith("You are Alice") for text in systems) == 2
    assert sum("you know what they are called" in text for text in systems) == 2
    # Only one row has a model as the assistant, which has no turn after the last action.
    assert [request["model"] for request in server.requests].count("guide") == 1
