"""Makes control characters in recorded texts visible, so that a page shows exactly what was recorded."""

from __future__ import annotations

_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000)), "\ufffd"),
    **{code: f"‹U+{code:04X}›" for code in _TURNS},
}


def neutralize_text(text: str) -> str:
    """Replace control characters and bidirectional formatting characters by visible symbols."""
    return text.replace("\r\n", "\n").translate(_SHOWN)
