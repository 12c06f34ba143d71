"""Tells a model's thoughts from its reply, and finds where its turn ends, whatever marks a model family uses for that.

Marks reach us as text where a server has no parser for the model's family, and from local models, whose added tokens
are decoded. Sources: the chat templates of DeepSeek R1, Qwen 3, Magistral, Seed-OSS, Kimi, Command A, gpt-oss,
EXAONE, Granite 3.2, Apertus, Apriel, Gemma, GLM and OpenThinker, and the reasoning parsers of vLLM and SGLang.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

Span = tuple[int, int]
"""First character, and the one behind the last."""

_TAGS = "think|thinking|thoughts?|reason|reasoning|reflection|analysis|scratchpad|rationale|inner_monologue"
_THOUGHT_MARK = re.compile(
    rf"(?P<opens><(?:\w+:)?(?:{_TAGS})>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|inner_prefix\|>|<\|channel>thought|<unused94>thought|\AHere(?:'s| is) my thought process:)"
    rf"|</(?:\w+:)?(?:{_TAGS})>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<\|inner_suffix\|>"
    r"|<channel\|>|<unused95>|<\|START_RESPONSE\|>|<\|begin_of_solution\|>|\[BEGIN FINAL RESPONSE\]"
    r"|^Here(?:'s| is) my response:",
    re.IGNORECASE | re.MULTILINE,
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>[^<]*)?<\|channel\|>\s*(?P<name>\w*)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:start|end|return|call|channel)\|>|\Z)",
    re.DOTALL,
)
# Harmony's marks are special tokens, and some servers decode without these: "analysisThe user ...assistantfinalHello".
_CHANNEL_MARKS = ("<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>")
_BARE_CHANNEL = re.compile(r"\A\s*(?:analysis|commentary)(?=[^\s\w:.,]|[A-Z])")
_BARE_FINAL = "assistantfinal"

_CONTROL = (
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>\s]{1,40}｜>|</?s>|<(?:bos|eos|pad|EOT)>|<(?:start|end)_of_turn>|<\|turn>|<turn\|>"
    r"|\[/?INST\]|\[(?:EOS|END FINAL RESPONSE)\]"
)
# The turn's own beginning, which some servers give back; a role's name may stand behind it.
_BEGINS = re.compile(
    rf"\s*(?:(?:{_CONTROL})\s*)+(?:(?:assistant|model)\s*(?:<\|end_header_id\|>|<\|message\|>|<\|im_middle\|>|\n)\s*)?"
)
_ENDS = re.compile(_CONTROL)


def speech_spans(text: str) -> list[Span]:
    """Find the parts of a model's text that are no thoughts.

    An opening mark that is never closed makes thoughts of all that follows, a closing mark that was never opened makes
    thoughts of all that precedes (chat templates often write the opening mark themselves).

    Args:
        text: What a model wrote.

    Returns:
        Parts of the text in order; the whole of it where it has no thoughts.
    """
    if "<|channel|>" in text and "<|message|>" in text:
        parts = [match.span("text") for match in _CHANNEL.finditer(text) if match["name"].lower() in ("final", "")]
        return parts or [(len(text), len(text))]
    if _BARE_CHANNEL.match(text):
        final = text.rfind(_BARE_FINAL)
        return [(len(text) if final < 0 else final + len(_BARE_FINAL), len(text))]
    spans: list[Span] = []
    start, is_thought = 0, False
    for mark in _THOUGHT_MARK.finditer(text):
        if mark["opens"] is None:
            if not is_thought:
                spans.clear()
        elif not is_thought:
            spans.append((start, mark.start()))
        start, is_thought = mark.end(), mark["opens"] is not None
    if not is_thought:
        spans.append((start, len(text)))
    return [span for span in spans if text[slice(*span)].strip()] or [(len(text), len(text))] if start else spans


def turn_span(text: str) -> Span:
    """Find a model's turn in its text: from behind marks that begin it to the first mark that ends it.

    Args:
        text: What a model wrote, without its thoughts.
    """
    begins = _BEGINS.match(text)
    start = begins.end() if begins else 0
    ends = _ENDS.search(text, start)
    return start, ends.start() if ends else len(text)


def without_thoughts(text: str) -> str:
    """A model's text without its thoughts."""
    return "".join(text[slice(*span)] for span in speech_spans(text))


def thought_marks(tokens: Collection[str]) -> set[str]:
    """The tokens of a vocabulary that tell thoughts from the reply."""
    marks = {token for token in tokens if _THOUGHT_MARK.fullmatch(token)}
    return marks | {mark for mark in _CHANNEL_MARKS if "<|channel|>" in tokens}


def is_turn_mark(text: str) -> bool:
    """Whether a text is a mark of the beginning or end of a turn."""
    return _ENDS.fullmatch(text.strip()) is not None


def without_spans(text: str, spans: Sequence[Span]) -> str:
    """The rest of a text behind and between some of its parts, without marks of thoughts."""
    rest, start = [], 0
    for first, last in [*spans, (len(text), len(text))]:
        rest.append(_ENDS.sub(" ", _THOUGHT_MARK.sub(" ", text[start:first])).strip())
        start = last
    return "\n".join(filter(None, rest))
