"""CLIPR's ablations: what the accuracy gate is worth under a misleading person, and recovery from poor rules.

    python -m housewise.experiments.clipr.ablations [--ambik FILE] [--introplan FILE] [--data NAME ...] [--seeds 5]
        [--json OUT]

With local components. The rules come from a cooperative person; then the critic's questions are answered by the
adversarial one, with the accuracy gate and without it. Poor starts: no rules, and rules that contradict the learned
ones (what each prefers and avoids exchanged), revised with the cooperative person's help and not at all. Then the
adaptive method with other settings (τ, B, F), and the static one with fewer and more questions, and with rules written
from the dialogue alone. Every row meets a person who has not been asked anything yet. What an accepted update makes of
all that was processed is measured without the gate as well, where the robot does not look. Controls ask no language
model.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from housewise.agent.clipr.action_choice import Inference, accuracy
from housewise.agent.clipr.adaptive import AdaptationResult, AdaptiveClipr, CriticSettings
from housewise.agent.clipr.elicitation import ElicitationResult, learn_rules
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.local_steps.local_components import LocalComponents
from housewise.agent.clipr.rules import Rule, make_rule
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.experiments.clipr import controls
from housewise.experiments.clipr.main_results import (
    BUDGET,
    AnnotatorsOption,
    DataOption,
    choice_sets,
    standard_error_of,
)
from housewise.language.embedder import MiniLM
from housewise.people.choices.house_profiles import find_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.people.speech import UNSEEN_SPEECH_FILE
from housewise.worlds.choices.scenario import ChoiceSet, Scenario

SETTINGS = CriticSettings(batch=10, feedback_interval=10)
"""Feedback after each batch, so that the critic has more to decide than in the main table."""
VARIED = {
    "τ = 0": SETTINGS.model_copy(update={"sensitivity": 0.0}),
    "τ = 2": SETTINGS.model_copy(update={"sensitivity": 2.0}),
    "B = 5, F = 10": SETTINGS.model_copy(update={"batch": 5}),
    "B = 20, F = 20": SETTINGS.model_copy(update={"batch": 20, "feedback_interval": 20}),
    "F = 20": SETTINGS.model_copy(update={"feedback_interval": 20}),
    "F = 50": SETTINGS.model_copy(update={"feedback_interval": 50}),
}
BUDGETS = (1, 3, 5, 15)


def contradicting(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Typed rules with what they prefer and avoid exchanged."""
    return tuple(
        make_rule(rule.condition, rule.avoided, rule.preferred, rule.strength, rule.source)
        for rule in rules
        if rule.typed
    )


def changes(run: AdaptationResult, test: Sequence[Scenario], inference: Inference) -> list[float]:
    """What each accepted update changed of the accuracy on all that was processed before it.

    Args:
        run: with or without the accuracy gate.
        test: what it chose in, in order.
        inference: chooses once more, so that its calls should count nowhere.
    """
    accepted = [review.processed for review in run.reviews if review.outcome == "accepted"]
    versions = zip(run.versions, run.versions[1:], strict=False)
    found = []
    for processed, rules in zip(accepted, versions, strict=True):
        before, after = (accuracy(inference.decide(test[:processed], Guidance(rules=each))) for each in rules)
        found.append(after - before)
    return found


