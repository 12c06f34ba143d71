"""Builds replies from a server's responses, or failures that say why there are none."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import ValidationError

from housewise.language.base import ChatRequest, Reply, TokenLogprob
from housewise.language.grammar_matching import accepts_empty_reply, matches_grammar
from housewise.language.replies import (
    RawReply,
    ThinkingBudget,
    describe_blank_reply,
    describe_limit,
    failure_remedy,
    finish_reason,
    is_blank_reply,
    read_reply,
)
from housewise.language.server.endpoint import Endpoint
from housewise.language.server.request_failure import RequestFailure
from housewise.language.server.request_parameters import DIALECT_REMEDY
from housewise.language.server.responses import (
    ChatCompletion,
    CompletionChoice,
    error_message,
    log_probabilities,
    split_evenly,
    token_alternatives,
)

TEXT_LIMIT = 1_000_000


@dataclass(frozen=True)
class ResponseReader:
    """Reads responses to requests.

    Attributes:
        endpoint: The server.
        continue_prefix: Whether the server continues a request's prefix. Otherwise the reply should repeat it.
        thinking_budget: Tokens that a model needs for its thoughts. The reader updates it with every reply.
    """

    endpoint: Endpoint
    continue_prefix: bool
    thinking_budget: ThinkingBudget

    def prefix_to_repeat(self, request: ChatRequest) -> str:
        """Return the prefix if the reply should repeat it, else an empty text."""
        return "" if self.continue_prefix else request.prefix

    def parse(self, body: bytes) -> ChatCompletion:
        """Parse the body of a response.

        Raises:
            RequestFailure: If it is not a chat completion.
        """
        remedy = "check that base_url is an OpenAI-compatible server (it usually ends in /v1)"
        if not body.strip():
            raise RequestFailure("it answered with an empty body", remedy, True)
        try:
            completion = ChatCompletion.model_validate_json(body)
        except ValidationError:
            start = self.endpoint.excerpt(body[:2000].decode(errors="replace"), 60)
            what = f"it answered with {len(body)} bytes that are no chat completion: {start}"
            raise RequestFailure(what, remedy, True) from None
        if completion.error and not completion.choices:
            reason = self.endpoint.excerpt(error_message(completion.error))
            raise RequestFailure(f"it answered with an error: {reason}", "see the server's log or try later", True)
        if not completion.choices:
            raise RequestFailure("it answered without any choice", remedy, True)
        return completion

    def replies(
        self, request: ChatRequest, completion: ChatCompletion, seconds: float, max_alternatives: int
    ) -> tuple[list[Reply], list[Reply]]:
        """Return the replies of a response, and separately the blank ones.

        Args:
            request: What was asked.
            completion: The response.
            seconds: How long it took.
            max_alternatives: Maximum number of alternatives per token that was requested.

        Raises:
            RequestFailure: If one cannot be used.
        """
        choices = completion.choices or []
        written = split_evenly(completion.completion_tokens, len(choices))
        replies: list[Reply] = []
        blank: list[Reply] = []
        failure: RequestFailure | None = None
        asked = split_evenly(completion.prompt_tokens, len(choices))
        for choice, prompt_tokens, completion_tokens in zip(choices, asked, written, strict=True):
            try:
                self._check_finish_reason(choice)
                raw = self._raw_reply(request, choice, max_alternatives)
            except RequestFailure as caught:
                # The caller requests a failed reply again, like a blank one, if the response has other replies.
                if not caught.is_blank:
                    raise
                failure = caught
                continue
            raw = replace(
                raw,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                seconds=seconds,
                starts_thinking=self._may_be_cut_thoughts(request, choice),
            )
            reply = read_reply(raw, request)
            self.thinking_budget.observe(reply, raw.text)
            if is_blank_reply(reply, request) or self._is_blank_against_grammar(reply, request):
                blank.append(reply)
                continue
            if request.grammar is not None:
                self._check_grammar(raw, request, request.grammar)
            replies.append(reply)
        if failure is not None and not (replies or blank):
            raise failure
        if replies:
            # The first reply counts the tokens of those that are requested again.
            replies[0] = replies[0].plus_tokens(
                completion.prompt_tokens - sum(reply.prompt_tokens for reply in replies),
                completion.completion_tokens - sum(reply.completion_tokens for reply in replies),
            )
        return replies, blank

    def blank_reply_failure(self, request: ChatRequest, reply: Reply, thinking_tokens: int) -> RequestFailure:
        """Return the failure for a blank reply.

        Args:
            request: What was asked.
            reply: The blank reply.
            thinking_tokens: Number of tokens that were added to the limit of the reply.
        """
        what, remedy = describe_blank_reply(reply, describe_limit(request.sampling, thinking_tokens))
        reason = f"{what}; {remedy}" if reply.is_cut else what
        return RequestFailure(what, remedy, reason=reason, is_blank=True)

    def _check_finish_reason(self, choice: CompletionChoice) -> None:
        """Check that a choice is not the report of an error."""
        complaint = self.endpoint.excerpt(choice.complaint)
        if finish_reason(choice.finish_reason) is not None and not choice.error:
            return
        name = self.endpoint.excerpt(choice.finish_reason or "error")
        what = f"its reply ended with finish_reason {name}" + (f" ({complaint})" if complaint else "")
        raise RequestFailure(what, failure_remedy(choice.finish_reason), reason=what, is_blank=True)

    def _may_be_cut_thoughts(self, request: ChatRequest, choice: CompletionChoice) -> bool:
        """Whether a reply without any mark of thoughts consists of thoughts that were cut.

        A complete reply has the mark that ends them. A restricted or continued reply begins without thoughts.
        """
        is_free = request.grammar is None and request.json_schema is None
        is_continued = self.continue_prefix and bool(request.prefix)
        is_cut = finish_reason(choice.finish_reason) == "length"
        return self.thinking_budget.starts_thinking and is_cut and is_free and not is_continued

    def _is_blank_against_grammar(self, reply: Reply, request: ChatRequest) -> bool:
        """Whether a reply is blank although its grammar requires words."""
        if reply.text or request.grammar is None:
            return False
        return not accepts_empty_reply(request.grammar, self.prefix_to_repeat(request))

    def _check_grammar(self, raw: RawReply, request: ChatRequest, grammar: str) -> None:
        """Check that a reply follows its grammar, including the prefix if the server had to repeat it."""
        whole = read_reply(raw, replace(request, prefix="")).text
        if not matches_grammar(whole, grammar, self.prefix_to_repeat(request)):
            shown = self.endpoint.excerpt(whole, 60)
            raise RequestFailure(f"it did not keep to the grammar it was sent: {shown}", DIALECT_REMEDY)

    def _raw_reply(self, request: ChatRequest, choice: CompletionChoice, max_alternatives: int) -> RawReply:
        try:
            text, thoughts = choice.content
        except ValueError as error:
            raise RequestFailure(
                f"it answered with a message that is no chat completion ({error})",
                "use a server that speaks the OpenAI protocol",
                True,
            ) from None
        if not text and choice.complaint:
            what = f"it refused to answer ({self.endpoint.excerpt(choice.complaint)})"
            raise RequestFailure(what, "change the messages or the model", reason=what, is_blank=True)
        if text is not None and len(text) > TEXT_LIMIT:
            raise RequestFailure(
                f"it replied with {len(text)} characters", "lower max_tokens", reason="its reply is too long"
            )
        sampling, tell = request.sampling, choice.logprobs
        return RawReply(
            self.endpoint.redact(text or ""),
            choice.finish_reason,
            self.endpoint.redact(thoughts[:TEXT_LIMIT]),
            token_logprobs=log_probabilities(tell) if sampling.logprobs else None,
            alternatives=self._alternatives(request, choice, max_alternatives),
            token_texts=lambda: [place[0].text for place in token_alternatives(tell, 1) or ()],
        )

    def _alternatives(
        self, request: ChatRequest, choice: CompletionChoice, most: int
    ) -> tuple[tuple[TokenLogprob, ...], ...] | None:
        if not request.sampling.alternatives:
            return None
        places = token_alternatives(choice.logprobs, min(request.sampling.alternatives, most))
        return places and tuple(
            tuple(TokenLogprob(self.endpoint.redact(text), value) for text, value in place) for place in places
        )
