"""Reads what a server answers: replies, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from housewise.language.base import ChatRequest, Reply, TokenLogprob
from housewise.language.gbnf import GrammarDialect
from housewise.language.guidance import follows
from housewise.language.server.answer import (
    MOST_ALTERNATIVES,
    Choice,
    Completion,
    alternatives,
    count,
    log_probabilities,
    shares,
    told_by,
    without,
)
from housewise.language.server.endpoint import Endpoint
from housewise.language.server.failure import Failure

TEXT_LIMIT = 1_000_000

# Where each kind of server looks for a grammar.
GRAMMAR_FIELDS: dict[GrammarDialect, str] = {
    "vllm": "structured_outputs",
    "vllm-guided": "guided_grammar",
    "llama.cpp": "grammar",
    "sglang": "ebnf",
}

OTHER_DIALECT = f"set grammar_dialect to the kind of server ({', '.join(GRAMMAR_FIELDS)}), or grounded to false"


@dataclass(frozen=True)
class AnswerReader:
    """Reads answers to requests.

    Attributes:
        endpoint: answers.
        continue_prefix: whether it goes on with a request's prefix rather than being expected to write it itself.
    """

    endpoint: Endpoint
    continue_prefix: bool

    def parse(self, body: bytes) -> Completion:
        """An answer.

        Raises:
            Failure: it is none.
        """
        remedy = "check that base_url is an OpenAI-compatible server (it usually ends in /v1)"
        if not body.strip():
            raise Failure("it answered with an empty body", remedy, True)
        try:
            completion = Completion.model_validate_json(body)
        except ValidationError:
            start = self.endpoint.excerpt(body[:2000].decode(errors="replace"), 60)
            what = f"it answered with {len(body)} bytes that are no chat completion: {start}"
            raise Failure(what, remedy, True) from None
        if completion.error and not completion.choices:
            told = self.endpoint.excerpt(told_by(completion.error))
            raise Failure(f"it answered with an error: {told}", "see the server's log or try later", True)
        if not completion.choices:
            raise Failure("it answered without any choice", remedy, True)
        return completion

    def replies(self, request: ChatRequest, completion: Completion, seconds: float) -> list[Reply]:
        """The replies in an answer that took so long.

        Raises:
            Failure: one has no text, or one that cannot be used.
        """
        choices = completion.choices or []
        counts = completion.usage if isinstance(completion.usage, dict) else {}
        written = shares(count(counts.get("completion_tokens")), len(choices))
        return [
            Reply(
                *self._text(request, choice),
                prompt_tokens=count(counts.get("prompt_tokens")),
                completion_tokens=share,
                seconds=seconds,
                token_logprobs=log_probabilities(choice.logprobs) if request.sampling.logprobs else None,
                alternatives=self._alternatives(request, choice),
            )
            for choice, share in zip(choices, written, strict=True)
        ]

    def unsent(self, request: ChatRequest) -> str:
        """The prefix, where the server has to write it itself."""
        return "" if self.continue_prefix else request.prefix

    def _text(self, request: ChatRequest, choice: Choice) -> tuple[str, str]:
        """A choice's text and why it ended."""
        text, finish = choice.message.content, choice.finish_reason or "stop"
        if text is None:
            remedy = "raise max_tokens" if finish == "length" else "change the messages or the model"
            what = f"it answered without a text (finish_reason {self.endpoint.excerpt(finish)})"
            raise Failure(what, remedy, reason="it answered without a text")
        if len(text) > TEXT_LIMIT:
            raise Failure(f"it replied with {len(text)} characters", "lower max_tokens", reason="its reply is too long")
        if request.grammar is not None and not follows(text, request.grammar, self.unsent(request)):
            shown = self.endpoint.excerpt(text, 60)
            raise Failure(f"it did not keep to the grammar it was sent: {shown}", OTHER_DIALECT)
        text = self.endpoint.redact(without(text, request.prefix))
        cuts = [cut for stop in request.sampling.stop if (cut := text.find(stop)) >= 0]
        return (text[: min(cuts)], "stop") if cuts else (text, "length" if finish == "length" else "stop")

    def _alternatives(self, request: ChatRequest, choice: Choice) -> tuple[tuple[TokenLogprob, ...], ...] | None:
        if not request.sampling.alternatives:
            return None
        places = alternatives(choice.logprobs, min(request.sampling.alternatives, MOST_ALTERNATIVES))
        return places and tuple(
            tuple(TokenLogprob(self.endpoint.redact(text), value) for text, value in place) for place in places
        )
