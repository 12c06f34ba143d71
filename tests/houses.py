"""Episodes in a house that a test puts together itself."""

from collections.abc import Callable
from typing import Any

from housewise.agent.personalize.planner import Planner
from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import Controller
from housewise.core.record import EventWriter, Header, Result
from housewise.rollout.episode_loop import EpisodeLimits, EpisodeLoop
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.system import make_initial_state
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.scene_graph import SceneGraph


def header(task: RearrangementTask, **changes: Any) -> Header:
    """A record's first line for a task."""
    setting = make_initial_state(task, "raycast")
    name = f"{setting.scene}-{setting.episode:04d}"
    fields: dict[str, Any] = {"system": "personalize", "task": name, "group": setting.scene, "agent": "scripted"}
    return Header(**{**fields, "setting": setting.model_dump(), **changes})


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
        self._episode = EpisodeLoop(self.world, PlannerAgent(planner, self.world), writer, limits)

    @property
    def graph(self) -> SceneGraph:
        """All that the robot knows."""
        return self.world.robot.graph

    def play(self, first: Header) -> Result:
        """Run to the end."""
        return self._episode.play(first)
