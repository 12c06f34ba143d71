"""Lessons: demonstrations of judging what belongs where, with random objects in a house that nobody walks through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.placement_candidates import known_placements
from housewise.agent.personalize.planner import Attempt
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext
from housewise.agent.personalize.scripted_planner import ScriptedPlanner
from housewise.language.embedder import Embedder
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.worlds.house.generator import CategoryPlaces, find_category_places, generate_house
from housewise.worlds.house.held_out_kinds import ObjectKinds, keep_kinds
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.random_preferences import random_preferences
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from housewise.worlds.house.spoken_names import SpokenPlace, spoken_name, spoken_places

_RIGHT_SHARE = 0.6
_ENTERED_SHARE = 0.7


@dataclass(frozen=True)
class JudgingLesson:
    """A state of a house in which a model should judge each object.

    Attributes:
        scene, number: The house, and the number of the lesson in it.
        graph: What the robot knows.
        attempts: The actions that led to that knowledge.
        right: For each object, the known receptacles where people want it.
        knowledge: Recalled notes about the person, or None without a memory.
    """

    scene: str
    number: int
    graph: SceneGraph
    attempts: tuple[Attempt, ...]
    right: Mapping[str, AbstractSet[str]]
    knowledge: PreferenceKnowledge | None = None

    def demonstration(self, context: NotesContext) -> EpisodeDemonstration:
        """Return the reply of a demonstrator that knows what people want."""
        wanted = {thing: self._preferred_places(thing) for thing in self.right}
        scripted = ScriptedPlanner(lambda thing, place: place in wanted[thing], thorough=False, listed=True)
        plan = Demonstrator(scripted, context, self.knowledge).plan(self.graph, self.attempts)
        return EpisodeDemonstration(
            prompt=tuple(message.turn for message in plan.messages),
            prefix=context.template.prefix,
            reply=plan.text,
            scene=self.scene,
            run=self.number,
            complete=plan.complete,
        )

    def _preferred_places(self, thing: str) -> AbstractSet[str]:
        """Return the right place that the notes mention, if any, so that the model learns to follow notes."""
        right = self.right[thing]
        if self.knowledge is None or self.graph.container_of(thing) in right:
            return right
        known = known_placements(self.graph, thing, self.knowledge)
        mentioned = [*known.wanted, *(place for _, place in known.similar_kinds)]
        return {next((place for place in mentioned if place in right), "")} & right or right


def generate_lessons(
    seed: int,
    config: LessonsConfig,
    preferences: Preferences,
    embedder: Embedder | None = None,
    object_kinds: ObjectKinds = "all",
) -> list[JudgingLesson]:
    """Generate lessons in a generated house, with some of its receptacles and random objects on them.

    An episode teaches little about what belongs where: most of its text is about places seen before, and most objects
    are where they belong. In a lesson about as many objects are misplaced as not, and none was judged before.

    Args:
        seed: Seed of the house and of the random choices.
        config: Number and kind of lessons.
        preferences: Preferences that define what is right, unless the house has an invented person.
        embedder: Finds similar objects in a memory.
        object_kinds: Which kinds of objects the lessons are about.
    """
    scene = generate_house(seed)
    wanted = random_preferences(seed, config.as_usual) if config.invented else preferences
    kinds = find_category_places(scene, keep_kinds(wanted, object_kinds))
    return generate_lessons_about(scene, kinds, config, np.random.default_rng([seed, 2]), embedder)


def generate_lessons_about(
    scene: Scene,
    kinds: Sequence[CategoryPlaces],
    config: LessonsConfig,
    rng: np.random.Generator,
    embedder: Embedder | None = None,
) -> list[JudgingLesson]:
    """Generate lessons in a house, with random objects of given kinds on its receptacles; see generate_lessons.

    Args:
        scene: The house.
        kinds: Kinds of objects with their right and wrong places.
        config: Number and kind of lessons.
        rng: Random number generator.
        embedder: See generate_lessons.
    """
    return [_lesson(scene, kinds, config, rng, number, embedder) for number in range(config.each)]


def _lesson(
    scene: Scene,
    kinds: Sequence[CategoryPlaces],
    config: LessonsConfig,
    rng: np.random.Generator,
    number: int,
    embedder: Embedder | None,
) -> JudgingLesson:
    places = _choose_places(scene, config.places, rng)
    names = {place.key: place.name for place in places}
    rooms = {place.name: str(place.room) for place in places}
    placed = _place_things(kinds, set(names), config, rng)
    held = (
        str(rng.choice(list(placed)))
        if config.holding_fraction and placed and rng.uniform() < config.holding_fraction
        else None
    )
    graph = SceneGraph([room.name for room in scene.rooms] if config.unseen else dict.fromkeys(rooms.values()))
    graph.update(
        SymbolicObservation(rooms, {thing: names[key] for thing, (_, key) in placed.items() if thing != held}, held)
    )
    entered = [room for room in graph.rooms if graph.contents_of(room) and rng.uniform() < _ENTERED_SHARE]
    for room in entered:
        graph.mark_visited(room)
    attempts = tuple(Attempt(HighLevelAction(ActionKind.GO_TO, room), True) for room in entered)
    right = {thing: {names[key] for key in kind.correct if key in names} for thing, (kind, _) in placed.items()}
    if config.noted_fraction is None:
        return JudgingLesson(scene.name, number, graph, attempts, right)
    where = spoken_places(scene)
    memory = random_memory(
        kinds, {key: where[name] for key, name in _place_names(scene).items()}, config.noted_fraction, rng
    )
    return JudgingLesson(scene.name, number, graph, attempts, right, PreferenceKnowledge(memory, where, embedder))


def random_memory(
    kinds: Sequence[CategoryPlaces],
    places: Mapping[str, SpokenPlace],
    share: tuple[float, float],
    rng: np.random.Generator,
) -> Memory:
    """Return a memory with reactions to a few right and a few wrong places of some kinds of objects."""
    memory = Memory("somebody")
    known = rng.permutation(len(kinds))[: round(rng.uniform(*share) * len(kinds))]
    for kind in (kinds[index] for index in known):
        for side, fewest, most in ((kind.correct, 1, 3), (kind.wrong, 0, 3)):
            chosen = rng.permutation(len(side))[: rng.integers(fewest, most + 1)]
            for key in (side[index] for index in chosen):
                thing, wanted = spoken_name(kind.category), side is kind.correct
                memory.add(reaction_note(memory.person, thing, places[key], wanted))
    return memory


def _place_names(scene: Scene) -> dict[str, str]:
    return {place.key: place.name for place in scene.usable_receptacles}


def _choose_places(scene: Scene, number: tuple[int, int], rng: np.random.Generator) -> list[Receptacle]:
    usable = scene.usable_receptacles
    chosen = rng.permutation(len(usable))[: rng.integers(number[0], number[1] + 1)]
    return [usable[index] for index in sorted(chosen)]


def _place_things(
    kinds: Sequence[CategoryPlaces], places: set[str], config: LessonsConfig, rng: np.random.Generator
) -> dict[str, tuple[CategoryPlaces, str]]:
    """Return objects with their kinds and places; about _RIGHT_SHARE of them prefer a right place."""
    placed: dict[str, tuple[CategoryPlaces, str]] = {}
    wanted = rng.integers(config.things[0], config.things[1] + 1)
    for index in rng.permutation(len(kinds)):
        if len(placed) == wanted:
            break
        kind = kinds[index]
        side = kind.correct if rng.uniform() < _RIGHT_SHARE else kind.wrong
        known = [key for key in side if key in places]
        if known and (config.allow_unplaceable or side is kind.correct or places & set(kind.correct)):
            placed[spoken_name(f"{kind.category}_1")] = (kind, known[rng.integers(len(known))])
    return placed
