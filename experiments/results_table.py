"""Results of experiments as tidy tables: a row per episode and measure, with a file that says how they were made.

``NAME.csv`` holds the rows and ``NAME.json`` the provenance. Older results, of which only means are left, are marked as
aggregates: their rows have no task, and ``error`` and ``count`` beside the mean.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from housewise.core.errors import DataError, suggest_names
from housewise.core.files import write_text
from housewise.core.provenance import provenance
from housewise.core.settings import map_texts, nested_differences
from housewise.core.text_files import read_text
from housewise.core.validation import read_model
from housewise.experiments.episode_provenance import EpisodeProvenance, combine_origins
from housewise.experiments.experiment_file import Experiment
from housewise.experiments.grid import PlannedRun, cell_label
from housewise.experiments.measured_values import Measurement
from housewise.experiments.runner import ExperimentRunner
from housewise.language.adapters import adapter_fingerprint, bundled_adapters
from housewise.rollout.data_frames import import_pandas
from housewise.rollout.run import Run
from housewise.rollout.scores import USAGE
from housewise.rollout.settings import RunSettings
from housewise.rollout.system import find_system, system_scores

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1
RUN, TASK, REPEAT, MEASURE, VALUE, WEIGHT = "run", "task", "repeat", "measure", "value", "weight"
ERROR, COUNT = "error", "count"
_OF_MEMORY_FOLDER = ("start", "folder", "new")
"""Settings that say where a memory is kept, and not what is in it."""
EPISODE_COLUMNS = (RUN, TASK, REPEAT, MEASURE, VALUE, WEIGHT)


class MeasureUnit(BaseModel):
    """How a measure is shown.

    Attributes:
        label: Heading in tables.
        scale: Factor from stored values to shown ones.
        decimals: Number of decimals in tables.
        better: Which direction is better, if either is.
    """

    model_config = ConfigDict(extra="forbid")

    label: str
    scale: float = 1.0
    decimals: int = 1
    better: Literal["higher", "lower"] | None = None


def _check_version(version: int) -> int:
    if version != VERSION:
        raise ValueError(f"is of version {version}, not {VERSION}")
    return version


class ResultsHeader(BaseModel):
    """What a table of results was made with.

    Attributes:
        version: Version of the format.
        experiment: Name of the experiment.
        title: Title of the table.
        axes: Names of the axes, which are columns of the table, with their levels in order.
        measures: How each measure is shown.
        aggregate: Whether the rows are means over episodes that were not kept.
        quick: Whether it was made with ``--quick``.
        missing_episodes: Number of episodes that were not finished.
        rows: Number of rows of the table.
        defaults: Defaults of the system at that time, in sections; empty in tables of earlier versions.
        settings: Settings of each run that differ from the defaults, of each training of its model, and of each call
            of a function, by its label.
        adapters: Names of adapters and the SHA-256 of their weights, by name.
        episodes: Commits, dates and software of its episodes.
        made: Commit, software, command, machine and date of the program that wrote the table; see ``core.provenance``.
        earlier: The same of the tables of which it holds rows that were not measured again, the oldest first.
    """

    model_config = ConfigDict(extra="forbid")

    version: Annotated[int, AfterValidator(_check_version)] = VERSION
    experiment: str
    title: str
    axes: dict[str, tuple[str, ...]]
    measures: dict[str, MeasureUnit]
    aggregate: bool = False
    quick: bool = False
    missing_episodes: int = 0
    rows: int = 0
    defaults: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    adapters: dict[str, Any] = {}
    episodes: EpisodeProvenance = EpisodeProvenance()
    made: dict[str, Any] = {}
    earlier: tuple[dict[str, Any], ...] = ()

    @property
    def changed_adapters(self) -> list[str]:
        """Names of the bundled adapters that are no longer those that the table was made with."""
        bundled = bundled_adapters()
        return [name for name, made in self.adapters.items() if name in bundled and adapter_fingerprint(name) != made]


@dataclass(frozen=True)
class ResultsTable:
    """A table of results.

    Attributes:
        header: What it was made with.
        frame: Its rows: a column per axis, then ``EPISODE_COLUMNS``.
    """

    header: ResultsHeader
    frame: pd.DataFrame

    def select(self, chosen: Mapping[str, Collection[str]]) -> ResultsTable:
        """Return the rows with some levels, or of some measures.

        Args:
            chosen: Levels by axis, and names of measures by ``measure``.

        Raises:
            DataError: There is no such axis, level or measure, or there are no such rows.
        """
        known = {**self.header.axes, MEASURE: tuple(self.header.measures)}
        frame = self.frame
        for axis, levels in chosen.items():
            if axis not in known:
                raise DataError(f"no axis {axis!r}; {suggest_names(axis, list(known))}")
            for level in levels:
                if level not in known[axis]:
                    raise DataError(f"axis {axis}: no level {level!r}; {suggest_names(level, known[axis])}")
            frame = frame[frame[axis].isin(list(levels))]
        if frame.empty:
            raise DataError(f"no rows with {', '.join(f'{axis}={next(iter(each))}' for axis, each in chosen.items())}")
        kept = {axis: tuple(level for level in known[axis] if level in chosen.get(axis, known[axis])) for axis in known}
        measures = {name: self.header.measures[name] for name in kept.pop(MEASURE)}
        return ResultsTable(self.header.model_copy(update={"axes": kept, "measures": measures}), frame)

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write ``NAME.csv`` and ``NAME.json`` and return their paths. The second is written last."""
        paths = [folder / f"{name}.csv", folder / f"{name}.json"]
        header = self.header.model_copy(update={"rows": len(self.frame)})
        write_text(paths[0], self.frame.to_csv(index=False, lineterminator="\n", float_format="%.10g"))
        write_text(paths[1], json.dumps(header.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")
        return paths


def make_table(name: str, runner: ExperimentRunner) -> ResultsTable:
    """Return the results of an experiment, as far as it is played."""
    experiment = runner.experiment
    # Opening a run reads its settings and episodes, so each is opened once.
    opened = {planned.folder: planned for planned in runner.grid.measured_runs}
    runs = {folder: runner.find_run(planned) for folder, planned in opened.items()}
    measurements, origins = runner.measure()
    played = [(opened[folder], run.settings) for folder, run in runs.items()]
    played += [(each, runner.settings(each)) for each in runner.grid.runs if each.folder not in runs]
    defaults = default_settings(experiment.system) if runs else {}
    header = ResultsHeader(
        experiment=name,
        title=experiment.title,
        axes={axis: tuple(levels) for axis, levels in experiment.axes.items()},
        measures=_measure_units(experiment),
        quick=runner.quick,
        missing_episodes=runner.count_missing_calls()
        + sum(
            planned.measures_task(job.task.name)
            for planned in runner.grid.measured_runs
            for job in runs[planned.folder].open_jobs
        ),
        defaults=defaults,
        settings={
            **run_settings(runner, played, defaults),
            **{cell_label(each): runner.function_settings(each) for each, _ in runner.grid.function_cells},
        },
        adapters=_adapters(runner, [run for folder, run in runs.items() if opened[folder].model is None]),
        episodes=combine_origins(origins),
        made=provenance(),
    )
    return ResultsTable(header, _to_frame(list(experiment.axes), measurements))


def read_table(path: Path) -> ResultsTable:
    """Read a table of results.

    Args:
        path: Its CSV file.

    Raises:
        UserError: A file is missing, damaged, incomplete or of another version.
    """
    pandas = import_pandas()
    about = path.with_suffix(".json")
    header = read_model(about, ResultsHeader, "make the table again", "the provenance of a results table")
    try:
        frame: pd.DataFrame = pandas.read_csv(
            StringIO(read_text(path, "make the table again")),
            dtype={**dict.fromkeys([*header.axes, RUN, TASK, MEASURE], str), VALUE: float, WEIGHT: float},
            keep_default_na=False,
            na_values={VALUE: [""], WEIGHT: [""], ERROR: [""], COUNT: [""], REPEAT: [""]},
        )
    except (ValueError, pandas.errors.ParserError) as error:
        raise DataError(f"{path}: not a results table ({' '.join(str(error).split())}); make it again") from error
    if missing := [column for column in (*header.axes, *EPISODE_COLUMNS) if column not in frame.columns]:
        raise DataError(f"{path}: has no column {missing[0]!r}; make the table again")
    if len(frame) != header.rows or frame[[VALUE, WEIGHT]].isna().any(axis=None):
        raise DataError(f"{path}: has {len(frame)} whole rows of {header.rows}; make the table again")
    if unknown := sorted(set(frame[MEASURE]) - header.measures.keys()):
        raise DataError(f"{path}: measure {unknown[0]!r} is not in {about.name}; make the table again")
    return ResultsTable(header, frame)


def _to_frame(axes: Sequence[str], measurements: Iterable[Measurement]) -> pd.DataFrame:
    rows = [(*(dict(cell).get(axis, "") for axis in axes), run, *value) for cell, run, value in measurements]
    frame: pd.DataFrame = import_pandas().DataFrame(rows, columns=[*axes, *EPISODE_COLUMNS])
    return frame


def _measure_units(experiment: Experiment) -> dict[str, MeasureUnit]:
    scores = {score.name: score for score in (*USAGE, *system_scores(experiment.system))}
    found: dict[str, MeasureUnit] = {}
    for name, measure in experiment.measures_by_name.items():
        if measure is None:
            score = scores[name]
            found[name] = MeasureUnit(
                label=score.heading, scale=score.scale, decimals=score.decimals, better=score.better
            )
        else:
            label = ", ".join([name.replace("_", " "), *([measure.unit] if measure.unit else [])])
            found[name] = MeasureUnit(label=label, scale=measure.scale, decimals=measure.decimals)
    return found


def default_settings(system: str) -> dict[str, Any]:
    """Return a system's defaults, without those that no result depends on."""
    defaults = find_system(system).load()
    base = type(defaults).model_validate(defaults.model_dump()).model_dump(mode="json")
    return _strip_without_effect(base)


_OF_TRAINED_MODELS = (
    *("model", "adapter", "weights", "served_as", "servers"),
    *("continue_prefix", "fold_system", "extra_body"),
)
"""Settings of a run that its training determines."""


def run_settings(
    runner: ExperimentRunner, runs: Iterable[tuple[PlannedRun, RunSettings]], defaults: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the settings of runs that differ from the system's defaults, and all of the trainings of their models.

    Args:
        runner: Plays the experiment.
        runs: Each run with its settings.
        defaults: The system's defaults; see ``default_settings``.

    Returns:
        Settings by the label of the run or training.
    """
    found: dict[str, dict[str, Any]] = {}
    for planned, settings in runs:
        own = nested_differences(_strip_without_effect(settings.model_dump(mode="json")), defaults)
        if planned.episodes is not None:
            # The training has played them, with the memory that it determines.
            own.pop("memory", None)
        elif planned.has_memory:
            own.setdefault("memory", {})["from"] = _memory_source(planned)
        if planned.model is not None:
            training, _ = planned.model
            found[training.label] = _strip_folders(runner.training_settings(*planned.model))
            # How the model was trained says more than where it was written, and by which server it was asked.
            for key in _OF_TRAINED_MODELS:
                own.get("models", {}).get("agent", {}).pop(key, None)
        found[planned.label] = own
    return found


def _strip_without_effect(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those that no result depends on."""
    memory = {key: value for key, value in settings["memory"].items() if key not in _OF_MEMORY_FOLDER}
    kept = {key: value for key, value in settings.items() if key != "execution"}
    found: dict[str, Any] = _strip_folders({**kept, "memory": memory})
    return found


def _memory_source(planned: PlannedRun) -> Any:
    """Return where the memory of a run comes from: label and number of notes of a run, or function and settings."""
    if planned.memory is not None:
        source, count = planned.memory
        return [source.label, count]
    assert planned.memory_function is not None
    return _strip_folders(planned.memory_function.model_dump(mode="json", include={"function", "settings"}))


def _strip_folders(value: Any) -> Any:
    """Return settings with absolute paths reduced to their last part, as in ``core.provenance``."""
    return map_texts(value, lambda text: Path(text).name if Path(text).is_absolute() else text)


def _adapters(runner: ExperimentRunner, runs: Iterable[Run]) -> dict[str, Any]:
    """Return the digests of the adapters that runs and functions name."""
    named = {run.settings.models.agent.adapter for run in runs}
    named |= {runner.function_settings(cell).get("adapter") for cell, _ in runner.grid.function_cells}
    return {Path(name).name: adapter_fingerprint(name) for name in sorted(filter(None, named))}
