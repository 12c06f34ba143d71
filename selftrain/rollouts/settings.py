"""Settings of rollouts: which engine answers while episodes are played."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_serializer, field_validator

from housewise.core.errors import UserError
from housewise.core.redaction import redact_url
from housewise.core.setting_effects import list_marked_settings
from housewise.core.setting_marks import Affects
from housewise.core.settings import MAX_COUNT, Command, Settings
from housewise.core.urls import is_web_url

_SERVER = re.compile(r"/v1/?$")
_IF_VLLM = Affects("execution", needs=("engine", "vllm"))


class RolloutsConfig(Settings):
    """Which engine answers while episodes are played."""

    engine: Literal["local", "vllm"] = "local"
    """local (the model runs in this program) or vllm (the adapter of each phase is loaded into vLLM servers; training
    runs in a process of its own)."""
    servers: Annotated[tuple[str, ...], _IF_VLLM] = Field(default=(), repr=False)
    """vllm: Addresses of running servers, such as http://localhost:8000/v1. If empty, a server is started for the
    rollouts of every phase and stopped before the next training, or sleeps meanwhile (while_training)."""
    command: Annotated[Command, _IF_VLLM] = "vllm"
    """vllm: Program that is started with serve MODEL and options."""
    options: Annotated[tuple[str, ...], _IF_VLLM] = ()
    """vllm: Further options of the server that is started, such as [--gpu-memory-utilization, '0.85']."""
    max_model_len: Annotated[int | None, _IF_VLLM] = Field(default=None, ge=1, le=MAX_COUNT)
    """vllm: Maximum number of tokens of a prompt with its reply at the server that is started. null is the model's
    own."""
    while_training: Annotated[Literal["stop", "sleep"], _IF_VLLM] = "stop"
    """vllm: What the server that is started does while a model is trained, which needs its GPU memory: stop, or sleep
    (vLLM's sleep mode: it need not be started anew, its weights wait in the main memory, and it keeps a part of its GPU
    memory)."""
    start_seconds: Annotated[float, _IF_VLLM] = Field(default=900.0, gt=0)
    """vllm: Maximum seconds until the server that is started answers."""
    checked_pairs: Annotated[int, _IF_VLLM] = Field(default=20, ge=1, le=MAX_COUNT)
    """vllm: Number of prompts with replies whose log-probabilities are compared before the rollouts of a phase."""
    max_difference: Annotated[float, _IF_VLLM] = Field(default=0.1, gt=0)
    """vllm: Largest mean difference of a token's log-probability between trainer and server, without the adapter."""

    @property
    def unused_keys(self) -> list[str]:
        """Keys of the settings that the user set and that have no effect with this engine."""
        marked = list_marked_settings(self)
        return [self.key(each.key) for each in marked if each.key in self.set_by_user and not each.is_active]

    @field_validator("servers")
    @classmethod
    def _check_servers(cls, servers: tuple[str, ...]) -> tuple[str, ...]:
        for url in servers:
            if not is_web_url(url) or not _SERVER.search(url):
                raise ValueError(f"{redact_url(url)!r} is not the address of a server; write http://HOST:PORT/v1")
        return servers

    @field_serializer("servers")
    def _redact_servers(self, servers: tuple[str, ...]) -> list[str]:
        return [redact_url(url) for url in servers]


def parse_rollouts(text: str | None) -> dict[str, Any]:
    """Return the settings that the option ``--rollouts ENGINE[=URL,URL]`` stands for.

    Raises:
        UserError: The text names no engine.
    """
    if text is None:
        return {}
    engine, equals, addresses = text.partition("=")
    servers = [url.strip() for url in addresses.split(",") if url.strip()]
    if engine not in ("local", "vllm") or (equals and engine == "local"):
        raise UserError(f"--rollouts {engine}: no such engine; use local, vllm, or vllm=URL of a running server")
    if equals and not servers:
        raise UserError(f"--rollouts {text}: names no server; use vllm=http://HOST:PORT/v1, or vllm to start one")
    return {"engine": engine, "servers": servers}
