"""Opens, checks and closes the chat models that the episodes of a run share, by role."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Protocol, runtime_checkable

from housewise.language.base import ChatModel, ChatModelError, ChatRequest, Reply
from housewise.language.settings import ModelSettings
from housewise.rollout.system import System


class LazyChatModel:
    """A chat model that is opened by its first request; thread-safe.

    Args:
        name: Name of the model, as in the settings.
        open: Opens the model.
    """

    def __init__(self, name: str, open: Callable[[], ChatModel]) -> None:
        self.name = name
        self._open = open
        self._opened: ChatModel | None = None
        self._closed = False
        self._opening = threading.Lock()

    @property
    def model(self) -> ChatModel:
        """The opened model.

        Raises:
            ChatModelError: The model cannot be opened, or has been closed.
        """
        with self._opening:
            if self._closed:
                raise ChatModelError(f"model {self.name}: it has been closed; open it again")
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See `ChatModel.complete`."""
        return self.model.complete(requests)

    def clear_cache(self) -> None:
        """Drop the cached prompts of the model if it has been opened."""
        if self._opened is not None:
            forget_prompts({"": self._opened})

    def close(self) -> None:
        """Close the model if it has been opened."""
        self._closed = True
        if self._opened is not None:
            self._opened.close()


def model_settings(system: System[Any]) -> dict[str, ModelSettings]:
    """Return the settings of the models that a system's episodes ask, by role."""
    return {role: getattr(system.settings.models, role) for role in system.roles}


def check_models(system: System[Any]) -> None:
    """Check that the models of a system are available, without loading them.

    Raises:
        ChatModelError: A model is not available.
    """
    if system.lazy_models:
        # Lazy models may never be asked.
        return
    chosen = model_settings(system)
    for settings in {repr(dict(each)): each for each in chosen.values()}.values():
        settings.check()


def first_roles(chosen: Mapping[str, ModelSettings]) -> dict[str, str]:
    """Return for each role the first one with equal settings, whose model it shares."""
    return {role: next(each for each in chosen if dict(chosen[each]) == dict(chosen[role])) for role in chosen}


def open_models(system: System[Any]) -> dict[str, ChatModel]:
    """Open the models of a system and return them by role. Roles with equal settings share one model.

    Raises:
        ChatModelError: A model cannot be opened. Models that were opened before it are closed.
    """
    opened: dict[str, ChatModel] = {}
    chosen = model_settings(system)
    first = first_roles(chosen)
    with ExitStack() as undone:
        for role, settings in chosen.items():
            if first[role] != role:
                opened[role] = opened[first[role]]
                continue
            open_it = partial(settings.open, system.settings.execution.workers)
            opened[role] = LazyChatModel(settings.model, open_it) if system.lazy_models else open_it()
            undone.callback(opened[role].close)
        undone.pop_all()
    return opened


@runtime_checkable
class _KeepsPrompts(Protocol):
    """A model that caches prompts."""

    def clear_cache(self) -> None: ...


def forget_prompts(models: Mapping[str, ChatModel]) -> None:
    """Drop the cached prompts of models, so that replies do not depend on earlier requests.

    A prompt with a cached prefix is computed in different steps, whose rounding differs.
    """
    for model in models.values():
        if isinstance(model, _KeepsPrompts):
            model.clear_cache()


def close_models(models: Mapping[str, ChatModel]) -> None:
    """Close each model once."""
    for model in {id(each): each for each in models.values()}.values():
        model.close()
