"""Notes that are edited by hand, and the episodes that depend on them."""

import pytest

from housewise.experiments.personalize.note_edits import choose_objects, follow_notes
from housewise.worlds.house.spoken_names import kind_from_name


def test_notes_are_about_places_that_nobody_wants() -> None:
    found = choose_objects(6)
    assert len({kind_from_name(each.name) for each in found}) == len(found) == 6
    assert all(before != after for before, after in (each.wanted for each in found))
    assert [each.wanted for each in found] == [each.wanted for each in choose_objects(6)]


@pytest.mark.slow
def test_an_edited_note_is_followed_in_the_next_episode() -> None:
    for edited in (False, True):
        values = list(follow_notes("memory_lookup", edited, 2, meaning=False))
        assert [(each.task, each.value) for each in values] == [("generated-9400", 1.0), ("generated-9401", 1.0)]
