"""What a memory of a person is worth at breakfast: to a model, and to scripted cooks without one.

    python -m housewise.experiments.adapt.remembering [--adapter breakfast] [--person maya ...] --json OUT

Each cook prepares, for every person, all tasks one after the other, going by what was answered before, and the same
breakfasts without a memory; each task three times in other scenes; and at last all tasks in new scenes without asking,
with the person's own answers, with the next person's, and with none. The scripted cooks are the control: the same
answers and no language model. They see the scene without looking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.record import Record
from housewise.core.tables import FittedTable, table
from housewise.experiments.adapt.figures import figures, in_words, paired_differences
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.selftrain.adapt.adapt_training import play
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.system import Adapt
from housewise.terminal.selftrain_progress import TrainingDisplay
from housewise.worlds.kitchen.kitchen_data import load_kitchen

BREAKFASTS = 3  # of the same task
OWN, ANOTHER, NOBODY = "their own answers", "the next person's", "none"
WITH, WITHOUT = "with a memory", "without"
AFTER_FIRST = "after the first"
SCRIPTED, MODEL = "scripted", "model"
OUT = Path("runs/adapt-remembering")
_NOTHING: Mapping[str, Any] = {"learn": "never"}
_QUICK_PEOPLE, _QUICK_TASKS = ("maya", "ron"), (1, 2)
_SERIES = 2  # in other scenes than those of trainings (0) and of the main results (1)


class Cook:
    """Who prepares breakfasts for some people, from day to day.

    Args:
        name: of the row.
        settings: of all of its breakfasts.
        folder: of their runs.
        observer: told of everything.
    """

    def __init__(self, name: str, settings: AdaptSettings, folder: Path, observer: TrainingObserver) -> None:
        self.name, self._settings, self._folder, self._observer = name, settings, folder, observer
        self._numbers = settings.tasks.task or tuple(load_kitchen().tasks.tasks)

    def other_tasks(self) -> dict[str, Any]:
        """The n-th breakfast of everybody, each of another task, with a memory and without, in the same scenes."""
        played = {WITH: self._day_after_day, WITHOUT: self._play("without", memory=_NOTHING)}
        days = {f"breakfast {place}": (number,) for place, number in enumerate(self._numbers, start=1)}
        found: dict[str, Any] = {}
        for name, numbers in {**days, AFTER_FIRST: self._numbers[1:]}.items():
            sides = {side: _of_tasks(records, numbers) for side, records in played.items()}
            rows = {side: figures(records) for side, records in sides.items()}
            found[name] = {**rows, "more": paired_differences(sides[WITH], sides[WITHOUT])}
        return found

    def same_task(self) -> dict[str, Any]:
        """The n-th breakfast of everybody, each of the same task in another scene, over all tasks."""
        records = [
            record
            for number in self._numbers
            for record in self._play(f"same-task-{number}", task=(number,), repeats=BREAKFASTS)
        ]
        return {
            f"breakfast {run + 1}": figures([record for record in records if record.header.repetition == run])
            for run in range(BREAKFASTS)
        }

    def whose(self) -> dict[str, Any]:
        """All tasks in new scenes without asking, by whose answers the cook goes."""
        people = list(dict.fromkeys(record.header.person for record in self._day_after_day))
        played: dict[str, list[Record]] = {OWN: [], ANOTHER: []}
        for index, person in enumerate(people):
            following = people[(index + 1) % len(people)]
            for whose, name in ((OWN, person), (ANOTHER, following)):
                memory = {**_NOTHING, "start": name, "folder": str(self._folder / "day-after-day" / "memory")}
                folder = f"quiet-{whose.replace(' ', '-')}-{person}"
                played[whose] += self._play(folder, person=(person,), memory=memory, **self._quiet)
        played[NOBODY] = self._play("quiet-none", memory=_NOTHING, **self._quiet)
        return {
            **{whose: figures(records) for whose, records in played.items()},
            "own more than": {other: paired_differences(played[OWN], played[other]) for other in (ANOTHER, NOBODY)},
        }

    @property
    def _quiet(self) -> Mapping[str, Any]:
        # In other scenes than those in which was asked.
        chosen, series = self._settings.agent, self._settings.tasks.rng_stream + 1
        asks = {"asking": "never"} if chosen.planner == "llm" else {"planner": "never"}
        return {**asks, "rng_stream": series}

    @cached_property
    def _day_after_day(self) -> list[Record]:
        """All tasks in turn, going by what was answered before; the run keeps the memories that come of it."""
        return self._play("day-after-day")

    def _play(self, folder: str, **changes: Any) -> list[Record]:
        """Breakfasts, or what is left of them."""
        title = f"{self.name}: {folder.replace('-', ' ')}"
        return play(title, self._settings.with_changes(**changes), self._folder / folder, self._observer)


def _of_tasks(records: Iterable[Record], numbers: Sequence[int]) -> list[Record]:
    return [record for record in records if record.header.initial_state["number"] in numbers]


def results_table(cooks: Mapping[str, Mapping[str, Any]]) -> FittedTable:
    """The table: every cook's breakfasts."""
    lines = []
    for cook, parts in cooks.items():
        for name, sides in parts["other_tasks"].items():
            lines += [(cook, f"other tasks, {name}, {side}", *_words(sides[side])) for side in (WITH, WITHOUT)]
        lines += [(cook, f"same task, {name}", *_words(row)) for name, row in parts["same_task"].items()]
        lines += [(cook, f"no questions, {whose}", *_words(parts["whose"][whose])) for whose in (OWN, ANOTHER, NOBODY)]
    return table("with and without a memory, ± standard error", ("cook", "", "satisfied, %", "asked", "n"), lines)


