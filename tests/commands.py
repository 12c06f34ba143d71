"""Runs commands in processes of their own that begin with what every command imports.

Starting Python and importing the simulator takes most commands of the tests longer than what they do. So one process
imports that once, and each command is a fork of it, with an environment, a folder and files of its own. What depends on
how Python itself starts (PYTHON* variables) or on packages in the place of installed ones, is started anew, and so is
what sends classes of its main module to other processes or whose own processes are looked for.
"""

import multiprocessing
import multiprocessing.forkserver
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

PRELOADED = ["tests.preloaded"]


def run_module(
    module: str,
    arguments: Sequence[object],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 300,
    input: str = "",
    beside: Path | str | None = None,
    code: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Do what ``python -m module`` does, with arguments.

    Args:
        module: with its whole name.
        arguments: of the command.
        env: the whole environment; this process's by default.
        cwd: where it is run.
        timeout: seconds after which it is killed.
        input: what it reads.
        beside: folders, as in PYTHONPATH, of packages that the forked process has not imported.
        code: Exit code that the test expects, or None to accept any.

    Raises:
        AssertionError: If it exits with another code.
        subprocess.TimeoutExpired: when it was killed.
    """
    words, known = [*map(str, arguments)], dict(os.environ if env is None else env)
    command = [sys.executable, "-m", module, *words]
    if any(name.startswith("PYTHON") and os.environ.get(name) != value for name, value in known.items()):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, env=known, cwd=cwd, input=input, check=False
        )
    else:
        with started_module(module, words, known, cwd, input, beside) as program:
            done = subprocess.CompletedProcess(command, program.wait(timeout), program.out, program.err)
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def housewise(
    *arguments: object, timeout: float = 120, code: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``housewise`` in its own process.

    Args:
        *arguments: Arguments of the command line.
        timeout: Time limit in seconds.
        code: Exit code that the test expects, or None to accept any.
        **environment: Further environment variables.
    """
    return run_module("housewise.cli", arguments, {**os.environ, **environment}, timeout=timeout, code=code)


def output(result: subprocess.CompletedProcess[str]) -> str:
    """Return the output of a command that succeeded without a word to standard error."""
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


def one_line(result: subprocess.CompletedProcess[str]) -> str:
    """Return the error of a command that failed with exit code 2 and one line, not counting lines about retries."""
    assert result.returncode == 2, result.stdout + result.stderr
    lines = [line for line in result.stderr.splitlines() if line.strip() and "; trying again in " not in line]
    assert len(lines) == 1, result.stderr
    return lines[0]


class Program:
    """A command that is running, or has ended; a part of ``subprocess.Popen``."""

    def __init__(self, process: ForkServerProcess, files: Sequence[str]) -> None:
        self._process, self._files = process, files
        self.pid = process.pid or 0

    @property
    def out(self) -> str:
        """What it has written to standard output."""
        return Path(self._files[1]).read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """What it has written to standard error."""
        return Path(self._files[2]).read_text(encoding="utf-8")

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self, timeout: float = 300) -> int:
        """Wait for its end; its exit code.

        Raises:
            subprocess.TimeoutExpired: when it runs longer than that many seconds.
        """
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(str(self._process.name), timeout)
        return code


def wait_until(condition: Callable[[], bool], process: Program | subprocess.Popen[Any], seconds: float = 300) -> None:
    """Wait for something that a process does; that it has ended before, or takes longer, is a failure."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        assert process.poll() is None, getattr(process, "err", None) or "it has ended before"
        time.sleep(0.005)


@contextmanager
def started_module(
    module: str,
    arguments: Sequence[object],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    input: str = "",
    beside: Path | str | None = None,
    terminal: str | None = None,
) -> Iterator[Program]:
    """Start what ``python -m module`` does; it is killed at the end. See run_module for the other arguments.

    Args:
        terminal: Device that it reads from and writes to, as at a terminal.
    """
    known = dict(os.environ if env is None else env)
    if beside is not None:
        known["PYTHONPATH"] = str(beside)
    with tempfile.TemporaryDirectory() as folder:
        files = [terminal or str(Path(folder) / name) for name in ("in", "out", "err")]
        if terminal is None:
            for path, text in zip(files, (input, "", ""), strict=True):
                Path(path).write_text(text, encoding="utf-8")
        words = [*map(str, arguments)]
        process = _context().Process(
            target=_main, args=(module, words, known, cwd, files, beside, terminal is not None)
        )
        process.start()
        try:
            yield Program(process, files)
        finally:
            process.kill()
            process.join()


def preload() -> None:
    """Start that process, before the program itself starts one for its workers."""
    _context().set_forkserver_preload(PRELOADED)
    multiprocessing.forkserver.ensure_running()


def _context() -> multiprocessing.context.ForkServerContext:
    return multiprocessing.get_context("forkserver")


def _main(
    module: str,
    words: list[str],
    env: dict[str, str],
    cwd: Path | None,
    files: list[str],
    beside: Path | str | None,
    at_terminal: bool,
) -> None:
    if at_terminal:
        # A terminal that the first process of a session opens is that of the session, so that its keys interrupt.
        os.setsid()
    for number, path in enumerate(files):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        for number, mode in enumerate("rww")
    )
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd or Path.cwd())
    sys.argv = [module, *words]
    # In the background of a shell interrupts are ignored; here they do what they do at a terminal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Its workers are forks of the same process; Python would start another one.
    multiprocessing.forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]
    multiprocessing.forkserver.ensure_running = lambda: None
    sys.path[:1] = ["", *(str(beside).split(os.pathsep) if beside else [])]
    os._exit(_exit_code(module))


def run_in_fork(command: Sequence[str], check: bool, env: Mapping[str, str]) -> None:
    """Do what ``subprocess.run`` does with ``python -m`` and a trainer, in a fork, which has imported torch already.

    Raises:
        subprocess.CalledProcessError: If it fails.
    """
    python, option, module, *words = command
    if (python, option) != (sys.executable, "-m") or not module.startswith("housewise."):
        subprocess.run(command, check=check, env=env)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        os.environ.clear()
        os.environ.update(env, TOKENIZERS_PARALLELISM="false")
        sys.argv = [module, *words]
        os._exit(_exit_code(module))
    try:
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except BaseException:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    if code and check:
        raise subprocess.CalledProcessError(code, command)


def _exit_code(module: str) -> int:
    """Run the module to its end, as Python does."""
    code: object = 0
    # It is run anew, as the main module.
    sys.modules.pop(module, None)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code or 0)  # type: ignore[call-overload]
