"""All conditions from scratch, with a simulated person: the paper's table 2, figure 6, and trial 2.

    python -m housewise.experiments.stars.conditions [--task "tidy kitchen"] [--condition STARS] [--seed 1 --seed 2] \\
        [--adapter none --adapter 'runs/goals-{seed}/imitate/adapter'] [--out runs/conditions] [--json FILE]

Each condition, model and seed is a run of the system in a folder of its own, with its records; a run that was stopped
goes on where it was, and what the model said under one condition is not asked again under another. Beside them stand
doing nothing, and ``nearest``, a control that asks no model, alone and with the person. ``--adapter`` names models:
``none`` is the one as it comes, and ``{seed}`` in a folder stands for the seed. Trial 2 goes by what STARS+O has
learned, with a server that is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import typer

from housewise.agent.stars.data_files import TASKS
from housewise.agent.stars.experiment_conditions import CONDITIONS
from housewise.agent.stars.tasks import TaskObject
from housewise.core.configs import CONFIGS
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_text
from housewise.core.plots import new_figure
from housewise.core.record import Record
from housewise.core.yaml_files import read_yaml
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.experiments.results import Cell, Figure, Results, write
from housewise.experiments.stars.breakdown import category
from housewise.experiments.stars.rows import ASKING_CONTROL, CONTROL, NO_ADAPTER, TRIAL_2, Arm, ConditionRow, rows
from housewise.language.adapters import adapter_fingerprint
from housewise.selftrain.stars.held_out_objects import held_out_nouns
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.stars.record import RepairEvent, RetrievedEvent
from housewise.systems.stars.settings import StarsSettings
from housewise.systems.stars.system import Stars
from housewise.terminal.option_values import drop_unset
from housewise.terminal.options import BaseUrlOption, ConfigOption, ModelOption, Overrides, WorkersOption
from housewise.terminal.selftrain_progress import TrainingDisplay

HELD_OUT = "held_out_percent"
MEASURES = {
    "completion_percent": "task completion, %",
    "objects_percent": "objects in place, %",
    HELD_OUT: "objects never learned from in place, %",
    "viable_percent": "viable goals, %",
    "retrieved": "goals retrieved",
    "proposed": "questions",
    "sourced": "goals of the model used",
    "stated": "goals that the person stated",
    "instructions": "instructions",
    "words": "words of the person",
    "total_tokens": "tokens",
}
NOTHING = "doing nothing"
_QUICK_TASK, _QUICK_CONDITION = "organize office", "STARS+O"
_TEN_RUNS = ("completion_percent", "retrieved", "total_tokens")


class Conditions:
    """The table of conditions.

    Args:
        settings: what all rows have in common; its tasks are the columns.
        rows: see experiments.stars.rows.
        out: folder for everything.
    """

    def __init__(self, settings: StarsSettings, rows: Sequence[ConditionRow], out: Path) -> None:
        self._settings, self._rows, self._out = settings, rows, out
        self._stars = Stars(settings)

    def check(self) -> None:
        """Find what cannot work before anything is played.

        Raises:
            UserError: naming it.
        """
        for row in self._rows:
            row.prepare()
            Stars(row.settings(self._settings)).check()

    def play(self, observer: TrainingObserver) -> None:
        """Play what is missing, row after row.

        Raises:
            UserError: see Run; what is finished is kept.
        """
        for row in self._rows:
            row.play(self._settings, observer)

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks."""
        return [task.name for task in self._stars.tasks()]

    @cached_property
    def records_by_row(self) -> dict[tuple[str, str], dict[int, Record]]:
        """Records by label of the row and task, and then by seed."""
        found: dict[tuple[str, str], dict[int, Record]] = {}
        for row in self._rows:
            for record in row.records:
                if record.header.task in self.tasks:
                    found.setdefault((row.label, record.header.task), {})[row.seed] = record
        return found

    def results(self) -> list[Results]:
        """A table for each measure, of rows and tasks."""
        return [Results(title, list(self._cells(measure)), over="seeds") for measure, title in MEASURES.items()]

    def breakdown(self) -> list[Results]:
        """What retrieved goals are, in percent (STARS, figure 6): a table for each task."""
        found = [
            Results(f"{task}: what retrieved goals are, %", list(self._shares(task)), over="seeds")
            for task in self.tasks
        ]
        return [each for each in found if each.cells]

    def variation(self) -> list[Results]:
        """How STARS varies over seeds (STARS, table 3): mean and standard deviation, beside those of ten runs."""
        found = [
            Results(f"STARS over seeds: {MEASURES[measure]}", list(self._variation_cells(measure)), over="seeds")
            for measure in _TEN_RUNS
        ]
        return [each for each in found if each.cells]

    def extra_results(self) -> dict[str, Any]:
        """What the JSON file holds beside the tables."""
        adapters = {adapter for row in self._rows if (adapter := row.arm.adapter_of(row.seed)) is not None}
        return {
            "n": sum(map(len, self.records_by_row.values())),
            "seeds": sorted({row.seed for row in self._rows}),
            "settings": _shareable(self._settings),
            "adapters": [adapter_fingerprint(adapter) for adapter in sorted(adapters)],
            "floor": dict(zip(self.tasks, self._floors("completion_percent"), strict=True)),
            "figures": self._figures(),
            "breakdown": [each.content for each in self.breakdown()],
            "variation": [each.content for each in self.variation()],
        }

    def _cells(self, measure: str) -> Iterator[Cell]:
        for task, floor in zip(self.tasks, self._floors(measure), strict=False):
            yield Cell(NOTHING, task, Figure(floor, None, 1))
        condition = {row.label: row.condition for row in self._rows}
        for label, seeds in self._expected_seeds().items():
            for task in self.tasks:
                ours = Figure.from_episodes(self._by_seed(measure, label, task).items())
                beside = published_value(measure, task, condition[label])
                yield Cell(label, task, ours, None if beside is None else Figure(beside, None), expected=seeds)

    def _variation_cells(self, measure: str) -> Iterator[Cell]:
        for label in dict.fromkeys(row.label for row in self._rows if row.condition == "STARS"):
            for task in self.tasks:
                figures = list(self._by_seed(measure, label, task).values())
                told = _load_published()["ten_runs"][measure].get(task, (None, None))
                if len(figures) > 1:
                    for name, ours, theirs in zip(("mean", "sd"), (fmean(figures), stdev(figures)), told, strict=True):
                        published_value = None if theirs is None else Figure(theirs, None, 10)
                        yield Cell(label, f"{task}, {name}", Figure(ours, None, len(figures)), published_value)

    def _by_seed(self, measure: str, label: str, task: str) -> dict[int, float]:
        """A measure in each episode that has it."""
        figures = {
            seed: self._figure(measure, record) for seed, record in self.records_by_row.get((label, task), {}).items()
        }
        return {seed: figure for seed, figure in figures.items() if figure is not None}

    def _figure(self, measure: str, record: Record) -> float | None:
        if measure != HELD_OUT:
            return record.result.scores[measure]
        objects, places = self._held_out(record.header.task), record.result.final["places"]
        right = [places[about.thing.name] in about.wanted for about in objects]
        return 100 * fmean(right) if right else None

    def _held_out(self, task: str) -> list[TaskObject]:
        """The objects that no adapter has learned from."""
        room, _ = self._stars.reading(task)
        return [about for about in room.objects if about.thing.noun in held_out_nouns()]

    def _floors(self, measure: str) -> list[float]:
        """What doing nothing comes to, by task, where that is measured."""
        starts = [task.completion(task.start()) for task, _ in map(self._stars.reading, self.tasks)]
        placed = [100 * start.in_place / max(1, start.objects) for start in starts]
        found = {"completion_percent": [start.percent for start in starts], "objects_percent": placed}
        return found.get(measure, [])

    def _expected_seeds(self) -> Counter[str]:
        """How many seeds each line of the table has, in its order."""
        return Counter(row.label for row in self._rows)

    def _shares(self, task: str) -> Iterator[Cell]:
        counts = {label: self._count_categories(task, label) for label in self._expected_seeds()}
        names = dict.fromkeys(name for runs in counts.values() for each in runs.values() for name in each)
        for label, runs in counts.items():
            for name in names:
                if found := Figure.from_episodes(
                    (seed, 100 * each[name] / each.total()) for seed, each in runs.items()
                ):
                    yield Cell(label, name, found)

    def _count_categories(self, task: str, label: str) -> dict[int, Counter[str]]:
        """How many goals are of each category, by seed; none where no goals were retrieved."""
        runs = self.records_by_row.get((label, task), {})
        counts = {seed: self._categories(task, record) for seed, record in runs.items()}
        return {seed: each for seed, each in counts.items() if each}

    def _categories(self, task: str, record: Record) -> Counter[str]:
        """How many of an episode's goals are of each category."""
        room, analyser = self._stars.reading(task)
        found: Counter[str] = Counter()
        brought: list[RetrievedEvent | RepairEvent] = [*record.of_type(RetrievedEvent), *record.of_type(RepairEvent)]
        for event in brought:
            about = room[event.thing]
            situation = room.situation.with_focus(about.thing)
            found.update(category(analyser.analyse(line.text, situation), about) for line in event.responses)
        return found

    def _figures(self) -> dict[str, Any]:
        """By task, row and measure: the mean, the standard deviation over seeds, and the figure of each seed."""
        found: dict[str, Any] = {}
        for label, task in self.records_by_row:
            found.setdefault(task, {})[label] = {
                measure: _spread(figures) for measure in MEASURES if (figures := self._by_seed(measure, label, task))
            }
        return found


