"""What is told on the terminal while requests are tried again."""

import re

import pytest

from tests.language.conftest import ChatServer, Open, ask, fails, failure, says


def test_a_line_says_what_failed_which_try_it_is_and_how_long_it_waits(
    server: ChatServer, open_server: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    server.play(fails(429, "slow down", Retry_After="0.02"), fails(503, "busy"), says("hello"))
    [[reply]] = open_server().complete([ask()])
    assert reply.text == "hello"
    first, second = capsys.readouterr().err.splitlines()
    assert first == (f"note: model m at {server.url}: it answered 429 (slow down); trying again in 0.0 s (try 2 of 3)")
    assert re.search(r"it answered 503 \(busy\); trying again in \d\.\d s \(try 3 of 3\)$", second)


def test_many_requests_that_fail_together_are_not_a_flood(
    server: ChatServer, open_server: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    server.play(*[fails(503, "busy")] * 64, says("hello"))
    model = open_server(concurrency=16, max_retries=49)
    assert len(model.complete([ask()] * 16)) == 16
    assert len(server.requests) == 80
    tries = [int(number) for number in re.findall(r"\(try (\d+) of 50\)\n", capsys.readouterr().err)]
    # Of 64 that failed a line for each time more that one of them was tried.
    assert tries and tries == sorted(set(tries)) and tries[0] == 2


def test_what_is_not_tried_again_is_told_once(
    server: ChatServer, open_server: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    server.play(fails(401, "bad key"))
    assert "it answered 401" in failure(open_server())
    assert capsys.readouterr().err == ""
