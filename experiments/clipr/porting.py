"""Rules that one model wrote, followed by another.

    python -m housewise.experiments.clipr.porting [--ambik FILE] [--introplan FILE] [--adapter FOLDER]
        [--model NAME ...] [--seeds 5] [--json OUT]

Every author asks the same person and writes rules; everybody follows the rules of every author, and none at all.
Authors are the local components and each chat model that is named; those who follow also the local model as it comes
and, with ``--adapter``, the one that was taught to choose by rules. Examples, order of the test and shuffling are drawn
by the seed, as in the main table.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer
from rich.table import Table

from housewise.agent.clipr.action_choice import Inference, accuracy
from housewise.agent.clipr.elicitation import learn_rules
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.rules import Rule
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.experiments.clipr import controls
from housewise.experiments.clipr.components import Components, KeptOption, Opener, language_opener, learned_opener
from housewise.experiments.clipr.main_results import (
    BUDGET,
    AnnotatorsOption,
    DataOption,
    choice_sets,
    standard_error_of,
)
from housewise.language.adapters import adapter_fingerprint
from housewise.language.embedder import MiniLM
from housewise.people.choices.house_profiles import find_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.people.speech import UNSEEN_SPEECH_FILE
from housewise.worlds.choices.scenario import ChoiceSet

LOCAL, AS_IT_COMES, LEARNED, NOBODY = "local components", "local model as it comes", "learned", "no rules"

Openers = Mapping[str, Opener]


def matrix(
    choices: ChoiceSet, authors: Openers, followers: Openers, embedder: MiniLM, seed: int
) -> dict[str, dict[str, float]]:
    """Accuracy by author and by who follows, on one data set with one seed."""
    test = tuple(random.Random(seed).sample(choices.test, len(choices.test)))
    situations = [example.situation for example in choices.examples]
    written: dict[str, tuple[Rule, ...]] = {NOBODY: ()}
    for name, opened in authors.items():
        person = ChoicesRespondent(find_profile(choices), embedder, seed, speech=UNSEEN_SPEECH_FILE)
        written[name] = learn_rules(opened(choices.name), person, situations, BUDGET[choices.name])[1]
    return {
        author: {
            name: accuracy(Inference(opened(choices.name), seed=seed).decide(test, Guidance(rules=rules)))
            for name, opened in followers.items()
        }
        for author, rules in written.items()
    }


def main(
    ambik: Annotated[Path | None, typer.Option(help="AmbiK's preference tasks, one JSON object a line.")] = None,
    introplan: Annotated[Path | None, typer.Option(help="IntroPlan's scenes, one JSON object a line.")] = None,
    annotators: AnnotatorsOption = None,
    data: DataOption = None,
    adapter: Annotated[str | None, typer.Option(help="Of a local model that was taught to choose by rules.")] = None,
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A chat model; may be given several times.")
    ] = None,
    as_it_comes: Annotated[bool, typer.Option(help="Whether the local model follows untaught as well.")] = True,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 5,
    kept: KeptOption = None,
    out: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go.")
    ] = None,
) -> None:
    """Measure how well each follows the rules of every author."""
    console, made, embedder = Console(), provenance(), MiniLM()
    if not console.is_terminal:
        console.width = 160
    sets = choice_sets(ambik, introplan, seeds, annotators, data)
    authors = {LOCAL: language_opener(Components.local, "", embedder)}
    authors |= {name: language_opener(Components.chat, name, embedder) for name in models or ()}
    followers = dict(authors)
    if as_it_comes:
        followers[AS_IT_COMES] = learned_opener(None, embedder, kept)
    if adapter:
        followers[LEARNED] = learned_opener(adapter, embedder, kept)
    found: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    beside: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed, row in enumerate(sets):
        for choices in row:
            for name, figure in controls.control_accuracies(choices).items():
                beside[choices.name][name].append(figure)
            with console.status(f"{choices.name}, seed {seed + 1} of {len(sets)}"):
                measured = matrix(choices, authors, followers, embedder, seed)
            for author, figures in measured.items():
                for name, figure in figures.items():
                    found[choices.name][author][name].append(figure)
        told = {name: _summarise_rows(rows) for name, rows in found.items()}
        if out is not None:
            taught = adapter_fingerprint(adapter) if adapter else None
            shares = {"accuracy": told, "controls": _summarise_rows(beside)}
            write_json(out, {"seeds": seed + 1, "adapter": taught, **shares, **made})
    for name, rows in told.items():
        console.print(_table(name, rows, list(followers), seeds))
        lines = [f"{each}: {100 * row['mean']:.1f}" for each, row in _summarise_rows(beside)[name].items()]
        console.print("without a language model: " + ", ".join(lines), soft_wrap=True)


def _summarise_rows(rows: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, dict[str, Any]]:
    return {name: _over_seeds(figures) for name, figures in rows.items()}


def _over_seeds(figures: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    return {
        name: {"mean": mean(values), "error": standard_error_of(values), "per_seed": list(values)}
        for name, values in figures.items()
    }


def _table(name: str, rows: Mapping[str, Mapping[str, Any]], followers: Sequence[str], seeds: int) -> Table:
    shown = Table(title=f"{name}: accuracy, %, of who follows (columns) whose rules (rows), {seeds} seeds")
    for column in ("", *followers):
        shown.add_column(column, justify="right" if column else "left")
    for author, row in rows.items():
        shown.add_row(
            author, *(f"{100 * row[each]['mean']:.1f} ± {100 * row[each]['error']:.1f}" for each in followers)
        )
    return shown


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
