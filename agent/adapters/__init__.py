"""Adapters for local models: those that come with the package, by name, and any other, by folder."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from agent.models.base import ChatModelError

WORDING = "housewise.json"
"""File in an adapter's folder that names the prompt template it was trained with."""


def packaged_adapters() -> dict[str, Path]:
    """Folders of the adapters that come with the package, by name."""
    folders = Path(str(resources.files(__name__))).iterdir()
    return {folder.name: folder for folder in sorted(folders) if (folder / "adapter_config.json").is_file()}


def adapter_folder(name: str | Path) -> Path:
    """Where an adapter is.

    Args:
        name: of one that comes with the package, or a folder; a folder wins.
    """
    folder = Path(name).expanduser()
    return folder if folder.exists() else packaged_adapters().get(str(name), folder)


def trained_prompt(adapter: str | Path | None) -> str | None:
    """The prompt template that an adapter was trained with, None where nothing tells.

    Raises:
        ChatModelError: when its file is damaged.
    """
    if adapter is None:
        return None
    path = adapter_folder(adapter) / WORDING
    if not path.is_file():
        return None
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["prompt"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ChatModelError(f'{path}: does not tell a prompt template; write {{"prompt": "planner"}}') from error