def measure(choices: ChoiceSet, embedder: MiniLM, seed: int) -> dict[str, dict[str, float]]:
    """Every row on one data set with one seed."""
    test = tuple(random.Random(seed).sample(choices.test, len(choices.test)))
    profile = find_profile(choices)
    situations = [example.situation for example in choices.examples]

    def person(adversarial: bool = False) -> ChoicesRespondent:
        return ChoicesRespondent(profile, embedder, seed, adversarial, UNSEEN_SPEECH_FILE)

    def learn_with_questions(questions: int) -> tuple[ElicitationResult, tuple[Rule, ...]]:
        return learn_rules(LocalComponents(embedder), person(), situations, questions)

    def static(start: Sequence[Rule]) -> dict[str, float]:
        inference = Inference(LocalComponents(embedder), SETTINGS.batch, seed)
        return {"accuracy": accuracy(inference.decide(test, Guidance(rules=tuple(start))))}

    def adaptive(
        start: Sequence[Rule], settings: CriticSettings = SETTINGS, adversarial: bool = False
    ) -> dict[str, float]:
        inference = Inference(LocalComponents(embedder), settings.batch, seed)
        run = AdaptiveClipr(inference, person(adversarial), settings).run(test, start)
        changed = changes(run, test, inference)
        return {
            "accuracy": accuracy(run.decisions),
            "last rules on everything": accuracy(inference.decide(test, Guidance(rules=run.versions[-1]))),
            "proposed": sum(bool(review.proposed) for review in run.reviews),
            "accepted": len(changed),
            "accepted that lowered": sum(change < 0 for change in changed),
            "worst change": min(changed, default=0.0),
        }

    elicited, rules = learn_with_questions(BUDGET[choices.name])
    answered = [exchange for exchange in elicited.dialogue if exchange.answer]
    ungated = SETTINGS.model_copy(update={"accuracy_gate": False})
    return {
        **{name: {"accuracy": share} for name, share in controls.control_accuracies(choices).items()},
        "learned rules, static": static(rules),
        "adversarial, with accuracy gate": adaptive(rules, adversarial=True),
        "adversarial, without": adaptive(rules, ungated, adversarial=True),
        "no rules, static": static(()),
        "no rules, adaptive": adaptive(()),
        "contradicting rules, static": static(contradicting(rules)),
        "contradicting rules, adaptive": adaptive(contradicting(rules)),
        "learned rules, adaptive": adaptive(rules),
        **{f"learned rules, adaptive, {name}": adaptive(rules, varied) for name, varied in VARIED.items()},
        **{
            f"at most {questions} questions, static": static(learn_with_questions(questions)[1])
            for questions in BUDGETS
        },
        "rules from the dialogue alone, static": static(LocalComponents(embedder).synthesize((), answered)),
    }


def main(
    ambik: Annotated[Path | None, typer.Option(help="AmbiK's preference tasks, one JSON object a line.")] = None,
    introplan: Annotated[Path | None, typer.Option(help="IntroPlan's scenes, one JSON object a line.")] = None,
    annotators: AnnotatorsOption = None,
    data: DataOption = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 5,
    out: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go.")
    ] = None,
) -> None:
    """Measure the ablations on every data set that is there."""
    console, made = Console(), provenance()
    if not console.is_terminal:
        console.width = 160
    try:
        sets = choice_sets(ambik, introplan, seeds, annotators, data)
        embedder = MiniLM()
    except UserError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    found: dict[str, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    result: dict[str, dict[str, Any]] = {}
    for seed, row in enumerate(sets):
        for choices in row:
            for name, figures in measure(choices, embedder, seed).items():
                found[choices.name][name].append(figures)
        result = {name: {each: _over_seeds(runs) for each, runs in rows.items()} for name, rows in found.items()}
        if out is not None:
            write_json(out, {"seeds": seed + 1, "data": result, **made})
    for name, rows in result.items():
        console.print(_table(name, rows, seeds))


def _over_seeds(runs: Sequence[dict[str, float]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for key in runs[0]:
        values = [run[key] for run in runs]
        figures[key] = {"mean": mean(values), "error": standard_error_of(values), "per_seed": values}
    return figures


def _table(name: str, rows: dict[str, dict[str, Any]], seeds: int) -> Table:
    shown = Table(title=f"{name}: ablations, local components, {seeds} seeds")
    columns = ("accuracy", "last rules on everything", "proposed", "accepted", "accepted that lowered")
    for column in ("", *columns):
        shown.add_column(column, justify="right" if column else "left")
    for label, row in rows.items():
        cells = []
        for column in columns:
            figure = row.get(column)
            share = column in columns[:2]
            if figure is None:
                cells.append("")
            elif share:
                cells.append(f"{100 * figure['mean']:.1f} ± {100 * figure['error']:.1f}")
            else:
                cells.append(f"{sum(figure['per_seed']):.0f}")
        shown.add_row(label, *cells)
    return shown


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
