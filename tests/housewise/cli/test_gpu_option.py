"""``gpu`` in every command that opens a simulator: a number, several in turn, or auto."""

import json
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.render_devices import next_device, parse_gpu_setting, resolve_devices, set_device_turn
from housewise.rollout.saved_settings import read_run_settings
from housewise.systems.personalize.settings import house_settings
from tests.commands import run_module
from tests.systems.command_runs import ATTIC
from tests.worlds.house import plugins


@pytest.mark.parametrize(
    ("text", "chosen"), [("gpu=2", 2), ("gpu=-1", -1), ("gpu=[0,1]", (0, 1)), ("gpu=0,1", (0, 1)), ("gpu=auto", "auto")]
)
def test_a_number_several_and_auto_are_settings_of_every_run(text: str, chosen: object) -> None:
    settings = house_settings(overrides=[text])
    assert settings.execution.gpu == chosen
    assert (
        settings.identity == house_settings().identity and settings.result_settings == house_settings().result_settings
    )


@pytest.mark.parametrize("text", ["gpu=-2", "gpu=x", "gpu=[]", "gpu=[0,-1]", "gpu=1.5", "gpu=true", "gpu=4096", "gpu="])
def test_what_is_no_device_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"setting gpu: .*the number of a CUDA device"):
        house_settings(overrides=[text])


def test_settings_of_earlier_versions_are_read(tmp_path: Path) -> None:
    assert house_settings(overrides=["world.gpu=3"]).execution.gpu == 3
    earlier = house_settings().model_dump(mode="json")
    del earlier["execution"]["gpu"]
    (tmp_path / "config.json").write_text(json.dumps(earlier | {"world": earlier["world"] | {"gpu": 3}}))
    assert read_run_settings(tmp_path / "config.json").execution.gpu == 3


def test_simulators_of_a_process_take_devices_in_turn() -> None:
    set_device_turn(1)
    assert [next_device((4, 5, 6)) for _ in range(4)] == [5, 6, 4, 5]
    assert [next_device(2), next_device(parse_gpu_setting("2"))] == [2, 2]


def test_auto_is_whatever_there_is_where_no_gpu_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("housewise.core.render_devices.nvidia_cards", list)
    assert resolve_devices("auto") == (-1,)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plugins.install(tmp_path_factory.mktemp("beside"))


def opened(beside: Path, *words: object, code: int = 0) -> list[tuple[str, str]]:
    """Processes and devices of the simulators that a command opens."""
    (beside / "devices").write_text("")
    done = run_module("housewise", words, beside=beside)
    assert done.returncode == code, done.stdout + done.stderr
    return plugins.devices(beside)


@pytest.fixture(scope="module")
def run(beside: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two houses, by two workers on two devices."""
    folder = tmp_path_factory.mktemp("gpu") / "run"
    words = ("--simulator", "listing", "--planner", "scripted", "--houses", 2, "--workers", 2, "max_steps=40")
    found = opened(beside, "run", *words, "--gpu", "3,5", "--out", folder)
    # A process that is done early may play both houses.
    assert len(dict(found)) == len(found) and len(set(dict(found).values())) == len(found)
    assert set(dict(found).values()) <= {"3", "5"}
    return folder


def test_a_run_goes_on_with_another_device(beside: Path, run: Path) -> None:
    next(iter((run / "episodes").glob("*.jsonl"))).unlink()
    words = ("--simulator", "listing", "--planner", "scripted", "--houses", 2, "max_steps=40", "gpu=7")
    assert [gpu for _, gpu in opened(beside, "run", *words, "--out", run)] == ["7"]


@pytest.mark.parametrize("command", ["replay", pytest.param("report", marks=pytest.mark.slow)])
def test_commands_that_play_a_run_again_take_it(beside: Path, run: Path, tmp_path: Path, command: str) -> None:
    more = ("--out", tmp_path / "again") if command == "replay" else ("--single", "--no-film")
    found = opened(beside, command, run, "--simulator", "listing", "--gpu", "6", *more)
    assert found and {gpu for _, gpu in found} == {"6"}


def test_stars_takes_it_too(beside: Path, tmp_path: Path) -> None:
    (tmp_path / "attic.yaml").write_text(ATTIC)
    words = (
        *("--system", "stars", "--simulator", "listing", "--gpu", "1", "condition=nearest"),
        f"task={tmp_path / 'attic.yaml'}",
    )
    found = opened(beside, "run", *words, "--out", tmp_path / "run")
    assert [gpu for _, gpu in found] == ["1"]


def test_wrong_devices_are_refused_before_anything_is_done(beside: Path, run: Path) -> None:
    for command in (("report", run), ("export", run), ("replay", run), ("doctor",), ("run",)):
        assert opened(beside, *command, "--gpu", "first", code=2) == []
