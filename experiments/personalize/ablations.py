"""Ablations: what each phase does to how much can be done, and to how much is tried (Figure 6 of arXiv 2404.14285).

    python -m housewise.experiments.personalize.ablations --data HOUSEKEEP [--quick] [--adapter FOLDER] \\
        [--out runs/paper]

Executability is the share of steps that succeeded; unique placements are the different (thing, place) that an episode
tried out. Both come from the records that experiments.personalize.main_results left in the same folder; what is missing
is played. The paper's side is computed from its published logs.
"""

from __future__ import annotations

from typing import Any

import typer

from housewise.experiments.personalize.main_results import MainResults
from housewise.experiments.personalize.paper import command
from housewise.experiments.personalize.study import TASKS, Measure, executability, unique_placements
from housewise.experiments.results import Results

MEASURES: dict[str, tuple[str, Measure]] = {
    "executability": ("steps that could be done, %", executability),
    "unique_placements": ("unique placements", unique_placements),
}
"""What Figure 6 is about, by its name among published figures: a title, and how it is measured."""


class Ablations(MainResults):
    """Executability and unique placements of the rows of the main results."""

    name = "ablations"

    def results(self) -> list[Results]:
        """See Experiment.results."""
        return [
            Results(
                title,
                [
                    study.cell(row, tasks, measure, name)
                    for row in self.rows
                    for study in self.studies
                    for tasks in TASKS
                ],
                ["paper: computed from its published logs, one run of each task"],
            )
            for name, (title, measure) in MEASURES.items()
        ]

    def obstacles(self) -> dict[str, Any]:
        """See Experiment.obstacles; the main results tell them."""
        return {}

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by measure, and then as in the main results."""
        return {"figures": {name: self.figures(measure) for name, (_, measure) in MEASURES.items()}}


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(command(Ablations, quick_scenes=1, about=__doc__)))
