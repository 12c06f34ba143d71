"""CLIPR's main table: accuracy of each method by data set and tier, with calls, tokens and questions.

    python -m housewise.experiments.clipr.main_results [--ambik FILE] [--introplan FILE] [--annotators FOLDER]
        [--components local] [--json OUT]

AmbiK and IntroPlan are a user's own files; our kitchen set is always there, and so are Housekeep's single decisions, in
generated houses and for the people who come along or the annotators of a Housekeep folder. Every method has the same
language (the local components, or one chat model), the same examples and the same person; a seed draws the examples,
the order of the test, the shuffling of candidates, the person's wording and, of Housekeep, the person. Figures are
means over seeds ± standard error.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from housewise.agent.clipr.adaptive import CriticSettings
from housewise.agent.clipr.baselines.cipher import cipher
from housewise.agent.clipr.baselines.gate import gate
from housewise.agent.clipr.baselines.introspective import introspective_planning
from housewise.agent.clipr.baselines.tidybot import tidybot
from housewise.agent.clipr.baselines.zero_and_few_shot import in_context, in_context_with_answers, zero_shot
from housewise.agent.clipr.language_steps import LanguageSteps
from housewise.agent.clipr.local_steps.contrasts import distinctive_words
from housewise.agent.clipr.methods import Method, MethodInputs, MethodResult, adaptive_clipr, clipr
from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.yaml_files import read_yaml
from housewise.experiments.clipr.components import Components, KeptOption, language_opener, learned_opener
from housewise.experiments.clipr.controls import CONTROLS
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.experiments.results import nest_by_keys
from housewise.language.adapters import adapter_fingerprint
from housewise.language.embedder import Embedder, MiniLM
from housewise.people.choices.house_profiles import find_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.people.speech import UNSEEN_SPEECH_FILE
from housewise.worlds.choices.ambik_labels import read_ambik_choices
from housewise.worlds.choices.choice_sets import HOUSE_SET, KITCHEN_SET
from housewise.worlds.choices.house_choices import make_house_choices
from housewise.worlds.choices.introplan import read_introplan_choices, repetition_keys
from housewise.worlds.choices.kitchen_choices import read_kitchen_choices
from housewise.worlds.choices.scenario import ChoiceSet, Scenario

METHODS: dict[str, Method] = {
    "Adaptive CLIPR": adaptive_clipr,
    "CLIPR": clipr,
    "TidyBot": tidybot,
    "in-context + answers": in_context_with_answers,
    "CIPHER Levenshtein": cipher("levenshtein"),
    "CIPHER embeddings": cipher("embedding"),
    "CIPHER Levenshtein, 10 corrections": cipher("levenshtein", 10),
    "CIPHER embeddings, 10 corrections": cipher("embedding", 10),
    "GATE 15": gate(15),
    "GATE 5": gate(5),
    "in-context": in_context,
    "Introspective Planning": introspective_planning,
    "zero-shot": zero_shot,
}
LEARNED: dict[str, Method] = {"Adaptive CLIPR, learned": adaptive_clipr, "CLIPR, learned": clipr}
"""Rows in which a model that was taught to follow rules chooses, and local components do all other steps."""
ITERATIVE = ("Adaptive CLIPR", "Adaptive CLIPR, learned", "CIPHER Levenshtein", "CIPHER embeddings")
"""Methods that learn while they choose, of which the paper compares the efficiency."""
EXAMPLES = 10
_QUICK_METHODS = ("CLIPR", "TidyBot")
BUDGET = {"ambik": 10, "introplan": 10, "housekeep": 10, "kitchen": 15}
"""Most questions of an interview, as printed for each data set."""
CRITICS = {HOUSE_SET: CriticSettings(feedback_interval=50)}
"""Of data sets in which feedback is considered less often, as the paper has it for Housekeep."""
AnnotatorsOption = Annotated[
    Path | None, typer.Option(help="Housekeep's folder: its annotators in place of the people who come along.")
]
_USED = ("calls", "tokens", "questions", "efficiency")
DataOption = Annotated[list[str] | None, typer.Option("--data", help="Only these data sets, by name.")]
PUBLISHED = CONFIGS / "clipr" / "published.yaml"


@dataclass
class Figures:
    """Accuracy by (data set, tier, method) and usage by (data set, method), a value for each seed."""

    accuracy: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    usage: dict[tuple[str, str], list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    reviews: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    left_out: dict[str, list[dict[str, int]]] = field(default_factory=lambda: defaultdict(list))
    rules: dict[str, list[str]] = field(default_factory=dict)


def tiers(scenarios: Sequence[Scenario], same: dict[str, str]) -> Iterator[tuple[str, list[int]]]:
    """The groups in which accuracy is told, each with the places of its scenarios."""
    every = list(range(len(scenarios)))
    yield "all", every
    for name in sorted({scenario.tier for scenario in scenarios}):
        yield name, [place for place in every if scenarios[place].tier == name]
    for label in sorted({scenario.label_from for scenario in scenarios} - {""}):
        yield f"of which: {label}", [place for place in every if scenarios[place].label_from == label]
    if same:
        first: dict[str, int] = {}
        for place in every:
            first.setdefault(same[scenarios[place].id], place)
        yield "each scene once", sorted(first.values())


def run_seed(
    choices: ChoiceSet,
    methods: dict[str, Method],
    open_language: Callable[[str, str], LanguageSteps],
    embedder: Embedder,
    seed: int,
    figures: Figures,
    same: dict[str, str],
) -> None:
    """Every method and control on one data set with one seed; a language is opened for a method and a data set."""
    name, profile = choices.name, find_profile(choices)
    test = tuple(random.Random(seed).sample(choices.test, len(choices.test)))
    groups = dict(tiers(test, same))
    figures.left_out[name].append(dict(choices.left_out))
    for tier, places in groups.items():
        figures.counts[name, tier].append(len(places))
        for control, probability in CONTROLS.items():
            values = [probability(choices.examples, test[place]) for place in places]
            figures.accuracy[name, tier, control].append(mean(values))
    for label, method in methods.items():
        language = open_language(label, name)
        person = ChoicesRespondent(profile, embedder, seed, speech=UNSEEN_SPEECH_FILE)
        setup = MethodInputs(
            language,
            person,
            choices.examples,
            test,
            choices.knowledge,
            embedder,
            BUDGET[name],
            seed=seed,
            critic=_critic(name),
        )
        outcome = method(setup)
        for tier, places in groups.items():
            figures.accuracy[name, tier, label].append(mean(outcome.decisions[place].right for place in places))
        _note(figures, name, label, language, outcome, len(test))


def _note(figures: Figures, name: str, label: str, language: LanguageSteps, outcome: MethodResult, chosen: int) -> None:
    usage: dict[str, float] = asdict(language.usage)
    del usage["finish_reasons"]
    usage["training_calls"] = outcome.training_calls
    usage["calls_a_choice"] = (language.usage.calls - outcome.training_calls) / chosen
    usage["satisfies_request"] = mean(decision.satisfies for decision in outcome.decisions)
    figures.usage[name, label].append(usage)
    if outcome.reviews:
        figures.reviews[name] += [review.outcome for review in outcome.reviews]
    # AmbiK has no licence: nothing of its words goes into figures that may be passed on.
    if label == "CLIPR" and name == "kitchen":
        figures.rules[name] = [rule.text for rule in outcome.rules]


def as_json(figures: Figures, components: str, embedder: str, seeds: int, seconds: float) -> dict[str, Any]:
    """The figures with what they were made with."""
    accuracy: dict[str, dict[str, dict[str, Any]]] = {}
    for (name, tier, method), values in figures.accuracy.items():
        row = {"mean": mean(values), "error": standard_error_of(values), "per_seed": values}
        accuracy.setdefault(name, {}).setdefault(tier, {})[method] = row
    usage: dict[str, dict[str, dict[str, float]]] = {}
    for (name, method), runs in figures.usage.items():
        usage.setdefault(name, {})[method] = {key: mean(run[key] for run in runs) for key in runs[0]}
    for name, rows in usage.items():
        for method, value in _efficiency(accuracy[name]["all"], rows).items():
            rows[method]["efficiency"] = value
    return {
        "components": components,
        "embedder": embedder,
        "seeds": seeds,
        "seconds": round(seconds, 1),
        "critic": {name: _critic(name).model_dump() for name in accuracy},
        "budget": BUDGET,
        "scenarios": nest_by_keys(figures.counts),
        "left_out": dict(figures.left_out),
        "accuracy": accuracy,
        "usage": usage,
        "reviews": {
            name: {each: found.count(each) for each in sorted(set(found))} for name, found in figures.reviews.items()
        },
        "rules_of_the_last_seed": figures.rules,
    }


def _critic(data: str) -> CriticSettings:
    return CRITICS.get(data, CriticSettings())


def _efficiency(accuracy: dict[str, dict[str, Any]], usage: dict[str, dict[str, float]]) -> dict[str, float]:
    """(acc · N / C) / max over the methods that learn while they choose, C all calls of a run."""
    raw = {
        method: accuracy[method]["mean"] / usage[method]["calls"]
        for method in ITERATIVE
        if method in usage and usage[method]["calls"]
    }
    return {method: value / max(raw.values()) for method, value in raw.items()} if raw and max(raw.values()) else {}


def standard_error_of(values: Sequence[float]) -> float:
    """The standard error of a mean over seeds; 0 of one."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def show(console: Console, result: dict[str, Any]) -> None:
    """The tables: accuracy by data set and tier, then usage."""
    published = read_yaml(PUBLISHED)
    for name, by_tier in result["accuracy"].items():
        table = Table(
            title=f"{name}: accuracy, % ± standard error over {result['seeds']} seeds ({result['components']})"
        )
        table.add_column("method")
        for tier in by_tier:
            table.add_column(f"{tier}\nn = {result['scenarios'][name][tier][0]}", justify="right")
        for column in (*_USED, "published *"):
            table.add_column(column, justify="right")
        for method in by_tier["all"]:
            cells = [
                f"{100 * row['mean']:.1f} ± {100 * row['error']:.1f}" for row in (by_tier[t][method] for t in by_tier)
            ]
            used = result["usage"][name].get(method, {})
            figures = [_used(used, column) for column in _USED]
            beside = [str(rows[method]) for key, rows in published.items() if key.startswith(name) and method in rows]
            table.add_row(method, *cells, *figures, " / ".join(beside))
        console.print(table)
        for reason, count in result["left_out"][name][0].items():
            console.print(f"left out with the first seed: {count}, {reason}", markup=False, soft_wrap=True)
    console.print("* published by CLIPR's authors; not the same quantity: large language models, other data and person")


