"""CLIPR (arXiv 2605.12682): at most ten questions to a person, readable rules, and choices that follow them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from housewise.agent.clipr.action_choice import Inference, split_batches
from housewise.agent.clipr.chat_steps import ChatSteps
from housewise.agent.clipr.elicitation import RememberedConversation
from housewise.agent.clipr.finetuned_chooser import FineTunedChooser
from housewise.agent.clipr.language_steps import LabelledExample, LanguageSteps
from housewise.agent.clipr.local_steps.local_steps import LocalSteps, open_questions_file
from housewise.agent.clipr.memory_notes import note_topic, recall_conversation
from housewise.agent.clipr.method_inputs import MethodInputs
from housewise.agent.clipr.methods import METHODS
from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.core.errors import UserError
from housewise.core.text_files import is_file
from housewise.language.adapters import adapter_defaults
from housewise.language.base import ChatModel, Sampling
from housewise.language.embedder import minilm_folder, shared_minilm
from housewise.language.model_timer import ModelTimer
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
    CorrectionEvent,
    DecisionEvent,
    ReviewEvent,
    RulesEvent,
)
from housewise.systems.clipr.settings import CliprSettings
from housewise.systems.clipr.world import ChoiceWorld
from housewise.worlds.choices.choice_sets import KITCHEN_SET, is_bundled_set, is_house_set, load_choices
from housewise.worlds.choices.scenario import ChoiceSet, Scenario

_LOCAL, _FINETUNED = "local", "finetuned"


class Clipr(System[CliprSettings]):
    """The CLIPR system; see System. An episode is one person with all choices."""

    name = "clipr"
    Settings = CliprSettings
    events = (CliprQuestionEvent, CliprAnswerEvent, CorrectionEvent, RulesEvent, DecisionEvent, ReviewEvent)
    scores = (
        Score("accuracy", column="accuracy", unit="%", better="higher", scale=100, error=True),
        Score("accuracy_in_distribution", "in distribution", "in", "%", "higher", scale=100, error=True),
        Score("accuracy_out_of_distribution", "out of distribution", "out", "%", "higher", scale=100, error=True),
        Score("accuracy_training", "examples", unit="%", better="higher", scale=100),
        Score("accuracy_table7", "labels of the paper's table 7", unit="%", better="higher", scale=100),
        Score("accuracy_ours", "labels of our completion", unit="%", better="higher", scale=100),
        Score("accuracy_stable", "labels of stable families", unit="%", better="higher", scale=100),
        Score("accuracy_contextual", "labels of contextual families", unit="%", better="higher", scale=100),
        Score("satisfied", "requests satisfied", unit="%", better="higher", scale=100),
        Score("calls", "model calls", "calls", better="lower"),
        Score("calls_before_choices", "model calls before the first choice", better="lower"),
        Score("questions", "questions to the person", "asked", better="lower"),
        Score("unreadable", "unreadable replies"),
    )

    seconds_per_episode = (15.0, None)

    @classmethod
    def advice(cls, settings: CliprSettings) -> Mapping[str, Any]:
        """See System.advice. A named model performs the language steps."""
        asked = settings.models.agent
        return {"agent": {"components": "chat", **adapter_defaults(asked.adapter, cls.name)}} if asked.is_named else {}

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
        if METHODS[self.settings.agent.method].needs_embeddings:
            minilm_folder()
        if self.uses_memory and not METHODS[self.settings.agent.method].remembers:
            raise UserError(
                f"setting method: {self.settings.agent.method} remembers nobody; leave out --memory, or use clipr or "
                "adaptive"
            )
        if self.uses_memory and self.settings.agent.contradict_rules and self.settings.memory.learn != "never":
            raise UserError(
                f"setting contradict_rules: would write the opposite of each rule into the memory of "
                f"{self.settings.memory.start}; add memory.learn=never, or leave out --memory"
            )

    def files(self) -> dict[str, Path]:
        """See System.files. The choices, or the person of choices in houses, may be a file of the user."""
        data = self.settings.tasks.data
        setting, name = ("person", data.partition(":")[2]) if is_bundled_set(data) else ("choices", data)
        return {setting: Path(name)} if is_file(Path(name)) else {}

    def job_data(self, job: Job) -> ChoiceSet:
        """See System.job_data. The data are the choices.

        Raises:
            DataError: The choices cannot be read.
        """
        chosen = self.settings.tasks
        return load_choices(
            chosen.data, chosen.examples, job.seed, Path(chosen.annotators) if chosen.annotators else None
        )

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        job, models, memory = context.job, context.models, context.memory
        choices, chosen, method = context.job_data, self.settings.agent, METHODS[self.settings.agent.method]
        timer, topic = ModelTimer(), note_topic(choices.name)
        # The person's model, which may be the same one, is not timed.
        own = {role: timer.wrap(models[role]) for role in ("agent",) if role in models}
        language = self._language(job, own, choices.name)
        test = tuple(random.Random(job.seed).sample(choices.test, len(choices.test)))
        examples = tuple(replace(each, tier="training") for each in choices.examples)
        training = examples if self.settings.tasks.training else ()
        size = 1 if method.is_stepwise else chosen.batch
        in_turn = [batch for some in (training, test) for batch in split_batches(some, size)]
        tasks, shown = self.settings.tasks, [each.situation for each in choices.examples]
        person = self._person(job, models, choices, tasks.person)
        reviewer = self._person(job, models, choices, tasks.person_in_reviews) if tasks.person_in_reviews else None
        world = ChoiceWorld(shown, in_turn, person, language.usage, method, reviewer)
        known = recall_conversation(memory, topic) if memory else RememberedConversation()
        inputs = MethodInputs(
            Inference(language, chosen.batch, job.seed),
            chosen.max_questions,
            chosen,
            known,
            chosen.synthesize_from_examples,
            chosen.contradict_rules,
            _label(choices.examples) if method.has_labelled_examples else (),
            _label_as_annotated(choices.knowledge or choices.examples) if method.has_knowledge else (),
            chosen.max_corrections,
            shared_minilm() if method.needs_embeddings else None,
        )
        agent = CliprAgent(method.play, inputs, topic, memory, timer)
        # Decisions: questions of the interview; per batch a choice, a review's question and its replay; and the end.
        most = chosen.max_questions + 3 * len(in_turn) + 2
        state = ChoiceInitialState.from_choices(choices, training, test, len(known.dialogue), len(known.rules))
        return EpisodeSetup(world, agent, state, EpisodeLimits(most, most))

    def _language(self, job: Job, models: Mapping[str, ChatModel], data: str) -> LanguageSteps:
        if self.settings.agent.components == _LOCAL:
            return LocalSteps(shared_minilm(), open_questions=open_questions_file(data))
        if self.settings.agent.components == _FINETUNED:
            return FineTunedChooser(shared_minilm(), models["agent"])
        return ChatSteps(models["agent"], sampling=self.settings.models.agent.sampling.with_seed(job.seed))

    def _person(self, job: Job, models: Mapping[str, ChatModel], choices: ChoiceSet, manner: str) -> Respondent:
        chosen = self.settings.tasks
        known = choices.person or (PROFILES_FOLDER / f"{choices.name}.yaml").is_file()
        own = find_profile(choices) if known else read_profile(KITCHEN_SET)
        profile = read_profile(chosen.profile) if chosen.profile else own
        misleads = manner == "adversarial"
        if chosen.speech == _LOCAL:
            return ChoicesRespondent(profile, shared_minilm(), job.seed, misleads, UNSEEN_SPEECH_FILE)
        sampling = self.settings.models.person.sampling.with_seed(job.seed)
        return open_chat_person(models["person"], profile, misleads, sampling)


def open_chat_person(model: ChatModel, profile: Profile, adversarial: bool, sampling: Sampling) -> ChatRespondent:
    """Return a chat model that plays a person with a profile (CLIPR, appendix D.7)."""
    manner = "adversarial" if adversarial else "cooperative"
    told = CliprPrompts().fill("person", manner, topics=profile.topics)
    return ChatRespondent(model, told, respondent_name(profile, adversarial), sampling, keeps_history=True)


def _label(scenarios: Sequence[Scenario]) -> tuple[LabelledExample, ...]:
    return tuple(LabelledExample(each.situation, each.preferred) for each in scenarios)


def _label_as_annotated(scenarios: Sequence[Scenario]) -> tuple[LabelledExample, ...]:
    """Return scenarios with the labels of the data set's annotators, where they exist."""
    return tuple(
        LabelledExample(each.situation, each.preferred if each.annotated is None else each.annotated)
        for each in scenarios
    )
