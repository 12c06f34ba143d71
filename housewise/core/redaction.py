"""Removes secrets from texts and addresses: keys, passwords and query parameters."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

HIDDEN = "***"
"""Replaces what is secret in an address that is printed or stored."""

LEAST_SECRET = 8
"""Minimum length of a key that is hidden. Local servers may use keys such as "x", which occur in many words."""

# A password may contain characters that end the host elsewhere, so everything up to the last @ is removed.
_BEFORE_HOST = re.compile(r"^(?P<scheme>[a-zA-Z][\w+.-]*://)?.*@", re.DOTALL)
_IN_TEXT = re.compile(r"(?<=://)[^\s/'\"]*@")
_SECRET_NAME = re.compile(r"key|token|secret|sig|pass|code", re.IGNORECASE)
_AFTER_PATH = re.compile(r"(?P<mark>[?#]).+$", re.DOTALL)


def redact_url(url: str) -> str:
    """Return an address without user, password and query parameters; a redacted address is returned unchanged."""
    hidden = _BEFORE_HOST.sub(lambda found: f"{found['scheme'] or ''}{HIDDEN}@", url, count=1)
    return _AFTER_PATH.sub(lambda found: f"{found['mark']}{HIDDEN}", hidden, count=1)


def redact_passwords(text: str) -> str:
    """Return a text with user and password removed from its addresses."""
    return _IN_TEXT.sub(f"{HIDDEN}@", text)


def redact_secrets(text: str) -> str:
    """Return a text without the key in ``$OPENAI_API_KEY`` and without passwords in addresses."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    return redact_passwords(text.replace(key, "[secret]") if len(key) >= LEAST_SECRET else text)


def is_redacted(url: str) -> bool:
    """Whether something was removed from an address that it needs."""
    return HIDDEN in url


def secret_texts(key: str, url: str) -> list[str]:
    """Return the texts that must not be shown.

    These are the key, the password in every form in which it is sent, and keys in the query.

    Args:
        key: Key for the server; may be empty.
        url: Address of the server; it must be valid.

    Returns:
        The texts, longest first, so that replacing them in turn leaves no part of one.
    """
    parts = urlsplit(url)
    user, password = parts.username or "", parts.password or ""
    inquiry = [value for name, value in parse_qsl(parts.query) if _SECRET_NAME.search(name)]
    sent = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode() if user or password else ""
    return sorted({key, password, unquote(password), sent, *inquiry} - {""}, key=len, reverse=True)


def remove_secrets(text: str, secret: Iterable[str]) -> str:
    """Return a text with secrets replaced by a placeholder."""
    for each in secret:
        text = text.replace(each, "[secret]")
    return text
