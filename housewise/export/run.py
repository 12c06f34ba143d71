"""A run, or one folder of records, as another tool's file."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from housewise.core.errors import UserError, make_printable, suggest_names
from housewise.core.files import atomic_output, find_paths, read_bytes, write_json
from housewise.core.record import FAILED, FINISHED, PARTIAL
from housewise.export.episode_playback import player_of
from housewise.export.manifest import Episode, Manifest, listed
from housewise.export.writer import ExportWriter
from housewise.rollout.record_reader import read_record
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice

Tell = Callable[[str], None]
"""Takes a line about something that the user should know."""


def _lerobot() -> ExportWriter:
    from housewise.export.to_lerobot import LeRobotWriter

    return LeRobotWriter()


def _rerun() -> ExportWriter:
    from housewise.export.to_rerun import RerunWriter

    return RerunWriter()


FORMATS: dict[str, Callable[[], ExportWriter]] = {"lerobot": _lerobot, "rerun": _rerun}
"""What runs can be exported to, by name."""


def export_run(
    run: Path,
    to: str,
    out: Path,
    simulator: SimulatorChoice = RAYCAST,
    progress: Callable[[int, int], None] = lambda done, total: None,
    tell: Tell = lambda line: None,
) -> int:
    """Export the finished episodes of a run.

    Args:
        run: its folder.
        to: one of FORMATS.
        out: folder that is made; it appears when everything is in it. Its manifest (``housewise.json``) says which
            episode is which record, and which were left out.
        simulator: in which episodes are played again, and where it renders.
        progress: told of episodes done, and of how many there are.
        tell: takes what there is to say of single episodes, and of those that were left out.

    Returns:
        How many episodes were written.

    Raises:
        UserError: when the run, the format, the library or the place does not fit; nothing is left behind.
    """
    if to not in FORMATS:
        raise UserError(f"no export to {to}; {suggest_names(to, FORMATS)}")
    paths = _records(run)
    records = [read_record(path) for path in paths]
    systems = sorted({record.header.system for record in records})
    if len(systems) > 1:
        raise UserError(f"{run}: holds episodes of several systems ({', '.join(systems)}); name the folder of one run")
    player = player_of(systems[0], simulator)
    writer = FORMATS[to]()
    writer.check(player, systems[0])

    manifest = Manifest()
    for name, reason in _unfinished(run):
        manifest.leave_out(name, reason)

    def episodes() -> Iterator[Episode]:
        progress(0, len(paths))
        for number, (path, record) in enumerate(zip(paths, records, strict=True), start=1):
            playback = player.play(record, path) if player else None
            for difference in playback.differences if playback else ():
                tell(f"{record.name}: played again, {difference}")
            yield Episode(run.resolve().name, record, playback, _id(path))
            progress(number, len(paths))

    with atomic_output(out) as partial:
        writer.write(episodes(), partial, manifest)
        write_json(partial / writer.manifest, {**manifest.content, **writer.notes})
        _share(partial, like=partial / writer.manifest)
    for line in manifest.omissions:
        tell(line)
    return manifest.episodes


def _records(run: Path) -> list[Path]:
    paths = find_paths(run / "episodes", f"*{FINISHED}")
    if paths:
        return paths
    inner = sorted({path.parents[1] for path in find_paths(run, f"*/**/episodes/*{FINISHED}")})
    named = f"it holds several runs: name one of them, such as {inner[0]}" if inner else ""
    unfinished = [f"{name} ({reason})" for name, reason in _unfinished(run)]
    if unfinished and not named:
        named = f"there are {listed(unfinished)}: the same housewise run again finishes them"
    raise UserError(
        f"{run}: no finished episodes in it; {named or 'name the folder of a run (it has episodes/ in it)'}"
    )


def _unfinished(run: Path) -> Iterator[tuple[str, str]]:
    """Names of the records of episodes that were begun and not finished, each with what became of it."""
    for ending, reason in ((FAILED, "failed"), (PARTIAL, "unfinished")):
        for path in find_paths(run / "episodes", f"*{ending}"):
            yield make_printable(path.name.removesuffix(ending)), reason


def _id(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()[:16]


def _share(folder: Path, like: Path) -> None:
    """Give everything in a folder the permissions of one file: libraries move private temporary files there."""
    mode = stat.S_IMODE(like.stat().st_mode)
    for path in folder.rglob("*"):
        # Who may read a folder's files may enter it.
        path.chmod(mode | (mode & 0o444) >> 2 if path.is_dir() else mode)
