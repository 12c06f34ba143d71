"""The command line: ``housewise demo | run | selftrain | replay | report | compare | doctor``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from experiments.commands.reporting import compare, report
from experiments.tables import bars
from household.errors import UserError
from household.simulator import SimulatorName
from selftrain.config import RunConfig, load_config
from selftrain.record import ResultLine
from selftrain.run import Run
from selftrain.tasks import Job

# What typer makes of an interrupt.
_INTERRUPTED = 130

app = typer.Typer(
    help="A household robot in simulation that learns what its people want.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()

DataOption = Annotated[
    Path | None,
    typer.Option(
        help="Housekeep folder; without it, houses are generated. Also HOUSEKEEP_DATA.", envvar="HOUSEKEEP_DATA"
    ),
]
OutOption = Annotated[Path, typer.Option(help="Folder of the run; one that is there is resumed.")]
SimulatorOption = Annotated[
    str | None, typer.Option(help="raycast, which runs anywhere, or habitat, which takes habitat-sim.")
]
RayOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Play on a Ray cluster: HOST:PORT, or auto for this machine's.")
]
Overrides = Annotated[list[str] | None, typer.Argument(help="Further settings, as in sampling.temperature=0.7.")]


@app.command()
def run(
    overrides: Overrides = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file with settings; see housekeep_configs/run.yaml.")
    ] = None,
    data: DataOption = None,
    scene: Annotated[list[str] | None, typer.Option(help="Scene of the data; may be given several times.")] = None,
    episodes: Annotated[
        str | None, typer.Option(help="Episode ids (3,17,40) or a task set (test, train) of the data.")
    ] = None,
    houses: Annotated[int | None, typer.Option(help="How many generated houses.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the first generated house has this number.")] = None,
    person: Annotated[str | None, typer.Option(help="Whose preferences: majority, ada, ..., or annotator-3.")] = None,
    planner: Annotated[str | None, typer.Option(help="llm, sayplan, saycan, scripted, demonstrator or replay.")] = None,
    model: Annotated[str | None, typer.Option(help="local, local:<folder>, or a model's name at --base-url.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible server; its key is in OPENAI_API_KEY.")
    ] = None,
    adapter: Annotated[str | None, typer.Option(help="PEFT adapter of a local model: a folder, or tidy.")] = None,
    records: Annotated[Path | None, typer.Option(help="Records whose replies the replay planner plays.")] = None,
    simulator: SimulatorOption = None,
    runs: Annotated[int | None, typer.Option(help="How often each episode is played.")] = None,
    workers: Annotated[int | None, typer.Option(help="Episodes played at the same time.")] = None,
    ray: RayOption = None,
    out: OutOption = Path("runs/latest"),
) -> None:
    """Play episodes and record them.

    Examples:

      housewise run --houses 3 --planner scripted --out runs/scripted

      housewise run --houses 3 --model local --workers 3 --out runs/local

      housewise run --data ~/housekeep --scene Merom_1_int --episodes test --model gpt-4o --base-url http://localhost:8000/v1
    """
    given: dict[str, Any] = {
        "data": _data(data, houses),
        "scenes": scene or None,
        "episodes": _episodes(episodes),
        "houses": houses,
        "seed": seed,
        "person": person,
        "planner": planner,
        "model": model,
        "base_url": base_url,
        "adapter": adapter,
        "records": str(records) if records else None,
        "simulator": simulator,
        "runs": runs,
        "workers": workers,
        "ray": ray,
    }
    settings = load_config(config, _said(given), overrides or [])
    _check_houses(settings)
    play(settings, out)


@app.command()
def replay(
    folder: Annotated[Path, typer.Argument(help="Folder of an earlier run.")],
    simulator: SimulatorOption = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the new run; <folder>-replay by default.")] = None,
) -> None:
    """Play the replies of an earlier run again, and say whether the same things end up in the same places.

    Examples:

      housewise replay runs/latest

      housewise replay runs/latest --simulator habitat
    """
    from selftrain.record import read_records

    target = out or folder.with_name(folder.name + "-replay")
    earlier = {record.name: record for record in read_records(folder / "episodes")}
    if not earlier:
        raise UserError(f"{folder}: holds no finished episodes; name the folder of a run (it has episodes/ in it)")
    first = next(iter(earlier.values())).episode
    changed = {"planner": "replay", "records": str(folder / "episodes"), "simulator": simulator or first.simulator}
    config = load_config(settings={**first.config, **changed})
    play(config, target)
    again = {record.name: record for record in read_records(target / "episodes")}
    same = sum(earlier[name].result.placements == record.result.placements for name, record in again.items())
    console.print(f"same final placements: {same} of {len(again)} episodes")


app.command()(report)
app.command()(compare)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where its runs and its report go.")] = Path("runs/demo"),
    houses: Annotated[int, typer.Option(help="How many generated houses.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the first house.")] = 3,
) -> None:
    """Watch it work: a generated house, the local model and the scripted planner side by side, a report with films."""
    from experiments.demo import run_demo

    run_demo(out, houses, seed, console)


@app.command()
def selftrain(
    overrides: Overrides = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file with settings; see housekeep_configs/selftrain.yaml.")
    ] = None,
    data: DataOption = None,
    scene: Annotated[list[str] | None, typer.Option(help="Scene of the data; may be given several times.")] = None,
    houses: Annotated[
        int | None,
        typer.Option(help="Generated houses to train in; half as many show the task, a quarter as many test."),
    ] = None,
    person: Annotated[str | None, typer.Option(help="Whose preferences: majority, ada, ..., or annotator-3.")] = None,
    model: Annotated[str | None, typer.Option(help="local, local:<folder or name>, or a fine-tuning API's.")] = None,
    adapter: Annotated[str | None, typer.Option(help="Adapter of a local model to go on from.")] = None,
    base_url: Annotated[str | None, typer.Option(help="A server with a fine-tuning API.")] = None,
    iterations: Annotated[int | None, typer.Option(help="How often the model tries and learns from it.")] = None,
    simulator: SimulatorOption = None,
    runs: Annotated[int | None, typer.Option(help="How often it tries each task in an iteration.")] = None,
    workers: Annotated[int | None, typer.Option(help="Episodes played at the same time.")] = None,
    ray: RayOption = None,
    out: OutOption = Path("runs/selftrain"),
) -> None:
    """Teach a model what these people want: it sees the task done, imitates, then tries and learns from what was good.

    Each phase is a folder with what was learned (pairs.jsonl), why (filter.json), the training curve, the model and how
    good it is (evaluation/). A self-training that was stopped goes on where it was when the same command is given.

    Examples:

      housewise selftrain --houses 4 --iterations 1 --workers 4 --out runs/first         # generated houses, a laptop

      housewise selftrain --houses 40 --person ada --workers 16 --out runs/ada           # one person's robot

      housewise selftrain --data ~/housekeep --scene Merom_1_int --workers 16 --out runs/merom filter.name=balanced

      housewise selftrain --model local:Qwen/Qwen2.5-0.5B-Instruct training.gradient_checkpointing=true

      housewise selftrain --model gpt-4o-mini-2024-07-18 training.trainer=openai
    """
    from experiments.selftraining import run_selftraining
    from selftrain.loop_config import generated_tasks, load_selftraining

    given = {
        "run": {
            "data": _data(data, houses),
            "scenes": scene or None,
            "person": person,
            "model": model,
            "adapter": adapter,
            "base_url": base_url,
            "simulator": simulator,
            "workers": workers,
            "ray": ray,
        },
        "iterations": iterations,
        "grow": {"runs": runs},
        **({} if houses is None else generated_tasks(houses)),
    }
    settings = load_selftraining(config, _said(given), overrides or [])
    _check_houses(settings.run)
    run_selftraining(settings, out, console)


@app.command()
def doctor(
    data: DataOption = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the findings there as well.")] = None,
) -> None:
    """Say what is here of simulators, accelerators, models and data, what is missing, and the command that gets it.

    It fails when the embedded simulator does not work; everything else is optional.
    """
    from experiments.doctor import run_doctor

    if not run_doctor(data, json_file, console):
        raise typer.Exit(1)


def simulator_named(name: str | None) -> SimulatorName:
    """The simulator that an option names; the usual one where it is not given.

    Raises:
        UserError: when there is none of that name.
    """
    return load_config(settings={"simulator": name} if name else {}).simulator


def play(settings: RunConfig, out: Path) -> dict[str, Any]:
    """Play a run with live progress, print its table, and return its figures."""
    session = Run(settings, out)
    done = len(session.finished)
    if done:
        console.print(
            f"{done} of {len(session.jobs)} episodes are there already; playing the other {len(session.open)}"
        )
    with bars(console) as progress:
        figures = session.play(Live(progress, session, settings.max_steps))
    console.print(summary_table(figures))
    console.print(f"records: {session.episodes}   figures: {out / 'metrics.json'}   see them: housewise report {out}")
    return figures


class Live:
    """Shows a run's progress: all episodes, and each one that is being played."""

    def __init__(self, progress: Progress, session: Run, max_steps: int) -> None:
        self._progress, self._max_steps = progress, max_steps
        self._bars: dict[str, TaskID] = {}
        self._all = progress.add_task("episodes", total=len(session.jobs), completed=len(session.finished))

    def began(self, job: Job) -> None:
        """See Watcher.began."""
        self._bars[job.name] = self._progress.add_task(job.name, total=self._max_steps)

    def stepped(self, job: Job, steps: int, plans: int) -> None:
        """See Watcher.stepped."""
        self._progress.update(self._bars[job.name], completed=steps, description=f"{job.name} plan {plans}")

    def ended(self, job: Job, result: ResultLine) -> None:
        """See Watcher.ended."""
        self._progress.remove_task(self._bars.pop(job.name))
        self._progress.advance(self._all)
        self._progress.console.print(
            f"{job.name}: success {100 * result.success_rate:.0f} %, {result.ended} after {result.steps} steps and "
            f"{result.plans} plans"
        )


