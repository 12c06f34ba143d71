"""Cross-scene transfer: taught in one scene, tested in another (Table 2 of arXiv 2404.14285).

    python -m housewise.experiments.personalize.cross_scene --data HOUSEKEEP [--quick] [--adapter FOLDER] \\
        [--out runs/paper]

The models are those of experiments.personalize.main_results in the same folder; what is missing is taught. Each is
tested in every scene, its own included; the paper's figures stand beside those of the two pairs that it tells of.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from housewise.core.errors import UserError
from housewise.experiments.personalize.obstacles import obstacles
from housewise.experiments.personalize.paper import chosen_rows, command
from housewise.experiments.personalize.study import PHASES, START, SceneStudy, success
from housewise.experiments.results import Cell, Figure, Results
from housewise.selftrain.personalize.self_training import play
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.record import read_house_records


class CrossScene:
    """Success in one scene of models taught in another; see housewise.experiments.personalize.paper.Experiment.

    Args:
        studies: one for each scene.
        rows: only these; None takes all.

    Raises:
        UserError: when there are fewer than two scenes, or there is no such row.
    """

    name = "cross_scene"

    def __init__(self, studies: Sequence[SceneStudy], rows: Sequence[str] | None = None) -> None:
        if len(studies) < 2:
            raise UserError("transfer takes two scenes or more; give --scene twice")
        self.studies = studies
        self.rows = chosen_rows(rows, [row for row in PHASES if row != START])
        self._pairs = [(taught, tested) for taught in studies for tested in studies if taught is not tested]

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        models = {study.scene: study.models(self.rows, observer) for study in self.studies}
        for taught, tested in self._pairs:
            for row in self.rows:
                start = models[taught.scene][row]
                for tasks in tested.config.evaluation.tasks:
                    if tasks.name == "test":
                        config = tested.config.evaluation_settings(tasks, model=start.model, adapter=start.adapter)
                        title = f"{row} of {taught.scene} in {tested.scene}"
                        play(title, config, self._records(taught, tested, row).parent, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        cells = [
            Cell(
                row,
                _column(taught, tested),
                self._figure(taught, tested, row),
                taught.published_figure("transfer", _column(taught, tested), row, "test"),
                marked=taught.is_marked(row),
                expected=tested.expected_episodes("test"),
            )
            for row in self.rows
            for taught, tested in self._pairs
        ]
        own = [study.cell(row, "test", success, "success_rate") for row in self.rows for study in self.studies]
        return [
            Results("success rate on test tasks, taught in one scene → tested in another, %", cells),
            Results("for comparison: tested where it was taught, %", own),
        ]

    def obstacles(self) -> dict[str, dict[str, Any]]:
        """See Experiment.obstacles."""
        return {
            _column(taught, tested): {
                row: obstacles(list(read_house_records(self._records(taught, tested, row))), taught.familiar(row))
                for row in self.rows
            }
            for taught, tested in self._pairs
        }

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results."""
        return {}

    def _figure(self, taught: SceneStudy, tested: SceneStudy, row: str) -> Figure | None:
        return Figure.from_records(read_house_records(self._records(taught, tested, row)), success)

    def _records(self, taught: SceneStudy, tested: SceneStudy, row: str) -> Path:
        return taught.folder / "elsewhere" / tested.scene / PHASES[row] / "episodes"


def _column(taught: SceneStudy, tested: SceneStudy) -> str:
    return f"{taught.scene} → {tested.scene}"


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(command(CrossScene, quick_scenes=2, about=__doc__)))
