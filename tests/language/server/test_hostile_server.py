"""Servers, proxies and addresses that mean no good, or are none: one line each, and the key in none of them."""

import base64
import http.server
from pathlib import Path
from typing import Any

import pytest

from housewise.core.redaction import redact_url, secret_texts
from housewise.language import ChatModelError
from housewise.language.base import RequestError
from tests.language.conftest import (
    KEY,
    Body,
    ChatServer,
    Handler,
    Open,
    ask,
    completion,
    fails,
    failure,
    says,
    sends,
)
from tests.servers import serving

PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
SOMEWHERE = "http://housewise.invalid/v1"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def counted(*counts: Any) -> Body:
    """A completion with counts of tokens that are not what they should be."""
    names = ("prompt_tokens", "completion_tokens")
    return completion("hello") | {"usage": dict(zip(names, counts, strict=True))}


HUGE = 10**400


@pytest.mark.parametrize(
    "odd", [HUGE, -HUGE, -1, 10**12, 1.5, "7", True, None, [7], {"a": 7}, float("nan"), float("inf")]
)
def test_counts_that_are_none_are_taken_for_none(server: ChatServer, open_server: Open, odd: Any) -> None:
    server.play(sends(counted(odd, odd)))
    reply = open_server(max_retries=0).complete([ask()])[0][0]
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("hello", 0, 0)


@pytest.mark.parametrize("charset", ["hex", "rot13", "zlib", "idna", "base64", "bz2", "undefined", "no-such", "utf-7"])
@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_an_answer_in_an_odd_charset(server: ChatServer, open_server: Open, charset: str, status: int) -> None:
    body = {**completion("ok"), "error": {"message": "out of order"}} if status == 200 else {"error": "out of order"}
    server.play(lambda handler, _: handler.reply(status, body, Content_Type=f"application/json; charset={charset}"))
    model = open_server(max_retries=0, api_key=KEY)
    if status == 200:
        assert model.complete([ask()])[0][0].text == "ok"
    else:
        assert "out of order" in failure(model)


@pytest.mark.parametrize(
    "models", ["[" * 200_000, '{"data":' + "[" * 200_000, '{"data": 3}', '{"data": [{"id": 3}]}', ""]
)
def test_a_list_of_models_that_is_none(server: ChatServer, open_server: Open, models: str) -> None:
    server.raw_models = models.encode()
    server.play(fails(404, "model m not found"))
    assert "correct the model's name" in failure(open_server())


@pytest.mark.parametrize("status", [200, 400, 500])
def test_answers_nested_without_end(server: ChatServer, open_server: Open, status: int) -> None:
    server.play(lambda handler, _: handler.reply(status, b'{"error":' + b"[" * 200_000))
    assert failure(open_server(max_retries=0, api_key=KEY))


@pytest.mark.parametrize("announced", [True, False])
def test_too_long_an_answer_is_not_read_to_its_end(server: ChatServer, open_server: Open, announced: bool) -> None:
    sent = []

    def endless(handler: Handler, _: Body) -> None:
        length = b"Content-Length: 50000000\r\n" if announced else b"Connection: close\r\n"
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        for _chunk in range(50):
            handler.wfile.write(b"x" * 1_000_000)
            sent.append(1)
        handler.drop()

    server.play(endless)
    # However little time is left for the last attempt, what the ones before it have shown is told.
    line = failure(open_server(timeout=3.0, max_retries=1, backoff=2.0, api_key=KEY))
    assert "more than 16 MB" in line and "within" not in line


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (fails(500, "model crashed"), "model crashed"),
        pytest.param(sends(b"x" * 17_000_000), "more than 16 MB", marks=pytest.mark.slow),
    ],
)
def test_what_an_attempt_has_shown_outlives_one_that_is_cut_short(
    server: ChatServer, open_server: Open, answer: Any, said: str
) -> None:
    def slowly(handler: Handler, body: Body) -> None:
        handler.server.ending.wait(1.0)
        answer(handler, body)

    # The second attempt ends in the middle, because the time for both is over.
    server.play(slowly, lambda handler, body: handler.server.ending.wait())
    line = failure(open_server(timeout=2.0, max_retries=1, backoff=2.0))
    assert said in line and "within" not in line


