"""A simulator in a process of its own behaves like one in this process, and its crash is reported in one line."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.core.errors import DataError, SimulatorError, UserError
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import LowLevelAction, Observation, Simulator
from housewise.worlds.house.simulator.isolated import IsolatedSimulator
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.commands import run_module
from tests.worlds.house import plugins
from tests.worlds.house.simulators import mesh

DANCE = [
    LowLevelAction.MOVE_FORWARD,
    LowLevelAction.TURN_LEFT,
    LowLevelAction.LOOK_DOWN,
    LowLevelAction.GRAB_RELEASE,
    LowLevelAction.MOVE_FORWARD,
]


class CrashingSimulator(RaycastSimulator):
    """Ends its process, as OpenGL without a driver does."""

    def act(self, action: LowLevelAction) -> bool:
        if action == LowLevelAction.MOVE_FORWARD:
            print("no more", flush=True)
            os._exit(3)
        return super().act(action)


class FailingSimulator(RaycastSimulator):
    """Raises an unexpected error."""

    def act(self, action: LowLevelAction) -> bool:
        raise ZeroDivisionError("oops")


def refusing() -> Simulator:
    raise UserError("no such thing; get one")


def exiting() -> Simulator:
    os._exit(4)


def isolated(opener: type[RaycastSimulator]) -> IsolatedSimulator:
    return IsolatedSimulator(opener, mesh, "do this")


@pytest.fixture
def isolated_simulator() -> Iterator[IsolatedSimulator]:
    simulator = isolated(RaycastSimulator)
    yield simulator
    simulator.close()


def test_it_behaves_like_the_simulator(toy: RearrangementTask, isolated_simulator: IsolatedSimulator) -> None:
    here, there = (RearrangementEnv(simulator, [toy]) for simulator in (RaycastSimulator(), isolated_simulator))
    for _ in range(2):
        first, second = here.reset()[0], there.reset()[0]
        assert all(np.array_equal(first[name], second[name]) for name in first)
        for action in DANCE:
            (first, *told), (second, *heard) = here.step(action), there.step(action)
            assert all(np.array_equal(first[name], second[name]) for name in first)
            assert told == heard
    assert isolated_simulator.aimed_at(5.0) == here.simulator.aimed_at(5.0)
    assert isinstance(isolated_simulator.observe(), Observation) and isolated_simulator.keys == here.simulator.keys


def test_objects_move_in_the_other_process(toy: RearrangementTask, isolated_simulator: IsolatedSimulator) -> None:
    env = RearrangementEnv(isolated_simulator, [toy])
    env.reset()
    isolated_simulator.stand(isolated_simulator.body.moved_to((0.5, 0.5)))
    assert tuple(isolated_simulator.body.point) == (0.5, 0.5)
    thing = toy.episode.objects[0].key
    isolated_simulator.move_object(thing, None)
    assert thing not in isolated_simulator.visible()


@pytest.mark.slow
def test_a_crash_is_reported_and_the_next_episode_is_played(toy: RearrangementTask) -> None:
    env = RearrangementEnv(isolated(CrashingSimulator), [toy])
    env.reset()
    with pytest.raises(
        SimulatorError, match=r"ended \(exit code 3\): no more; a new one is started for the next episode$"
    ):
        env.step(LowLevelAction.MOVE_FORWARD)
    with pytest.raises(SimulatorError, match="has ended; reset starts a new one"):
        env.step(LowLevelAction.TURN_LEFT)
    env.reset()
    assert env.step(LowLevelAction.TURN_LEFT)[4]["steps"] == 1
    env.close()


def test_an_interrupted_call_does_not_leave_its_answer_to_the_next_one(
    toy: RearrangementTask, isolated_simulator: IsolatedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    env = RearrangementEnv(isolated_simulator, [toy])
    env.reset()
    monkeypatch.setattr(isolated_simulator._process, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        env.step(LowLevelAction.TURN_LEFT)
    with pytest.raises(SimulatorError, match="has ended; reset starts a new one"):
        env.step(LowLevelAction.TURN_LEFT)
    env.reset()
    assert env.step(LowLevelAction.TURN_LEFT)[4]["steps"] == 1


def children(program: int) -> list[int]:
    """Return the child processes of a process."""
    stats = [(int(path.name), (path / "stat").read_text()) for path in Path("/proc").glob("[0-9]*") if path.is_dir()]
    return [number for number, stat in stats if int(stat.rpartition(")")[2].split()[1]) == program]


PROGRAM = """
import sys
from functools import partial
from housewise.worlds.house.simulator.isolated import IsolatedSimulator
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.worlds.house.simulators import TemporaryFilesSimulator, mesh
simulator = IsolatedSimulator(TemporaryFilesSimulator, mesh, "do this")
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("who", [pytest.param("simulator", marks=pytest.mark.slow), "program"])
def test_no_temporary_files_are_left_after_a_kill(tmp_path: Path, who: str) -> None:
    env = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
    assert program.stdin is not None and program.stdout is not None
    assert program.stdout.readline() == "open\n"
    assert len(list(tmp_path.rglob("scene.glb"))) == 1
    [simulator] = children(program.pid)
    os.kill(simulator if who == "simulator" else program.pid, signal.SIGKILL)
    program.stdin.close()
    program.wait(60)
    while Path(f"/proc/{simulator}").exists():
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_simulator_fails_its_episode_and_the_rest_is_played(tmp_path: Path) -> None:
    beside = plugins.install(tmp_path / "beside")
    short = ["--planner", "scripted", "--houses", 3, "max_steps=60"]
    words = ["run", "--simulator", "mortal", *short, "--out", tmp_path / "run"]
    done = run_module("housewise", words, beside=beside)
    assert done.returncode == 3
    assert "1 of 3 episodes failed: 1 x the simulator's process ended (SIGKILL): about to be killed" in done.stderr
    assert "render" not in done.stderr and len(list(tmp_path.glob("run/episodes/*.jsonl"))) == 2
    run_module("housewise", words, beside=beside, code=0)
    assert len(list(tmp_path.glob("run/episodes/*.jsonl"))) == 3


