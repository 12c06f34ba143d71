"""Addresses of servers: whether they are any, and what is secret about them."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

HIDDEN = "***"
"""Stands for what is secret where an address is shown or kept."""

LEAST_SECRET = 8
"""Characters of a key that is hidden: one such as "x", which servers of one's own may want, is in many words."""

_LONGEST = 2000
# A password may hold what ends the host's part of an address elsewhere, so that all goes up to the last @.
_BEFORE_HOST = re.compile(r"^(?P<scheme>[a-zA-Z][\w+.-]*://)?.*@", re.DOTALL)
_IN_TEXT = re.compile(r"(?<=://)[^\s/'\"]*@")
_SECRET_NAME = re.compile(r"key|token|secret|sig|pass|code", re.IGNORECASE)
_AFTER_PATH = re.compile(r"(?P<mark>[?#]).+$", re.DOTALL)


def is_web_url(url: str) -> bool:
    """Whether this is an address of the web."""
    if len(url) > _LONGEST or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine, where no proxy reaches it."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def redact_url(url: str) -> str:
    """An address without user, password and parameters; the same again for one that has lost them already."""
    hidden = _BEFORE_HOST.sub(lambda found: f"{found['scheme'] or ''}{HIDDEN}@", url, count=1)
    return _AFTER_PATH.sub(lambda found: f"{found['mark']}{HIDDEN}", hidden, count=1)


def redact_passwords(text: str) -> str:
    """A text in which addresses have lost user and password."""
    return _IN_TEXT.sub(f"{HIDDEN}@", text)


def redact_secrets(text: str) -> str:
    """A text without the key in ``$OPENAI_API_KEY`` and without passwords in addresses."""
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    return redact_passwords(text.replace(key, "[secret]") if len(key) >= LEAST_SECRET else text)


def is_redacted(url: str) -> bool:
    """Whether an address has lost something that it needs."""
    return HIDDEN in url


def secret_texts(key: str, url: str) -> list[str]:
    """Texts that must not be shown: the key, passwords of an address in every form that they are sent in, keys in it.

    Args:
        key: for the server; may be empty.
        url: of the server; it has to be an address.

    Returns:
        The longest first, so that none remains when they are replaced in turn.
    """
    parts = urlsplit(url)
    user, password = parts.username or "", parts.password or ""
    inquiry = [value for name, value in parse_qsl(parts.query) if _SECRET_NAME.search(name)]
    sent = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode() if user or password else ""
    return sorted({key, password, unquote(password), sent, *inquiry} - {""}, key=len, reverse=True)


def remove_secrets(text: str, secret: Iterable[str]) -> str:
    """A text without any of some secrets."""
    for each in secret:
        text = text.replace(each, "[secret]")
    return text
