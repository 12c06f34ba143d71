"""Settings of BASIS runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from housewise.core.setting_marks import NEEDS_MODEL, NOT_COMPARED, SELECTION, Affects
from housewise.core.settings import MAX_COUNT, ONE_OR_SEVERAL, Settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.lab.history import Naming
from housewise.worlds.lab.scenarios import MAX_ACTIONS, Split

Planner = Literal["oracle", "shuffled", "random", "frequent", "silent", "llm", "limited", "nearest"]
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
_IF_SCRIPTED_PERSON, _IF_SIMULATED_PERSON, _IF_LEARNER, _IF_LEARNER_OR_LIMITED = (
    Affects(needs=("person", ("bob", "alice"))),
    Affects(needs=("person", ("bob", "alice", "model"))),
    Affects(needs=("planner", ("llm", "nearest"))),
    Affects(needs=("planner", ("llm", "limited", "nearest"))),
)
DESCRIBING = ("oracle", "limited", "llm")
"""Planners that can choose among descriptions."""
_PAPER_SAMPLING = SamplingSettings(temperature=0.7, top_p=0.95, max_tokens=512)


class BasisTaskSettings(TaskSettings):
    """Which scenarios are played, and who acts."""

    variant: Annotated[tuple[_Name, ...], SELECTION, ONE_OR_SEVERAL] = ()
    """Names of variants, such as make_carrot__banana__simple. An empty list takes all 70."""
    scenarios: Annotated[int, SELECTION] = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of scenarios per variant."""
    split: Split = "training"
    """Scenarios for training or for tests. Layouts, looks and seeds of the two differ."""
    attempts: int = Field(default=1, ge=1, le=10)
    """Maximum number of attempts at a scenario (3 in the paper). After a failure the scenario starts again."""
    max_actions: int = Field(default=MAX_ACTIONS, ge=1, le=MAX_COUNT)
    """Maximum number of the person's actions per attempt, speech included."""
    person: Literal["bob", "alice", "model", "terminal"] = "bob"
    """Who acts: the scripted Bob or Alice, a chat model (models.person), or you at the terminal."""
    persona: Annotated[Literal["bob", "alice"], Affects(needs=("person", "model"))] = "bob"
    """Whom the chat model plays. Bob likes to be sure and asks; Alice wants to be done soon and speaks very briefly."""
    naming: Annotated[Naming, _IF_SIMULATED_PERSON] = "fuzzy"
    """What the simulated person calls uncommon things: fuzzy (a machine, a computer), or full, by their names."""
    hears: Annotated[bool, _IF_SCRIPTED_PERSON] = True
    """Whether the scripted person hears the assistant. false is the control without an assistant."""
    mistakes: Annotated[float | None, _IF_SCRIPTED_PERSON] = Field(default=None, ge=0, le=1)
    """Probability of a mistake of the scripted person. null is the bundled one."""
    patience: Annotated[int | None, _IF_SCRIPTED_PERSON] = Field(default=None, ge=0, le=MAX_COUNT)
    """Number of searches and questions about one advice before the scripted person gives up on it. null is the bundled
    one."""
    talkativeness: Annotated[float | None, _IF_SCRIPTED_PERSON] = Field(default=None, ge=0, le=1)
    """Probability that the scripted person acknowledges an advice, and asks which of several things is meant. null is
    that of Bob or Alice."""
    person_wording: Annotated[_Name, _IF_SCRIPTED_PERSON] = "training"
    """Wording of the scripted person: training, held_out, or a YAML file."""
    recognition_seed: Annotated[int | None, _IF_SCRIPTED_PERSON] = Field(default=None, ge=0, le=MAX_COUNT)
    """Seed of the one description of each uncommon thing in which the scripted person recognises it at once: a thing
    that was described so is neither overlooked nor mistaken. null has none."""


class BasisAgentSettings(Settings):
    """Who guides."""

    planner: Annotated[Planner, NOT_COMPARED] = "oracle"
    """Who guides. oracle is scripted and knows everything but the person's goal until they name it; shuffled is the
    same and describes each device by the look of another one; random gives random advice; frequent always gives the
    oracle's most frequent one; silent says nothing; llm is a chat model (models.agent). limited is the scripted oracle
    that knows little more than llm would be told; nearest says what was said at the most similar turn that the adapter
    of models.agent has learned."""
    wording: Annotated[
        _Name, Affects(needs=("planner", ("oracle", "shuffled", "random", "limited", "llm", "nearest")))
    ] = "training"
    """Wording of the scripted oracle: training, held_out, or a YAML file. The planners llm and nearest read its
    descriptions of things."""
    perception: Annotated[Literal["words", "truth"], _IF_LEARNER_OR_LIMITED] = "truth"
    """How the planner llm perceives what is in view: what a picture shows, in words, or the simulator's metadata, which
    the paper gives to its oracle."""
    task_knowledge: Annotated[bool, _IF_LEARNER] = True
    """Whether the planner llm is given the general steps of the task that the person has named."""
    object_knowledge: Annotated[bool, _IF_LEARNER_OR_LIMITED] = True
    """Whether the planner llm is given cards of devices that were named or are in view."""
    environment_knowledge: Annotated[bool, _IF_LEARNER_OR_LIMITED] = True
    """Whether the planner llm is told where things are that were named."""
    reasoning: Annotated[bool, _IF_LEARNER] = True
    """Whether the planner llm writes down a thought before it speaks."""
    shuffled_descriptions: Annotated[bool, _IF_LEARNER] = False
    """Whether each device is described to the planner llm or nearest by the look of another one: a control."""
    remembers_descriptions: Annotated[bool, Affects(needs=("planner", DESCRIBING))] = False
    """Whether the assistant remembers by which descriptions the person found uncommon things, and prefers those."""
    compact: bool = False
    """Whether prompts are the short ones for small models. The planner nearest compares them without a model."""
    grounded: Annotated[bool, NEEDS_MODEL] = False
    """Whether replies of models are held to a grammar."""


class BasisModelsSettings(ModelsSettings):
    """Models of the assistant and of a person who is played by a model."""

    agent: ModelSettings = ModelSettings(sampling=_PAPER_SAMPLING)
    person: ModelSettings = ModelSettings(sampling=_PAPER_SAMPLING)


class BasisSettings(RunSettings):
    """Settings of one BASIS run."""

    system: Literal["basis"] = "basis"
    """Name of the system."""
    tasks: BasisTaskSettings = BasisTaskSettings()
    agent: BasisAgentSettings = BasisAgentSettings()
    models: BasisModelsSettings = BasisModelsSettings()

    @property
    def memory_person_settings(self) -> dict[str, dict[str, str]]:
        """See RunSettings.memory_person_settings. A scripted person has the name of the memory."""
        name, is_used = self.memory.start, self.agent.remembers_descriptions
        is_scripted = name in ("bob", "alice") and not self.models.person.is_named
        return {"tasks": {"person": name}} if name and is_used and is_scripted else {}
