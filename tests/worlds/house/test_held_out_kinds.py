"""Kinds of objects that can be held out of training: how they were drawn, and that houses and lessons keep to them."""

from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.personalize import lesson_notes
from housewise.experiments.personalize.lesson_notes import ADAPTER_RECIPES
from housewise.language.embedder import has_minilm, shared_minilm
from housewise.selftrain.personalize.lessons import generate_lessons
from housewise.selftrain.personalize.settings import LessonsConfig, SelfTrainingConfig, load_selftraining
from housewise.systems.personalize.settings import house_settings
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.held_out_kinds import ObjectKinds, draw_held_out_kinds, held_out_kinds
from housewise.worlds.house.preferences import default_groups
from housewise.worlds.house.spoken_names import kind_from_name, spoken_name
from housewise.worlds.house.tasks import generated_task, resolve_preferences


@pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
def test_the_file_has_what_is_drawn() -> None:
    assert held_out_kinds() == set(draw_held_out_kinds(shared_minilm()))


def test_a_fifth_of_all_kinds_and_some_of_every_group() -> None:
    assert held_out_kinds() <= set(SIZES) and len(held_out_kinds()) >= len(SIZES) / 5
    assert all(held_out_kinds().intersection(group.things) for group in default_groups().values())


@pytest.mark.parametrize("kinds", ["learned", "held_out"])
def test_houses_have_objects_of_the_chosen_kinds(kinds: ObjectKinds) -> None:
    categories = {thing.category for seed in range(5) for thing in generated_task(seed, kinds=kinds).episode.objects}
    assert categories & held_out_kinds() == (categories if kinds == "held_out" else set())


@pytest.mark.parametrize("kinds", ["held-out", None])
def test_other_words_for_kinds_are_refused(kinds: Any) -> None:
    with pytest.raises(UserError, match=r"^kinds: no .*available: all, learned, held_out$"):
        generated_task(0, kinds=kinds)


@pytest.mark.parametrize("invented", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_lessons_and_their_notes_leave_held_out_kinds_out(invented: bool) -> None:
    config = LessonsConfig(houses=1, each=20, invented=invented, noted_fraction=(0.9, 0.9))
    lessons = generate_lessons(3, config, resolve_preferences("majority"), object_kinds="learned")
    named = {kind_from_name(thing) for lesson in lessons for thing in lesson.right}
    assert len(named) > 50
    for lesson in lessons:
        assert lesson.knowledge is not None
        named |= set(lesson.knowledge.noted_kinds(len(SIZES)))
    assert named.isdisjoint(map(spoken_name, held_out_kinds()))


@pytest.mark.parametrize("recipe", ADAPTER_RECIPES)
def test_no_recipe_of_the_bundled_adapter_teaches_held_out_kinds(recipe: str) -> None:
    config = load_selftraining(Path(recipe))
    assert config.run.tasks.kinds == "learned"
    noted = [kind for kind in config.lessons if kind.invented and kind.noted_fraction]
    assert all(kind.as_usual == (0.0, 1.0) for kind in noted) and bool(noted) == (
        config.run.agent.prompt == "remembering"
    )


def test_controls_read_the_lessons_of_every_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {kind: LessonsConfig(houses=1, each=2, seed=seed) for seed, kind in enumerate(ADAPTER_RECIPES)}

    def load(path: Path) -> SelfTrainingConfig:
        return load_selftraining(path).model_copy(update={"lessons": [few[path.stem]]})

    monkeypatch.setattr(lesson_notes, "load_selftraining", load)
    lesson_notes._list_distinct_notes.cache_clear()
    memory = lesson_notes.notes_from_lessons(house_settings())
    lesson_notes._list_distinct_notes.cache_clear()
    first = [next(iter(lesson_notes._list_notes(load(Path(name)), "majority"))) for name in ADAPTER_RECIPES]
    assert {note.text for note in first} <= {note.text for note in memory.notes}
    named = {kind for note in memory.notes for kind in note.about.things}
    assert len(named) > 20 and named.isdisjoint(map(spoken_name, held_out_kinds()))


def test_held_out_kinds_are_measured_with_an_adapter_that_has_not_learned_them() -> None:
    experiment = load_experiment(bundled_experiments()["personalize/held_out_kinds"])
    models = [row.settings.get("adapter") for row in experiment.axes["row"].values() if "adapter" in row.settings]
    assert len(models) == 3 and set(models) == {"${trained}", "${other}"}
