"""Reads what a server answers: replies, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import ValidationError

from housewise.language.base import ChatRequest, Reply, TokenLogprob
from housewise.language.grammar_matching import follows, may_be_empty
from housewise.language.replies import (
    RawReply,
    ThinkingBudget,
    describe_limit,
    failure_remedy,
    finish_reason,
    read_reply,
    says_nothing,
    silence_of,
)
from housewise.language.server.endpoint import Endpoint
from housewise.language.server.request_failure import Failure
from housewise.language.server.request_parameters import OTHER_DIALECT
from housewise.language.server.responses import (
    Choice,
    Completion,
    alternatives,
    count,
    log_probabilities,
    shares,
    told_by,
)

TEXT_LIMIT = 1_000_000


@dataclass(frozen=True)
class AnswerReader:
    """Reads answers to requests.

    Attributes:
        endpoint: answers.
        continue_prefix: whether it goes on with a request's prefix rather than being expected to write it itself.
        budget: is told of replies that show that the model thinks.
    """

    endpoint: Endpoint
    continue_prefix: bool
    budget: ThinkingBudget

    def unsent(self, request: ChatRequest) -> str:
        """The prefix, where the server has to write it itself."""
        return "" if self.continue_prefix else request.prefix

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

    def replies(
        self, request: ChatRequest, completion: Completion, seconds: float, most_alternatives: int
    ) -> tuple[list[Reply], list[Reply]]:
        """The replies in an answer, and those that say nothing.

        Args:
            request: What was asked.
            completion: The answer.
            seconds: How long it took.
            most_alternatives: To a token, that were asked for at most.

        Raises:
            Failure: One cannot be used.
        """
        choices = completion.choices or []
        counts = completion.usage if isinstance(completion.usage, dict) else {}
        written = shares(count(counts.get("completion_tokens")), len(choices))
        replies: list[Reply] = []
        silent: list[Reply] = []
        failure: Failure | None = None
        for choice, completion_tokens in zip(choices, written, strict=True):
            try:
                self._check_ended_well(choice)
                raw = self._raw_reply(request, choice, most_alternatives)
            except Failure as caught:
                # Of several replies one that failed is asked for again as one that says nothing is.
                if not caught.is_silent:
                    raise
                failure = caught
                continue
            raw = replace(
                raw,
                prompt_tokens=count(counts.get("prompt_tokens")),
                completion_tokens=completion_tokens,
                seconds=seconds,
                starts_thinking=self.budget.starts_thinking,
            )
            reply = read_reply(raw, request)
            self.budget.observe(reply, raw.text)
            if says_nothing(reply, request) or self._is_unheld(reply, request):
                silent.append(reply)
                continue
            if request.grammar is not None:
                self._check_grammar(raw, request, request.grammar)
            replies.append(reply)
        if failure is not None and not (replies or silent):
            raise failure
        return replies, silent

    def silence(self, request: ChatRequest, reply: Reply, thinking_tokens: int) -> Failure:
        """What is said of a reply that says nothing.

        Args:
            request: What was asked.
            reply: Says nothing.
            thinking_tokens: That were added to the limit of the reply.
        """
        what, remedy = silence_of(reply, describe_limit(request.sampling, thinking_tokens))
        reason = f"{what}; {remedy}" if reply.is_cut else what
        return Failure(what, remedy, reason=reason, is_silent=True)

    def _check_ended_well(self, choice: Choice) -> None:
        """See that a choice is not the report of an error."""
        complaint = self.endpoint.excerpt(choice.complaint)
        if finish_reason(choice.finish_reason) is not None and not choice.error:
            return
        name = self.endpoint.excerpt(choice.finish_reason or "error")
        what = f"its reply ended with finish_reason {name}" + (f" ({complaint})" if complaint else "")
        raise Failure(what, failure_remedy(choice.finish_reason), reason=what, is_silent=True)

    def _is_unheld(self, reply: Reply, request: ChatRequest) -> bool:
        """Whether a reply says nothing although the grammar that was sent wants words."""
        if reply.text or request.grammar is None:
            return False
        return not may_be_empty(request.grammar, self.unsent(request))

    def _check_grammar(self, raw: RawReply, request: ChatRequest, grammar: str) -> None:
        """See that a reply, with the prefix where the server has to write that itself, follows its grammar."""
        whole = read_reply(raw, replace(request, prefix="")).text
        if not follows(whole, grammar, self.unsent(request)):
            shown = self.endpoint.excerpt(whole, 60)
            raise Failure(f"it did not keep to the grammar it was sent: {shown}", OTHER_DIALECT)

    def _raw_reply(self, request: ChatRequest, choice: Choice, most_alternatives: int) -> RawReply:
        try:
            text, thoughts = choice.content
        except ValueError as error:
            raise Failure(
                f"it answered with a message that is no chat completion ({error})",
                "use a server that speaks the OpenAI protocol",
                True,
            ) from None
        if not text and choice.complaint:
            what = f"it refused to answer ({self.endpoint.excerpt(choice.complaint)})"
            raise Failure(what, "change the messages or the model", reason=what, is_silent=True)
        if text is not None and len(text) > TEXT_LIMIT:
            raise Failure(f"it replied with {len(text)} characters", "lower max_tokens", reason="its reply is too long")
        sampling, tell = request.sampling, choice.logprobs
        return RawReply(
            self.endpoint.redact(text or ""),
            choice.finish_reason,
            self.endpoint.redact(thoughts[:TEXT_LIMIT]),
            token_logprobs=log_probabilities(tell) if sampling.logprobs else None,
            alternatives=self._alternatives(request, choice, most_alternatives),
            token_texts=lambda: [place[0].text for place in alternatives(tell, 1) or ()],
        )

    def _alternatives(
        self, request: ChatRequest, choice: Choice, most: int
    ) -> tuple[tuple[TokenLogprob, ...], ...] | None:
        if not request.sampling.alternatives:
            return None
        places = alternatives(choice.logprobs, min(request.sampling.alternatives, most))
        return places and tuple(
            tuple(TokenLogprob(self.endpoint.redact(text), value) for text, value in place) for place in places
        )
