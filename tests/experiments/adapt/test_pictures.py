from pathlib import Path
from typing import Any

import pytest

from housewise.experiments.adapt.pictures import against_questions, by_wishes, draw, over_time


def row(questions: float, rate: float) -> dict[str, Any]:
    side = {"questions": {"mean": questions}, "satisfaction": {"mean": rate}}
    nobody = {"questions": {"mean": None}, "satisfaction": {"mean": None}}
    return {
        "unseen": side,
        "seen": nobody,
        "questions_by_wishes": {size: {"mean": questions * more} for more, size in enumerate(("few", "some", "many"))},
        "over_time": {part: rate * float(part) for part in ("0.2", "0.4", "0.6", "0.8", "1")},
    }


ROWS = {"Never Ask": row(0, 0.25), "Reflection-DPO": row(4, 0.5), "scripted, at most 5": row(5, 0.75)}


def test_what_was_not_played_has_no_point() -> None:
    assert against_questions(ROWS, "seen") == {}
    assert against_questions(ROWS, "unseen")["Reflection-DPO"] == ([4], [50])


def test_who_never_asks_is_not_drawn_by_wishes() -> None:
    assert {name: list(found) for name, (_, found) in by_wishes(ROWS).items()} == {
        "Reflection-DPO": [0, 4, 8],
        "scripted, at most 5": [0, 5, 10],
    }


def test_curves_are_in_percent_and_left_out_where_no_wish_applied() -> None:
    nothing = {"Baseline": {"over_time": dict.fromkeys(("0.2", "0.4", "0.6", "0.8", "1"))}}
    [(name, (x, y))] = over_time({"Never Ask": ROWS["Never Ask"], **nothing}).items()
    assert name == "Never Ask" and x == pytest.approx([20, 40, 60, 80, 100])
    assert y == pytest.approx([5, 10, 15, 20, 25])


def test_a_picture_has_a_row_for_seen_people_where_there_are_some(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    both = {name: {**each, "seen": each["unseen"]} for name, each in ROWS.items()}
    heights = []
    for name, rows in (("unseen", ROWS), ("both", both), ("nothing", {})):
        draw(rows, tmp_path / f"{name}.png")
        with image.open(tmp_path / f"{name}.png") as picture:
            heights.append(picture.height)
    assert heights[0] == heights[2] < heights[1]
