"""Settings of LLM-Personalize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.scripted_planner import MoveOrder
from housewise.controller.skills import ControllerSettings
from housewise.core.migrations.settings import former_values
from housewise.core.plugins import PLANNERS, SIMULATORS, WRAPPERS, plugin_names
from housewise.core.setting_marks import NEEDS_MODEL, NOT_COMPARED, SELECTION, Affects
from housewise.core.settings import LARGEST_SEED, MAX_COUNT, Settings, check_known_name, merge_nested
from housewise.core.settings_loading import load_with_derived_defaults
from housewise.core.user_code import CodeReference, is_code_reference, is_same_code
from housewise.language.adapters import AUTO, BUNDLED, BUNDLED_WRAPPERS, FamiliarKinds, Wrapper, adapter_defaults
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.house.held_out_kinds import ObjectKinds
from housewise.worlds.house.tasks import is_known_person

FORMER_PLANNERS = {"store": "memory_lookup", "nearest": "memory_nearest"}
"""Current by former names of planners."""


class DemonstratorSettings(Settings):
    """The demonstrator, whose plans the model learns to imitate."""

    order: MoveOrder = "random"
    """Which misplaced object is moved next: a random one, as in the paper; the nearest one, which a model cannot learn
    from its prompt; or the first in the prompt's list (listed)."""
    thorough: bool = False
    """Whether the robot looks around all receptacles before the task counts as complete."""
    note_all_objects: bool = True
    """Whether the memory gets a note about every visible object, and not only about moved objects."""


class HouseTaskSettings(TaskSettings):
    """Which houses and episodes are played, and for which person."""

    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """Seed of the random number generator, and of the first generated house."""
    data: Annotated[str | None, NOT_COMPARED] = None
    """Folder of the Housekeep data, by default that of HOUSEKEEP_DATA if it is set. null plays generated houses."""
    scenes: Annotated[list[str] | None, SELECTION] = None
    """Scenes of the data. null is every scene that has episodes."""
    episodes: Annotated[list[int] | str | None, SELECTION] = None
    """Episodes of each scene: their ids, or the name of a task set, such as test. null is every episode."""
    houses: Annotated[int, SELECTION] = Field(default=3, ge=1, le=MAX_COUNT)
    """Number of generated houses. With data it is ignored."""
    objects: tuple[int, int] = (5, 10)
    """Minimum and maximum number of objects in a generated house."""
    misplaced: tuple[int, int] = (3, 7)
    """Minimum and maximum number of misplaced objects in a generated house."""
    kinds: ObjectKinds = "all"
    """Kinds of objects in a generated house: all, learned (without the held-out kinds; for trainings) or held_out (only
    these, which the bundled adapter has learned)."""
    person: str = "majority"
    """Person whose preferences count: majority, a bundled person or a file in generated houses, and majority or an
    annotator, such as annotator-0, in the data."""

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
    """Simulator of the house: raycast (bundled) or habitat (habitat-sim, if it is installed)."""
    max_steps: int = Field(default=1000, ge=1, le=MAX_COUNT)
    """Maximum number of low-level steps of an episode."""
    look_down: float = Field(default=30.0, ge=-85, le=85)
    """Angle at which the camera looks down at the start, in degrees; negative looks up."""
    controller: ControllerSettings = ControllerSettings()

    @field_validator("simulator")
    @classmethod
    def _check_name(cls, name: str) -> str:
        return check_known_name(name, plugin_names(SIMULATORS))


