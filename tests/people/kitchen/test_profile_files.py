"""Reading of profile files, and errors in one line that name the remedy."""

import copy
from pathlib import Path

import pytest
import yaml

from housewise.core.errors import DataError
from housewise.people.kitchen.conditions import iter_predicates
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles, split_person
from tests.people.kitchen.breakfasts import KITCHEN

WISH = {
    "id": "1",
    "text": "Milk in my tea.",
    "category": "addition",
    "tasks": "tea",
    "dishes": ["tea"],
    "if": "available(milk)",
    "wants": "together(milk, tea)",
}


COUNTS = [12, 10, 10, 14, 19, 16, 13, 13, 13, 18, 12, 17, 15, 16, 12, 18]


def write_profile(tmp_path, *wishes, **more):
    file = tmp_path / "people.yaml"
    file.write_text(yaml.safe_dump({"name": "zoe", "preferences": list(wishes), **more}), encoding="utf-8")
    return file


def preference(**changes):
    wish = {**copy.deepcopy(WISH), **changes}
    return {key: value for key, value in wish.items() if value is not None}


def test_a_profile_has_preferences_groups_and_tasks(tmp_path):
    file = write_profile(
        tmp_path, WISH, preference(id=2, tasks=[1, "sweet"], dishes=[]), groups={"fizz": ["water_bottle_0", "tea"]}
    )
    (person,) = load_profiles(file)
    assert person.name == "zoe"
    assert [each.id for each in person.preferences] == ["1", "2"]
    assert [each.tasks for each in person.preferences] == [(6, 8), (1, 3, 5, 7)]


def test_profiles_are_read_from_a_file_of_several_people_and_from_a_folder(tmp_path):
    people = [{"name": name, "preferences": [WISH]} for name in ("ann", "ben")]
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"people": people}), encoding="utf-8")
    write_profile(tmp_path, WISH)
    assert [person.name for person in load_profiles(tmp_path)] == ["ann", "ben", "zoe"]


def test_a_folder_does_not_hide_the_bundled_person_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("juan", "friends"):
        (tmp_path / name).mkdir()
    given = ("juan", "./juan", "friends", "friends:zoe", "zoe", "mine.yaml")
    assert [split_person(text) for text in given] == [
        (None, "juan"),
        (Path("juan"), None),
        (Path("friends"), None),
        (Path("friends"), "zoe"),
        (None, "zoe"),
        (Path("mine.yaml"), None),
    ]


def test_a_preference_may_have_no_dish(tmp_path):
    (person,) = load_profiles(write_profile(tmp_path, preference(dishes=None)))
    assert person.preferences[0].dishes == ()


def test_texts_are_reduced_to_one_printable_line(tmp_path):
    (person,) = load_profiles(
        write_profile(tmp_path, preference(text="Milk in\n  my \x1b[31mtea.\n", paraphrase="A splash\n"))
    )
    assert person.preferences[0].text.startswith("Milk in my ") and "\x1b" not in person.preferences[0].text
    assert person.preferences[0].paraphrase == "A splash"


def test_a_place_in_a_room_does_not_contradict_the_room(tmp_path):
    here = preference(wants="served_at(kitchen)", dishes=None)
    assert load_profiles(write_profile(tmp_path, here, preference(id="2", wants="served_at(island)", dishes=None)))


def test_the_error_names_the_person(tmp_path):
    people = [{"name": "ann", "preferences": [WISH]}, {"name": "ben", "preferences": [preference(wants=None)]}]
    file = tmp_path / "people.yaml"
    file.write_text(yaml.safe_dump({"people": people}), encoding="utf-8")
    with pytest.raises(DataError, match=r"people\.yaml: people\.1: field preferences\.0\.wants"):
        load_profiles(file)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"wants": "drunk(milk)"}, "preference 1: wants: unknown predicate 'drunk'; available: used, together"),
        ({"if": "available(unicorn)"}, "preference 1: if: 'unicorn' is neither a group nor a thing"),
        ({"category": "mood"}, "preferences.0.category: Input should be 'variation', 'addition'"),
        ({"tasks": "lunch"}, "unknown task 'lunch'; use 1 to 8, savory"),
        ({"tasks": [["x"] * 9] * 9}, "unknown task of type list"),
        ({"tasks": 9}, "unknown task 9"),
        ({"tasks": True}, "unknown task True"),
        ({"dishes": ["soup"]}, "unknown dish 'soup'; available: eggs"),
        ({"wants": None}, "preferences.0.wants"),
        ({"colour": "red"}, "preferences.0.colour"),
        ({"text": ""}, "preferences.0.text"),
        ({"wants": ["used(tea)"]}, "preferences.0.wants"),
        ({"wants": "1" + "+1" * 900}, "wants: is nested too deeply"),
        *(
            ({"wants": wants}, "preference 1 can never be satisfied")
            for wants in (
                "used(tea) and not used(tea)",
                "not used(tea)",
                "served_at(table_0) and served_at(table_1)",
                "used(milk_whole, kinds=2)",
                'done("frobnicate")',
                'done("poach", of=egg) and not done("poach", of=egg)',
                "used(sofa_0)",
                "not together(tea, water)",
                "available(nut, kinds=50)",
            )
        ),
        ({"wants": "together(pan_0, egg)", "tasks": "eggs", "dishes": ["eggs"]}, "preference 1 can never be satisfied"),
    ],
)
def test_an_invalid_preference_is_named(tmp_path, changes, words):
    with pytest.raises(DataError) as error:
        load_profiles(write_profile(tmp_path, preference(**changes)))
    assert words in str(error.value)
    assert "people.yaml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("together(milk, tea)", "not together(creamer, tea)"),
        ("together(sugar, tea)", "not used(sweetener)"),
        ("before(milk, tea)", "before(tea, milk)"),
        ("served_before(tea, food)", "served_before(food, tea)"),
        ("served_at(patio_table)", "served_at(desk | island)"),
        ("used(spice, kinds=3)", "not used(spice, kinds=2)"),
        ("used(milk)", "not used(milk_dairy) and not used(milk_plant)"),
        ('made("omelet", of=tea)', 'not made("omelet")'),
    ],
)
def test_contradicting_preferences_are_named(tmp_path, first, second):
    wishes = [preference(wants=first, **{"if": None}), preference(id="2", wants=second, **{"if": None})]
    with pytest.raises(DataError, match="preferences 1 and 2 contradict each other where the task is 'Make tea"):
        load_profiles(write_profile(tmp_path, *wishes))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"wants": "together(milk, tea)"}, {"wants": "not together(milk_dairy, tea)"}),
        ({"wants": "before(milk, tea)", "if": "used(milk)"}, {"wants": "not used(milk)", "if": None}),
        ({"tasks": [6], "wants": "used(lemon)"}, {"tasks": [8], "wants": "not used(lemon)"}),
        ({"wants": "used(spice, kinds=2)"}, {"wants": "not used(spice_other)"}),
        ({"wants": "served_at(table_0 | table_1)"}, {"wants": "served_at(patio_table)"}),
    ],
)
def test_compatible_preferences_are_accepted(tmp_path, first, second):
    assert load_profiles(write_profile(tmp_path, preference(**first), preference(id="2", **second)))


