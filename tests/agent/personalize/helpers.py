"""Models and a small house for the tests of the planners."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from housewise.agent.personalize.planner import Attempt, Planner
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.scripted_planner import Distance
from housewise.agent.personalize.wrappers.compose import PlannerConfig, make_llm_planner
from housewise.language.base import ChatModel, ChatRequest, Reply, TokenLogprob
from housewise.language.embedder import Vectors
from housewise.language.replay import ReplayChatModel
from housewise.people.memory import About, Memory, Note
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from housewise.worlds.house.spoken_names import SpokenPlace

PLANNER = NotesContext(NotesTemplate.load("planner"))
JUDGING = NotesContext(NotesTemplate.load("judging"))
PLACES = {
    "kitchen 0 sink 2": SpokenPlace("sink", "kitchen"),
    "kitchen 0 shelf 5": SpokenPlace("shelf", "kitchen"),
    "hall 1 chest 3": SpokenPlace("chest", "hall"),
    "hall 1 shelf 4": SpokenPlace("shelf", "hall"),
}


class RecordingModel(ReplayChatModel):
    """Replays replies and records the requests."""

    def __init__(self, *replies: str) -> None:
        super().__init__(replies)
        self.requests: list[ChatRequest] = []

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        self.requests += requests
        return [
            [replace(reply, prompt_tokens=10, completion_tokens=1) for reply in part]
            for part in super().complete(requests)
        ]


class CutModel(RecordingModel):
    """Replies are cut at the limit of tokens."""

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[replace(each, finish_reason="length") for each in part] for part in super().complete(requests)]


class LetterModel(RecordingModel):
    """A server's model, which answers questions with the letter of the option that has certain words."""

    def __init__(self, words: str) -> None:
        super().__init__(*[" mission complete"] * 3)
        self.words = words
        self.asked: list[list[str]] = []

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        if not requests[0].sampling.alternatives:
            return super().complete(requests)
        self.asked.append([request.messages[-1].content for request in requests])
        return [[self._answer(request.messages[-1].content)] for request in requests]

    def _answer(self, question: str) -> Reply:
        letters = {line[0]: 0.9 if self.words in line else 0.01 for line in question.splitlines() if line[1:2] == ":"}
        tokens = (TokenLogprob(f" {letter}", math.log(share)) for letter, share in letters.items())
        return Reply(next(iter(letters)), alternatives=(tuple(tokens),))


class LetterEmbedder:
    """Embeds texts by the counts of some letters, so that texts with the same letters are similar."""

    name = "letters"

    def __init__(self, letters: str) -> None:
        self._letters = letters

    def embed(self, texts: Sequence[str]) -> Vectors:
        counts = np.array([[text.count(letter) for letter in self._letters] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def llm_planner(
    model: ChatModel,
    context: NotesContext = PLANNER,
    knowledge: PreferenceKnowledge | None = None,
    route: Distance | None = None,
    **options: Any,
) -> Planner:
    """The planner llm with some options of ``PlannerConfig``."""
    return make_llm_planner(model, context, config=PlannerConfig(**options), knowledge=knowledge, route=route)


def house(holding: str | None = None) -> SceneGraph:
    """Two rooms with four receptacles, a mug on the sink and a cap on the chest."""
    graph = SceneGraph(["kitchen 0", "hall 1"])
    rooms = {name: " ".join(name.split()[:2]) for name in PLACES}
    graph.update(SymbolicObservation(rooms, {"mug 1": "kitchen 0 sink 2", "cap 1": "hall 1 chest 3"}, holding))
    return graph


def recalled(*notes: Note) -> PreferenceKnowledge:
    """What is known from notes about the house."""
    return PreferenceKnowledge(Memory("ada", notes), PLACES)


def make_note(value: float | str | None = 1.0, **about: object) -> Note:
    """A rule of Ada's."""
    return Note(person="ada", kind="rule", text="told", about=About(**about), value=value)


def visits(*names: str) -> list[Attempt]:
    """Successful walks to rooms or receptacles."""
    return [Attempt(HighLevelAction(ActionKind.GO_TO, name), True) for name in names]
