"""Adapters for local models: bundled ones by name, others by folder."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from housewise.core.errors import UserError, suggest_names
from housewise.core.migrations.settings import migrate_settings
from housewise.core.settings import merge_nested
from housewise.core.user_folders import expand_user
from housewise.core.validation import StrictModel, read_model
from housewise.language.base import ChatModelError

ADAPTER_CONFIG_FILE = "adapter_settings.json"
"""File in an adapter's folder with the settings to ask the model with; see ``AdapterConfig``."""
FORMER_CONFIG_FILE = "housewise.json"
"""Former name of that file."""
EXAMPLES_FILE = "pairs.jsonl"
"""File with what an adapter was trained on, beside its folder."""
IMITATE = "imitate"
"""Name of the training phase that imitates demonstrations, and of its folder."""


Wrapper = Literal["sort_by_distance", "check_feasibility", "loop_recovery", "verify_completion"]
"""Additions to the planner ``llm``."""
BUNDLED_WRAPPERS: tuple[Wrapper, ...] = get_args(Wrapper)


class AdapterSampling(StrictModel):
    """Sampling parameters; see ``language.base.Sampling``. None leaves a parameter to the caller."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    n: int | None = Field(default=None, ge=1)


FamiliarKinds = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(min_length=1, max_length=10_000)
]
"""Kinds of objects that a model was trained to judge."""


class AdapterJudging(StrictModel):
    """How judgements are followed; see ``JudgingSettings`` of LLM-Personalize. None leaves it to the caller."""

    score_placements: bool | None = None
    weigh_notes: bool | None = None
    constrain_to_judgements: bool | None = None
    as_json: bool | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    confidence_similar: float | None = Field(default=None, ge=0, le=1)
    confidence_unfamiliar: float | None = Field(default=None, ge=0, le=1)


PERSONALIZE = "personalize"

AUTO, NONE = "auto", "none"
"""Values in place of an adapter's name: ``auto`` for the bundled adapter if it fits, ``none`` for no adapter."""

BUNDLED = "tidy"
"""The adapter that ``auto`` stands for, trained for the bundled model in houses."""


class AdapterConfig(StrictModel):
    """Settings to ask a model with an adapter with; keys of a run's settings.

    Attributes:
        system: System that the adapter was trained in. The other keys are settings of that system.
    """

    system: str = PERSONALIZE
    prompt: str | None = None
    grounded: bool | None = None
    wrappers: tuple[Wrapper, ...] | None = None
    judging: AdapterJudging | None = None
    familiar_kinds: FamiliarKinds | None = None
    sampling: AdapterSampling | None = None
    wording: str | None = None
    perception: Literal["words", "truth"] | None = None
    task_knowledge: bool | None = None
    object_knowledge: bool | None = None
    environment_knowledge: bool | None = None
    reasoning: bool | None = None
    compact: bool | None = None

    @model_validator(mode="after")
    def _check_prompt(self) -> AdapterConfig:
        if self.prompt is None and self.system in (PERSONALIZE, "adapt"):
            raise PydanticCustomError("prompt_missing", "field prompt: is missing; an adapter goes by one prompt")
        return self

    @model_validator(mode="before")
    @classmethod
    def _migrate(cls, content: Any) -> Any:
        """Replace former names by current ones. Former files have no section ``judging``."""
        if not isinstance(content, dict):
            return content
        judging = dict.fromkeys(AdapterJudging.model_fields)
        current = {"agent": {**dict.fromkeys(cls.model_fields), "judging": judging}}
        try:
            found = migrate_settings({key: value for key, value in content.items() if value is not None}, current, "")
        except UserError as error:
            raise PydanticCustomError("former_name", "{reason}", {"reason": str(error).removeprefix(": ")}) from error
        found = merge_nested(found, found.pop("agent", {}))
        loose = {key: found.pop(key) for key in judging if key in found}
        return merge_nested(found, {"judging": loose}) if loose else found


def bundled_adapters(system: str | None = None) -> dict[str, Path]:
    """Return the folders of the bundled adapters by name.

    Args:
        system: Only return adapters that were trained in this system.
    """
    folders = Path(str(resources.files(__name__))).iterdir()
    there = {folder.name: folder for folder in sorted(folders) if _has_adapter(folder)}
    return {
        name: folder
        for name, folder in there.items()
        if system is None or ((config := _read_config(folder)) and config.system == system)
    }


def adapter_folder(name: str | Path) -> Path:
    """Return the folder of an adapter.

    Args:
        name: A folder, or the name of a bundled adapter. A folder of that name counts only if it has an adapter.
    """
    folder = expand_user(name)
    return folder if _has_adapter(folder) else bundled_adapters().get(str(name), folder)


def check_adapter_exists(name: str) -> None:
    """Check that there is an adapter of this name, or a folder.

    Raises:
        ChatModelError: If there is none; the message lists the valid names.
    """
    if not adapter_folder(name).is_dir():
        known = suggest_names(name, [AUTO, NONE, *bundled_adapters()])
        raise ChatModelError(f"adapter {name}: no such folder, and none of that name; {known}")


def adapter_fingerprint(name: str | Path) -> dict[str, str]:
    """Return an adapter's name and the SHA-256 of its weights by file, for files of results."""
    files = sorted(adapter_folder(name).absolute().glob("*.safetensors"))
    versions = {file: (file.stat().st_size, file.stat().st_mtime_ns) for file in files}
    return {"name": Path(name).name, **{file.name: _weights_digest(file, *each) for file, each in versions.items()}}


@lru_cache
def _weights_digest(file: Path, size: int, modified: int) -> str:
    """Return the SHA-256 of a file. Its size and time of change tell when it has to be read again."""
    return sha256(file.read_bytes()).hexdigest()


def adapter_defaults(adapter: str | Path | None, system: str = PERSONALIZE) -> dict[str, Any]:
    """Return the settings to ask a model with an adapter with; empty if the adapter defines none.

    Args:
        adapter: Name or folder.
        system: System that is about to be played.

    Raises:
        ChatModelError: If the adapter's file is damaged, or the adapter was trained in another system.
    """
    config = None if adapter is None else _read_config(adapter_folder(adapter))
    if config is None:
        return {}
    if config.system != system:
        others = bundled_adapters(system)
        instead = f", or {suggest_names(str(adapter), others)}" if others else ""
        raise ChatModelError(
            f"adapter {adapter}: was trained in another system; use it with --system {config.system}{instead}"
        )
    return config.model_dump(exclude_none=True, exclude={"system"})


def _has_adapter(folder: Path) -> bool:
    return (folder / "adapter_config.json").is_file()


def _read_config(folder: Path) -> AdapterConfig | None:
    """Return the settings in an adapter's folder, if there are any."""
    paths = (folder / name for name in (ADAPTER_CONFIG_FILE, FORMER_CONFIG_FILE))
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    remedy = 'write {"prompt": "planner"}, for example'
    return read_model(path, AdapterConfig, remedy, "the settings of an adapter", ChatModelError)
