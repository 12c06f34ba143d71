"""Chat sessions: single requests to a model with one sampling configuration."""

from __future__ import annotations

from dataclasses import replace

from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling


class ChatSession:
    """Sends requests to a chat model and advances the seed with each of their replies.

    Args:
        model: Model that replies.
        sampling: Sampling configuration. A seed is increased by one per reply that was requested before.
    """

    def __init__(self, model: ChatModel, sampling: Sampling) -> None:
        self._model, self._sampling = model, sampling
        self._reply_count = 0

    def ask(
        self,
        messages: tuple[Message, ...],
        prefix: str = "",
        grammar: str | None = None,
        max_tokens: int | None = None,
        json_schema: str | None = None,
    ) -> Reply:
        """Return one reply; see ask_all."""
        return self.ask_all(messages, prefix, grammar, max_tokens, 1, json_schema)[0]

    def ask_all(
        self,
        messages: tuple[Message, ...],
        prefix: str = "",
        grammar: str | None = None,
        max_tokens: int | None = None,
        n: int | None = None,
        json_schema: str | None = None,
    ) -> list[Reply]:
        """Return independent replies to the same prompt, without the incomplete last line of truncated replies.

        JSON that was asked for keeps its incomplete last line, which may be all of it.

        Args:
            messages: The conversation.
            prefix: Beginning of the reply; see ChatRequest.
            grammar: Grammar of the reply; see ChatRequest.
            max_tokens: Limit of tokens below that of the sampling configuration.
            n: Number of replies. Defaults to that of the sampling configuration.
            json_schema: Schema of the reply; see ChatRequest.
        """
        sampling = self._sampling if n is None else replace(self._sampling, n=n)
        if sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + self._reply_count)
        if max_tokens is not None:
            sampling = replace(sampling, max_tokens=min(max_tokens, sampling.max_tokens))
        # A server may draw each of n replies with the next seed.
        self._reply_count += sampling.n
        replies = self._model.complete([ChatRequest(messages, sampling, prefix, grammar, json_schema=json_schema)])[0]
        return [replace(reply, text=_readable_text(reply, is_json=json_schema is not None)) for reply in replies]


def _readable_text(reply: Reply, *, is_json: bool) -> str:
    # In JSON, a name that was cut lacks a quotation mark and is not read. In plain lines it can be another name.
    if is_json and '"' in reply.text.rpartition("\n")[2]:
        return reply.text
    return reply.complete_lines
