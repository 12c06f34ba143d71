"""STARS (AAAI 2024, arXiv 2306.06770): a robot that learns where things belong by asking a language model for goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import (
    KNOWN_PLACES,
    load_examples,
    load_robot,
    load_task,
    load_vocabulary,
    person_instructions,
)
from housewise.agent.stars.goal_grammar import GoalGrammar, GoalLanguage
from housewise.agent.stars.goal_memory import LearnedGoals
from housewise.agent.stars.goal_notes import goals_from_notes
from housewise.agent.stars.lessons import GoalSelector
from housewise.agent.stars.nearest_meaning import NearestMeaning
from housewise.agent.stars.other_selectors import AllRotationsSelector, RatingSelector, ShortlistSelector
from housewise.agent.stars.oversight import OversightUser, RespondentUser, SimulatedUser, TerminalOversightUser
from housewise.agent.stars.planning import plan_goal
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.retrieval import RetrievalConfig
from housewise.agent.stars.stars_loop import GoalLearner, NumberedSelector
from housewise.agent.stars.tasks import StarsTask as Room_Task
from housewise.core.errors import UserError
from housewise.core.record import Event
from housewise.core.text_files import is_file
from housewise.language import ChatModel
from housewise.language.adapters import adapter_folder
from housewise.language.completion import CompletionModel
from housewise.language.embedder import shared_minilm
from housewise.people.chat_respondent import ChatRespondent, respondent_sampling
from housewise.people.terminal_respondent import TerminalRespondent
from housewise.rollout.episode_loop import EpisodeLimits
from housewise.rollout.scores import Score
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job, Task
from housewise.systems.shared_simulator import SharedSimulatorSystem
from housewise.systems.stars.agent import StarsAgent
from housewise.systems.stars.earlier_replies import EarlierReplies, ResumedRetriever, ResumedSelector
from housewise.systems.stars.house_body import HouseBody, build_house_task, load_stand_ins
from housewise.systems.stars.lazy_models import open_lazy_completion_model
from housewise.systems.stars.record import EVENTS, GoalAnswerEvent, StarsInitialState
from housewise.systems.stars.settings import StarsSettings
from housewise.systems.stars.world import RoomWorld
from housewise.worlds.house.simulator import check_simulator


class Stars(SharedSimulatorSystem[StarsSettings]):
    """The STARS system: tidying symbolic rooms; see System."""

    name = "stars"
    Settings = StarsSettings
    events = EVENTS
    scores = (
        Score("completion_percent", "completion", "done", "%", "higher", error=True),
        Score("objects_percent", "objects in place", "in place", "%", "higher"),
        Score("retrieved", "goals retrieved", "goals"),
        Score("viable_percent", "viable goals", "viable", "%", "higher", weight="retrieved"),
        Score("proposed", "questions", "asked", better="lower"),
        Score("sourced", "goals of the model used", "sourced"),
        Score("stated", "goals stated", "stated", better="lower"),
        Score("recalled", "goals recalled", "recalled"),
        Score("instructions", better="lower"),
        Score("words", "words of the person", "words", better="lower", decimals=0),
        Score("calls", "calls of models", decimals=0),
    )

    reply_limit = "agent.max_goal_tokens"
    seconds_per_episode = (None, 60.0)
    # Goals are remembered, and known goals need no model.
    uses_memory = True
    lazy_models = True

    def __init__(self, settings: StarsSettings) -> None:
        super().__init__(settings)
        chosen = settings.agent
        self._stand_ins = load_stand_ins(settings.world.stand_ins)
        self._robot, self._prompts = load_robot(chosen.robot), load_prompts(chosen.prompt)
        self._grammar, vocabulary = GoalGrammar.load(chosen.grammar), load_vocabulary(chosen.vocabulary)
        self._examples = _load_examples(chosen.examples, settings.models.agent.adapter)
        read = [load_task(name, vocabulary) for name in settings.tasks.task]
        self._read = {task.name: (task, words) for task, words in read}
        if len(self._read) < len(read):
            raise UserError("setting task: two tasks have the same name; rename one of them")

    @property
    def roles(self) -> Sequence[str]:
        """See System.roles."""
        return ("agent", "person") if self._is_respondent("model") else ("agent",)

    @property
    def agent(self) -> str:
        """See System.agent. The name is the condition."""
        return self.settings.agent.condition

    @property
    def interactive(self) -> bool:
        """See System.interactive."""
        return self._is_respondent("terminal")

    def respondents(self, job: Job) -> Sequence[str]:
        """See System.respondents. Tasks do not name a person."""
        return []

    @property
    def replayed_events(self) -> Sequence[type[Event]]:
        """See System.replayed_events."""
        if self.is_local("person"):
            return ()
        return (GoalAnswerEvent,) if self.is_local("agent") else self.events

    @classmethod
    def task_key(cls, initial_state: Mapping[str, Any]) -> Any:
        """See System.task_key. The key is where objects are found and wanted."""
        return initial_state["room"], initial_state["places"], initial_state["wanted"], initial_state["closed"]

    def tasks(self) -> Sequence[Task]:
        """See System.tasks."""
        return [Task(name, name, self.settings.tasks.person) for name in self._read]

    def check(self) -> None:
        """See System.check."""
        chosen = self.settings.agent
        person = self.settings.tasks.person
        if person != "simulated" and not chosen.parts.user:
            raise UserError(
                f"person={person}: condition {chosen.condition} asks nobody; choose {chosen.condition}+O, or leave "
                "person out"
            )
        self.check_one_at_a_time("person=terminal")
        self._meaning_baseline()
        model = self.settings.models.agent
        is_named = chosen.parts.retrieval == "meaning" and chosen.examples is None and "adapter" in model.set_by_user
        if is_named and model.adapter is not None and not is_file(known := _known_places(model.adapter)):
            raise UserError(
                f"condition {chosen.condition}: {known} is missing; name FOLDER/imitate/adapter of housewise selftrain "
                "--config goals, or leave --adapter out"
            )
        if chosen.parts.retrieval == "grounded" and not self.settings.models.agent.local:
            raise UserError(
                f"condition {chosen.condition} rates texts, which requires a local model; use another condition, or "
                "leave out --model and --base-url"
            )

    def reading(self, task: str) -> tuple[Room_Task, GoalAnalyser]:
        """Return a task of the run by name, and the robot's goal analyser in it."""
        read, words = self._read[task]
        return read, GoalAnalyser(GoalLanguage(words, self._grammar), self._robot)

    def check_start(self) -> None:
        """See System.check_start. Checks the simulator of the 3D house."""
        if self.settings.world.simulator is not None:
            check_simulator(self.settings.world.simulator)

    def files(self) -> dict[str, Path]:
        """See System.files. The files are custom data."""
        chosen = self.settings.agent
        named = {"vocabulary": chosen.vocabulary, "robot": chosen.robot, "grammar": chosen.grammar}
        named |= {"prompt": chosen.prompt, "examples": chosen.examples or ""}
        named["stand_ins"] = self.settings.world.stand_ins
        named |= {f"task-{task}": name for task, name in zip(self._read, self.settings.tasks.task, strict=True)}
        return {setting: Path(name) for setting, name in named.items() if is_file(Path(name))}

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        job, models, memory = context.job, context.models, context.memory
        assert memory is not None, "a system that remembers is given a memory"
        chosen = self.settings.agent
        (task, analyser), told = self.reading(job.task.name), EarlierReplies(job.interrupted_events)
        model = open_lazy_completion_model(models["agent"], self.settings.models.agent, self._prompts.chat, job.seed)
        retrieval = RetrievalConfig(
            model, self._prompts, chosen.tree, chosen.goal_prefix, chosen.max_goal_tokens, self._meaning_baseline()
        )
        selector = self._selector(model)
        learner = GoalLearner(
            task,
            analyser,
            chosen.parts,
            ResumedRetriever(retrieval.make_retriever(task, analyser, chosen.parts), told),
            LearnedGoals(task, analyser, goals_from_notes(memory.notes), chosen.generalisation),
            plan_goal,
            selector=selector and ShortlistSelector(ResumedSelector(selector, told)),
            max_questions=chosen.max_questions,
        )
        learner.dialogue.turns += _instructions(task, learner)
        user = self._user(task, analyser, models, memory.person, job.seed)
        room = RoomWorld(task, learner, user, told, self._body(task, analyser))
        agent = StarsAgent(task, learner, self._prompts, memory.person, room.lessons.append, context.progress)
        # An episode ends when no object is left.
        limits = EpisodeLimits(plans=None, idle_plans=None)
        return EpisodeSetup(room, agent, _initial_state(task, learner), limits)

    def _body(self, task: Room_Task, analyser: GoalAnalyser) -> HouseBody | None:
        """Return the body that carries out actions in a 3D house, or None."""
        world = self.settings.world
        if world.simulator is None:
            return None
        simulator = self.open_simulator(world.simulator)
        house = build_house_task(task, analyser.language.vocabulary, self._stand_ins)
        return HouseBody(simulator, house, world.max_steps)

    def _meaning_baseline(self) -> NearestMeaning | None:
        by_meaning = self.settings.agent.parts.retrieval == "meaning"
        return NearestMeaning(shared_minilm(), self._examples) if by_meaning else None

    def _selector(self, model: CompletionModel) -> GoalSelector | None:
        """Return what selects goals, or None for the most probable one."""
        parts = self.settings.agent.parts
        if parts.choice == "likeliest":
            return None
        if parts.choice == "rating":
            return RatingSelector(model, self._prompts)
        if self.settings.agent.selection == "numbered":
            return NumberedSelector(model, self._prompts, hints=parts.hints)
        return AllRotationsSelector(model, self._prompts, parts.hints)

    def _user(
        self, task: Room_Task, analyser: GoalAnalyser, models: Mapping[str, ChatModel], person: str, seed: int
    ) -> OversightUser:
        if self._is_respondent("terminal"):
            return TerminalOversightUser(TerminalRespondent(name=person), analyser, task)
        if self._is_respondent("model"):
            sampling = respondent_sampling(self.settings.models.person.sampling, seed)
            speaker = ChatRespondent(models["person"], person_instructions(task), person, sampling)
            return RespondentUser(speaker, analyser, task)
        return SimulatedUser(task)

    def _is_respondent(self, person: str) -> bool:
        """Return whether this kind of person is asked."""
        return self.settings.tasks.person == person and self.settings.agent.parts.user


def _load_examples(examples: str | None, adapter: str | None) -> Mapping[str, Sequence[str]]:
    """Return where things seen elsewhere belong: those of a file, or those that an adapter learned from."""
    if examples is None and adapter is not None and is_file(known := _known_places(adapter)):
        examples = str(known)
    return {} if examples is None else load_examples(examples)


def _known_places(adapter: str) -> Path:
    """Return the file with the places that an adapter has learned from."""
    return adapter_folder(adapter).absolute().parent / KNOWN_PLACES


def _instructions(task: Room_Task, learner: GoalLearner) -> list[str]:
    """Return what the person says for the task: only its name if all goals are known (STARS, trial 2)."""
    start = task.start()
    if all(learner.memory.recall(about, start) is not None for about in task.objects):
        return [f"{task.name.capitalize()}."]
    return list(task.instructions)


def _initial_state(task: Room_Task, learner: GoalLearner) -> StarsInitialState:
    return StarsInitialState(
        room=task.room.noun,
        places={about.thing.name: about.place for about in task.objects},
        wanted={about.thing.name: list(about.wanted) for about in task.objects},
        closed=list(task.closed),
        instructions=learner.dialogue.turns,
    )
