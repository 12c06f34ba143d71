"""The words that language models read in the text kitchen, as YAML."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from housewise.core.configs import CONFIGS
from housewise.worlds.kitchen.data import read_model

PROMPTS = CONFIGS / "adapt" / "prompts.yaml"
_FIELDS = {
    "robot": {"ask"},
    "house": {"layout"},
    "known": {"known"},
    "task": {"task"},
    "answer": {"answer"},
    "failed": {"observation"},
    "next": {"made", "task"},
    "person": {"task", "wishes", "things"},
}


class Prompts(BaseModel):
    """Templates; what may stand in braces is in ``_FIELDS``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    robot: str
    ask: str
    house: str
    known: str
    unknown: str
    task: str
    answer: str
    failed: str
    next_: str = Field(alias="next")
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


def load_prompts(path: Path = PROMPTS) -> Prompts:
    """The templates of a file.

    Raises:
        DataError: naming the file, the template and what is wrong.
    """
    return read_model(path, Prompts)
