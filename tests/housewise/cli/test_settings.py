"""``housewise settings``: every setting of systems, planners and trainings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import BaseModel, Field

from housewise.core.plugins import PLANNERS, SYSTEMS, plugin_names
from housewise.core.settings_reference import list_settings
from housewise.rollout.system import find_system
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.stars.settings import GoalTrainingConfig
from tests.commands import one_line, output
from tests.in_process import call_housewise

TRAININGS = {
    "selftrain": load_selftraining,
    "selftrain-goals": GoalTrainingConfig.load,
    "selftrain-adapt": AdaptTrainingConfig.load,
    "selftrain-guidance": GuidanceTrainingConfig.load,
}
NAMES = [*plugin_names(SYSTEMS), *plugin_names(PLANNERS), *TRAININGS]


def load(name: str, *arguments: Any, **more: Any) -> Any:
    """Load the settings of a system or a training."""
    return (TRAININGS.get(name) or find_system(name).load)(*arguments, **more)


class Item(BaseModel):
    size: int


class Inner(BaseModel):
    words: tuple[str, ...] | None = None
    span: tuple[int, int] = (1, 2)
    items: list[Item] = []


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
        ("inner.words", "list[text] | null", None, "", ""),
        ("inner.span", "[int, int]", [1, 2], "", ""),
        ("inner.items", "list[settings]", [], "", ""),
    ]
    item = next(list_settings(Inner(), "inner"))
    assert item.items == ()
    assert [(row.name, row.type, row.is_required) for row in list(list_settings(Inner()))[-1].items] == [
        ("size", "int", True)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_fits_80_columns_and_names_every_setting(name: str) -> None:
    shown = output(call_housewise("settings", name, COLUMNS="80"))
    rows = json.loads(output(call_housewise("settings", name, "--json")))
    assert rows and max(map(len, shown.splitlines())) <= 80
    for row in rows:
        section, _, key = row["name"].rpartition(".")
        assert f"\n  {key} " in f"\n{shown}" and (not section or f"{section}\n" in shown)


def test_every_setting_is_described() -> None:
    def descriptions(settings: type[BaseModel]) -> Iterator[tuple[str, str]]:
        assert settings.__doc__, settings
        for name, field in settings.model_fields.items():
            inner = list(_settings_classes(field.annotation))
            if field.annotation not in inner:
                yield f"{settings.__name__}.{name}", field.description or ""
            for each in inner:
                yield from descriptions(each)

    found = {key: text for name in [*plugin_names(SYSTEMS), *TRAININGS] for key, text in descriptions(type(load(name)))}
    assert len(found) > 100
    assert [key for key, text in found.items() if not text[:1].isalnum() or text[-1:] != "."] == []


def _settings_classes(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _settings_classes(each)


@pytest.mark.parametrize("name", [*plugin_names(SYSTEMS), *TRAININGS])
def test_the_yaml_with_all_settings_loads_back(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(output(call_housewise("settings", name, "--yaml")))
    assert load(name, file) == load(name)
    known = {row["name"] for row in json.loads(output(call_housewise("settings", name, "--json")))}
    keys = {line.split(":")[0].strip(" #") for line in file.read_text().splitlines() if ":" in line}
    assert {key.rpartition(".")[2] for key in known} <= keys
    # What is changed in the file counts.
    seed = {"selftrain": "iterations: 2", "selftrain-goals": "rooms: 60"}.get(name, "  seed: 0")
    file.write_text(file.read_text().replace(seed, f"{seed[:-1]}7", 1))
    assert load(name, file) != load(name)


@pytest.mark.parametrize(
    ("name", "config"), [("personalize", "paper"), ("selftrain", "tidy"), ("selftrain-guidance", "paper")]
)
def test_the_yaml_of_a_configuration_has_its_values(name: str, config: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(output(call_housewise("settings", name, "--config", config, "--yaml")))
    assert load(name, file) == load(name, Path(config))
    assert f"with the values of {config}." in " ".join(file.read_text().split("\n# "))


def test_a_configuration_may_set_nothing() -> None:
    assert "(null with paper)" in output(call_housewise("settings", "selftrain-guidance", "--config", "paper"))


def test_the_yaml_of_a_planner_is_about_the_planner(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(output(call_housewise("settings", "sayplan", "--yaml")))
    assert load("personalize", file) == load("personalize", overrides=["planner=sayplan"])
    assert "give one of them" in one_line(call_housewise("settings", "sayplan", "--yaml", "--json"))


def test_a_former_file_of_defaults_is_replaced_by_the_command() -> None:
    for command in (("run", "--config", "run"), ("copy", "config", "run")):
        assert "`housewise settings personalize --yaml` prints all settings" in one_line(call_housewise(*command))


def test_the_defaults_are_those_of_a_run() -> None:
    rows = {row["name"]: row for row in json.loads(output(call_housewise("settings", "personalize", "--json")))}
    loaded = find_system("personalize").load().model_dump(mode="json")
    adapter = rows["models.agent.adapter"]
    assert (
        (adapter["default"], adapter["derived"]) == ("auto", loaded["models"]["agent"]["adapter"]) == ("auto", "tidy")
    )
    assert (rows["agent.grounded"]["default"], rows["agent.grounded"]["derived"]) == (False, True)
    assert rows["tasks.houses"]["default"] == 3 and rows["tasks.houses"]["bounds"] == "at least 1"
    planner = json.loads(output(call_housewise("settings", "scripted", "--json")))
    assert {row["name"]: row["default"] for row in planner}["agent.planner"] == "scripted"


def test_a_planner_has_no_settings_of_other_planners() -> None:
    keys = {
        name: {
            row["name"].removeprefix("agent.") for row in json.loads(output(call_housewise("settings", name, "--json")))
        }
        for name in ("scripted", "replay", "saycan", "demonstrator")
    }
    assert keys["scripted"] == {
        *("planner", "max_plans", "max_idle_plans", "replan_when_blocked", "place_at_random", "wrappers")
    }
    for name, own in {"replay": "records", "saycan": "score_actions", "demonstrator": "demonstrator.order"}.items():
        assert {other for other, found in keys.items() if own in found} == {name}
        assert "prompt" in keys[name]


def test_a_section_is_described_whole() -> None:
    told = " ".join(output(call_housewise("settings", "llm")).split())
    assert "these need a prompt that judges placements or asks for JSON." in told
