"""``housewise replay``: repeat the replies of a run and compare where things end up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.terminal.option_values import drop_unset
from housewise.terminal.options import FailFastOption, NewestRunArgument, SimulatorOptions, execution_option
from housewise.terminal.run_folders import newest_run, run_folder

if TYPE_CHECKING:
    from housewise.systems.personalize.record import HouseRecord
    from housewise.systems.personalize.settings import PersonalizeSettings


def replay(
    renderer: SimulatorOptions,
    folder: NewestRunArgument = None,
    fail_fast: FailFastOption = None,
    out: Annotated[
        Path | None,
        execution_option(
            "FOLDER",
            "Folder of the replay. An existing replay is resumed. Default: a new folder NAME-replay beside the "
            "earlier run's folder NAME.",
        ),
    ] = None,
) -> None:
    """Replay the replies of an earlier run, and report whether the same things end up in the same places.

    Examples:

      # the newest run in runs/
      housewise replay

      # the same replies in the other simulator
      housewise replay runs/merom --simulator habitat
    """
    run = folder or newest_run(nested=False, replays=False)
    records = records_by_name(run)
    named = run if run.name.strip(".") else run.resolve()
    with run_folder(out, f"{named.name}-replay", named.parent) as target:
        changes = drop_unset({**vars(renderer), "fail_fast": fail_fast})
        replay_run(run, records, changes, target, Console())


def records_by_name(folder: Path) -> dict[str, HouseRecord]:
    """Read the finished episodes of a run.

    Returns:
        The records, by name of the episode.

    Raises:
        UserError: The folder has no finished episode, or a record whose name differs from the name of its file.
    """
    from housewise.core.record_files import FINISHED
    from housewise.systems.personalize.record import read_house_record

    records = {}
    for path in find_paths(folder / "episodes", f"*{FINISHED}"):
        record = read_house_record(path)
        if record.name != path.name.removesuffix(FINISHED):
            raise UserError(f"{path}: is a record of {record.name}; rename the file, or remove it")
        records[record.name] = record
    if not records:
        raise UserError(f"{folder}: holds no finished episodes; name the folder of a run (it has episodes/ in it)")
    return records


def replay_run(
    folder: Path, records: Mapping[str, HouseRecord], settings: Mapping[str, Any], out: Path, console: Console
) -> None:
    """Replay a run, and print in how many episodes the same things end in the same places.

    Args:
        folder: Folder of the earlier run.
        records: Its records, see records_by_name.
        settings: Settings that differ from those of the earlier run, by key.
        out: Folder of the new run.
        console: Where progress is shown.

    Raises:
        UserError: The records cannot be replayed with these settings.
    """
    from housewise.systems.personalize.record import read_house_records
    from housewise.systems.personalize.system import Personalize
    from housewise.terminal.run_progress import play_run

    first = next(iter(records.values()))
    changed = {
        "planner": "replay",
        "records": str(folder / "episodes"),
        "simulator": first.initial_state.simulator,
        **settings,
    }
    system = Personalize(_widest_settings(records, changed))
    play_run(system, out, console, has_quick=False)
    # A resumed folder may hold more episodes than the earlier run.
    replayed = [record for record in read_house_records(out / "episodes") if record.name in records]
    same = sum(records[record.name].final.placements == record.final.placements for record in replayed)
    more = f"; the earlier run has {len(records)}" if len(replayed) < len(records) else ""
    print_lines(console, f"same final placements: {same} of {len(replayed)} episodes{more}")


def _widest_settings(records: Mapping[str, HouseRecord], changes: Mapping[str, Any]) -> PersonalizeSettings:
    """Return the settings for the replay of records, of which the first may be from before a run got more episodes.

    Args:
        records: The records, by name of the episode.
        changes: Settings that differ, by key.
    """
    from housewise.playback.replay import replay_settings
    from housewise.systems.personalize.system import Personalize

    headers = {json.dumps(record.header.settings, sort_keys=True): record.header for record in records.values()}
    found = [replay_settings(header).with_changes(**changes) for header in headers.values()]
    if len(found) == 1:
        return found[0]

    def count(settings: PersonalizeSettings) -> int:
        jobs = Personalize(settings).jobs()[: settings.execution.max_episodes]
        return sum(job.name in records for job in jobs)

    return max(found, key=count)
