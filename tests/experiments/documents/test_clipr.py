"""CLIPR's tables and figures, drawn from small tables of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import DataError
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import figure
from housewise.experiments.documents.tables import TABLES

pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")

IN, OUT = "accuracy_in_distribution", "accuracy_out_of_distribution"
ROWS: dict[str, list[tuple[Any, ...]]] = {
    # Axes, run, task, repeat, measure, value; two episodes of one task where there are two seeds.
    "methods": [
        *(("IntroPlan", "CLIPR", seed, IN, value) for seed, value in (("0", 0.7), ("1", 0.8))),
        ("IntroPlan", "chance", "0", IN, 0.4),
        ("Housekeep", "CLIPR", "0", IN, 0.5),
        ("Housekeep", "CLIPR", "0", OUT, 0.25),
        ("Housekeep", "chance", "0", IN, 0.25),
        ("Housekeep", "chance", "0", OUT, 0.25),
        *(
            (data, method, "0", measure, value)
            for data in ("IntroPlan", "Housekeep")
            for method, calls, efficiency in (("CLIPR", 21, 2.0), ("Adaptive CLIPR", 40, 1.0))
            for measure, value in (("calls", calls), ("questions", 9.6), ("right_choices_per_call", efficiency))
        ),
        *(
            ("Housekeep", "CIPHER embeddings", "0", *pair)
            for pair in (("calls", 90), ("questions", 3), ("right_choices_per_call", 0.25), (IN, 0.5))
        ),
        *(
            ("IntroPlan", "CIPHER embeddings", "0", *pair)
            for pair in (("calls", 90), ("questions", 3), ("right_choices_per_call", 0.5), (IN, 0.5))
        ),
        *((data, "Adaptive CLIPR", "0", IN, 0.5) for data in ("IntroPlan", "Housekeep")),
    ],
    "ablations": [
        ("kitchen", "static", "0", "accuracy", 0.5),
        *(
            ("kitchen", "without the gate", seed, measure, value)
            for seed, values in (("0", (0.5, 2, 1, -0.25)), ("1", (0.6, 1, 0, 0.0)))
            for measure, value in zip(
                ("accuracy", "accepted_updates", "harmful_updates", "worst_change"), values, strict=True
            )
        ),
    ],
    "learned": [("trained, right rules", "as_wanted", 0.9), ("chance", "as_wanted", 0.25)],
    "porting": [
        ("kitchen", "no rules", "fine-tuned", "0", "accuracy", 0.5),
        ("kitchen", "CLIPR", "local", "0", "accuracy", 0.75),
    ],
    "transfer": [
        *(
            (who, f"{robot}, {row}", "1", "success_rate", value + off)
            for robot in ("model", "memory lookup", "memory nearest")
            for row, value in (
                ("no rules", 0.0),
                ("rules", 0.6),
                ("full preferences", 0.8),
                ("usual places", 0.25),
                ("usual places and rules", 0.5),
            )
            for who, off in (("gita", 0.0), ("farid", 0.1))
        ),
        ("gita", "the rules themselves", "1", "wanted", 621),
    ],
}
AXES = {
    "methods": ("data", "method", "seed"),
    "ablations": ("data", "row", "seed"),
    "learned": ("row",),
    "porting": ("data", "rules", "follower", "seed"),
    "transfer": ("person", "row", "seed"),
}
DRAWN = {
    "clipr": [
        "| in / out of distribution | IntroPlan | Housekeep |",
        "| CLIPR | 75.0 ± 5.0 | 50.0 / 25.0 |",
        "| chance | 40.0 | 25.0 / 25.0 |",
        "| Adaptive CLIPR | 50.0 | 50.0 |",
        "| CIPHER embeddings | 50.0 | 50.0 |",
    ],
    "clipr efficiency": [
        "| calls / questions / efficiency | IntroPlan | Housekeep |",
        "| CLIPR | 21 / 10 / – | 21 / 10 / – |",
        "| Adaptive CLIPR | 40 / 10 / 1.00 | 40 / 10 / 1.00 |",
        "| CIPHER embeddings | 90 / 3 / 0.50 | 90 / 3 / 0.25 |",
    ],
    "clipr ablations": [
        "| (updates accepted, that lowered, the worst) | kitchen |",
        "| static | 50.0 |",
        "| without the gate | 55.0 ± 5.0 (3, 1, -25.0) |",
    ],
    "clipr learned": ["| | accuracy, % |", "| trained, right rules | 90.0 |", "| chance | 25.0 |"],
    "clipr porting": [
        "| | rules of | fine-tuned | local |",
        "| kitchen | no rules | 50.0 | – |",
        "| kitchen | CLIPR | – | 75.0 |",
    ],
    "clipr transfer": [
        "| success, % | gita | farid | everybody |",
        "| model, no rules | 0.0 | 10.0 | 5.0 ± 5.0 |",
        "| model: rules are worth, points | 60.0 | 60.0 | 60.0 ± 0.0 |",
        "| memory lookup: rules beside usual places are worth, points | 25.0 | 25.0 | 25.0 ± 0.0 |",
        "| model: rules reach of full preferences, % | 75 | 78 | 76 |",
    ],
}


@pytest.fixture
def files(tmp_path: Path) -> FigureFiles:
    """A folder of results."""
    folder = tmp_path / "clipr"
    folder.mkdir()
    for name, rows in ROWS.items():
        axes = AXES[name]
        lines = [",".join([*axes, "run", "task", "repeat", "measure", "value", "weight"])]
        for *levels, measure, value in rows:
            task = levels[0] if name == "transfer" else "task"
            lines.append(",".join([*(f'"{level}"' for level in levels), "test", task, "0", measure, str(value), "1"]))
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        header = {
            "experiment": name,
            "title": name,
            "axes": {axis: list(dict.fromkeys(row[place] for row in rows)) for place, axis in enumerate(axes)},
            "measures": {row[-2]: {"label": row[-2]} for row in rows},
            "rows": len(rows),
            "made": {"commit": None},
        }
        (folder / f"{name}.json").write_text(json.dumps(header))
    return FigureFiles(tmp_path)


@pytest.mark.parametrize("name", DRAWN)
def test_a_table_says_what_is_in_its_file(name: str, files: FigureFiles) -> None:
    files.read_all()
    first, _, *rows = TABLES[name](files).splitlines()
    assert first == DRAWN[name][0]
    if name == "clipr transfer":
        assert set(DRAWN[name][1:]) <= set(rows)
    else:
        assert rows == DRAWN[name][1:]


def test_a_figure_is_the_mean_over_the_rows_that_its_address_names(files: FigureFiles) -> None:
    address = f"clipr/methods.csv#/data=IntroPlan/method=CLIPR/measure={IN}"
    assert figure(address, "±.1%", files) == "75.0 ± 5.0 %"
    assert figure("clipr/transfer.csv#/measure=wanted", ".0f", files) == "621"
    for wrong, message in (
        ("clipr/methods.csv#/colour=red", "no column colour"),
        ("clipr/methods.csv#/data=IntroPlan", "nothing, or several measures"),
        ("clipr/methods.csv#/data=Mars", "nothing, or several measures"),
    ):
        with pytest.raises(DataError, match=message):
            figure(wrong, ".1f", files)
