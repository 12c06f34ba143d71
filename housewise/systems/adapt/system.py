"""ADAPT (arXiv 2504.04040): prepare breakfast in a text kitchen for a person whose preferences have to be found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from housewise.agent.adapt.planner_prompt import Briefing, PlannerPrompt
from housewise.agent.adapt.policy import LLMPolicy
from housewise.agent.adapt.prompts import find_prompts, load_prompts
from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook, PhraseBook
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.agent.base import Agent
from housewise.core.errors import UserError, suggest_names
from housewise.core.record import Event
from housewise.core.text_files import is_file
from housewise.language.adapters import adapter_defaults
from housewise.language.base import ChatModel
from housewise.language.embedder import minilm_folder, shared_minilm
from housewise.people.chat_respondent import ChatRespondent, respondent_sampling
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, check_paraphrases, find_profile_files, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import default_topics
from housewise.people.kitchen.respondent import KitchenRespondent
from housewise.people.memory import Memory
from housewise.people.memory.note import check_person_name
from housewise.people.respondent import Respondent as Speaker
from housewise.people.terminal_respondent import TerminalRespondent
from housewise.rollout.episode_loop import EpisodeLimits, Progress
from housewise.rollout.scores import Score
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job, System, Task
from housewise.systems.adapt.agents import LLMCookAgent, ScriptedCookAgent, format_known_answers
from housewise.systems.adapt.record import EVENTS, AdaptInitialState, KitchenAnswerEvent
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.world import BREAKFAST_TASK, BreakfastObservation, BreakfastWorld
from housewise.worlds.kitchen.kitchen_data import load_kitchen
from housewise.worlds.kitchen.world import TextKitchen


class Adapt(System[AdaptSettings]):
    """The ADAPT system; see System. An episode is one person, one task and one scene."""

    name = "adapt"
    Settings = AdaptSettings
    events = EVENTS
    scores = (
        Score("satisfaction", column="satisfaction", unit="%", better="higher", scale=100, error=True),
        Score("satisfied", "wishes satisfied", "satisfied", better="higher"),
        Score("applicable", "wishes that apply", "apply"),
        Score("questions", column="asked", better="lower"),
        Score("recalled", "answers recalled"),
        Score("executed", "actions", "actions", better="lower"),
        Score("failed", "failed actions", "failed", better="lower"),
    )

    seconds_per_episode = (1.0, 25.0)
    # Answers are remembered.
    uses_memory = True

    def __init__(self, settings: AdaptSettings) -> None:
        super().__init__(settings)
        chosen = settings.tasks
        self._people = {person.name: person for person in load_profiles(chosen.people or ADAPT_PROFILES)}
        self._prompts = load_prompts(find_prompts(settings.agent.prompt))
        tasks = load_kitchen().tasks.tasks
        self._cooked_for = [self._find_person(name) for name in chosen.person] or list(self._people.values())
        for number in chosen.task:
            if number not in tasks:
                raise UserError(f"setting task: there is no task {number} in the kitchen; use one of {sorted(tasks)}")
        self._numbers = {
            f"{person.name}-{number}": (person, number)
            for person in self._cooked_for
            for number in chosen.task or tuple(tasks)
        }

    @classmethod
    def advice(cls, settings: AdaptSettings) -> Mapping[str, Any]:
        """See System.advice. A named model is used as the planner, with the defaults of its adapter."""
        asked = settings.models.agent
        if not asked.is_named:
            return {}
        return {"agent": {"planner": "llm", **adapter_defaults(asked.adapter, cls.name)}}

    @classmethod
    def task_key(cls, initial_state: Mapping[str, Any]) -> Any:
        """See System.task_key. The key is the task, the person and the objects."""
        return initial_state["number"], initial_state["person"], initial_state["things"]

    @property
    def roles(self) -> Sequence[str]:
        """See System.roles."""
        chosen, person = self.settings.agent, self.settings.tasks.answering == "model"
        return (*(("agent",) if chosen.planner == "llm" else ()), *(("person",) if person and chosen.asks else ()))

    @property
    def replayed_events(self) -> Sequence[type[Event]]:
        """See System.replayed_events."""
        return () if self.is_local("person") else self.events

    @property
    def agent(self) -> str:
        """See System.agent."""
        return self.settings.agent.planner

    def respondents(self, job: Job) -> Sequence[str]:
        """See System.respondents. The user at the terminal is the person of the memory."""
        return [] if self.settings.tasks.answering == "terminal" else super().respondents(job)

    @property
    def interactive(self) -> bool:
        """See System.interactive."""
        return self.settings.agent.asks and self.settings.tasks.answering == "terminal"

    def tasks(self) -> Sequence[Task]:
        """See System.tasks."""
        return [Task(name, f"task-{number}", person.name) for name, (person, number) in self._numbers.items()]

    def check(self) -> None:
        """See System.check."""
        chosen, answering = self.settings.agent, self.settings.tasks.answering
        for person in self._cooked_for:
            check_person_name(person.name, f"{self.settings.tasks.people or ADAPT_PROFILES}: name")
        if chosen.planner == "llm" and chosen.asking == "always" and not chosen.grounded:
            raise UserError("asking=always: only the grammar can force a model to ask; remove grounded=false")
        if not chosen.asks:
            return
        if answering in ("meaning", "paraphrase"):
            minilm_folder()
        if answering == "paraphrase":
            for person in self._cooked_for:
                check_paraphrases(person)
        if answering != "meaning" and chosen.planner == "always":
            raise UserError(
                f"answering={answering}: the scripted cook only understands the sentences of people's files; use "
                "planner=llm, or leave answering out"
            )
        self.check_one_at_a_time("answering=terminal")

    def files(self) -> dict[str, Path]:
        """See System.files. The files are custom people and prompts."""
        people, prompt = self.settings.tasks.people, self.settings.agent.prompt
        found = {"prompt": Path(prompt)} if prompt and is_file(Path(prompt)) else {}
        for path in find_profile_files(people) if people else ():
            found["people" if path == Path(str(people)) else f"people/{path.stem}"] = path
        return found

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        job, models, memory = context.job, context.models, context.memory
        assert memory is not None, "a system that remembers is given a memory"
        chosen = self.settings.agent
        person, number = self._numbers[job.task.name]
        steps = 2 * chosen.max_steps if chosen.always_asks else chosen.max_steps
        kitchen, judge = TextKitchen(number, job.seed, max_steps=steps), PreferenceJudge(number)
        told = _recall_answers(memory)
        earlier = {
            event.question: event.text
            for event in reversed(job.interrupted_events)
            if isinstance(event, KitchenAnswerEvent)
        }

        def speaker() -> Speaker:
            return self._speaker(person, kitchen, judge, models, memory.person, job.seed)

        known = {} if chosen.asks_again else dict(told)
        most = chosen.max_questions if chosen.asks else 0
        world = BreakfastWorld(kitchen, person, judge, speaker, memory.person, earlier, known, most)
        things = sorted(kitchen.state.entities.keys() - kitchen.kitchen.furniture.keys())
        setting = AdaptInitialState(
            task=kitchen.task.text,
            number=number,
            person=person.name,
            about=person.about,
            things=things,
            remembered_answers=len(told),
        )
        # The world itself limits the number of steps.
        limits = EpisodeLimits(plans=None, idle_plans=None)
        return EpisodeSetup(world, self._agent(job, person, kitchen, models, told, context.progress), setting, limits)

    def _agent(
        self,
        job: Job,
        person: KitchenProfile,
        kitchen: TextKitchen,
        models: Mapping[str, ChatModel],
        told: Sequence[tuple[str, str]],
        progress: Progress,
    ) -> Agent[BreakfastObservation, str]:
        chosen, number = self.settings.agent, kitchen.number
        if chosen.planner == "llm":
            sampling = replace(self.settings.models.agent.sampling.with_seed(job.seed), stop=("\n",))
            verbs = kitchen.kitchen.verbs
            asking = chosen.asking if chosen.asks else "never"
            prompt = PlannerPrompt(self._prompts, asking, chosen.thinks, chosen.max_turns)
            policy = LLMPolicy(models["agent"], prompt, sampling, verbs.open, chosen.grounded, chosen.thinks)
            briefing = Briefing(kitchen.task.text, kitchen.layout(), format_known_answers(told))
            most = chosen.max_questions
            return LLMCookAgent(policy, briefing, verbs, chosen.asking, most, progress)
        if chosen.planner == "cook":
            return ScriptedCookAgent(OracleCook(person, number), progress)
        if chosen.planner == "teacher":
            teacher = ExploringCook(OracleCook(person, number), kitchen.kitchen.verbs)
            return ScriptedCookAgent(teacher, progress)
        # The person comes last, so that their own meaning of a sentence is used.
        phrases = PhraseBook([*self._people.values(), person])
        most = chosen.max_questions if chosen.planner == "always" else 0
        return ScriptedCookAgent(AskingCook(number, phrases, default_topics(), most, told), progress)

    def _speaker(
        self,
        person: KitchenProfile,
        kitchen: TextKitchen,
        judge: PreferenceJudge,
        models: Mapping[str, ChatModel],
        remembered: str,
        seed: int,
    ) -> Speaker:
        answering = self.settings.tasks.answering
        if answering == "terminal":
            return TerminalRespondent(name=remembered, alternative="answering=meaning")
        if answering == "model":
            start = kitchen.trace.start
            told = self._prompts.person.format(
                task=kitchen.task.text,
                wishes="\n".join(f"- {wish.text}" for wish in person.preferences if kitchen.number in wish.tasks),
                things=", ".join(start[id].description or id for id in sorted(kitchen.trace.available)),
            )
            return ChatRespondent(
                models["person"], told, remembered, respondent_sampling(self.settings.models.person.sampling, seed)
            )
        paraphrasing = answering == "paraphrase"
        return KitchenRespondent(person, judge, kitchen.trace, shared_minilm(), paraphrasing=paraphrasing)

    def _find_person(self, name: str) -> KitchenProfile:
        if name not in self._people:
            raise UserError(f"setting person: nobody is named {name!r}; {suggest_names(name, self._people)}")
        return self._people[name]


def _recall_answers(memory: Memory) -> list[tuple[str, str]]:
    """Return the answered questions about breakfasts in a memory, oldest first."""
    return [
        (note.about.question or "", note.text)
        for note in memory.notes
        if note.kind == "answer" and note.about.task == BREAKFAST_TASK
    ]
