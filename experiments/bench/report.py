"""How long a report of many episodes takes, and how much memory, from the command to the last film.

    python -m housewise.experiments.bench.report [--episodes 400] [--episodes 2000] [--python PYTHON] [--json FILE]

A few houses are played by the scripted planner. Their records are copied under other run numbers until they suffice,
with other success rates, so that no two pages of one house are made one after the other, and every second one with
something left to do. Then the commands are timed as a user gives them, each in a process of its own:

* index: from the start of ``housewise report`` until the page with all figures is there;
* pages: until there is a page for each episode, without films;
* films: ``housewise report`` once more, for the episodes that have pictures and films by default;
* compare: ``housewise compare`` of the run with itself.

Seconds are told on the clock and of processor time, of all processes together: on a machine with other work only the
second say much. ``--python`` measures another installation, such as an earlier version, with the same records.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, find_paths, write_json
from housewise.core.provenance import provenance
from housewise.core.tables import table

HOUSES = 12
_EPISODES = (400, 2000)
# Seconds between two looks at the processes; one that ends between them has used a little more than was seen.
_LOOK = 0.5
_WAIT = 0.02
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_RUN = re.compile(r"-run0$")


@dataclass(frozen=True)
class CommandTiming:
    """What a command took.

    Attributes:
        what: was measured.
        episodes: of the run.
        seconds: on the clock.
        cpu_seconds: of processor time, of all processes.
        peak_mb: the most memory that all processes held at a time, what they share counted once.
        made: how many pages or films there were then; None where none are made.
        finished: whether the command was given the time to end.
    """

    what: str
    episodes: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    made: int | None = None
    finished: bool = True


class _Watch:
    """Follows what a command and the processes that it begins use; takes Linux's ``/proc``.

    Args:
        session: number of the command's session.
    """

    def __init__(self, session: int) -> None:
        self._session, self._cpu = session, dict[int, float]()
        self.peak_mb, self._began, self._next = 0.0, time.perf_counter(), 0.0

    @property
    def seconds(self) -> float:
        """On the clock, so far."""
        return time.perf_counter() - self._began

    def used(self) -> tuple[float, float, float]:
        """Seconds on the clock and of processor time, and megabytes, so far."""
        seconds = self.seconds
        self._look()
        return seconds, sum(self._cpu.values()), self.peak_mb

    def look(self) -> None:
        """See what the processes have used by now, if it is time to."""
        if self.seconds >= self._next:
            self._look()
            self._next = self.seconds + _LOOK

    def _look(self) -> None:
        held = 0.0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                # The name, in brackets, may hold anything; behind it the session is the fourth field.
                fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                if int(fields[3]) != self._session:
                    continue
                self._cpu[int(folder.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
                rollup = (folder / "smaps_rollup").read_text(encoding="utf-8")
                held += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024
            except (OSError, StopIteration):
                # It has ended meanwhile.
                continue
        self.peak_mb = max(self.peak_mb, held)


def time_command(
    command: Sequence[str | Path], patience: float, until: Callable[[], bool] | None = None
) -> tuple[tuple[float, float, float], tuple[float, float, float], bool]:
    """Run a command and see what it takes.

    Args:
        command: to run.
        patience: seconds after which it is interrupted, as Ctrl-C does.
        until: something that it does on the way.

    Returns:
        What it had taken when ``until`` first held, what it took in all (see _Watch.used), and whether it ended by
        itself.

    Raises:
        UserError: when it fails.
    """
    words = [str(each) for each in command]
    program = subprocess.Popen(
        # Python looks for modules in the folder that it is started in, which may be a checkout.
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell's background jobs ignore interrupts, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        cwd=gettempdir(),
    )
    watch, reached, interrupted = _Watch(program.pid), None, False
    while program.poll() is None:
        watch.look()
        if reached is None and until is not None and until():
            reached = watch.used()
        if watch.seconds > patience and not interrupted:
            interrupted = True
            os.kill(program.pid, signal.SIGINT)
        time.sleep(_WAIT)
    assert program.stderr is not None, "it was piped"
    said = program.stderr.read()
    if program.returncode and not interrupted:
        raise UserError(f"{' '.join(words)}: failed ({said.strip()[-500:]})")
    whole = watch.used()
    return reached or whole, whole, not interrupted


def copy_records(played: Path, folder: Path, count: int) -> None:
    """Fill a run with copies of records.

    Args:
        played: the run that they are copied from.
        folder: of the new run.
        count: how many there are to be.
    """
    sources = [(path.stem, path.read_text(encoding="utf-8").splitlines()) for path in _records(played)]
    (folder / "episodes").mkdir(parents=True)
    for number in range(count):
        name, lines = sources[number % len(sources)]
        run = number // len(sources)
        header, result = json.loads(lines[0]), json.loads(lines[-1])
        header["data"]["repetition"] = run
        scores = result["data"]["scores"]
        scores["success_rate"] = number / count
        scores["correct_end"] = scores["objects"] - number % 2
        text = "\n".join([json.dumps(header), *lines[1:-1], json.dumps(result), ""])
        path = folder / "episodes" / f"{_RUN.sub(f'-run{run}', name)}.jsonl"
        path.write_text(text, encoding="utf-8")


def measure(python: Path, played: Path, folder: Path, count: int, patience: float) -> list[CommandTiming]:
    """The rows of a run of so many episodes.

    Args:
        python: whose ``housewise`` is measured.
        played: the run whose records are copied.
        folder: for the run; nothing may be there yet.
        count: how many episodes.
        patience: see timed.
    """
    copy_records(played, folder, count)
    housewise = (python, "-m", "housewise")
    index = folder / "report.html"
    described = _command_output([*housewise, "report", "--help"])
    # Versions that do not know --films have pictures on all pages, and films of all.
    plain = ("--films", "0") if "--films" in described else ("--no-film",)
    first, whole, ended = time_command([*housewise, "report", folder, *plain], patience, index.is_file)
    rows = [
        CommandTiming("index", count, *first),
        CommandTiming("pages", count, *whole, len(find_paths(folder, "report/*.html")), ended),
    ]
    _, whole, ended = time_command([*housewise, "report", folder], patience)
    rows.append(CommandTiming("films", count, *whole, len(find_paths(folder, "report/*.mp4")), ended))
    _, whole, ended = time_command([*housewise, "compare", folder, folder], patience)
    return [*rows, CommandTiming("compare", count, *whole, None, ended)]


def measured_commit(python: Path) -> Any:
    """The commit of the installation that is measured, and whether its code is another; None where nobody can say."""
    code = "import json; from housewise.core.provenance import provenance as p; print(json.dumps(p()))"
    said = json.loads(_command_output([python, "-c", code]))
    return {key: said[key] for key in ("commit", "changed")}


def _command_output(command: Sequence[str | Path]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=gettempdir()).stdout


def _records(run: Path) -> list[Path]:
    return find_paths(run, "episodes/*.jsonl")


def main(
    episodes: Annotated[list[int] | None, typer.Option(min=1, help="Of each run; 400 and 2000 by default.")] = None,
    houses: Annotated[int, typer.Option(min=1, help="That are played, and whose records are copied.")] = HOUSES,
    max_steps: Annotated[int, typer.Option(min=1, help="Low-level steps of an episode.")] = 1000,
    patience: Annotated[float, typer.Option(help="Seconds after which a command is interrupted.")] = 3600.0,
    python: Annotated[Path | None, typer.Option(help="Python of another installation to measure.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Time the report of many episodes: its index, its pages, its films, and the comparison of two runs.

    Examples:

      python -m housewise.experiments.bench.report --json results/bench/report.json

      python -m housewise.experiments.bench.report --episodes 24 --max-steps 100
    """
    if not Path("/proc/self/smaps_rollup").exists():
        raise UserError("this takes the /proc of Linux, where the memory of several processes can be told")
    chosen, console, made = (python or Path(sys.executable)).absolute(), Console(), provenance()
    counts, rows = episodes or list(_EPISODES), list[CommandTiming]()
    with TemporaryDirectory() as folder:
        with console.status(f"playing {houses} houses"):
            settings = ["--houses", str(houses), "--planner", "scripted", f"max_steps={max_steps}"]
            time_command([chosen, "-m", "housewise", "run", *settings, "--out", Path(folder) / "played"], patience)
        for count in counts:
            with console.status(f"reporting on {count} episodes"):
                rows += measure(chosen, Path(folder) / "played", Path(folder) / str(count), count, patience)
        bytes_ = sum(path.stat().st_size for path in _records(Path(folder) / "played"))
        size = bytes_ / len(_records(Path(folder) / "played"))
    cells = [
        (
            row.what + ("" if row.finished else ", interrupted"),
            str(row.episodes),
            "–" if row.made is None else str(row.made),
            f"{row.seconds:.1f}",
            f"{row.cpu_seconds:.1f}",
            f"{row.peak_mb:.0f}",
        )
        for row in rows
    ]
    console.print(table("reports of many episodes", ("what", "episodes", "made", "s", "CPU s", "MB"), cells))
    if json_file is not None:
        content = {
            "rows": [asdict(row) for row in rows],
            "houses": houses,
            "max_steps": max_steps,
            "record_bytes": size,
            "measured": measured_commit(chosen),
        }
        write_json(json_file, {**content, **made})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
