"""Labels and readers of AmbiK, Introspective Planning and the kitchen set."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from housewise.core.errors import DataError
from housewise.worlds.choices.ambik import AmbikTask, intended_options
from housewise.worlds.choices.ambik_labels import label_task, load_unified_person, read_ambik_choices
from housewise.worlds.choices.introplan import read_introplan_choices
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE, read_kitchen_choices
from housewise.worlds.choices.scenario import Scenario, Situation, sample_scenarios
from tests.worlds.choices.crafted import ambik_file, ambik_row, introplan_file, scene_row


def task(**changes: object) -> AmbikTask:
    return AmbikTask.model_validate_json(json.dumps(ambik_row(0, **changes)))


def test_specific_families_decide_before_materials(tmp_path: Path) -> None:
    person = load_unified_person()
    assert (len(person.stable), len(person.contextual)) == (37, 20)
    cases = {
        ("Metal bowl", "Ceramic bowl"): ("Ceramic bowl", "material"),
        ("Grill pan", "Frying pan", "Ceramic pan"): ("Frying pan", "cookware"),
        ("Ceramic bread plate", "Ceramic dinner plate", "Plastic dinner plate"): ("Ceramic dinner plate", "material"),
        ("Oat milk", "Cow's milk"): ("Oat milk", "milk"),
    }
    for options, (wanted, family) in cases.items():
        found = person.choose_option(options)
        assert found is not None and (options[found[0]], found[1]) == (wanted, family)
    assert person.choose_option(("1 spoonful", "2 spoonfuls")) is None


def test_injected_options_are_added_to_the_environment() -> None:
    asked = "Cook penne pasta with pasta water."
    made = label_task(task(variants=[], request=asked, environment=["pot", "spaghetti"]), load_unified_person())
    assert isinstance(made, Scenario)
    situation = made.situation
    assert situation.actions[made.preferred] == "lasagna sheets" and 3 <= len(situation.actions) <= 4
    assert "penne" not in situation.actions, "what the request names is no option"
    assert situation.request == asked and situation.environment[:2] == ("pot", "spaghetti")
    assert set(situation.environment[2:]) == set(situation.actions) - {"spaghetti"}
    assert (made.label_from, made.about, made.annotated) == ("contextual", "pasta", None)
    assert label_task(task(variants=[], request=asked, environment=["pot", "spaghetti"]), load_unified_person()) == made


def test_tasks_without_a_label_are_counted(tmp_path: Path) -> None:
    rows = [ambik_row(n) for n in range(12)] + [
        ambik_row(50, variants=["1 spoonful", "2 spoonfuls"]),
        ambik_row(51, variants=[], about_amount_or_procedure=True),
        ambik_row(52, variants=[], request="Polish everything."),
    ]
    choices = read_ambik_choices(ambik_file(tmp_path, rows), 6, 0)
    assert len(choices.examples) == 6 and len(choices.test) == 6
    assert dict(choices.left_out) == {
        "no family tells its options apart": 1,
        "about an amount or a procedure": 1,
        "no family has a say": 1,
    }
    assert len({each.about for each in choices.examples}) == 6, "examples are about different things while they can be"


def test_annotated_and_preferred_options_are_separate(tmp_path: Path) -> None:
    choices = read_ambik_choices(ambik_file(tmp_path), 6, 1)
    yogurt = next(each for each in (*choices.examples, *choices.test) if each.about == "yogurt")
    assert yogurt.situation.actions[yogurt.preferred] == "Greek yogurt"
    assert yogurt.annotated is not None and yogurt.situation.actions[yogurt.annotated] == "Vanilla yogurt"
    seen = {each.about for each in choices.examples}
    assert {each.tier for each in choices.test if each.about in seen} == {"in distribution"}
    assert all(each.tier == "out of distribution" for each in choices.test if each.about not in seen)


@pytest.mark.parametrize(
    ("options", "wanted", "unwanted", "right"),
    [
        (["Milk chocolate", "Almond milk chocolate"], [["milk chocolate"]], [], {0}),
        (["Sea salt", "Table salt"], [["sea salt"], ["table salt"]], [], {0, 1}),
        (["2 oranges", "3 oranges"], [["two"]], [], {0}),
        (["corn", "beans"], [["canned corn"]], [], {0}),
        (["Oat milk", "Cow's milk"], [["milk"]], [["oat milk"]], {1}),
        (["Strawberry yogurt", "Vanilla yogurt"], [["greek yogurt"]], [], set()),
        (["Warm it", "Leave it"], [["hot", "warm"]], [], {0}),
    ],
)
def test_intended_options(
    options: list[str], wanted: list[list[str]], unwanted: list[list[str]], right: set[int]
) -> None:
    row = task(variants=options, intent={"wanted": wanted, "unwanted": unwanted})
    assert intended_options(row) == right


def test_introplan_drops_repetitions_of_examples(tmp_path: Path) -> None:
    rows = [scene_row(n, "test") for n in range(8)] + [
        scene_row(n, "knowledge", same_as=f"k{n - 8}") for n in range(8, 16)
    ]
    choices = read_introplan_choices(introplan_file(tmp_path, rows), 4, 0)
    assert len(choices.examples) == 4 and len(choices.test) == 4, "four test scenes repeat an example"
    assert dict(choices.left_out) == {
        "test scenes that repeat an example": 4,
        "knowledge scenes that repeat a test scene": 4,
    }
    assert {each.label_from for each in (*choices.examples, *choices.test)} == {"table7", "ours"}
    cola = next(each for each in (*choices.examples, *choices.test) if each.about == "cola")
    assert cola.situation.actions == ("bring the Coke", "bring the Pepsi", "bring the water")
    assert (cola.preferred, cola.annotated, cola.satisfying) == (0, 1, {0, 1})


def test_actions_use_the_preposition_of_the_request(tmp_path: Path) -> None:
    decision = {
        "options": [
            {"object": "chips", "location": where, "satisfies_request": True}
            for where in ("top drawer", "bottom drawer")
        ],
        "request_type": "drawer",
        "preferred": {"object": "chips", "location": "top drawer"},
        "label_from": "table7",
    }
    rows = [scene_row(n, "knowledge") for n in range(4)]
    rows.append(scene_row(9, "test", request="Put the chips in the drawer.", single_decision=decision))
    (only,) = read_introplan_choices(introplan_file(tmp_path, rows), 4, 0).test
    assert only.situation.actions == ("put the chips in the top drawer", "put the chips in the bottom drawer")


def test_the_kitchen_set_has_the_documented_numbers() -> None:
    kitchen = read_kitchen_choices()
    tiers = Counter(each.tier for each in kitchen.test)
    assert (len(kitchen.examples), tiers["in distribution"], tiers["out of distribution"]) == (15, 14, 41)
    for part in (kitchen.examples, [each for each in kitchen.test if each.tier == "in distribution"]):
        assert len({each.about for each in part}) == 7
    assert len({each.id for each in (*kitchen.examples, *kitchen.test)}) == 70
    assert all(2 <= len(each.satisfying) < len(each.situation.actions) for each in kitchen.test)
    places = Counter(each.preferred for each in kitchen.test)
    assert max(places.values()) < 0.7 * len(kitchen.test), "the place of the preferred action says little"


BAD = [
    ([{"id": "x"}], r"line 1: .*Field required.*another version of AmbiK's preference tasks"),
    ([ambik_row(0, variants="metal bowl")], r"line 1: field variants: .*another version"),
    ([ambik_row(0), ["a", "list"]], r"line 2: "),
    ([ambik_row(n) for n in range(3)], r"10 example scenarios are needed, 3 are there"),
]


@pytest.mark.parametrize(("rows", "message"), BAD)
def test_files_in_another_format_than_ambik_are_refused(
    tmp_path: Path, rows: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(DataError, match=message) as refused:
        read_ambik_choices(ambik_file(tmp_path, rows), 10, 0)
    assert "ambik.jsonl" in str(refused.value) and "\n" not in str(refused.value)


def one_right() -> dict[str, object]:
    row = scene_row(0, "test")
    for option in row["single_decision"]["options"][1:]:
        option["satisfies_request"] = False
    return row


def none_right() -> dict[str, object]:
    row = scene_row(0, "test")
    row["single_decision"]["preferred"] = {"object": "tea", "location": None}
    return row


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (one_right(), "scenario s000: 1 of its actions satisfy the request"),
        (none_right(), "scene s000: single_decision.preferred is not one of its options"),
    ],
)
def test_invalid_scenes_are_left_out_and_named(tmp_path: Path, row: dict[str, object], message: str) -> None:
    rows = [row, scene_row(20, "test"), *(scene_row(n, "knowledge") for n in range(1, 9))]
    choices = read_introplan_choices(introplan_file(tmp_path, rows), 4, 0)
    assert [each.id for each in choices.test] == ["s020"]
    assert any(line.startswith(message) and "\n" not in line for line, _ in choices.left_out)
    with pytest.raises(DataError, match=r"introplan\.jsonl: has no ambiguous test scene that can be used"):
        read_introplan_choices(introplan_file(tmp_path, [row, *rows[2:]]), 4, 0)


def test_scenes_of_another_version_are_refused(tmp_path: Path) -> None:
    rows = [scene_row(0, "train"), *(scene_row(n, "knowledge") for n in range(1, 9))]
    with pytest.raises(DataError, match=r"line 1: field fold: Input should be 'test' or 'knowledge'") as refused:
        read_introplan_choices(introplan_file(tmp_path, rows), 4, 0)
    assert "\n" not in str(refused.value)


def test_an_invalid_kitchen_set_is_reported(tmp_path: Path) -> None:
    content = yaml.safe_load(KITCHEN_FILE.read_text(encoding="utf-8"))
    content["training"][0]["also"] = []
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.yaml: scenario k-t01: 1 of its actions"):
        read_kitchen_choices(path)
    content["training"][0] = {**content["training"][1], "request": "Some tea, please."}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.yaml: scenario k-t02: 2 scenarios have this id"):
        read_kitchen_choices(path)
    del content["training"][0]["request"]
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape("training.0.request: Field required")):
        read_kitchen_choices(path)


def test_a_scenario_needs_two_different_actions() -> None:
    with pytest.raises(DataError, match="stands there twice"):
        Scenario(Situation("s", (), "r", ("a", "a")), frozenset({0, 1}), 0)
    with pytest.raises(DataError, match="at least two"):
        Scenario(Situation("s", (), "r", ("a",)), frozenset({0}), 0)
    with pytest.raises(DataError, match="give more scenarios"):
        sample_scenarios((), 1, 0)
