"""Episodes of the rearrangement task with parts that a test chooses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.planner import Planner
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.wrappers.compose import make_llm_planner
from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import Controller
from housewise.core.record import EventWriter, Header, Result
from housewise.core.record_files import RecordWriter
from housewise.language.replay import ReplayChatModel
from housewise.rollout.episode_loop import EpisodeLimits, EpisodeLoop
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.planners import scripted_planner
from housewise.systems.personalize.record import HouseRecord, read_house_record
from housewise.systems.personalize.system import make_initial_state
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.simulator.base import Camera
from housewise.worlds.house.simulator.raycast import RaycastSimulator

MUG_TO_COUNTER = """ go to bedroom 0
step 2: go to mug 1
step 3: look at mug 1
step 4: pick up mug 1
step 5: go to kitchen 0
step 6: look at the counter
step 7: place mug 1 on kitchen 0 counter 1"""
BEGINNING = " go to bedroom 0\nstep 2: look at bedroom 0"


def header(task: RearrangementTask, **changes: Any) -> Header:
    """A record's first line for a task."""
    setting = make_initial_state(task, "raycast")
    name = f"{setting.scene}-{setting.episode:04d}"
    fields: dict[str, Any] = {"system": "personalize", "task": name, "group": setting.scene, "agent": "scripted"}
    return Header(**{**fields, "initial_state": setting.model_dump(), **changes})


class HouseEpisode:
    """An episode with the parts that a test has chosen.

    Args:
        env: already reset to the task.
        planner, controller, writer: of the episode.
        progress: told of low-level steps and plans.
        limits: when to stop.
    """

    def __init__(
        self,
        env: RearrangementEnv,
        planner: Planner,
        controller: Controller,
        writer: EventWriter,
        progress: Callable[[int, int], None] = lambda steps, plans: None,
        limits: EpisodeLimits | None = None,
    ) -> None:
        self.world = HouseWorld(RobotInHouse(env, controller, lambda steps: progress(steps, self.world.plans)))
        replan = (limits or EpisodeLimits()).replan_when_blocked
        agent = PlannerAgent(planner, self.world, replan_when_blocked=replan)
        self._episode = EpisodeLoop(self.world, agent, writer, limits)

    @property
    def graph(self) -> SceneGraph:
        """All that the robot knows."""
        return self.world.robot.graph

    def play(self, first: Header) -> Result:
        """Run to the end."""
        return self._episode.play(first)


class PlayedEpisode:
    """An episode in the small house of tests/worlds/house/toy.py, played to its end and read back.

    The planner is scripted; with replies, it is an LLM planner that gets them in turn.
    """

    def __init__(
        self,
        toy: RearrangementTask,
        folder: Path,
        *replies: str,
        max_steps: int = 1000,
        limits: EpisodeLimits | None = None,
        camera: Camera | None = None,
        prompt: str = "planner",
        demonstrated: bool = False,
    ) -> None:
        self.env = RearrangementEnv(RaycastSimulator(camera, sensors=("instance",)), [toy], max_steps=max_steps)
        self.env.reset()
        self.progress: list[tuple[int, int]] = []
        scripted, context = scripted_planner(toy, self.env, 0), NotesContext(NotesTemplate.load(prompt))
        planner: Planner = Demonstrator(scripted, context) if demonstrated else scripted
        if replies:
            planner = make_llm_planner(ReplayChatModel(replies), context)
        writer = RecordWriter(folder, "played")
        self.rollout = HouseEpisode(
            self.env, planner, Controller(self.env), writer, lambda *now: self.progress.append(now), limits
        )
        self.result: Result = self.rollout.play(header(toy, agent=planner.name))
        self.record: HouseRecord = read_house_record(folder / "played.jsonl")

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(action.status, action.reason) for action in self.record.actions]