def test_what_would_change_the_terminal_is_not_shown(server: ChatServer, open_server: Open) -> None:
    server.play(fails(404, "\x1b[31mno\x1b]0;title\x07 \x9b2J \u202emodel\x00"))
    server.models = ["\x1b[2Jclear", "a\u0007b"]
    line = failure(open_server(model="\x1b[31mred"), name="?[31mred")
    assert line.isprintable() and "clear" in line


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", "ALL_PROXY"),
        ("ALL_PROXY", "ftp://127.0.0.1:9", "ALL_PROXY"),
        ("ALL_PROXY", "nonsense", "housewise.invalid"),
        ("HTTP_PROXY", "http://[::1", "HTTP_PROXY"),
        ("HTTP_PROXY", "http://host:0x", "HTTP_PROXY"),
        ("HTTP_PROXY", "http://host:99999", "housewise.invalid"),
        ("HTTP_PROXY", "http://somebody:pass-word@127.0.0.1:9", "housewise.invalid"),
        ("http_proxy", "socks4://somebody:pass-word@127.0.0.1:9", "http_proxy"),
        ("NO_PROXY", "[::", "housewise.invalid"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem", "SSL_CERT_FILE"),
        ("SSL_CERT_DIR", "/nowhere", "housewise.invalid"),
    ],
)
def test_odd_proxies_and_certificates(
    open_server: Open, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    line = failure(open_server(base_url=SOMEWHERE, timeout=2.0, max_retries=0, api_key=KEY))
    assert said in line and "pass-word" not in line


def test_a_file_of_certificates_that_holds_none(
    open_server: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = tmp_path / "certificates.pem"
    empty.write_text("none\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(empty))
    line = failure(open_server(base_url="https://housewise.invalid/v1", timeout=2.0, max_retries=0, api_key=KEY))
    assert "SSL_CERT_FILE" in line


def test_this_machine_is_reached_past_a_proxy_that_is_none(
    server: ChatServer, open_server: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    assert open_server().complete([ask()])[0][0].text == "hello"


@pytest.mark.parametrize(
    "address",
    [
        *("http://a b/v1", "http://h\x00/v1", "http://h/v1\x1b[31m", "http://h\n/v1", "http://\ud800/v1"),
        *(f"http://{'a' * 70_000}/v1", "http://h:0/v1", "http://h:65536/v1", "http:///v1", "", " "),
    ],
)
def test_odd_addresses_are_refused_at_once(open_server: Open, address: str) -> None:
    with pytest.raises(ChatModelError, match="not a web address") as caught:
        open_server(base_url=address or " ", api_key=KEY)
    assert len(str(caught.value)) < 200 and str(caught.value).isprintable()


@pytest.mark.parametrize(
    "address",
    [
        *("http://\u2603.net/v1", "http://..../v1", "http://xn--/v1", "http://%/v1", "http://1.2.3.4.5/v1"),
        *(f"http://{'a' * 300}/v1", "http://[fe80::1%eth9]/v1", "http://user:p%zz@127.0.0.1:9/v1", "http://\u3002/v1"),
    ],
)
def test_odd_addresses_end_in_a_line(open_server: Open, address: str) -> None:
    assert "p%zz" not in failure(open_server(base_url=address, timeout=2.0, max_retries=0, api_key=KEY))


def test_a_password_of_the_address_is_sent_and_not_shown(server: ChatServer, open_server: Open) -> None:
    address = server.url.replace("http://", "http://somebody:pass%2Fword@")
    model = open_server(base_url=address)
    assert model.complete([ask()])[0][0].text == "hello"
    sent = base64.b64encode(b"somebody:pass/word").decode()
    assert server.headers[0]["authorization"] == f"Basic {sent}"
    server.play(fails(400, f"what is {sent} or pass/word or pass%2Fword or http://x:y@z?"))
    line = failure(model)
    assert not any(secret in line for secret in (sent, "pass", "somebody", "x:y")) and "***@127.0.0.1" in line


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h/v1", "http://h/v1"),
        ("https://user:secret@h:1/v1?key=secret#secret", "https://***@h:1/v1?***"),
        ("http://secret@h/v1", "http://***@h/v1"),
        ("http://user:sec/ret?#@h/v1", "http://***@h/v1"),
        ("user:secret@h", "***@h"),
        ("http://user:sec\nret@h", "http://***@h"),
        ("", ""),
    ],
)
def test_what_is_secret_about_an_address(url: str, shown: str) -> None:
    assert redact_url(url) == redact_url(redact_url(url)) == shown
    assert "secret" in secret_texts("", "http://user:secret@h")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fails(400, "maximum context length is 4096 tokens"), "it answered 400"),
        (fails(422, "no such role 7"), "it answered 422 (no such role N)"),
        (fails(413, "too large"), "it answered 413"),
        (says(None), "it answered without a text"),
        (says("x" * 1_000_001), "its reply is too long"),
    ],
)
def test_some_refusals_concern_one_request(server: ChatServer, open_server: Open, answer: Any, reason: str) -> None:
    server.play(answer)
    with pytest.raises(RequestError) as caught:
        open_server().complete([ask()])
    assert caught.value.reason == f"{server.url}: {reason}" and "; " in str(caught.value)
    again = type(caught.value)(*caught.value.args)
    assert (str(again), again.reason) == (str(caught.value), caught.value.reason)


@pytest.mark.parametrize("status", [401, 403, 404, 418, 429, 500])
def test_other_refusals_concern_all(server: ChatServer, open_server: Open, status: int) -> None:
    server.play(fails(status))
    with pytest.raises(ChatModelError) as caught:
        open_server(max_retries=0).complete([ask()])
    assert not isinstance(caught.value, RequestError)


def test_a_proxy_that_answers_nonsense(open_server: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    class Nonsense(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.wfile.write(b"HTTP/9.9 abc \xff\xfe\r\nContent-Length: -5\r\n\r\n\x00")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nonsense)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://somebody:pass-word@127.0.0.1:{proxy.server_address[1]}")
        line = failure(open_server(base_url=SOMEWHERE, timeout=2.0, max_retries=0, api_key=KEY))
    assert "pass-word" not in line
