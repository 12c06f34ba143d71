"""Settings of LLM-Personalize. ``housekeep_configs/run.yaml`` describes every key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from housewise.agent.personalize.scripted_planner import MoveOrder
from housewise.controller.skills import ControllerSettings
from housewise.core.plugins import PLANNERS, SIMULATORS, plugin_names
from housewise.core.setting_marks import NEEDS_MODEL, NOT_COMPARED, SELECTION, Affects
from housewise.core.settings import MAX_COUNT, Settings, check_known_name, merge_nested
from housewise.core.settings_loading import load_with_derived_defaults, packaged_defaults
from housewise.core.user_code import CodeReference, is_code_reference
from housewise.language.adapters import AUTO, BUNDLED, FamiliarKinds, adapter_defaults
from housewise.rollout.settings import RunSettings, TaskSettings
from housewise.worlds.house.tasks import is_known_person


class DemonstratorSettings(Settings):
    """Settings of the demonstrator; see scripted_planner.ScriptedPlanner.

    Attributes:
        order: What it moves next: a random object, the nearest, or the first of the prompt's list.
        thorough: Whether it looks around all receptacles before the end.
        verdicts: Whether its notes say of every visible object where it belongs, not only of moved objects.
    """

    order: MoveOrder = "random"
    thorough: bool = False
    verdicts: bool = True


class HouseTaskSettings(TaskSettings):
    """Which houses and episodes are played, and for which person."""

    data: Annotated[str | None, NOT_COMPARED] = None
    scenes: Annotated[list[str] | None, SELECTION] = None
    episodes: Annotated[list[int] | str | None, SELECTION] = None
    houses: Annotated[int, SELECTION] = Field(default=3, ge=1, le=MAX_COUNT)
    objects: tuple[int, int] = (5, 10)
    misplaced: tuple[int, int] = (3, 7)
    person: str = "majority"

    @model_validator(mode="after")
    def _check_counts(self) -> HouseTaskSettings:
        for name, (fewest, most) in (("objects", self.objects), ("misplaced", self.misplaced)):
            if not 0 < fewest <= most:
                raise ValueError(f"{name} must be a minimum and a maximum, such as [5, 10]")
        # With data, no houses are generated, so the maximum is not used.
        most = self.misplaced[1] > self.objects[1] and self.data is None
        if self.misplaced[0] > self.objects[0] or most:
            raise ValueError(
                f"misplaced {list(self.misplaced)} exceeds objects {list(self.objects)}; lower misplaced or raise "
                "objects"
            )
        return self


class WorldSettings(Settings):
    """The simulator and the robot."""

    simulator: str = "raycast"
    max_steps: int = Field(default=1000, ge=1, le=MAX_COUNT)
    look_down: float = 30.0
    controller: ControllerSettings = ControllerSettings()

    @field_validator("simulator")
    @classmethod
    def _check_name(cls, name: str) -> str:
        return check_known_name(name, plugin_names(SIMULATORS))


class AgentSettings(Settings):
    """The planner and its options."""

    planner: CodeReference = "llm"
    prompt: Annotated[str, NEEDS_MODEL] = "planner"
    most_steps_per_plan: Annotated[int, NEEDS_MODEL] = Field(default=10, ge=1, le=MAX_COUNT)
    most_plans: int = Field(default=150, ge=1, le=MAX_COUNT)
    most_idle_plans: int = Field(default=10, ge=1, le=MAX_COUNT)
    replan_when_blocked: bool = True
    grounded: Annotated[bool, NEEDS_MODEL] = False
    second_look: Annotated[bool, NEEDS_MODEL] = False
    consistent: Annotated[bool, NEEDS_MODEL] = False
    move_on: Annotated[bool, NEEDS_MODEL] = False
    nearest_first: Annotated[bool, NEEDS_MODEL] = False
    rated: Annotated[bool, NEEDS_MODEL] = False
    checked: Annotated[bool, NEEDS_MODEL] = False
    confidence: Annotated[float, NEEDS_MODEL] = Field(default=0.0, ge=0, le=1)
    confidence_alike: Annotated[float | None, NEEDS_MODEL] = Field(default=None, ge=0, le=1)
    confidence_unfamiliar: Annotated[float | None, NEEDS_MODEL] = Field(default=None, ge=0, le=1)
    familiar: Annotated[FamiliarKinds | None, NEEDS_MODEL] = None
    explore: bool = False
    demonstrator: Annotated[DemonstratorSettings, Affects(needs=("planner", "demonstrator"))] = DemonstratorSettings()
    records: Annotated[str | None, NOT_COMPARED, NEEDS_MODEL] = None

    @field_validator("planner")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if is_code_reference(name):
            return name
        if name.partition(":")[0].endswith(".py"):
            raise PydanticCustomError(
                "no_class",
                "{name} does not name a class or function in the file; use {name}:NAME",
                {"name": name.rstrip(":")},
            )
        return check_known_name(name, plugin_names(PLANNERS))


class PersonalizeSettings(RunSettings):
    """Settings of a run in houses. The prompt defaults to the one that the adapter was trained with."""

    system: Literal["personalize"] = "personalize"
    tasks: HouseTaskSettings = HouseTaskSettings()
    world: WorldSettings = WorldSettings()
    agent: AgentSettings = AgentSettings()

    @model_validator(mode="before")
    @classmethod
    def _bundled_adapter(cls, given: Any) -> Any:
        """Replace AUTO by the bundled adapter if model and planner are those it was trained for, else by None."""
        if _adapter_of(given) != AUTO:
            return given
        model = given["models"]["agent"]
        planner = (given.get("agent") or {}).get("planner", "llm")
        fits = model.get("model", "local") == "local" and planner == "llm"
        found: dict[str, Any] = merge_nested(given, {"models": {"agent": {"adapter": BUNDLED if fits else None}}})
        return found

    @model_validator(mode="before")
    @classmethod
    def _default_prompt(cls, given: Any) -> Any:
        agent = given.get("agent") if isinstance(given, dict) else None
        if not isinstance(agent, dict) or agent.get("prompt") is not None:
            return given
        defaults = {} if agent.get("planner") in ("sayplan", "saycan") else adapter_defaults(_adapter_of(given))
        return {**given, "agent": {**agent, "prompt": defaults.get("prompt", "planner")}}

    @model_validator(mode="after")
    def _check_meaning(self) -> PersonalizeSettings:
        if self.agent.planner == "nearest" and self.memory.meaning is False:
            raise ValueError("planner=nearest needs sentence embeddings; leave memory.meaning out")
        return self

    @property
    def memory_person_settings(self) -> dict[str, dict[str, str]]:
        """See RunSettings.memory_person_settings: a known person, or an annotator of the data."""
        name = self.memory.start
        if name in (None, "majority") or not is_known_person(name, self.tasks.data):
            return {}
        return {"tasks": {"person": name}}

    @property
    def model_defaults(self) -> dict[str, Any]:
        """The defaults of the adapter, as settings of a run."""
        return adapter_defaults(self.models.agent.adapter) if self.agent.planner == "llm" else {}


def house_settings(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> PersonalizeSettings:
    """Combine the settings of a run; see core.settings.load_with_derived_defaults.

    The defaults of an adapter override the packaged defaults, and given settings override both. Unlike ``housewise
    run``, which starts with ``adapter=auto``, this uses no adapter unless one is named.
    """
    base = OmegaConf.merge(packaged_defaults("run"), {"models": {"agent": {"adapter": None}}})
    assert isinstance(base, DictConfig)
    return load_with_derived_defaults(PersonalizeSettings, base, derived_defaults, file, settings, overrides)


def derived_defaults(run: PersonalizeSettings) -> dict[str, Any]:
    """Return the defaults that follow from a run's adapter and from the person of its memory, by section."""
    return merge_nested(run.model_defaults, run.memory_person_settings)


def _adapter_of(given: Any) -> Any:
    if not isinstance(given, dict):
        return None
    models = given.get("models")
    model = models.get("agent") if isinstance(models, dict) else None
    return model.get("adapter") if isinstance(model, dict) else None
