"""A small recording in the published form, made here: one kitchen, three objects, with and without a user."""

import json
from pathlib import Path
from typing import Any

from tests.record_lines import write_lines

FIXTURES = [
    ("table", "table", None, ["surface"], None),
    ("fridge", "fridge", None, ["openable", "receptacle"], "closed"),
    ("cupboard", "cupboard", None, ["openable", "receptacle"], "closed"),
    ("recycling bin", "bin", "recycling", ["receptacle"], None),
    ("bag", "bag", None, ["receptacle"], None),
    ("bag", "bag", None, ["receptacle"], None),
]
OBJECTS = [("milk_1", "milk", ["fridge"]), ("cup_2", "cup", ["cupboard"]), ("news_3", "news", ["recycling bin"])]
WORDS = {
    "determiner": ["the", "a"], "verb": ["is", "are", "open"], "preposition": ["in", "on", "next", "to"],
    "conjunction": ["and", "if"], "other": ["that", "then"], "noun": ["goal", "object", "shelf", "trash"],
}  # fmt: skip


def response(condition: str, thing: str, goal: str, kind: str | None = None, **more: Any) -> dict[str, Any]:
    mismatches = [{"kind": kind, "what": more.pop("what", None), "object": more.pop("of", None)}] if kind else []
    return {
        "type": "response", "task": "tidy nook", "condition": condition, "object": thing,
        "text": f"the goal is that {goal}", "source": "first", "prompt_type": "initial_prompt", "position": 0,
        "rank": 1, "viable": kind is None, "kind": kind, "mismatches": mismatches, "viable_position": None,
        "used": False, "figure6": None, **more,
    }  # fmt: skip


def calls(condition: str, thing: str) -> dict[str, Any]:
    return {
        "type": "calls", "task": "tidy nook", "condition": condition, "object": thing, "prompt_type": "initial_prompt",
        "calls": 2, "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 111,
    }  # fmt: skip


def lines() -> list[dict[str, Any]]:
    no, yes = {"order": 0, "answer": "no"}, {"order": 1, "answer": "yes"}
    found: list[dict[str, Any]] = []
    for condition in ("ST", "STARS+O"):
        asked = condition == "STARS+O"
        found += [
            response(
                condition, "milk_1", "the milk is in the fridge", used=not asked, **({"offered": no} if asked else {})
            ),
            response(
                condition, "milk_1", "the milk is in the fridge and the fridge is closed", rank=2, position=1,
                used=asked, **({"offered": yes} if asked else {}),
            ),
            response(condition, "milk_1", "the milk is on the shelf", "ungrounded-object", what="shelf", rank=3),
            calls(condition, "milk_1"),
            response(condition, "cup_2", "the cup is in the closet", "unknown-word", what="closet", used=not asked),
            response(condition, "cup_2", "the fridge is open", "uninterpretable", rank=2),
            calls(condition, "cup_2"),
            response(
                condition, "news_3", "the news is in the bin", used=True,
                **({"offered": {"order": 2, "answer": "yes"}} if asked else {}),
            ),
            response(
                condition, "news_3", "the bin is in the bag", "affordance-mismatch", what="grabbable", of="bin", rank=2
            ),
            calls(condition, "news_3"),
        ]  # fmt: skip
    stated = "If the object is a cup then the goal is that the object is in the cupboard and the cupboard is closed."
    found.append({"type": "human_goal", "task": "tidy nook", "condition": "STARS+O", "object": "cup_2", "text": stated})
    return found


def write(folder: Path) -> Path:
    """A folder as the commands take it."""
    fixtures = [
        {
            "name": name, "noun": noun, "modifier": modifier, "synonyms": [], "affordances": affordances,
            "openable": "openable" in affordances, "initially": state, "goal_state": state,
        }
        for name, noun, modifier, affordances, state in FIXTURES
    ]  # fmt: skip
    objects = [
        {
            "id": id, "name": name, "order": order, "relation": "on", "location": "table", "plural": False,
            "kinds": ["object"], "affordances": ["grabbable"], "goal": goal, "share": "data",
        }
        for order, (id, name, goal) in enumerate(OBJECTS)
    ]  # fmt: skip
    world = {
        "room": "kitchen", "instructions": ["Tidy nook.", "You are done."], "fixtures": fixtures, "objects": objects,
        "assertions": {"objects": 3, "fixtures": 2},
    }  # fmt: skip
    nouns = {noun for _, noun, *_ in FIXTURES} | {name for _, name, _ in OBJECTS} | {"kitchen"}
    words = {word: [part] for part, members in WORDS.items() for word in members} | {noun: ["noun"] for noun in nouns}
    vocabulary = {
        "words": words, "kinds": {noun: {"kind_of": "object", "affordances": []} for noun in nouns},
        "means": {}, "states": {"closed": "openable"}, "modifiers": ["recycling"],
    }  # fmt: skip
    usage = {"calls": 6, "prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 333}
    common = {
        "objects": 3, "responses": 7, "viable": 3,
        "kinds": {"uninterpretable": 1, "unknown-word": 1, "ungrounded-object": 1, "affordance-mismatch": 1},
        "figure6": {
            "uninterpretable": 1, "unknown-word": 1, "ungrounded-object": 1, "affordance-mismatch": 1,
            "situationally relevant": 2, "viable but not reasonable": 1,
        },
        "objects_with_a_relevant_response": 2, "fixtures": 2, "used_viable": 2, **usage,
    }  # fmt: skip
    expected = {
        "tidy nook": {
            "ST": {
                **common, "human_goals": 0, "offered": 0, "yes": 0, "in_place": 2, "fixtures_closed": 1,
                "completion_percent": 60.0,
            },
            "STARS+O": {
                **common, "human_goals": 1, "offered": 3, "yes": 2, "in_place": 3, "fixtures_closed": 2,
                "completion_percent": 100.0,
            },
        }
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("worlds.json", {"tasks": {"tidy nook": world}}), ("vocabulary.json", vocabulary), ("expected.json", expected),
    ):  # fmt: skip
        (folder / name).write_text(json.dumps(content))
    write_lines(folder / "tidy_nook.jsonl", lines())
    return folder
