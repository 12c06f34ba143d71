"""Understanding of answers in human words: which option does an AmbiK annotator's answer mean?

    python -m housewise.experiments.clipr.understanding --scenarios FILE [--json OUT] [--cross-validate]

What is right comes from the annotator's marked intent, never from the answer: an answer is understood where the option
read from it meets the intent, or where it is read as none of them and none meets it. Beside it stand the share of
answers of which exactly the intended options were read, and controls without any understanding. ``--cross-validate``
chooses the two weights of the reader on four fifths of the tasks and scores the other fifth, five times over.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from housewise.agent.clipr.local_steps.answer_meaning import MeaningWeights, find_meant_options
from housewise.core.errors import DataError, UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.language.embedder import MiniLM
from housewise.language.words import content_words
from housewise.worlds.choices.ambik import AmbikTask, intended_options, read_ambik

GRID = tuple(
    MeaningWeights(meaning, least) for meaning in (0.0, 0.25, 0.5, 1.0) for least in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
)
FOLDS = 5
SEED = 0

Read = Callable[[AmbikTask], tuple[int, ...]]


def is_understood(task: AmbikTask, read: Sequence[int]) -> bool:
    """Whether the option read first meets the intent; with none intended, whether none was read."""
    right = intended_options(task)
    return read[0] in right if read and right else not read and not right


def scores(tasks: Sequence[AmbikTask], read: Read) -> dict[str, float]:
    """Shares of tasks of which the answer was understood: all, those where an option meets the intent, and exactly."""
    answered = [(task, read(task)) for task in tasks]
    some = [(task, options) for task, options in answered if intended_options(task)]
    return {
        "accuracy": _share([is_understood(task, options) for task, options in answered]),
        "accuracy_where_an_option_is_intended": _share([is_understood(task, options) for task, options in some]),
        "exactly_the_intended_options": _share([set(options) == intended_options(task) for task, options in answered]),
    }


def cross_validated(tasks: Sequence[AmbikTask], embedder: MiniLM) -> dict[str, Any]:
    """Accuracy on fifths for which the weights were chosen on the other four; ties go to the middle of the best."""
    order = random.Random(SEED).sample(list(tasks), len(tasks))
    right, chosen = 0, []
    for fold in range(FOLDS):
        held, rest = order[fold::FOLDS], [task for place, task in enumerate(order) if place % FOLDS != fold]
        counts = [sum(is_understood(task, _read(embedder, reader)(task)) for task in rest) for reader in GRID]
        best = [reader for reader, count in zip(GRID, counts, strict=True) if count == max(counts)]
        reader = best[len(best) // 2]
        chosen.append(asdict(reader))
        right += sum(is_understood(task, _read(embedder, reader)(task)) for task in held)
    return {"accuracy": right / len(order), "folds": FOLDS, "chosen": chosen}


def controls(tasks: Sequence[AmbikTask]) -> dict[str, Read]:
    """Readers that understand nothing: the first option, and the one with the most words in common with the answer."""
    return {
        "first option": lambda task: (0,),
        "most words in common": lambda task: (
            max(
                range(len(task.variants)),
                key=lambda index: len(set(content_words(task.variants[index])) & set(content_words(task.answer))),
            ),
        ),
    }


def main(
    scenarios: Annotated[Path, typer.Option(help="AmbiK's preference tasks, one JSON object a line.")],
    out: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go.")
    ] = None,
    cross_validate: Annotated[bool, typer.Option(help="Choose the weights on other tasks than those scored.")] = False,
) -> None:
    """Measure how well answers are understood."""
    console, made = Console(), provenance()
    try:
        tasks = [task for task in read_ambik(scenarios) if len(task.variants) > 1]
        if not tasks:
            raise DataError(f"{scenarios}: no task has options to choose from; give AmbiK's preference tasks")
        embedder = MiniLM()
    except UserError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    reader = MeaningWeights()
    rows = {"words and meaning": scores(tasks, _read(embedder, reader))}
    rows |= {name: scores(tasks, read) for name, read in controls(tasks).items()}
    figures: dict[str, Any] = {
        **rows["words and meaning"],
        "n": len(tasks),
        "n_where_an_option_is_intended": sum(bool(intended_options(task)) for task in tasks),
        "reader": asdict(reader),
        "embedder": embedder.name,
        "controls": {name: row for name, row in rows.items() if name != "words and meaning"},
    }
    if cross_validate:
        figures["cross_validated"] = cross_validated(tasks, embedder)
        rows["cross-validated"] = {"accuracy": figures["cross_validated"]["accuracy"]}
    console.print(_table(rows, len(tasks)))
    if out is not None:
        write_json(out, {**figures, **made})


def _read(embedder: MiniLM, reader: MeaningWeights) -> Read:
    return lambda task: find_meant_options(embedder, task.answer, task.variants, reader).options


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0


def _table(rows: dict[str, dict[str, float]], count: int) -> Table:
    shown = Table(title=f"Answers understood, % of {count}")
    for name in ("", "accuracy", "where an option is intended", "exactly the intended options"):
        shown.add_column(name, justify="right" if name else "left")
    for name, row in rows.items():
        shown.add_row(name, *(f"{100 * value:.1f}" for value in row.values()))
    return shown


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
