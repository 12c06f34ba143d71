"""The models of STARS as completion models that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from housewise.language.base import ChatModel, RequestError
from housewise.language.completion import (
    CompletesTexts,
    CompletionModel,
    DelegatingCompletionModel,
    require_text_scorer,
)
from housewise.language.completion_by_chat import ChatCompletionModel
from housewise.language.settings import ModelSettings
from housewise.rollout.metered_models import MeteredModel
from housewise.rollout.models import LazyChatModel


class LazyCompletionModel(DelegatingCompletionModel):
    """A completion model that is loaded when it is first used; see CompletionModel.

    Args:
        model: Chat model of the run, which counts the requests if it is metered.
        open: Loads the completion model.
    """

    def __init__(self, model: ChatModel, open: Callable[[], CompletionModel]) -> None:
        self.name = model.name
        self._open = open
        self._metered = model if isinstance(model, MeteredModel) else None

    @cached_property
    def _model(self) -> CompletionModel:
        return self._open()

    @property
    def can_branch(self) -> bool:
        """See CompletionModel.can_branch."""
        return self._model.can_branch

    def _ask(self, method: str, *args: Any) -> list[Any]:
        asked: object = require_text_scorer(self._model) if method == "score_texts" else self._model
        if self._metered is not None:
            self._metered.meter.check()
        try:
            answers: list[Any] = getattr(asked, method)(*args)
        except RequestError as error:
            if self._metered is not None:
                self._metered.count_failure(error)
            raise
        if self._metered is not None:
            self._metered.count(answers)
        return answers


def open_lazy_completion_model(
    model: ChatModel, settings: ModelSettings, instruction: str, seed: int
) -> LazyCompletionModel:
    """Return a completion model on top of a run's chat model.

    Args:
        model: Chat model of the run.
        settings: Settings of the model.
        instruction: System message if the model is a chat model without text continuation.
        seed: Seed for sampling.
    """

    def open_it() -> CompletionModel:
        asked = model.model if isinstance(model, MeteredModel) else model
        opened = asked.model if isinstance(asked, LazyChatModel) else asked
        local = _completion_of_local(opened, seed) if settings.local else None
        continues = settings.local or settings.continue_prefix
        return local or ChatCompletionModel(opened, instruction, continues, seed)

    return LazyCompletionModel(model, open_it)


def _completion_of_local(opened: ChatModel, seed: int) -> CompletionModel | None:
    """Return the completion model of a local model, on this machine or another; None for other chat models."""
    from housewise.language.local.completion import LocalCompletionModel
    from housewise.language.local.model import LocalChatModel

    if isinstance(opened, LocalChatModel):
        return LocalCompletionModel(opened, seed)
    return opened.completion_model(seed) if isinstance(opened, CompletesTexts) else None
