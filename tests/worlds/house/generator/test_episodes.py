import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.worlds.house.episode import RearrangementEpisode, ShelfState
from housewise.worlds.house.generator import GenerationError, generate, generate_episode, generate_house
from housewise.worlds.house.generator.furniture_sizes import SIZES as FURNITURE
from housewise.worlds.house.generator.furniture_sizes import TOP_CABINET_BASE
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.geometry import Box
from housewise.worlds.house.preferences import HousePreferences, bundled_people, load_preferences
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.shelf_packing import ShelfPacker

SEEDS = st.integers(0, 100_000)
WHO = st.sampled_from(bundled_people())


@settings(max_examples=15, deadline=None)
@given(SEEDS, WHO)
def test_every_episode_is_valid(seed: int, who: str) -> None:
    person = load_preferences(who)
    scene, episode = generate(seed, person)
    check_counts_names_and_start(scene, episode)
    check_correct_receptacles(scene, episode, person)
    check_overlaps(scene, episode)
    check_shelves(episode)


def check_counts_names_and_start(scene: Scene, episode: RearrangementEpisode) -> None:
    assert 5 <= len(episode.objects) <= 10
    assert 3 <= len(episode.misplaced_objects) <= 7
    assert episode.receptacles == tuple(scene.by_key)
    assert episode.scene == scene.name
    assert len({thing.key for thing in episode.objects}) == len(episode.objects)
    assert all(thing.name == thing.key.replace("_", " ") for thing in episode.objects)
    x, y, z = episode.start.position
    assert scene.navmesh.contains((x, z))
    assert y == scene.navmesh.height


def check_correct_receptacles(scene: Scene, episode: RearrangementEpisode, person: HousePreferences) -> None:
    """Check that correct receptacles are wanted and large enough."""
    kinds = {room.name: room.kind for room in scene.rooms}
    for thing in episode.objects:
        assert thing.correct
        for place in scene.receptacles:
            wanted = person.wants(thing.category, kinds[place.room or ""], place.kind)
            fits = ShelfPacker(ShelfState.empty(place.box)).insert("", thing.size[0], thing.size[2]) is not None
            if place.key in thing.correct:
                assert wanted and fits
            elif place.key == thing.receptacle:
                assert fits and not wanted


def check_overlaps(scene: Scene, episode: RearrangementEpisode) -> None:
    """Check that objects are on their receptacle without overlaps."""
    boxes = {thing.key: Box.from_centre(thing.pose.position, thing.size) for thing in episode.objects}
    for thing in episode.objects:
        box, below = boxes[thing.key], scene.by_key[thing.receptacle].box
        assert box.low[1] == pytest.approx(below.top)
        for axis in (0, 2):
            assert below.low[axis] <= box.low[axis] and box.high[axis] <= below.high[axis]
        assert sorted(thing.size) == pytest.approx(sorted(SIZES[thing.category]))
    solids = [*boxes.values(), *(place.box for place in scene.receptacles)]
    for key, box in boxes.items():
        others = [other for other in solids if other is not box]
        for other in others:
            assert not (np.minimum(box.high, other.high) - np.maximum(box.low, other.low) > 1e-6).all(), key


def check_shelves(episode: RearrangementEpisode) -> None:
    """Check that shelves agree with the objects."""
    told = {item.object: key for key, state in episode.shelves.items() for item in state.items}
    assert told == {thing.key: thing.receptacle for thing in episode.objects}
    for thing in episode.objects:
        state = episode.shelves[thing.receptacle]
        item = next(item for item in state.items if item.object == thing.key)
        row = state.rows[item.row]
        span = row.spans[item.span]
        assert span.occupied
        assert span.start < thing.pose.position[0] < span.end
        assert row.z < thing.pose.position[2] < row.z + row.depth


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_same_seed_makes_the_same_episode(seed: int) -> None:
    scene = generate_house(seed % 50)
    person = load_preferences("ada")
    assert generate_episode(scene, seed, person) == generate_episode(scene, seed, person)


def test_one_house_has_many_episodes() -> None:
    scene, person = generate_house(3), load_preferences("esi")
    episodes = [generate_episode(scene, seed, person) for seed in range(10)]
    assert len({tuple(thing.key for thing in episode.objects) for episode in episodes}) == 10


def test_the_numbers_of_objects_can_be_set() -> None:
    episode = generate_episode(generate_house(3), 0, load_preferences("esi"), objects=(4, 4), misplaced=(4, 4))
    assert len(episode.objects) == len(episode.misplaced_objects) == 4


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"objects": (10, 5)}, r"objects must be a minimum of 1 or more and a maximum, .* not \(10, 5\)"),
        ({"objects": (0, 0)}, r"objects must be a minimum of 1 or more and a maximum, .* not \(0, 0\)"),
        ({"misplaced": (4, 3)}, r"misplaced must be a minimum of 0 or more and a maximum, .* not \(4, 3\)"),
        ({"objects": (4, 4), "misplaced": (5, 5)}, "exceeds objects .* lower misplaced or raise objects"),
        ({"objects": (3, 9), "misplaced": (4, 5)}, "exceeds objects .* lower misplaced or raise objects"),
    ],
)
def test_impossible_numbers_of_objects_are_refused_with_a_remedy(
    numbers: dict[str, tuple[int, int]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        generate_episode(generate_house(3), 0, load_preferences("esi"), **numbers)


def test_preferences_without_receptacles_give_no_episode() -> None:
    with pytest.raises(GenerationError, match="another house, or add receptacles"):
        generate_episode(generate_house(3), 0, HousePreferences("nobody", "", {}))


def test_a_hundred_categories_fit_between_worktop_and_cabinet() -> None:
    assert len(SIZES) >= 100
    assert max(height for _, height, _ in SIZES.values()) < TOP_CABINET_BASE - FURNITURE["counter"][1][1]
