"""Train models with live progress on the terminal, a table of the phases and a picture of the learning curve."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from housewise.core.console import print_lines
from housewise.core.errors import UserError
from housewise.core.formatting import plural
from housewise.core.progress import progress_bars
from housewise.core.tables import FittedTable
from housewise.language.adapters import NONE
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.selftrain.personalize.learning_curve_plot import draw_learning_curve
from housewise.selftrain.personalize.phase_timer import PhaseTimer
from housewise.selftrain.personalize.planned_phases import remaining_phases
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import SelfTrainingConfig
from housewise.selftrain.trainers import Progress as TrainingProgress
from housewise.selftrain.trainers import TrainedModel
from housewise.selftrain.training_folder import CONFIG, TrainingObserver
from housewise.terminal.run_folders import shell_command
from housewise.terminal.run_progress import RunProgress, resume_hint
from housewise.tracking import open_curves
from housewise.tracking.training_tracking import TrainingTrackingObserver


def run_selftraining(
    config: SelfTrainingConfig, out: Path, console: Console, log_to: Sequence[str] = ()
) -> dict[str, Any]:
    """Run a self-training, and write ``summary.json`` and, with matplotlib, ``learning_curve.png``.

    Args:
        config: Settings of the self-training.
        out: Its folder.
        console: Where progress is shown.
        log_to: Names of the trackers that log losses, attempts and the evaluation of phases.

    Returns:
        The content of ``summary.json``.
    """
    with open_curves(log_to, out, lambda line: print_lines(console, line)) as curves:
        timer = PhaseTimer(list(remaining_phases(config, out)))
        training = SelfTraining(config, out, TrainingTrackingObserver(TrainingDisplay(console, timer), curves, out))
        print_lines(
            console,
            f"self-training: {out}",
            f"look at it, now or later: {shell_command('report', out)}",
            timer.announcement,
        )
        with resume_hint(console, out):
            summary = training.run()
    console.print(phases_table(summary["phases"]))
    curve = out / "learning_curve.png"
    try:
        draw_learning_curve(summary["phases"], curve)
        drawn = f"curve:      {curve}"
    except UserError as error:
        drawn = f"curve:      not drawn; {error}"
    last = summary["phases"][-1]
    print_lines(
        console,
        f"figures:    {out / 'summary.json'}",
        drawn,
        f"use it:     {_run_command(last['model'], last['adapter'], out)}",
        f"look at it: {shell_command('report', out)}",
    )
    return summary


def run_training(
    train: Callable[[TrainingObserver], TrainedModel],
    what: str,
    system: str,
    out: Path,
    console: Console,
    log_to: Sequence[str] = (),
) -> TrainedModel:
    """Train one model, and print the command that uses it.

    Args:
        train: Trains it in ``out``, as far as it is not finished, and is given what follows the training.
        what: What the model learns, for the terminal.
        system: Name of the system that uses the model.
        out: Folder of the training.
        console: Where progress is shown.
        log_to: Names of the trackers that log losses.
    """
    with open_curves(log_to, out, lambda line: print_lines(console, line)) as curves:
        observer = TrainingTrackingObserver(TrainingDisplay(console), curves, out)
        print_lines(console, f"training in {what}: {out}")
        with resume_hint(console, out):
            trained = train(observer)
    command = _run_command(trained.model, trained.adapter, out, "--system", system)
    print_lines(console, *_describe_metrics(trained.metrics), f"use it:  {command}")
    return trained


def _describe_metrics(metrics: Mapping[str, float]) -> list[str]:
    """Return a line about a training; none where its trainer, such as one of another package, reports nothing."""
    if "pairs" not in metrics:
        return []
    learned = f"learned: {metrics['pairs']:.0f} lessons"
    if not {"steps", "first_loss", "last_loss", "seconds"} <= metrics.keys():  # a fine-tuning API reports none of them
        return [learned]
    loss = f"loss {metrics['first_loss']:.2f} to {metrics['last_loss']:.2f}"
    return [f"{learned} in {metrics['steps']:.0f} steps, {loss}, {metrics['seconds']:.0f} s"]


def _run_command(model: str, adapter: str | None, out: Path, *options: str) -> str:
    """Return the command that plays with a trained model as it was trained and evaluated.

    An adapter brings its settings along. Other models, such as those of a server, have those of the training's folder,
    with the server's address.
    """
    how = [] if adapter else ["--config", str(out / CONFIG)]
    if not adapter and model.partition(":")[0] == "local":
        adapter = NONE  # The training may have started from an adapter, whose weights the model now has.
    named = ["--model", model, *(["--adapter", adapter] if adapter else [])]
    return shlex.join(["housewise", "run", *options, *how, *named])


class TrainingDisplay:
    """Shows a progress bar during each phase, and one line of figures after it.

    Args:
        console: Where it is shown.
        timer: Estimates the remaining time. None estimates nothing.
    """

    def __init__(self, console: Console, timer: PhaseTimer | None = None) -> None:
        self._console, self._timer = console, timer or PhaseTimer([])

    @contextmanager
    def watch_episodes(self, name: str, run: Run) -> Iterator[RunCallback]:
        """See TrainingObserver.watch_episodes."""
        position = self._timer.begin(name)
        left = len(run.open_jobs)
        many = plural(len(run.jobs), "episode") + (f", {left} of them open" if left < len(run.jobs) else "")
        self._console.rule(f"{position}{name} ({many}){self._timer.time_left}")
        with progress_bars(self._console) as shown:
            yield RunProgress(shown, run)
        self._timer.end(left)

    @contextmanager
    def watch_training(self, name: str) -> Iterator[TrainingProgress]:
        """See TrainingObserver.watch_training."""
        position = self._timer.begin(name)
        self._console.rule(f"{position}{name}{self._timer.time_left}")
        with progress_bars(self._console) as shown:
            bar = shown.add_task(name, total=None)

            def progress(done: int, total: int, words: str) -> None:
                shown.update(bar, completed=done, total=total, description=f"{name}, {words}" if words else name)

            yield progress
        self._timer.end()

    def end_phase(self, phase: dict[str, Any]) -> None:
        """See TrainingObserver.end_phase."""
        figures = ", ".join(
            f"{name} {100 * row['success_rate']:.1f} %" for name, row in phase["evaluation"].items() if row["episodes"]
        )
        self._console.print(Text(phase["phase"], "bold"), f": success {figures or 'not measured'}", sep="")
        if failed := sum(row.get("failed", 0) for row in phase["evaluation"].values()):
            self._console.print(f"left out: {failed} episodes that failed; the same command plays them again")


def phases_table(phases: Sequence[dict[str, Any]]) -> FittedTable:
    """Return a table of success and executability in percent, with one row per phase and set of tasks."""
    columns = ("phase", "tasks", "n", "success", "±", "exec", "put", "plans")
    rows = []
    for phase in phases:
        for name, row in phase["evaluation"].items():
            shares = (row["success_rate"], row["success_rate_stderr"], row.get("executability"))
            counts = (row["unique_placements"], row["plans"])
            figures = (
                *("–" if share is None else f"{100 * share:.1f}" for share in shares),
                *(f"{count:.1f}" for count in counts),
            )
            rows.append((phase["phase"], name, str(row["episodes"]), *figures))
    title = "self-training: success ± standard error, and executable steps, %"
    return FittedTable(title, columns, rows, left=("tasks",))
