"""Removes the markup that chat models put around text: code fences, unusual characters, escaped line ends."""

from __future__ import annotations

import re
import unicodedata

_ENUMERATORS = (*range(0x2460, 0x249C), *range(0x2776, 0x2794), 0x1F51F)
_INVISIBLE = (0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0F, 0xFEFF)
_CHARACTERS: dict[int, str | None] = {
    **dict.fromkeys(_INVISIBLE),
    **{0xFF01 + offset: chr(0x21 + offset) for offset in range(0x5E)},  # full width
    # Circled and squared numbers; the second part of a keycap stands behind its digit.
    **{code: f"{unicodedata.numeric(chr(code), 10):.0f}. " for code in _ENUMERATORS},
    0x20E3: ". ",
}
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*$", re.MULTILINE)
_ESCAPED_LINE_END = re.compile(r"(?:\\r)?\\n")


def strip_markup(text: str) -> str:
    r"""Return a text as a person would type it.

    Lines of code fences are emptied, full-width letters become ASCII, invisible characters are removed, enclosed
    numbers (``①``, keycaps) become ``1.``, and line ends that were written as ``\n`` become line ends.
    """
    return _FENCE.sub("", _ESCAPED_LINE_END.sub("\n", text.translate(_CHARACTERS)))