def _used(used: Mapping[str, float], column: str) -> str:
    """A cell: tokens are of prompts and replies, and efficiency is of methods that learn while they choose."""
    if not used or (column == "efficiency" and column not in used):
        return ""
    if column == "tokens":
        return f"{used['prompt_tokens'] + used['completion_tokens']:.0f}"
    return f"{used[column]:.2f}" if column == "efficiency" else f"{used[column]:.0f}"


def main(
    ambik: Annotated[Path | None, typer.Option(help="AmbiK's preference tasks, one JSON object a line.")] = None,
    introplan: Annotated[Path | None, typer.Option(help="IntroPlan's scenes, one JSON object a line.")] = None,
    annotators: AnnotatorsOption = None,
    data: DataOption = None,
    components: Annotated[Components, typer.Option(help="What does the language steps.")] = Components.local,
    model: Annotated[str, typer.Option(help="The chat model of --components chat.")] = "local",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 5,
    adapter: Annotated[
        str | None, typer.Option(help="Of a local model that was taught to choose by rules: rows called learned.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--method", help="Only these methods.")] = None,
    kept: KeptOption = None,
    quick: QuickOption = False,
    out: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Where the figures go.")
    ] = None,
) -> None:
    """Measure every method on every data set that is there."""
    console, started, made = Console(), perf_counter(), provenance()
    if quick:
        seeds, data, only = 1, data or [KITCHEN_SET], only or list(_QUICK_METHODS)
    say_left_out(quick, f"one seed in place of five, {' and '.join(_QUICK_METHODS)} and our kitchen unless named")
    if not console.is_terminal:
        console.width = 200
    try:
        known = METHODS | (LEARNED if adapter else {})
        for name in only or ():
            if name not in known:
                raise UserError(f"--method {name}: no such method; {suggest_names(name, known)}")
        methods = {name: method for name, method in known.items() if not only or name in only}
        sets, same = (
            choice_sets(ambik, introplan, seeds, annotators, data),
            repetition_keys(introplan) if introplan else {},
        )
        embedder = MiniLM()
        opened = language_opener(components, model, embedder)
        learned = learned_opener(adapter, embedder, kept) if adapter else opened

        def language_of(method: str, data: str) -> LanguageSteps:
            return (learned if method in LEARNED else opened)(data)

        name, figures, result = opened("").name, Figures(), {}
        _embed_ahead(embedder, [choices for row in sets for choices in row])
        for seed, row in enumerate(sets):
            for choices in row:
                with console.status(f"{choices.name}, seed {seed}"):
                    keys = same if choices.name == "introplan" else {}
                    run_seed(choices, methods, language_of, embedder, seed, figures, keys)
            result = as_json(figures, name, embedder.name, seed + 1, perf_counter() - started)
            if out is not None:
                adapted = adapter_fingerprint(adapter) if adapter else None
                write_json(out, {**result, "adapter": adapted, "quick": quick, **made})
    except UserError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    show(console, result)


