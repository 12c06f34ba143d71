"""The learned row: a small model is taught to choose by rules, and measured on people and scenarios that are new to it.

    python -m housewise.experiments.clipr.learned [--ambik FILE] [--introplan FILE] [--steps 450] [--tests 200] \\
        [--seed 0] [--quick] [--out runs/learned] [--json FILE]

People are invented over a user's AmbiK and IntroPlan and our kitchen's training scenarios
(housewise.selftrain.clipr.invented_choices); of the scenarios a share is held out. The pairs, the training and the
answers are kept in the folder, where the same command goes on. ``another's rules`` asks with the rules of somebody
else and scores by what the person wants: a model that follows rules is no better there than chance among what
satisfies the request.
``--adapter`` measures one that was trained before, as with ``housewise run --system clipr components=finetuned``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer
from rich.table import Table

from housewise.agent.clipr.action_choice import split_batches
from housewise.agent.clipr.chat_steps import CliprPrompts
from housewise.agent.clipr.finetuned_chooser import choice_request, parse_choice_reply
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.local_steps.local_components import LocalComponents
from housewise.agent.clipr.rules import parse_rule
from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.experiments.clipr.components import kept_replies
from housewise.experiments.clipr.main_results import choice_sets
from housewise.language import open_model
from housewise.language.adapters import adapter_fingerprint
from housewise.language.embedder import shared_minilm
from housewise.rollout.models import LazyChatModel
from housewise.rollout.scores import standard_error
from housewise.selftrain.clipr.invented_choices import (
    RECIPE,
    ChoiceGenerator,
    Recipe,
    RuledChoice,
    read_recipe,
    split_scenarios,
)
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.training_folder import PAIRS, TrainingFolder, load_or_make_examples
from housewise.terminal.selftrain_progress import TrainingDisplay
from housewise.worlds.choices.choice_sets import KITCHEN_SET
from housewise.worlds.choices.scenario import Scenario

_AT_ONCE = 16
_QUICK_STEPS, _QUICK_TESTS = 3, 6

Answer = Callable[[Sequence[RuledChoice]], list[int | None]]
"""The option that is chosen in each, from 0; None where nothing could be read."""


@dataclass(frozen=True)
class Test:
    """A choice of a new person in a new scenario.

    Attributes:
        own: by their own rules.
        others: the same options with somebody else's rules.
        satisfying: how many of the options do what the request says; other people's rules want one of these as well.
    """

    own: RuledChoice
    others: RuledChoice
    satisfying: int


def scenarios(ambik: Path | None, introplan: Path | None) -> list[Scenario]:
    """All that people can be invented over: of the kitchen the training scenarios alone, and nothing of houses.

    Raises:
        UserError: a file is not what it should be.
    """
    named = [name for name, file in (("ambik", ambik), ("introplan", introplan)) if file]
    [sets] = choice_sets(ambik, introplan, 1, only=[*named, KITCHEN_SET])
    found = [
        scenario
        for choices in sets
        for scenario in (
            *choices.examples,
            *(() if choices.name == KITCHEN_SET else (*choices.test, *choices.knowledge)),
        )
    ]
    return list({scenario.id: scenario for scenario in found}.values())


def lessons(known: Sequence[Scenario], recipe: Recipe, number: int, seed: int) -> list[EpisodeDemonstration]:
    """So many choices to learn from, each of a person of its own."""
    choices, prompts = ChoiceGenerator(known, recipe), CliprPrompts()
    drawn = (choices.draw(f"learned {seed}/{each}", f"{seed}/{each}")[1] for each in range(number))
    return [ruled.demonstration(prompts, each) for each, ruled in enumerate(drawn)]


def tests(known: Sequence[Scenario], recipe: Recipe, number: int, seed: int) -> list[Test]:
    """So many choices of people from whom nothing was learned."""
    choices, found = ChoiceGenerator(known, recipe), []
    for each in range(number):
        scenario, own = choices.draw(f"tested {seed}/{each}", f"tests {seed}/{each}")
        rng = random.Random(f"tests {seed}/{each}")
        rng.choice(choices.scenarios)  # as when the scenario was drawn, so that its options come in the same order
        others = choices.apply_rules(scenario, f"somebody else {seed}/{each}", rng)
        found.append(Test(own, others, len(scenario.satisfying)))
    return found


def kept_examples(path: Path, examples: Sequence[EpisodeDemonstration]) -> list[EpisodeDemonstration]:
    """The examples on disk, written where they are not.

    Raises:
        UserError: others are there.
    """
    kept = load_or_make_examples(path, lambda: examples)
    if kept != list(examples):
        raise UserError(f"{path}: was made of other data or with other settings; choose another folder with --out")
    return kept


def by_model(start: ModelReference, folder: Path) -> Answer:
    """Choices of a language model, opened when it is first asked, whose replies are kept in a folder."""
    deferred = LazyChatModel(start.model, lambda: open_model(start.model, adapter=start.adapter))
    model, prompts = kept_replies(deferred, start.adapter, folder), CliprPrompts()

    def answer(some: Sequence[RuledChoice]) -> list[int | None]:
        chosen: list[int | None] = []
        for each in split_batches(some, _AT_ONCE):
            asked = [choice_request(prompts, ruled.situation, ruled.rules) for ruled in each]
            replies = [reply for [reply] in model.complete(asked)]
            pairs = zip(replies, each, strict=True)
            chosen += [parse_choice_reply(reply, ruled.situation, ruled.rules).action for reply, ruled in pairs]
        return chosen

    return answer


def by_components(some: Sequence[RuledChoice]) -> list[int | None]:
    """Choices of the local components."""
    language = LocalComponents(shared_minilm())
    given = [Guidance(rules=tuple(map(parse_rule, ruled.rules))) for ruled in some]
    return [language.choose([each.situation], guidance)[0].action for each, guidance in zip(some, given, strict=True)]


def figures(chosen: Sequence[int | None], wanted: Sequence[int], scenarios_of: Sequence[str]) -> dict[str, Any]:
    """The share that is as wanted, with its standard error over scenarios."""
    right = [float(one == other) for one, other in zip(chosen, wanted, strict=True)]
    return {
        "accuracy": mean(right),
        "error": standard_error(right, list(scenarios_of)) if len(set(scenarios_of)) > 1 else None,
        "n": len(right),
        "unreadable": sum(each is None for each in chosen),
    }


def measure_rows(some: Sequence[Test], models: Mapping[str, ModelReference], folder: Path) -> dict[str, Any]:
    """Every row: models and local components, with the right rules and with another's, and chance."""
    answers = {name: by_model(start, folder) for name, start in models.items()} | {"local components": by_components}
    wanted, names = [test.own.action for test in some], [test.own.situation.id for test in some]
    rows = {}
    for name, answer in answers.items():
        for rules, asked in (("right rules", [t.own for t in some]), ("another's rules", [t.others for t in some])):
            rows[f"{name}, {rules}"] = figures(answer(asked), wanted, names)
    by_chance = {
        "chance": mean(1 / len(test.own.situation.actions) for test in some),
        "chance among what satisfies": mean(1 / test.satisfying for test in some),
    }
    return rows | {
        name: {"accuracy": share, "error": None, "n": len(some), "unreadable": 0} for name, share in by_chance.items()
    }


