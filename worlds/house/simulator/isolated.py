"""A simulator in a process of its own: its OpenGL context disturbs nobody, and its crash ends only that process."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from housewise.core.errors import UserError
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.navigation import NavMesh
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import Action, BodyPose, Camera, Observation, Simulator
from housewise.worlds.house.simulator.house import CurrentHouse

Opener = Callable[[], Simulator]
Navigation = Callable[[Scene], NavMesh]

_LAST_WORDS = 5.0
_SERVE = """
import signal, sys
from multiprocessing.connection import Connection
signal.signal(signal.SIGINT, signal.SIG_IGN)
line = Connection(int(sys.argv[1]))
sys.path[:] = line.recv()
from housewise.worlds.house.simulator.isolated import serve
serve(line)
"""


class IsolatedSimulator(CurrentHouse):
    """See housewise.worlds.house.simulator.base.Simulator.

    Args:
        opener: makes the simulator; called in the new process, which it is sent to.
        navmesh: makes the navigation mesh of a scene, here.
        remedy: what to do when the process dies, for the error message.

    Raises:
        UserError: when the simulator cannot be made.
    """

    def __init__(self, opener: Opener, navmesh: Navigation, remedy: str) -> None:
        self._make_navmesh, self._remedy = navmesh, remedy
        self._line, there = Pipe()
        # Unlike multiprocessing's, such a process needs no guarded main module, and may start from a daemon's.
        self._process = subprocess.Popen([sys.executable, "-c", _SERVE, str(there.fileno())], pass_fds=[there.fileno()])
        there.close()
        self._line.send(sys.path)
        self._line.send(opener)
        self._scene: Scene | None = None
        self.camera: Camera = self._answer()

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset; a scene is sent once."""
        same = scene is self._scene
        self._keys, self._kinds, self._body = self._ask("reset", None if same else scene, receptacles, objects, body)
        if not same:
            self._navmesh = self._make_navmesh(scene)
        self._scene = scene

    def act(self, action: Action) -> bool:
        """See Simulator.act."""
        blocked, self._body = self._ask("act", action)
        return bool(blocked)

    def stand(self, body: BodyPose) -> None:
        """See Simulator.stand."""
        self._body = self._ask("stand", body)

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        observation: Observation = self._ask("observe", body)
        return observation

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        keys: frozenset[str] = self._ask("visible", body)
        return keys

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        key: str | None = self._ask("aimed_at", reach)
        return key

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._ask("move_object", key, pose)

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):
            self._line.send(None)
        self._line.close()
        self._end()

    def __del__(self) -> None:
        if hasattr(self, "_process") and not self._line.closed:
            self.close()

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            self._line.send((method, arguments))
        except OSError as error:
            raise self._death() from error
        return self._answer()

    def _answer(self) -> Any:
        try:
            problem, answer = self._line.recv()
        except (EOFError, OSError) as error:
            raise self._death() from error
        if isinstance(problem, UserError):
            raise problem
        if problem is not None:
            raise RuntimeError(f"in the simulator's process:\n{problem}")
        return answer

    def _death(self) -> UserError:
        return UserError(f"the simulator's process ended (exit code {self._end()}); {self._remedy}")

    def _end(self) -> int:
        """Wait for the process to end, but not for long; returns its exit code."""
        try:
            return self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def serve(line: Connection) -> None:
    """What the process does: answer until told to end, or until nobody asks any more."""
    try:
        opener: Opener = line.recv()
        desk = _Desk(opener())
    except Exception as error:
        line.send(_problem(error))
        return
    line.send((None, desk.simulator.camera))
    while True:
        try:
            question = line.recv()
        except (EOFError, OSError):
            return
        if question is None:
            desk.simulator.close()
            return
        method, arguments = question
        try:
            line.send((None, getattr(desk, method)(*arguments)))
        except Exception as error:
            line.send(_problem(error))


def _problem(error: Exception) -> tuple[Any, None]:
    return (error if isinstance(error, UserError) else traceback.format_exc(), None)


class _Desk:
    """Answers for a simulator, with what the other side keeps a copy of."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self._scene: Scene | None = None

    def reset(
        self, scene: Scene | None, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose
    ) -> tuple[tuple[str, ...], tuple[str, ...], BodyPose]:
        self._scene = scene or self._scene
        assert self._scene is not None
        self.simulator.reset(self._scene, receptacles, objects, body)
        return self.simulator.keys, self.simulator.kinds, self.simulator.body

    def act(self, action: Action) -> tuple[bool, BodyPose]:
        return self.simulator.act(action), self.simulator.body

    def stand(self, body: BodyPose) -> BodyPose:
        self.simulator.stand(body)
        return self.simulator.body

    def observe(self, body: BodyPose | None) -> Observation:
        return self.simulator.observe(body)

    def visible(self, body: BodyPose | None) -> frozenset[str]:
        return self.simulator.visible(body)

    def aimed_at(self, reach: float) -> str | None:
        return self.simulator.aimed_at(reach)

    def move_object(self, key: str, pose: Pose | None) -> None:
        self.simulator.move_object(key, pose)
