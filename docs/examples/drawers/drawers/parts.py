"""A planner, a wrapper, a simulator, a chat model, a trainer and a filter, each in a few lines."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import housewise.plugins as hw


class Wanderer:
    """A planner that goes from room to room."""

    name = "wanderer"

    def plan(self, graph: hw.SceneGraph, attempts: Sequence[hw.Attempt]) -> str:
        visited = {attempt.action.target for attempt in attempts}
        return "\n".join(f"go to {room}" for room in graph.rooms if room not in visited) or "mission complete"


class Hesitant:
    """A wrapper that lets a planner end the task only when it has said so twice in a row."""

    def __init__(self, planner: hw.Planner) -> None:
        self.planner, self.said_before = planner, False

    def plan(self, graph: hw.SceneGraph, attempts: Sequence[hw.Attempt]) -> hw.Plan:
        plan = self.planner.plan(graph, attempts)
        doubted, self.said_before = plan.complete and not self.said_before, plan.complete
        return replace(plan, complete=False) if doubted else plan


class SlowSimulator(hw.RaycastSimulator):
    """A simulator that waits a millisecond before each action."""

    def act(self, action: hw.LowLevelAction) -> bool:
        time.sleep(0.001)
        return super().act(action)


def open_slow(sensors: Sequence[hw.Sensor], camera: hw.Camera | None, gpu: int) -> SlowSimulator:
    return SlowSimulator(camera, sensors)


class Parrot:
    """A chat model, as in ``--model parrot:WORDS``, that gives the same reply to every request."""

    def __init__(self, name: str, adapter: object = None, **options: object) -> None:
        self.name, self._words = "parrot", name

    def complete(self, requests: Sequence[hw.ChatRequest]) -> list[list[hw.Reply]]:
        return [[hw.Reply(self._words)] * request.sampling.n for request in requests]

    def close(self) -> None: ...


class Nothing:
    """A trainer that leaves the model as it is."""

    def check(self, start: hw.ModelReference) -> None: ...

    def train(
        self, pairs: Sequence[hw.EpisodeDemonstration], start: hw.ModelReference, folder: Path
    ) -> hw.TrainedModel:
        trained = hw.TrainedModel(model=start.model, adapter=start.adapter)
        trained.save(folder)
        return trained


def open_nothing(config: object, seed: int, base_url: str | None, progress: object) -> Nothing:
    return Nothing()


def short(pairs: Sequence[hw.EpisodeDemonstration], settings: hw.FilterSettings) -> list[hw.EpisodeDemonstration]:
    """Keep short replies with a positive reward."""
    return [pair for pair in pairs if pair.reward > 0 and len(pair.reply) < 200]
