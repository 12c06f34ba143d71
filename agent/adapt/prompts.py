"""Prompt templates of the text kitchen, loaded from YAML."""

from __future__ import annotations

from pathlib import Path

from pydantic import ConfigDict

from housewise.core.configs import CONFIGS
from housewise.core.template_text import Template, template_text
from housewise.core.validation import read_model

PROMPTS = CONFIGS / "adapt" / "prompts.yaml"
SHORT_PROMPTS = CONFIGS / "adapt" / "short.yaml"  # templates that small models are fine-tuned with


class AdaptPrompts(Template):
    """Prompt templates. An empty template is omitted from the prompt."""

    model_config = ConfigDict(str_strip_whitespace=True)

    robot: str = template_text("ask")
    ask: str = template_text()
    always: str = template_text()
    think: str = template_text()
    house: str = template_text("layout")
    known: str = template_text("known")
    unknown: str = template_text()
    task: str = template_text("task")
    answer: str = template_text("answer")
    failed: str = template_text("observation")
    made: str = template_text("made")
    next_: str = template_text("task", alias="next")
    reflect: str = template_text("own", "other")
    person: str = template_text("task", "wishes", "things")


def find_prompts(named: str | None) -> Path:
    """Return the template file that a setting names: ``short``, a path, or the default for None."""
    if named is None:
        return PROMPTS
    return SHORT_PROMPTS if named == "short" else Path(named)


def load_prompts(path: Path = PROMPTS) -> AdaptPrompts:
    """Load the templates of a file.

    Raises:
        DataError: The file is malformed. The message names the file, the template and the problem.
    """
    return read_model(path, AdaptPrompts)
