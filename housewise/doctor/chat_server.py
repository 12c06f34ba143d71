"""Check a chat server that the user names: whether it answers, and which of its features a run can use."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError, suggest_names
from housewise.core.printable_text import excerpt
from housewise.doctor.findings import SERVER, Finding, State, finding_from_error
from housewise.doctor.model_memory import is_local

if TYPE_CHECKING:
    from housewise.language.server.openai import OpenAIChatModel
    from housewise.language.server.responses import ChatCompletion, CompletionChoice

_MAX_NAMES = 20
_WORDS = ("blue-7", "green-8")
_GRAMMAR = 'reply ::= "blue-7" | "green-8"'
_SCHEMA = {"name": "word", "schema": {"type": "string", "enum": list(_WORDS)}, "strict": True}
# 64 x 64 pixels, all red.
_RED = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBA"
    "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC"
)


@dataclass(frozen=True)
class ServerChoice:
    """The chat server to test.

    Attributes:
        base_url: Its address. Default: ``$OPENAI_BASE_URL``, then OpenAI's.
        model: Name of a model on the server, or None for its only one. Of ``local:NAME``, the server is tested with the
            model NAME if it lists it, or else with its only one.
        seconds: Time limit of all requests together.
    """

    base_url: str | None
    model: str | None
    seconds: float


def check_chat_server(choice: ServerChoice) -> list[Finding]:
    """Test a server: its models, the time of a reply, log-probabilities, grammars and pictures.

    Raises:
        UserError: It does not answer, refuses the key, or does not have the model.
    """
    from housewise.language.server.openai import CHECK_SECONDS, OpenAIChatModel

    end = time.monotonic() + choice.seconds
    wanted = None if choice.model is None or is_local(choice.model) else choice.model
    url = choice.base_url or os.environ.get("OPENAI_BASE_URL")
    # Three short requests must leave time for the others.
    brief = choice.seconds / 4
    names: list[str] = []
    with closing(OpenAIChatModel(wanted or "(any)", url, timeout=brief, max_retries=0)) as model:
        try:
            if wanted is not None:
                model.check()
        except UserError as error:
            return [_brief(finding_from_error(SERVER, "server", "broken", error), model)]
        try:
            names = model.served_models(min(brief, CHECK_SECONDS))
        except UserError as error:
            # A server that does not list its models may still answer for a named one.
            if wanted is None:
                raise
            listed = _without_remedy("models", error, model)
        else:
            if wanted is None and choice.model is not None:
                wanted = next((name for name in names if choice.model == f"local:{name}"), None)
            listed = _models_finding(names, wanted)
    name = wanted or (names[0] if len(names) == 1 else None)
    if name is None:
        return [listed]
    with closing(OpenAIChatModel(name, url, timeout=choice.seconds, max_retries=0)) as model:
        return [listed, *_ModelTest(model, end).findings()]


def _models_finding(names: list[str], model: str | None) -> Finding:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    found = (excerpt(", ".join(names[:_MAX_NAMES])) or "none") + more
    if model is None:
        state: State = "ok" if len(names) == 1 else "broken"
        return Finding(SERVER, "models", state, found if len(names) == 1 else f"name one of them with --model: {found}")
    if model in names:
        return Finding(SERVER, "models", "ok", f"{model} is one of {len(names)}: {found}")
    return Finding(SERVER, "models", "missing", f"it does not list {model}; {suggest_names(model, names[:_MAX_NAMES])}")


def _without_remedy(what: str, error: UserError, model: OpenAIChatModel) -> Finding:
    """Return a finding about an optional feature that the server lacks."""
    return replace(_brief(finding_from_error(SERVER, what, "missing", error), model), remedy="")


def _brief(finding: Finding, model: OpenAIChatModel) -> Finding:
    """Remove the name and the address of the model from the beginning of a finding."""
    return replace(finding, details=finding.details.removeprefix(f"model {model.name} at {model.endpoint.address}: "))


class _ModelTest:
    """Tests a model with one request after the other until the time is up.

    Args:
        model: The model.
        end: End of the time limit, in seconds of time.monotonic.
    """

    def __init__(self, model: OpenAIChatModel, end: float) -> None:
        self._model, self._end = model, end
        # Recent models of OpenAI refuse max_tokens.
        self._length = "max_completion_tokens" if "api.openai.com" in model.endpoint.url else "max_tokens"

    def findings(self) -> Iterator[Finding]:
        """Yield the finding of each request. Without any reply, nothing else is requested."""
        try:
            yield self._speed()
        except UserError as error:
            yield _brief(finding_from_error(SERVER, "replies", "broken", error), self._model)
            return
        for what, ask in (
            ("log-probabilities", self._log_probabilities),
            ("grammars", self._grammars),
            ("pictures", self._pictures),
        ):
            try:
                yield ask()
            except _TimeLimitReached:
                yield Finding(SERVER, what, "missing", "not asked, since the time was up; raise --timeout")
            except UserError as error:
                yield _without_remedy(what, error, self._model)

    def _speed(self) -> Finding:
        start = time.perf_counter()
        completion = self._ask("Count from 1 to 40, in digits, with spaces between them.", 64)
        seconds = time.perf_counter() - start
        if _says_nothing(completion):
            return Finding(
                SERVER, "replies", "broken", "it answered without a text", "change the model or its chat template"
            )
        usage = completion.usage if isinstance(completion.usage, dict) else {}
        from housewise.language.server.responses import token_count

        tokens = token_count(usage.get("completion_tokens"))
        if not tokens:
            return Finding(SERVER, "replies", "ok", f"in {seconds:.1f} s; it does not say of how many tokens")
        speed = tokens / max(seconds, 1e-3)
        return Finding(SERVER, "replies", "ok", f"{speed:.0f} tokens a second ({tokens} in {seconds:.1f} s, one reply)")

    def _log_probabilities(self) -> Finding:
        from housewise.language.server.responses import log_probabilities
        from housewise.language.server.responses import token_alternatives as likeliest

        completion = self._ask("Say hello.", 4, {"logprobs": True, "top_logprobs": 2})
        offered = _first(completion).logprobs
        if likeliest(offered, 2) is not None:
            return Finding(SERVER, "log-probabilities", "ok", "of every token, and of what else was likely")
        if log_probabilities(offered) is not None:
            return Finding(SERVER, "log-probabilities", "ok", "of every token, but not of what else was likely")
        return Finding(SERVER, "log-probabilities", "missing", "not given: leave out score_placements=true")

    def _grammars(self) -> Finding:
        from housewise.language.gbnf import complete_grammar
        from housewise.language.server.request_parameters import GRAMMAR_FIELDS, grammar_body

        for dialect in GRAMMAR_FIELDS:
            if self._is_held({"extra_body": grammar_body(dialect, complete_grammar(_GRAMMAR))}):
                return Finding(SERVER, "grammars", "ok", f"followed: grounded=true grammar_dialect={dialect}")
        if self._is_held({"response_format": {"type": "json_schema", "json_schema": _SCHEMA}}):
            details = "not followed, though JSON schemas are: grounded=false"
            details += "; judging.as_json=true with prompt=notes uses them"
        else:
            details = f"not followed in any dialect ({', '.join(GRAMMAR_FIELDS)}): grounded=false"
        return Finding(SERVER, "grammars", "missing", details)

    def _is_held(self, constraint: Mapping[str, Any]) -> bool:
        """Whether a constraint forces the reply to be one of two unlikely words."""
        try:
            return self._text("Say hello.", 32, constraint).strip().strip('"') in _WORDS
        except _TimeLimitReached:
            raise
        except UserError:
            # A refusal of the constraint is an answer as well.
            return False

    def _pictures(self) -> Finding:
        content = [
            {"type": "text", "text": "Which colour is this picture? Answer with one word."},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_RED}"}},
        ]
        said = self._text(content, 32)
        if "red" in said.lower():
            return Finding(SERVER, "pictures", "ok", "seen in messages")
        details = (
            f"taken in messages, but not seen: of a red one it said {excerpt(repr(self._model.endpoint.redact(said)))}"
        )
        return Finding(SERVER, "pictures", "missing", details)

    def _text(self, content: object, tokens: int, more: Mapping[str, Any] | None = None) -> str:
        return _read_content(self._ask(content, tokens, more))[0]

    def _ask(self, content: object, tokens: int, more: Mapping[str, Any] | None = None) -> ChatCompletion:
        left = self._end - time.monotonic()
        if left <= 0:
            raise _TimeLimitReached
        messages = [{"role": "user", "content": content}]
        return self._model.send({"messages": messages, self._length: tokens, **(more or {})}, left)


def _first(completion: ChatCompletion) -> CompletionChoice:
    # Completions without a choice were refused when they were parsed.
    return (completion.choices or [])[0]


def _says_nothing(completion: ChatCompletion) -> bool:
    """Whether a reply has no text, without thoughts or the token limit as an explanation."""
    from housewise.language.base import ended_at_limit

    return not any(map(str.strip, _read_content(completion))) and not ended_at_limit(_first(completion).finish_reason)


def _read_content(completion: ChatCompletion) -> tuple[str, str]:
    try:
        text, thoughts = _first(completion).content
        return text or "", thoughts
    except ValueError as error:
        raise UserError(
            f"it answered with a message that is no chat completion ({error}); use a server that speaks the OpenAI "
            "protocol"
        ) from None


class _TimeLimitReached(UserError):
    """There is no time left to ask anything else."""
