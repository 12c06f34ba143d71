"""The settings of a run in houses; every key is explained in ``housekeep_configs/run.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from housewise.agent.personalize.scripted_planner import MoveOrder
from housewise.core.plugins import PLANNERS, SIMULATORS, plugin_names
from housewise.core.settings import (
    MAX_COUNT,
    Settings,
    check_known_name,
    load_with_derived_defaults,
    merge_nested,
    packaged_defaults,
)
from housewise.core.user_code import CodeReference, is_code_reference
from housewise.language.adapters import AUTO, BUNDLED, FamiliarKinds, adapter_defaults
from housewise.rollout.settings import RunSettings, TaskSettings
from housewise.worlds.house.tasks import is_known_person


class ControllerSettings(Settings):
    """How the robot moves; see housewise.controller.skills.ControllerSettings."""

    kind: Literal["standard", "published"] = "standard"
    goal_radius: float = Field(default=0.25, gt=0)
    most_walk: int = Field(default=500, ge=1, le=MAX_COUNT)
    most_look: int = Field(default=100, ge=0, le=MAX_COUNT)
    follower: Literal["own", "greedy"] = "own"


class DemonstratorSettings(Settings):
    """How the demonstrator shows the task; see housewise.agent.personalize.scripted_planner.ScriptedPlanner.

    Attributes:
        verdicts: whether it lets a memory know of every thing in sight where it belongs, not of what it moves alone.
    """

    order: MoveOrder = "random"
    thorough: bool = False
    verdicts: bool = True


class HouseTaskSettings(TaskSettings):
    """Which houses, and for whom."""

    data: str | None = None
    scenes: list[str] | None = None
    episodes: list[int] | str | None = None
    houses: int = Field(default=3, ge=1, le=MAX_COUNT)
    objects: tuple[int, int] = (5, 10)
    misplaced: tuple[int, int] = (3, 7)
    person: str = "majority"

    @model_validator(mode="after")
    def _things_fit(self) -> HouseTaskSettings:
        for name, (fewest, most) in (("objects", self.objects), ("misplaced", self.misplaced)):
            if not 0 < fewest <= most:
                raise ValueError(f"{name} are the fewest and the most, as in [5, 10]")
        # Whoever draws no houses may say anything of what is in them.
        most = self.misplaced[1] > self.objects[1] and self.data is None
        if self.misplaced[0] > self.objects[0] or most:
            raise ValueError(
                f"no more things can be misplaced, here {list(self.misplaced)}, than there are, here "
                f"{list(self.objects)}; lower misplaced or raise objects"
            )
        return self


class WorldSettings(Settings):
    """In what the houses are walked through."""

    simulator: str = "raycast"
    max_steps: int = Field(default=1000, ge=1, le=MAX_COUNT)
    look_down: float = 30.0
    controller: ControllerSettings = ControllerSettings()

    @field_validator("simulator")
    @classmethod
    def _known(cls, name: str) -> str:
        return check_known_name(name, plugin_names(SIMULATORS))


class AgentSettings(Settings):
    """Who decides, and how it is asked."""

    planner: CodeReference = "llm"
    prompt: str = "planner"
    most_steps_per_plan: int = Field(default=10, ge=1, le=MAX_COUNT)
    most_plans: int = Field(default=150, ge=1, le=MAX_COUNT)
    most_idle_plans: int = Field(default=10, ge=1, le=MAX_COUNT)
    replan_when_blocked: bool = True
    grounded: bool = False
    second_look: bool = False
    consistent: bool = False
    move_on: bool = False
    nearest_first: bool = False
    rated: bool = False
    checked: bool = False
    confidence: float = Field(default=0.0, ge=0, le=1)
    confidence_alike: float | None = Field(default=None, ge=0, le=1)
    confidence_unfamiliar: float | None = Field(default=None, ge=0, le=1)
    familiar: FamiliarKinds | None = None
    explore: bool = False
    demonstrator: DemonstratorSettings = DemonstratorSettings()
    records: str | None = None

    @field_validator("planner")
    @classmethod
    def _known(cls, name: str) -> str:
        if is_code_reference(name):
            return name
        if name.partition(":")[0].endswith(".py"):
            raise PydanticCustomError(
                "no_class", "{name} names no class or function of the file; say {name}:NAME", {"name": name.rstrip(":")}
            )
        return check_known_name(name, plugin_names(PLANNERS))


class PersonalizeSettings(RunSettings):
    """One run in houses.

    Where no prompt is given, it is the one that the adapter was trained with.
    """

    system: Literal["personalize"] = "personalize"
    tasks: HouseTaskSettings = HouseTaskSettings()
    world: WorldSettings = WorldSettings()
    agent: AgentSettings = AgentSettings()

    @model_validator(mode="before")
    @classmethod
    def _bundled_adapter(cls, given: Any) -> Any:
        """AUTO is the bundled adapter for the bundled model and the planner that it learned to be; else no adapter."""
        if _adapter(given) != AUTO:
            return given
        acting = given["models"]["agent"]
        planner = (given.get("agent") or {}).get("planner", "llm")
        fits = acting.get("model", "local") == "local" and planner == "llm"
        found: dict[str, Any] = merge_nested(given, {"models": {"agent": {"adapter": BUNDLED if fits else None}}})
        return found

    @model_validator(mode="before")
    @classmethod
    def _prompt_of_the_adapter(cls, given: Any) -> Any:
        agent = given.get("agent") if isinstance(given, dict) else None
        if not isinstance(agent, dict) or agent.get("prompt") is not None:
            return given
        advised = {} if agent.get("planner") in ("sayplan", "saycan") else adapter_defaults(_adapter(given))
        return {**given, "agent": {**agent, "prompt": advised.get("prompt", "planner")}}

    @model_validator(mode="after")
    def _meaning_is_compared(self) -> PersonalizeSettings:
        if self.agent.planner == "nearest" and self.memory.meaning is False:
            raise ValueError("planner=nearest compares meanings; leave memory.meaning out")
        return self

    @property
    def identity(self) -> dict[str, Any]:
        """See RunSettings.identity; which and how many houses may change."""
        free = {f"tasks.{key}" for key in ("houses", "episodes", "scenes")}
        return {key: value for key, value in super().identity.items() if key not in free}

    def comparison_settings(self, asks: bool) -> dict[str, Any]:
        """See RunSettings.bearing; how a model would be asked says nothing where none is."""
        free = {"tasks.data", "agent.records"}
        if not asks:
            asking = (
                "prompt",
                "grounded",
                "second_look",
                "consistent",
                "move_on",
                "nearest_first",
                "rated",
                "checked",
                "confidence",
                "confidence_alike",
                "confidence_unfamiliar",
                "familiar",
                "most_steps_per_plan",
            )
            free |= {f"agent.{key}" for key in asking}
        if self.agent.planner != "demonstrator":
            free |= {f"agent.demonstrator.{key}" for key in DemonstratorSettings.model_fields}
        return {key: value for key, value in super().comparison_settings(asks).items() if key not in free}

    @property
    def memory_person_settings(self) -> dict[str, dict[str, str]]:
        """See RunSettings.person_of_memory: a person with preferences or an annotator of the data."""
        name = self.memory.start
        if name in (None, "majority") or not is_known_person(name, self.tasks.data):
            return {}
        return {"tasks": {"person": name}}

    @property
    def advice(self) -> dict[str, Any]:
        """What the adapter says of how it is meant to be asked, as settings of a run."""
        return adapter_defaults(self.models.agent.adapter) if self.agent.planner == "llm" else {}


def house_settings(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> PersonalizeSettings:
    """Put a run's settings together; see core.settings.load_settings.

    What an adapter says of how it is meant to be asked wins over the packaged defaults, and what is given over both.
    The model has no adapter unless one is named: what is measured or trained begins with the model itself. ``housewise
    run`` begins with ``auto``; see Personalize.load.
    """
    base = OmegaConf.merge(packaged_defaults("run"), {"models": {"agent": {"adapter": None}}})
    assert isinstance(base, DictConfig)
    return load_with_derived_defaults(PersonalizeSettings, base, advice_of, file, settings, overrides)


def advice_of(run: PersonalizeSettings) -> dict[str, Any]:
    """Defaults that a run's adapter and the name of its memory bring along, by section."""
    return merge_nested(run.advice, run.memory_person_settings)


def _adapter(given: Any) -> Any:
    if not isinstance(given, dict):
        return None
    models = given.get("models")
    acting = models.get("agent") if isinstance(models, dict) else None
    return acting.get("adapter") if isinstance(acting, dict) else None