def main(
    ambik: Annotated[Path | None, typer.Option(help="AmbiK's preference tasks, one JSON object a line.")] = None,
    introplan: Annotated[Path | None, typer.Option(help="IntroPlan's scenes, one JSON object a line.")] = None,
    recipe: Annotated[Path, typer.Option(help="How people are invented and the model is taught.")] = RECIPE,
    model: Annotated[str, typer.Option(help="The model that is taught.")] = "local",
    adapter: Annotated[str | None, typer.Option(help="One that was trained before: nothing is trained.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps of training.")] = 450,
    number: Annotated[int, typer.Option("--tests", min=1, help="Choices to measure with.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    quick: Annotated[bool, typer.Option(help="A few steps and choices: shows the way, not the figures.")] = False,
    out: Annotated[Path | None, typer.Option(help="Everything goes there, and is gone on with.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go as well.")
    ] = None,
) -> None:
    """Teach a model to choose by rules, and measure whether it follows them."""
    console, made, told = Console(), provenance(), read_recipe(recipe)
    steps, number = (_QUICK_STEPS, _QUICK_TESTS) if quick else (steps, number)
    folder = out or Path("runs") / ("learned-quick" if quick else "learned")
    known, held = split_scenarios(scenarios(ambik, introplan), told.held)
    training = load_selftraining(settings={"training": told.training}).training
    start = ModelReference(model=model)
    if adapter is None:
        examples = kept_examples(folder / PAIRS, lessons(known, told, steps * training.batch, seed))
        phases = TrainingFolder(folder, start, TrainingDisplay(console), seed)
        name = "learning to choose by rules"
        trained = phases.train(name, "training", examples, training, store=False)
    else:
        trained = TrainedModel(model=model, adapter=adapter)
    some = tests(held, told, number, seed)
    rows = measure_rows(some, {"trained": trained, "untrained": start}, folder)
    console.print(_table(rows))
    result = {
        "rows": rows,
        "scenarios": {"learned from": len(known), "held out": len(held)},
        "data": [name for name, file in (("ambik", ambik), ("introplan", introplan), ("kitchen", recipe)) if file],
        "recipe": told.model_dump(mode="json"),
        "adapter": adapter_fingerprint(trained.adapter) if trained.adapter else None,
        "training": {"settings": training.model_dump(mode="json"), "metrics": trained.metrics},
        "seed": seed,
        "quick": quick,
        **made,
    }
    for path in (folder / "learned.json", *([json_file] if json_file else [])):
        write_json(path, result)


def _table(rows: Mapping[str, Mapping[str, Any]]) -> Table:
    shown = Table(title="choices as the person wants them, new people in new scenarios, % ± standard error")
    for column in ("", "accuracy", "n", "unreadable"):
        shown.add_column(column, justify="right" if column else "left")
    for name, row in rows.items():
        error = f" ± {100 * row['error']:.1f}" if row["error"] is not None else ""
        shown.add_row(name, f"{100 * row['accuracy']:.1f}{error}", str(row["n"]), str(row["unreadable"]))
    return shown


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
