"""The models that the episodes of a run share, by role."""

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
    """A chat model that is opened when it is first asked; any number of threads may ask.

    Args:
        name: of the model, as settings name it.
        open: opens it.
    """

    def __init__(self, name: str, open: Callable[[], ChatModel]) -> None:
        self.name = name
        self._open = open
        self._opened: ChatModel | None = None
        self._closed = False
        self._opening = threading.Lock()

    @property
    def model(self) -> ChatModel:
        """The model itself.

        Raises:
            ChatModelError: when it cannot be opened, or has been closed.
        """
        with self._opening:
            if self._closed:
                raise ChatModelError(f"model {self.name}: it has been closed; open it again")
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See ChatModel.complete."""
        return self.model.complete(requests)

    def forget(self) -> None:
        """Drop what the model keeps of earlier prompts; one that was never asked is not opened for it."""
        if self._opened is not None:
            forget_prompts({"": self._opened})

    def close(self) -> None:
        """See ChatModel.close; one that was never asked is not opened for it."""
        self._closed = True
        if self._opened is not None:
            self._opened.close()


def model_settings(system: System[Any]) -> dict[str, ModelSettings]:
    """How each model that a system's episodes ask is found, by role."""
    return {role: getattr(system.settings.models, role) for role in system.roles}


def check_models(system: System[Any]) -> None:
    """See that the models that a system's episodes ask are there, without loading them.

    Raises:
        ChatModelError: One is not; the message says what to do.
    """
    if system.lazy_models:
        # They may never be asked.
        return
    chosen = model_settings(system)
    for settings in {repr(dict(each)): each for each in chosen.values()}.values():
        settings.check()


def open_models(system: System[Any]) -> dict[str, ChatModel]:
    """The models that a system's episodes ask, by role; roles with the same settings share one.

    Raises:
        ChatModelError: when one cannot be opened; the others are closed again.
    """
    opened: dict[str, ChatModel] = {}
    chosen = model_settings(system)
    with ExitStack() as undone:
        for role, settings in chosen.items():
            twin = next((other for other in opened if dict(chosen[other]) == dict(settings)), None)
            if twin is not None:
                opened[role] = opened[twin]
                continue
            open_it = partial(settings.open, system.settings.execution.workers)
            opened[role] = LazyChatModel(settings.model, open_it) if system.lazy_models else open_it()
            undone.callback(opened[role].close)
        undone.pop_all()
    return opened


@runtime_checkable
class _KeepsPrompts(Protocol):
    """A model that keeps what it has read of prompts, to read it once."""

    def forget(self) -> None: ...


def forget_prompts(models: Mapping[str, ChatModel]) -> None:
    """Have models drop what they keep of earlier prompts, so that replies do not depend on what was asked before.

    A prompt of which a part has been read before is computed in other steps, whose rounding differs.
    """
    for model in models.values():
        if isinstance(model, _KeepsPrompts):
            model.forget()


def close_models(models: Mapping[str, ChatModel]) -> None:
    """Release models; each once."""
    for model in {id(each): each for each in models.values()}.values():
        model.close()
