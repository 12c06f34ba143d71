"""Model usage, counted as in the paper (STARS, appendix: cost)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.language.completion import Continuation, TextScore

SELECTION = "selection"
"""Kind of the prompts that ask for the number of an option."""


@dataclass
class ModelUsage:
    """Calls and tokens by kind of prompt.

    Attributes:
        calls: Number of calls.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens received.
        finish_reasons: Number of goals that the model ended (``stop``) or that were truncated (``length``).
    """

    calls: Counter[str] = field(default_factory=Counter)
    prompt_tokens: Counter[str] = field(default_factory=Counter)
    completion_tokens: Counter[str] = field(default_factory=Counter)
    finish_reasons: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, replies: Sequence[Continuation | TextScore]) -> None:
        """Add replies, one call each."""
        self.calls[kind] += len(replies)
        self.prompt_tokens[kind] += sum(reply.prompt_tokens for reply in replies)
        self.completion_tokens[kind] += sum(reply.completion_tokens for reply in replies)
        # The answer to a selection is the number of an option: as many tokens as it needs are its limit.
        if kind != SELECTION:
            self.finish_reasons.update(reply.finish_reason for reply in replies if isinstance(reply, Continuation))

    def copy(self) -> ModelUsage:
        """Return an independent copy."""
        return ModelUsage(*map(Counter, self._counts))

    def merge(self, other: ModelUsage) -> None:
        """Add the counts of another usage."""
        for counts, more in zip(self._counts, other._counts, strict=True):
            counts.update(more)

    def since(self, before: ModelUsage) -> ModelUsage:
        """Return what was used since an earlier copy."""
        return ModelUsage(*(now - then for now, then in zip(self._counts, before._counts, strict=True)))

    @property
    def _counts(self) -> tuple[Counter[str], ...]:
        return self.calls, self.prompt_tokens, self.completion_tokens, self.finish_reasons

    @property
    def total_tokens(self) -> int:
        """Tokens sent and received, over all kinds of prompts."""
        return self.prompt_tokens.total() + self.completion_tokens.total()
