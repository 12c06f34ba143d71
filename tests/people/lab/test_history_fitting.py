"""Sessions that are longer than a model's context, with a server that refuses what is too long."""

from collections.abc import Callable

import pytest

pytest.importorskip("openai")

from housewise.agent.basis.chat_assistant import ChatAssistant
from housewise.agent.basis.knowledge import NO_KNOWLEDGE
from housewise.agent.basis.views import build_assistant_view
from housewise.language.base import PromptTooLongError
from housewise.language.server.openai import OpenAIChatModel
from housewise.people.lab.chat_user import ChatUser
from housewise.people.lab.views import build_user_view
from housewise.worlds.lab.actions import LabAction
from tests.language.conftest import Body, ChatServer, fails_if
from tests.people.lab.small_lab import SPACE, one_of_each, turn
from tests.servers import serving

STATE = one_of_each()
TURNS = [turn(STATE, LabAction("Speak", f"utterance {number:03}")) for number in range(1, 301)]
REPLY = "<Action>LookUp 30</Action><Speak>N/A</Speak>"


def act(model: OpenAIChatModel, seen: int) -> bool:
    view = build_user_view(STATE, SPACE, "Cool a cake", TURNS[:seen])
    return ChatUser(model, size="compact").act(view).is_parsed


def guide(model: OpenAIChatModel, seen: int) -> bool:
    view = build_assistant_view(STATE, SPACE, TURNS[:seen], "words", NO_KNOWLEDGE)
    return ChatAssistant(model, size="compact").turn(view).is_parsed


@pytest.mark.parametrize("take_turn", [act, guide])
def test_the_oldest_turns_are_left_out(take_turn: Callable[[OpenAIChatModel, int], bool]) -> None:
    limit = 0

    def is_too_long(body: Body) -> bool:
        return len(body["messages"][-1]["content"]) > limit

    with serving(ChatServer()) as server:
        server.play(fails_if(is_too_long, "This model's maximum context length is 4096 tokens", says=REPLY))
        model = OpenAIChatModel("m", server.url)
        with pytest.raises(PromptTooLongError):
            take_turn(model, 1)
        limit = len(server.requests[-1]["messages"][-1]["content"]) + 3000
        assert take_turn(model, 300)
        model.close()
    prompt = server.requests[-1]["messages"][-1]["content"]
    assert "utterance 299" in prompt and "utterance 001" not in prompt
    assert len(prompt) > limit / 3
