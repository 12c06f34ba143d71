"""The settings that every run has, in sections; systems add their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import Self

from housewise.core.marks import copy_user_keys, record_user_keys
from housewise.core.render_devices import ANY, GpuSetting, parse_gpu_setting
from housewise.core.settings import (
    LARGEST_SEED,
    MAX_COUNT,
    Settings,
    merge_nested,
    place_in_sections,
    short_key,
    validate_settings,
)
from housewise.language.settings import EXECUTION_FIELDS, ModelSettings

Learn = Literal["episode", "run", "never"]


class TaskSettings(Settings):
    """Which tasks are played, and how often.

    Attributes:
        seed: of everything that is drawn.
        series: another one plays the same tasks in other ways.
        runs: how often each task is played; each run has a seed of its own.
    """

    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    series: int = Field(default=0, ge=0, le=LARGEST_SEED)
    runs: int = Field(default=1, ge=1, le=MAX_COUNT)


class ModelsSettings(Settings):
    """The models of a run by role."""

    agent: ModelSettings = ModelSettings()


class MemorySettings(Settings):
    """What is remembered of people.

    Attributes:
        start: whose memory a run begins with; None for an empty one.
        folder: where memories are; None for the usual place.
        new: whether the memory may begin with the run.
        learn: when what is learned in an episode is recalled: from the next episode of the same person on, which are
            then played one after the other; from the next run on, its episodes being played side by side; or never.
        meaning: whether what is close in meaning is recalled as well; None where sentence embeddings are installed.
    """

    start: str | None = None
    new: bool = False
    folder: str | None = None
    learn: Learn = "episode"
    meaning: bool | None = None


class Price(Settings):
    """What a model costs, per million tokens.

    Attributes:
        prompt: Of tokens that it reads.
        reply: Of tokens that it writes.
    """

    prompt: float = Field(ge=0)
    reply: float = Field(ge=0)


class ExecutionSettings(Settings):
    """Where episodes are computed; nothing of it changes what comes of them but by rounding.

    Attributes:
        workers: episodes played at the same time.
        ray: address of a Ray cluster on whose machines they are played; None for this one.
        gpu: CUDA devices that the simulator renders on, which workers take in turn.
        max_episodes: play the first so many episodes alone; None for all. The others are played in the same folder
            without it.
        fail_fast: Whether a run ends at the first episode that fails; the others are still to be played then.
        max_total_tokens, max_cost, max_minutes: limits of the run in all its sessions, see rollout.limits; None for
            none.
        prices: of models, by their names in settings.
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
        """Whether the run has a limit."""
        return any(limit is not None for limit in (self.max_total_tokens, self.max_cost, self.max_minutes))


class RunSettings(Settings):
    """One run of a system.

    Attributes:
        system: its name.
    """

    system: str
    tasks: TaskSettings = TaskSettings()
    models: ModelsSettings = ModelsSettings()
    memory: MemorySettings = MemorySettings()
    execution: ExecutionSettings = ExecutionSettings()

    @property
    def result_settings(self) -> dict[str, Any]:
        """Settings on which it depends what is played and what comes of it, by dotted key: not how it is computed."""
        found = flatten_settings(self.model_dump(exclude={"execution": True, "memory": {"folder", "new"}}))
        return {key: value for key, value in found.items() if not _is_execution_setting(key)}

    @property
    def identity(self) -> dict[str, Any]:
        """What has to be the same for two runs to belong in one folder, by dotted key: not how often."""
        return {key: value for key, value in self.result_settings.items() if key != "tasks.runs"}

    def comparison_settings(self, asks: bool) -> dict[str, Any]:
        """Settings that bear on what comes of an episode, by dotted key: not which are played and where.

        Args:
            asks: whether models are asked; nothing that is said of them bears on anything otherwise.
        """
        free = {"system", "tasks.seed", "tasks.series"}
        return {
            key: value
            for key, value in self.identity.items()
            if key not in free and not (key.startswith("models.") and (not asks or key.endswith(".base_url")))
        }

    @property
    def memory_person_settings(self) -> Mapping[str, Mapping[str, Any]]:
        """Settings by section that play for the person whose memory is named; none where nobody has that name."""
        return {}

    @property
    def is_person_from_memory(self) -> bool:
        """Whether the name of the memory alone says for whom is played: the user chose no person."""
        chosen = self.memory_person_settings
        return bool(chosen) and not any(
            key in getattr(self, section).set_by_user or getattr(getattr(self, section), key) != value
            for section, values in chosen.items()
            for key, value in values.items()
        )

    def adopt_person(self, earlier: RunSettings) -> Self:
        """The same for the person of an earlier run with the same memory, where the user chose no person.

        Args:
            earlier: settings of the run that is resumed.
        """
        same = (earlier.system, earlier.memory.start) == (self.system, self.memory.start)
        if not same or not self.is_person_from_memory:
            return self
        chosen = self.memory_person_settings
        before = {name: {key: getattr(getattr(earlier, name), key) for key in chosen[name]} for name in chosen}
        return self if before == chosen else self.changed(**before)

    def changed(self, **changes: Any) -> Self:
        """The same with other values for some keys, each with or without its section; see core.settings.placed."""
        content = _unredacted_values(self)
        chosen = place_in_sections(_unredacted_values(changes), content, "the program")
        made = validate_settings(type(self), merge_nested(content, chosen))
        copy_user_keys(self, made)
        record_user_keys(made, chosen)
        return made


def flatten_settings(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings by dotted key."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= flatten_settings(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def setting_assignments(settings: Mapping[str, Any]) -> list[str]:
    """Settings by section as a user writes them: ``key=value``."""
    return [
        f"{short_key(key)}={','.join(value) if isinstance(value, tuple) else value}"
        for key, value in flatten_settings(settings).items()
    ]


def _is_execution_setting(key: str) -> bool:
    section, _, rest = key.partition(".")
    # Of a model itself: a server's own options may be called as one of these.
    return section == "models" and rest.count(".") == 1 and rest.rpartition(".")[2] in EXECUTION_FIELDS


def _unredacted_values(value: Any) -> Any:
    """Settings as nested values; not as they are kept, where passwords are left out."""
    if isinstance(value, Settings):
        return {name: _unredacted_values(getattr(value, name)) for name in type(value).model_fields}
    return {key: _unredacted_values(inner) for key, inner in value.items()} if isinstance(value, dict) else value
