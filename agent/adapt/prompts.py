"""The words that language models read in the text kitchen, as YAML."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from housewise.core.configs import CONFIGS
from housewise.worlds.kitchen.kitchen_data import read_model

PROMPTS = CONFIGS / "adapt" / "prompts.yaml"
SHORT_PROMPTS = CONFIGS / "adapt" / "short.yaml"  # for small models, which are trained with it
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


class AdaptPrompts(BaseModel):
    """Templates; what may stand in braces is in ``_FIELDS``. One that is empty is left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
            raise ValueError(f"cannot be filled in ({error}); known here: {', '.join(sorted(known))}") from error
        return text.strip()


def find_prompts(named: str | None) -> Path:
    """The file of templates that a setting names: ``short``, a file of the user's own, or None for the usual one."""
    if named is None:
        return PROMPTS
    return SHORT_PROMPTS if named == "short" else Path(named)


def load_prompts(path: Path = PROMPTS) -> AdaptPrompts:
    """The templates of a file.

    Raises:
        DataError: naming the file, the template and what is wrong.
    """
    return read_model(path, AdaptPrompts)
