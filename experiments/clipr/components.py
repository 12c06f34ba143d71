"""What does the language steps in CLIPR's experiments: local components, or a chat model."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path

from housewise.agent.clipr.language import Language
from housewise.agent.clipr.local.components import OPEN_QUESTIONS, LocalComponents
from housewise.language.embedder import Embedder


class Components(str, Enum):
    """What does the language steps."""

    local = "local"
    chat = "chat"


Opener = Callable[[str], Language]
"""Makes a language for a data set of some name."""


def language_opener(components: Components, model: str, embedder: Embedder) -> Opener:
    """Makes a language of its own for each run, so that its calls are counted from nothing.

    Args:
        components: what does the steps.
        model: of the chat model, as ``housewise.language.open_model`` takes it.
        embedder: of the local components.

    Raises:
        UserError: the model cannot be opened.
    """
    if components is Components.local:
        return lambda data: LocalComponents(embedder, open_questions=_open_questions(data))
    from housewise.agent.clipr.chat import ChatLanguage
    from housewise.language import open_model

    opened = open_model(model)
    return lambda data: ChatLanguage(opened)


def learned_opener(adapter: str | None, embedder: Embedder) -> Opener:
    """Makes local components with choices by the local model, as it comes or with an adapter; see language_opener.

    Raises:
        UserError: the model or the adapter cannot be opened.
    """
    from housewise.agent.clipr.learned import LearnedChoices
    from housewise.language import open_model

    opened = open_model("local", adapter=adapter)
    return lambda data: LearnedChoices(embedder, opened)


def _open_questions(data: str) -> Path:
    """What GATE asks about a data set: questions of its own, or those about food and the kitchen."""
    own = OPEN_QUESTIONS.with_stem(f"{OPEN_QUESTIONS.stem}_{data}")
    return own if data and own.is_file() else OPEN_QUESTIONS
