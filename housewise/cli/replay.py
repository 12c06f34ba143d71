"""The replies of a run, played again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from housewise.cli.run_progress import play_run, print_lines
from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.record import FINISHED
from housewise.playback.replay import replay_settings
from housewise.systems.personalize.record import HouseRecord, read_house_record, read_house_records
from housewise.systems.personalize.system import Personalize

Records = dict[str, HouseRecord]
"""Records by name."""


def records_by_name(folder: Path) -> Records:
    """The finished episodes of a run, by name.

    Raises:
        UserError: when there is none, or one is not of the episode that its file is named after.
    """
    records = {}
    for path in find_paths(folder / "episodes", f"*{FINISHED}"):
        record = read_house_record(path)
        if record.name != path.name.removesuffix(FINISHED):
            raise UserError(f"{path}: is a record of {record.name}; give the file that name, or take it out")
        records[record.name] = record
    if not records:
        raise UserError(f"{folder}: holds no finished episodes; name the folder of a run (it has episodes/ in it)")
    return records


def replay_run(folder: Path, earlier: Records, settings: Mapping[str, Any], out: Path, console: Console) -> None:
    """Play the replies of an earlier run again, and say in how many episodes the same things end in the same places.

    Args:
        folder: of the earlier run.
        earlier: its records; see records_of.
        settings: other ones than the earlier run's, by key.
        out: folder of the new run.
        console: where progress goes.

    Raises:
        UserError: when something outside the program is wrong.
    """
    first = next(iter(earlier.values()))
    changed = {
        "planner": "replay",
        "records": str(folder / "episodes"),
        "simulator": first.setting.simulator,
        **settings,
    }
    play_run(Personalize(replay_settings(first.header).changed(**changed)), out, console)
    # A folder that is gone on with may hold more episodes.
    again = [record for record in read_house_records(out / "episodes") if record.name in earlier]
    same = sum(earlier[record.name].final.placements == record.final.placements for record in again)
    print_lines(console, f"same final placements: {same} of {len(again)} episodes")
