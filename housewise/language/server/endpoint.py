"""A model at an address with a key; its messages never show a secret."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from housewise.core.redaction import (
    LEAST_SECRET,
    is_redacted,
    redact_passwords,
    redact_url,
    remove_secrets,
    secret_texts,
)
from housewise.core.urls import is_web_url
from housewise.language.base import ChatModelError, RequestError

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Endpoint:
    """Where requests are sent.

    Attributes:
        model: The server's name of the model.
        url: Address of the server, which may contain a password.
        key: Key for the server; empty if it needs none.
    """

    model: str
    url: str = field(repr=False)
    key: str = field(repr=False)

    @classmethod
    def from_settings(cls, model: str, base_url: str | None, api_key: str | None) -> Endpoint:
        """Return the endpoint for an address and a key; by default OpenAI's, with ``$OPENAI_API_KEY``.

        Raises:
            ChatModelError: If the address or the key cannot be used.
        """
        url = base_url or OPENAI_URL
        if not is_web_url(url):
            raise ChatModelError(f"model {model}: base_url is not a web address; give it as http://host:port/v1")
        if is_redacted(url):
            raise ChatModelError(f"model {model}: base_url {url} has lost its password; give it in full")
        found = cls(model, url, (api_key or os.environ.get("OPENAI_API_KEY") or "").strip())
        if not found.key and not base_url:
            raise found.error("there is no API key", "set OPENAI_API_KEY, or give base_url for a server of your own")
        if not (found.key.isascii() and found.key.isprintable()):
            raise found.error("the API key holds characters that no key has", "set OPENAI_API_KEY to the bare key")
        return found

    @property
    def address(self) -> str:
        """The address without a password."""
        return redact_url(self.url)

    def error(
        self, what: str, remedy: str, reason: str = "", kind: type[RequestError] = RequestError
    ) -> ChatModelError:
        """Return an error of one line; with a reason it concerns one request and is of a kind."""
        message = self._hide_secrets(f"model {self.model} at {self.address}: {what}; {remedy}")
        if not reason:
            return ChatModelError(message)
        return kind(message, f"{self.address}: {reason}")

    def redact(self, text: str) -> str:
        """Return a model's text without the key."""
        return remove_secrets(text, [each for each in self._secrets if len(each) >= LEAST_SECRET])

    def excerpt(self, text: str, length: int = 200) -> str:
        """Return a server's text on one printable line, redacted before it is cut so that no part of a key remains."""
        line = " ".join(self._hide_secrets(text).split())
        line = "".join(character if character.isprintable() else "?" for character in line)
        return line if len(line) <= length else line[:length] + "..."

    def _hide_secrets(self, text: str) -> str:
        return redact_passwords(remove_secrets(text, self._secrets))

    @property
    def _secrets(self) -> list[str]:
        return secret_texts(self.key, self.url)
