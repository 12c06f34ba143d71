"""The models of STARS as texts that go on, opened when one is first asked: what is known needs none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from housewise.core.errors import UserError
from housewise.language.base import ChatModel
from housewise.language.completion import CompletionModel, Continuation, GenerationLimits, TextScore, TextScorer, Token
from housewise.language.completion_by_chat import ChatCompletionModel
from housewise.language.settings import ModelSettings
from housewise.rollout.metered_models import MeteredCompletionModel, MeteredModel
from housewise.rollout.models import LazyChatModel


class LazyCompletionModel:
    """A model that goes on with texts and is opened when it is first asked; see Continuer.

    Args:
        name: of the model.
        open: opens it.
    """

    def __init__(self, name: str, open: Callable[[], CompletionModel]) -> None:
        self.name = name
        self._open = open

    @cached_property
    def _opened(self) -> CompletionModel:
        return self._open()

    @property
    def branches(self) -> bool:
        """See Continuer."""
        return self._opened.branches

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See Continuer."""
        return self._opened.extend(prompt, branches, bounds)

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See Continuer."""
        return self._opened.sample(prompt, count, temperature, bounds)

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See Continuer."""
        return self._opened.answer(system, questions)

    def rate(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """See Rater.

        Raises:
            UserError: when the model is none.
        """
        model = self._opened
        if not isinstance(model, TextScorer):
            raise UserError(
                f"model {self.name}: it does not rate texts, as the grounded condition asks; use a local one"
            )
        return model.rate(prompt, texts)


def open_lazy_completion_model(
    model: ChatModel, settings: ModelSettings, instruction: str, seed: int
) -> LazyCompletionModel:
    """A chat model of a run as one that goes on with texts.

    Args:
        model: of the run.
        settings: how it was found.
        instruction: what it is told where it answers in turns.
        seed: of what it draws.
    """

    def open_it() -> CompletionModel:
        asked = model.model if isinstance(model, MeteredModel) else model
        opened = asked.model if isinstance(asked, LazyChatModel) else asked
        if settings.local:
            from housewise.language.local.completion import LocalCompletionModel
            from housewise.language.local.model import LocalChatModel

            if isinstance(opened, LocalChatModel):
                local = LocalCompletionModel(opened, seed)
                if isinstance(model, MeteredModel):
                    return MeteredCompletionModel(local, model.label, model.meter)
                return local
        if isinstance(model, MeteredModel):
            opened = MeteredModel(opened, model.label, model.meter)
        return ChatCompletionModel(opened, instruction, settings.local or settings.continue_prefix, seed)

    return LazyCompletionModel(model.name, open_it)
