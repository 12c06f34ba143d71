"""Exports a run, or a single folder of records, to another tool's format."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import atomic_output, find_paths, read_bytes, write_json
from housewise.core.formatting import join_names
from housewise.core.printable_text import make_printable
from housewise.core.record_files import FAILED, FINISHED, PARTIAL
from housewise.export.episode_playback import find_player
from housewise.export.manifest import ExportedEpisode, Manifest
from housewise.export.to_lerobot import LeRobotWriter
from housewise.export.to_rerun import RerunWriter
from housewise.export.to_training_data import LlamaFactoryWriter, OpenAIWriter, TrlWriter
from housewise.export.writer import ExportWriter
from housewise.rollout.record_reader import read_record
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice

Tell = Callable[[str], None]
"""Receives a line for the user."""


FORMATS: dict[str, Callable[[], ExportWriter]] = {
    "lerobot": LeRobotWriter,
    "rerun": RerunWriter,
    "llamafactory": LlamaFactoryWriter,
    "openai": OpenAIWriter,
    "trl": TrlWriter,
}
"""Writers by the name of their format."""


def export_run(
    run: Path,
    to: str,
    out: Path,
    simulator: SimulatorChoice = RAYCAST,
    progress: Callable[[int, int], None] = lambda done, total: None,
    tell: Tell = lambda line: None,
    settings: Sequence[str] = (),
) -> int:
    """Export the finished episodes of a run.

    Args:
        run: Folder of the run.
        to: Name of a format in `FORMATS`.
        out: New folder for the export. It appears when the export is complete. Its manifest (`housewise.json`) lists
            the exported episodes with their records, and the episodes that were left out.
        simulator: Simulator that replays the episodes, and where it renders.
        progress: Called with the number of exported episodes and the total.
        tell: Receives a line about an episode, or about those that were left out.
        settings: Settings of the format as texts ``key=value``.

    Returns:
        Number of exported episodes.

    Raises:
        UserError: The run, format, library or output folder cannot be used. Nothing is left behind.
    """
    if to not in FORMATS:
        raise UserError(f"no export to {to}; {suggest_names(to, FORMATS)}")
    writer = FORMATS[to]()
    writer.configure(settings)
    paths = _records(run)
    records = [read_record(path) for path in paths]
    systems = sorted({record.header.system for record in records})
    if len(systems) > 1:
        raise UserError(f"{run}: holds episodes of several systems ({', '.join(systems)}); name the folder of one run")
    player = find_player(systems[0], simulator) if writer.needs_playback else None
    writer.check(player, systems[0])

    manifest = Manifest()
    for name, reason in _unfinished_records(run):
        manifest.leave_out(name, reason)

    def episodes() -> Iterator[ExportedEpisode]:
        progress(0, len(paths))
        for number, (path, record) in enumerate(zip(paths, records, strict=True), start=1):
            playback = player.play(record, path) if player else None
            for difference in playback.differences if playback else ():
                tell(f"{record.name}: played again, {difference}")
            id = hashlib.sha256(read_bytes(path)).hexdigest()[:16]
            yield ExportedEpisode(run.resolve().name, path, record, playback, id)
            progress(number, len(paths))

    with atomic_output(out) as partial:
        writer.write(episodes(), partial, manifest)
        write_json(partial / writer.manifest, {**manifest.content, **writer.notes})
        _share(partial, like=partial / writer.manifest)
    for line in [*manifest.omissions, *manifest.warnings]:
        tell(line)
    return manifest.episodes


def _records(run: Path) -> list[Path]:
    paths = find_paths(run / "episodes", f"*{FINISHED}")
    if paths:
        return paths
    inner = sorted({path.parents[1] for path in find_paths(run, f"*/**/episodes/*{FINISHED}")})
    named = f"it holds several runs: name one of them, such as {inner[0]}" if inner else ""
    unfinished = [f"{name} ({reason})" for name, reason in _unfinished_records(run)]
    if unfinished and not named:
        named = f"there are {join_names(unfinished)}: the same housewise run again finishes them"
    raise UserError(
        f"{run}: no finished episodes in it; {named or 'name the folder of a run (it has episodes/ in it)'}"
    )


def _unfinished_records(run: Path) -> Iterator[tuple[str, str]]:
    """Return the record names of unfinished episodes, each with the reason."""
    for ending, reason in ((FAILED, "failed"), (PARTIAL, "unfinished")):
        for path in find_paths(run / "episodes", f"*{ending}"):
            yield make_printable(path.name.removesuffix(ending)), reason


def _share(folder: Path, like: Path) -> None:
    """Give all files of a folder the permissions of one file; libraries move private temporary files there."""
    mode = stat.S_IMODE(like.stat().st_mode)
    for path in folder.rglob("*"):
        # Whoever may read the files of a folder may also enter it.
        path.chmod(mode | (mode & 0o444) >> 2 if path.is_dir() else mode)
