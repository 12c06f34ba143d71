"""Chat models: behind a server, on this machine, or recorded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from housewise.core.plugins import MODELS, open_plugin, plugin_names
from housewise.language.base import ChatModel, ChatModelError, ChatRequest, Message, Reply, Sampling

__all__ = ["ChatModel", "ChatModelError", "ChatRequest", "Message", "Reply", "Sampling", "open_model", "open_served"]


def open_model(
    spec: str, *, base_url: str | None = None, adapter: str | Path | None = None, **options: Any
) -> ChatModel:
    """Open a chat model by name.

    Args:
        spec: ``"local"`` for the bundled model, ``"local:<folder or Hugging Face name>"``, a server's name of a model
            such as ``"gpt-4o"``, or ``"<kind>:<anything>"`` for a kind that another package registers as an entry point
            in ``housewise.models``.
        base_url: Address of the server; defaults to ``$OPENAI_BASE_URL``, then OpenAI's. A kind of another package gets
            it only if it is given.
        adapter: Folder of a PEFT adapter, for local models and kinds of other packages.
        **options: Passed on to whatever opens the model, such as ``LocalChatModel`` or ``OpenAIChatModel``.

    Returns:
        The model, ready to answer.

    Raises:
        ChatModelError: If the model cannot be opened; the message says what to do.
    """
    kind, _, rest = spec.partition(":")
    if kind == "local":
        refuse_address(spec, base_url)
        return open_local(rest, adapter, **options)
    if kind in plugin_names(MODELS):
        if base_url is not None:
            options["base_url"] = base_url
        made: ChatModel = open_plugin(
            MODELS, kind, "kind of model", rest, adapter, needs=("name", "complete", "close"), **options
        )
        return made
    if not spec.strip():
        raise ChatModelError("no model is named; say 'local', 'local:<folder>' or a server's name of a model")
    if adapter is not None:
        raise ChatModelError(f"model {spec}: adapters are for local models; let the server load it, or say 'local'")
    from housewise.language.server.openai import OpenAIChatModel

    return OpenAIChatModel(spec, base_url or os.environ.get("OPENAI_BASE_URL"), **options)


def open_served(name: str, servers: Sequence[str], **options: Any) -> ChatModel:
    """Open a model that one or several servers hold under a name.

    Args:
        name: Name of the model at every server.
        servers: Addresses, which take requests in turn.
        **options: Passed on to ``OpenAIChatModel``.

    Raises:
        ChatModelError: If an address cannot be used.
    """
    from housewise.language.server.openai import OpenAIChatModel
    from housewise.language.server.pool import ChatModelPool

    if not servers:
        raise ChatModelError(f"model {name}: no server is named; set servers to their addresses")
    opened = [OpenAIChatModel(name, url, **options) for url in servers]
    return opened[0] if len(opened) == 1 else ChatModelPool(opened)


def refuse_address(spec: str, base_url: str | None) -> None:
    """Check that a local model has no server address.

    Raises:
        ChatModelError: If an address is given.
    """
    if base_url:
        raise ChatModelError(f"model {spec}: a local model has no base_url; leave it out or name a server's model")


def open_local(name: str, adapter: str | Path | None = None, **options: Any) -> ChatModel:
    """Open a model on this machine; an empty name opens the bundled model."""
    from housewise.language.local.model import LocalChatModel
    from housewise.language.local.smollm2 import SMOLLM2

    return LocalChatModel(name or SMOLLM2, adapter, **options)
