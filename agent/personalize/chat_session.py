"""Asks a language model, one thing after another."""

from __future__ import annotations

from dataclasses import replace

from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling


class ChatSession:
    """Asks a language model one thing after another.

    Args:
        model: answers.
        sampling: how replies are drawn; a seed is moved on from question to question.
    """

    def __init__(self, model: ChatModel, sampling: Sampling) -> None:
        self._model, self._sampling = model, sampling
        self._asked = 0

    def ask(
        self,
        messages: tuple[Message, ...],
        prefix: str = "",
        grammar: str | None = None,
        most_tokens: int | None = None,
    ) -> Reply:
        """One reply; see ask_all."""
        return self.ask_all(messages, prefix, grammar, most_tokens, n=1)[0]

    def ask_all(
        self,
        messages: tuple[Message, ...],
        prefix: str = "",
        grammar: str | None = None,
        most_tokens: int | None = None,
        n: int | None = None,
    ) -> list[Reply]:
        """Independent replies to the same words.

        Of a reply that is cut its last line is left out.

        Args:
            messages: the conversation.
            prefix: see ChatRequest.
            grammar: see ChatRequest.
            most_tokens: a bound below that of the sampling.
            n: how many; as many as the sampling says by default.
        """
        sampling = self._sampling if n is None else replace(self._sampling, n=n)
        if sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + self._asked)
        if most_tokens is not None:
            sampling = replace(sampling, max_tokens=min(most_tokens, sampling.max_tokens))
        self._asked += 1
        replies = self._model.complete([ChatRequest(messages, sampling, prefix, grammar)])[0]
        return [replace(reply, text=reply.complete_lines) for reply in replies]
