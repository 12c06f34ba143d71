"""Local models with chat templates and thoughts of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from housewise.language import ChatRequest, Message, Sampling
from housewise.language.base import RequestError
from housewise.language.local.model import LocalChatModel
from tests.language.tiny import save_tiny_model

TURNS = "{% for turn in messages %}{{ turn.role }}: {{ turn.content }}<|end|>{% endfor %}assistant: "
REFUSES = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + TURNS
LEAVES_OUT = TURNS.replace("messages %}", "messages if turn.role != 'system' %}")
TALK = (Message("system", "go to bedroom"), Message("user", "pick up mug"), Message("user", "go to shelf"))
Opened = Callable[..., LocalChatModel]


@pytest.fixture
def open_model(tmp_path: Path) -> Iterator[Opened]:
    opened: list[LocalChatModel] = []

    def opener(template: str, **options: object) -> LocalChatModel:
        folder = save_tiny_model(tmp_path / str(len(opened)))
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
        opened.append(LocalChatModel(str(folder), **options))  # type: ignore[arg-type]
        return opened[-1]

    yield opener
    for model in opened:
        model.close()


def prompt_of(model: LocalChatModel) -> str:
    """What a model reads of a conversation."""
    return str(model._tokenizer.decode(model._prompt(ChatRequest(TALK))))


@pytest.mark.parametrize("template", [REFUSES, LEAVES_OUT])
def test_without_a_system_role_its_text_goes_into_the_users_turn(open_model: Opened, template: str) -> None:
    expected = "user: go to bedroom\n\npick up mug\n\ngo to shelf<|end|>assistant: "
    assert prompt_of(open_model(template)) == expected


def test_a_system_role_stays_where_there_is_one(open_model: Opened) -> None:
    assert prompt_of(open_model(TURNS)).startswith("system: go to bedroom<|end|>user: pick up mug<|end|>user: go")


def test_a_template_takes_arguments(open_model: Opened) -> None:
    template = TURNS + "{% if not enable_thinking %}go to shelf{% endif %}"
    assert prompt_of(open_model(template, chat_template_kwargs={"enable_thinking": False})).endswith("go to shelf")
    assert prompt_of(open_model(template, chat_template_kwargs={"enable_thinking": True})).endswith("assistant: ")


def held(grammar: str, max_tokens: int = 200, **sampling: object) -> ChatRequest:
    return ChatRequest(TALK, Sampling(max_tokens=max_tokens, **sampling), grammar=f"reply ::= {grammar}")  # type: ignore[arg-type]


def test_thoughts_are_no_part_of_the_reply(open_model: Opened) -> None:
    model = open_model(TURNS)
    # A stop text in thoughts does not end the reply, and one behind them does.
    request = held('"<think>go to shelf. </think>pick up mug. place it"', stop=(". ",), alternatives=1)
    [reply] = model.complete([request])[0]
    assert (reply.text, reply.thoughts, reply.finish_reason) == ("pick up mug", "go to shelf.", "stop")
    # The token that ended the reply is the last one told of, as without a stop text.
    assert reply.alternatives is not None and "".join(place[0].text for place in reply.alternatives) == "pick up mug."


def test_thoughts_that_took_all_tokens_are_a_failed_request(open_model: Opened) -> None:
    model = open_model(TURNS, thinking_tokens=7)
    with pytest.raises(
        RequestError, match="ended at max_tokens=12 before it said anything; raise max_tokens"
    ) as caught:
        model.complete([held('"<think>go to shelf and then pick up mug"', max_tokens=12)])
    assert caught.value.reason.endswith("raise max_tokens")
    # Now it is known to think: a free reply gets more tokens.
    [reply] = model.complete([ChatRequest(TALK, Sampling(temperature=0.0, max_tokens=12))])[0]
    assert reply.completion_tokens == 19 or not reply.is_cut


def test_empty_replies_are_asked_for_again(open_model: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    model, drawn = open_model(TURNS), list[int | None]()
    write = model._write_replies

    def recorded(requests: list[ChatRequest]) -> object:
        drawn.extend(request.sampling.seed for request in requests)
        return write(requests)

    monkeypatch.setattr(model, "_write_replies", recorded)
    # The end of a turn alone is a reply that a grammar may hold a model to, and else none.
    monkeypatch.setattr("housewise.language.local.model.is_blank_reply", lambda reply, request: len(drawn) < 3)
    request = ChatRequest(TALK, Sampling(max_tokens=3, seed=5, n=2))
    replies = model.complete([request])[0]
    assert len(replies) == 2 and drawn[0] == 5 and len(set(drawn)) == len(drawn) == 3
    prompt = 2 * len(model._prompt(request))
    assert [reply.prompt_tokens for reply in replies] == [prompt, prompt], "the first replies count"
    assert all(2 <= reply.completion_tokens <= 6 for reply in replies)
    # A reply that is blank again fails the request, which counts them all.
    monkeypatch.setattr("housewise.language.local.model.is_blank_reply", lambda reply, request: True)
    with pytest.raises(RequestError) as caught:
        model.complete([request])
    assert caught.value.prompt_tokens == 2 * prompt and 4 <= caught.value.completion_tokens <= 12
