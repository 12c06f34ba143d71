"""A vLLM server of our own: started on the loopback address, stopped with all its processes, found after a crash."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from housewise.core.console import print_event, print_note
from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.printable_text import excerpt
from housewise.core.validation import StrictModel, read_model
from housewise.language.server.lora_server import RUNTIME_LOADING
from housewise.selftrain.rollouts.settings import RolloutsConfig

SERVER_FILE, LOG_FILE = "server.json", "server.log"
MARK = "HOUSEWISE_SERVER"
"""Environment variable by which the processes of a server are found, also those whose parent has been killed."""
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM's --max-lora-rank accepts."""
_SLEEP_MODE = "VLLM_SERVER_DEV_MODE"
"""Environment variable without which vLLM has no addresses for its sleep mode."""
_POLL_SECONDS, _STOP_SECONDS, _HEALTH_SECONDS, _SLEEP_SECONDS = 0.2, 30.0, 30.0, 300.0
_LOG_END = 100_000
# What a log says about an error, such as "ValueError: ..." or "vllm: error: ...".
_ERROR = re.compile(r"error[:,] +(?!Engine core initialization failed)(\S.*)", re.IGNORECASE)


class _RunningServer(StrictModel):
    """The content of ``server.json``: a server that this program has started.

    Attributes:
        host: Name of the machine.
        mark: Value of MARK in the environment of all its processes.
        owner: Process that has started it.
        owner_created: When that began, which tells it from a later process with its number.
    """

    host: str
    mark: str
    owner: int
    owner_created: float


def served_rank(rank: int, key: str) -> int:
    """Return the smallest value of ``--max-lora-rank`` that is enough.

    Args:
        rank: Largest rank of an adapter.
        key: Setting of the rank, for the error.

    Raises:
        UserError: vLLM serves no adapter of that rank.
    """
    for allowed in _RANKS:
        if rank <= allowed:
            return allowed
    raise UserError(f"{key}={rank}: vLLM serves adapters up to rank {_RANKS[-1]}; set a lower rank")


class VllmProcess:
    """A server that this program starts.

    Args:
        folder: Folder of the training, which gets the server's log and a file that identifies the process.
        config: Settings of rollouts.
        model: Folder or Hugging Face name of the base model.
        name: Name of the base model in requests.
        max_rank: Value of vLLM's ``--max-lora-rank``; see served_rank.
        dtype: Precision of the model, ``auto`` or as in vLLM's ``--dtype``.
    """

    def __init__(self, folder: Path, config: RolloutsConfig, model: str, name: str, max_rank: int, dtype: str) -> None:
        self._folder, self._config = folder, config
        self._arguments = [
            *("serve", model, "--served-model-name", name, "--host", "127.0.0.1", "--dtype", dtype),
            # Each API server has adapters of its own.
            *("--api-server-count", "1"),
            *("--enable-lora", "--max-lora-rank", str(max_rank), "--generation-config", "vllm"),
            *(() if config.max_model_len is None else ("--max-model-len", str(config.max_model_len))),
            *(("--enable-sleep-mode",) if config.while_training == "sleep" else ()),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._mark = uuid.uuid4().hex
        self._address = ""
        self._log_start = 0
        self._is_asleep = False

    def check(self) -> None:
        """Check that the program is there, without starting it.

        Raises:
            UserError: It is not.
        """
        program = next(iter(shlex.split(self._config.command)), "")
        if shutil.which(program) is None:
            raise UserError(_cannot_start(program, "not found, or not executable"))

    @property
    def _url(self) -> str:
        return f"{self._address}/v1"

    @property
    def is_running(self) -> bool:
        """Whether a server was started and not stopped. It may sleep, or have ended by itself."""
        return self._process is not None

    @property
    def has_died(self) -> bool:
        """Whether a server was started and has ended by itself, or the process in it that computes."""
        if self._process is None:
            return False
        return self._process.poll() is not None or not _answers(f"{self._address}/health")

    def start(self) -> str:
        """Start the server unless it runs, wait until it answers, and return its address. One that sleeps is woken.

        Raises:
            UserError: It does not start; the message quotes its log.
        """
        if self._is_asleep:
            self._is_asleep = False
            if not _answers(f"{self._address}/wake_up", _SLEEP_SECONDS, "POST"):
                print_note(f"the vLLM server does not wake up; it is started anew (see {self._log})")
                self.stop()
        if self._process is not None and not self.has_died:
            return self._url
        self.stop()
        port = _free_port()
        command = [*shlex.split(self._config.command), *self._arguments, "--port", str(port), *self._config.options]
        write_json(self._folder / SERVER_FILE, _describe(self._mark).model_dump())
        # setproctitle, which vLLM uses, would otherwise write titles over the environment.
        environment = {**os.environ, RUNTIME_LOADING: "True", MARK: self._mark, "SPT_NOENV": "1"}
        if self._config.while_training == "sleep":
            environment[_SLEEP_MODE] = "1"
        with (self._folder / LOG_FILE).open("ab") as log:
            self._log_start = log.tell()
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=environment,
                )
            except OSError as error:
                (self._folder / SERVER_FILE).unlink()
                raise UserError(_cannot_start(command[0], str(error.strerror))) from error
        self._address = f"http://127.0.0.1:{port}"
        self._wait(self._process)
        return self._url

    def rest(self) -> None:
        """Free the server's GPU memory: it sleeps, where the settings say so and it can, or else it is stopped."""
        if self._process is None or self._is_asleep:
            return
        if self._config.while_training == "sleep":
            # Level 1 keeps the weights in the main memory. The adapters stay, and so do their names.
            if _answers(f"{self._address}/sleep?level=1", _SLEEP_SECONDS, "POST"):
                self._is_asleep = True
                return
            print_note(f"the vLLM server has ended or does not sleep; it is stopped (see {self._log})")
        self.stop()

    def stop(self) -> None:
        """Stop the server with all its processes, so that its memory is free."""
        self._is_asleep = False
        # Without a process the file is that of an earlier program, whose server end_orphan finds by it.
        if self._process is not None:
            _end_processes(self._mark)
            self._process.wait()
            (self._folder / SERVER_FILE).unlink(missing_ok=True)
        self._process = None

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        print_event(f"starting vLLM, which writes to {self._log}")
        end = time.monotonic() + self._config.start_seconds
        while not _answers(f"{self._address}/health"):
            if process.poll() is not None:
                self.stop()
                raise UserError(f"the vLLM server ended while it started ({self._last_words()}); see {self._log}")
            if time.monotonic() > end:
                self.stop()
                raise UserError(
                    f"the vLLM server did not answer within {self._config.start_seconds:.0f} s; see {self._log}, or "
                    "raise rollouts.start_seconds"
                )
            time.sleep(_POLL_SECONDS)

    @property
    def _log(self) -> Path:
        return self._folder / LOG_FILE

    def _last_words(self) -> str:
        """Return the last error of the log since the start, or else its last line."""
        text = self._log.read_bytes()[self._log_start :][-_LOG_END:].decode(errors="replace")
        lines = _ERROR.findall(text) or [line for line in text.splitlines() if line.strip()]
        return excerpt(lines[-1] if lines else "it wrote nothing")


