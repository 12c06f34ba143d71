"""A memory of all that the lessons of a recipe say, for planners that go by notes without a language model."""

from __future__ import annotations

from collections.abc import Iterator

from housewise.core.configs import CONFIGS
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory, Note
from housewise.selftrain.personalize.lessons import JudgingLesson, generate_lessons
from housewise.selftrain.personalize.settings import SelfTrainingConfig, load_selftraining
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.worlds.house.generator import generate_house
from housewise.worlds.house.spoken_names import spoken_places
from housewise.worlds.house.tasks import resolve_preferences


def notes_from_lessons(settings: PersonalizeSettings, recipe: str = "tidy") -> Memory:
    """Return notes of where the lessons of a recipe say that objects belong, and where they do not.

    A note tells of every right place that the robot knows in a lesson; the model learns only the one of the reply.
    Lessons about invented people are left out.

    Args:
        settings: Settings of the run that uses the memory. Its person counts.
        recipe: Name of the recipe.
    """
    memory = Memory(settings.tasks.person)
    said = set()
    for note in _list_notes(load_selftraining(CONFIGS / f"{recipe}.yaml"), settings.tasks.person):
        if note.text not in said:
            said.add(note.text)
            memory.add(note)
    return memory


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
