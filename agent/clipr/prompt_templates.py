"""Prompts of CLIPR and its baselines, from the templates of ``housekeep_configs/clipr/prompts.yaml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from housewise.agent.clipr.language_steps import DialogueTurn, LabelledExample
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.yaml_files import read_yaml
from housewise.language.words import flatten_if_broken
from housewise.worlds.choices.scenario import Situation

PROMPTS = CONFIGS / "clipr" / "prompts.yaml"


class CliprPrompts:
    """Jinja templates by step and role.

    Raises:
        DataError: The file is missing or malformed, or a template uses a variable that its step does not provide.
    """

    def __init__(self, path: Path = PROMPTS) -> None:
        self._path = path
        self._texts: dict[str, Any] = read_yaml(path)
        # Sandboxed, because prompt files may come from other people.
        self._jinja = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, autoescape=False)

    def fill(self, *step: str, **values: object) -> str:
        """Render the template of a step."""
        try:
            text: Any = self._texts
            for part in step:
                text = text[part]
            return self._jinja.from_string(text).render(**values).strip()
        except (KeyError, TypeError, TemplateError) as error:
            raise DataError(
                f"{self._path}: {'.'.join(step)}: {type(error).__name__} {error}; correct the prompt"
            ) from error

    def scenarios(self, situations: Sequence[Situation]) -> str:
        """Format situations as numbered scenario blocks."""
        return self.fill("scenario", situations=situations)

    def answers(self, answers: Sequence[LabelledExample]) -> str:
        """Format labelled examples as scenario blocks with the correct action."""
        return "\n".join(
            f"{self.scenarios([each.situation])}\nWanted: {each.situation.actions[each.action]}\n" for each in answers
        )


def format_transcript(dialogue: Sequence[DialogueTurn]) -> str:
    """Format a dialogue as plain text with roles, one line per utterance."""
    turns = (
        (flatten_if_broken(exchange.question), flatten_if_broken(exchange.answer) or "(silence)")
        for exchange in dialogue
    )
    return "\n".join(f"Robot: {question}\nPerson: {answer}" for question, answer in turns)
