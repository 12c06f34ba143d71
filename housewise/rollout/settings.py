"""Settings that every run has, in sections. Systems add their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import Self

from housewise.core.render_devices import ANY, GpuSetting, parse_gpu_setting
from housewise.core.setting_effects import settings_by_effect
from housewise.core.setting_keys import short_key
from housewise.core.setting_marks import EXECUTION, NEEDS_MODEL, NOT_COMPARED, SELECTION
from housewise.core.settings import (
    LARGEST_SEED,
    MAX_COUNT,
    Settings,
    copy_user_keys,
    empty_mappings,
    flatten_settings,
    merge_nested,
    record_user_keys,
)
from housewise.core.settings_loading import place_in_sections, validate_settings
from housewise.language.settings import ModelSettings

Learn = Literal["episode", "run", "never"]


class TaskSettings(Settings):
    """Which tasks are played, and how often."""

    seed: Annotated[int, NOT_COMPARED] = Field(default=0, ge=0, le=LARGEST_SEED)
    """Seed of the random number generator."""
    rng_stream: Annotated[int, NOT_COMPARED] = Field(default=0, ge=0, le=LARGEST_SEED)
    """Number of the random stream. Another number plays the same tasks with other random draws."""
    repeats: Annotated[int, SELECTION] = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of episodes per task, each with its own seed."""


class ModelsSettings(Settings):
    """Models of a run, by role."""

    agent: ModelSettings = ModelSettings()


class MemorySettings(Settings):
    """What is remembered of people."""

    start: str | None = None
    """Name of the memory that the run starts from. null starts with an empty one."""
    new: Annotated[bool, EXECUTION] = False
    """Whether the run may create the memory."""
    folder: Annotated[str | None, EXECUTION] = None
    """Folder of the memories. null is the default folder."""
    learn: Learn = "episode"
    """When new notes are recalled: from the person's next episode on, so that a person's episodes are played in order
    (episode), from the next run on, so that episodes are played in parallel (run), or never."""
    meaning: bool | None = None
    """Whether notes of similar meaning are recalled as well. null does so if sentence embeddings are installed."""


class Price(Settings):
    """Price of a model per million tokens."""

    prompt: float = Field(ge=0)
    """Price of a million tokens that the model reads."""
    reply: float = Field(ge=0)
    """Price of a million tokens that the model writes."""


class ExecutionSettings(Settings):
    """Where and how fast episodes are computed. Results do not depend on it, except for rounding."""

    workers: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Maximum number of episodes that are played at the same time."""
    ray: str | None = None
    """Address of the Ray cluster that plays the episodes. null is this machine."""
    gpu: Annotated[GpuSetting, BeforeValidator(parse_gpu_setting)] = ANY
    """CUDA device on which simulators render: a number, several that workers take in turn, such as [0, 1], auto (all),
    or -1 (the first that EGL offers, which is software without a GPU)."""
    max_episodes: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    """Maximum number of episodes to play. The others can be played later in the same folder."""
    fail_fast: bool = False
    """Whether the run ends at the first failed episode."""
    max_total_tokens: int | None = Field(default=None, ge=1)
    """Maximum number of tokens of the run, over all its sessions."""
    max_cost: float | None = Field(default=None, gt=0)
    """Maximum cost of the run, over all its sessions."""
    max_minutes: float | None = Field(default=None, gt=0)
    """Maximum duration of the run, over all its sessions."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model, such as {my-model: {prompt: 0.5, reply: 1.5}}."""

    @property
    def is_limited(self) -> bool:
        """Whether the run has a limit on tokens, cost or minutes."""
        return any(limit is not None for limit in (self.max_total_tokens, self.max_cost, self.max_minutes))


class RunSettings(Settings):
    """Settings of one run of a system."""

    system: Annotated[str, NOT_COMPARED] = ""
    """Name of the system."""
    tasks: TaskSettings = TaskSettings()
    models: Annotated[ModelsSettings, NEEDS_MODEL] = ModelsSettings()
    memory: MemorySettings = MemorySettings()
    execution: Annotated[ExecutionSettings, EXECUTION] = ExecutionSettings()

    @property
    def result_settings(self) -> dict[str, Any]:
        """Settings that affect tasks or results, by dotted key."""
        return settings_by_effect(self, {"result", "selection"})

    @property
    def identity(self) -> dict[str, Any]:
        """Settings that must be equal for two runs to share a folder, by dotted key."""
        return settings_by_effect(self, {"result"})

    @property
    def memory_person_settings(self) -> Mapping[str, Mapping[str, Any]]:
        """Settings by section that select the person whose memory is named. Empty if no person has that name."""
        return {}

    @property
    def is_person_from_memory(self) -> bool:
        """Whether the memory's name alone selects the person, because the user chose none."""
        chosen = self.memory_person_settings
        return bool(chosen) and not any(
            key in getattr(self, section).set_by_user or getattr(getattr(self, section), key) != value
            for section, values in chosen.items()
            for key, value in values.items()
        )

    def adopt_person(self, earlier: RunSettings) -> Self:
        """Return the settings with the person of an earlier run of the same memory, unless the user chose a person.

        Args:
            earlier: Settings of the run that is resumed.
        """
        same = (earlier.system, earlier.memory.start) == (self.system, self.memory.start)
        if not same or not self.is_person_from_memory:
            return self
        chosen = self.memory_person_settings
        before = {name: {key: getattr(getattr(earlier, name), key) for key in chosen[name]} for name in chosen}
        return self if before == chosen else self.with_changes(**before)

    def with_changes(self, **changes: Any) -> Self:
        """Return a copy with other values for some keys, with or without their section; see `place_in_sections`."""
        content = _unredacted_values(self)
        keys = empty_mappings(type(self), content)
        chosen = place_in_sections(_unredacted_values(changes), keys, "the program", content)
        made = validate_settings(type(self), merge_nested(content, chosen))
        copy_user_keys(self, made)
        record_user_keys(made, chosen)
        return made


def setting_assignments(settings: Mapping[str, Any]) -> list[str]:
    """Return settings by section as `key=value`, the way users write them."""
    return [
        f"{short_key(key)}={','.join(value) if isinstance(value, tuple) else value}"
        for key, value in flatten_settings(settings).items()
    ]


def _unredacted_values(value: Any) -> Any:
    """Return settings as nested values, including passwords, which saved settings leave out."""
    if isinstance(value, Settings):
        return {name: _unredacted_values(getattr(value, name)) for name in type(value).model_fields}
    return {key: _unredacted_values(inner) for key, inner in value.items()} if isinstance(value, dict) else value
