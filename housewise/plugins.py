"""What authors of systems, planners, wrappers and other parts need, in one module; see docs/extending.md.

import housewise.plugins as hw

class Put(hw.Event): ...
"""

from housewise.agent.base import Agent, Decision, History
from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.core.errors import UserError
from housewise.core.record import Event, Frozen
from housewise.core.settings import Settings
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling
from housewise.language.settings import ModelSettings
from housewise.people.memory import About, Memory, Note
from housewise.rollout.note_events import NoteEvent
from housewise.rollout.scores import Score
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job, System, Task
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.filters import FilterSettings
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.worlds.base import Step, World
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.simulator.base import Camera, LowLevelAction, Sensor
from housewise.worlds.house.simulator.raycast import RaycastSimulator

__all__ = [
    "About",
    "Agent",
    "Attempt",
    "Camera",
    "ChatModel",
    "ChatRequest",
    "Decision",
    "EpisodeContext",
    "EpisodeDemonstration",
    "EpisodeSetup",
    "Event",
    "FilterSettings",
    "Frozen",
    "History",
    "Job",
    "LowLevelAction",
    "Memory",
    "Message",
    "ModelReference",
    "ModelSettings",
    "ModelsSettings",
    "Note",
    "NoteEvent",
    "Plan",
    "Planner",
    "PlannerContext",
    "RaycastSimulator",
    "Reply",
    "RunSettings",
    "Sampling",
    "SceneGraph",
    "Score",
    "Sensor",
    "Settings",
    "Step",
    "System",
    "Task",
    "TaskSettings",
    "TrainedModel",
    "UserError",
    "World",
    "parse_plan",
]
