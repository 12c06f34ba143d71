"""All conditions from scratch, with a local model and a simulated user: the paper's table 2, figure 6, and trial 2.

    python -m housewise.experiments.stars.conditions --out FOLDER [--task "tidy kitchen"] [--condition STARS]

What the model says is kept in FOLDER: conditions share their trees, and a run that was killed goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from housewise.agent.stars.analysis import Analyser
from housewise.agent.stars.conditions import CONDITIONS, Condition
from housewise.agent.stars.language import Language
from housewise.agent.stars.learner import Episode, Learner
from housewise.agent.stars.learning import GoalMemory
from housewise.agent.stars.ledger import Ledger, RememberedModel
from housewise.agent.stars.measures import measures
from housewise.agent.stars.oversight import SimulatedUser
from housewise.agent.stars.prompts import Prompts, load_prompts
from housewise.agent.stars.record import record, write
from housewise.agent.stars.retrieval import Thresholds
from housewise.agent.stars.retriever import Retrieval
from housewise.agent.stars.selection import Likelihood, Numbered, Selector
from housewise.agent.stars.settings import TASKS, load_robot, load_task
from housewise.agent.stars.tasks import Task
from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.machine import provenance
from housewise.experiments.stars.breakdown import category
from housewise.language.continuing import Continuer
from housewise.language.local.continuer import LocalContinuer
from housewise.language.local.model import LocalChatModel
from housewise.language.local.weights import SMOLLM2

TRIAL_2 = "Trial 2"


@dataclass(frozen=True)
class Setup:
    """What all runs have in common.

    Attributes:
        selection: ``numbered`` or ``likelihood``.
    """

    model: Continuer
    prompts: Prompts
    thresholds: Thresholds
    lead: str
    selection: str
    ledger: Ledger

    def selector(self, condition: Condition, model: Continuer) -> Selector:
        """Who selects under a condition."""
        if self.selection == "likelihood":
            return Likelihood(model, self.prompts, condition.hints)
        return Numbered(model, self.prompts, hints=condition.hints)


def run(task: Task, analyser: Analyser, condition: Condition, setup: Setup, seed: int) -> tuple[Episode, GoalMemory]:
    """One task under one condition."""
    model = RememberedModel(setup.model, setup.ledger, seed)
    memory = GoalMemory()
    learner = Learner(
        task,
        analyser,
        condition,
        Retrieval(model, setup.prompts, setup.thresholds, setup.lead),
        selector=setup.selector(condition, model),
        user=SimulatedUser(task) if condition.user else None,
        memory=memory,
    )
    return learner.play(), memory


def trial_2(task: Task, analyser: Analyser, memory: GoalMemory) -> Episode:
    """The task again, with what was learned, no model and no user."""
    learner = Learner(task, analyser, CONDITIONS["STARS"], None, memory=memory)
    return learner.play([f"{task.name.capitalize()}."])


def figures(episode: Episode) -> dict[str, Any]:
    """The measures of an episode, with its responses by category (STARS, figure 6)."""
    responses = [(lesson.about, each) for lesson in episode.lessons for each in lesson.candidates]
    categories = Counter(category(each.analysis, about) for about, each in responses)
    usage = episode.usage
    return {
        **measures(episode),
        "prompt_tokens": sum(usage.prompt_tokens.values()),
        "completion_tokens": sum(usage.completion_tokens.values()),
        "categories": dict(categories),
    }


def main(
    out: Annotated[Path, typer.Option(help="folder for the records and what the model said")],
    task: Annotated[list[str] | None, typer.Option(help="a task; may be given several times")] = None,
    condition: Annotated[list[str] | None, typer.Option(help="a condition; may be given several times")] = None,
    model: Annotated[str, typer.Option(help="local model")] = SMOLLM2,
    adapter: Annotated[Path | None, typer.Option(help="folder of a PEFT adapter")] = None,
    seeds: Annotated[int, typer.Option(help="runs of the conditions that draw", min=1)] = 3,
    lead: Annotated[str, typer.Option(help="words that every goal begins with")] = "the goal is that the {name} {are}",
    mean: Annotated[float, typer.Option(help="mean probability that a second recursion needs")] = 0.5,
    selection: Annotated[str, typer.Option(help="numbered or likelihood")] = "likelihood",
    json_file: Annotated[Path | None, typer.Option("--json", help="write the figures there as well")] = None,
) -> None:
    """Run conditions from scratch and tabulate them."""
    chosen = [_condition(name) for name in condition or CONDITIONS]
    if selection not in ("numbered", "likelihood"):
        raise UserError(f"--selection {selection}: give numbered or likelihood")
    made, prompts, ledger = provenance(), load_prompts(), Ledger(out / "asked.jsonl")
    local = LocalContinuer(LocalChatModel(model, adapter))
    setup = Setup(local, prompts, Thresholds(mean=mean), lead, selection, ledger)
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name in task or TASKS:
        world, vocabulary = load_task(name)
        analyser = Analyser(Language(vocabulary), load_robot())
        found = rows.setdefault(world.name, {})
        for each in chosen:
            for seed in range(seeds if each.retrieval == "templates" else 1):
                episode, memory = run(world, analyser, each, setup, seed)
                _keep(out, world, each, episode, local.name, seed)
                found.setdefault(each.name, []).append(figures(episode))
                if each.name == "STARS+O":
                    memory.save(out / f"{world.name.replace(' ', '_')}.goals.jsonl")
                    again = trial_2(
                        world, analyser, GoalMemory.load(out / f"{world.name.replace(' ', '_')}.goals.jsonl")
                    )
                    found.setdefault(TRIAL_2, []).append(figures(again))
        floor = world.completion(world.start()).percent
        Console().print(_table(world.name, floor, found))
    content = {"model": local.name, "lead": lead, "mean": mean, "selection": selection, "tasks": rows}
    for path in (out / "figures.json", *([json_file] if json_file else [])):
        write_json(path, {**content, **made})


def _condition(name: str) -> Condition:
    if name not in CONDITIONS:
        raise UserError(f"--condition {name}: there is none; give one of {', '.join(CONDITIONS)}")
    return CONDITIONS[name]


def _keep(out: Path, task: Task, condition: Condition, episode: Episode, model: str, seed: int) -> None:
    path = out / "records" / f"{task.name.replace(' ', '_')}.{condition.name.replace('*', '_hints')}.{seed}.jsonl"
    write(path, record(task, condition, episode, {"model": model, "seed": seed}))


def _table(task: str, floor: float, found: dict[str, list[dict[str, Any]]]) -> Table:
    columns = {
        "completion %": "completion_percent", "objects %": "objects_percent", "retrieved": "retrieved",
        "viable %": "viable_percent", "proposed": "proposed", "sourced": "sourced", "stated": "stated",
        "tokens": "total_tokens", "instructions": "instructions", "words": "words",
    }  # fmt: skip
    table = Table("condition", *columns, title=f"{task} (doing nothing: {floor:.1f} %)")
    for name, runs in found.items():
        table.add_row(name, *(_spread([run[figure] for run in runs]) for figure in columns.values()))
    return table


def _spread(values: Sequence[float]) -> str:
    mean = f"{fmean(values):.1f}".removesuffix(".0")
    return f"{mean} ± {pstdev(values):.1f}" if len(set(values)) > 1 else mean


if __name__ == "__main__":
    from housewise.core.console import guarded

    guarded(lambda: typer.run(main))
