"""Files of AmbiK and Introspective Planning as published, with invented sentences."""

import csv
from pathlib import Path

import pytest

from housewise.core.errors import DataError
from housewise.worlds.choices.ambik import read_ambik
from housewise.worlds.choices.choice_sets import load_choices
from housewise.worlds.choices.introplan import read_introplan_choices, read_introplan_scenes
from tests.worlds.choices.crafted import ambik_file, ambik_row

COLUMNS = [
    "",
    "environment_short",
    "ambiguity_type",
    "amb_shortlist",
    "ambiguous_task",
    "question",
    "answer",
    "user_intent",
    "variants",
]


def table(folder: Path, rows: list[list[str]], mark: str = "") -> Path:
    path = folder / "ambik_test.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(mark)
        csv.writer(stream).writerows([COLUMNS, *rows])
    return path


def row(number: int, kind: str = "preferences", **changes: str) -> list[str]:
    made = ambik_row(number)
    fields = {
        "": str(number),
        "environment_short": ", ".join(made["environment"]),
        "ambiguity_type": kind,
        "amb_shortlist": "",
        "ambiguous_task": made["request"],
        "question": made["question"],
        "answer": made["answer"],
        "user_intent": made["intent"]["raw"],
        "variants": "\n".join(made["variants"]),
    }
    return list((fields | changes).values())


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_of_ambik_equals_its_json_lines(mark: str, tmp_path: Path) -> None:
    rows = [row(number) for number in range(18)]
    path = table(tmp_path, [row(90, "safety"), *rows, row(91, "common_sense_knowledge")], mark)
    lines = read_ambik(ambik_file(tmp_path, [ambik_row(n, id=f"ambik-{n:03}") for n in range(18)]))
    assert read_ambik(path) == lines
    assert load_choices(str(path), 4, 0).test


