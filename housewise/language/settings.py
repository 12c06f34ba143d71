"""How a model is found and asked, as settings of a run."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Literal

from pydantic import Field, field_serializer, field_validator
from pydantic_core import PydanticCustomError

from housewise.core.plugins import MODELS, plugin_names
from housewise.core.settings import MAX_COUNT, Settings
from housewise.core.urls import redact_url
from housewise.language import open_model, refuse_address
from housewise.language.adapters import AUTO, NONE, check_adapter_exists
from housewise.language.base import ChatModel, ServedModel
from housewise.language.gbnf import GrammarDialect
from housewise.language.replies import DEFAULT_THINKING_TOKENS

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
"""Precisions in which a local model computes; auto is what the hardware computes fastest in."""

EXECUTION_FIELDS = frozenset({"base_url", "batch_size", "concurrency", "timeout"})
"""Settings of a model that change nothing of what it says but by rounding; a server that has moved is the same one."""

_FEWEST_REQUESTS = 8
_REFUSABLE = frozenset({"temperature", "top_p"})
_OWN_FIELDS = frozenset({"model", "messages", "n", "stream", "temperature", "top_p", "max_tokens", "seed", "stop"})
_OWN_FIELDS |= {"max_completion_tokens", "logprobs", "top_logprobs", "chat_template_kwargs", "reasoning_effort"}


class SamplingSettings(Settings):
    """How replies are drawn; see housewise.language.base.Sampling."""

    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=256, ge=1, le=MAX_COUNT)
    n: int = Field(default=1, ge=1, le=MAX_COUNT)


class ModelSettings(Settings):
    """A chat model.

    Attributes:
        model: ``local``, ``local:<folder or Hugging Face name>``, or a model's name at an OpenAI-compatible server.
        base_url: the server's address; a password in it is used and kept nowhere.
        adapter: of a local model: a folder, or the name of one that comes with the package. None or ``none`` for the
            model without one, as ``auto`` is where the system has no bundled adapter.
        sampling: how replies are drawn.
        grammar_dialect: the server's.
        continue_prefix: whether the server goes on with an assistant's turn that has begun.
        thinking: whether the model thinks before it answers; the first reply that shows thoughts tells otherwise.
        thinking_tokens: added to max_tokens for a model that thinks.
        extra_body: further fields of requests to the server, such as top_k; they are kept with a run, so no keys.
        chat_template_kwargs: arguments of the model's chat template, such as enable_thinking.
        reasoning_effort: how long a server has the model think, such as low.
        batch_size: replies that a local model writes at once.
        dtype: in which a local model computes.
        concurrency: requests to a server under way at once; None for as many as workers, but at least 8.
        timeout: seconds that one attempt to reach a server may take.
    """

    model: str = "local"
    base_url: str | None = Field(default=None, repr=False)
    adapter: str | None = None
    sampling: SamplingSettings = SamplingSettings()
    grammar_dialect: GrammarDialect = "vllm"
    continue_prefix: bool = False
    thinking: bool = False
    thinking_tokens: int = Field(default=DEFAULT_THINKING_TOKENS, ge=0, le=MAX_COUNT)
    extra_body: dict[str, Any] = Field(default_factory=dict)
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    reasoning_effort: str | None = None
    batch_size: int = Field(default=16, ge=1, le=MAX_COUNT)
    dtype: Dtype = "auto"
    concurrency: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    timeout: float = Field(default=60.0, gt=0)

    @field_serializer("base_url")
    def _without_password(self, base_url: str | None) -> str | None:
        """What is kept and compared; the connection is made with the address itself."""
        return base_url and redact_url(base_url)

    @field_validator("adapter")
    @classmethod
    def _without_adapter(cls, adapter: str | None) -> str | None:
        # OmegaConf reads null on the command line, and options do not.
        return None if adapter in (AUTO, NONE, "null") else adapter

    @field_validator("extra_body")
    @classmethod
    def _leaves_ours(cls, extra_body: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_OWN_FIELDS & extra_body.keys()):
            raise PydanticCustomError(
                "own_field",
                "{names} is set by Housewise or a setting of its own; leave it out",
                {"names": ", ".join(taken)},
            )
        return extra_body

    @property
    def local(self) -> bool:
        """Whether it runs in this program."""
        return self.model.partition(":")[0] == "local"

    def check(self) -> None:
        """See that the model is there, without loading it; a server is asked which models it has.

        Raises:
            ChatModelError: It is not; the message says what to do.
        """
        if self.adapter is not None:
            check_adapter_exists(self.adapter)
        if self.local:
            refuse_address(self.model, self.base_url)
            from housewise.language.local.weights import check_model_exists

            check_model_exists(self.model.partition(":")[2])
        elif self.model.partition(":")[0] not in plugin_names(MODELS):
            with closing(self.open()) as model:
                if isinstance(model, ServedModel):
                    model.check()

    def open(self, workers: int = 1, **options: Any) -> ChatModel:
        """The model, ready to answer.

        Args:
            workers: episodes that ask it at once.
            **options: further ones of the model.

        Raises:
            ChatModelError: when it cannot be opened.
        """
        options |= self._changed("thinking", "thinking_tokens", "chat_template_kwargs")
        if self.local:
            options |= {"batch_size": self.batch_size, "dtype": self.dtype}
        else:
            options |= self.model_dump(include={"grammar_dialect", "timeout", "continue_prefix"})
            options |= self._changed("extra_body", "reasoning_effort")
            options["concurrency"] = self.concurrency or max(_FEWEST_REQUESTS, workers)
            if chosen := {name: getattr(self.sampling, name) for name in self.sampling.set_by_user & _REFUSABLE}:
                options["chosen_sampling"] = chosen
        return open_model(self.model, base_url=self.base_url, adapter=self.adapter, **options)

    def _changed(self, *names: str) -> dict[str, Any]:
        """Those of some settings that are not defaults: kinds of models of other packages may know none of them."""
        fields = type(self).model_fields
        return {
            name: value
            for name in names
            if (value := getattr(self, name)) != fields[name].get_default(call_default_factory=True)
        }
