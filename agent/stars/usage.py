"""What models were asked, as the paper counts it (STARS, appendix: cost)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.language.continuing import Continuation, Rating


@dataclass
class Usage:
    """Calls and tokens by kind of prompt, as the paper counts them.

    Attributes:
        calls: how often a model was asked.
        prompt_tokens: tokens sent.
        completion_tokens: tokens received.
    """

    calls: dict[str, int] = field(default_factory=dict)
    prompt_tokens: dict[str, int] = field(default_factory=dict)
    completion_tokens: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, replies: Sequence[Continuation | Rating]) -> None:
        """Count replies, a call each."""
        for counted, amount in (
            (self.calls, len(replies)),
            (self.prompt_tokens, sum(reply.prompt_tokens for reply in replies)),
            (self.completion_tokens, sum(reply.completion_tokens for reply in replies)),
        ):
            counted[kind] = counted.get(kind, 0) + amount

    @property
    def total_tokens(self) -> int:
        """Tokens sent and received over all kinds of prompts."""
        return sum(self.prompt_tokens.values()) + sum(self.completion_tokens.values())