def test_intents_and_questions_of_a_table_are_parsed(tmp_path: Path) -> None:
    changes = {"user_intent": "oat|almond milk, -cow's milk ,cup", "amb_shortlist": "oat milk, cow's milk"}
    plain, amount, options = read_ambik(
        table(
            tmp_path,
            [
                row(3, **changes),
                row(4, variants="", question="How many spoons of it?"),
                row(5, question="How many spoons of it?"),
            ],
        )
    )
    assert plain.intent.wanted == (("oat", "almond milk"), ("cup",)) and plain.intent.unwanted == (("cow's milk",),)
    assert (plain.about_amount_or_procedure, amount.about_amount_or_procedure) == (False, True)
    assert not options.about_amount_or_procedure, "there is something to choose from"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (",".join(COLUMNS[:4]) + "\n", "there is no column ambiguous_task"),
        (",".join(COLUMNS) + "\n", "no row whose ambiguity_type is preferences"),
        (",".join(COLUMNS) + "\n1,cup,preferences\n", "line 2: has too few columns"),
        (",".join(COLUMNS) + '\n1,"cup\n', "line .*: no table"),
        (",".join(COLUMNS) + "\n1," + "c" * 200_000 + ",preferences\n", "line .*: no table"),
    ],
)
def test_an_invalid_table_is_reported(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "ambik.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        load_choices(str(path), 4, 0)


SCENES = [
    ("Bring me that soda.", "pick-up", "Sprite, Pepsi", "pick-up", "Sprite, Pepsi, apple", "singlelabel_task"),
    ("Bring me that fruit.", "pick-up", "orange, apple", "pick-up", "orange, Coke, apple", "singlelabel_task"),
    ("Put the chips in the drawer.", "top drawer", "rice chips, kettle chips", "bottom drawer, top drawer",
     "rice chips, kettle chips, Coke", "spatial_ambiguous_task"),
    ("Put apple near the can.", "Pepsi", "apple", "Sprite, Pepsi", "apple, Sprite, Pepsi", "spatial_ambiguous_task"),
    ("Bring me the apple.", "pick-up", "apple", "pick-up", "apple, Sprite", "unambiguous_task"),
]  # fmt: skip


def scene(number: int, which: int) -> str:
    request, intended, things, places, objects, kind = SCENES[which]
    fields = {
        "Scene": f"There are {objects}",
        "Task": request,
        "User intent (object)": things.partition(",")[0],
        "User intent (location)": intended,
        "Possible objects": things,
        "Possible locations": places,
        "Scene objects": objects,
        "Task category": kind,
    }
    return "\n".join([str(number), *(f"{name}: {value}" for name, value in fields.items()), ""])


def scenes(path: Path, numbers: range, mark: str = "") -> Path:
    path.write_text(mark + "\n".join(scene(number, number % len(SCENES)) for number in numbers), encoding="utf-8")
    return path


def test_a_text_of_introplan_is_labelled_by_one_person(tmp_path: Path) -> None:
    found = read_introplan_scenes(scenes(tmp_path / "mobile.txt", range(5), "\ufeff"))
    decisions = [each.single_decision for each in found]
    assert [(each.id, each.fold) for each in found[:2]] == [("introplan-000", "test"), ("introplan-001", "test")]
    assert decisions[-1] is None
    labels = [
        (each.request_type, each.preferred and (each.preferred.object, each.preferred.location), each.label_from)
        for each in decisions
        if each
    ]
    assert labels == [
        ("soda", ("Pepsi", None), "table7"),
        ("fruit", ("apple", None), "ours"),
        ("chips+drawer", ("rice chips", "top drawer"), "table7"),
        ("can", ("apple", "Pepsi"), "ours"),
    ]
    assert decisions[0] and [each.satisfies_request for each in decisions[0].options] == [True, True, False]
    assert decisions[2] and len(decisions[2].options) == 4


def test_examples_come_from_the_knowledge_file_if_there_is_one(tmp_path: Path) -> None:
    path = scenes(tmp_path / "mobile.txt", range(40))
    alone = load_choices(str(path), 2, 0)
    assert len(alone.examples) == 2 and not {each.id for each in alone.examples} & {each.id for each in alone.test}
    scenes(tmp_path / "mobile_knowledge.txt", range(100, 110))
    beside = read_introplan_choices(path, 2, 0)
    assert {int(each.id.removeprefix("introplan-")) >= 100 for each in beside.examples} == {True}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("Task: ", "Tsak: "), "line 3: no field of a scene"),
        (("Task category: singlelabel_task\n", ""), "line 1: a scene without Task category"),
        (("0\n", ""), "line 1: a scene without number"),
        (("Possible objects: ", "Task: "), "line 6: a second Task"),
    ],
)
def test_a_damaged_text_is_reported_with_its_line(change: tuple[str, str], words: str, tmp_path: Path) -> None:
    path = tmp_path / "mobile.txt"
    path.write_text(scene(0, 0).replace(*change, 1))
    with pytest.raises(DataError, match=words):
        load_choices(str(path), 2, 0)


def test_byte_order_marks_and_unicode_line_separators_are_accepted(tmp_path: Path) -> None:
    rows = [ambik_row(number, question="Which\u2028one?") for number in range(18)]
    path = ambik_file(tmp_path, rows)
    text = path.read_text(encoding="utf-8").replace("\\u2028", "\u2028")
    path.write_bytes(("\ufeff" + text.replace("\n", "\r\n")).encode())
    assert [each.question for each in read_ambik(path)] == ["Which\u2028one?"] * 18
    assert load_choices(str(path), 4, 0).test


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 100_000, "NaN", '"\\ud800"', '{"a": 1'])
def test_invalid_json_is_reported_in_one_line(value: str, tmp_path: Path) -> None:
    path = tmp_path / "ambik.jsonl"
    path.write_text('{"variants": ' + value + "}\n")
    with pytest.raises(DataError, match="line 1") as refused:
        load_choices(str(path), 4, 0)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 600
