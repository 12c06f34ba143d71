"""Checks addresses of servers."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_LONGEST = 2000


def is_web_url(url: str) -> bool:
    """Whether a text is an HTTP or HTTPS address."""
    if len(url) > _LONGEST or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine, which no proxy can reach."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
