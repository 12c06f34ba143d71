"""Kinds of objects that can be held out of training: how they were drawn, and that houses and lessons keep to them."""

import pytest

from housewise.language.embedder import has_minilm, shared_minilm
from housewise.selftrain.personalize.lessons import generate_lessons
from housewise.selftrain.personalize.settings import LessonsConfig
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


@pytest.mark.parametrize("invented", [True, False])
def test_lessons_and_their_notes_leave_held_out_kinds_out(invented: bool) -> None:
    config = LessonsConfig(houses=1, each=20, invented=invented, noted_fraction=(0.9, 0.9))
    lessons = generate_lessons(3, config, resolve_preferences("majority"), object_kinds="learned")
    named = {kind_from_name(thing) for lesson in lessons for thing in lesson.right}
    assert len(named) > 50
    for lesson in lessons:
        assert lesson.knowledge is not None
        named |= set(lesson.knowledge.noted_kinds(len(SIZES)))
    assert named.isdisjoint(map(spoken_name, held_out_kinds()))
