"""A run, or one folder of records, as another tool's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from housewise.core.errors import UserError, alternatives
from housewise.core.files import appearing
from housewise.core.record import FINISHED, Record
from housewise.export.playback import Playback, Player, player_of
from housewise.rollout.records import read_record
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice

Tell = Callable[[str], None]
"""Takes a line about something that the user should know."""


@dataclass(frozen=True)
class Episode:
    """A finished episode, on its way to a file.

    Attributes:
        record: of it.
        playback: of it; None where it cannot be seen again.
    """

    record: Record
    playback: Playback | None


class Writer:
    """Writes episodes into a folder that is not there yet; see export_run."""

    def check(self, player: Player | None, system: str) -> None:
        """See whether it can write what there is, before anything is played.

        Raises:
            UserError: when it cannot; the message says what to do.
        """

    def write(self, episodes: Iterator[Episode], folder: Path, tell: Tell) -> None:
        """Write all episodes."""
        raise NotImplementedError


def _lerobot() -> Writer:
    from housewise.export.to_lerobot import LeRobotWriter

    return LeRobotWriter()


def _rerun() -> Writer:
    from housewise.export.to_rerun import RerunWriter

    return RerunWriter()


FORMATS: dict[str, Callable[[], Writer]] = {"lerobot": _lerobot, "rerun": _rerun}
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
        out: folder that is made; it appears when everything is in it.
        simulator: in which episodes are played again, and where it renders.
        progress: told of episodes done, and of how many there are.
        tell: takes what there is to say of single episodes.

    Returns:
        How many episodes there were.

    Raises:
        UserError: when the run, the format, the library or the place does not fit; nothing is left behind.
    """
    if to not in FORMATS:
        raise UserError(f"no export to {to}; {alternatives(to, FORMATS)}")
    paths = _records(run)
    records = [read_record(path) for path in paths]
    systems = sorted({record.header.system for record in records})
    if len(systems) > 1:
        raise UserError(f"{run}: holds episodes of several systems ({', '.join(systems)}); name the folder of one run")
    player = player_of(systems[0], simulator)
    writer = FORMATS[to]()
    writer.check(player, systems[0])

    def episodes() -> Iterator[Episode]:
        progress(0, len(paths))
        for number, (path, record) in enumerate(zip(paths, records, strict=True), start=1):
            playback = player.play(record, path) if player else None
            for difference in playback.differences if playback else ():
                tell(f"{record.name}: played again, {difference}")
            yield Episode(record, playback)
            progress(number, len(paths))

    with appearing(out) as partial:
        writer.write(episodes(), partial, tell)
    return len(paths)


def _records(run: Path) -> list[Path]:
    paths = sorted((run / "episodes").glob(f"*{FINISHED}"))
    if paths:
        return paths
    inner = sorted({path.parents[1] for path in run.glob(f"*/**/episodes/*{FINISHED}")})
    named = f"; it holds several runs: name one of them, such as {inner[0]}" if inner else ""
    raise UserError(
        f"{run}: no finished episodes in it{named or '; name the folder of a run (it has episodes/ in it)'}"
    )
