"""Settings that every run has, in sections. Systems add their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import Self

from housewise.core.render_devices import ANY, GpuSetting, parse_gpu_setting
from housewise.core.settings import LARGEST_SEED, MAX_COUNT, Settings, copy_user_keys, record_user_keys
from housewise.core.settings_loading import merge_nested, place_in_sections, short_key, validate_settings
from housewise.language.settings import EXECUTION_FIELDS, ModelSettings

Learn = Literal["episode", "run", "never"]


class TaskSettings(Settings):
    """Which tasks are played, and how often.

    Attributes:
        seed: Seed of the random number generator.
        series: Number of the random stream. Another number plays the same tasks with other random draws.
        runs: Number of episodes per task, each with its own seed.
    """

    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    series: int = Field(default=0, ge=0, le=LARGEST_SEED)
    runs: int = Field(default=1, ge=1, le=MAX_COUNT)


class ModelsSettings(Settings):
    """Models of a run, by role."""

    agent: ModelSettings = ModelSettings()


class MemorySettings(Settings):
    """What is remembered of people.

    Attributes:
        start: Name of the memory that the run starts from, or None for an empty one.
        folder: Folder of the memories, or None for the default folder.
        new: Whether the memory may be created by the run.
        learn: When new notes are recalled. "episode": from the person's next episode on, so that a person's episodes
            are played in order. "run": from the next run on; episodes are played in parallel. "never": not at all.
        meaning: Whether notes of similar meaning are recalled as well, or None to do so if sentence embeddings are
            installed.
    """

    start: str | None = None
    new: bool = False
    folder: str | None = None
    learn: Learn = "episode"
    meaning: bool | None = None


class Price(Settings):
    """Price of a model per million tokens.

    Attributes:
        prompt: Price of tokens that it reads.
        reply: Price of tokens that it writes.
    """

    prompt: float = Field(ge=0)
    reply: float = Field(ge=0)


class ExecutionSettings(Settings):
    """Where and how fast episodes are computed. Results do not depend on it, except for rounding.

    Attributes:
        workers: Maximum number of episodes that are played at the same time.
        ray: Address of the Ray cluster that plays the episodes, or None for this machine.
        gpu: CUDA devices on which simulators render; workers take them in turn.
        max_episodes: Maximum number of episodes to play, or None for all. The others can be played later in the same
            folder.
        fail_fast: Whether the run ends at the first failed episode.
        max_total_tokens: Maximum number of tokens of the run over all sessions, or None.
        max_cost: Maximum cost of the run over all sessions, or None.
        max_minutes: Maximum duration of the run over all sessions, or None.
        prices: Prices by model name.
    """

    workers: int = Field(default=1, ge=1, le=MAX_COUNT)
    ray: str | None = None
    gpu: Annotated[GpuSetting, BeforeValidator(parse_gpu_setting)] = ANY
    max_episodes: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    fail_fast: bool = False
    max_total_tokens: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0)
    max_minutes: float | None = Field(default=None, gt=0)
    prices: dict[str, Price] = Field(default_factory=dict)

    @property
    def is_limited(self) -> bool:
        """Whether the run has a limit on tokens, cost or minutes."""
        return any(limit is not None for limit in (self.max_total_tokens, self.max_cost, self.max_minutes))


class RunSettings(Settings):
    """Settings of one run of a system.

    Attributes:
        system: Name of the system.
    """

    system: str
    tasks: TaskSettings = TaskSettings()
    models: ModelsSettings = ModelsSettings()
    memory: MemorySettings = MemorySettings()
    execution: ExecutionSettings = ExecutionSettings()

    @property
    def result_settings(self) -> dict[str, Any]:
        """Settings that affect tasks or results, by dotted key. Execution settings are left out."""
        found = flatten_settings(self.model_dump(exclude={"execution": True, "memory": {"folder", "new"}}))
        return {key: value for key, value in found.items() if not _is_execution_setting(key)}

    @property
    def identity(self) -> dict[str, Any]:
        """Settings that must be equal for two runs to share a folder, by dotted key. The number of runs may differ."""
        return {key: value for key, value in self.result_settings.items() if key != "tasks.runs"}

    def comparison_settings(self, asks: bool) -> dict[str, Any]:
        """Return the settings that affect the result of an episode, by dotted key. The choice of tasks is left out.

        Args:
            asks: Whether models are asked. Settings of models are left out otherwise.
        """
        free = {"system", "tasks.seed", "tasks.series"}
        return {
            key: value
            for key, value in self.identity.items()
            if key not in free and not (key.startswith("models.") and (not asks or key.endswith(".base_url")))
        }

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
        """Return a copy with other values for some keys, with or without their section; see `core.settings.placed`."""
        content = _unredacted_values(self)
        chosen = place_in_sections(_unredacted_values(changes), content, "the program")
        made = validate_settings(type(self), merge_nested(content, chosen))
        copy_user_keys(self, made)
        record_user_keys(made, chosen)
        return made


def flatten_settings(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested settings by dotted key."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= flatten_settings(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def setting_assignments(settings: Mapping[str, Any]) -> list[str]:
    """Return settings by section as `key=value`, the way users write them."""
    return [
        f"{short_key(key)}={','.join(value) if isinstance(value, tuple) else value}"
        for key, value in flatten_settings(settings).items()
    ]


def _is_execution_setting(key: str) -> bool:
    section, _, rest = key.partition(".")
    # Only the model's own settings: options of its server may have the same names.
    return section == "models" and rest.count(".") == 1 and rest.rpartition(".")[2] in EXECUTION_FIELDS


def _unredacted_values(value: Any) -> Any:
    """Return settings as nested values, including passwords, which saved settings leave out."""
    if isinstance(value, Settings):
        return {name: _unredacted_values(getattr(value, name)) for name in type(value).model_fields}
    return {key: _unredacted_values(inner) for key, inner in value.items()} if isinstance(value, dict) else value