def _words(row: Mapping[str, Any]) -> tuple[str, str, str]:
    rate, asked = row["satisfaction"], row["questions"]
    return in_words(rate, 100), f"{asked['mean']:.1f}", str(row["n"])


def _cooks(base: AdaptSettings, model: Mapping[str, Any], out: Path, observer: TrainingObserver) -> list[Cook]:
    """The scripted control, and the model where one is named."""
    # Workers of scripted cooks are processes, which take longer to begin than breakfasts do.
    scripted = base.with_changes(planner="always", workers=1, models=AdaptSettings().models.model_dump())
    cooks = [Cook(SCRIPTED, scripted, out / SCRIPTED, observer)]
    if model:
        cooks.append(Cook(MODEL, base, out / MODEL, observer))
    return cooks


def _shareable(settings: AdaptSettings) -> dict[str, Any]:
    """Settings without where things are on this machine."""
    found = settings.model_dump(mode="json", include={"tasks", "agent", "models"}, exclude={"tasks": {"people"}})
    asked = {**found["models"]["agent"], "base_url": None}
    named = {key: "/".join(Path(asked[key]).parts[-2:]) for key in ("model", "adapter") if asked[key]}
    return found | {"models": {"agent": asked | named}}


def main(
    people: Annotated[Path | None, typer.Option(help="File or folder of people; the sixteen of ADAPT.")] = None,
    person: Annotated[list[str] | None, typer.Option(help="Only this person; at least two.")] = None,
    task: Annotated[list[int] | None, typer.Option(help="Number of a task; all of them without it.")] = None,
    model: Annotated[str | None, typer.Option(help="A chat model, or local; scripted cooks alone without it.")] = None,
    adapter: Annotated[str | None, typer.Option(help="Of the local model, as in breakfast.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Server of the chat model.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Breakfasts at a time, which a local model cooks together.")] = 16,
    quick: QuickOption = False,
    out: Annotated[
        Path | None, typer.Option(help=f"Folder of everything, gone on with; {OUT}, or {OUT}-quick.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, as in max_questions=5.")] = None,
) -> None:
    """Compare breakfasts with and without a memory, and with another person's.

    Examples:

      python -m housewise.experiments.adapt.remembering --json remembering.json

      python -m housewise.experiments.adapt.remembering --adapter breakfast --person maya --person ron
    """
    console, made = Console(highlight=False), provenance()
    if quick:
        person, task = person or list(_QUICK_PEOPLE), task or list(_QUICK_TASKS)
        say_left_out(quick, f"{' and '.join(person)}, and tasks {', '.join(map(str, task))}, unless others are named")
    asked = {key: value for key, value in (("model", model), ("adapter", adapter), ("base_url", base_url)) if value}
    chosen = {"people": str(people) if people else None, "person": person or (), "task": task or ()}
    tasks = {**chosen, "rng_stream": _SERIES}
    settings = {"tasks": tasks, "models": {"agent": asked}, "execution": {"workers": workers}}
    base = Adapt.load(settings=settings, overrides=overrides or ())
    if len({each.person for each in Adapt(base).tasks()}) < 2:
        raise UserError("--person: memories are swapped, which takes two people or more")
    out = out or (OUT.with_name(f"{OUT.name}-quick") if quick else OUT)
    cooks = _cooks(base, asked, out, TrainingDisplay(console))
    found = {
        cook.name: {"other_tasks": cook.other_tasks(), "same_task": cook.same_task(), "whose": cook.whose()}
        for cook in cooks
    }
    console.print(results_table(found))
    if json_file is not None:
        write_json(json_file, {**found, "quick": quick, "settings": _shareable(base), **made})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