def summary_table(figures: dict[str, Any]) -> Table:
    """The figures of a run, a row for each scene: percent, counts and means over episodes."""
    table = Table(title="success: (correct at the end - at the start) / misplaced at the start, %")
    table.add_column("scene", overflow="fold", min_width=11)
    for column in ("n", "success", "±", "exec", "put", "plans", "steps", "tokens", "s"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, row in {**figures["by_task_set"], "all": figures["overall"]}.items():
        if not row["episodes"]:
            continue
        tokens = row["prompt_tokens"] + row["completion_tokens"]
        cells = (row["success_rate"], row["success_rate_stderr"], 100 * row["executability"], row["unique_placements"])
        rest = (row["plans"], row["steps"], tokens, row["seconds"])
        table.add_row(name, str(row["episodes"]), *(f"{c:.1f}" for c in cells), *(f"{c:.0f}" for c in rest))
    return table


def _said(options: dict[str, Any]) -> dict[str, Any]:
    """Options without those that were not given."""
    nested = {key: _said(value) if isinstance(value, dict) else value for key, value in options.items()}
    return {key: value for key, value in nested.items() if value is not None}


def _data(data: Path | None, houses: int | None) -> str | None:
    """The Housekeep folder, where it is wanted: who asks for generated houses may have it in the environment."""
    if data is None or houses is None:
        return str(data) if data else None
    if str(data) == os.environ.get("HOUSEKEEP_DATA"):
        return None
    raise UserError("--houses are generated, and --data is for houses of the Housekeep data; give one of them")


def _check_houses(settings: RunConfig) -> None:
    """Refuse to play generated houses where others are meant."""
    if settings.data is None and (settings.scenes or settings.episodes is not None):
        asked = f"scene {settings.scenes[0]}" if settings.scenes else f"episodes {settings.episodes}"
        raise UserError(f"{asked}: of the Housekeep data; give its folder with --data or HOUSEKEEP_DATA")


def _episodes(text: str | None) -> list[int] | str | None:
    if text is None or not text.replace(",", "").replace(" ", "").isdigit():
        return text
    return [int(part) for part in text.split(",") if part.strip()]


def main() -> None:
    """Entry point."""
    # Threads of torch that do not spin while they wait: two programs on two cores write three times as fast, one alone
    # about a tenth slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    guarded(app)


def guarded(command: Callable[[], Any]) -> None:
    """Run a command; a user's mistake ends in one line and exit code 2, an interrupt in one line and 130."""
    try:
        command()
    except SystemExit as ending:
        if ending.code != _INTERRUPTED:
            raise
        Console(stderr=True).print("interrupted; what is finished is kept")
        sys.stdout.flush()
        # Threads that wait for a server's reply would keep the user waiting.
        os._exit(_INTERRUPTED)
    except UserError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {_plain(str(error))}", highlight=False)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _plain(text: str) -> str:
    """One line, with nothing that rich would take for markup."""
    return " ".join(text.split()).replace("[", "\\[")


if __name__ == "__main__":
    main()
