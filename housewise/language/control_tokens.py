"""Breaks up control strings such as ``<|im_end|>``, which a server's tokenizer would read as control tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = r"/?[\w▁][\w▁.:/-]{0,60}"
_TAGS = (
    r"/?s|(?:bos|eos|bot|eot|eod|eoh|eoa|sop|eop|pad|unk|mask|sep|cls)|(?:BOS|EOS|PAD|UNK|MASK|SEP|CLS)_TOKEN"
    r"|(?:start|end)_of_\w+|fim_\w+|SPECIAL_\d+|(?:extra_id_|reserved_|unused)\d+|seed:(?:bos|eos|pad)"
)
_BRACKETED = (
    r"/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_(?:CALLS|RESULTS|CONTENT)|/?MODEL_SETTINGS|CALL_ID|ARGS"
    r"|(?:BEGIN|END)_OF_\w+|BOS|EOS|EOT|PAD|UNK|SEP|CLS|[gs]?MASK|IMG\w*"
)
_FIRST = re.compile(
    # <|im_start|>, <｜Assistant｜>, Gemma 4's <|turn> and <turn|>, EXAONE's [|user|], then the lists.
    rf"<(?=[|｜]{_NAME}[|｜]?>|{_NAME}[|｜]>)|\[(?=\|{_NAME}\|\])|<(?=(?:{_TAGS})>)|\[(?=(?:{_BRACKETED})\])",
)


CONTROL_STRING = re.compile(
    rf"<[|｜]{_NAME}[|｜]?>|<{_NAME}[|｜]>|\[\|{_NAME}\|\]|<(?:{_TAGS})>|\[(?:{_BRACKETED})\]",
)
"""Matches a whole control string."""


def break_control_strings(text: str) -> str:
    """Insert a space after the first character of every control string: ``< |im_end|>``.

    A server merges its chat template and the messages into one text, and its tokenizer cannot be told to read parts of
    it as plain text. With a visible space the model can still read what was written; an invisible character might be
    removed by a normalizer.

    Strings of the forms ``<|...|>``, ``<｜...｜>`` and ``[|...|]`` are broken up whatever their name.
    Others are broken up if published models use them. Tags of thoughts such as ``<think>`` stay, since prompts may ask
    for them and they do not end a turn.
    """
    return _FIRST.sub(lambda found: f"{found[0]} ", text)


def break_turns(turns: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Break up the control strings in the contents of turns, whatever their roles.

    Every prompt may contain untrusted text. Control strings in a prompt file of the user are broken up too: the valid
    ones are written by the server's chat template.

    Args:
        turns: Turns with ``role`` and ``content``.

    Returns:
        The turns; contents without control strings are unchanged.
    """
    return [{**turn, "content": break_control_strings(turn["content"])} for turn in turns]
