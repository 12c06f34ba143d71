"""The fixed data of the kitchen, and its scenes."""

import statistics

import pytest

from housewise.core.errors import DataError
from housewise.worlds.kitchen.kitchen_data import KITCHEN_FOLDER, load_kitchen
from housewise.worlds.kitchen.scene import build_scene, draw_scene


def test_the_house_has_the_paper_s_size():
    kitchen = load_kitchen()
    movable_appliances = {"kettle_0", "coffee_machine_0", "espresso_machine_0"}
    furniture = set(kitchen.furniture)
    assert len(kitchen.house.rooms) == 6
    assert len(furniture) == 40
    assert len(furniture - movable_appliances) == 37
    assert len(set(kitchen.objects.places()) | movable_appliances) == 232
    assert len(kitchen.ids) == 275


def test_scenes_depend_on_the_seed():
    assert draw_scene(4) == draw_scene(4)
    assert draw_scene(4) != draw_scene(5)


def test_scenes_contain_seventy_percent_of_the_objects():
    kitchen = load_kitchen()
    furniture = 6 + 40
    sizes = [len(draw_scene(seed).entities) - furniture for seed in range(200)]
    assert 158 < statistics.mean(sizes) < 167
    always = {"napkins_0", "salt_shaker_0", "pepper_shaker_0", "water_bottle_0", "ice_tray_0"}
    for seed in range(20):
        scene = draw_scene(seed)
        scene.check()
        assert always <= scene.entities.keys()
        assert set(kitchen.furniture) <= scene.entities.keys()


def test_an_egg_adds_its_carton():
    assert "egg_carton_0" in build_scene(["egg_3"])
    assert "egg_carton_0" not in build_scene([])


def test_cupboards_contain_all_their_objects():
    full = build_scene(load_kitchen().objects.places())
    assert len(full.inside("cabinet_2")) == 16
    assert len(full.inside("spice_cabinet_0")) == 10
    assert len(full.inside("egg_carton_0")) == 8


def test_there_are_77_open_verbs():
    assert len(load_kitchen().verbs.open) == len(set(load_kitchen().verbs.open)) == 77


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("groups.yaml", "milk: [milk_0, cow_7]", "'cow_7', which is neither"),
        ("groups.yaml", "a: [b]\nb: [a]", "lists itself"),
        ("tasks.yaml", "dishes: {}\ntasks: {one: {text: x, dishes: []}}\nsets: {}", "tasks.one"),
        ("objects.yaml", "things: {moon_0: {a_0: x}}", "'moon_0', which is listed nowhere"),
        ("objects.yaml", "things: {fridge_0: {a_0: {is: x, colour: red}}}", "things.fridge_0.a_0.colour"),
        ("verbs.yaml", "open: [", "not readable as YAML"),
    ],
)
def test_an_invalid_file_is_reported_with_its_field(tmp_path, file, text, words):
    for name in ("house", "objects", "groups", "tasks", "verbs"):
        (tmp_path / f"{name}.yaml").write_text(
            (KITCHEN_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), encoding="utf-8"
        )
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        load_kitchen(tmp_path)
    assert file in str(error.value)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