def end_orphan(folder: Path) -> None:
    """End the server that an earlier, killed program has left running in the folder of a training."""
    path = folder / SERVER_FILE
    if not path.exists():
        return
    try:
        left = read_model(path, _RunningServer)
    except UserError:
        path.unlink()
        return
    # Processes of another machine cannot be seen from here, and another program may share the folder.
    if left.host == socket.gethostname() and not _is_running(left.owner, left.owner_created):
        if _end_processes(left.mark):
            print_note("ended the vLLM server that an earlier program had left running")
        path.unlink()


def _cannot_start(program: str, reason: str) -> str:
    return (
        f"rollouts.command: {program or 'no program'} cannot be started ({reason}); install vLLM in an environment of "
        "its own and set rollouts.command to its program, or serve the model yourself (rollouts.servers=[URL])"
    )


def _describe(mark: str) -> _RunningServer:
    import psutil

    own = psutil.Process()
    return _RunningServer(host=socket.gethostname(), mark=mark, owner=own.pid, owner_created=own.create_time())


def _is_running(pid: int, created: float) -> bool:
    import psutil

    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - created) < 1.0 and _is_alive(process)
    except psutil.NoSuchProcess:
        return False


def _end_processes(mark: str) -> bool:
    """End all processes of a server, gently at first, and return whether there were any."""
    import psutil

    found = processes = [process for process in psutil.process_iter() if _has_mark(process, mark)]
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                end(process)
        deadline = time.monotonic() + _STOP_SECONDS
        # psutil.wait_procs waits for zombies, which stay for as long as their parent does not ask for them.
        while processes and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            processes = [process for process in processes if _is_alive(process)]
    return bool(found)


def _is_alive(process: Any) -> bool:
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _has_mark(process: Any, mark: str) -> bool:
    import psutil

    try:
        return bool(process.environ().get(MARK) == mark)
    except (psutil.Error, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _answers(url: str, seconds: float = _HEALTH_SECONDS, method: str = "GET") -> bool:
    try:
        with build_opener(ProxyHandler({})).open(Request(url, method=method), timeout=seconds) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError, ValueError):
        return False