class AgentSettings(Settings):
    """The planner and its options."""

    planner: Annotated[CodeReference, former_values(**FORMER_PLANNERS)] = "llm"
    """Name of the planner (housewise list planners), or your own as FILE.py:NAME or MODULE:NAME."""
    prompt: Annotated[str, NEEDS_MODEL] = "planner"
    """Prompt of the planner: a bundled one or a file. planner is the planner's own prompt; null is the prompt that the
    adapter was trained with."""
    max_steps_per_plan: Annotated[int, NEEDS_MODEL] = Field(default=10, ge=1, le=MAX_COUNT)
    """Maximum number of high-level actions of a plan."""
    max_plans: int = Field(default=150, ge=1, le=MAX_COUNT)
    """Number of plans after which an episode ends."""
    max_idle_plans: int = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of successive plans without any executed action after which an episode ends."""
    replan_when_blocked: bool = True
    """Whether a plan ends when picking up or placing fails. If false, its other actions are tried, as in the published
    logs."""
    grounded: Annotated[bool, NEEDS_MODEL] = False
    """Whether a grammar restricts replies to the four actions and to names that the robot knows. It needs llguidance
    (pip install 'housewise[grounded]'), or a server with grammars (grammar_dialect)."""
    normalize_steps: Annotated[bool, NEEDS_MODEL] = True
    """Whether plans in other forms than the prompt's are understood, such as lists in JSON or other verbs."""
    score_actions: Annotated[bool, Affects(needs_model=True, needs=("planner", "saycan"))] = False
    """Whether the planner saycan draws actions by how likely the model is to write them (Ahn et al. 2022), and does not
    let it write one of the list, as in LLM-Personalize. It needs a model that scores texts, such as a local one."""
    familiar_kinds: Annotated[FamiliarKinds | None, NEEDS_MODEL] = None
    """Kinds of objects that the model was trained to judge. The adapter sets them. null is all kinds."""
    place_at_random: bool = False
    """Whether objects are placed even if the planner is not confident, so that people react and their memory grows: llm
    ignores the confidence thresholds, the planners without a model place objects at random."""
    wrappers: tuple[CodeReference, ...] = ()
    """Additions to the planner. Those of llm, in any order: sort_by_distance (prompts list near objects and places
    first, not in the order of discovery), check_feasibility (plans that cannot be executed, as far as the robot
    knows, are asked for again, twice at most, and infeasible actions are left out), loop_recovery (a plan that
    repeats earlier actions is replaced by what follows from the judgements, or by visits), and verify_completion
    (when the model says that the task is complete, the robot visits where it has not been, and asks again). Your own,
    behind them and from the inside out: FILE.py:NAME, MODULE:NAME, or the name of a plugin."""
    judging: Annotated[JudgingSettings, NEEDS_MODEL] = JudgingSettings()
    demonstrator: Annotated[DemonstratorSettings, Affects(needs=("planner", "demonstrator"))] = DemonstratorSettings()
    records: Annotated[str | None, Affects(compared=False, needs=("planner", "replay"))] = None
    """replay: Folder of the records whose replies are played."""

    @field_validator("wrappers", mode="before")
    @classmethod
    def _split(cls, wrappers: Any) -> Any:
        return [name.strip() for name in wrappers.split(",")] if isinstance(wrappers, str) else wrappers

    @field_validator("wrappers")
    @classmethod
    def _check_wrappers(cls, wrappers: tuple[str, ...]) -> tuple[str, ...]:
        own = ""
        for number, name in enumerate(wrappers):
            _check_code_or_name(name, [*BUNDLED_WRAPPERS, *plugin_names(WRAPPERS)])
            if any(is_same_code(name, other) for other in wrappers[:number]):
                raise PydanticCustomError("wrapper_order", "{name} is named twice; name it once", {"name": name})
            if own and name in BUNDLED_WRAPPERS:
                message = "{name} changes how the model is asked and cannot stand behind {own}; write {name} before it"
                raise PydanticCustomError("wrapper_order", message, {"name": name, "own": own})
            own = "" if name in BUNDLED_WRAPPERS else name
        return wrappers

    @field_validator("planner")
    @classmethod
    def _check_name(cls, name: str) -> str:
        return _check_code_or_name(name, plugin_names(PLANNERS))

    @property
    def bundled_wrappers(self) -> tuple[Wrapper, ...]:
        """The wrappers of the planner llm."""
        return tuple(name for name in BUNDLED_WRAPPERS if name in self.wrappers)

    @property
    def own_wrappers(self) -> tuple[str, ...]:
        """The user's wrappers, from the inside out."""
        return tuple(name for name in self.wrappers if name not in BUNDLED_WRAPPERS)


