"""CLIPR (arXiv 2605.12682): at most ten questions to a person, readable rules, and choices that follow them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from housewise.agent.clipr.action_choice import Inference, split_batches
from housewise.agent.clipr.adaptive import Critic
from housewise.agent.clipr.chat_steps import ChatSteps, CliprPrompts
from housewise.agent.clipr.finetuned_chooser import FineTunedChooser
from housewise.agent.clipr.language_steps import LanguageSteps
from housewise.agent.clipr.local_steps.local_components import LocalComponents
from housewise.agent.clipr.memory_notes import note_topic, recall_answers, recall_rules
from housewise.core.text_files import is_file
from housewise.language.adapters import adapter_defaults
from housewise.language.base import ChatModel, Sampling
from housewise.language.embedder import minilm_folder, shared_minilm
from housewise.language.settings import ModelSettings
from housewise.people.chat_respondent import ChatRespondent
from housewise.people.choices.house_profiles import find_profile
from housewise.people.choices.profiles import PROFILES_FOLDER, Profile, read_profile
from housewise.people.choices.respondent import ChoicesRespondent, respondent_name
from housewise.people.respondent import Respondent
from housewise.people.speech import UNSEEN_SPEECH_FILE
from housewise.rollout.episode_loop import EpisodeLimits
from housewise.rollout.scores import Score
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job, System, Task
from housewise.systems.clipr.agent import CliprAgent
from housewise.systems.clipr.record import (
    ChoiceInitialState,
    CliprAnswerEvent,
    CliprQuestionEvent,
    DecisionEvent,
    ReviewEvent,
    RulesEvent,
)
from housewise.systems.clipr.settings import CliprSettings
from housewise.systems.clipr.world import ChoiceWorld
from housewise.worlds.choices.choice_sets import KITCHEN_SET, is_bundled_set, is_house_set, load_choices
from housewise.worlds.choices.scenario import ChoiceSet

_LOCAL, _FINETUNED = "local", "finetuned"


class Clipr(System[CliprSettings]):
    """The CLIPR system; see System. An episode is one person with all choices."""

    name = "clipr"
    Settings = CliprSettings
    events = (CliprQuestionEvent, CliprAnswerEvent, RulesEvent, DecisionEvent, ReviewEvent)
    scores = (
        Score("accuracy", column="accuracy", unit="%", better="higher", scale=100, error=True),
        Score("accuracy_in_distribution", "in distribution", "in", "%", "higher", scale=100, error=True),
        Score("accuracy_out_of_distribution", "out of distribution", "out", "%", "higher", scale=100, error=True),
        Score("accuracy_training", "examples", unit="%", better="higher", scale=100),
        Score("satisfied", "requests satisfied", unit="%", better="higher", scale=100),
        Score("calls", "model calls", "calls", better="lower"),
        Score("questions", "questions to the person", "asked", better="lower"),
        Score("unreadable", "unreadable replies"),
    )

    seconds_per_episode = (15.0, None)

    @classmethod
    def advice(cls, settings: CliprSettings) -> Mapping[str, Any]:
        """See System.advice. A named model performs the language steps."""
        asked, usual = settings.models.agent, ModelSettings()
        named = any(getattr(asked, key) != getattr(usual, key) for key in ("model", "base_url", "adapter"))
        return {"agent": {"components": "chat", **adapter_defaults(asked.adapter, cls.name)}} if named else {}

    @classmethod
    def task_key(cls, initial_state: Mapping[str, Any]) -> Any:
        """See System.task_key. The key is the data set and the order of the tests."""
        return initial_state.get("data"), initial_state.get("order")

    @property
    def roles(self) -> Sequence[str]:
        """See System.roles."""
        asked = {"agent": self.settings.agent.components, "person": self.settings.tasks.speech}
        return tuple(role for role, components in asked.items() if components != _LOCAL)

    @property
    def agent(self) -> str:
        """See System.agent."""
        return f"{self.settings.agent.method} ({self.settings.agent.components})"

    @property
    def uses_memory(self) -> bool:
        """See System.uses_memory. True if a memory is named."""
        return self.settings.memory.start is not None

    def tasks(self) -> Sequence[Task]:
        """See System.tasks. There is one task."""
        chosen = self.settings.tasks
        made, _, who = chosen.data.partition(":") if is_bundled_set(chosen.data) else ("", "", chosen.data)
        data = "-".join(part for part in (made, Path(who).stem) if part)
        return [Task(data, data, chosen.person)]

    def respondents(self, job: Job) -> Sequence[str]:
        """See System.respondents. Only choices in houses are those of a named person."""
        person = self.job_data(job).person if is_house_set(self.settings.tasks.data) else None
        return [person.name] if person else []

    def check(self) -> None:
        """See System.check."""
        if {_LOCAL, _FINETUNED} & {self.settings.agent.components, self.settings.tasks.speech}:
            minilm_folder()

    def files(self) -> dict[str, Path]:
        """See System.files. The choices may be a file of the user."""
        data = self.settings.tasks.data
        return {"choices": Path(data)} if not is_bundled_set(data) and is_file(Path(data)) else {}

    def job_data(self, job: Job) -> ChoiceSet:
        """See System.job_data. The data are the choices.

        Raises:
            DataError: The choices cannot be read.
        """
        return load_choices(self.settings.tasks.data, self.settings.tasks.examples, job.seed)

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        job, models, memory = context.job, context.models, context.memory
        choices, chosen = context.job_data, self.settings.agent
        language, topic = self._language(job, models), note_topic(choices.name)
        test = tuple(random.Random(job.seed).sample(choices.test, len(choices.test)))
        examples = tuple(replace(each, tier="training") for each in choices.examples)
        training = examples if self.settings.tasks.training else ()
        in_turn = [batch for some in (training, test) for batch in split_batches(some, chosen.batch)]
        person = self._person(job, models, choices)
        world = ChoiceWorld([each.situation for each in choices.examples], in_turn, person, language.usage)
        inference = Inference(language, chosen.batch, job.seed)
        critic = Critic(language, chosen, job.seed) if chosen.method == "adaptive" else None
        agent = CliprAgent(inference, critic, chosen.max_questions, topic, memory)
        known = (len(recall_answers(memory, topic)), len(recall_rules(memory, topic))) if memory else (0, 0)
        # Decisions: questions of the interview; per batch a choice, a review's question and its replay; and the end.
        most = chosen.max_questions + 3 * len(in_turn) + 2
        return EpisodeSetup(
            world, agent, ChoiceInitialState.from_choices(choices, training, test, *known), EpisodeLimits(most, most)
        )

    def _language(self, job: Job, models: Mapping[str, ChatModel]) -> LanguageSteps:
        if self.settings.agent.components == _LOCAL:
            return LocalComponents(shared_minilm())
        if self.settings.agent.components == _FINETUNED:
            return FineTunedChooser(shared_minilm(), models["agent"])
        return ChatSteps(models["agent"], sampling=_sampling(self.settings.models.agent, job))

    def _person(self, job: Job, models: Mapping[str, ChatModel], choices: ChoiceSet) -> Respondent:
        chosen = self.settings.tasks
        known = choices.person or (PROFILES_FOLDER / f"{choices.name}.yaml").is_file()
        own = find_profile(choices) if known else read_profile(KITCHEN_SET)
        profile = read_profile(chosen.profile) if chosen.profile else own
        misleads = chosen.person == "adversarial"
        if chosen.speech == _LOCAL:
            return ChoicesRespondent(profile, shared_minilm(), job.seed, misleads, UNSEEN_SPEECH_FILE)
        return open_chat_person(models["person"], profile, misleads, _sampling(self.settings.models.person, job))


def open_chat_person(model: ChatModel, profile: Profile, adversarial: bool, sampling: Sampling) -> ChatRespondent:
    """Return a chat model that plays a person with a profile (CLIPR, appendix D.7)."""
    manner = "adversarial" if adversarial else "cooperative"
    told = CliprPrompts().fill("person", manner, topics=profile.topics)
    return ChatRespondent(model, told, respondent_name(profile, adversarial), sampling, keeps_history=True)


def _sampling(settings: ModelSettings, job: Job) -> Sampling:
    return Sampling(**settings.sampling.model_dump(), seed=job.seed)
