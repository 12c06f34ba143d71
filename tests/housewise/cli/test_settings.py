"""``housewise settings``: every setting of systems, planners and trainings."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from housewise.core.plugins import PLANNERS, SYSTEMS, plugin_names
from housewise.core.settings_reference import list_settings
from housewise.rollout.system import find_system
from tests.commands import housewise, one_line, output

NAMES = [*plugin_names(SYSTEMS), *plugin_names(PLANNERS), "selftrain", "selftrain-goals"]


class Inner(BaseModel):
    words: tuple[str, ...] | None = None


class Outer(BaseModel):
    inner: Inner = Inner()
    rate: float = Field(default=0.5, gt=0, le=1, description="Learning rate.")
    mode: Literal["fast", "slow"] = "slow"
    names: Annotated[list[str], Field(min_length=1)] = ["a"]


def test_a_setting_has_type_default_bounds_and_description() -> None:
    found = [(row.name, row.type, row.default, row.bounds, row.description) for row in list_settings(Outer())]
    assert found == [
        ("rate", "float", 0.5, "greater than 0, at most 1", "Learning rate."),
        ("mode", '"fast" | "slow"', "slow", "", ""),
        ("names", "list[text]", ["a"], "at least 1 items", ""),
        ("inner.words", "tuple[text] | null", None, "", ""),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_fits_80_columns_and_names_every_setting(name: str) -> None:
    shown = output(housewise("settings", name, COLUMNS="80"))
    rows = json.loads(output(housewise("settings", name, "--json")))
    assert rows and max(map(len, shown.splitlines())) <= 80
    for row in rows:
        section, _, key = row["name"].rpartition(".")
        assert f"\n  {key} " in f"\n{shown}" and (not section or f"{section}\n" in shown)


def test_the_defaults_are_those_of_a_run() -> None:
    rows = json.loads(output(housewise("settings", "personalize", "--json")))
    defaults = {row["name"]: row["default"] for row in rows}
    loaded = find_system("personalize").load().model_dump(mode="json")
    assert defaults["models.agent.adapter"] == loaded["models"]["agent"]["adapter"] == "tidy"
    assert defaults["tasks.houses"] == 3 and next(row["bounds"] for row in rows if row["name"] == "tasks.houses")
    planner = json.loads(output(housewise("settings", "scripted", "--json")))
    assert {row["name"]: row["default"] for row in planner}["agent.planner"] == "scripted"


def test_an_unknown_name_is_one_line() -> None:
    assert "no settings of 'personalise'; did you mean personalize?" in one_line(housewise("settings", "personalise"))
