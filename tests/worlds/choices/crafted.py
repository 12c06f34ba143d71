"""Invented files in the formats of AmbiK and Introspective Planning."""

import json
from pathlib import Path
from typing import Any

KINDS = [
    ("bowl", ["metal bowl", "ceramic bowl", "plastic bowl"], "ceramic bowl"),
    ("yogurt", ["vanilla yogurt", "greek yogurt"], "vanilla yogurt"),
    ("salt", ["sea salt", "table salt"], "sea salt"),
    ("knife", ["paring knife", "butter knife"], "butter knife"),
    ("broth", ["beef broth", "chicken broth"], "beef broth"),
    ("milk", ["oat milk", "cow's milk"], "oat milk"),
]
REQUESTS = ["Cook some pasta.", "Make a sandwich.", "Open the cans.", "Cook rice.", "Make a smoothie.", "Bake a cake."]


def ambik_row(number: int, **changes: Any) -> dict[str, Any]:
    thing, options, answer = KINDS[number % len(KINDS)]
    row = {
        "id": f"a{number:03}",
        "environment": ["table", *options],
        "request": f"Robot, fetch the {thing} number {number}.",
        "clear_request": f"Robot, fetch the {answer}.",
        "shortlist": [],
        "variants": [option.capitalize() for option in options],
        "question": f"Which {thing}?",
        "answer": f"The {answer}, please.",
        "intent": {"wanted": [[answer]], "unwanted": [], "raw": answer},
        "about_amount_or_procedure": False,
    }
    return row | changes


def ambik_file(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    if rows is None:
        rows = [ambik_row(number) for number in range(18)]
        rows += [
            ambik_row(100 + n, request=f"{text} Portion {n}.", variants=[], environment=["table"])
            for n, text in enumerate(REQUESTS)
        ]
    return write(folder / "ambik.jsonl", rows)


SCENES = [
    ("Bring me that cola.", ["Coke", "Pepsi", "water"], "cola", "Coke", "table7"),
    ("Bring me a snack.", ["apple", "energy bar", "orange"], "snack", "energy bar", "table7"),
    ("Bring me that fruit.", ["apple", "orange", "water"], "fruit", "apple", "ours"),
    ("Bring me the sponge.", ["clean sponge", "dirty sponge", "Coke"], "sponge", "clean sponge", "ours"),
]


def scene_row(number: int, fold: str, **changes: Any) -> dict[str, Any]:
    request, things, kind, right, source = SCENES[number % len(SCENES)]
    options = [{"object": each, "location": None, "satisfies_request": each != things[2]} for each in things]
    row = {
        "id": f"s{number:03}",
        "fold": fold,
        "objects": things,
        "request": request,
        "intent_object": [things[1]],
        "intent_location": ["pick-up"],
        "single_decision": {
            "options": options,
            "request_type": kind,
            "preferred": {"object": right, "location": None},
            "label_from": source,
        },
        "same_as": f"k{number}",
    }
    return row | changes


def introplan_file(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    if rows is None:
        rows = [scene_row(number, "test" if number < 12 else "knowledge") for number in range(24)]
    return write(folder / "introplan.jsonl", rows)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path
