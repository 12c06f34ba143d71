"""A memory of all that the lessons of some recipes say, for planners that go by notes without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from housewise.core.configs import CONFIGS
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory, Note
from housewise.selftrain.personalize.lessons import JudgingLesson, generate_lessons
from housewise.selftrain.personalize.settings import SelfTrainingConfig, load_selftraining
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.worlds.house.generator import generate_house
from housewise.worlds.house.spoken_names import spoken_places
from housewise.worlds.house.tasks import resolve_preferences

ADAPTER_RECIPES = ("brain", "tidy", "remembering", "attentive")
"""Recipes of the bundled adapter, each of which goes on from the one before."""


def notes_from_lessons(settings: PersonalizeSettings, recipes: Sequence[str] = ADAPTER_RECIPES) -> Memory:
    """Return notes of where the lessons of recipes say that objects belong, and where they do not.

    A note tells of every right place that the robot knows in a lesson; the model learns only the one of the reply.
    Lessons about invented people are left out.

    Args:
        settings: Settings of the run that uses the memory. Its person counts.
        recipes: Names of the recipes, in their order.
    """
    return Memory(settings.tasks.person, _list_distinct_notes(settings.tasks.person, tuple(recipes)))


@cache
def _list_distinct_notes(person: str, recipes: Sequence[str]) -> tuple[Note, ...]:
    """Return the notes of recipes, of those with one text the first. Runs of one experiment share them."""
    found: dict[str, Note] = {}
    for recipe in recipes:
        for note in _list_notes(load_selftraining(CONFIGS / f"{recipe}.yaml"), person):
            found.setdefault(note.text, note)
    return tuple(found.values())


def _list_notes(recipe: SelfTrainingConfig, person: str) -> Iterator[Note]:
    for kind in recipe.lessons:
        for seed in () if kind.invented else range(kind.seed, kind.seed + kind.houses):
            where, wanted = spoken_places(generate_house(seed)), resolve_preferences(person)
            for lesson in generate_lessons(seed, kind, wanted, object_kinds=recipe.run.tasks.kinds):
                for thing, place, is_right in _placements(lesson):
                    yield reaction_note(person, thing, where[place], is_right)


def _placements(lesson: JudgingLesson) -> Iterator[tuple[str, str, bool]]:
    """Yield an object, a place and whether it is right there: where it is, and every right place that is known."""
    for thing, right in lesson.right.items():
        here = lesson.graph.container_of(thing)
        yield from ((thing, place, True) for place in sorted(right))
        if here is not None and here not in right and here in lesson.graph.receptacles:
            yield thing, here, False
