from itertools import combinations
from pathlib import Path

import pytest

from housewise.core.errors import DataError
from housewise.worlds.house.generator.episodes import find_category_places
from housewise.worlds.house.generator.house import generate_house
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.preferences import (
    HousePreferences,
    MajorityPreferences,
    bundled_people,
    held_out_people,
    load_preferences,
)
from housewise.worlds.house.tasks import resolve_preferences


def spots(person: HousePreferences, category: str) -> set[tuple[str, str]]:
    return {(room, kind) for room, kinds in person.places_for(category).items() for kind in kinds}


def test_six_people_with_over_a_hundred_categories_each() -> None:
    assert len(bundled_people()) == 6
    for name in bundled_people():
        person = load_preferences(name)
        assert person.name == name
        assert person.about.endswith(".")
        assert len(person.categories) >= 100
        assert set(person.categories) == set(SIZES)


@pytest.mark.parametrize("pair", list(combinations(bundled_people(), 2)))
def test_any_two_people_differ_but_agree_on_most(pair: tuple[str, str]) -> None:
    one, other = (load_preferences(name) for name in pair)
    differ = [category for category in SIZES if spots(one, category) != spots(other, category)]
    opposed = [category for category in differ if not spots(one, category) & spots(other, category)]
    assert len(differ) >= 10
    assert len(opposed) >= 5
    assert len(differ) < len(SIZES) / 3


def test_bundled_people_have_different_preferences() -> None:
    ada, bruno = load_preferences("ada"), load_preferences("bruno")
    assert ada.wants("mug", "dining room", "table")
    assert not bruno.wants("mug", "dining room", "table")
    assert bruno.wants("mug", "kitchen", "top cabinet")
    assert not ada.wants("unheard_of", "kitchen", "table")


def test_a_majority_is_more_than_half() -> None:
    ada, bruno, chiyo = (load_preferences(name) for name in ("ada", "bruno", "chiyo"))
    assert not MajorityPreferences([ada, bruno]).wants("mug", "dining room", "table")
    assert MajorityPreferences([ada, bruno, chiyo]).wants("mug", "kitchen", "top cabinet")
    assert MajorityPreferences([ada]).wants("mug", "dining room", "table")
    assert MajorityPreferences([ada]).name == "majority"
    with pytest.raises(ValueError, match="at least one"):
        MajorityPreferences([])


def preferences_file(folder: Path, text: str) -> Path:
    file = folder / "me.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_overrides_groups_and_categories(tmp_path: Path) -> None:
    me = load_preferences(
        preferences_file(
            tmp_path,
            """
            name: me
            wants:
              drinkware: {any room: [table]}
              mug: {bedroom: [heater]}
            groups:
              instruments:
                things: [ukulele]
                wanted: {living room: [piano]}
            """,
        )
    )
    assert me.wants("mug", "bedroom", "heater")
    assert not me.wants("mug", "bedroom", "table")
    assert me.wants("cup", "home office", "table")
    assert me.wants("ukulele", "living room", "piano")
    assert me.places_for("fork") == load_preferences("ada").places_for("fork")


GROUP = "name: me\ngroups: {g: {things: [%s], wanted: {%s: [table]}%s}}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: me\nwants: {drinkwear: {kitchen: [table]}}", "group or category 'drinkwear'; did you mean 'drinkware'"),
        ("name: me\nwants: {qqq: {kitchen: [table]}}", "wants: unknown .* 'qqq'; use a name from _base.yaml"),
        ("name: me\nwants: {mug: {kitchn: [table]}}", "wants.mug: unknown room 'kitchn'; did you mean 'kitchen'"),
        ("name: me\nwants: {mug: {zoo: [table]}}", "unknown room 'zoo'; use one of: bathroom"),
        ("name: me\nwants: {mug: {kitchen: [tabel]}}", "wants.mug.kitchen: unknown receptacle .* did you mean 'table'"),
        ("name: me\nwants: {mug: {kitchen: [top_cabinet]}}", "receptacle 'top_cabinet'; did you mean 'top cabinet'"),
        (
            "name: me\nwants: {mug: {kitchen: table}}",
            r"mug.kitchen: expected a list, such as \[a, b\]; .*copy person",
        ),
        ("name: me\nwants: {mug: [kitchen]}", "field wants.mug: expected keys and their values; .*copy person"),
        ("about: nobody", "field name: Field required; .*copy person"),
        ("name: me\nlikes: {}", "field likes: there is no such field; available: name, about, wants, groups"),
        (
            GROUP % ("x", "kitchen", ", why: y"),
            "field groups.g.why: there is no such field; available: things, wanted",
        ),
        (GROUP % ("mug", "kitchen", ""), "'mug' is also in groups.drinkware"),
        (GROUP % ("x", "moon", ""), "groups.g.wanted: unknown room 'moon'"),
        ("name: [", "not readable as YAML .*copy person"),
        ("", "expected fields and their values: name, about, wants, groups"),
        ("name: 3", "field name: expected a text; quote what"),
    ],
)
def test_errors_name_file_field_and_remedy(tmp_path: Path, text: str, problem: str) -> None:
    file = preferences_file(tmp_path, text)
    with pytest.raises(DataError, match=problem) as caught:
        load_preferences(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_unknown_people_are_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match="no person 'zoe'; available: majority, ada, bruno, "):
        load_preferences("zoe")


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    wants = "name: me\nwants: {mug: {kitchen: [%s]}}"
    file = preferences_file(tmp_path, wants % "table")
    assert resolve_preferences(str(file)).wants("mug", "kitchen", "table")
    preferences_file(tmp_path, wants % "counter")
    assert not resolve_preferences(str(file)).wants("mug", "kitchen", "table")


def test_files_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "me.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        load_preferences(file)


@pytest.mark.parametrize("name", held_out_people())
def test_held_out_people_disagree_with_the_majority_on_half_of_their_placements(name: str) -> None:
    stranger, usual = load_preferences(name), MajorityPreferences([load_preferences(each) for each in bundled_people()])
    wanted = [(category, *spot) for category in stranger.categories for spot in spots(stranger, category)]
    against = [place for place in wanted if not usual.wants(*place)]
    assert 2 * len(against) >= len(wanted) > 100
    assert name not in bundled_people()
    found = [find_category_places(generate_house(seed), stranger) for seed in range(9600, 9604)]
    assert all(len(kinds) >= 60 for kinds in found), "houses have places for what they want"
