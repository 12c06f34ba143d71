"""Layouts: everything has its place, is in reach, and looks different in training and in tests."""

import colorsys
from itertools import combinations

import pytest
import shapely

from housewise.worlds.house.generator.house_layout import GenerationError
from housewise.worlds.lab.layout import CORRIDOR, DANGER_RADIUS, draw_lab_layout
from housewise.worlds.lab.scenarios import Split
from housewise.worlds.lab.state import ROOMS, Thing
from tests.worlds.lab.labs import BLOCKED, FIRE, scenario

SPLITS: tuple[Split, ...] = ("training", "test")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", [FIRE, BLOCKED])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_fixture_is_in_its_room_alone_and_in_reach(name: str, seed: int, split: Split) -> None:
    fixtures = scenario(name, seed, split).fixtures
    layout = draw_lab_layout(fixtures, seed, split)
    assert [planned.room.kind for planned in layout.rooms] == [*ROOMS, CORRIDOR]
    interiors = {planned.room.kind: planned.interior.expand(1e-6).polygon() for planned in layout.rooms}
    items = {thing.id: layout.fixtures[thing.id] for thing in fixtures}
    for thing in fixtures:
        assert interiors[thing.room].contains(items[thing.id].rect.polygon()), thing
        assert layout.navmesh.area.distance(items[thing.id].rect.polygon()) < 1.2, thing
    for one, other in combinations(items.values(), 2):
        assert not one.rect.overlaps(other.rect) or one.top <= other.base or other.top <= one.base
    doors = shapely.points([door.gap.centre for door in layout.plan.doors])
    assert shapely.contains(layout.navmesh.area, doors).all()


@pytest.mark.parametrize("split", SPLITS)
def test_the_flippers_monitor_is_reached_without_danger(split: Split) -> None:
    layout = draw_lab_layout(scenario(split=split).fixtures, 3, split)
    danger = layout.fixtures["gravity_flipper_1"].rect.polygon().buffer(DANGER_RADIUS)
    safe = layout.navmesh.area.difference(danger)
    monitor = layout.fixtures["gravity_flipper_monitor_1"].rect.polygon()
    assert max(getattr(safe, "geoms", [safe]), key=lambda part: part.area).distance(monitor) < 1.2


def test_the_same_seed_gives_the_same_layout_and_splits_differ() -> None:
    fixtures = scenario().fixtures
    first, again = draw_lab_layout(fixtures, 5, "training"), draw_lab_layout(reversed(fixtures), 5, "training")
    assert first.fixtures == again.fixtures and first.plan == again.plan
    assert draw_lab_layout(fixtures, 5, "test").plan != first.plan
    assert draw_lab_layout(fixtures, 6, "training").plan != first.plan


def test_walls_woods_light_and_furniture_of_the_splits_are_disjoint() -> None:
    hues, woods, lights, styles = ({split: set() for split in SPLITS} for _ in range(4))  # type: ignore[var-annotated]
    fixtures = scenario().fixtures
    for split in SPLITS:
        for seed in range(3):
            layout = draw_lab_layout(fixtures, seed, split)
            for palette in layout.palettes.values():
                hues[split].add(int(12 * colorsys.rgb_to_hsv(*(part / 255 for part in palette.floor[0]))[0]))
                woods[split].add(palette.wood)
            # Warm light is redder, cold light bluer.
            lights[split] |= {light[0] / light[2] for light in layout.light.values()}
            styles[split].add(layout.style)
    assert not hues["training"] & hues["test"]
    assert not woods["training"] & woods["test"]
    assert min(lights["training"]) >= 1.0 > max(lights["test"])
    assert not styles["training"] & styles["test"]


def test_too_much_furniture_is_refused() -> None:
    many = [Thing(f"gravity_flipper_{number}", "gravity_flipper", "black", room="reception") for number in range(20)]
    with pytest.raises(GenerationError, match="no space for the gravity flipper of the reception"):
        draw_lab_layout(many, 0, "training")
