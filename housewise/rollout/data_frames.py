"""Runs, episodes and events as pandas data frames; see docs/data_frames.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.record import Header, Result
from housewise.core.record_files import FAILED, FINISHED
from housewise.core.settings import flatten_settings
from housewise.rollout.record_reader import event_data, read_record, read_summary
from housewise.rollout.run import Run
from housewise.rollout.scores import result_metrics, summarize
from housewise.rollout.system import system_scores

if TYPE_CHECKING:
    import pandas as pd

Folder = Path | str | Run
"""Folder of a run, of its records, or of several runs; or a run."""


def runs(folders: Folder | Iterable[Folder]) -> pd.DataFrame:
    """Return a row per run.

    Columns: ``run`` (its folder), ``system``, ``agent``, the settings in which the runs differ by their dotted keys,
    ``episodes`` and ``failed_episodes`` (their numbers), and the mean of each score and of usage, with ``NAME_stderr``.

    Args:
        folders: Runs.

    Raises:
        UserError: There are no finished episodes, a record is damaged, or pandas is not installed.
    """
    pandas, rows, settings = import_pandas(), [], []
    for folder in _find_runs(folders):
        summaries = [read_summary(path) for path in find_paths(folder, f"*{FINISHED}")]
        header, results = summaries[0][0], [result for _, result in summaries]
        means = summarize(results, system_scores(header.system), [each.task for each, _ in summaries])
        # Where no run has an error, a column of None would hold objects.
        figures = {
            key: math.nan if value is None else value for key, value in means.items() if not isinstance(value, dict)
        }
        count = {"episodes": figures.pop("episodes"), "failed_episodes": len(find_paths(folder, f"*{FAILED}"))}
        rows.append(({"run": _name(folder), "system": header.system, "agent": header.agent}, count | figures))
        settings.append(flatten_settings(header.settings))
    keys = list(dict.fromkeys(key for each in settings for key in each))
    varying = [key for key in keys if any(each.get(key) != settings[0].get(key) for each in settings)]
    frame: pd.DataFrame = pandas.DataFrame(
        [
            first | {key: own.get(key) for key in varying} | last
            for (first, last), own in zip(rows, settings, strict=True)
        ]
    )
    return frame


def episodes(folders: Folder | Iterable[Folder]) -> pd.DataFrame:
    """Return a row per finished episode.

    Columns: ``run`` (its folder), ``episode``, ``system``, ``task``, ``group``, ``repetition``, ``seed``, ``agent``,
    ``person``, ``end_reason``, and each score and usage by its name, in the units of records.

    Args:
        folders: Runs.

    Raises:
        UserError: See ``runs``.
    """
    rows = [_episode_row(folder, *read_summary(path)) for folder, path in _find_records(folders)]
    frame: pd.DataFrame = import_pandas().DataFrame(rows)
    return frame


def events(folders: Folder | Iterable[Folder], type: str | None = None) -> pd.DataFrame:
    """Return a row per event of the finished episodes.

    Columns: ``run`` (its folder), ``episode``, ``number`` (from 0 in each episode), ``type``, and the fields of the
    events. A field that an event does not have is missing. A field with the name of one of the first four columns has
    the type before its name, such as ``lab_action.number``.

    Args:
        folders: Runs.
        type: Only events of this type, such as ``"action"``.

    Raises:
        UserError: See ``runs``.
    """
    rows = []
    for folder, path in _find_records(folders):
        record = read_record(path)
        for number, event in enumerate(record.events):
            name, fields = event_data(event)
            if type in (None, name):
                own = {"run": _name(folder), "episode": record.header.name, "number": number, "type": name}
                rows.append(own | {f"{name}.{key}" if key in own else key: value for key, value in fields.items()})
    columns = None if rows else ["run", "episode", "number", "type"]
    frame: pd.DataFrame = import_pandas().DataFrame(rows, columns=columns)
    return frame


def import_pandas() -> Any:
    """Return pandas.

    Raises:
        UserError: It is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise UserError("data frames need pandas; pip install 'housewise[experiments]'") from error
    return pandas


def _episode_row(folder: Path, header: Header, result: Result) -> dict[str, Any]:
    fields = ("system", "task", "group", "repetition", "seed", "agent", "person")
    about = {"run": _name(folder), "episode": header.name, **{field: getattr(header, field) for field in fields}}
    return {**about, "end_reason": result.end_reason, **result_metrics(result)}


def _find_records(folders: Folder | Iterable[Folder]) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of records and the path of each finished record."""
    import_pandas()
    for folder in _find_runs(folders):
        yield from ((folder, path) for path in find_paths(folder, f"*{FINISHED}"))


def _find_runs(folders: Folder | Iterable[Folder]) -> list[Path]:
    """Return the folders of the records of runs.

    Raises:
        UserError: A folder holds no finished episodes.
    """
    found: list[Path] = []
    for each in [folders] if isinstance(folders, Path | str | Run) else folders:
        folder = each.folder if isinstance(each, Run) else Path(each)
        candidates = [folder / "episodes", folder, *find_paths(folder, "*/episodes")]
        own = [candidate for candidate in candidates if find_paths(candidate, f"*{FINISHED}")]
        if not own:
            raise UserError(f"{folder}: holds no finished episodes; name folders of runs, or a folder with runs in it")
        found += own
    return list(dict.fromkeys(found))


def _name(folder: Path) -> str:
    return str(folder.parent if folder.name == "episodes" else folder)
