"""Prompt templates of the text kitchen, loaded from YAML."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel, read_model

PROMPTS = CONFIGS / "adapt" / "prompts.yaml"
SHORT_PROMPTS = CONFIGS / "adapt" / "short.yaml"  # templates that small models are fine-tuned with
_FIELDS = {
    "robot": {"ask"},
    "house": {"layout"},
    "known": {"known"},
    "task": {"task"},
    "answer": {"answer"},
    "failed": {"observation"},
    "made": {"made"},
    "next": {"task"},
    "reflect": {"own", "other"},
    "person": {"task", "wishes", "things"},
}


class AdaptPrompts(StrictModel):
    """Prompt templates. ``_FIELDS`` lists the placeholders of each. An empty template is omitted from the prompt."""

    robot: str
    ask: str
    always: str
    think: str
    house: str
    known: str
    unknown: str
    task: str
    answer: str
    failed: str
    made: str
    next_: str = Field(alias="next")
    reflect: str
    person: str

    @field_validator("*")
    @classmethod
    def _can_be_filled_in(cls, text: str, info: ValidationInfo) -> str:
        known = _FIELDS.get((info.field_name or "").rstrip("_"), set())
        try:
            text.format(**dict.fromkeys(known, ""))
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ValueError(f"cannot be filled in ({error}); available: {', '.join(sorted(known))}") from error
        return text.strip()


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
