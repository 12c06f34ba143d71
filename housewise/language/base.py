"""What every chat model offers: messages in, replies out, many conversations at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from housewise.core.errors import UserError, make_printable


class ChatModelError(UserError):
    """A model could not answer; the message names the model and what to do about it."""


class RequestError(ChatModelError):
    """One request cannot be answered, though others can.

    Args:
        message: one line.
        reason: what went wrong in words that are the same for all requests to which it happens.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, reason)
        self.reason = reason

    def __str__(self) -> str:
        return make_printable(str(self.args[0]))


class PromptTooLongError(RequestError):
    """A prompt has more tokens than the model reads."""


Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length"]
"""Why a reply ended: the model ended it or wrote a stop text, or it was cut at its limit of tokens."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    @property
    def turn(self) -> dict[str, str]:
        """As servers, chat templates and records have it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class Sampling:
    """How a reply is drawn.

    Args:
        temperature: 0 takes the likeliest token every time; the papers use 1.
        top_p: nucleus mass, in (0, 1].
        max_tokens: upper bound on the reply's length in tokens.
        n: number of independent replies to the same messages.
        stop: texts that end a reply (not part of it).
        seed: makes sampling repeatable where the model supports it.
        logprobs: ask for the log-probability of every token of the reply.
        alternatives: ask for so many of the likeliest tokens at every place of the reply, the written one among them.
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
        messages: the conversation so far.
        sampling: how the reply is drawn.
        prefix: text that the assistant's turn starts with (for example ``"step 1:"``);
            it is not repeated in ``Reply.text``.
        grammar: rules that the reply behind the prefix has to follow, as language.gbnf describes; None for any
            reply.
        may_be_empty: whether a reply without a word is one, as where a text is continued that may be over.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    prefix: str = ""
    grammar: str | None = None
    may_be_empty: bool = False


class TokenLogprob(NamedTuple):
    """A token's text, as it adds to what stands before it, and its natural-log probability there."""

    text: str
    logprob: float


def ended_at_limit(finish_reason: str | None) -> bool:
    """Whether a reply was cut at its limit of tokens, by the reason for its end that it or a record of it has."""
    return finish_reason == "length"


@dataclass(frozen=True)
class Reply:
    """One answer of a model, as language.replies makes it.

    Attributes:
        text: the assistant's turn, without the request's prefix and without thoughts.
        thoughts: what a reasoning model thought before or between its words.
        finish_reason: see FinishReason.
        prompt_tokens: tokens read (0 where the model does not say).
        completion_tokens: tokens written, those of thoughts among them (0 where the model does not say).
        seconds: wall-clock time from request to reply.
        token_logprobs: natural-log probability of each token of the text, or None.
        alternatives: for each token of the text, the token itself and the likeliest others, as many in all as were
            asked for or fewer, under the model as it is (before temperature and grammar); None where the model does not
            say.
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
        """Whether it ended at its limit of tokens."""
        return ended_at_limit(self.finish_reason)

    @property
    def complete_lines(self) -> str:
        """The text without the line in which it was cut, as half a name may be another thing's."""
        return self.text.rpartition("\n")[0] if self.is_cut else self.text


@runtime_checkable
class Scorer(Protocol):
    """Tells how likely a model is to say given texts; models on this machine do."""

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        """Natural-log probability of each continuation of a conversation, the request's prefix before it.

        Raises:
            ChatModelError: when it cannot be had; the message says what to do.
        """
        ...


@runtime_checkable
class TokenScorer(Protocol):
    """Tells how likely a model is to say every token of given texts."""

    def score_tokens(self, request: ChatRequest, continuations: Sequence[str]) -> list[tuple[TokenLogprob, ...]]:
        """Tokens of each continuation of a conversation, the request's prefix before it.

        Raises:
            ChatModelError: when they cannot be had; the message says what to do.
        """
        ...


@runtime_checkable
class ServedModel(Protocol):
    """A model behind a server, which may be down or not have it."""

    def check(self) -> None:
        """See that the server is there and has the model.

        Raises:
            ChatModelError: It is not, or does not; the message says what to do.
        """
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Answers conversations; any number of threads may ask.

    Attributes:
        name: what records call the model.
    """

    name: str

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer several conversations.

        Args:
            requests: the conversations; implementations answer them together where that is
                faster (side by side in a local model, concurrent calls to a server).

        Returns:
            For each request, ``request.sampling.n`` replies.

        Raises:
            ChatModelError: when an answer cannot be had; the message says what to do.
        """
        ...

    def close(self) -> None:
        """Release what the model holds (connections, memory)."""
        ...
