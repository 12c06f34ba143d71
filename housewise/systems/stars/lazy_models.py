"""The models of STARS as completion models that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from housewise.core.errors import UserError
from housewise.language.base import ChatModel
from housewise.language.completion import (
    CompletesTexts,
    CompletionModel,
    Continuation,
    GenerationLimits,
    TextScore,
    TextScorer,
    Token,
)
from housewise.language.completion_by_chat import ChatCompletionModel
from housewise.language.settings import ModelSettings
from housewise.rollout.metered_models import MeteredCompletionModel, MeteredModel
from housewise.rollout.models import LazyChatModel


class LazyCompletionModel:
    """A completion model that is loaded when it is first used; see CompletionModel.

    Args:
        name: Name of the model.
        open: Loads the model.
    """

    def __init__(self, name: str, open: Callable[[], CompletionModel]) -> None:
        self.name = name
        self._open = open

    @cached_property
    def _model(self) -> CompletionModel:
        return self._open()

    @property
    def can_branch(self) -> bool:
        """See CompletionModel.can_branch."""
        return self._model.can_branch

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See CompletionModel.extend."""
        return self._model.extend(prompt, branches, bounds)

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See CompletionModel.sample."""
        return self._model.sample(prompt, count, temperature, bounds)

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See CompletionModel.answer."""
        return self._model.answer(system, questions)

    def score_texts(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """See TextScorer.score_texts.

        Raises:
            UserError: The model cannot rate texts.
        """
        model = self._model
        if not isinstance(model, TextScorer):
            raise UserError(
                f"model {self.name}: it cannot rate texts, which the grounded condition requires; use a local model"
            )
        return model.score_texts(prompt, texts)


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
        if local is not None:
            return MeteredCompletionModel(local, model.label, model.meter) if isinstance(model, MeteredModel) else local
        if isinstance(model, MeteredModel):
            opened = MeteredModel(opened, model.label, model.meter)
        return ChatCompletionModel(opened, instruction, settings.local or settings.continue_prefix, seed)

    return LazyCompletionModel(model.name, open_it)


def _completion_of_local(opened: ChatModel, seed: int) -> CompletionModel | None:
    """Return the completion model of a local model, on this machine or another; None for other chat models."""
    from housewise.language.local.completion import LocalCompletionModel
    from housewise.language.local.model import LocalChatModel

    if isinstance(opened, LocalChatModel):
        return LocalCompletionModel(opened, seed)
    return opened.completion_model(seed) if isinstance(opened, CompletesTexts) else None
