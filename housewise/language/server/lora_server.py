"""Servers that load LoRA adapters at run time, as vLLM does, and tell log-probabilities of given texts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import openai
from pydantic import BaseModel, ValidationError

from housewise.language.base import ChatModelError, Message
from housewise.language.control_tokens import break_turns
from housewise.language.server.connection import Connection, describe_setup_problem
from housewise.language.server.endpoint import Endpoint
from housewise.language.server.refusals import is_too_long
from housewise.language.server.responses import ListedModel, ModelList, error_message

RUNTIME_LOADING = "VLLM_ALLOW_RUNTIME_LORA_UPDATING"
_IS_LOADED = "already been loaded"
_LISTINGS = 8
# Of several API servers behind one address, each connection may reach another one.
_NEW_CONNECTION = {"Connection": "close"}
_ONE_API_SERVER = "serve with one API server (--api-server-count 1), or name the address of each in rollouts.servers"

T = TypeVar("T")


class _Scored(BaseModel):
    logprob: float


class _ScoredPrompt(BaseModel):
    prompt_logprobs: list[dict[int, _Scored] | None]


class LoraServer:
    """A server that loads LoRA adapters while it runs. Every request has a connection of its own.

    Args:
        url: Address of the server, ending in ``/v1``. The key is read from ``$OPENAI_API_KEY``.
        timeout: Maximum seconds of a request.

    Raises:
        ChatModelError: If the address or the key cannot be used.
    """

    def __init__(self, url: str, timeout: float = 300.0) -> None:
        self.endpoint = Endpoint.from_settings("of the server", url, None)
        self._timeout = timeout
        try:
            self._connection = Connection(url, self.endpoint.key or "none", timeout, concurrency=1)
        except Exception as error:  # the HTTP library's many
            raise self.endpoint.error(*describe_setup_problem(error)) from None

    @property
    def address(self) -> str:
        """The address without a password."""
        return self.endpoint.address

    def models(self) -> list[ListedModel]:
        """Return the models and adapters that the server lists.

        Raises:
            ChatModelError: If it cannot be reached, or lists none.
        """
        remedy = "check that a vLLM server runs there, and the key in $OPENAI_API_KEY if it needs one"
        try:
            return ModelList.model_validate_json(self._request("GET", "/models", None)).data
        except _StatusError as error:
            raise self._error(f"it did not list its models ({error})", remedy) from None
        except ValidationError:
            raise self._error("it answered with no list of models", remedy) from None

    def base_model(self) -> ListedModel:
        """Return the base model of the server.

        Raises:
            ChatModelError: If it lists none, or several.
        """
        bases = [model for model in self.models() if model.parent is None]
        if len(bases) != 1:
            names = ", ".join(model.id for model in bases) or "none"
            raise self._error(f"it lists several base models or none ({names})", "serve one model under one name")
        return bases[0]

    def load(self, name: str, folder: Path) -> None:
        """Load an adapter under a new name. An adapter that is loaded under that name already stays.

        Args:
            name: Name of the adapter in requests.
            folder: Folder of the adapter, as the server sees it.

        Raises:
            ChatModelError: If the server refuses.
        """
        if self.lists(name):
            return
        body = {"lora_name": name, "lora_path": str(folder)}
        try:
            self._request("POST", "/load_lora_adapter", body)
        except _StatusError as error:
            if _IS_LOADED not in str(error):
                raise self._error(f"it did not load adapter {folder} ({error})", _load_remedy(error)) from None
        if not self.lists(name):
            raise self._error(
                f"it does not list adapter {name} on every connection, although it says to have loaded it",
                _ONE_API_SERVER,
            )

    def lists(self, name: str) -> bool:
        """Return whether the server lists a model on each of several connections.

        Raises:
            ChatModelError: See models.
        """
        return all(any(model.id == name for model in self.models()) for _ in range(_LISTINGS))

    def unload(self, name: str) -> None:
        """Forget an adapter; a server without it is fine.

        Raises:
            ChatModelError: If the server cannot be reached.
        """
        with contextlib.suppress(_StatusError):
            self._request("POST", "/unload_lora_adapter", {"lora_name": name})

    def score(
        self, model: str, messages: Sequence[Message], turn: str, template: Mapping[str, Any]
    ) -> list[tuple[int, float]]:
        """Return the tokens of a conversation with their natural log-probabilities, except for its first token.

        Args:
            model: Name of a model or an adapter.
            messages: The conversation before the turn.
            turn: Beginning of the assistant's turn.
            template: Arguments of the chat template.

        Raises:
            ChatModelError: If the server cannot compute them.
        """
        turns = [*(message.turn for message in messages), {"role": "assistant", "content": turn}]
        body: dict[str, Any] = {
            "model": model,
            "messages": break_turns(turns),
            "max_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 0,
            "add_generation_prompt": False,
            "continue_final_message": True,
        }
        if template:
            body["chat_template_kwargs"] = dict(template)
        try:
            found = _ScoredPrompt.model_validate_json(self._request("POST", "/chat/completions", body))
            places = found.prompt_logprobs[1:]
            return [(token, scored.logprob) for place in places for token, scored in list((place or {}).items())[:1]]
        except _StatusError as error:
            remedy = "raise its --max-model-len" if is_too_long(None, None, error.words) else "see its log"
            raise self._error(f"it gave no log-probabilities of a prompt ({error})", remedy) from None
        except ValidationError:
            remedy = "use vLLM, which answers prompt_logprobs"
            raise self._error("it answered without log-probabilities of the prompt", remedy) from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _error(self, what: str, remedy: str) -> ChatModelError:
        return self.endpoint.error(what, remedy)

    def _request(self, method: str, path: str, body: dict[str, Any] | None) -> bytes:
        """Send a request once and return the body of the answer.

        Raises:
            _StatusError: If the server answers with an error.
            ChatModelError: If it cannot be reached.
        """
        client, options = self._connection.client, openai.RequestOptions(headers=_NEW_CONNECTION)
        sent: Coroutine[Any, Any, openai.HttpxBinaryResponseContent] = (
            client.get(path, cast_to=openai.HttpxBinaryResponseContent, options=options)
            if body is None
            else client.post(path, cast_to=openai.HttpxBinaryResponseContent, body=body, options=options)
        )
        try:
            return self._connection.run(asyncio.wait_for(sent, self._timeout)).content
        except openai.APIStatusError as error:
            words = self.endpoint.excerpt(error_message(error.body) or error.response.reason_phrase)
            raise _StatusError(error.status_code, words) from None
        except (asyncio.TimeoutError, openai.APITimeoutError):
            what = f"no answer within {self._timeout:.3g} s"
        except (openai.OpenAIError, OSError) as error:
            what = f"no answer ({self.endpoint.excerpt(str(error.__cause__ or error) or type(error).__name__)})"
        raise self._error(what, "check that the server runs, and its address in rollouts.servers")


class _StatusError(Exception):
    """A server answered with an error.

    Args:
        status: Status of the answer.
        words: What the server says.
    """

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"{status}: {words}")
        self.status, self.words = status, words


def _load_remedy(error: _StatusError) -> str:
    """Return what to do about an adapter that a server does not load."""
    words = error.words.lower()
    if "rank" in words:
        return "start the server with a higher --max-lora-rank, or train with a lower training.rank in another folder"
    if error.status == 404 and "adapter" not in words:
        return f"start the server with --enable-lora and {RUNTIME_LOADING}=True in its environment"
    if "no such file" in words or "not found" in words or "no adapter" in words:
        return "give the server a view of this folder at the same path"
    if "target" in words or "unsupported" in words:
        return "train in another folder with training.targets that the server supports, such as [q_proj, v_proj]"
    return "see the server's log; it needs --enable-lora, a fitting --max-lora-rank, and a view of this folder"
