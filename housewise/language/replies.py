"""Builds replies from the output of models: separates thoughts, and ends the text where the turn ends.

All callers (planners, cooks, simulated people, STARS, CLIPR) get their replies from here. No other module interprets
finish reasons, marks of thoughts or marks of turns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from housewise.language.base import ChatRequest, FinishReason, Reply, Sampling, TokenLogprob
from housewise.language.thoughts import (
    Span,
    has_unopened_closing_mark,
    is_turn_mark,
    speech_spans,
    strip_thoughts,
    text_outside_spans,
    turn_span,
)

NEXT_SEED = 1_000_003
"""Added to the seed of a request that is repeated because its reply was blank."""
DEFAULT_THINKING_TOKENS = 4096
"""Added to the limit of replies of models that think before they answer."""

_LEAST_BUDGET = 128
_CUT = re.compile(r"length|max|context", re.IGNORECASE)
_FAILED = re.compile(r"error|abort|cancel|filter|safety|recitation|refus|block|prohibited|malformed", re.IGNORECASE)
_UNWANTED = re.compile(r"filter|safety|recitation|refus|block|prohibited", re.IGNORECASE)


@dataclass(frozen=True)
class RawReply:
    """What a model returned.

    Attributes:
        text: Text of the model, with thoughts and marks unless the server separated them.
        finish_reason: Why the text ended, in the server's words; None if unknown.
        thoughts: Thoughts that the server separated.
        prompt_tokens, completion_tokens, seconds: See ``Reply``.
        token_logprobs, alternatives: See ``Reply``, for all tokens that were written.
        starts_thinking: Whether the chat template writes the mark that begins thoughts, so that the text may lack it.
        token_texts: Function that returns the text of every written token. It is called if tokens must be aligned with
            the reply and ``alternatives`` is None.
    """

    text: str
    finish_reason: str | None = None
    thoughts: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    token_logprobs: tuple[float, ...] | None = None
    alternatives: tuple[tuple[TokenLogprob, ...], ...] | None = None
    starts_thinking: bool = False
    token_texts: Callable[[], Sequence[str]] | None = None


def read_reply(raw: RawReply, request: ChatRequest) -> Reply:
    """Build a reply from what a model returned.

    Thoughts are separated, marks of turns end the reply, and a repeated prefix and what follows a stop text are
    removed. Log-probabilities and alternatives are those of the tokens of the reply.

    Args:
        raw: What the model returned.
        request: What was asked.
    """
    starts_thinking = raw.starts_thinking and not raw.thoughts
    spans = speech_spans(raw.text, starts_thinking)
    thoughts = "\n".join(filter(None, (raw.thoughts, text_outside_spans(raw.text, spans))))
    text = strip_thoughts(raw.text, starts_thinking)
    start, end = turn_span(text)
    if spans != [(0, len(raw.text))] or start:
        start += _count_leading_blanks(text[start:end])
    is_cut = finish_reason(raw.finish_reason) == "length" and end == len(text)
    start += _repeated_prefix_length(text[start:end], request.prefix)
    stops = [found for stop in request.sampling.stop if (found := text.find(stop, start, end)) >= 0]
    if stops:
        end, is_cut = min(stops), False
    tokens = _align_tokens(raw, _map_to_raw_spans(spans, start, end), bool(stops))
    return Reply(
        text=text[start:end],
        thoughts=thoughts,
        finish_reason="length" if is_cut else "stop",
        prompt_tokens=raw.prompt_tokens,
        completion_tokens=raw.completion_tokens,
        seconds=raw.seconds,
        token_logprobs=_select_logprobs(raw.token_logprobs, tokens),
        alternatives=_select_alternatives(raw.alternatives, tokens),
    )


def finish_reason(reason: str | None) -> FinishReason | None:
    """Return why a reply ended: ``"stop"``, ``"length"``, or None if it is not a reply but an error or was filtered."""
    if _FAILED.search(reason or ""):
        return None
    return "length" if _CUT.search(reason or "") else "stop"


def failure_remedy(reason: str | None) -> str:
    """Return what to do if ``finish_reason`` is None."""
    is_unwanted = _UNWANTED.search(reason or "") is not None
    return "change the messages or the model" if is_unwanted else "see the server's log or try later"


def is_blank_reply(reply: Reply, request: ChatRequest) -> bool:
    """Whether a reply says nothing: it was cut before its text, or is empty although the request expects words."""
    if reply.text.strip() or (request.may_be_empty and not reply.thoughts):
        return False
    return request.grammar is None or reply.is_cut


def describe_blank_reply(reply: Reply, limit: str) -> tuple[str, str]:
    """Return what is wrong with a blank reply, and what to do.

    Args:
        reply: Reply of which ``is_blank_reply`` is True.
        limit: See ``describe_limit``.
    """
    if reply.is_cut:
        added = " or thinking_tokens" if "thinking_tokens" in limit else ""
        return f"its reply ended at {limit} before it said anything", f"raise max_tokens{added}"
    if reply.thoughts:
        return "it thought and then said nothing", "change the prompt or the model, or raise max_tokens"
    return "it answered without a text", "change the prompt or the model"


def describe_limit(sampling: Sampling, thinking_tokens: int) -> str:
    """Return the token limit of a reply in the terms of the settings."""
    added = f" and thinking_tokens={thinking_tokens}" if thinking_tokens else ""
    return f"max_tokens={sampling.max_tokens}{added}"


def _count_leading_blanks(text: str) -> int:
    return len(text) - len(text.lstrip())


def _repeated_prefix_length(text: str, prefix: str) -> int:
    """Return how many characters of a reply repeat the prefix of the request."""
    wanted, blanks = prefix.strip(), _count_leading_blanks(text)
    is_repeated = wanted and text[blanks : blanks + len(wanted)].lower() == wanted.lower()
    return blanks + len(wanted) if is_repeated else 0


def _map_to_raw_spans(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Map a span of the text without thoughts to spans of the raw text; an empty span is mapped to its position."""
    kept, place, empty = [], 0, (0, 0)
    for first, last in spans:
        inside = max(first, first + start - place), min(last, first + end - place)
        if inside[0] < inside[1]:
            kept.append(inside)
        elif inside[0] == inside[1]:
            empty = inside
        place += last - first
    return kept or [empty]


