"""Main results: success rates of baselines, imitation and self-training (Table 1 of arXiv 2404.14285).

    python -m housewise.experiments.personalize.main_results --data HOUSEKEEP [--quick] [--adapter FOLDER] \\
        [--out runs/paper]

Every scene's baselines play its 20 training tasks once and its 5 tests five times with the model as it comes; it is
taught with 10 demonstrations, then tries the training tasks and learns from what was good, and is measured in the same
way after each phase. Tests are never learned from. With an adapter to start from, the rows that build on it are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import typer

from housewise.experiments.personalize.obstacles import obstacles
from housewise.experiments.personalize.paper import chosen_rows, command
from housewise.experiments.personalize.study import BASELINES, PHASES, START, TASKS, Measure, SceneStudy, success
from housewise.experiments.results import Figure, Results
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.record import read_house_records


class MainResults:
    """Success by scene and task set, for baselines and phases; see housewise.experiments.personalize.paper.Experiment.

    Args:
        studies: one for each scene.
        rows: only these; None takes all.

    Raises:
        UserError: when there is no such row.
    """

    name = "main_results"

    def __init__(self, studies: Sequence[SceneStudy], rows: Sequence[str] | None = None) -> None:
        self.studies = studies
        adapted = any(study.config.run.models.agent.adapter for study in studies)
        self.rows = chosen_rows(rows, [row for row in (*BASELINES, *PHASES) if row != START or adapted])

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        for study in self.studies:
            study.play(self.rows, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        cells = [
            study.cell(row, tasks, success, "success_rate")
            for row in self.rows
            for study in self.studies
            for tasks in TASKS
        ]
        notes = [note for study in self.studies for note in (*study.notes, *self._gains(study))]
        return [Results("success rate, %", cells, notes)]

    def _gains(self, study: SceneStudy) -> list[str]:
        """What each phase brought over the one before, where both have been played."""
        phases = [row for row in self.rows if row in PHASES]
        records = {row: list(read_house_records(study.records(row, "test"))) for row in phases}
        gains = {
            f"{after} - {before}": Figure.from_gains(records[after], records[before], success)
            for before, after in pairwise(phases)
        }
        told = [f"{which}: {gain}" for which, gain in gains.items() if gain]
        return [f"{study.scene} test, episode by episode: {'; '.join(told)}"] if told else []

    def obstacles(self) -> dict[str, dict[str, Any]]:
        """See Experiment.obstacles."""
        return {
            f"{study.scene} test": {
                row: obstacles(list(read_house_records(study.records(row, "test"))), study.familiar(row))
                for row in self.rows
            }
            for study in self.studies
        }

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by scene, set of tasks and row."""
        return {"figures": self.figures(success)}

    def figures(self, measure: Measure) -> dict[str, dict[str, dict[str, Any]]]:
        """Mean, standard error and number of episodes of a measure, by scene, set of tasks and row."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for study in self.studies:
            for tasks in TASKS:
                each = {
                    row: Figure.from_records(read_house_records(study.records(row, tasks)), measure)
                    for row in self.rows
                }
                told = {row: vars(figure) if figure else None for row, figure in each.items()}
                found.setdefault(study.scene, {})[tasks] = told
        return found


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(command(MainResults, quick_scenes=1, about=__doc__)))
