"""The interface of chat models: requests in, replies out, many conversations at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from housewise.core.errors import UserError
from housewise.core.printable_text import make_printable
from housewise.core.record import Usage


class ChatModelError(UserError):
    """A model could not answer; the message names the model and what to do."""


class RequestError(ChatModelError):
    """One request cannot be answered, but others can.

    Args:
        message: Message on one line.
        reason: Short reason, equal for all requests that fail in the same way.

    Attributes:
        prompt_tokens: Number of tokens read for replies that were of no use, such as blank ones; 0 if unknown.
        completion_tokens: Number of tokens of these replies.
    """

    prompt_tokens = 0
    completion_tokens = 0

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, reason)
        self.reason = reason

    def __str__(self) -> str:
        return make_printable(str(self.args[0]))


class PromptTooLongError(RequestError):
    """A prompt has more tokens than the model can read."""


class BlankReplyError(RequestError):
    """A model wrote nothing, or nothing but thoughts, also when it was asked once more."""


Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length"]
"""Why a reply ended: the model ended it or wrote a stop text, or it was cut at its limit of tokens."""


@dataclass(frozen=True)
class Message:
    """A turn of a conversation."""

    role: Role
    content: str

    @property
    def turn(self) -> dict[str, str]:
        """The message as servers, chat templates and records represent it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class Sampling:
    """How a reply is sampled.

    Args:
        temperature: Sampling temperature; 0 is greedy. The papers use 1.
        top_p: Nucleus mass, in (0, 1].
        max_tokens: Maximum length of the reply in tokens.
        n: Number of independent replies to the same messages.
        stop: Texts that end a reply and are not part of it.
        seed: Makes sampling repeatable if the model supports it.
        logprobs: Whether to return the log-probability of every token of the reply.
        alternatives: Number of likeliest tokens to return for every position of the reply, including the token that was
            written.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 256
    n: int = 1
    stop: tuple[str, ...] = ()
    seed: int | None = None
    logprobs: bool = False
    alternatives: int = 0


@dataclass(frozen=True)
class ChatRequest:
    """A conversation that awaits its next assistant turn.

    Args:
        messages: The conversation so far.
        sampling: How the reply is sampled.
        prefix: Text that the assistant's turn starts with, such as ``"step 1:"``; it is not repeated in ``Reply.text``.
        grammar: Grammar that the reply after the prefix must follow, see ``language.gbnf``; None for any reply.
        may_be_empty: Whether an empty reply is valid, as when a text is continued that may be complete.
        json_schema: JSON schema of the reply, as text, for requests without prefix and grammar. A model that cannot be
            restricted to it replies freely.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    prefix: str = ""
    grammar: str | None = None
    may_be_empty: bool = False
    json_schema: str | None = None


class TokenLogprob(NamedTuple):
    """A token's text and its natural log-probability at its position."""

    text: str
    logprob: float


def ended_at_limit(finish_reason: str | None) -> bool:
    """Whether a reply was cut at its limit of tokens, given the reason for its end."""
    return finish_reason == "length"


@dataclass(frozen=True)
class Reply:
    """An answer of a model, as built by ``language.replies``.

    Attributes:
        text: The assistant's turn, without the request's prefix and without thoughts.
        thoughts: What a reasoning model thought before or between the text.
        finish_reason: See ``FinishReason``.
        prompt_tokens: Number of tokens read, also for blank replies before it; 0 if the model does not report it.
        completion_tokens: Number of tokens written, including thoughts and those of blank replies before it; 0 if the
            model does not report it.
        seconds: Wall-clock time from request to reply.
        token_logprobs: Natural log-probability of each token of the text, or None.
        alternatives: For each token of the text, the token itself and the likeliest others, at most as many as were
            requested, under the model before temperature and grammar. None if the model does not report them.
    """

    text: str
    finish_reason: FinishReason = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    token_logprobs: tuple[float, ...] | None = None
    alternatives: tuple[tuple[TokenLogprob, ...], ...] | None = None
    thoughts: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether the reply was cut at its limit of tokens."""
        return ended_at_limit(self.finish_reason)

    @property
    def usage(self) -> Usage:
        """Its tokens and the reason for its end, as records count them."""
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            finish_reasons={self.finish_reason: 1},
        )

    def plus_tokens(self, prompt_tokens: int, completion_tokens: int) -> Reply:
        """Return the reply with further tokens counted, such as those of a blank reply before it."""
        return replace(
            self,
            prompt_tokens=self.prompt_tokens + prompt_tokens,
            completion_tokens=self.completion_tokens + completion_tokens,
        )

    @property
    def complete_lines(self) -> str:
        """The text without a last line that was cut, since half a name may be the name of something else."""
        return self.text.rpartition("\n")[0] if self.is_cut else self.text


@runtime_checkable
class Scorer(Protocol):
    """A model that computes the log-probability of given texts, as local models do."""

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        """Return the natural log-probability of each continuation of a conversation, after the request's prefix.

        Raises:
            ChatModelError: If a score cannot be computed; the message says what to do.
        """
        ...


@runtime_checkable
class TokenScorer(Protocol):
    """A model that computes the log-probability of every token of given texts."""

    def score_tokens(self, request: ChatRequest, continuations: Sequence[str]) -> list[tuple[TokenLogprob, ...]]:
        """Return the tokens of each continuation of a conversation, after the request's prefix.

        Raises:
            ChatModelError: If a score cannot be computed; the message says what to do.
        """
        ...


@runtime_checkable
class ServedModel(Protocol):
    """A model behind a server, which may be unreachable or lack the model."""

    def check(self) -> None:
        """Check that the server is reachable and has the model.

        Raises:
            ChatModelError: If not; the message says what to do.
        """
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Answers conversations; any number of threads may call it.

    Attributes:
        name: Name of the model in records.
    """

    name: str

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer several conversations.

        Args:
            requests: The conversations. Implementations answer them together if that is faster: in one batch on a local
                model, or with concurrent calls to a server.

        Returns:
            For each request, ``request.sampling.n`` replies.

        Raises:
            ChatModelError: If a conversation cannot be answered; the message says what to do.
        """
        ...

    def close(self) -> None:
        """Release the model's connections and memory."""
        ...