@dataclass(frozen=True)
class _AlignedToken:
    """A token of the reply: its index among the written tokens, and the part of its text that belongs to the reply."""

    index: int
    text: str
    is_whole: bool


def _align_tokens(raw: RawReply, kept: Sequence[Span], is_stopped: bool) -> list[_AlignedToken] | None:
    """Find the tokens of a reply among the written tokens.

    Args:
        raw: What the model returned.
        kept: Spans of the raw text that form the reply.
        is_stopped: Whether a stop text follows them.

    Returns:
        The tokens; None if these are all written tokens, an empty list if they cannot be determined.
    """
    if raw.token_logprobs is None and raw.alternatives is None:
        return None
    if raw.alternatives is not None:
        texts: Sequence[str] = [place[0].text for place in raw.alternatives]
    else:
        texts = raw.token_texts() if raw.token_texts else ()
    # Servers that separate thoughts still return the tokens of both.
    shift = "".join(texts).rfind(raw.text) if raw.text or raw.thoughts else 0
    if kept == [(0, len(raw.text))] and shift <= 0:
        return None
    if shift < 0:
        return []
    found, place, has_ended = [], -shift, False
    for index, text in enumerate(texts):
        overlaps = [(max(place, first), min(place + len(text), last)) for first, last in kept]
        inside = [span for span in overlaps if span[0] < span[1]]
        shown = "".join(raw.text[slice(*span)] for span in inside)
        if inside:
            found.append(_AlignedToken(index, shown, shown.strip() == text.strip()))
        elif place >= kept[-1][1] and not has_ended:
            # The token that ends the turn, or the first token of a stop text.
            is_last = is_turn_mark(text) or (is_stopped and place == kept[-1][1])
            if is_last or kept[-1][1] == len(raw.text):
                found.append(_AlignedToken(index, text, True))
            has_ended = is_last
        place += len(text)
    return found


def _select_logprobs(
    logprobs: tuple[float, ...] | None, tokens: Sequence[_AlignedToken] | None
) -> tuple[float, ...] | None:
    if logprobs is None or tokens is None:
        return logprobs
    return tuple(logprobs[token.index] for token in tokens if token.index < len(logprobs)) or None


def _select_alternatives(
    places: tuple[tuple[TokenLogprob, ...], ...] | None, tokens: Sequence[_AlignedToken] | None
) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    if places is None or tokens is None:
        return places
    found = []
    for token in tokens:
        chosen, *others = places[token.index]
        # The alternatives to a part of a token are unknown.
        found.append((TokenLogprob(token.text, chosen.logprob), *(others if token.is_whole else ())))
    return tuple(found) or None


class ThinkingBudget:
    """Tokens that a model may use for thinking, in addition to those of its reply.

    Args:
        tokens: Number of tokens added to the limit of a reply.
        is_on: Whether they are added from the first reply on. Otherwise they are added once a reply has thoughts.

    Attributes:
        starts_thinking: Whether a reply of a server may begin with thoughts without a mark.
    """

    def __init__(self, tokens: int = DEFAULT_THINKING_TOKENS, is_on: bool = False) -> None:
        self._tokens, self.is_on = tokens, is_on
        self.starts_thinking = is_on

    @property
    def tokens(self) -> int:
        """Number of tokens that are added now."""
        return self._tokens if self.is_on else 0

    def observe(self, reply: Reply, text: str = "") -> None:
        """Update the budget if a reply shows that the model thinks.

        Args:
            reply: The reply.
            text: Raw text of the reply.
        """
        self.is_on = self.is_on or bool(reply.thoughts)
        self.starts_thinking = self.starts_thinking or has_unopened_closing_mark(text)

    def shrink(self, refused: int) -> None:
        """Halve the budget, for a model whose context has no room for all of it; a small budget becomes 0.

        Args:
            refused: The budget of the refused request. Another request may have shrunk it already.
        """
        if refused == self.tokens:
            self._tokens = self._tokens // 2 if self._tokens >= 2 * _LEAST_BUDGET else 0
