"""What does the language steps in CLIPR's experiments: local components, or a chat model."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from housewise.agent.clipr.language import Language
from housewise.agent.clipr.local.components import LocalComponents
from housewise.language.embedder import Embedder


class Components(str, Enum):
    """What does the language steps."""

    local = "local"
    chat = "chat"


def language_opener(components: Components, model: str, embedder: Embedder) -> Callable[[], Language]:
    """Makes a language of its own for each run, so that its calls are counted from nothing.

    Args:
        components: what does the steps.
        model: of the chat model, as ``housewise.language.open_model`` takes it.
        embedder: of the local components.

    Raises:
        UserError: the model cannot be opened.
    """
    if components is Components.local:
        return lambda: LocalComponents(embedder)
    from housewise.agent.clipr.chat import ChatLanguage
    from housewise.language import open_model

    opened = open_model(model)
    return lambda: ChatLanguage(opened)


def learned_opener(adapter: str | None, embedder: Embedder) -> Callable[[], Language]:
    """Makes local components with choices by the local model, as it comes or with an adapter; see language_opener.

    Raises:
        UserError: the model or the adapter cannot be opened.
    """
    from housewise.agent.clipr.learned import LearnedChoices
    from housewise.language import open_model

    opened = open_model("local", adapter=adapter)
    return lambda: LearnedChoices(embedder, opened)
