from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from housewise.language.base import ChatRequest, Reply
from housewise.language.replay import ReplayChatModel
from housewise.worlds.house.scene_graph import SceneGraph, View


class Listener(ReplayChatModel):
    """A replaying model that remembers what it was asked."""

    def __init__(self, *replies: str) -> None:
        super().__init__(replies)
        self.asked: list[ChatRequest] = []

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        self.asked += requests
        return [
            [replace(reply, prompt_tokens=10, completion_tokens=1) for reply in part]
            for part in super().complete(requests)
        ]


@pytest.fixture
def graph() -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "hall 1", "attic 2"])
    graph.update(View({"kitchen 0 sink 2": "kitchen 0", "hall 1 table 3": "hall 1"}, {"mug 1": "kitchen 0 sink 2"}))
    return graph