def _check_code_or_name(name: str, known: Sequence[str]) -> str:
    if is_code_reference(name):
        return name
    if name.partition(":")[0].endswith(".py"):
        raise PydanticCustomError(
            "no_class",
            "{name} does not name a class or function in the file; use {name}:NAME",
            {"name": name.rstrip(":")},
        )
    return check_known_name(name, known)


class PersonalizeSettings(RunSettings):
    """Settings of a run of LLM-Personalize."""

    system: Literal["personalize"] = "personalize"
    """Name of the system."""
    tasks: HouseTaskSettings = HouseTaskSettings()
    world: WorldSettings = WorldSettings()
    agent: AgentSettings = AgentSettings()
    models: ModelsSettings = ModelsSettings(agent=ModelSettings(sampling=SamplingSettings(top_p=0.9, max_tokens=160)))

    @model_validator(mode="before")
    @classmethod
    def _default_prompt(cls, given: Any) -> Any:
        agent = given.get("agent") if isinstance(given, dict) else None
        if not isinstance(agent, dict) or agent.get("prompt") is not None:
            return given
        defaults = {} if agent.get("planner") in ("sayplan", "saycan") else adapter_defaults(_adapter_of(given))
        return {**given, "agent": {**agent, "prompt": defaults.get("prompt", "planner")}}

    @model_validator(mode="before")
    @classmethod
    def _bundled_adapter(cls, given: Any) -> Any:
        """Replace AUTO by the bundled adapter if it was trained for model, planner and prompt, else by None.

        The last validator of this kind is called first, so that the default of the prompt depends on the adapter.
        """
        if _adapter_of(given) != AUTO:
            return given
        model = given["models"]["agent"]
        agent = given.get("agent") or {}
        is_bundled = model.get("model", "local") == "local" and agent.get("planner", "llm") == "llm"
        fits = is_bundled and _asks_for_judgements(agent.get("prompt"))
        found: dict[str, Any] = merge_nested(given, {"models": {"agent": {"adapter": BUNDLED if fits else None}}})
        return found

    @model_validator(mode="after")
    def _check_meaning(self) -> PersonalizeSettings:
        if self.agent.planner in ("memory_nearest", "memory_kernel") and self.memory.meaning is False:
            raise ValueError(f"planner={self.agent.planner} needs sentence embeddings; leave memory.meaning out")
        if self.agent.judging.weigh_notes and self.memory.meaning is False:
            raise ValueError("weigh_notes needs sentence embeddings; leave memory.meaning out")
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


def house_defaults() -> dict[str, Any]:
    """Return every setting with its default.

    The prompt depends on the adapter, which depends on the model. The confidence depends on the scoring of placements.
    """
    agent = {"prompt": None, "judging": {"confidence": None}}
    derived = {"agent": agent, "models": {"agent": {"adapter": AUTO}}}
    return merge_nested(PersonalizeSettings().model_dump(mode="json"), derived)


def house_settings(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> PersonalizeSettings:
    """Combine the settings of a run; see core.settings_loading.load_with_derived_defaults.

    The defaults of an adapter override those of the classes, and given settings override both. Unlike ``housewise
    run``, which starts with ``adapter=auto``, this uses no adapter unless one is named.
    """
    base = merge_nested(house_defaults(), {"models": {"agent": {"adapter": None}}})
    return load_with_derived_defaults(PersonalizeSettings, base, derived_defaults, file, settings, overrides)


def derived_defaults(run: PersonalizeSettings) -> dict[str, Any]:
    """Return the defaults that follow from a run's adapter and from the person of its memory, by section."""
    return merge_nested(run.model_defaults, run.memory_person_settings)


def _asks_for_judgements(prompt: Any) -> bool:
    """Return whether a prompt asks for judgements, as those of the bundled adapter do. None is the adapter's own."""
    from housewise.agent.personalize.prompt_notes import NotesTemplate

    if prompt in (None, adapter_defaults(BUNDLED).get("prompt")):
        return True
    return isinstance(prompt, str) and NotesTemplate.load(prompt).judging


def _adapter_of(given: Any) -> Any:
    if not isinstance(given, dict):
        return None
    models = given.get("models")
    model = models.get("agent") if isinstance(models, dict) else None
    return model.get("adapter") if isinstance(model, dict) else None