@pytest.mark.parametrize("field", ["if", "wants"])
def test_a_condition_that_takes_long_to_compare_is_accepted(tmp_path, field):
    long = " and ".join(["(used(milk) or used(honey))"] * 14)
    assert load_profiles(write_profile(tmp_path, preference(**{field: long})))


def test_names_and_ids_are_unique(tmp_path):
    with pytest.raises(DataError, match="two preferences have the id '1'"):
        load_profiles(write_profile(tmp_path, WISH, WISH))
    (tmp_path / "more.yaml").write_text(yaml.safe_dump({"name": "zoe", "preferences": [WISH]}), encoding="utf-8")
    write_profile(tmp_path, WISH)
    with pytest.raises(DataError, match="two people are named 'zoe'"):
        load_profiles(tmp_path)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"milk": ["milk_0"]}, "has a group or thing 'milk' already"),
        ({"two words": ["milk_0"]}, "cannot be named 'two words'"),
        ({"a": ["b"], "b": ["a"]}, "lists itself"),
        ({"a": ["unicorn"]}, "'unicorn', which is neither"),
        ({"a": []}, "the group 'a' is empty"),
    ],
)
def test_invalid_groups_are_refused(tmp_path, groups, words):
    with pytest.raises(DataError, match=words):
        load_profiles(write_profile(tmp_path, WISH, groups=groups))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [", "not readable as YAML"),
        ("just words", "expected fields and their values"),
        ("", "expected fields and their values"),
        ("people: 7", "people has to be a list"),
        ("people: []", "no people are described"),
        ("name: x\npreferences: []", "preferences"),
        ("x" * 1_000_001, "more than 1000000 bytes"),
        ("a: &a [*a]", "refer to themselves"),
    ],
)
def test_an_invalid_file_is_refused(tmp_path, text, words):
    file = tmp_path / "people.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        load_profiles(file)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        load_profiles(tmp_path / "nobody.yaml")


def test_the_bundled_profiles_have_the_numbers_of_the_paper():
    people = load_profiles(ADAPT_PROFILES)
    assert [len(person.preferences) for person in people] == COUNTS
    assert sum(len(person.preferences) for person in people) == 228
    kinds = [preference.category for person in people for preference in person.preferences]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "addition": 107, "variation": 38, "preparation": 25, "exclusion": 21, "order": 15, "tool": 11, "place": 11,
    }  # fmt: skip
    never = [preference.id for person in people for preference in person.preferences if not preference.tasks]
    assert never == ["5.5", "10.8", "11.5", "15.4", "16.7"]
    by_task = [
        [sum(task in preference.tasks for preference in person.preferences) for task in KITCHEN.tasks.tasks]
        for person in people
    ]
    assert max(max(counts) for counts in by_task) == 12
    means = [round(sum(counts[task] for counts in by_task) / 16, 2) for task in range(8)]
    assert means == [5.75, 5.56, 4.19, 5.0, 4.0, 8.06, 6.38, 4.88]


def test_groups_may_be_nested_deeply(tmp_path):
    groups = {f"a{n}": [f"a{n + 1}"] for n in range(3000)} | {"a3000": ["milk_0"]}
    deep = preference(wants="together(a0, tea)", **{"if": None})
    [profile] = load_profiles(write_profile(tmp_path, deep, groups=groups))
    [predicate] = iter_predicates(profile.preferences[0].wish)
    assert "milk_0" in predicate.ids[0]
