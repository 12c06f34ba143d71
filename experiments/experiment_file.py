"""Experiment files: a grid of runs, the measures over their episodes, and the table to make of them.

An experiment file is YAML. ``docs/experiments.md`` explains it with examples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from typing_extensions import Self

from housewise.core.errors import UserError, suggest_names
from housewise.core.plugins import SYSTEMS, plugin_names
from housewise.core.settings import Settings, check_known_name
from housewise.experiments.published import Published
from housewise.experiments.run_sources import FunctionName, MemorySource, ModelSource, Name

TEST = "test"
"""Name of the run of an experiment that names none."""
SEED = "seed"
"""Axis whose levels may be plain numbers. Each is a number of the random stream."""
MEASURE = "measure"
"""Stands for the measures among the axes of a table."""
_RUNS = "runs"
_RESERVED = frozenset({"run", "task", "repeat", MEASURE, "value", "weight", "error", "count"})
"""Columns of results tables that are no axes."""


def _expand_memory(given: Any) -> Any:
    return {"run": given} if isinstance(given, str) else given


class RunChanges(Settings):
    """What a level of an axis changes about a run.

    Attributes:
        settings: Settings by key.
        memory: The memory that the run starts from, the name of the run that leaves it, or null for an empty one.
        model: A trained model to ask.
        skip: Whether the run is not played.
        axes: Axes that the run depends on. None is all of them, or those that its template names.
        unchanged_at: Levels of other axes, all together, at which the level makes no difference to the run. It is then
            the run of a cell without the level's axis, which experiments without that axis share.
    """

    settings: dict[str, Any] = Field(default_factory=dict)
    axes: tuple[Name, ...] | None = None
    memory: Annotated[MemorySource | None, BeforeValidator(_expand_memory)] = None
    model: ModelSource | None = None
    skip: bool = False
    unchanged_at: dict[Name, Name] = Field(default_factory=dict)


class RunTemplate(RunChanges):
    """A run of the grid. It is played once for each combination of levels of its axes.

    Attributes:
        learns: Whether the run's reactions are added to a copy of its memory, which later runs can start from.
        measured: Whether its episodes are part of the results. None is true for the last run.
    """

    learns: bool = False
    measured: bool | None = None


class TrainingTemplate(Settings):
    """A training whose models are asked by runs.

    Attributes:
        config: Recipe: the name of a bundled configuration, or a file. None is the default recipe.
        settings: Settings of the training by key.
        axes: Axes that the training depends on.
    """

    config: Path | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    axes: tuple[Name, ...] = ()


class Level(Settings):
    """One of the values of an axis.

    Attributes:
        settings: Settings of every run that depends on the axis.
        runs: Further changes by run.
        trainings: Settings of trainings that depend on the axis, by training.
        function: ``module:function`` that measures in place of runs; see ``Experiment.function``.
        needs: Optional Python modules. Without them, the level is left out.
        task_pattern: Pattern of the names of tasks, such as ``*__power-*``, whose episodes are measured. Such a level
            only selects: the run is played once for all of them, and whole.
    """

    settings: dict[str, Any] = Field(default_factory=dict)
    runs: dict[Name, RunChanges] = Field(default_factory=dict)
    trainings: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    function: FunctionName | None = None
    needs: tuple[str, ...] = ()
    task_pattern: str | None = None

    @model_validator(mode="after")
    def _check_pattern(self) -> Self:
        if self.task_pattern is not None and (self.settings or self.runs or self.trainings or self.function):
            raise ValueError("a level with task_pattern shares its run with others; it can change nothing else")
        return self


class Measure(Settings):
    """A measure that a Python function takes.

    Attributes:
        function: ``module:function``, which takes the record of an episode and returns a number, or a number and its
            weight in means, or None. It is also given the memory that the run started from if it has a parameter
            ``memory``. None where the experiment's own function measures.
        unit: Unit in tables.
        scale: Factor from values to tables: 100 for a share in percent.
        decimals: Number of decimals in tables.
    """

    function: FunctionName | None = None
    unit: str = ""
    scale: float = 1.0
    decimals: int = Field(default=1, ge=0, le=6)


class Input(Settings):
    """A file or folder of the user. ``${NAME}`` stands for its path in settings.

    Attributes:
        description: What it is, and where it is from.
        environment: Environment variable that may hold its path.
    """

    description: str
    environment: str | None = None


class TableLayout(Settings):
    """Layout of the printed table.

    Attributes:
        rows: Axes of the rows; ``measure`` stands for the measures.
        columns: Axes of the columns.
        errors: What standard errors are over: tasks, or episodes, for experiments whose episodes of a task differ in
            what they draw as much as tasks do, or both.
        total: Heading of a last row over all rows. None leaves it out.
    """

    rows: tuple[Name, ...] = ()
    columns: tuple[Name, ...] = ()
    errors: Literal["tasks", "episodes", "both"] = "tasks"
    total: Name | None = None

    @model_validator(mode="after")
    def _check_total(self) -> Self:
        if self.total is not None and (not self.rows or MEASURE in self.rows):
            raise ValueError(f"total: needs rows of axes, without {MEASURE!r}; leave it out")
        return self


def _expand_levels(given: Any) -> Any:
    """Return the levels of an axis by name. A list holds seeds; a level without sections holds settings."""
    if isinstance(given, list):
        if twice := [value for value in given if given.count(value) > 1]:
            raise ValueError(f"{twice[0]} is listed twice; list it once")
        return {str(value): {"settings": {"rng_stream": value}} for value in given}
    if not isinstance(given, Mapping):
        return given
    known = Level.model_fields.keys()
    return {
        str(name): level if not isinstance(level, Mapping) or known & level.keys() else {"settings": level}
        for name, level in ((name, {} if level is None else level) for name, level in given.items())
    }


Axis = Annotated[dict[Name, Level], BeforeValidator(_expand_levels), Field(min_length=1)]


def _wrap_single_level(given: Any) -> Any:
    return tuple(map(str, given)) if isinstance(given, list | tuple) else (str(given),)


class Quick(Settings):
    """What ``--quick`` changes, to show in at most three minutes that an experiment runs.

    Attributes:
        settings: Settings of every run.
        axes: Names of the levels that are kept, by axis. All levels of other axes are kept.
        trainings: Settings of trainings.
    """

    settings: dict[str, Any] = Field(default_factory=dict)
    axes: dict[Name, tuple[Annotated[Name, BeforeValidator(str)], ...]] = Field(default_factory=dict)
    trainings: dict[Name, dict[str, Any]] = Field(default_factory=dict)


class Experiment(Settings):
    """An experiment, as its file says.

    Attributes:
        title: Title of the table.
        shows: What the table shows, in one sentence.
        duration: About how long it takes, and on what.
        system: System of the runs.
        inputs: Files and folders of the user, by name.
        config: Configuration that the settings of every run start from: the name of a bundled one, or a file.
        settings: Settings of every run.
        axes: Levels of each axis of the grid.
        trainings: Trainings by name.
        runs: Runs by name, in the order in which they depend on each other.
        function: ``module:function`` that measures without runs. It is called once for each combination of levels,
            with their settings as arguments, and yields a ``MeasuredValue`` for each measure of each task.
        include: Combinations of levels, by axis, outside of which no run is measured. None includes all.
        exclude: Combinations of levels, by axis, whose runs are not measured.
        measures: Scores of the system by name, or functions by the name of their measure.
        table: Layout of the printed table.
        compare: Level or levels by axis that the other levels are compared with, episode by episode.
        published: Published values that stand beside ours.
        folder: Name of the folder of the runs. Experiments with the same folder share their equal runs.
        notes: Notes below the table.
        quick: What ``--quick`` changes.
    """

    title: str
    shows: str
    duration: str = ""
    system: Annotated[str, AfterValidator(lambda name: check_known_name(name, plugin_names(SYSTEMS)))]
    inputs: dict[Name, Input] = Field(default_factory=dict)
    config: Path | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    axes: dict[Name, Axis] = Field(min_length=1)
    trainings: dict[Name, TrainingTemplate] = Field(default_factory=dict)
    runs: dict[Name, RunTemplate] = Field(default_factory=lambda: {TEST: RunTemplate()}, min_length=1)
    function: FunctionName | None = None
    include: tuple[dict[Name, Annotated[Name, BeforeValidator(str)]], ...] | None = None
    exclude: tuple[dict[Name, Annotated[Name, BeforeValidator(str)]], ...] = ()
    measures: tuple[str | dict[Name, Measure], ...] = Field(min_length=1)
    table: TableLayout = TableLayout()
    compare: dict[Name, Annotated[tuple[Name, ...], BeforeValidator(_wrap_single_level)]] = Field(default_factory=dict)
    published: Published | None = None
    folder: str | None = None
    notes: tuple[str, ...] = ()
    quick: Quick = Quick()

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        known_axes, known_runs = tuple(self.axes), tuple(self.runs)
        if taken := sorted(_RESERVED & self.axes.keys()):
            raise ValueError(f"axes: {taken[0]!r} is a column of every results table; give the axis another name")
        names = [name for each in self.measures for name in ([each] if isinstance(each, str) else each)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"measures: {twice[0]} is named twice; name it once")
        for what, name in self._named_axes():
            _check(name, known_axes, what)
        for what, axis, level in self._named_levels():
            _check(axis, known_axes, what)
            _check(level, tuple(self.axes[axis]), f"{what}: axis {axis}")
        for axis, levels in self.axes.items():
            for name, changes in levels.items():
                for run, its in changes.runs.items():
                    _check(run, known_runs, f"axes.{axis}.{name}.{_RUNS}")
                    for other in its.axes or ():
                        _check(other, known_axes, f"axes.{axis}.{name}.{_RUNS}.{run}.axes")
                for training in changes.trainings:
                    _check(training, tuple(self.trainings), f"axes.{axis}.{name}.trainings")
        self._check_sources()
        self._check_levels_differ()
        return self

    def _named_axes(self) -> Iterator[tuple[str, str]]:
        for kind, templates in ((_RUNS, self.runs), ("trainings", self.trainings)):
            for name, template in templates.items():
                yield from ((f"{kind}.{name}.axes", axis) for axis in template.axes or ())
        if self.published is not None:
            keys = {key for _, key, _, _ in Formatter().parse(self.published.address) if key}
            yield from (("published.address", axis) for axis in sorted(keys - {MEASURE}))
            yield from (("published.names", axis) for axis in self.published.names if axis != MEASURE)
        for part in ("rows", "columns"):
            yield from ((f"table.{part}", axis) for axis in getattr(self.table, part) if axis != MEASURE)

    def _named_levels(self) -> Iterator[tuple[str, str, str]]:
        for part, combinations in (("include", self.include), ("exclude", self.exclude)):
            for number, combination in enumerate(combinations or ()):
                yield from ((f"{part}.{number}", *pair) for pair in combination.items())
        yield from (("compare", axis, base) for axis, bases in self.compare.items() for base in bases)
        yield from (("published.beside", *pair) for pair in (self.published.beside if self.published else {}).items())
        yield from (("quick.axes", axis, level) for axis, levels in self.quick.axes.items() for level in levels)
        yield from self._unchanged_levels()
        for run, source in self._sources():
            played = source.episodes if isinstance(source, ModelSource) else None
            yield from ((f"{_RUNS}.{run}.model.episodes", *pair) for pair in (played.at if played else {}).items())
            for axis, level in source.at.items():
                named = [*level, *level.values()] if isinstance(level, dict) else [level] if "{" not in level else []
                yield from ((f"{_RUNS}.{run}", axis, each) for each in named)

    def _unchanged_levels(self) -> Iterator[tuple[str, str, str]]:
        for axis, levels in self.axes.items():
            for name, level in levels.items():
                for run, changes in level.runs.items():
                    where = f"axes.{axis}.{name}.{_RUNS}.{run}.unchanged_at"
                    yield from ((where, *pair) for pair in changes.unchanged_at.items())

    def _sources(self) -> Iterator[tuple[str, MemorySource | ModelSource]]:
        changed = [pair for levels in self.axes.values() for level in levels.values() for pair in level.runs.items()]
        for name, changes in [*self.runs.items(), *changed]:
            yield from ((name, source) for source in (changes.memory, changes.model) if source is not None)

    def _check_sources(self) -> None:
        order = list(self.runs)
        for name, source in self._sources():
            if isinstance(source, ModelSource):
                if source.training is not None:
                    _check(source.training, tuple(self.trainings), f"{_RUNS}.{name}.model.training")
            elif source.run is not None:
                _check(source.run, order, f"{_RUNS}.{name}.memory")
                if order.index(source.run) >= order.index(name):
                    raise ValueError(f"{_RUNS}.{name}.memory: {source.run} has to stand before {name}")
                if not self.runs[source.run].learns:
                    raise ValueError(f"{_RUNS}.{name}.memory: {source.run} leaves no memory; give it learns: true")

    def _check_levels_differ(self) -> None:
        sources = [pair for _, source in self._sources() for pair in source.at.items()]
        for axis, levels in self.axes.items():
            if any((isinstance(level, dict) and axis == other) or f"{{{axis}}}" in level for other, level in sources):
                continue
            seen: dict[str, str] = {}
            for name, level in levels.items():
                other = seen.setdefault(level.model_dump_json(), name)
                if other != name and len(levels) > 1:
                    raise ValueError(f"axes.{axis}: {other} and {name} are the same; leave one of them out")

    @property
    def measures_by_name(self) -> dict[str, Measure | None]:
        """Measures by name; None for a score of the system."""
        named: dict[str, Measure | None] = {}
        for each in self.measures:
            named |= {each: None} if isinstance(each, str) else each
        return named

    @property
    def measured_runs(self) -> list[str]:
        """Names of the runs whose episodes are part of the results."""
        named = [name for name, run in self.runs.items() if run.measured]
        return named or [list(self.runs)[-1]]

    def axes_of(self, template: RunTemplate | TrainingTemplate) -> tuple[str, ...]:
        """Return the axes that a run or a training depends on, in the order of the file."""
        return tuple(axis for axis in self.axes if template.axes is None or axis in template.axes)

    def with_levels(self, chosen: Mapping[str, Collection[str]]) -> Self:
        """Return the experiment with some of its levels.

        Args:
            chosen: Levels that are kept, by axis. All levels of other axes are kept.

        Raises:
            UserError: There is no such axis or level.
        """
        for axis, names in chosen.items():
            if axis not in self.axes:
                raise UserError(f"no axis {axis!r}; {suggest_names(axis, list(self.axes))}")
            for name in names:
                if name not in self.axes[axis]:
                    raise UserError(f"axis {axis}: no level {name!r}; {suggest_names(name, list(self.axes[axis]))}")
        kept = {
            axis: {name: level for name, level in levels.items() if name in chosen.get(axis, levels)}
            for axis, levels in self.axes.items()
        }
        return self.model_copy(update={"axes": kept})

    def for_quick(self, chosen: Mapping[str, Collection[str]]) -> Self:
        """Return the experiment with the levels and settings of ``--quick``.

        Args:
            chosen: Levels that are kept in place of those, by axis.
        """
        trainings = {
            name: each.model_copy(update={"settings": each.settings | self.quick.trainings.get(name, {})})
            for name, each in self.trainings.items()
        }
        return self.with_levels({**self.quick.axes, **chosen}).model_copy(update={"trainings": trainings})


def _check(name: str, known: tuple[str, ...] | list[str], where: str) -> None:
    if name not in known:
        raise ValueError(f"{where}: no {name!r}; {suggest_names(name, list(known))}")
