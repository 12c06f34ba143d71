"""Builds the parameters of requests to a server, without those that it refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from housewise.language.base import ChatRequest, Message
from housewise.language.control_tokens import break_turns
from housewise.language.gbnf import GrammarDialect, complete_grammar
from housewise.language.messages import fold_system
from housewise.language.replies import ThinkingBudget
from housewise.language.server.request_failure import Adaptation

MAX_ALTERNATIVES = 20
"""Maximum number of alternatives to request; OpenAI's server refuses more."""
MAX_STOPS = 4

# Field in which each kind of server expects a grammar.
GRAMMAR_FIELDS: dict[GrammarDialect, str] = {
    "vllm": "structured_outputs",
    "vllm-guided": "guided_grammar",
    "llama.cpp": "grammar",
    "sglang": "ebnf",
}


def grammar_body(dialect: GrammarDialect, grammar: str) -> dict[str, Any]:
    """Return the fields of a request that restrict a reply to a grammar, for one kind of server."""
    return {GRAMMAR_FIELDS[dialect]: {"grammar": grammar} if dialect == "vllm" else grammar}


DIALECT_REMEDY = f"set grammar_dialect to the kind of server ({', '.join(GRAMMAR_FIELDS)}), or grounded to false"


@dataclass(frozen=True)
class ServerOptions:
    """Options of requests to a server that the user may set.

    Attributes:
        grammar_dialect: Kind of server, for requests with a grammar.
        continue_prefix: Whether the server continues a final assistant message (vLLM does).
        extra_body: Further fields of every request, as documented by the server.
        chat_template_kwargs: Arguments of the model's chat template, such as ``{"enable_thinking": False}``.
        reasoning_effort: How long a reasoning model thinks, such as ``"low"``; None leaves it to the server.
        sampling: Sampling parameters that the user set. Others are left out if a server refuses them.
        fold_system: Whether the system message is part of the first user turn from the first request on.
    """

    grammar_dialect: GrammarDialect = "vllm"
    continue_prefix: bool = False
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    reasoning_effort: str | None = None
    sampling: Mapping[str, float] = field(default_factory=dict)
    fold_system: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """Fields that these options add to every request."""
        found = dict(self.extra_body)
        if self.chat_template_kwargs:
            found["chat_template_kwargs"] = dict(self.chat_template_kwargs)
        if self.reasoning_effort is not None:
            found["reasoning_effort"] = self.reasoning_effort
        return found


class RequestParameters:
    """Builds parameters of requests to one server, and adapts them to its refusals.

    Args:
        model: The server's name of the model.
        options: Options that the user set.
        budget: Added to the limit of replies.
        is_openai: Whether the server is OpenAI's, whose newer models refuse ``max_tokens``.
    """

    def __init__(self, model: str, options: ServerOptions, budget: ThinkingBudget, is_openai: bool) -> None:
        self._model, self._options, self._budget = model, options, budget
        self._length = "max_completion_tokens" if is_openai else "max_tokens"
        self._refused: set[str] = set()
        self._limits: dict[str, int] = {"top_logprobs": MAX_ALTERNATIVES}
        self._folds_system = options.fold_system

    @property
    def max_alternatives(self) -> int:
        """Maximum number of alternatives to a token that are requested."""
        return self._limits["top_logprobs"]

    def refuses(self, name: str) -> bool:
        """Whether the server has refused a parameter."""
        return name in self._refused

    def adapt(self, adaptation: Adaptation) -> None:
        """Change later requests after the server refused one."""
        if adaptation.kind == "think_less":
            self._budget.shrink(adaptation.limit)
        elif adaptation.kind == "fold_system":
            self._folds_system = True
        elif adaptation.kind == "limit":
            self._limits[adaptation.name] = adaptation.limit
        elif adaptation.name == "max_tokens":
            self._length = "max_completion_tokens"
        else:
            self._refused.add(adaptation.name)

    def unfold_system(self) -> None:
        """Send the system message as at first, because the server also refused the request without its role."""
        self._folds_system = self._options.fold_system

    def write(self, request: ChatRequest, count: int, seed_offset: int) -> dict[str, Any]:
        """Return the parameters of a request for the client library.

        Args:
            request: What is asked.
            count: Number of replies.
            seed_offset: Added to the seed, since a repeated request with the same seed would return the same reply.
        """
        sampling = request.sampling
        found: dict[str, Any] = {
            "model": self._model,
            "messages": break_turns(message.turn for message in self._messages(request.messages)),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._length: sampling.max_tokens + self._budget.tokens,
        }
        if count > 1:
            found["n"] = min(count, self._limits.get("n", count))
        # A stop text may occur in thoughts, and would end them.
        if sampling.stop and not self._budget.is_on:
            found["stop"] = list(sampling.stop[: self._limits.get("stop", MAX_STOPS)])
        if sampling.seed is not None:
            seed = sampling.seed + seed_offset
            found["seed"] = seed % self._limits.get("seed", seed + 1)
        if (sampling.logprobs or sampling.alternatives) and "logprobs" not in self._refused:
            found["logprobs"] = True
            if sampling.alternatives:
                found["top_logprobs"] = min(sampling.alternatives, self.max_alternatives)
        if request.json_schema is not None:
            schema = {"name": "reply", "schema": json.loads(request.json_schema), "strict": True}
            found["response_format"] = {"type": "json_schema", "json_schema": schema}
        if body := self._extra_body(request, found["messages"]):
            found["extra_body"] = body
        return {name: value for name, value in found.items() if not self._leaves_out(name, value)}

    def _leaves_out(self, name: str, value: Any) -> bool:
        """Whether a parameter is left out because it was refused; a value that the user set is always sent."""
        is_chosen = value != 1 and self._options.sampling.get(name) == value
        return name in self._refused and not is_chosen

    def _messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        return fold_system(messages) if self._folds_system else messages

    def _extra_body(self, request: ChatRequest, messages: list[dict[str, str]]) -> dict[str, Any]:
        body = self._options.fields
        if request.prefix and self._options.continue_prefix:
            messages += break_turns([{"role": "assistant", "content": request.prefix}])
            body |= {"add_generation_prompt": False, "continue_final_message": True}
        if request.grammar is not None:
            unsent = "" if self._options.continue_prefix else request.prefix
            body |= grammar_body(self._options.grammar_dialect, complete_grammar(request.grammar, unsent))
        return body
