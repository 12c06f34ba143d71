"""A simulator in a process of its own: its OpenGL context disturbs nobody, and its crash ends only that process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from housewise.core.errors import SimulatorError, UserError, excerpt
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import Action, BodyPose, Camera, Observation, Simulator
from housewise.worlds.house.simulator.house_simulator import CurrentHouse

Opener = Callable[[], Simulator]
Navigation = Callable[[Scene], NavMesh]

_LAST_WORDS = 5.0
_LONGEST_OUTPUT, _LAST_LINES = 2000, 3
# What ends the program that asks ends this process as well, since nobody asks any more; then it clears its folder away.
_SERVE = """
import os, shutil, signal, sys
from multiprocessing.connection import Connection
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
line = Connection(int(sys.argv[1]))
folder = os.environ["TMPDIR"]
try:
    sys.path[:] = line.recv()
    from housewise.worlds.house.simulator.isolated import serve
    serve(line)
finally:
    shutil.rmtree(folder, ignore_errors=True)
"""


class _EndedError(Exception):
    """The process has ended without an answer; the message says how."""


class _Process:
    """A process for a simulator, with a temporary folder and an output of its own."""

    def __init__(self) -> None:
        # A process that is killed leaves its temporary files to this one.
        self._folder = TemporaryDirectory(prefix="housewise-simulator-", ignore_cleanup_errors=True)
        self._output = TemporaryFile()  # noqa: SIM115 - read when the process has ended
        self._line, there = Pipe()
        # Unlike multiprocessing's, such a process needs no guarded main module, and may start from a daemon's.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(there.fileno())],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": self._folder.name},
        )
        there.close()

    def open(self, opener: Opener) -> Camera:
        """Have the simulator made; see answer.

        Returns:
            The robot's camera.
        """
        self._send(sys.path)
        self._send(opener)
        camera: Camera = self.answer()
        return camera

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the simulator; see answer."""
        self._send((method, arguments))
        return self.answer()

    def answer(self) -> Any:
        """What the process answers.

        Raises:
            UserError: what the simulator raised that a user can mend.
            RuntimeError: anything else that it raised.
            _EndedError: when the process ends instead.
        """
        try:
            problem, answer = self._line.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        if isinstance(problem, UserError):
            raise problem
        if problem is not None:
            raise RuntimeError(f"in the simulator's process:\n{problem}")
        return answer

    def end(self) -> int:
        """End the process, and wait for that, but not for long.

        Returns:
            Its exit code; that of a process that a signal ended is negative.
        """
        with suppress(OSError):
            self._line.send(None)
        self._line.close()
        try:
            code = self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._folder.cleanup()
        return code

    def _send(self, content: Any) -> None:
        self._written = os.fstat(self._output.fileno()).st_size
        try:
            self._line.send(content)
        except OSError as error:
            raise self._ended() from error

    def _ended(self) -> _EndedError:
        """How the process ended, with the last of what it wrote since it was asked."""
        code, output = self.end(), self._output.fileno()
        how = f"exit code {code}" if code >= 0 else _signal_name(-code)
        last = os.pread(output, _LONGEST_OUTPUT, max(self._written, os.fstat(output).st_size - _LONGEST_OUTPUT))
        lines = [line for line in last.decode("utf-8", "replace").splitlines() if line.strip()]
        return _EndedError(": ".join([f"the simulator's process ended ({how})", *map(excerpt, lines[-_LAST_LINES:])]))


class IsolatedSimulator(CurrentHouse):
    """See housewise.worlds.house.simulator.base.Simulator; reset opens a simulator anew whose process has ended.

    Args:
        opener: makes the simulator; called in the new process, which it is sent to.
        navmesh: makes the navigation mesh of a scene, here.
        remedy: what to do when the process ends while it opens the simulator, for the error message.

    Raises:
        UserError: when the simulator cannot be made.
    """

    def __init__(self, opener: Opener, navmesh: Navigation, remedy: str) -> None:
        self._opener, self._make_navmesh, self._remedy = opener, navmesh, remedy
        self._process: _Process | None = None
        self._scene: Scene | None = None
        self._closed = False
        self._open()

    def _open(self) -> None:
        process = _Process()
        try:
            self.camera = process.open(self._opener)
        except BaseException as error:
            process.end()
            if isinstance(error, _EndedError):
                raise UserError(f"{error}; {self._remedy}") from error
            raise
        self._process = process

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset; a scene is sent once."""
        if self._process is None and not self._closed:
            self._open()
        same, self._scene = scene is self._scene, None
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
        process, self._process, self._closed = self._process, None, True
        if process is not None:
            process.end()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def _ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the simulator.

        Raises:
            SimulatorError: when its process ends, or ended before.
            UserError: when it was closed.
        """
        if self._closed:
            raise UserError("the simulator is closed; open another one")
        if self._process is None:
            raise SimulatorError("the simulator's process has ended; reset opens it anew")
        try:
            return self._process.ask(method, *arguments)
        except _EndedError as error:
            self._process = self._scene = None
            raise SimulatorError(f"{error}; it is opened anew for the next episode") from error


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


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
