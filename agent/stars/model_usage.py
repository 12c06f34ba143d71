"""Model usage, counted as in the paper (STARS, appendix: cost)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.language.completion import Continuation, TextScore


@dataclass
class ModelUsage:
    """Calls and tokens by kind of prompt.

    Attributes:
        calls: Number of calls.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens received.
        finish_reasons: Number of continuations that the model ended (``stop``) or that were truncated (``length``).
    """

    calls: dict[str, int] = field(default_factory=dict)
    prompt_tokens: dict[str, int] = field(default_factory=dict)
    completion_tokens: dict[str, int] = field(default_factory=dict)
    finish_reasons: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, replies: Sequence[Continuation | TextScore]) -> None:
        """Add replies, one call each."""
        for counted, amount in (
            (self.calls, len(replies)),
            (self.prompt_tokens, sum(reply.prompt_tokens for reply in replies)),
            (self.completion_tokens, sum(reply.completion_tokens for reply in replies)),
        ):
            counted[kind] = counted.get(kind, 0) + amount
        for reason in (reply.finish_reason for reply in replies if isinstance(reply, Continuation)):
            self.finish_reasons[reason] = self.finish_reasons.get(reason, 0) + 1

    def copy(self) -> ModelUsage:
        """Return an independent copy."""
        return ModelUsage(*map(dict, self._counts))

    def merge(self, other: ModelUsage) -> None:
        """Add the counts of another usage."""
        for counts, more in zip(self._counts, other._counts, strict=True):
            for kind, amount in more.items():
                counts[kind] = counts.get(kind, 0) + amount

    def since(self, before: ModelUsage) -> ModelUsage:
        """Return what was used since an earlier copy."""
        return ModelUsage(
            *(
                {kind: amount - less.get(kind, 0) for kind, amount in counts.items() if amount != less.get(kind, 0)}
                for counts, less in zip(self._counts, before._counts, strict=True)
            )
        )

    @property
    def _counts(self) -> tuple[dict[str, int], ...]:
        return self.calls, self.prompt_tokens, self.completion_tokens, self.finish_reasons

    @property
    def total_tokens(self) -> int:
        """Tokens sent and received, over all kinds of prompts."""
        return sum(self.prompt_tokens.values()) + sum(self.completion_tokens.values())