def published_value(measure: str, task: str, condition: str) -> float | None:
    """What STARS (arXiv 2306.06770) reports of a condition; None where it reports nothing."""
    value = _load_published().get(measure, {}).get(task, {}).get(condition)
    return None if value is None else float(value)


@lru_cache(maxsize=1)
def _load_published() -> Mapping[str, Any]:
    content: Mapping[str, Any] = read_yaml(CONFIGS / "published" / "stars.yaml")
    return content


def _spread(values: Mapping[int, float]) -> dict[str, Any]:
    numbers = list(values.values())
    deviation = stdev(numbers) if len(numbers) > 1 else None
    return {"mean": fmean(numbers), "sd": deviation, "by_seed": {str(seed): each for seed, each in values.items()}}


def _shareable(settings: StarsSettings) -> dict[str, Any]:
    """Settings without where things are on this machine, and without what each row sets."""
    hidden = {"base_url": True, "adapter": True}
    return settings.model_dump(
        mode="json",
        include={"tasks", "agent", "models"},
        exclude={"tasks": {"seed"}, "agent": {"condition"}, "models": {"agent": hidden, "person": hidden}},
    )


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    task: Annotated[list[str] | None, typer.Option(help="A task; may be given several times.")] = None,
    condition: Annotated[list[str] | None, typer.Option(help="A condition; may be given several times.")] = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    adapter: Annotated[
        list[str] | None,
        typer.Option(help="An adapter by name or folder, or none; may be given several times."),
    ] = None,
    seeds: Annotated[
        list[int] | None, typer.Option("--seed", min=0, help="Of what is drawn; may be given several times.")
    ] = None,
    workers: WorkersOption = None,
    show: Annotated[bool, typer.Option("--show", help="Play nothing: tabulate what is there.")] = False,
    quick: QuickOption = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for everything, gone on with; runs/conditions, or runs/conditions-quick."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the JSON file there as well.")
    ] = None,
) -> None:
    """Play conditions from scratch and tabulate them.

    Examples:

      python -m housewise.experiments.stars.conditions --task "organize office" --condition STARS --condition STARS+O

      python -m housewise.experiments.stars.conditions --adapter none --adapter 'runs/goals-{seed}/imitate/adapter'
    """
    if quick:
        task, condition, seeds = task or [_QUICK_TASK], condition or [CONTROL, _QUICK_CONDITION], seeds or [1]
        say_left_out(quick, f"{task[0]}, {' and '.join(condition)} and one seed, unless others are named")
    out = out or Path("runs/conditions-quick" if quick else "runs/conditions")
    options = {"task": task or list(TASKS), "model": model, "base_url": base_url, "workers": workers}
    settings = Stars.load(config, drop_unset(options), overrides or [])
    chosen = condition or [CONTROL, ASKING_CONTROL, *(name for name in CONDITIONS if name != CONTROL), TRIAL_2]
    arms = list(dict.fromkeys(map(Arm.from_adapter, adapter or [NO_ADAPTER])))
    found = Conditions(settings, rows(chosen, arms, seeds or [1, 2, 3], out), out)
    console = Console()
    found.check()
    # Now rather than after hours of playing.
    new_figure(1, 1)
    try:
        if not show:
            found.play(TrainingDisplay(console))
    finally:
        results = found.results()
        for each in (*results, *found.breakdown(), *found.variation()):
            each.show(console)
        paths = write(results, out, "conditions", found.extra_results(), results[:1])
        if json_file is not None:
            write_text(json_file, (out / "conditions.json").read_text(encoding="utf-8"))
            paths.append(json_file)
        console.print(f"written: {', '.join(map(str, paths))}", soft_wrap=True)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
