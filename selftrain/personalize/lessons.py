"""Lessons: what belongs where, asked about things put anywhere in a house that nobody walks through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.placement_candidates import known_placements
from housewise.agent.personalize.planner import Attempt
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge, RecalledPreferences
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.agent.personalize.scripted_planner import ScriptedPlanner
from housewise.language.embedder import Embedder
from housewise.people.house.reactions import ReactingUser, SpokenPlace, spoken_places
from housewise.people.memory import Memory
from housewise.selftrain.personalize.pairs import Pair
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.generator import Kind, generate_house, kinds_in
from housewise.worlds.house.invented import invented_person
from housewise.worlds.house.names import spoken
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.scene_graph import SceneGraph, View

_RIGHT = 0.6
_ENTERED = 0.7


@dataclass(frozen=True)
class Lesson:
    """Something to judge.

    Attributes:
        scene, number: the house that its receptacles are of, and which of that house's lessons it is.
        graph: what the robot knows.
        attempts: how it came to know that.
        right: of each thing, the receptacles among those known where people want it.
        knowledge: what is remembered of the person; None where there is no memory.
    """

    scene: str
    number: int
    graph: SceneGraph
    attempts: tuple[Attempt, ...]
    right: Mapping[str, AbstractSet[str]]
    knowledge: PreferenceKnowledge | None = None

    def pair(self, context: ContextGenerator) -> Pair:
        """What the demonstrator would say who knows what people want."""
        wanted = {thing: self._wanted(thing) for thing in self.right}
        scripted = ScriptedPlanner(lambda thing, place: place in wanted[thing], thorough=False, listed=True)
        plan = Demonstrator(scripted, context, self.knowledge).plan(self.graph, self.attempts)
        return Pair(
            prompt=tuple(message.turn for message in plan.messages),
            prefix=context.template.prefix,
            reply=plan.text,
            scene=self.scene,
            run=self.number,
            complete=plan.complete,
        )

    def _wanted(self, thing: str) -> AbstractSet[str]:
        """Of several right places the one that the notes speak of, so that the model learns to go by them."""
        right = self.right[thing]
        if self.knowledge is None or self.graph.place_of(thing) in right:
            return right
        known = known_placements(self.graph, thing, self.knowledge)
        spoken_of = [*known.wanted, *(place for _, place in known.similar)]
        return {next((place for place in spoken_of if place in right), "")} & right or right


def lessons_in(
    seed: int, config: LessonsConfig, preferences: Preferences, embedder: Embedder | None = None
) -> list[Lesson]:
    """Some of a generated house's receptacles with any things on them.

    A walk through a house tells little of what belongs where: most of its words are about what stood there before, and
    most things are where they belong. In a lesson more than half of the things are out of place, and none has been
    asked about.

    Args:
        seed: of the house, and of what is drawn.
        config: how many lessons, and of which kind.
        preferences: whose idea of order counts, unless the house has an invented person.
        embedder: tells which things are alike, where there is a memory.
    """
    scene = generate_house(seed)
    kinds = kinds_in(scene, invented_person(seed) if config.invented else preferences)
    return lessons_about(scene, kinds, config, np.random.default_rng([seed, 2]), embedder)


def lessons_about(
    scene: Scene,
    kinds: Sequence[Kind],
    config: LessonsConfig,
    rng: np.random.Generator,
    embedder: Embedder | None = None,
) -> list[Lesson]:
    """Some of a house's receptacles with any of some things on them; see lessons_in.

    Args:
        scene: the house.
        kinds: what may stand where.
        config: how many lessons, and of which kind.
        rng: draws them.
        embedder: see lessons_in.
    """
    return [_lesson(scene, kinds, config, rng, number, embedder) for number in range(config.each)]


def _lesson(
    scene: Scene,
    kinds: Sequence[Kind],
    config: LessonsConfig,
    rng: np.random.Generator,
    number: int,
    embedder: Embedder | None,
) -> Lesson:
    places = _some_places(scene, config.places, rng)
    names = {place.key: place.name for place in places}
    rooms = {place.name: str(place.room) for place in places}
    stood = _stood(kinds, set(names), config, rng)
    held = str(rng.choice(list(stood))) if config.held and stood and rng.uniform() < config.held else None
    graph = SceneGraph([room.name for room in scene.rooms] if config.unseen else dict.fromkeys(rooms.values()))
    graph.update(View(rooms, {thing: names[key] for thing, (_, key) in stood.items() if thing != held}, held))
    entered = [room for room in graph.rooms if graph.inside(room) and rng.uniform() < _ENTERED]
    for room in entered:
        graph.enter(room)
    attempts = tuple(Attempt(HighLevelAction(ActionKind.GO_TO, room), True) for room in entered)
    right = {thing: {names[key] for key in kind.correct if key in names} for thing, (kind, _) in stood.items()}
    if config.remembered is None:
        return Lesson(scene.name, number, graph, attempts, right)
    where = spoken_places(scene)
    memory = _memory(kinds, {key: where[name] for key, name in _names(scene).items()}, config.remembered, rng)
    return Lesson(scene.name, number, graph, attempts, right, RecalledPreferences(memory, where, embedder))


def _memory(
    kinds: Sequence[Kind], places: Mapping[str, SpokenPlace], share: tuple[float, float], rng: np.random.Generator
) -> Memory:
    """Reactions to some of the kinds of things: to a few right places of each, and to a few wrong ones."""
    person = ReactingUser("somebody")
    memory = Memory(person.name)
    known = rng.permutation(len(kinds))[: round(rng.uniform(*share) * len(kinds))]
    for kind in (kinds[index] for index in known):
        for side, fewest, most in ((kind.correct, 1, 3), (kind.wrong, 0, 3)):
            chosen = rng.permutation(len(side))[: rng.integers(fewest, most + 1)]
            for key in (side[index] for index in chosen):
                memory.add(person.react_to_demonstration(spoken(kind.category), places[key], side is kind.correct))
    return memory


def _names(scene: Scene) -> dict[str, str]:
    return {place.key: place.name for place in scene.receptacles if place.usable and place.room is not None}


def _some_places(scene: Scene, number: tuple[int, int], rng: np.random.Generator) -> list[Receptacle]:
    usable = [place for place in scene.receptacles if place.usable and place.room is not None]
    chosen = rng.permutation(len(usable))[: rng.integers(number[0], number[1] + 1)]
    return [usable[index] for index in sorted(chosen)]


def _stood(
    kinds: Sequence[Kind], places: set[str], config: LessonsConfig, rng: np.random.Generator
) -> dict[str, tuple[Kind, str]]:
    """Things with their kinds, and where each stands: rather where it belongs than anywhere else."""
    stood: dict[str, tuple[Kind, str]] = {}
    wanted = rng.integers(config.things[0], config.things[1] + 1)
    for index in rng.permutation(len(kinds)):
        if len(stood) == wanted:
            break
        kind = kinds[index]
        side = kind.correct if rng.uniform() < _RIGHT else kind.wrong
        known = [key for key in side if key in places]
        if known and (config.elsewhere or side is kind.correct or places & set(kind.correct)):
            stood[spoken(f"{kind.category}_1")] = (kind, known[rng.integers(len(known))])
    return stood
