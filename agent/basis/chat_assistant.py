"""An assistant that is a chat model (paper, appendix A.1, Lists 2 to 4): proactive, answering or correcting."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from housewise.agent.basis.views import AssistantTurn, AssistantView
from housewise.core.configs import CONFIGS
from housewise.core.template_text import Template, template_text
from housewise.core.validation import StrictModel, read_model
from housewise.language.base import ChatModel, ChatRequest, Message, Sampling
from housewise.language.gbnf import REPLY, rule
from housewise.language.history_fitting import complete_with_history
from housewise.people.lab.chat_user import PAPER_SAMPLING, PromptSize
from housewise.people.lab.reply_tags import read_tag, remove_ids, tagged_rule, unquote
from housewise.worlds.lab.history import clip_speech

Mode = Literal["proactive", "answering", "correction"]
"""Which system prompt is used: after the person spoke *answering*, after a failed action *correction*."""

_SILENCE = re.compile(r"\W*(n/?a|none|silent|silence|\(silent\))?\W*", re.IGNORECASE)
_SPEECH = r'("N/A" | "\"" [^"\n<>]{1,400} "\"")'


class _Reminders(StrictModel):
    proactive: str
    answering: str
    correction: str


class AssistantPrompts(Template):
    """Prompt templates of the assistant."""

    proactive: str = template_text("role", "rules", "format")
    answering: str = template_text("role", "rules", "format")
    correction: str = template_text("role", "rules", "format")
    role: str = template_text()
    rules: str = template_text()
    format: str = template_text()
    format_without_reasoning: str = template_text()
    interaction: str = template_text("knowledge", "environment", "state", "observation", "history", "reminder")
    no_knowledge: str = template_text()
    reminders: _Reminders


@lru_cache(maxsize=2)
def load_assistant_prompts(size: PromptSize) -> AssistantPrompts:
    """Load the bundled prompts.

    Raises:
        DataError: The file is malformed.
    """
    name = "assistant" if size == "full" else "assistant_compact"
    return read_model(CONFIGS / "basis" / "prompts" / f"{name}.yaml", AssistantPrompts)


class ChatAssistant:
    """An ``Assistant`` that is a chat model. It is the oracle with ``perception=truth`` and all knowledge.

    Args:
        model: The chat model. The caller closes it.
        size: Which prompts to use.
        sampling: How replies are sampled; the default is the paper's.
        uses_grammar: Whether the reply is held to the grammar of a thought and a sentence.
        reasons: Whether it is asked for a thought before what it says.
    """

    def __init__(
        self,
        model: ChatModel,
        size: PromptSize = "full",
        sampling: Sampling = PAPER_SAMPLING,
        uses_grammar: bool = False,
        reasons: bool = True,
    ) -> None:
        self._model, self._sampling, self._reasons = model, sampling, reasons
        self._prompts = load_assistant_prompts(size)
        self._grammar = rule(REPLY, tagged_rule("Speak", _SPEECH, reasons)) if uses_grammar else None

    def turn(self, view: AssistantView) -> AssistantTurn:
        """See ``Assistant.turn``."""

        def build(history: str) -> ChatRequest:
            seen = replace(view, history_text=history)
            return ChatRequest(self.messages(seen), self._sampling, grammar=self._grammar)

        reply = complete_with_history(self._model, view.history_text, build)
        speech = read_speech(read_tag(reply, "Speak"))
        return AssistantTurn(reply.thoughts.strip(), speech or None, speech is not None, reply.usage)

    def messages(self, view: AssistantView) -> tuple[Message, ...]:
        """Return the prompt of a turn."""
        return assistant_messages(self._prompts, view, self._reasons)


def assistant_messages(prompts: AssistantPrompts, view: AssistantView, reasons: bool = True) -> tuple[Message, ...]:
    """Return the prompt of a turn: a system prompt by its mode, and what the assistant knows.

    Args:
        prompts: Templates.
        view: What the assistant knows.
        reasons: Whether it is asked for a thought before what it says.
    """
    mode, form = choose_mode(view), prompts.format if reasons else prompts.format_without_reasoning
    parts = {"role": prompts.role.strip(), "rules": prompts.rules.strip(), "format": form.strip()}
    system = getattr(prompts, mode).format(**parts)
    interaction = prompts.interaction.format(
        knowledge=view.knowledge.cards or ("" if view.knowledge.environment else prompts.no_knowledge),
        environment=view.knowledge.environment,
        state=view.state_text,
        observation=view.observation,
        history=view.history_text,
        reminder=getattr(prompts.reminders, mode),
    )
    return (Message("system", system.strip()), Message("user", interaction.strip()))


def choose_mode(view: AssistantView) -> Mode:
    """Return which system prompt a turn needs."""
    if view.last_verb == "Speak":
        return "answering"
    return "proactive" if view.last_succeeded else "correction"


def read_speech(text: str | None) -> str | None:
    """Return what a reply says: an empty text for silence, None if it could not be read."""
    if text is None:
        return None
    spoken = unquote(text)
    return "" if _SILENCE.fullmatch(spoken) else clip_speech(remove_ids(spoken))
