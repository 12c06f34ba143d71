"""What the command line says of itself: help, version, completion, and what its options accept."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import pytest

from housewise.core import plugins as plugin_groups
from housewise.core.plugins import plugin_names
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.systems.clipr.settings import ChoiceTasks
from housewise.systems.stars.settings import StarsTaskSettings
from housewise.terminal.catalogue import PLANNERS, SIMULATORS, SYSTEMS, find_people
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import bundled_people, held_out_people
from tests.commands import housewise, one_line
from tests.in_process import call_housewise, leaf_commands

COMMANDS = (
    *("demo", "run", "report", "replay", "export", "compare", "selftrain", "list", "doctor", "settings", "copy"),
    *("learn", "rules", "memory", "play kitchen", "play lab"),
    *(f"memory {name}" for name in ("show", "add", "edit", "forget", "export", "import")),
)
HEAVY = (
    *("numpy", "scipy", "trimesh", "embreex", "torch", "openai", "jinja2", "matplotlib", "gymnasium", "omegaconf"),
    *("networkx", "PIL", "transformers", "yaml", "housewise.systems.personalize.config"),
    "housewise.worlds.house.simulator",
)


def test_help_imports_nothing_heavy() -> None:
    code = f"""
import sys
from housewise.cli.app import app
for command in {("", *COMMANDS)!r}:
    try:
        app([*command.split(), "--help"])
    except SystemExit as ending:
        assert ending.code == 0
    print("imported:", [name for name in {HEAVY!r} if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    shown = [line for line in result.stdout.splitlines() if "Usage:" in line]
    assert [line for line in result.stdout.splitlines() if "imported:" in line] == ["imported: []"] * len(shown)
    assert len(shown) == len(COMMANDS) + 1


def test_help_names_every_command() -> None:
    shown = call_housewise("--help").stdout
    assert all(f" {command.split()[0]} " in shown for command in COMMANDS)


def test_the_help_of_replay_says_where_it_writes() -> None:
    (out,) = (option for option in leaf_commands()["replay"].params if "--out" in option.opts)
    assert "NAME-replay" in out.help and "runs/" not in out.help


@pytest.mark.parametrize(("name", "command"), leaf_commands().items())
def test_help_begins_with_a_sentence_and_examples_and_describes_each_option(name: str, command: Any) -> None:
    first, second, *rest = command.help.split("\n\n")
    assert first[0].isupper() and first.endswith(".")
    examples = [line for line in command.help.splitlines() if line.strip().startswith(f"housewise {name}")]
    assert second == "Examples:" and f"housewise {name}" in rest[0] and len(examples) >= 2
    for parameter in command.params:
        words = parameter.help or ""
        assert words[:1].isupper() or words.startswith(("raycast", "rerun", "yaml")), (name, parameter.name, words)
        assert words.endswith("."), (name, parameter.name, words)


@pytest.mark.parametrize("group", ["", "play", "memory", "rules"])
def test_the_help_of_groups_shows_how_to_begin(group: str) -> None:
    shown = call_housewise(*group.split(), "--help", COLUMNS="80").stdout
    assert "Examples:" in shown
    assert sum(line.strip().startswith("housewise ") for line in shown.splitlines()) >= 2
    assert max(map(len, shown.splitlines())) <= 80


def test_the_options_of_a_run_stand_in_panels() -> None:
    shown = call_housewise("run", "--help").stdout
    parts = ("─ Task ─", "│ --scene ", "─ Model ─", "│ --adapter ", "─ Execution ─", "│ --out ")
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("command", ["run", "selftrain"])
def test_examples_can_be_copied_from_80_columns(command: str) -> None:
    shown = call_housewise(command, "--help", COLUMNS="80").stdout
    lines = [line.strip() for line in shown.splitlines() if line.startswith("   housewise ")]
    assert len(lines) >= 3
    assert all(f"{line} ".startswith(f"housewise {command} ") for line in lines)
    assert max(map(len, shown.splitlines())) <= 80


def test_what_an_export_takes_is_said_with_its_brackets() -> None:
    shown = " ".join(call_housewise("export", "--help", COLUMNS="80").stdout.split())
    assert "'housewise[rerun]'" in shown and "'housewise[lerobot]'" in shown


def test_the_version_is_the_installed_one() -> None:
    result = housewise("--version")
    assert (result.returncode, result.stdout) == (0, f"housewise {version('housewise')}\n")


def test_completion_knows_names() -> None:
    environment = {"_HOUSEWISE_COMPLETE": "complete_bash", "COMP_WORDS": "housewise run --person d", "COMP_CWORD": "3"}
    code = "from housewise.cli.app import app; app(prog_name='housewise')"
    command = [sys.executable, "-c", code]
    env = os.environ | environment
    result = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert result.stdout.split() == ["dmitri"]


def test_planners_and_simulators_are_all_listed() -> None:
    assert sorted(PLANNERS) == plugin_names(plugin_groups.PLANNERS)
    assert sorted(SIMULATORS) == plugin_names(plugin_groups.SIMULATORS)
    assert sorted(SYSTEMS) == plugin_names(plugin_groups.SYSTEMS)


def test_lists_are_json_for_programs() -> None:
    result = call_housewise("list", "--json", code=0)
    found = json.loads(result.stdout)
    assert {"majority", "ada", "farid"} <= set(found["people"])
    assert {"person", "personalize/paper", "tidy"} <= set(found["configs"])
    assert "tidy" in found["adapters"]
    assert {"test", "train"} <= set(found["task-sets"])
    assert found["scenes"] == {}
    lines = [line for kind in found.values() for line in kind.values()]
    assert all(line and "\n" not in line for line in lines)


def test_one_list_says_a_line_about_each() -> None:
    shown = call_housewise("list", "people").stdout
    assert "people, for --person" in shown
    assert "Bruno cooks a lot" in shown
    assert "planners" not in shown


def test_people_of_all_systems_are_listed() -> None:
    for system, settings in (("clipr", ChoiceTasks), ("stars", StarsTaskSettings)):
        assert list(find_people(system=system)) == list(get_args(settings.model_fields["person"].annotation))
    assert set(find_people(system="adapt")) == {person.name for person in load_profiles(ADAPT_PROFILES)}
    assert list(find_people(system="personalize")) == ["majority", *bundled_people(), *held_out_people()]
    found = find_people()
    assert {name for system in SYSTEMS for name in find_people(system=system)} == set(found)
    assert "--system basis: you act; --system stars: you answer" in found["terminal"]
    assert find_people()["nalini"].startswith("--system adapt: Poached eggs")


def test_lists_of_the_data(tmp_path: Path) -> None:
    assert str(tmp_path) in one_line(call_housewise("list", "scenes", "--data", tmp_path))


@pytest.mark.housekeep
def test_scenes_and_annotators_of_the_data(housekeep: HousekeepData) -> None:
    found = json.loads(call_housewise("list", "--json", "--data", housekeep.root).stdout)
    assert "task sets: test, train" in found["scenes"]["Merom_1_int"]
    assert {"ada", "annotator-0", "annotator-9"} <= set(found["people"])
