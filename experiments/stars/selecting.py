"""Our own selection among the recorded viable goals of STARS, beside GPT-4's recorded choices.

    python -m housewise.experiments.stars.selecting --data FOLDER --json OUT [--adapter FOLDER]

``best`` asks no model: the viable goal of the highest recorded rank. The numbered question is asked with every rotation
of its options, as small models lean to places; how often the answer moves with them is told. The completion rates are
those of a recorded replay in which nothing but the choice differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from housewise.agent.stars.analysis import Analysis
from housewise.agent.stars.conditions import CONDITIONS
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.repair import Candidate
from housewise.agent.stars.retrieval import Retrieved
from housewise.agent.stars.selection import Likelihood, Numbered, Selector, likeliest
from housewise.agent.stars.tasks import Task, TaskObject
from housewise.agent.stars.usage import Usage
from housewise.core.files import write_json
from housewise.core.machine import provenance
from housewise.experiments.stars.breakdown import Category, category
from housewise.experiments.stars.recorded import Recordings
from housewise.experiments.stars.replay import Analysed, Choose, Replay
from housewise.language.continuing import Continuer
from housewise.language.local.continuer import LocalContinuer
from housewise.language.local.model import LocalChatModel
from housewise.language.local.weights import SMOLLM2

RECORDED, BEST = "recorded", "best"
Pick = Callable[[Task, TaskObject, list[Candidate]], Candidate]


def candidates(analysed: Analysed) -> list[Candidate]:
    """Viable recorded goals in ascending order: probabilities were not published, so ranks stand in for them.

    Goals of repairs have no rank; they come before the others, in the order of their evaluation.
    """
    viable = [pair for pair in analysed if pair[1].viable]
    ordered = sorted(viable, key=lambda pair: (pair[0].rank is None, pair[0].rank or 0, pair[0].viable_position or 0))
    return [
        Candidate(Retrieved(response.text, 1 - place / (len(ordered) + 1), response.source), analysis)
        for place, (response, analysis) in enumerate(ordered)
    ]


def choice(task: Task, pick: Pick) -> Choose:
    """A choice for a replay."""

    def chosen(about: TaskObject, analysed: Analysed) -> Analysis | None:
        found = candidates(analysed)
        return pick(task, about, found).analysis if found else None

    return chosen


def by(selector: Selector) -> Pick:
    """A choice by a selector."""
    return lambda task, about, found: selector.select(task, about, found, Usage()).candidate


class Relevant:
    """Counts how often what is picked is situationally relevant, where there was anything to pick."""

    def __init__(self, pick: Pick) -> None:
        self._pick = pick
        self.right = self.asked = 0

    def __call__(self, task: Task, about: TaskObject, found: list[Candidate]) -> Candidate:
        picked = self._pick(task, about, found)
        self.asked += 1
        self.right += category(picked.analysis, about) == Category.RELEVANT.value
        return picked


def moved(task: Task, recordings: Recordings, selectors: Sequence[Selector]) -> float:
    """The share of objects, of those with two viable goals or more, whose choice differs between some rotations."""
    analyser = recordings.analyser(task.name)
    lines = [line for line in recordings.lines(task.name) if line.condition == "STARS"]
    differs: list[bool] = []

    def pick(task: Task, about: TaskObject, found: list[Candidate]) -> Candidate:
        if len(found) > 1:
            picks = {by(selector)(task, about, found).text for selector in selectors[: len(found)]}
            differs.append(len(picks) > 1)
        return found[0]

    Replay(task, analyser, CONDITIONS["STARS"], choice(task, pick)).play(lines)
    return fmean(differs) if differs else 0.0


def completion(task: Task, recordings: Recordings, pick: Pick | None) -> float:
    """Task completion of STARS in percent, with another choice or the recorded one."""
    lines = [line for line in recordings.lines(task.name) if line.condition == "STARS"]
    chosen = choice(task, pick) if pick else None
    outcome = Replay(task, recordings.analyser(task.name), CONDITIONS["STARS"], chosen).play(lines)
    percent: float = outcome.expected["completion_percent"]
    return percent


def compare(recordings: Recordings, model: Continuer, rotations: int) -> dict[str, Any]:
    """Completion by task and way of choosing."""
    prompts = load_prompts()
    numbered = [Numbered(model, prompts, turn) for turn in range(rotations)]
    found: dict[str, Any] = {}
    for name in recordings.tasks:
        task = recordings.task(name, recordings.analyser(name).language.vocabulary)
        best = Relevant(lambda task, about, found: likeliest(found))
        likely = Relevant(by(Likelihood(model, prompts)))
        asked = [Relevant(by(selector)) for selector in numbered]
        found[name] = {
            RECORDED: {"completion_percent": completion(task, recordings, None)},
            BEST: {"completion_percent": completion(task, recordings, best), "relevant": best.right},
            "likelihood": {"completion_percent": completion(task, recordings, likely), "relevant": likely.right},
            "numbered": {
                "completion_percent": [completion(task, recordings, pick) for pick in asked],
                "relevant": [pick.right for pick in asked],
                "moved": moved(task, recordings, numbered),
            },
            "objects": best.asked,
        }
    return found


def main(
    data: Annotated[Path, typer.Option(help="folder of recorded responses")],
    output: Annotated[Path, typer.Option("--json", help="file to write the figures to")],
    model: Annotated[str, typer.Option(help="local model")] = SMOLLM2,
    adapter: Annotated[Path | None, typer.Option(help="folder of a PEFT adapter")] = None,
    rotations: Annotated[int, typer.Option(help="of the numbered question's options", min=1)] = 3,
) -> None:
    """Choose among recorded goals and compare what becomes of the tasks."""
    made = provenance()
    local = LocalContinuer(LocalChatModel(model, adapter))
    found = compare(Recordings(data), local, rotations)
    write_json(output, {"model": local.name, "tasks": found, **made})
    table = Table("task", "recorded", "best", "likelihood", "numbered, by rotation", "moves", title="completion, %")
    for name, ways in found.items():
        numbers = " ".join(f"{value:.1f}" for value in ways["numbered"]["completion_percent"])
        plain = [f"{ways[way]['completion_percent']:.1f}" for way in (RECORDED, BEST, "likelihood")]
        table.add_row(name, *plain, numbers, f"{ways['numbered']['moved']:.0%}")
    Console().print(table)


if __name__ == "__main__":
    from housewise.core.console import guarded

    guarded(lambda: typer.run(main))
