"""A planner, a simulator, a chat model, a trainer and a filter, each in a few lines."""

import time
from collections.abc import Sequence

from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.language.base import ChatRequest, Reply
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.filters import FilterSettings
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.simulator.raycast import RaycastSimulator


class Wanderer:
    """A planner that goes from room to room. The class is its own factory."""

    name = "wanderer"
    asks_model = False

    def __init__(self, settings) -> None: ...  # type: ignore[no-untyped-def]

    def __call__(self, context):  # type: ignore[no-untyped-def]
        return self

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        visited = {attempt.action.target for attempt in attempts}
        text = "\n".join(f"go to {room}" for room in graph.rooms if room not in visited) or "mission complete"
        parsed = parse_plan(text, graph.vocabulary)
        return Plan(parsed.steps, parsed.complete)


class SlowSimulator(RaycastSimulator):
    """A simulator that waits a millisecond before each action."""

    def act(self, action):  # type: ignore[no-untyped-def]
        time.sleep(0.001)
        return super().act(action)


def open_slow(sensors, camera, gpu) -> SlowSimulator:  # type: ignore[no-untyped-def]
    return SlowSimulator(camera, sensors)


class Parrot:
    """A chat model, as in ``--model parrot:WORDS``, that gives the same reply to every request."""

    def __init__(self, name: str, adapter: object = None, **options: object) -> None:
        self.name, self._words = "parrot", name

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[Reply(self._words)] * request.sampling.n for request in requests]

    def close(self) -> None: ...


class Nothing:
    """A trainer that leaves the model as it is."""

    def check(self, start: ModelReference) -> None: ...

    def train(self, pairs, start, folder) -> TrainedModel:  # type: ignore[no-untyped-def]
        trained = TrainedModel(model=start.model, adapter=start.adapter)
        trained.save(folder)
        return trained


def open_nothing(config, seed, base_url, progress) -> Nothing:  # type: ignore[no-untyped-def]
    return Nothing()


def short(pairs: Sequence[EpisodeDemonstration], settings: FilterSettings) -> list[EpisodeDemonstration]:
    """Keep short replies with a positive reward."""
    return [pair for pair in pairs if pair.reward > 0 and len(pair.reply) < 200]
