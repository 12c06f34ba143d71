"""The episode for which a planner is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.scripted_planner import Distance
from housewise.controller.robot import room_anchors
from housewise.core.errors import UserCodeError
from housewise.core.migrations.code_names import find_former_attribute
from housewise.language.base import ChatModel, Sampling
from housewise.people.memory import RulesFile
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask


@dataclass(frozen=True, repr=False)
class PlannerContext:
    """The episode for which a planner is made.

    Attributes:
        task: The house and the episode with its correct placements, which planners under evaluation must not read.
        env: Environment in which plans are executed.
        seed: Seed of the planner's random numbers.
        model: Model of the planner. None for planners without one.
        sampling: Sampling configuration of the model.
        knowledge: What is recalled about the person, or None to plan without a memory.
        rules_file: File in the person's memory that keeps rules which a model concludes from it, or None.
    """

    task: RearrangementTask
    env: RearrangementEnv
    seed: int
    model: ChatModel | None
    sampling: Sampling
    knowledge: PreferenceKnowledge | None = None
    rules_file: RulesFile | None = None

    def __repr__(self) -> str:
        episode = self.task.episode
        parts = (
            f"{self.task.scene.name}, episode {episode.id}",
            f"{len(episode.objects)} objects",
            f"seed {self.seed}",
            "no model" if self.model is None else f"model {self.model.name}",
            "no memory" if self.knowledge is None else "a person's memory",
        )
        return f"<PlannerContext: {', '.join(parts)}>"

    def __getattr__(self, name: str) -> Any:
        return find_former_attribute(self, {"answers": "required_model"}, name)

    @property
    def required_model(self) -> ChatModel:
        """The model of a planner that asks one.

        Raises:
            UserCodeError: The planner has no model.
        """
        if self.model is None:
            raise UserCodeError(
                "no model is open for this planner: for one in a run, set asks_model = True in its class"
            )
        return self.model

    @property
    def route(self) -> Distance:
        """Length of the way in the house; see route_lengths."""
        return route_lengths(self.task, self.env)


def route_lengths(task: RearrangementTask, env: RearrangementEnv) -> Distance:
    """Return a function for the length of the robot's way between rooms and receptacles, metres."""
    keys = {task.scene.by_key[key].name: key for key in task.episode.receptacles}
    anchors = room_anchors(task)
    navmesh = env.simulator.navmesh

    def point(name: str) -> np.ndarray:
        key = keys.get(name) or anchors[name]
        return np.asarray(task.scene.by_key[key].pose.position)[[0, 2]]

    def route(start: str | None, end: str) -> float:
        return navmesh.distance(env.simulator.body.point if start is None else point(start), point(end))

    return route
