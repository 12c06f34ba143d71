"""Words of models, people and files, made inert: what a page shows of them is what is there."""

from __future__ import annotations

_TURNS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000)), "\ufffd"),
    **{code: f"‹U+{code:04X}›" for code in _TURNS},
}


def neutralize_text(text: str) -> str:
    """A text in which control characters, and those that turn the direction of writing, are seen and do nothing."""
    return text.replace("\r\n", "\n").translate(_SHOWN)
