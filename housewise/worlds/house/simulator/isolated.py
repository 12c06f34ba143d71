"""Runs a simulator in a process of its own, which isolates its OpenGL context and its crashes."""

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

from housewise.core.errors import SimulatorError, UserError
from housewise.core.printable_text import excerpt
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import BodyPose, Camera, Simulator
from housewise.worlds.house.simulator.delegating import ForwardingSimulator
from housewise.worlds.house.simulator.house_simulator import SimulatorState

Opener = Callable[[], Simulator]
Navigation = Callable[[Scene], NavMesh]

_LAST_WORDS = 5.0
_LONGEST_OUTPUT, _LAST_LINES = 2000, 3
# The process ignores signals. It ends when its parent process closes the connection, and then removes its folder.
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
    """The process ended without an answer; the message says how."""


class _Process:
    """A process for a simulator, with its own temporary folder and output."""

    def __init__(self) -> None:
        # A killed process does not remove its temporary files; this object does.
        self._folder = TemporaryDirectory(prefix="housewise-simulator-", ignore_cleanup_errors=True)
        self._output = TemporaryFile()  # noqa: SIM115 - read when the process has ended
        self._line, there = Pipe()
        # Unlike multiprocessing, subprocess needs no guard in the main module and works in daemonic processes.
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
        """Open the simulator in the process and return the robot's camera; see ``receive`` for errors."""
        self._send(sys.path)
        self._send(opener)
        camera: Camera = self.receive()
        return camera

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the simulator; see ``receive`` for errors."""
        self._send((method, arguments))
        return self.receive()

    def receive(self) -> Any:
        """Return the answer of the process.

        Raises:
            UserError: If the simulator raised it.
            RuntimeError: If the simulator raised any other error.
            _EndedError: If the process ended instead.
        """
        try:
            problem, answer = self._line.recv()
        except (EOFError, OSError) as error:
            raise self._exit_error() from error
        if isinstance(problem, UserError):
            raise problem
        if problem is not None:
            raise RuntimeError(f"in the simulator's process:\n{problem}")
        return answer

    def end(self) -> int:
        """End the process, or kill it after a few seconds.

        Returns:
            The exit code, negative if a signal ended the process.
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
            raise self._exit_error() from error

    def _exit_error(self) -> _EndedError:
        """Return an error that says how the process ended, with its last output since the last call."""
        code, output = self.end(), self._output.fileno()
        name = next((each.name for each in signal.Signals if each == -code), f"signal {-code}")
        how = f"exit code {code}" if code >= 0 else name
        last = os.pread(output, _LONGEST_OUTPUT, max(self._written, os.fstat(output).st_size - _LONGEST_OUTPUT))
        lines = [line for line in last.decode("utf-8", "replace").splitlines() if line.strip()]
        return _EndedError(": ".join([f"the simulator's process ended ({how})", *map(excerpt, lines[-_LAST_LINES:])]))


class IsolatedSimulator(ForwardingSimulator, SimulatorState):
    """A simulator in another process; implements housewise.worlds.house.simulator.base.Simulator.

    If the process has ended, ``reset`` starts a new one.

    Args:
        opener: Opens the simulator; sent to the process and called there.
        navmesh: Makes the navigation mesh of a scene; called in this process.
        remedy: What to do if the process ends while it opens the simulator, for the error message.

    Raises:
        UserError: If the simulator cannot be opened.
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
        """See Simulator.reset. The same scene is sent to the process once."""
        if self._process is None and not self._closed:
            self._open()
        same, self._scene = scene is self._scene, None
        self.keys, self.kinds = self._call("reset", None if same else scene, receptacles, objects, body)
        if not same:
            self.navmesh = self._make_navmesh(scene)
        self._scene = scene

    def close(self) -> None:
        """End the process."""
        process, self._process, self._closed = self._process, None, True
        if process is not None:
            process.end()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the simulator.

        Raises:
            SimulatorError: If its process ends or has ended.
            UserError: If the simulator is closed.
        """
        if self._closed:
            raise UserError("the simulator is closed; open another one")
        if self._process is None:
            raise SimulatorError("the simulator's process has ended; reset starts a new one")
        try:
            answer, self.body = self._process.call(method, *arguments)
            return answer
        except _EndedError as error:
            self._process = self._scene = None
            raise SimulatorError(f"{error}; a new one is started for the next episode") from error
        except (UserError, RuntimeError):
            raise
        except BaseException:
            # An interrupt: the answer is still to come, and the next call would take it for its own.
            process, self._process, self._scene = self._process, None, None
            process.end()
            raise


def serve(line: Connection) -> None:
    """Answer calls of the parent process until it sends None or closes the connection.

    An answer is the result of the method (for ``reset``, the keys and kinds) with the new pose of the robot.
    """
    try:
        opener: Opener = line.recv()
        simulator = opener()
    except Exception as error:
        line.send(_problem(error))
        return
    line.send((None, simulator.camera))
    scene: Any = None
    while True:
        try:
            question = line.recv()
        except (EOFError, OSError):
            return
        if question is None:
            simulator.close()
            return
        method, arguments = question
        try:
            if method == "reset":
                scene = arguments[0] or scene
                simulator.reset(scene, *arguments[1:])
                answer: Any = (simulator.keys, simulator.kinds)
            else:
                answer = getattr(simulator, method)(*arguments)
            line.send((None, (answer, simulator.body)))
        except Exception as error:
            line.send(_problem(error))


def _problem(error: Exception) -> tuple[Any, None]:
    return (error if isinstance(error, UserError) else traceback.format_exc(), None)