@pytest.mark.parametrize("opener", [RaycastSimulator, lambda: isolated(RaycastSimulator)])
def test_a_closed_environment_refuses_calls(toy: RearrangementTask, opener: Callable[[], Simulator]) -> None:
    env = RearrangementEnv(opener(), [toy])
    env.reset()
    env.close()
    for act in (lambda: env.step(LowLevelAction.MOVE_FORWARD), env.reset):
        with pytest.raises(UserError, match=r"^the environment is closed; make a new one to play on$"):
            act()
    env.close()


def test_a_closed_simulator_refuses_calls(toy: RearrangementTask) -> None:
    simulator = isolated(RaycastSimulator)
    simulator.close()
    with pytest.raises(UserError, match=r"^the simulator is closed; open another one$"):
        RearrangementEnv(simulator, [toy]).reset()


class RefusingSimulator(RaycastSimulator):
    """Refuses scenes whose name starts with ``bad``."""

    def reset(self, scene: Scene, *others: Any) -> None:
        if scene.name.startswith("bad"):
            raise DataError("a mesh is damaged")
        super().reset(scene, *others)


def test_a_failed_reset_is_not_mistaken_for_a_loaded_scene(
    toy: RearrangementTask, generated: RearrangementTask
) -> None:
    bad = RearrangementTask(replace(toy.scene, name="bad"), toy.episode)
    simulator = isolated(RefusingSimulator)
    env = RearrangementEnv(simulator, [generated, bad])
    keys = [env.reset() and simulator.keys for _ in range(1)]
    with pytest.raises(DataError, match="a mesh is damaged"):
        env.reset()
    first = env.reset()[0]
    assert [simulator.keys] == keys
    alone = RearrangementEnv(RaycastSimulator(), [generated]).reset()[0]
    assert np.array_equal(first["instance"], alone["instance"])
    env.close()


def test_a_crash_at_the_start_is_reported_with_the_remedy() -> None:
    with pytest.raises(UserError, match=r"exit code 4\); do this"):
        IsolatedSimulator(exiting, mesh, "do this")  # type: ignore[arg-type]


def test_user_errors_are_passed_on() -> None:
    with pytest.raises(UserError, match=r"^no such thing; get one$"):
        IsolatedSimulator(refusing, mesh, "do this")  # type: ignore[arg-type]


def test_other_errors_are_passed_on_with_their_traceback(toy: RearrangementTask) -> None:
    simulator = isolated(FailingSimulator)
    env = RearrangementEnv(simulator, [toy])
    env.reset()
    with pytest.raises(RuntimeError, match="ZeroDivisionError: oops"):
        env.step(LowLevelAction.MOVE_FORWARD)
    assert simulator.visible() is not None
    simulator.close()
    simulator.close()
