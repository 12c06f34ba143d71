"""People's files: what is read, and what is refused in one line with its remedy."""

import copy

import pytest
import yaml

from housewise.core.errors import DataError
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from tests.commands import run_module
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


def written(tmp_path, *wishes, **more):
    file = tmp_path / "people.yaml"
    file.write_text(yaml.safe_dump({"name": "zoe", "preferences": list(wishes), **more}), encoding="utf-8")
    return file


def preference_fields(**changes):
    wish = {**copy.deepcopy(WISH), **changes}
    return {key: value for key, value in wish.items() if value is not None}


def test_one_person_of_one_s_own(tmp_path):
    file = written(
        tmp_path,
        WISH,
        preference_fields(id=2, tasks=[1, "sweet"], dishes=[]),
        groups={"fizz": ["water_bottle_0", "tea"]},
    )
    (person,) = load_profiles(file)
    assert person.name == "zoe"
    assert [preference.id for preference in person.preferences] == ["1", "2"]
    assert [preference.tasks for preference in person.preferences] == [(6, 8), (1, 3, 5, 7)]


def test_several_people_in_one_file_and_a_folder_of_files(tmp_path):
    people = [{"name": name, "preferences": [WISH]} for name in ("ann", "ben")]
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"people": people}), encoding="utf-8")
    written(tmp_path, WISH)
    assert [person.name for person in load_profiles(tmp_path)] == ["ann", "ben", "zoe"]


def test_a_wish_that_is_about_no_dish(tmp_path):
    (person,) = load_profiles(written(tmp_path, preference_fields(dishes=None)))
    assert person.preferences[0].dishes == ()


def test_words_are_heard_in_one_line(tmp_path):
    (person,) = load_profiles(
        written(tmp_path, preference_fields(text="Milk in\n  my \x1b[31mtea.\n", paraphrase="A splash\n"))
    )
    assert person.preferences[0].text.startswith("Milk in my ") and "\x1b" not in person.preferences[0].text
    assert person.preferences[0].paraphrase == "A splash"


def test_what_stands_in_a_room_stands_there(tmp_path):
    here = preference_fields(wants="served_at(kitchen)", dishes=None)
    assert load_profiles(written(tmp_path, here, preference_fields(id="2", wants="served_at(island)", dishes=None)))


def test_whose_wish_cannot_be_read_is_named(tmp_path):
    people = [{"name": "ann", "preferences": [WISH]}, {"name": "ben", "preferences": [preference_fields(wants=None)]}]
    file = tmp_path / "people.yaml"
    file.write_text(yaml.safe_dump({"people": people}), encoding="utf-8")
    with pytest.raises(DataError, match=r"people\.yaml: people\.1: field preferences\.0\.wants"):
        load_profiles(file)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (
            preference_fields(wants="drunk(milk)"),
            "preference 1: wants: unknown predicate 'drunk'; use one of used, together",
        ),
        (
            preference_fields(**{"if": "available(unicorn)"}),
            "preference 1: if: 'unicorn' is neither a group nor a thing",
        ),
        (preference_fields(category="mood"), "preferences.0.category: Input should be 'variation', 'addition'"),
        (preference_fields(tasks="lunch"), "unknown task 'lunch'; use 1 to 8, savory"),
        (preference_fields(tasks=[["x"] * 9] * 9), "unknown task of type list"),
        (preference_fields(tasks=9), "unknown task 9"),
        (preference_fields(tasks=True), "unknown task True"),
        (preference_fields(dishes=["soup"]), "unknown dish 'soup'; use eggs"),
        (preference_fields(wants=None), "preferences.0.wants"),
        (preference_fields(colour="red"), "preferences.0.colour"),
        (preference_fields(text=""), "preferences.0.text"),
        (preference_fields(wants="used(tea) and not used(tea)"), "preference 1 can never be satisfied"),
        (preference_fields(wants="not used(tea)"), "preference 1 can never be satisfied"),
        (preference_fields(wants="served_at(table_0) and served_at(table_1)"), "preference 1 can never be satisfied"),
        (preference_fields(wants="used(milk_whole, kinds=2)"), "preference 1 can never be satisfied"),
        (preference_fields(wants=["used(tea)"]), "preferences.0.wants"),
        (preference_fields(wants="1" + "+1" * 900), "wants: is nested too deeply"),
        (preference_fields(wants='done("frobnicate")'), "preference 1 can never be satisfied"),
        (
            preference_fields(wants='done("poach", of=egg) and not done("poach", of=egg)'),
            "preference 1 can never be satisfied",
        ),
        (preference_fields(wants="used(sofa_0)"), "preference 1 can never be satisfied"),
        (
            preference_fields(wants="together(pan_0, egg)", tasks="eggs", dishes=["eggs"]),
            "preference 1 can never be satisfied",
        ),
        (preference_fields(wants="not together(tea, water)"), "preference 1 can never be satisfied"),
        (preference_fields(wants="available(nut, kinds=50)"), "preference 1 can never be satisfied"),
    ],
)
def test_a_wish_that_cannot_be_read_is_named(tmp_path, wish, words):
    with pytest.raises(DataError) as error:
        load_profiles(written(tmp_path, wish))
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
def test_two_wishes_that_contradict_each_other_are_named(tmp_path, first, second):
    wishes = [preference_fields(wants=first, **{"if": None}), preference_fields(id="2", wants=second, **{"if": None})]
    with pytest.raises(DataError, match="preferences 1 and 2 contradict each other where the task is 'Make tea"):
        load_profiles(written(tmp_path, *wishes))


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
def test_wishes_that_go_together_are_taken(tmp_path, first, second):
    assert load_profiles(written(tmp_path, preference_fields(**first), preference_fields(id="2", **second)))


def test_names_and_ids_are_given_once(tmp_path):
    with pytest.raises(DataError, match="two preferences have the id '1'"):
        load_profiles(written(tmp_path, WISH, WISH))
    (tmp_path / "more.yaml").write_text(yaml.safe_dump({"name": "zoe", "preferences": [WISH]}), encoding="utf-8")
    written(tmp_path, WISH)
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
def test_groups_of_one_s_own_are_checked(tmp_path, groups, words):
    with pytest.raises(DataError, match=words):
        load_profiles(written(tmp_path, WISH, groups=groups))


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
def test_a_file_that_describes_nobody(tmp_path, text, words):
    file = tmp_path / "people.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        load_profiles(file)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        load_profiles(tmp_path / "nobody.yaml")


def test_the_command_says_it_in_one_line(tmp_path):
    file = written(tmp_path, preference_fields(wants="drunk(milk)"))
    run = run_module("housewise.experiments.adapt.verifiers", ["--people", file])
    assert run.returncode != 0
    assert "unknown predicate 'drunk'" in run.stderr + run.stdout
    assert "Traceback" not in run.stderr


def test_the_sixteen_are_as_the_paper_counts_them():
    people = load_profiles(ADAPT_PROFILES)
    assert [len(person.preferences) for person in people] == [
        12,
        10,
        10,
        14,
        19,
        16,
        13,
        13,
        13,
        18,
        12,
        17,
        15,
        16,
        12,
        18,
    ]
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
    deep = preference_fields(wants="together(a0, tea)", **{"if": None})
    [profile] = load_profiles(written(tmp_path, deep, groups=groups))
    assert "milk_0" in profile.preferences[0].wish.ids[0]
