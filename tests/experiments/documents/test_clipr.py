"""CLIPR's tables, drawn from small files of results."""

import json
from pathlib import Path
from typing import Any

import pytest

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.tables import TABLES


def over_seeds(*values: float, error: float = 0.0) -> dict[str, Any]:
    return {"mean": sum(values) / len(values), "error": error, "per_seed": values}


REVISED = {
    "accuracy": over_seeds(0.5, 0.6, error=0.05),
    "accepted": over_seeds(2, 1),
    "accepted that lowered": over_seeds(1, 0),
    "worst change": over_seeds(-0.25, 0.0),
}
FILES: dict[str, dict[str, Any]] = {
    "main_local": {
        "accuracy": {
            "introplan": {
                tier: {"CLIPR": over_seeds(0.75), "chance": over_seeds(0.4)} for tier in ("all", "in distribution")
            },
            "housekeep": {
                tier: {"CLIPR": over_seeds(0.5, error=0.01), "chance": over_seeds(0.25)}
                for tier in ("all", "in distribution", "out of distribution")
            },
        },
        "usage": {
            "introplan": {"CLIPR": {"calls": 21.0, "questions": 9.6}},
            "housekeep": {"CLIPR": {"calls": 30, "questions": 10, "efficiency": 0.5}},
        },
    },
    "ablations": {"data": {"kitchen": {"static": {"accuracy": over_seeds(0.5)}, "without the gate": REVISED}}},
    "learned": {
        "rows": {
            "trained, right rules": {"accuracy": 0.9, "error": 0.02, "n": 200},
            "chance": {"accuracy": 0.25, "error": None, "n": 200},
        }
    },
    "porting": {
        "accuracy": {"kitchen": {"no rules": {"learned": over_seeds(0.5)}, "m": {"learned": over_seeds(0.75)}}},
        "controls": {"kitchen": {"chance": over_seeds(0.25)}},
    },
    "transfer": {
        "figures": {"store, rules": {"gita": {"mean": 60.0, "error": 5.0}, "everybody": {"mean": None, "error": None}}},
        "gains": {"store": {"gita": {"mean": 60.0, "error": None}, "everybody": None}},
        "gains_over_usual_places": {"store": {"gita": {"mean": 20.0, "error": 4.0}, "everybody": None}},
        "share_of_full": {"store": {"gita": 0.85, "everybody": None}},
    },
}
DRAWN = {
    "clipr": [
        "| in / out of distribution | IntroPlan | Housekeep |",
        "| CLIPR | 75.0 | 50.0 ± 1.0 / 50.0 ± 1.0 |",
        "| chance | 40.0 | 25.0 / 25.0 |",
    ],
    "clipr efficiency": [
        "| calls / questions / efficiency | IntroPlan | Housekeep |",
        "| CLIPR | 21 / 10 / – | 30 / 10 / 0.50 |",
    ],
    "clipr ablations": [
        "| (updates accepted, that lowered, the worst) | kitchen |",
        "| static | 50.0 |",
        "| without the gate | 55.0 ± 5.0 (3, 1, -25.0) |",
    ],
    "clipr learned": ["| 200 choices | accuracy, % |", "| trained, right rules | 90.0 ± 2.0 |", "| chance | 25.0 |"],
    "clipr porting": [
        "| | rules of | learned |",
        "| kitchen | no rules | 50.0 |",
        "| kitchen | m | 75.0 |",
        "| kitchen | chance | 25.0 |",
    ],
    "clipr transfer": [
        "| success, % | gita | everybody |",
        "| store, rules | 60.0 ± 5.0 | – |",
        "| store: rules are worth, points | 60.0 | – |",
        "| store: rules beside usual places are worth, points | 20.0 ± 4.0 | – |",
        "| store: rules reach of full preferences, % | 85 | – |",
    ],
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_table_says_what_is_in_its_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "clipr").mkdir()
    for file, content in FILES.items():
        (tmp_path / "clipr" / f"{file}.json").write_text(json.dumps(content | {"commit": None}))
    first, _, *rows = TABLES[name](FigureFiles(tmp_path)).splitlines()
    assert [first, *rows] == DRAWN[name]