def choice_sets(
    ambik: Path | None,
    introplan: Path | None,
    seeds: int,
    annotators: Path | None = None,
    only: Sequence[str] | None = None,
) -> list[list[ChoiceSet]]:
    """For each seed the data sets that are there.

    Args:
        ambik, introplan: files of a user's.
        seeds: how many.
        annotators: Housekeep's folder, whose annotators are asked in place of our people.
        only: names of data sets; all that are there by default.

    Raises:
        UserError: a file is not what it should be.
    """
    readers: dict[str, Callable[[int], ChoiceSet]] = {}
    if ambik is not None:
        readers["ambik"] = lambda seed: read_ambik_choices(ambik, EXAMPLES, seed)
    if introplan is not None:
        readers["introplan"] = lambda seed: read_introplan_choices(introplan, EXAMPLES, seed)
    readers[HOUSE_SET] = lambda seed: make_house_choices(EXAMPLES, seed, annotators)
    readers[KITCHEN_SET] = lambda seed: read_kitchen_choices()
    for name in only or ():
        if name not in readers:
            raise UserError(f"--data {name}: not there; {suggest_names(name, readers)} (others with the file of each)")
    return [[read(seed) for name, read in readers.items() if not only or name in only] for seed in range(seeds)]


def _embed_ahead(embedder: Embedder, sets: Sequence[ChoiceSet]) -> None:
    """Texts of the data in large batches, which takes a tenth of the time that one after the other does."""
    texts: set[str] = set()
    for choices in sets:
        for scenario in (*choices.examples, *choices.test, *choices.knowledge):
            actions = scenario.situation.actions
            texts |= {scenario.situation.request, *actions, *distinctive_words(actions)}
    embedder.embed(sorted(texts))


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
