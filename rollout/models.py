"""The models that the episodes of a run share, by role."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from housewise.language.base import ChatModel
from housewise.language.settings import ModelSettings
from housewise.rollout.system import System


def model_settings(system: System[Any]) -> dict[str, ModelSettings]:
    """How each model that a system's episodes ask is found, by role."""
    return {role: getattr(system.settings.models, role) for role in system.roles}


def open_models(system: System[Any]) -> dict[str, ChatModel]:
    """The models that a system's episodes ask, by role; roles with the same settings share one.

    Raises:
        ChatModelError: when one cannot be opened; the others are closed again.
    """
    opened: dict[str, ChatModel] = {}
    chosen = model_settings(system)
    with ExitStack() as undone:
        for role, settings in chosen.items():
            twin = next((other for other in opened if chosen[other] == settings), None)
            if twin is not None:
                opened[role] = opened[twin]
                continue
            opened[role] = settings.open(system.settings.execution.workers)
            undone.callback(opened[role].close)
        undone.pop_all()
    return opened


def close_models(models: Mapping[str, ChatModel]) -> None:
    """Release models; each once."""
    for model in {id(each): each for each in models.values()}.values():
        model.close()
