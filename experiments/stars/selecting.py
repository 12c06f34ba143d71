"""Our own selection among the recorded viable goals of STARS, beside GPT-4's recorded choices.

    python -m housewise.experiments.stars.selecting --data FOLDER --json OUT \\
        [--adapter none --adapter 'runs/goals-{seed}/imitate/adapter'] [--seed 1 --seed 2]

``best`` asks no model: the viable goal of the highest recorded rank. Nor does ``nearest``: the goal whose fixture is
closest to the object by name or, beside a model that was taught goals, that of what is closest among the things of its
lessons. ``rating`` takes the goal that the model finds likeliest where it is asked for one. The numbered question is
asked with several rotations of its options, as small models lean to places; how often the answer moves with them is
told, and of how many of the objects a model has learned. The completion rates are those of a recorded replay in which
nothing but the choice differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from housewise.agent.stars.experiment_conditions import CONDITIONS
from housewise.agent.stars.lessons import GoalSelector
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.nearest_meaning import Examples, NearestMeaning
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, RetrievedGoal
from housewise.agent.stars.selection import RatingSelector, RotatedSelector, RotationSelector
from housewise.agent.stars.stars_loop import LikeliestSelector
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.printable_text import excerpt
from housewise.core.provenance import provenance
from housewise.experiments.stars.breakdown import Category, category
from housewise.experiments.stars.recorded import Recordings
from housewise.experiments.stars.replay import Analysed, RecordedReplay
from housewise.experiments.stars.rows import NO_ADAPTER, Arm
from housewise.language.adapters import adapter_fingerprint, adapter_folder
from housewise.language.completion import CompletionModel
from housewise.language.embedder import shared_minilm
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from housewise.language.local.smollm2 import SMOLLM2
from housewise.selftrain.stars.goal_lessons import GoalLessons

RECORDED, BEST, NEAREST = "recorded", "best", "nearest"
RATING, LIKELIHOOD, NUMBERED = "rating", "likelihood", "numbered"
_PLAIN = (RECORDED, BEST, NEAREST)
_CONDITION = "STARS"


def candidates(analysed: Analysed) -> list[GoalCandidate]:
    """Viable recorded goals in ascending order: probabilities were not published, so ranks stand in for them.

    Goals of repairs have no rank; they come before the others, in the order of their evaluation.
    """
    viable = [pair for pair in analysed if pair[1].viable]
    ordered = sorted(viable, key=lambda pair: (pair[0].rank is None, pair[0].rank or 0, pair[0].viable_position or 0))
    return [
        GoalCandidate(RetrievedGoal(response.text, 1 - place / (len(ordered) + 1), response.source), analysis)
        for place, (response, analysis) in enumerate(ordered)
    ]


class Picking:
    """Chooses for a replay, and keeps what was chosen of how many.

    Args:
        task: that is played again.
        selector: chooses.

    Attributes:
        picked: the goal by object.
        options: how many there were, by object.
        relevant: how many of those picked are situationally relevant.
    """

    def __init__(self, task: StarsTask, selector: GoalSelector) -> None:
        self._task, self._selector = task, selector
        self.picked: dict[str, str] = {}
        self.options: dict[str, int] = {}
        self.relevant = 0

    def __call__(self, about: TaskObject, analysed: Analysed) -> GoalAnalysis | None:
        """See Choose."""
        found = candidates(analysed)
        if not found:
            return None
        picked = self._selector.select(self._task, about, found, ModelUsage()).candidate
        self.picked[about.thing.name], self.options[about.thing.name] = picked.text, len(found)
        self.relevant += category(picked.analysis, about) == Category.RELEVANT.value
        return picked.analysis


def position_sensitivity(turns: Sequence[Picking]) -> float:
    """The share of objects with two goals or more of which some rotations of the options choose different ones."""
    options = turns[0].options
    several = [name for name, count in options.items() if count > 1]
    differ = [len({turn.picked[name] for turn in turns[: options[name]]}) > 1 for name in several]
    return fmean(differ) if differ else 0.0


class Selecting:
    """Plays STARS' recorded retrieval again with choices of our own.

    Args:
        recordings: of the published runs.
        rotations: of the numbered question's options.

    Raises:
        DataError: when the recordings cannot be read.
    """

    def __init__(self, recordings: Recordings, rotations: int) -> None:
        self._recordings, self._rotations = recordings, rotations
        self._prompts, self._embedder = load_prompts(), shared_minilm()

    def without_model(self) -> dict[str, Any]:
        """Figures by task and way of choosing that ask no model of ours."""
        found: dict[str, Any] = {}
        for name in self._recordings.tasks:
            best, picking = self._run_selector(name, LikeliestSelector())
            near, _ = self._run_selector(name, NearestMeaning(self._embedder, {}))
            recorded = {"completion_percent": self._completion(name, None)}
            found[name] = {"objects": len(picking.picked), RECORDED: recorded, BEST: best, NEAREST: near}
        return found

    def with_model(self, model: CompletionModel, taught: Examples) -> dict[str, Any]:
        """Figures by task and way of asking a model.

        Args:
            model: is asked.
            taught: where things belong that it has learned of; none where that is not known.
        """
        found: dict[str, Any] = {}
        things = {seen.split()[0] for seen in taught}
        for name in self._recordings.tasks:
            rated, picking = self._run_selector(name, RatingSelector(model, self._prompts))
            likely, _ = self._run_selector(name, RotationSelector(model, self._prompts))
            turns = [
                self._run_selector(name, RotatedSelector(model, self._prompts, turn)) for turn in range(self._rotations)
            ]
            task = self._task(name)
            found[name] = {
                RATING: rated,
                LIKELIHOOD: likely,
                NUMBERED: {
                    **{figure: [way[figure] for way, _ in turns] for figure in likely},
                    "moved": position_sensitivity([picking for _, picking in turns]),
                },
                "learned_from": sum(task[thing].thing.noun in things for thing in picking.picked),
            }
            if taught:
                found[name][NEAREST], _ = self._run_selector(name, NearestMeaning(self._embedder, taught))
        return found

    def _run_selector(self, name: str, selector: GoalSelector) -> tuple[dict[str, Any], Picking]:
        picking = Picking(self._task(name), selector)
        figures = {"completion_percent": self._completion(name, picking), "relevant": picking.relevant}
        return figures, picking

    def _completion(self, name: str, picking: Picking | None) -> float:
        """Task completion in percent, with the recorded choice where there is no other."""
        lines = [line for line in self._recordings.lines(name) if line.condition == _CONDITION]
        replay = RecordedReplay(self._task(name), self._recordings.analyser(name), CONDITIONS[_CONDITION], picking)
        percent: float = replay.play(lines).expected["completion_percent"]
        return percent

    def _task(self, name: str) -> StarsTask:
        return self._recordings.task(name, self._recordings.analyser(name).language.vocabulary)


def main(
    data: Annotated[Path, typer.Option(help="Folder of recorded responses.")],
    output: Annotated[Path, typer.Option("--json", callback=check_writable_file, help="File to write the figures to.")],
    model: Annotated[str, typer.Option(help="Local model.")] = SMOLLM2,
    adapter: Annotated[
        list[str] | None,
        typer.Option(help="An adapter by name or folder, {seed} in it standing for the seed, or none; several times."),
    ] = None,
    seeds: Annotated[
        list[int] | None, typer.Option("--seed", min=0, help="Of adapters; may be given several times.")
    ] = None,
    rotations: Annotated[int, typer.Option(help="Of the numbered question's options.", min=1)] = 3,
) -> None:
    """Choose among recorded goals and compare what becomes of the tasks."""
    made, selecting = provenance(), Selecting(Recordings(data), rotations)
    arms = list(dict.fromkeys(map(Arm.from_adapter, adapter or [NO_ADAPTER])))
    models = [(arm, seed) for arm in arms for seed in arm.seeds(seeds or [1, 2, 3])]
    adapters = [named for arm, seed in models if (named := arm.adapter_of(seed)) is not None]
    # Now rather than after minutes of asking.
    if missing := next((each for each in adapters if not adapter_folder(each).is_dir()), None):
        raise UserError(f"--adapter {excerpt(missing)}: no such adapter; give its name, its folder, or none")
    tasks = selecting.without_model()
    for arm, seed in models:
        taught = arm.training_settings(seed)
        examples = GoalLessons(taught.run, taught.lessons).known_places() if taught else {}
        with closing(LocalChatModel(model, arm.adapter_of(seed))) as opened:
            for name, figures in selecting.with_model(LocalCompletionModel(opened), examples).items():
                tasks[name].setdefault("models", {}).setdefault(arm.name, {})[str(seed)] = figures
    made["adapters"] = [adapter_fingerprint(adapter) for adapter in adapters]
    write_json(output, {"model": model, "tasks": tasks, **made})
    Console().print(_table(tasks))


def _table(tasks: Mapping[str, Any]) -> Table:
    columns = (
        "task",
        "model",
        "recorded",
        "best",
        "nearest",
        "taught",
        "likelihood",
        "by rotation",
        "moves",
        "learned",
    )
    table = Table(*columns, title="completion, %")
    for task, ways in tasks.items():
        plain = [_percent(ways[way]) for way in _PLAIN]
        for arm, seeds in ways["models"].items():
            for seed, found in seeds.items():
                taught = _percent(found[NEAREST]) if NEAREST in found else "–"
                turns = " ".join(f"{each:.1f}" for each in found[NUMBERED]["completion_percent"])
                asked = [_percent(found[LIKELIHOOD]), turns, f"{found[NUMBERED]['moved']:.0%}"]
                learned = f"{found['learned_from']} of {ways['objects']}"
                table.add_row(task, f"{arm}, {seed}", *plain, taught, *asked, learned)
    return table


def _percent(way: Mapping[str, Any]) -> str:
    return f"{way['completion_percent']:.1f}"


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
