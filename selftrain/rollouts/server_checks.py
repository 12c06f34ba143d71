"""Checks, before an episode is played, that vLLM can serve an adapter and that the servers of a user fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.text_files import read_json
from housewise.core.urls import is_loopback
from housewise.language.server.lora_server import LoraServer


def check_servers(urls: Sequence[str]) -> None:
    """Check that servers answer, and that all have the same name for the base model.

    Args:
        urls: Their addresses.

    Raises:
        UserError: They do not; runs ask all of them by one name.
    """
    names: dict[str, str] = {}
    for url in urls:
        with closing(LoraServer(url)) as server:
            names[server.address] = server.base_model().id
            if not is_loopback(url):
                print_note(
                    f"{server.address}: is not on this machine; whoever reaches a server that loads adapters can make "
                    "it read files, so keep it in a private network"
                )
    if len(set(names.values())) > 1:
        listed = ", ".join(f"{name} at {address}" for address, name in names.items())
        raise UserError(
            f"rollouts.servers: the base model has several names ({listed}); start all servers with the same "
            "--served-model-name"
        )


def check_servable(folder: Path) -> None:
    """Check that vLLM can serve an adapter.

    Raises:
        UserError: It cannot.
    """
    config: Mapping[str, Any] = read_json(folder / "adapter_config.json")
    for key in ("use_dora", "modules_to_save"):
        if config.get(key):
            raise UserError(
                f"{folder}: vLLM serves no adapter with {key}; start from a plain LoRA adapter, or set "
                "rollouts.engine=local"
            )
