"""Keys, addresses and options: what is sent, what is never shown, what is refused."""

import logging
from typing import Any

import pytest

from housewise.language import ChatModelError
from housewise.language.server.openai import OpenAIChatModel
from tests.language.conftest import KEY, ChatServer, Open, ask, fails, failure, says, sends


def test_the_key_is_sent_and_never_shown(
    server: ChatServer, open_server: Open, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    model = open_server(api_key=f" {KEY}\n")
    server.play(fails(400, f"bad key {KEY} in {{'Authorization': 'Bearer {KEY}'}}"))
    assert failure(model).count("[secret]") == 2
    server.play(fails(400, "x" * 190 + KEY))
    assert KEY[:5] not in failure(model)
    server.play(sends(f"oops {KEY}".encode()))
    assert "[secret]" in failure(model)
    server.play(says(f"your key is {KEY}"))
    assert model.complete([ask()])[0][0].text == "your key is [secret]"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    captured = capfd.readouterr()
    assert KEY not in repr(model) + str(vars(model)["name"]) + caplog.text + captured.out + captured.err


def test_a_key_that_is_no_secret_stays_in_what_is_said(server: ChatServer, open_server: Open) -> None:
    server.play(says("go to box 3"))
    assert open_server(api_key="x").complete([ask()])[0][0].text == "go to box 3"


def test_the_key_comes_from_the_environment(
    server: ChatServer, open_server: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    open_server().complete([ask()])
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ChatModelError, match="set OPENAI_API_KEY"):
        OpenAIChatModel("gpt-4o")


def test_a_missing_key_that_is_wanted(server: ChatServer, open_server: Open) -> None:
    server.play(fails(401))
    assert "set OPENAI_API_KEY" in failure(open_server())


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_a_key_that_cannot_be_sent(key: str) -> None:
    with pytest.raises(ChatModelError, match="characters") as caught:
        OpenAIChatModel("m", "http://127.0.0.1:1/v1", key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "http://[::1", "http://h:x/v1"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ChatModelError, match="http://host:port/v1"):
        OpenAIChatModel("m", address)


@pytest.mark.parametrize("options", [{"timeout": 0}, {"max_retries": -1}, {"concurrency": 0}])
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ChatModelError, match="correct them"):
        OpenAIChatModel("m", "http://127.0.0.1:1/v1", **options)
