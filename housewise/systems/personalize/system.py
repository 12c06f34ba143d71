"""LLM-Personalize (arXiv 2404.14285): a robot tidies a house for people who react to where it places objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.controller.published_controller import PublishedController
from housewise.controller.robot import RobotInHouse, room_anchors
from housewise.controller.skills import Controller
from housewise.core.errors import UserError
from housewise.core.record import Record, Result
from housewise.core.record_files import FINISHED, RecordLine
from housewise.core.text_files import is_file
from housewise.core.user_code import referenced_file
from housewise.language.embedder import Embedder, has_minilm, shared_minilm
from housewise.language.model_timer import ModelTimer
from housewise.language.replay import ReplayChatModel
from housewise.people.memory import Memory, MemoryFolder, RulesFile
from housewise.rollout.episode_loop import EpisodeLimits
from housewise.rollout.scores import Score
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.systems.personalize.planners import judges_placements, open_planner, reads_model_settings
from housewise.systems.personalize.record import (
    LAST_CORRECT,
    ActionEvent,
    InitialState,
    PlanEvent,
    SummaryEvent,
    describe_continued_search,
    read_house_record,
)
from housewise.systems.personalize.settings import PersonalizeSettings, house_defaults
from housewise.systems.personalize.tasks import HouseTask, check_person, list_tasks, load_task
from housewise.systems.personalize.version_1_records import migrate_version_1
from housewise.systems.personalize.world import HouseWorld
from housewise.systems.shared_simulator import SharedSimulatorSystem
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.held_out_kinds import held_out_kinds
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator import check_simulator
from housewise.worlds.house.spoken_names import spoken_name, spoken_places
from housewise.worlds.house.tasks import resolve_preferences

_REPLAY = "replay"
_RECORDS = "name the episodes folder of an earlier run with --records"
_ONE_REPLY = ("saycan", "sayplan", "replay", "demonstrator")
"""Planners with prompts that have one reply per request, whatever ``sampling.n`` says."""
_JUDGING = tuple(f"agent.judging.{name}" for name in JudgingSettings.model_fields)

_SECONDS_WITHOUT_GRAMMAR = 150.0
"""Approximate duration of an episode in which the bundled model writes plans freely, on two CPU cores."""


class Personalize(SharedSimulatorSystem[PersonalizeSettings]):
    """Rearrangement in houses; see System."""

    name = "personalize"
    Settings = PersonalizeSettings
    events = (PlanEvent, ActionEvent, SummaryEvent)
    scores = (
        Score("success_rate", "success", "success", "%", "higher", scale=100, error=True),
        Score("executability", "executable", "exec", "%", "higher", scale=100, weight="actions"),
        Score("own_choice", "steps the model chose", unit="%", scale=100),
        Score("efficiency", "efficiency", "eff", "%", "higher", scale=100),
        Score(LAST_CORRECT, "step of the last right placement", better="lower", decimals=0),
        Score("unique_placements", "unique placements", "put", decimals=2),
        Score("plans", column="plans"),
        Score("steps", column="steps", decimals=0),
        Score("complete", "taken as done", total=True, decimals=0),
    )

    seconds_per_episode = (3.0, 25.0)

    def __init__(self, settings: PersonalizeSettings) -> None:
        super().__init__(settings)
        self._planner = open_planner(settings.agent)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """See System.defaults."""
        return house_defaults()

    @classmethod
    def advice(cls, settings: PersonalizeSettings) -> Mapping[str, Any]:
        """See System.advice: the defaults of the adapter."""
        return settings.model_defaults

    @classmethod
    def upgrade_lines(cls, lines: Sequence[RecordLine]) -> Sequence[RecordLine]:
        """See System.upgrade_lines."""
        return migrate_version_1(lines)

    @classmethod
    def add_missing_scores(cls, record: Record) -> Record:
        """See System.add_missing_scores: the step of the last correct placement."""
        if LAST_CORRECT in record.result.scores:
            return record
        steps = [step for action in record.of_type(ActionEvent) if (step := action.correct_placement_step) is not None]
        return record.with_scores({LAST_CORRECT: steps[-1]}) if steps else record

    @classmethod
    def describe_ending(cls, result: Result) -> str:
        """See System.describe_ending. A robot that has placed everything correctly may search until its steps end."""
        search = describe_continued_search(result)
        return f"{search} ({result.scores['plans']:.0f} plans)" if search else super().describe_ending(result)

    @classmethod
    def task_key(cls, initial_state: Mapping[str, Any]) -> Any:
        """See System.task_key: where everything stands, and where it is wanted."""
        return initial_state["placements"], {
            thing: sorted(places) for thing, places in initial_state["correct"].items()
        }

    @property
    def roles(self) -> Sequence[str]:
        """See System.roles."""
        return ("agent",) if self._planner.asks_model else ()

    @property
    def reads_model_settings(self) -> bool:
        """See System.reads_model_settings."""
        return reads_model_settings(self.settings.agent.planner)

    @property
    def ignored_settings(self) -> Sequence[str]:
        """See System.ignored_settings.

        The bundled wrappers are those of two planners, and one planner judges. It also tries several replies.
        """
        chosen = self.settings.agent
        is_ignored = chosen.planner not in ("llm", "replay") and chosen.bundled_wrappers and not chosen.own_wrappers
        return (
            *(("agent.wrappers",) if is_ignored else ()),
            *(() if judges_placements(chosen) else _JUDGING),
            *(("models.agent.sampling.n",) if chosen.planner in _ONE_REPLY else ()),
        )

    @property
    def expected_seconds(self) -> float | None:
        """See System.expected_seconds. A model without a grammar writes to the token limit in every plan."""
        expected = super().expected_seconds
        free = bool(self.roles) and not self.settings.agent.judging.constrain_to_judgements
        return expected if expected is None or not free else _SECONDS_WITHOUT_GRAMMAR

    @property
    def agent(self) -> str:
        """See System.agent."""
        return self.settings.agent.planner

    @property
    def uses_memory(self) -> bool:
        """See System.uses_memory: whether the settings name a memory."""
        return self.settings.memory.start is not None

    def tasks(self) -> Sequence[HouseTask]:
        """See System.tasks."""
        return list_tasks(self.settings.tasks)

    def respondents(self, job: Job) -> Sequence[str]:
        """See System.respondents: the person, also by the name of the person's file."""
        chosen = self.settings.tasks
        return [chosen.person] if chosen.data else [resolve_preferences(chosen.person).name, Path(chosen.person).stem]

    def check(self) -> None:
        """See System.check: the person, and that the model has not learned kinds of objects that are held out."""
        check_person(self.settings.tasks)
        if self.settings.tasks.kinds == "held_out":
            learned = sorted(
                set(self.settings.agent.familiar_kinds or ()).intersection(map(spoken_name, held_out_kinds()))
            )
            if learned:
                raise UserError(
                    f"kinds=held_out: the adapter has learned {len(learned)} of these kinds, such as {learned[0]}; "
                    "choose one that was trained with kinds=learned"
                )

    def check_start(self) -> None:
        """See System.check_start: the simulator, and the records of the replay planner."""
        check_simulator(self.settings.world.simulator)
        if self.settings.agent.planner == _REPLAY:
            self._replayed_folder()

    def files(self) -> dict[str, Path]:
        """See System.files: the prompt, the person, the planner and its wrappers."""
        named = {"prompt": Path(self.settings.agent.prompt), "person": Path(self.settings.tasks.person)}
        wrappers = {f"wrapper-{number}": name for number, name in enumerate(self.settings.agent.own_wrappers, start=1)}
        for setting, name in {"planner": self.settings.agent.planner, **wrappers}.items():
            if (code := referenced_file(name)) is not None:
                named[setting] = code
        return {setting: path for setting, path in named.items() if is_file(path)}

    def job_data(self, job: Job) -> ReplayChatModel | None:
        """Return the model that replays an earlier record for the replay planner, or None for other planners.

        Raises:
            UserError: If there is no such record.
        """
        if self.settings.agent.planner != _REPLAY:
            return None
        path = self._replayed_folder() / f"{job.name}{FINISHED}"
        if not path.exists():
            raise UserError(f"{path}: no such record; {_RECORDS}")
        return ReplayChatModel([plan.reply for plan in read_house_record(path).plans])

    def _replayed_folder(self) -> Path:
        """Return the folder of the records whose replies are played."""
        records = self.settings.agent.records
        if records is None:
            raise UserError(f"planner=replay repeats the replies of records; {_RECORDS}")
        if not (folder := Path(records)).is_dir():
            raise UserError(f"{folder}: no such folder; {_RECORDS}")
        return folder

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        job, models, memory = context.job, context.models, context.memory
        settings, name = self.settings, job.task
        assert isinstance(name, HouseTask)
        task = load_task(name, settings.tasks)
        simulator, most = self.open_simulator(settings.world.simulator), settings.world.max_steps
        env = RearrangementEnv(simulator, [task], most, float(np.deg2rad(settings.world.look_down)))
        env.reset()
        sampling = settings.models.agent.sampling.with_seed(job.seed)
        knowledge = None if memory is None else self.knowledge(memory, env.world.scene)
        rules_file = None if memory is None else RulesFile(MemoryFolder.default(settings.memory.folder), memory)
        timer, model = ModelTimer(), context.job_data or models.get("agent")
        timed = None if model is None else timer.wrap(model)
        planner = self._planner(PlannerContext(task, env, job.seed, timed, sampling, knowledge, rules_file))
        person = None if memory is None else memory.person
        world = HouseWorld(RobotInHouse(env, self._controller(env)), person)
        world.robot.on_step = lambda steps: context.progress(steps, most, f"plan {world.plans}")
        chosen = settings.agent
        limits = EpisodeLimits(chosen.max_plans, chosen.max_idle_plans, chosen.replan_when_blocked)
        setting = make_initial_state(task, settings.world.simulator, name.episode, name.task_set)
        demonstrating_person = person if chosen.demonstrator.note_all_objects else None
        asks_model, replan = self._planner.asks_model, chosen.replan_when_blocked
        agent = PlannerAgent(planner, world, demonstrating_person, asks_model, replan, timer)
        return EpisodeSetup(world, agent, setting, limits)

    def knowledge(self, memory: Memory, scene: Scene) -> PreferenceKnowledge:
        """Return what a memory says about the objects of a house."""
        return PreferenceKnowledge(memory, spoken_places(scene), self._embedder())

    def _embedder(self) -> Embedder | None:
        """Return the embedder that compares kinds of objects, unless the settings switch it off."""
        wanted = self.settings.memory.meaning
        return shared_minilm() if wanted or (wanted is None and has_minilm()) else None

    def _controller(self, env: RearrangementEnv) -> Controller:
        chosen = self.settings.world.controller
        return PublishedController(env) if chosen.kind == "published" else Controller(env, chosen)


def make_initial_state(
    task: RearrangementTask, simulator: str, episode: int | None = None, task_set: str = ""
) -> InitialState:
    """Return the state of a house before the first action.

    Args:
        task: The house and the episode.
        simulator: Name of the simulator.
        episode: Number of the episode. Defaults to the number in the task.
        task_set: Name of the task set, or empty.
    """
    places = {key: task.scene.by_key[key].name for key in task.episode.receptacles}
    things = task.episode.objects
    return InitialState(
        scene=task.scene.name,
        episode=task.episode.id if episode is None else episode,
        task_set=task_set,
        simulator=simulator,
        rooms=list(room_anchors(task)),
        placements={thing.name: places[thing.receptacle] for thing in things},
        correct={thing.name: sorted(places[key] for key in thing.correct if key in places) for thing in things},
    )
