"""Settings of a chat model: how it is found and asked."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any, Literal

from pydantic import Field, field_serializer, field_validator
from pydantic_core import PydanticCustomError

from housewise.core.plugins import MODELS, plugin_names
from housewise.core.redaction import redact_url
from housewise.core.setting_marks import EXECUTION
from housewise.core.settings import MAX_COUNT, Settings
from housewise.language import open_model, open_served, refuse_address
from housewise.language.adapters import AUTO, NONE, check_adapter_exists
from housewise.language.base import ChatModel, Sampling, ServedModel
from housewise.language.gbnf import GrammarDialect
from housewise.language.replies import DEFAULT_THINKING_TOKENS

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
"""Precisions of a local model; ``auto`` is the fastest on this machine."""

_FEWEST_REQUESTS = 8
_REFUSABLE = frozenset({"temperature", "top_p"})
_OWN_FIELDS = frozenset({"model", "messages", "n", "stream", "temperature", "top_p", "max_tokens", "seed", "stop"})
_OWN_FIELDS |= {"max_completion_tokens", "logprobs", "top_logprobs", "chat_template_kwargs", "reasoning_effort"}


class SamplingSettings(Settings):
    """How replies are sampled; see ``language.base.Sampling``."""

    temperature: float = Field(default=1.0, ge=0)
    """Temperature. 0 always takes the most probable token."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Probability mass of the most probable tokens that are sampled from."""
    max_tokens: int = Field(default=256, ge=1, le=MAX_COUNT)
    """Maximum number of tokens of a reply."""
    n: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of replies per request."""

    def with_seed(self, seed: int) -> Sampling:
        """Return the sampling of requests with a seed."""
        return Sampling(**self.model_dump(), seed=seed)


class ModelSettings(Settings):
    """Settings of a chat model. A server that has moved counts as the same model."""

    model: str = "local"
    """local (the bundled model), local:FOLDER or local:NAME (of Hugging Face), or the name of a model at an
    OpenAI-compatible server."""
    base_url: Annotated[str | None, EXECUTION] = Field(default=None, repr=False)
    """Address of the server. A password in it is used but never stored."""
    adapter: str | None = None
    """Adapter of a local model: a folder, the name of a bundled adapter, none, or auto (the bundled adapter if it fits
    system, model and prompt)."""
    sampling: SamplingSettings = SamplingSettings()
    grammar_dialect: GrammarDialect = "vllm"
    """Grammar format of the server."""
    continue_prefix: bool = False
    """Whether the server can continue an assistant's turn."""
    thinking: bool = False
    """Whether the model thinks before it answers. If false, the first reply with thoughts tells."""
    thinking_tokens: int = Field(default=DEFAULT_THINKING_TOKENS, ge=0, le=MAX_COUNT)
    """Added to max_tokens for a model that thinks."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of requests to the server, such as top_k. They are stored with a run, so do not put keys here."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the model's chat template, such as enable_thinking."""
    fold_system: bool = False
    """Whether the system message becomes part of the first user turn for a server, as for models whose chat template
    ignores system messages. If false, a server's refusal tells."""
    reasoning_effort: str | None = None
    """How long a reasoning model at a server thinks, such as low."""
    batch_size: Annotated[int, EXECUTION] = Field(default=16, ge=1, le=MAX_COUNT)
    """Number of replies that a local model generates at once."""
    dtype: Dtype = "auto"
    """Precision of a local model. auto is the fastest on this machine."""
    weights: str | None = None
    """Digest of the weights of a local model's adapter, or of its own, while servers hold it. A self-training sets it,
    served_as and servers."""
    served_as: Annotated[str | None, EXECUTION] = None
    """Name under which servers hold a local model with its adapter. null runs the model in this program."""
    servers: Annotated[tuple[str, ...], EXECUTION] = Field(default=(), repr=False)
    """Addresses of the servers that hold a local model. They take requests in turn."""
    concurrency: Annotated[int | None, EXECUTION] = Field(default=None, ge=1, le=MAX_COUNT)
    """Number of concurrent requests to a server. null is the number of workers, but at least 8."""
    timeout: Annotated[float, EXECUTION] = Field(default=60.0, gt=0)
    """Maximum seconds of one attempt to reach a server."""

    @field_serializer("base_url")
    def _redact_base_url(self, base_url: str | None) -> str | None:
        """Return the address that is stored and compared; the connection uses the full one."""
        return base_url and redact_url(base_url)

    @field_serializer("servers")
    def _redact_servers(self, servers: tuple[str, ...]) -> list[str]:
        return [redact_url(url) for url in servers]

    @field_validator("adapter")
    @classmethod
    def _normalize_adapter(cls, adapter: str | None) -> str | None:
        # OmegaConf parses null in key=value texts; command-line options do not.
        return None if adapter in (AUTO, NONE, "null") else adapter

    @field_validator("extra_body")
    @classmethod
    def _check_extra_body(cls, extra_body: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_OWN_FIELDS & extra_body.keys()):
            raise PydanticCustomError(
                "own_field",
                "{names} is set by Housewise or by its own setting; leave it out",
                {"names": ", ".join(taken)},
            )
        return extra_body

    @property
    def is_named(self) -> bool:
        """Whether a model is named, and not the bundled one without an adapter."""
        return (self.model, self.base_url, self.adapter) != ("local", None, None)

    @property
    def local(self) -> bool:
        """Whether the model runs in this program."""
        return self.model.partition(":")[0] == "local" and self.served_as is None

    def check(self) -> None:
        """Check that the model exists, without loading it; a server is asked for its models.

        Raises:
            ChatModelError: If it does not exist; the message says what to do.
        """
        if self.adapter is not None:
            check_adapter_exists(self.adapter)
        if self.local:
            refuse_address(self.model, self.base_url)
            from housewise.language.local.weights import check_model_exists

            check_model_exists(self.model.partition(":")[2])
        elif self.served_as is not None or self.model.partition(":")[0] not in plugin_names(MODELS):
            with closing(self.open()) as model:
                if isinstance(model, ServedModel):
                    model.check()

    def open(self, workers: int = 1, **options: Any) -> ChatModel:
        """Open the model.

        Args:
            workers: Number of episodes that ask it at once.
            **options: Further options of the model.

        Raises:
            ChatModelError: If it cannot be opened.
        """
        options |= self._non_default_values("thinking", "thinking_tokens", "chat_template_kwargs")
        if self.local:
            options |= {"batch_size": self.batch_size, "dtype": self.dtype}
        else:
            options |= self.model_dump(include={"grammar_dialect", "timeout", "continue_prefix"})
            options |= self._non_default_values("extra_body", "reasoning_effort", "fold_system")
            options["concurrency"] = self.concurrency or max(_FEWEST_REQUESTS, workers)
            if chosen := {name: getattr(self.sampling, name) for name in self.sampling.set_by_user & _REFUSABLE}:
                options["chosen_sampling"] = chosen
        if self.served_as is not None:
            return open_served(self.served_as, self.servers, **options)
        return open_model(self.model, base_url=self.base_url, adapter=self.adapter, **options)

    def _non_default_values(self, *names: str) -> dict[str, Any]:
        """Return the settings that differ from their defaults; models of other packages may not accept all."""
        fields = type(self).model_fields
        return {
            name: value
            for name in names
            if (value := getattr(self, name)) != fields[name].get_default(call_default_factory=True)
        }
