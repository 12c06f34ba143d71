"""What does the language steps in CLIPR's experiments: local components, or a chat model."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from housewise.agent.clipr.language_steps import LanguageSteps
from housewise.agent.clipr.local_steps.local_components import OPEN_QUESTIONS, LocalComponents
from housewise.language.adapters import adapter_fingerprint
from housewise.language.base import ChatModel
from housewise.language.cached_chat_model import CachedChatModel
from housewise.language.embedder import Embedder


class Components(str, Enum):
    """What does the language steps."""

    local = "local"
    chat = "chat"


Opener = Callable[[str], LanguageSteps]
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
    from housewise.agent.clipr.chat_steps import ChatSteps
    from housewise.language import open_model

    opened = open_model(model)
    return lambda data: ChatSteps(opened)


def learned_opener(adapter: str | None, embedder: Embedder, kept: Path | None = None) -> Opener:
    """Makes local components with choices by the local model, as it comes or with an adapter; see language_opener.

    Choices are counted as calls, and yet the same rules in the same situation are read once.

    Args:
        adapter: of the local model.
        embedder: of the local components.
        kept: folder in which its replies are kept, so that what was stopped goes on.

    Raises:
        UserError: the model or the adapter cannot be opened, or what was kept cannot be read.
    """
    from housewise.agent.clipr.finetuned_chooser import FineTunedChooser
    from housewise.language import open_model

    model = kept_replies(open_model("local", adapter=adapter), adapter, kept)
    return lambda data: FineTunedChooser(embedder, model)


def kept_replies(model: ChatModel, adapter: str | None, folder: Path | None) -> CachedChatModel:
    """A chat model whose replies are kept, apart from those with other adapters.

    Args:
        model: that replies.
        adapter: that it was opened with.
        folder: in which replies are kept, so that what was stopped goes on; None keeps them as long as this object.

    Raises:
        UserError: the adapter, or what was kept, cannot be read.
    """
    taught = json.dumps(adapter_fingerprint(adapter)) if adapter else ""
    return CachedChatModel(model, taught, folder / "replies.jsonl" if folder else None)


def _open_questions(data: str) -> Path:
    """What GATE asks about a data set: questions of its own, or those about food and the kitchen."""
    own = OPEN_QUESTIONS.with_stem(f"{OPEN_QUESTIONS.stem}_{data}")
    return own if data and own.is_file() else OPEN_QUESTIONS


KeptOption = Annotated[
    Path | None, typer.Option("--out", help="Folder for what the local model replies: the same command goes on there.")
]
